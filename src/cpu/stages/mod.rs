//! The scalar stages. Each computes the same as a shader file, in the same order. Most have the name of that file;
//! `sampler` is `pose_part.wgsl`, and `quantized` a part of `sample.wgsl`.

pub mod blend;
pub mod decay;
pub mod drive;
pub mod ease;
pub mod events;
pub mod phase;
pub mod quantized;
pub mod quat;
pub mod root_joint;
pub mod root_motion;
pub mod sampler;
pub mod search;

use crate::pack::record::{PART_ROTATION, PART_SCALE, PART_TRANSLATION};

/// A part of the transform of a joint. As a number, it is the index into arrays of the three parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransformPart {
    Translation = PART_TRANSLATION as isize,
    Rotation = PART_ROTATION as isize,
    Scale = PART_SCALE as isize,
}

impl TransformPart {
    /// All parts in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Translation, Self::Rotation, Self::Scale];
}
