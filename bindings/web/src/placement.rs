//! The positions of instances, and the stage around them.

use posse::glam::{Affine3A, Vec3};
use posse::low_level::render::{demo_dyes, sunflower, tint};
use posse::render::{Bounds, Placement, Stage};
use posse::{Crowd, SkeletonId};

use crate::figure::Drawn;

/// The largest crowd with corners per instance. The camera is fitted to the box around a larger crowd.
const MOST_CORNERED: usize = 20_000;

/// The arrangement of a crowd.
pub struct Arrangement {
    pub placements: Vec<Placement>,
    /// The corners that a camera should show.
    pub corners: Vec<Vec3>,
    pub stage: Stage,
}

impl Arrangement {
    /// Arranges the instances in a disc with room for the largest figure. A single instance stays at the origin.
    pub fn new(crowd: &Crowd, drawn: &Drawn, is_demo: bool) -> Self {
        let bounds_of = |skeleton: SkeletonId| {
            let found = drawn.figures.iter().position(|figure| figure.skeleton == skeleton);
            found.and_then(|figure| drawn.bounds.get(figure)).copied().unwrap_or(Bounds::EMPTY).with_volume_or(1.0)
        };
        let width = |bounds: &Bounds| {
            let [x, z] = [bounds.size().x, bounds.size().z];
            (0.5 * (x + z)).max(0.75 * x.max(z))
        };
        let spacing = drawn.bounds.iter().map(width).fold(0.0, f32::max);
        let size = drawn.bounds.iter().map(|bounds| bounds.size().max_element()).fold(0.0, f32::max);
        let (mut placements, mut corners, mut all) = (Vec::with_capacity(crowd.len()), Vec::new(), Bounds::EMPTY);
        for (instance, spot) in sunflower(crowd.len(), spacing).enumerate() {
            let bounds = bounds_of(crowd.skeleton(instance));
            let middle = bounds.middle();
            let foot = Affine3A::from_translation(-Vec3::new(middle.x, bounds.low.y, middle.z));
            let transform = if crowd.len() == 1 { spot } else { spot * foot };
            for corner in bounds.corners() {
                let corner = transform.transform_point3(corner);
                all.add(corner);
                corners.extend((crowd.len() <= MOST_CORNERED).then_some(corner));
            }
            let dyes = if is_demo { demo_dyes(instance) } else { [tint(instance); 5] };
            placements.push(Placement { transform, dyes });
        }
        let stage = Stage::new(all, size);
        if corners.is_empty() {
            corners = stage.bounds.corners().into();
        }
        Self { placements, corners, stage }
    }
}
