//! The choices of a retargeting.

use glam::DVec3;

use crate::retarget::pose::ReferencePose;

/// The choices and the error bounds of a retargeting.
#[derive(Debug, Clone, PartialEq)]
pub struct RetargetOptions {
    /// The pose of the source that looks like a pose of the target. The rest pose by default.
    pub reference: ReferencePose,
    /// The pose of the target that looks like the reference pose. The rest pose by default.
    pub target_pose: ReferencePose,
    /// True, the default, if the bones of the reference pose are rotated to where those of the target's pose point.
    /// Without it, the two poses count as alike as they are.
    pub align: bool,
    /// The up axis of the source: one of the axes, or its opposite. `None`, the default, for the axis along which the
    /// figure stands in its clips or in its rest pose, and +Y where neither tells.
    pub source_up: Option<DVec3>,
    /// The rotation of the source about the up axis.
    pub facing: Facing,
    /// The ground of the source.
    pub ground: Ground,
    /// The joints whose translations and scales are carried over.
    pub translations: CarriedJoints,
    /// The largest error of resampled rotations in model space, in radians; 1e-4 by default.
    pub rotation_bound: f64,
    /// The largest error of a resampled translation of the root in model space, as a share of the rig's size; 1e-4 by
    /// default.
    pub translation_bound: f64,
}

impl Default for RetargetOptions {
    fn default() -> Self {
        Self {
            reference: ReferencePose::Rest,
            target_pose: ReferencePose::Rest,
            align: true,
            source_up: None,
            facing: Facing::Auto,
            ground: Ground::Auto,
            translations: CarriedJoints::All,
            rotation_bound: 1e-4,
            translation_bound: 1e-4,
        }
    }
}

/// The joints whose translations and scales are carried over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CarriedJoints {
    /// The root of the map alone: its translation.
    Root,
    /// All pairs of joints by names or by the caller whose nearest mapped joints above are a pair, too: their changes
    /// relative to the reference pose, times the factor of the root.
    #[default]
    All,
}

/// The rotation of the source's space about the up axis.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Facing {
    /// The front of the source in the reference pose becomes the front of the target's rest pose: to the nearest
    /// quarter rotation within 20 degrees, else exactly. If the reference pose does not stand upright, +Z counts as the
    /// front, or -Y if +Z is up. If the pose of the target does not, nothing is rotated.
    #[default]
    Auto,
    /// Nothing is rotated.
    Keep,
    /// A rotation by an angle in degrees, counterclockwise if seen from above.
    Degrees(f64),
}

/// The ground on which the feet of a source come down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ground {
    /// At height 0 if the lowest point of the feet is within a tenth of a leg of it in a tenth of the poses of the clip
    /// or more, else at the lowest point over the clip.
    #[default]
    Auto,
    /// At height 0.
    Zero,
    /// Nowhere: the root moves up and down relative to the reference pose of the source and the rest pose of the
    /// target.
    Keep,
}
