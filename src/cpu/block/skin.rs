//! Model matrices to skin matrices, in each format.

use glam::Vec4;

use crate::cpu::block::dual_quaternion;
use crate::cpu::simd::{LARGEST_BLOCK, Lanes, Matrix, PackedMatrix};
use crate::pack::NUMBERS;

/// The inputs of the skin matrices of an instance.
#[derive(Clone, Copy)]
pub struct Skinning<'a> {
    /// The joint of each skin matrix, then words without meaning.
    pub joints: &'a [u32],
    /// Three rows per skin matrix.
    pub inverse_binds: &'a [Vec4],
    /// The model matrix of each joint.
    pub models: &'a [Matrix],
    /// If set, skin matrices are written past the caches.
    pub past_caches: bool,
}

impl<'a> Skinning<'a> {
    /// The joint and the inverse bind matrix of each skin matrix.
    #[inline(always)]
    fn binds(&self) -> impl Iterator<Item = (&'a u32, &'a [Vec4; 3])> + Clone {
        self.joints.iter().zip(self.inverse_binds.as_chunks::<3>().0)
    }

    /// Stores words past the caches or through them.
    #[inline(always)]
    fn store<L: Lanes>(&self, words: [u64; 3], to: &mut PackedMatrix) {
        if self.past_caches {
            L::store_words_past_caches(words, to);
        } else {
            L::store_words(words, to);
        }
    }
}

/// Writes skin matrices as 12 `f32` each.
#[inline(always)]
pub fn matrices<L: Lanes>(skinning: Skinning, to: &mut [f32]) {
    for (to, (&joint, inverse_bind)) in to.as_chunks_mut::<NUMBERS>().0.iter_mut().zip(skinning.binds()) {
        let product = L::product(&skinning.models[joint as usize], inverse_bind);
        if skinning.past_caches {
            L::store_rows_past_caches(product, to);
        } else {
            L::store_rows(product, to);
        }
    }
}

/// Writes skin matrices as 12 `f16` each.
#[inline(always)]
pub fn half_matrices<L: Lanes>(skinning: Skinning, to: &mut [f32]) {
    for (to, (&joint, inverse_bind)) in to.as_chunks_mut().0.iter_mut().zip(skinning.binds()) {
        skinning.store::<L>(L::halves(L::product(&skinning.models[joint as usize], inverse_bind)), to);
    }
}

/// Writes skin matrices as rotation, translation and uniform scale, a block of joints at a time.
#[inline(always)]
pub fn dual_quaternions<L: Lanes>(skinning: Skinning, to: &mut [f32]) {
    let to = to.as_chunks_mut().0;
    let mut binds = skinning.binds().take(to.len());
    let Some((&joint, inverse_bind)) = binds.clone().next() else { return };
    // A block that is not full is filled with a matrix that can be decomposed.
    let mut products = [L::product(&skinning.models[joint as usize], inverse_bind); LARGEST_BLOCK];
    for to in to.chunks_mut(L::BLOCK) {
        for (product, (&joint, inverse_bind)) in products[..to.len()].iter_mut().zip(binds.by_ref()) {
            *product = L::product(&skinning.models[joint as usize], inverse_bind);
        }
        let decomposed = dual_quaternion::decompose::<L>(&products);
        for (slot, to) in to.iter_mut().enumerate() {
            skinning.store::<L>(decomposed.words(slot), to);
        }
    }
}
