//! A number of two `f32`.

/// Splits a number into an `f32` and the rest that the rounding left.
pub fn split(number: f64) -> (f32, f32) {
    let high = number as f32;
    (high, (number - f64::from(high)) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_number_is_exact_to_48_bits() {
        for number in [0.1, 1.0 / 3.0, 12345.678901, -7.0e-3] {
            let (high, low) = split(number);
            assert!((f64::from(high) + f64::from(low) - number).abs() <= number.abs() * 2.0_f64.powi(-48));
        }
    }
}
