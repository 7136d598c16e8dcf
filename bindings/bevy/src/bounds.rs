//! Bounds of a character in all its clips.

use bevy::camera::primitives::Aabb;
use bevy::mesh::VertexAttributeValues;
use bevy::prelude::*;
use posse::glam::DVec3;
use posse::{Crowd, Error, Evaluator, Layer, LayerTime, Outputs, Poses, Reference, Ticks};

use crate::compressed::positions;
use crate::mesh::{ATTRIBUTE_CROWD_JOINTS, ATTRIBUTE_CROWD_MORPHS, ATTRIBUTE_CROWD_WEIGHTS};
use crate::morph::Morphs;
use crate::rig::CrowdRig;

/// The number of times per clip at which the joints are measured.
const TIMES: usize = 32;
/// The factor for the movement between these times, and for blends.
const MARGIN: f32 = 1.1;

/// The box that the vertices of the meshes stay in, in all clips and at rest.
///
/// A vertex moves with its joints at a fixed distance, so that boxes around the joints contain it.
pub(crate) fn bounds(rig: &CrowdRig, meshes: &[Mesh], morphs: &Morphs) -> Result<Aabb, Error> {
    let library = &*rig.library;
    let mut crowd = Crowd::new();
    crowd.push(rig.skeleton, &[])?;
    for id in library.clip_ids().filter(|&id| library.clip(id).skeleton == rig.skeleton) {
        let duration = library.clip(id).duration();
        for time in 0..TIMES {
            let seconds = duration * time as f64 / (TIMES - 1) as f64;
            crowd.push(rig.skeleton, &[Layer::new(id, LayerTime::At(seconds))])?;
        }
    }
    // Without optimisation, the CPU engine needs more stack for AVX-512 than the threads of Bevy have: 2 MiB.
    let poses = Reference::new(library).evaluate(&crowd, Ticks(0), Outputs { weights: true, ..Outputs::SKIN })?;
    let boxes = boxes_of_joints(rig, meshes, &Reach { morphs, weights: extremes(&poses) });
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for pose in &poses.instances {
        for (matrix, corners) in pose.skins.iter().flatten().zip(&boxes) {
            let Some([from, to]) = corners else { continue };
            for corner in 0..8 {
                let pick = |axis: usize| if corner >> axis & 1 == 0 { from[axis] } else { to[axis] };
                let corner = DVec3::from([pick(0), pick(1), pick(2)].map(f64::from));
                let point = Vec3::from(matrix.transform_point3(corner).as_vec3().to_array());
                (low, high) = (low.min(point), high.max(point));
            }
        }
    }
    if low.is_finite() && high.is_finite() {
        let (centre, half) = (0.5 * (low + high), 0.5 * MARGIN * (high - low));
        return Ok(Aabb::from_min_max(centre - half, centre + half));
    }
    Ok(Aabb::from_min_max(Vec3::NEG_ONE, Vec3::ONE))
}

/// The displacements of vertices, with the least and the greatest value of each morph weight.
struct Reach<'a> {
    morphs: &'a Morphs,
    weights: Vec<[f32; 2]>,
}

impl Reach<'_> {
    /// The corners of a box that a vertex stays in.
    fn of(&self, position: Vec3, run: [u32; 2]) -> [Vec3; 2] {
        let mut corners = [position; 2];
        for (weight, way) in self.morphs.displacements(run) {
            let [least, most] = self.weights[weight].map(|weight| weight * way);
            corners = [corners[0] + least.min(most), corners[1] + least.max(most)];
        }
        corners
    }
}

/// The least and the greatest value of each morph weight. The range always contains 0.
fn extremes(poses: &Poses) -> Vec<[f32; 2]> {
    let mut extremes = vec![[0.0_f32; 2]; poses.instances.first().map_or(0, |pose| pose.weights.len())];
    for pose in &poses.instances {
        for ([least, most], &weight) in extremes.iter_mut().zip(&pose.weights) {
            (*least, *most) = (least.min(weight as f32), most.max(weight as f32));
        }
    }
    extremes
}

/// For each matrix of a character, the box in the bind pose of the vertices that it moves.
fn boxes_of_joints(rig: &CrowdRig, meshes: &[Mesh], reach: &Reach) -> Vec<Option<[Vec3; 2]>> {
    let mut boxes = vec![None; rig.matrices()];
    for mesh in meshes {
        let positions = positions(mesh);
        let (
            Some(positions),
            Some(VertexAttributeValues::Uint16x4(joints)),
            Some(VertexAttributeValues::Float32x4(weights)),
        ) = (positions, mesh.attribute(ATTRIBUTE_CROWD_JOINTS), mesh.attribute(ATTRIBUTE_CROWD_WEIGHTS))
        else {
            continue;
        };
        let runs = match mesh.attribute(ATTRIBUTE_CROWD_MORPHS) {
            Some(VertexAttributeValues::Uint32x2(runs)) => runs.as_slice(),
            _ => &[],
        };
        let runs = runs.iter().copied().chain(std::iter::repeat([0; 2]));
        for (((position, joints), weights), run) in positions.iter().zip(joints).zip(weights).zip(runs) {
            let [from, to] = reach.of(Vec3::from(*position), run);
            for (&joint, _) in joints.iter().zip(weights).filter(|&(_, &weight)| weight > 0.0) {
                let Some(corners) = boxes.get_mut(usize::from(joint)) else { continue };
                let [low, high] = corners.get_or_insert([from, to]);
                (*low, *high) = (low.min(from), high.max(to));
            }
        }
    }
    boxes
}
