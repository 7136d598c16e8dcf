//! Morph targets of meshes: displacements of vertices, by the morph weights of a character.

use std::ops::Range;

use bevy::asset::RenderAssetUsages;
use bevy::log::warn;
use bevy::math::Vec3;
use bevy::mesh::morph::MorphAttributes;
use bevy::mesh::{Mesh, VertexAttributeValues};
use bevy::render::storage::ShaderBuffer;

use crate::mesh::{ATTRIBUTE_CROWD_MORPHS, without_targets};
use crate::rig::{CrowdRig, RigPart};

/// The displacements of all meshes of a rig, as the shader reads them: rows of four words.
///
/// The first row has the number of matrices and of morph weights of a character. Each displacement that is not zero has
/// three rows, and the rows of a vertex follow one another: position and the index of the weight, normal, tangent.
#[derive(Debug)]
pub(crate) struct Morphs {
    rows: Vec<[u32; 4]>,
    /// For each joint the range of its weights.
    ranges: Vec<Range<usize>>,
    /// The most bytes that the device lets a shader read from one buffer.
    most_bytes: u64,
}

/// Bytes per row.
const ROW: u64 = 16;

impl Morphs {
    /// No displacements, with room for that many bytes.
    pub fn new(rig: &CrowdRig, most_bytes: u64) -> Self {
        let skeleton = rig.library.skeleton(rig.skeleton);
        let counts = [rig.matrices() as u32, skeleton.weight_count() as u32, 0, 0];
        Self { rows: vec![counts], ranges: skeleton.weight_ranges(), most_bytes }
    }

    /// Takes the targets of a mesh over. The mesh is then without targets of Bevy's.
    pub fn take(&mut self, part: RigPart) -> Mesh {
        let Ok(targets) = part.mesh.try_morph_targets() else { return part.mesh };
        let count = part.mesh.count_vertices();
        let weights = part.joint.and_then(|joint| self.ranges.get(joint).cloned()).unwrap_or(0..0);
        let mut mesh = without_targets(&part.mesh);
        if weights.is_empty() {
            return mesh;
        }
        // Bevy gives each triangle of a mesh without normals vertices of its own, but not its targets.
        if targets.len() != weights.len() * count {
            let (given, expected) = (targets.len(), weights.len() * count);
            warn!(
                "a mesh has {given} displacements of morph targets, not {expected}, and is drawn without: export normals"
            );
            return mesh;
        }
        let before = self.rows.len();
        let mut runs = Vec::with_capacity(count);
        for vertex in 0..count {
            let first = self.rows.len() as u32;
            for (weight, target) in weights.clone().zip(targets.chunks_exact(count)) {
                self.push(weight as u32, &target[vertex]);
            }
            runs.push([first, (self.rows.len() as u32 - first) / 3]);
        }
        let bytes = ROW * self.rows.len() as u64;
        if bytes > self.most_bytes {
            let most = self.most_bytes;
            warn!(
                "the displacements of morph targets take {bytes} bytes with the targets of a mesh of {count} vertices, but the device binds at \
                 most {most}; the mesh is drawn without: export fewer vertices or targets"
            );
            self.rows.truncate(before);
            return mesh;
        }
        if runs.iter().any(|&[_, count]| count > 0) {
            mesh.insert_attribute(ATTRIBUTE_CROWD_MORPHS, VertexAttributeValues::Uint32x2(runs));
        }
        mesh
    }

    fn push(&mut self, weight: u32, target: &MorphAttributes) {
        if [target.position, target.normal, target.tangent] != [Vec3::ZERO; 3] {
            let row = |vector: Vec3, last| [vector.x.to_bits(), vector.y.to_bits(), vector.z.to_bits(), last];
            self.rows.extend([row(target.position, weight), row(target.normal, 0), row(target.tangent, 0)]);
        }
    }

    /// The weight and the displacement of the position of each entry of a run.
    pub fn displacements(&self, [first, count]: [u32; 2]) -> impl Iterator<Item = (usize, Vec3)> {
        let rows = &self.rows[first as usize..][..3 * count as usize];
        rows.chunks_exact(3).map(|rows| {
            let [x, y, z, weight] = rows[0];
            (weight as usize, Vec3::from([x, y, z].map(f32::from_bits)))
        })
    }

    /// The contents of the buffer.
    pub fn into_buffer(self) -> ShaderBuffer {
        ShaderBuffer::new(self.rows, RenderAssetUsages::default())
    }
}
