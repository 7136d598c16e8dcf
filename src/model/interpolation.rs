//! Values between two keys, and beyond the first and last key.

use crate::model::InterpolatorId;

/// The interpolation of the values between two keys (glTF 2.0, appendix C).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// The value of the previous key.
    Step,
    /// Linear interpolation. Rotations are interpolated spherically along the shorter arc.
    Linear,
    /// Cubic Hermite splines with an in-tangent and an out-tangent per key, in units per second. Rotations are normalised.
    CubicSpline,
    /// Spherical interpolation of quaternions xyzw along the shorter arc, without normalisation, for quaternions of any length.
    /// Cocos Creator interpolates a quaternion property like this. The curve is 4 numbers wide.
    Slerp,
    /// Interpolation by a function of the caller, which the library holds.
    Custom(InterpolatorId),
}

impl Interpolation {
    /// Elements stored per key: 1, or 3 (in-tangent, value, out-tangent) for [`CubicSpline`](Self::CubicSpline).
    pub fn elements_per_key(self) -> usize {
        if self == Self::CubicSpline { 3 } else { 1 }
    }

    /// True if values can continue in straight lines beyond their keys.
    pub(crate) fn has_lines(self) -> bool {
        matches!(self, Self::Step | Self::Linear | Self::CubicSpline)
    }
}

/// The values of a curve before its first key, or after its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Extrapolation {
    /// The value of the key.
    #[default]
    Clamp,
    /// The straight line through the key and its neighbour, for each interpolation between the two. For
    /// [`Slerp`](Interpolation::Slerp), [`Custom`](Interpolation::Custom) and rotations the same as [`Clamp`](Self::Clamp).
    Linear,
    /// Repetition of the curve, each pass from the first key to the last.
    Loop,
    /// Repetition of the curve forwards and backwards in turn.
    PingPong,
}
