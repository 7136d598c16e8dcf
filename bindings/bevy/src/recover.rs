//! Another device in the place of a lost one.

use bevy::platform::collections::HashSet;
use bevy::prelude::*;
use bevy::render::storage::ShaderBuffer;

use crate::material::CrowdMaterial;
use crate::rig::CrowdRig;

/// Brings all characters, their meshes and their materials to the render world again, when there is another device.
///
/// While Bevy 0.20.1 waits for it, extraction goes on, but nothing is prepared, and the next frame drops what was
/// extracted: see `extract_render_asset` in `bevy_render/src/render_asset.rs`, and `RenderMeshInstanceGpuQueue::init`
/// in `bevy_pbr/src/render/mesh.rs`.
pub(crate) fn announce_again(
    mut drawn: Query<&mut Mesh3d, With<MeshMaterial3d<CrowdMaterial>>>,
    rigs: Res<Assets<CrowdRig>>,
    (mut meshes, mut materials): (ResMut<Assets<Mesh>>, ResMut<Assets<CrowdMaterial>>),
    mut buffers: ResMut<Assets<ShaderBuffer>>,
) {
    let mut seen = HashSet::new();
    for mut mesh in &mut drawn {
        mesh.set_changed();
        seen.insert(mesh.id());
    }
    for mesh in seen {
        touch(&mut meshes, mesh);
    }
    // The iterator marks each material as modified.
    materials.iter_mut().for_each(drop);
    for (_, rig) in rigs.iter() {
        for buffer in rig.skinning.buffers() {
            touch(&mut buffers, buffer.id());
        }
    }
}

/// Marks an asset as modified.
fn touch<A: Asset>(assets: &mut Assets<A>, id: AssetId<A>) {
    if let Some(asset) = assets.get_mut(id) {
        asset.into_inner();
    }
}
