//! How far figures reach: their vertices on the CPU, by the reference's poses.

use glam::{DAffine3, DVec3, Vec3};

use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::model::{Crowd, Library, Outputs, Pose, Skeleton, Ticks};
use crate::reference::Reference;
use crate::render::{Figure, Mover, Part, Vertex};

/// The most vertices of a part that are looked at; of larger ones, evenly spread ones.
const MOST_VERTICES: usize = 20_000;

/// A box along the axes; empty where its low corner is above its high one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The least of each coordinate.
    pub low: Vec3,
    /// The greatest of each coordinate.
    pub high: Vec3,
}

impl Bounds {
    /// Nothing.
    pub const EMPTY: Self = Self { low: Vec3::INFINITY, high: Vec3::NEG_INFINITY };

    /// Takes a point in, unless it is not finite.
    pub fn add(&mut self, point: Vec3) {
        if point.is_finite() {
            *self = Self { low: self.low.min(point), high: self.high.max(point) };
        }
    }

    /// Takes another box in.
    pub fn add_all(&mut self, other: Self) {
        *self = Self { low: self.low.min(other.low), high: self.high.max(other.high) };
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        !self.low.cmple(self.high).all()
    }

    /// Its middle; the origin of an empty one.
    pub fn middle(&self) -> Vec3 {
        if self.is_empty() { Vec3::ZERO } else { 0.5 * (self.low + self.high) }
    }

    /// Its extents; zero of an empty one.
    pub fn size(&self) -> Vec3 {
        if self.is_empty() { Vec3::ZERO } else { self.high - self.low }
    }

    /// Its eight corners.
    pub fn corners(&self) -> [Vec3; 8] {
        [0, 1, 2, 3, 4, 5, 6, 7].map(|corner| {
            let pick = |axis: usize| if corner >> axis & 1 == 1 { self.high[axis] } else { self.low[axis] };
            Vec3::new(pick(0), pick(1), pick(2))
        })
    }

    /// The same, or a box of this size where it is empty, and never flatter than a thousandth of its longest side.
    pub fn or(self, size: f32) -> Self {
        let this =
            if self.is_empty() { Self { low: Vec3::splat(-0.5 * size), high: Vec3::splat(0.5 * size) } } else { self };
        let longest = this.size().max_element();
        let least = if longest > 0.0 { 1e-3 * longest } else { size };
        let grown = 0.5 * (Vec3::splat(least) - this.size()).max(Vec3::ZERO);
        Self { low: this.low - grown, high: this.high + grown }
    }
}

impl Figure {
    /// The positions of a part's vertices in the space of the instance, every `step`th of them, as glTF 2.0 has it: morphed, then
    /// moved by the skin or by the joint.
    ///
    /// # Panics
    /// Where the part is none of the figure's, or the figure not the skeleton's: see [`Figure::check`].
    pub fn positions<'a>(
        &'a self,
        part: &Part,
        skeleton: &Skeleton,
        pose: &'a Pose,
        step: usize,
    ) -> impl Iterator<Item = DVec3> + 'a {
        let mesh = &self.meshes[part.mesh];
        let joints = skeleton.joints();
        let first: usize = joints[..part.joint].iter().map(|joint| joint.weights.len()).sum();
        let weights = pose.weights.get(first..first + joints[part.joint].weights.len()).unwrap_or_default();
        let matrix = pose.model.get(part.joint).copied().unwrap_or(DAffine3::IDENTITY);
        let skin = match part.mover {
            Mover::Skin(skin) => pose.skins.get(skin).map(Vec::as_slice),
            Mover::Joint => None,
        };
        let moved = move |(index, vertex): (usize, &Vertex)| {
            let mut position = Vec3::from(vertex.position).as_dvec3();
            for (target, weight) in mesh.targets.iter().zip(weights) {
                let delta = target.positions.get(index).copied().unwrap_or_default();
                position += *weight * Vec3::from(delta).as_dvec3();
            }
            let Some(skin) = skin else { return matrix.transform_point3(position) };
            let influences = vertex.joints.as_flattened().iter().zip(vertex.weights.as_flattened());
            let share = |(&joint, &weight): (&u16, &f32)| match skin.get(usize::from(joint)) {
                Some(matrix) if weight != 0.0 => f64::from(weight) * matrix.transform_point3(position),
                _ => DVec3::ZERO,
            };
            influences.map(share).sum()
        };
        mesh.vertices.iter().enumerate().step_by(step.max(1)).map(moved)
    }

    /// How far a figure reaches in poses of its skeleton, in the space of an instance; its joints, where it has no parts.
    pub fn bounds<'a>(&self, skeleton: &Skeleton, poses: impl IntoIterator<Item = &'a Pose>) -> Bounds {
        let mut bounds = Bounds::EMPTY;
        for pose in poses {
            for part in &self.parts {
                let step = self.meshes[part.mesh].vertices.len().div_ceil(MOST_VERTICES);
                self.positions(part, skeleton, pose, step).for_each(|position| bounds.add(position.as_vec3()));
            }
            if self.parts.is_empty() {
                pose.model.iter().for_each(|matrix| bounds.add(matrix.translation.as_vec3()));
            }
        }
        bounds
    }
}

/// How far each figure reaches at some moments of a crowd, in the space of an instance, in the order of the figures.
///
/// # Errors
/// Those of the reference.
pub fn crowd_bounds(
    library: &Library,
    figures: &[Figure],
    crowd: &Crowd,
    moments: &[Ticks],
) -> Result<Vec<Bounds>, Error> {
    let mut bounds = vec![Bounds::EMPTY; figures.len()];
    let outputs = Outputs { model: true, skin: true, weights: true, ..Outputs::NONE };
    for &now in moments {
        let poses = Reference::new(library).evaluate(crowd, now, outputs)?.instances;
        for (instance, pose) in poses.iter().enumerate() {
            for (figure, bounds) in figures.iter().zip(&mut bounds) {
                if figure.skeleton == crowd.skeleton(instance) {
                    bounds.add_all(figure.bounds(library.skeleton(figure.skeleton), [pose]));
                }
            }
        }
    }
    Ok(bounds)
}
