//! What targets and interpolations are called.

use posse::{Interpolation, Target};

pub fn target(target: Target) -> (&'static str, Option<usize>) {
    match target {
        Target::Translation(joint) => ("translation", Some(joint)),
        Target::Rotation(joint) => ("rotation", Some(joint)),
        Target::Scale(joint) => ("scale", Some(joint)),
        Target::Weights(joint) => ("weights", Some(joint)),
        Target::EulerAngles(joint) => ("eulerAngles", Some(joint)),
        Target::Property(_) => ("property", None),
    }
}

pub fn interpolation(interpolation: Interpolation) -> &'static str {
    match interpolation {
        Interpolation::Step => "STEP",
        Interpolation::Linear => "LINEAR",
        Interpolation::CubicSpline => "CUBICSPLINE",
        Interpolation::Slerp => "SLERP",
        Interpolation::Custom(_) => "CUSTOM",
    }
}
