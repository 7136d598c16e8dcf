//! Model matrices to skin matrices, in each format.

use glam::Vec4;

use crate::cpu::block::dual_quaternion;
use crate::cpu::simd::{AlignedLines, AlignedRows, LARGEST_BLOCK, Lanes, Matrix, PackedMatrix};
use crate::model::SkinFormat;
use crate::pack::NUMBERS;

/// The skin matrices of an instance, as products in registers.
pub trait Products: Copy {
    /// The skin matrix of a slot.
    fn product<L: Lanes>(&self, slot: usize) -> L::Product;

    /// Stores the skin matrix of a slot.
    #[inline(always)]
    fn store<L: Lanes>(&self, slot: usize, to: &mut [f32; NUMBERS]) {
        L::store_rows(self.product::<L>(slot), to);
    }

    /// Stores the skin matrix of a slot past the caches.
    #[inline(always)]
    fn store_past_caches<L: Lanes>(&self, slot: usize, to: &mut AlignedRows) {
        L::store_rows_past_caches(self.product::<L>(slot), to);
    }

    /// Stores the skin matrices of four slots, which fill whole cache lines, past the caches.
    #[inline(always)]
    fn store_lines_past_caches<L: Lanes>(&self, slot: usize, to: &mut AlignedLines) {
        for (index, to) in to.matrices_mut().iter_mut().enumerate() {
            self.store_past_caches::<L>(slot + index, to);
        }
    }
}

/// The inputs of the skin matrices of an instance.
#[derive(Clone, Copy)]
pub struct Skinning<'a> {
    /// The joint of each skin matrix, then words without meaning.
    pub joints: &'a [u32],
    /// Three rows per skin matrix.
    pub inverse_binds: &'a [[Vec4; 3]],
    /// The model matrix of each joint.
    pub models: &'a [Matrix],
}

impl Products for Skinning<'_> {
    #[inline(always)]
    fn product<L: Lanes>(&self, slot: usize) -> L::Product {
        L::product(&self.models[self.joints[slot] as usize], self.inverse_binds[slot].each_ref())
    }
}

/// Writes the skin matrices of an instance in a format. If `past_caches` is set, past the caches.
#[inline(always)]
pub fn write<L: Lanes, P: Products>(products: P, format: SkinFormat, past_caches: bool, to: &mut [f32]) {
    match format {
        SkinFormat::Matrix => matrices::<L, P>(products, past_caches, to),
        SkinFormat::HalfMatrix => half_matrices::<L, P>(products, past_caches, to),
        SkinFormat::DualQuaternion => dual_quaternions::<L, P>(products, past_caches, to),
    }
}

/// Writes skin matrices as 12 `f32` each.
#[inline(always)]
fn matrices<L: Lanes, P: Products>(products: P, past_caches: bool, to: &mut [f32]) {
    if past_caches && let Ok(to) = bytemuck::try_cast_slice_mut::<f32, AlignedLines>(to) {
        for (four, to) in to.iter_mut().enumerate() {
            products.store_lines_past_caches::<L>(4 * four, to);
        }
        return;
    }
    if past_caches && let Ok(to) = bytemuck::try_cast_slice_mut::<f32, AlignedRows>(to) {
        for (slot, to) in to.iter_mut().enumerate() {
            products.store_past_caches::<L>(slot, to);
        }
        return;
    }
    for (slot, to) in to.as_chunks_mut::<NUMBERS>().0.iter_mut().enumerate() {
        products.store::<L>(slot, to);
    }
}

/// Writes skin matrices as 12 `f16` each.
#[inline(always)]
fn half_matrices<L: Lanes, P: Products>(products: P, past_caches: bool, to: &mut [f32]) {
    for (slot, to) in to.as_chunks_mut().0.iter_mut().enumerate() {
        store::<L>(L::halves(products.product::<L>(slot)), past_caches, to);
    }
}

/// Writes skin matrices as rotation, translation and uniform scale, a block of joints at a time.
#[inline(always)]
fn dual_quaternions<L: Lanes, P: Products>(all: P, past_caches: bool, to: &mut [f32]) {
    for (block, to) in to.as_chunks_mut().0.chunks_mut(L::BLOCK).enumerate() {
        let first = block * L::BLOCK;
        // A block that is not full is filled with a matrix that can be decomposed.
        let mut products = [all.product::<L>(first); LARGEST_BLOCK];
        for (slot, product) in products[..to.len()].iter_mut().enumerate() {
            *product = all.product::<L>(first + slot);
        }
        let decomposed = dual_quaternion::decompose::<L>(&products);
        for (slot, to) in to.iter_mut().enumerate() {
            store::<L>(decomposed.words(slot), past_caches, to);
        }
    }
}

/// Stores words past the caches or through them.
#[inline(always)]
fn store<L: Lanes>(words: [u64; 3], past_caches: bool, to: &mut PackedMatrix) {
    if past_caches {
        L::store_words_past_caches(words, to);
    } else {
        L::store_words(words, to);
    }
}
