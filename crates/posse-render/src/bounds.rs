//! Bounding boxes of figures: their vertices on the CPU, from the poses of the reference.

use glam::{DAffine3, DVec3, Vec3};

use crate::{Figure, Mover, Part};
use posse::Error;
use posse::Evaluator;
use posse::Reference;
use posse::{Crowd, Library, Outputs, Pose, Skeleton, Ticks};

/// The most vertices of a part that enter a bounding box. Of a larger part, evenly spaced vertices are used.
const MAX_VERTICES: usize = 20_000;

/// An axis-aligned bounding box. It is empty if a coordinate of `low` is greater than the coordinate of `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The smallest value of each coordinate.
    pub low: Vec3,
    /// The largest value of each coordinate.
    pub high: Vec3,
}

impl Bounds {
    /// The empty box.
    pub const EMPTY: Self = Self { low: Vec3::INFINITY, high: Vec3::NEG_INFINITY };

    /// Extends the box to a point. A point that is not finite is ignored.
    pub fn add(&mut self, point: Vec3) {
        if point.is_finite() {
            *self = Self { low: self.low.min(point), high: self.high.max(point) };
        }
    }

    /// Extends the box to another box.
    pub fn add_all(&mut self, other: Self) {
        *self = Self { low: self.low.min(other.low), high: self.high.max(other.high) };
    }

    /// Returns `true` if the box contains no point.
    pub fn is_empty(&self) -> bool {
        !self.low.cmple(self.high).all()
    }

    /// The centre of the box; the origin for an empty box.
    pub fn middle(&self) -> Vec3 {
        if self.is_empty() { Vec3::ZERO } else { 0.5 * (self.low + self.high) }
    }

    /// The lengths of the sides; zero for an empty box.
    pub fn size(&self) -> Vec3 {
        if self.is_empty() { Vec3::ZERO } else { self.high - self.low }
    }

    /// The eight corners.
    pub fn corners(&self) -> [Vec3; 8] {
        [0, 1, 2, 3, 4, 5, 6, 7].map(|corner| {
            let pick = |axis: usize| if corner >> axis & 1 == 1 { self.high[axis] } else { self.low[axis] };
            Vec3::new(pick(0), pick(1), pick(2))
        })
    }

    /// The same box with a volume. An empty box becomes a cube of this size around the origin. A side shorter than a
    /// thousandth of the longest side grows to that length, in both directions.
    pub fn with_volume_or(self, size: f32) -> Self {
        let filled =
            if self.is_empty() { Self { low: Vec3::splat(-0.5 * size), high: Vec3::splat(0.5 * size) } } else { self };
        let longest = filled.size().max_element();
        let least = if longest > 0.0 { 1e-3 * longest } else { size };
        let grown = 0.5 * (Vec3::splat(least) - filled.size()).max(Vec3::ZERO);
        Self { low: filled.low - grown, high: filled.high + grown }
    }
}

impl Figure {
    /// The positions of the vertices of a part in the space of the instance: morphed, then moved by the skin or by the
    /// joint, as glTF 2.0 defines; copy after copy of the mesh. Hidden parts have positions, too. Only every `step`th
    /// vertex is returned; a `step` of 0 counts as 1.
    ///
    /// # Panics
    /// If the part does not belong to the figure, or the figure to the skeleton; see [`Figure::check`].
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
            Mover::Joint | Mover::Copies(_) => None,
        };
        let copies = self.copies_of(part);
        let moved = move |number: usize| {
            let index = number % mesh.vertices.len();
            let vertex = &mesh.vertices[index];
            let mut position = Vec3::from(vertex.position).as_dvec3();
            for (target, weight) in mesh.targets.iter().zip(weights) {
                let delta = target.positions.get(index).copied().unwrap_or_default();
                position += *weight * Vec3::from(delta).as_dvec3();
            }
            if let Some(copies) = copies {
                position = copies[number / mesh.vertices.len()].transform_point3(position.as_vec3()).as_dvec3();
            }
            let Some(skin) = skin else { return matrix.transform_point3(position) };
            let influences = vertex.joints.as_flattened().iter().zip(vertex.weights.as_flattened());
            let share = |(&joint, &weight): (&u16, &f32)| match skin.get(usize::from(joint)) {
                Some(matrix) if weight != 0.0 => f64::from(weight) * matrix.transform_point3(position),
                _ => DVec3::ZERO,
            };
            influences.map(share).sum()
        };
        (0..self.vertex_count(part)).step_by(step.max(1)).map(moved)
    }

    /// The number of vertices of a part, all copies together.
    fn vertex_count(&self, part: &Part) -> usize {
        self.meshes[part.mesh].vertices.len() * self.copies_of(part).map_or(1, <[_]>::len)
    }

    /// The bounding box of the figure over poses of its skeleton, in the space of an instance. A figure without parts
    /// is bounded by its joints.
    pub fn bounds<'a>(&self, skeleton: &Skeleton, poses: impl IntoIterator<Item = &'a Pose>) -> Bounds {
        let mut bounds = Bounds::EMPTY;
        for pose in poses {
            for part in &self.parts {
                let step = self.vertex_count(part).div_ceil(MAX_VERTICES);
                self.positions(part, skeleton, pose, step).for_each(|position| bounds.add(position.as_vec3()));
            }
            if self.parts.is_empty() {
                pose.model.iter().for_each(|matrix| bounds.add(matrix.translation.as_vec3()));
            }
        }
        bounds
    }
}

/// The bounding box of each figure over these times of a crowd, in the space of an instance, in the order of the
/// figures.
///
/// # Errors
/// The errors of the reference.
pub fn crowd_bounds(
    library: &Library,
    figures: &[Figure],
    crowd: &Crowd,
    times: &[Ticks],
) -> Result<Vec<Bounds>, Error> {
    let mut bounds = vec![Bounds::EMPTY; figures.len()];
    let outputs = Outputs { model: true, skin: true, weights: true, ..Outputs::NONE };
    for &now in times {
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
