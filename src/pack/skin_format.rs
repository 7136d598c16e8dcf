//! Conversion between skin matrices and the words that engines write.

use glam::{DAffine3, DMat3, DQuat, DVec3};

use crate::half;
use crate::model::SkinFormat;

/// The factor of a quaternion's numbers before their rounding to 16-bit integers.
pub const SNORM: f32 = 32767.0;

/// Decodes a matrix from the words of a skin format. Each `f32` holds the bits of a word.
///
/// # Panics
/// If there are fewer than [`SkinFormat::words`] words.
pub fn matrix(format: SkinFormat, words: &[f32]) -> DAffine3 {
    let halves = |word: f32| [word.to_bits() & 0xffff, word.to_bits() >> 16];
    match format {
        SkinFormat::Matrix => from_rows(|index| f64::from(words[index])),
        SkinFormat::HalfMatrix => from_rows(|index| half::to_f64(halves(words[index / 2])[index % 2])),
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
