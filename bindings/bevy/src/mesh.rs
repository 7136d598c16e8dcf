//! Meshes whose joints Bevy does not see.

use bevy::mesh::{Mesh, MeshVertexAttribute, VertexAttributeValues, VertexFormat};

use crate::compressed::{decompressed, weights};

/// Indices of four matrices of a character, over all its skins.
///
/// Bevy's own attribute of joints would make its pipelines expect a `SkinnedMesh`, with one entity per joint.
pub const ATTRIBUTE_CROWD_JOINTS: MeshVertexAttribute =
    MeshVertexAttribute::new("CrowdJoints", 0x706f_7373_6500, VertexFormat::Uint16x4);
/// The weights of these matrices. Their sum is 1.
pub const ATTRIBUTE_CROWD_WEIGHTS: MeshVertexAttribute =
    MeshVertexAttribute::new("CrowdWeights", 0x706f_7373_6501, VertexFormat::Float32x4);
/// The run of a vertex among the displacements of its rig: the first row, and the number of displacements, of three
/// rows each.
///
/// Bevy's own targets would make its pipelines expect weights from the CPU, for one entity per mesh.
pub(crate) const ATTRIBUTE_CROWD_MORPHS: MeshVertexAttribute =
    MeshVertexAttribute::new("CrowdMorphs", 0x706f_7373_6502, VertexFormat::Uint32x2);

/// The same mesh with the joints and weights of a character of a crowd in place of Bevy's; `None` if it has no joints.
///
/// `first` is the position of the mesh's skin among the matrices of a character: 0 for the first skin. The mesh has no
/// morph targets any more; the targets of a rig's parts ([`CrowdRig`](crate::CrowdRig)) are kept for the rig.
pub fn crowd_mesh(mut mesh: Mesh, first: u16) -> Option<Mesh> {
    if mesh.try_morph_targets().is_ok() {
        mesh = without_targets(&mesh);
    }
    let joints = mesh.try_remove_attribute(Mesh::ATTRIBUTE_JOINT_INDEX).ok()?;
    let weights = weights(mesh.try_remove_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT).ok()?)?;
    let joints: Vec<[u16; 4]> = match joints {
        VertexAttributeValues::Uint16x4(joints) => joints,
        VertexAttributeValues::Uint8x4(joints) => joints.into_iter().map(|joints| joints.map(u16::from)).collect(),
        _ => return None,
    };
    let joints = joints.into_iter().map(|joints| joints.map(|joint| joint.saturating_add(first))).collect();
    mesh.insert_attribute(ATTRIBUTE_CROWD_JOINTS, VertexAttributeValues::Uint16x4(joints));
    mesh.insert_attribute(ATTRIBUTE_CROWD_WEIGHTS, weights);
    Some(mesh)
}

/// A copy of a mesh without morph targets. Its vertices are not compressed.
pub(crate) fn without_targets(mesh: &Mesh) -> Mesh {
    let mut plain = Mesh::new(mesh.primitive_topology(), mesh.asset_usage);
    for (&attribute, values) in mesh.attributes() {
        let (attribute, values) = decompressed(mesh, attribute, values);
        plain.insert_attribute(attribute, values);
    }
    if let Some(indices) = mesh.indices() {
        plain.insert_indices(indices.clone());
    }
    plain.enable_raytracing = mesh.enable_raytracing;
    plain
}
