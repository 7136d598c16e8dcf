//! Model matrices to skin matrices.

use glam::Vec4;

use crate::cpu::simd::{Lanes, Matrix};
use crate::pack::outputs::NUMBERS;

/// Model matrices times inverse bind matrices, written past the caches or not.
#[inline(always)]
pub fn matrices<L: Lanes>(
    joints: &[u32],
    inverse_binds: &[Vec4],
    models: &[Matrix],
    past_caches: bool,
    to: &mut [f32],
) {
    let to = to.as_chunks_mut::<NUMBERS>().0;
    for ((to, &joint), inverse_bind) in to.iter_mut().zip(joints).zip(inverse_binds.as_chunks::<3>().0) {
        let product = L::product(&models[joint as usize], inverse_bind);
        if past_caches {
            L::store_rows_past_caches(product, to);
        } else {
            L::store_rows(product, to);
        }
    }
}
