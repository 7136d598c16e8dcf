//! Model matrices to skin matrices, in each format.

use glam::Vec4;

use crate::cpu::dual_quaternion;
use crate::cpu::simd::block::LARGEST_BLOCK;
use crate::cpu::simd::{Lanes, Matrix, PackedMatrix};
use crate::pack::NUMBERS;

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

/// The same as `f16`.
#[inline(always)]
pub fn half_matrices<L: Lanes>(
    joints: &[u32],
    inverse_binds: &[Vec4],
    models: &[Matrix],
    past_caches: bool,
    to: &mut [f32],
) {
    let to = to.as_chunks_mut().0;
    for ((to, &joint), inverse_bind) in to.iter_mut().zip(joints).zip(inverse_binds.as_chunks::<3>().0) {
        store::<L>(L::halves(L::product(&models[joint as usize], inverse_bind)), past_caches, to);
    }
}

/// The same as rotation, translation and uniform scale, a block of joints at a time.
#[inline(always)]
pub fn dual_quaternions<L: Lanes>(
    joints: &[u32],
    inverse_binds: &[Vec4],
    models: &[Matrix],
    past_caches: bool,
    to: &mut [f32],
) {
    let to = to.as_chunks_mut().0;
    let bound = joints[..to.len()].iter().zip(inverse_binds.as_chunks::<3>().0);
    let Some((&joint, inverse_bind)) = bound.clone().next() else { return };
    // A block that is not full is filled with something that can be taken apart.
    let mut products = [L::product(&models[joint as usize], inverse_bind); LARGEST_BLOCK];
    let mut bound = bound;
    for to in to.chunks_mut(L::BLOCK) {
        for (product, (&joint, inverse_bind)) in products[..to.len()].iter_mut().zip(bound.by_ref()) {
            *product = L::product(&models[joint as usize], inverse_bind);
        }
        let parts = dual_quaternion::of_products::<L>(&products);
        for (slot, to) in to.iter_mut().enumerate() {
            store::<L>(parts.words(slot), past_caches, to);
        }
    }
}

/// Writes words past the caches or not.
#[inline(always)]
fn store<L: Lanes>(words: [u64; 3], past_caches: bool, to: &mut PackedMatrix) {
    if past_caches {
        L::store_words_past_caches(words, to);
    } else {
        L::store_words(words, to);
    }
}
