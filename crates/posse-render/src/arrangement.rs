//! The arrangement of a crowd: the positions of its instances, and the stage around them.

use glam::{Affine3A, Vec3};

use crate::placement::sunflower;
use crate::{Bounds, Figure, Placement, Stage};
use posse::{Crowd, SkeletonId};

/// The largest crowd with corners per instance. A camera is fitted to the box around a larger crowd.
const MAX_CORNERED: usize = 20_000;

/// The positions of the instances of a crowd, with the stage around them.
#[derive(Debug, Clone)]
pub struct Arrangement {
    /// The position and the colours of each instance.
    pub placements: Vec<Placement>,
    /// The corners that a camera should show, in world space: those of the bounds of each instance, or of the whole
    /// crowd if it is empty or very large.
    pub corners: Vec<Vec3>,
    /// The ground and the bounds of the whole crowd.
    pub stage: Stage,
}

impl Arrangement {
    /// Arranges the instances in a disc with room for the largest figure. A single instance stays at the origin.
    /// `figure_bounds` has the bounds of each figure, `dyes` returns the colours of an instance.
    pub fn new(
        crowd: &Crowd,
        figures: &[Figure],
        figure_bounds: &[Bounds],
        dyes: impl Fn(usize) -> [[f32; 3]; 5],
    ) -> Self {
        let bounds_of = |skeleton: SkeletonId| {
            let found = figures.iter().position(|figure| figure.skeleton == skeleton);
            found.map_or(Bounds::EMPTY, |figure| figure_bounds[figure]).with_volume_or(1.0)
        };
        let width = |bounds: &Bounds| {
            let [x, z] = [bounds.size().x, bounds.size().z];
            (0.5 * (x + z)).max(0.75 * x.max(z))
        };
        let spacing = figure_bounds.iter().map(width).fold(0.0, f32::max);
        let figure_size = figure_bounds.iter().map(|bounds| bounds.size().max_element()).fold(0.0, f32::max);
        let (mut placements, mut corners, mut all) = (Vec::with_capacity(crowd.len()), Vec::new(), Bounds::EMPTY);
        for (instance, spot) in sunflower(crowd.len(), spacing).enumerate() {
            let bounds = bounds_of(crowd.skeleton(instance));
            let middle = bounds.middle();
            let foot = Affine3A::from_translation(-Vec3::new(middle.x, bounds.low.y, middle.z));
            let transform = if crowd.len() == 1 { spot } else { spot * foot };
            for corner in bounds.corners() {
                let corner = transform.transform_point3(corner);
                all.add(corner);
                corners.extend((crowd.len() <= MAX_CORNERED).then_some(corner));
            }
            placements.push(Placement { transform, dyes: dyes(instance) });
        }
        let stage = Stage::new(all, figure_size);
        if corners.is_empty() {
            corners = stage.bounds.corners().into();
        }
        Self { placements, corners, stage }
    }
}
