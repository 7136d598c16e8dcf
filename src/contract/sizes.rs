//! Sizes of numbers, and the allowed error as a share of a size.

/// The allowed error: radians for a rotation, and a share of the magnitude for everything else.
pub const NARROW: f64 = 2e-6;

/// The allowed error of a magnitude. It is at least the smallest normal `f32`, since GPUs may flush smaller numbers to zero.
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
