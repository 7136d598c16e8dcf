//! Comparisons with hand-worked numbers.

use glam::{DAffine3, DQuat, DVec3};

/// Asserts that numbers are as expected, within 2e-6 times the largest of them, or times 1 if all are smaller.
#[track_caller]
pub fn assert_close(actual: &[f64], expected: &[f64], what: &str) {
    let size = expected.iter().fold(1.0_f64, |size, number| size.max(number.abs()));
    let close = |(a, e): (&f64, &f64)| (a - e).abs() <= 2e-6 * size;
    let all = actual.len() == expected.len() && actual.iter().zip(expected).all(close);
    assert!(all, "{what}: {actual:?}, expected {expected:?}");
}

/// Asserts that a translation or scale is as expected.
#[track_caller]
pub fn assert_vector(actual: DVec3, expected: [f64; 3], what: &str) {
    assert_close(&actual.to_array(), &expected, what);
}

/// Asserts that a rotation has unit length and is as expected. A quaternion and its negative are the same rotation.
#[track_caller]
pub fn assert_rotation(actual: DQuat, expected: DQuat, what: &str) {
    assert!((actual.length() - 1.0).abs() < 1e-6, "{what}: {actual} is not of unit length");
    let expected = if actual.dot(expected) < 0.0 { -expected } else { expected };
    let angle = 4.0 * (0.5 * (actual - expected).length()).asin();
    assert!(angle < 2e-6, "{what}: {actual}, expected {expected}, {angle} rad apart");
}

/// Asserts that a matrix is as expected.
#[track_caller]
pub fn assert_matrix(actual: DAffine3, expected: DAffine3, what: &str) {
    assert_close(&actual.to_cols_array(), &expected.to_cols_array(), what);
}
