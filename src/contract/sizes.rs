//! How large numbers are, and what share of that may be off.

/// Radians for a rotation, and the share of a magnitude for everything else.
pub const NARROW: f64 = 2e-6;

/// A share of a magnitude, but no less than the smallest normal `f32`: below it GPUs may flush to zero.
pub fn share_of(magnitude: f64) -> f64 {
    (NARROW * magnitude).max(f64::from(f32::MIN_POSITIVE))
}

/// The size of an element: its length, or that of its largest number.
pub fn size(element: &[f64], vectors: bool) -> f64 {
    if vectors { element.iter().map(|x| x * x).sum::<f64>().sqrt() } else { largest(element) }
}

/// The largest magnitude of some numbers.
pub fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |largest, number| largest.max(number.abs()))
}
