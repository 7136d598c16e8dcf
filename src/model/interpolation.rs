//! Values between two keys, and beyond the first and last key.

use crate::model::InterpolatorId;

/// How values between two keys come about (glTF 2.0, appendix C).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// The previous key's value.
    Step,
    /// Linear interpolation; for rotations, spherical along the shorter arc.
    Linear,
    /// Cubic Hermite splines with an in- and an out-tangent a key, in units per second; rotations are normalised.
    CubicSpline,
    /// Spherical interpolation of quaternions xyzw along the shorter arc, of whatever length they are, without a
    /// normalisation: how Cocos Creator has a quaternion that is no joint's rotation. 4 numbers wide.
    Slerp,
    /// By a function of the caller's, one of the library's.
    Custom(InterpolatorId),
}

impl Interpolation {
    /// Elements stored a key: 1, or 3 (in-tangent, value, out-tangent) for [`CubicSpline`](Self::CubicSpline).
    pub fn elements_per_key(self) -> usize {
        if self == Self::CubicSpline { 3 } else { 1 }
    }

    /// Whether values can go on in straight lines beyond their keys.
    pub(crate) fn has_lines(self) -> bool {
        matches!(self, Self::Step | Self::Linear | Self::CubicSpline)
    }
}

/// What a curve is before its first key, or after its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Extrapolation {
    /// The value of the key.
    #[default]
    Clamp,
    /// The straight line through the key and its neighbour, whatever the interpolation between the two; for
    /// [`Slerp`](crate::Interpolation::Slerp), [`Custom`](crate::Interpolation::Custom) and rotations as
    /// [`Clamp`](Self::Clamp).
    Linear,
    /// The curve from the first key to the last again and again.
    Loop,
    /// The curve there and back again and again.
    PingPong,
}
