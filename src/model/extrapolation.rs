//! What is before the first key and after the last.

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
