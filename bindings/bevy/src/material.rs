//! Bevy's `StandardMaterial` with skin matrices by posse.

use bevy::asset::{RenderAssetUsages, embedded_path};
use bevy::mesh::MeshVertexBufferLayoutRef;
use bevy::pbr::{ExtendedMaterial, MaterialExtension, MaterialExtensionKey, MaterialExtensionPipeline};
use bevy::prelude::*;
use bevy::render::render_resource::{AsBindGroup, RenderPipelineDescriptor, SpecializedMeshPipelineError};
use bevy::render::storage::ShaderBuffer;
use bevy::shader::ShaderRef;

use crate::mesh::{ATTRIBUTE_CROWD_JOINTS, ATTRIBUTE_CROWD_MORPHS, ATTRIBUTE_CROWD_WEIGHTS};

/// The material of a character: all of Bevy's `StandardMaterial`, and the skinning of its rig.
pub type CrowdMaterial = ExtendedMaterial<StandardMaterial, CrowdSkinning>;

/// The skin matrices of a rig's characters, as part of a material. [`CrowdRig::skinning`](crate::CrowdRig::skinning)
/// returns it.
///
/// The tag of a mesh (`MeshTag`) is the index of the first matrix of its character.
#[derive(Asset, AsBindGroup, TypePath, Debug, Clone)]
pub struct CrowdSkinning {
    /// The matrices of the present frame: three rows of four `f32` per joint.
    #[storage(100, read_only, visibility(vertex))]
    pub(crate) skin: Handle<ShaderBuffer>,
    /// The matrices of the frame before, for motion vectors.
    #[storage(101, read_only, visibility(vertex))]
    pub(crate) previous: Handle<ShaderBuffer>,
    /// The displacements of morph targets.
    #[storage(102, read_only, visibility(vertex))]
    pub(crate) morphs: Handle<ShaderBuffer>,
    /// The morph weights of the present frame, and after them the weights of the frame before.
    #[storage(103, read_only, visibility(vertex))]
    pub(crate) weights: Handle<ShaderBuffer>,
}

impl CrowdSkinning {
    /// All its buffers.
    pub(crate) fn buffers(&self) -> [&Handle<ShaderBuffer>; 4] {
        [&self.skin, &self.previous, &self.morphs, &self.weights]
    }

    /// The skinning of a rig, whose buffers an asset collection has or takes by name.
    pub(crate) fn new(mut add: impl FnMut(&'static str) -> Handle<ShaderBuffer>) -> Self {
        Self { skin: add("Skin"), previous: add("PreviousSkin"), morphs: add("Morphs"), weights: add("Weights") }
    }

    /// Adds a placeholder for each buffer that is not there.
    pub(crate) fn add_missing(&self, buffers: &mut Assets<ShaderBuffer>) {
        for buffer in self.buffers() {
            if !buffers.contains(buffer) {
                // A rig that is gone since has no place for it.
                let _ = buffers.insert(buffer.id(), placeholder());
            }
        }
    }
}

impl MaterialExtension for CrowdSkinning {
    fn vertex_shader() -> ShaderRef {
        embedded("posed.wesl")
    }

    fn prepass_vertex_shader() -> ShaderRef {
        embedded("posed_prepass.wesl")
    }

    fn deferred_vertex_shader() -> ShaderRef {
        embedded("posed_prepass.wesl")
    }

    fn specialize(
        _: &MaterialExtensionPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        layout: &MeshVertexBufferLayoutRef,
        _: MaterialExtensionKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        let mut attributes =
            vec![ATTRIBUTE_CROWD_JOINTS.at_shader_location(10), ATTRIBUTE_CROWD_WEIGHTS.at_shader_location(11)];
        if layout.0.contains(ATTRIBUTE_CROWD_MORPHS) {
            attributes.push(ATTRIBUTE_CROWD_MORPHS.at_shader_location(12));
            descriptor.vertex.shader_defs.push("CROWD_MORPHS".into());
        }
        let joints = layout.0.get_layout(&attributes)?;
        if let Some(buffer) = descriptor.vertex.buffers.first_mut() {
            buffer.attributes.extend(joints.attributes);
        }
        Ok(())
    }
}

/// A buffer until a buffer of posse replaces it.
pub(crate) fn placeholder() -> ShaderBuffer {
    ShaderBuffer::with_size(48, RenderAssetUsages::default())
}

/// A shader of this crate.
fn embedded(file: &str) -> ShaderRef {
    let path = embedded_path!(file);
    ShaderRef::Path(bevy::asset::AssetPath::from_path_buf(path).with_source("embedded"))
}
