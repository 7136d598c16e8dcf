//! Names and numbers in the text of `posse inspect`.

use posse::{Interpolation, Target};

/// A space and a name in quotes; empty without a name.
pub fn quoted_name(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!(" \"{name}\""))
}

/// A count with its noun, in the plural unless the count is 1.
pub fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Seconds with the digits of an `f32`, the precision of files.
pub fn seconds(seconds: f64) -> String {
    format!("{} s", seconds as f32)
}

/// The name of a target, and its joint.
pub fn target_name(target: Target) -> (&'static str, Option<usize>) {
    match target {
        Target::Translation(joint) => ("translation", Some(joint)),
        Target::Rotation(joint) => ("rotation", Some(joint)),
        Target::Scale(joint) => ("scale", Some(joint)),
        Target::Weights(joint) => ("weights", Some(joint)),
        Target::EulerAngles(joint) => ("eulerAngles", Some(joint)),
        Target::Property(_) => ("property", None),
    }
}

/// The name of an interpolation.
pub fn interpolation_name(interpolation: Interpolation) -> &'static str {
    match interpolation {
        Interpolation::Step => "STEP",
        Interpolation::Linear => "LINEAR",
        Interpolation::CubicSpline => "CUBICSPLINE",
        Interpolation::Slerp => "SLERP",
        Interpolation::Custom(_) => "CUSTOM",
    }
}
