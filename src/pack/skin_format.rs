//! Conversion between skin matrices and the words that engines write.

use glam::{DAffine3, DMat3, DQuat, DVec3};

use crate::model::SkinFormat;

/// The largest `f16`. Larger numbers are clamped to it.
pub const LARGEST_HALF: f32 = 65504.0;

/// The factor of a quaternion's numbers before their rounding to 16-bit integers.
pub const SNORM: f32 = 32767.0;

/// The bits of the nearest `f16`, ties to even. Numbers beyond the largest `f16`, and NaN, give the largest.
///
/// `shaders/pose/skin_half.wgsl` has the same function. It uses integer arithmetic, because GPUs differ in the rounding of
/// `pack2x16float` and of subnormal numbers. It has no branch, so that a compiler can vectorise it.
#[inline(always)]
pub fn half(number: f32) -> u32 {
    let bits = number.to_bits();
    let magnitude = ((bits & 0x7fff_ffff) as i32).min(LARGEST_HALF.to_bits() as i32) as u32;
    // From 2^-14 on: moves the exponent and rounds 13 bits. The carry into the exponent is wanted.
    let normal = (magnitude + 0x0fff + (magnitude >> 13 & 1)).wrapping_sub(0x3800_0000) >> 13;
    // Below 2^-14: steps of 2^-24, which are the steps of an `f32` at 0.5.
    let small = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5_f32.to_bits());
    (bits >> 16 & 0x8000) | if magnitude < 0x3880_0000 { small } else { normal }
}

/// The number of the `f16` with these bits.
pub fn number(half: u32) -> f64 {
    let (exponent, fraction) = (half >> 10 & 0x1f, f64::from(half & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2.0_f64.powi(-24),
        31 if fraction > 0.0 => f64::NAN,
        31 => f64::INFINITY,
        _ => (1024.0 + fraction) * 2.0_f64.powi(exponent as i32 - 25),
    };
    if half & 0x8000 == 0 { magnitude } else { -magnitude }
}

/// Decodes a matrix from the words of a skin format. Each `f32` holds the bits of a word.
///
/// # Panics
/// If there are fewer than [`SkinFormat::words`] words.
pub fn matrix(format: SkinFormat, words: &[f32]) -> DAffine3 {
    let halves = |word: f32| [word.to_bits() & 0xffff, word.to_bits() >> 16];
    match format {
        SkinFormat::Matrix => from_rows(|index| f64::from(words[index])),
        SkinFormat::HalfMatrix => from_rows(|index| number(halves(words[index / 2])[index % 2])),
        SkinFormat::DualQuaternion => {
            let snorm = |index: usize| f64::from(halves(words[index / 2])[index % 2] as i16) / f64::from(SNORM);
            let rotation = DQuat::from_xyzw(snorm(0), snorm(1), snorm(2), snorm(3)).normalize();
            let [x, y, z, scale] = [2, 3, 4, 5].map(|index| f64::from(words[index]));
            DAffine3::from_scale_rotation_translation(DVec3::splat(scale), rotation, DVec3::new(x, y, z))
        }
    }
}

/// The matrix of the twelve numbers of its rows.
fn from_rows(number: impl Fn(usize) -> f64) -> DAffine3 {
    let column = |column: usize| DVec3::new(number(column), number(4 + column), number(8 + column));
    DAffine3 { matrix3: DMat3::from_cols(column(0), column(1), column(2)), translation: column(3) }
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
            assert_eq!(half(number), expected, "{number}");
        }
    }

    #[test]
    fn every_half_is_its_own_nearest() {
        for bits in (0..0x1_0000).filter(|bits| bits & 0x7c00 != 0x7c00) {
            assert_eq!(half(number(bits) as f32), bits, "{bits:#x}");
        }
        assert!(number(0x7c01).is_nan() && number(0xfc00) == f64::NEG_INFINITY);
    }

    #[test]
    fn between_two_halves_the_nearer_one_is_taken() {
        for bits in (0..0x7bff_u32).step_by(7) {
            let (low, high) = (number(bits), number(bits + 1));
            assert_eq!(half((low + 0.499 * (high - low)) as f32), bits, "{low}");
            assert_eq!(half((low + 0.501 * (high - low)) as f32), bits + 1, "{low}");
        }
    }
}
