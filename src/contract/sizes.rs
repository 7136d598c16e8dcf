//! Sizes of numbers, the allowed error as a share of a size, and the angle between rotations.

use glam::DQuat;

use crate::model::rotation::unit;

/// The allowed error: radians for a rotation, and a share of the magnitude for everything else.
pub const NARROW: f64 = 2e-6;

/// The allowed error of a magnitude. It is at least the smallest normal `f32`, since GPUs may flush smaller numbers to
/// zero.
pub fn share_of(magnitude: f64) -> f64 {
    (NARROW * magnitude).max(f64::from(f32::MIN_POSITIVE))
}

/// The size of an element: its length if it is a vector, else the magnitude of its largest number.
pub fn size(element: &[f64], vectors: bool) -> f64 {
    if vectors { element.iter().map(|x| x * x).sum::<f64>().sqrt() } else { largest(element) }
}

/// The largest magnitude of some numbers.
pub fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |largest, number| largest.max(number.abs()))
}

/// The angle, in radians, of the rotation from one quaternion to another; infinite if one of them is no rotation.
///
/// Between unit quaternions on the same side, a chord of length `d` spans `2 asin(d / 2)` on the sphere, and a rotation
/// turns by twice that. Unlike the arc cosine of a dot product, this is exact for tiny angles.
pub fn angle(a: DQuat, b: DQuat) -> f64 {
    if !(a.is_finite() && b.is_finite()) {
        return f64::INFINITY;
    }
    match (unit(a), unit(b)) {
        (Some(a), Some(b)) => {
            let b = if a.dot(b) < 0.0 { -b } else { b };
            4.0 * (0.5 * (a - b).length()).asin()
        }
        _ => f64::INFINITY,
    }
}
