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
    /// The corners that a camera should show, in world space: the corners of the bounds of each instance, or of the
    /// whole crowd if it is empty or very large.
    pub corners: Vec<Vec3>,
    /// The ground and the bounds of the whole crowd.
    pub stage: Stage,
}

impl Arrangement {
    /// Arranges the instances in a disc with room for the largest figure. A single instance stays at the origin.
    /// `figure_bounds` has the bounds of each figure; `scale` returns the factor of the size of an instance, above 0,
    /// and `dyes` its colours.
    pub fn new(
        crowd: &Crowd,
        figures: &[Figure],
        figure_bounds: &[Bounds],
        scale: impl Fn(usize) -> f32,
        dyes: impl Fn(usize) -> [[f32; 3]; 5],
    ) -> Self {
        let figure_of = |skeleton: SkeletonId| figures.iter().position(|figure| figure.skeleton == skeleton);
        // The bounds of each figure at its largest scale.
        let mut largest = vec![0.0_f32; figures.len()];
        for instance in 0..crowd.len() {
            if let Some(figure) = figure_of(crowd.skeleton(instance)) {
                largest[figure] = largest[figure].max(scale(instance));
            }
        }
        let width = |bounds: &Bounds| {
            let [x, z] = [bounds.size().x, bounds.size().z];
            (0.5 * (x + z)).max(0.75 * x.max(z))
        };
        let largest_of = |size: &dyn Fn(&Bounds) -> f32| {
            figure_bounds.iter().zip(&largest).map(|(bounds, scale)| scale * size(bounds)).fold(0.0, f32::max)
        };
        let (spacing, figure_size) = (largest_of(&width), largest_of(&|bounds| bounds.size().max_element()));
        let (mut placements, mut corners, mut all) = (Vec::with_capacity(crowd.len()), Vec::new(), Bounds::EMPTY);
        for (instance, spot) in sunflower(crowd.len(), spacing).enumerate() {
            let bounds = figure_of(crowd.skeleton(instance)).map_or(Bounds::EMPTY, |figure| figure_bounds[figure]);
            let bounds = bounds.with_volume_or(1.0);
            let middle = bounds.middle();
            let foot = Affine3A::from_translation(-Vec3::new(middle.x, bounds.low.y, middle.z));
            let spot = spot * Affine3A::from_scale(Vec3::splat(scale(instance)));
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
