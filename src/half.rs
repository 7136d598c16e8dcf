//! Numbers of 16 bits, `f16`: IEEE 754 binary16.

/// The largest `f16`. Larger numbers become this one.
pub const LARGEST_HALF: f32 = 65504.0;

/// The bits of the nearest `f16`, ties to even. Numbers beyond the largest `f16`, and NaN, become the largest.
///
/// As in `shaders/shared/pack.wgsl`, the arithmetic is in integers: numbers below the normal ones are not rounded alike
/// on all machines. The code has no branch, so that a compiler can convert several numbers at once.
#[inline(always)]
pub fn from_f32(number: f32) -> u32 {
    let bits = number.to_bits();
    let magnitude = ((bits & 0x7fff_ffff) as i32).min(LARGEST_HALF.to_bits() as i32) as u32;
    // From 2^-14 on: the exponent is moved, and 13 bits are rounded. The carry may reach the exponent.
    let normal = (magnitude + 0x0fff + (magnitude >> 13 & 1)).wrapping_sub(0x3800_0000) >> 13;
    // Below that: steps of 2^-24, the steps of an `f32` near a half.
    let small = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5_f32.to_bits());
    (bits >> 16 & 0x8000) | if magnitude < 0x3880_0000 { small } else { normal }
}

/// The number that the bits of an `f16` stand for.
pub fn to_f64(half: u32) -> f64 {
    let (exponent, fraction) = (half >> 10 & 0x1f, f64::from(half & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2.0_f64.powi(-24),
        31 if fraction > 0.0 => f64::NAN,
        31 => f64::INFINITY,
        _ => (1024.0 + fraction) * 2.0_f64.powi(exponent as i32 - 25),
    };
    if half & 0x8000 == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_half_by_hand() {
        // IEEE 754: 1 is exponent 15 of 5 bits; its neighbour above is 1 + 2^-10.
        let cases = [
            (0.0, 0x0000),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (1.0 / 3.0, 0x3555),
            (65504.0, 0x7bff),
            (65519.0, 0x7bff),
            (1e9, 0x7bff),
            (f32::NEG_INFINITY, 0xfbff),
            // Ties go to even: half a step above 1 stays, one and a half steps becomes two.
            (1.0 + 0.5 / 1024.0, 0x3c00),
            (1.0 + 1.5 / 1024.0, 0x3c02),
            // A fraction that rounds up to the next power of two.
            (1.999_9, 0x4000),
            // The smallest normal number, and below it whole steps of 2^-24.
            (2.0_f32.powi(-14), 0x0400),
            (2.0_f32.powi(-24), 0x0001),
            (-2.5 * 2.0_f32.powi(-24), 0x8002),
            (0.5 * 2.0_f32.powi(-24), 0x0000),
            (1023.9 * 2.0_f32.powi(-24), 0x0400),
        ];
        for (number, expected) in cases {
            assert_eq!(from_f32(number), expected, "{number}");
        }
    }

    #[test]
    fn every_half_is_its_own_nearest() {
        for bits in (0..0x1_0000).filter(|bits| bits & 0x7c00 != 0x7c00) {
            assert_eq!(from_f32(to_f64(bits) as f32), bits, "{bits:#x}");
        }
        assert!(to_f64(0x7c01).is_nan() && to_f64(0xfc00) == f64::NEG_INFINITY);
    }

    #[test]
    fn between_two_halves_the_nearer_one_is_taken() {
        for bits in (0..0x7bff_u32).step_by(7) {
            let (low, high) = (to_f64(bits), to_f64(bits + 1));
            assert_eq!(from_f32((low + 0.499 * (high - low)) as f32), bits, "{low}");
            assert_eq!(from_f32((low + 0.501 * (high - low)) as f32), bits + 1, "{low}");
        }
    }
}
