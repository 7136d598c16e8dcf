//! Skin matrices in each format, and the stores of transforms and matrices.
//!
//! # Outputs past the caches
//!
//! The caches would not keep outputs of more than a few MiB until they are read, so that such outputs are written past
//! the caches. A line that is written past the caches in two parts takes two writes to memory. Outputs therefore begin
//! at a cache line (`Aligned`), and a few slots of each instance are staged and then written up to the last whole line.
//! Full matrices that share a line with the instance before wait for its last matrices, and fill the line with them.
//! Lines that two instances share otherwise go through the caches: packed matrices, local transforms, rigs of fewer
//! than four joints, and instances that are posed alone. `docs/decisions/whole-cache-lines.md` has the numbers.

use std::ops::Range;

use glam::Vec4;

use crate::cpu::block::dual_quaternion;
use crate::cpu::simd::{AlignedLines, LARGEST_BLOCK, LINE, Lanes, Matrix, PackedMatrix};
use crate::model::SkinFormat;
use crate::pack::NUMBERS;

/// The matrices of an instance, as products in registers.
pub trait Products: Copy {
    /// The matrix of a slot.
    fn product<L: Lanes>(&self, slot: usize) -> L::Product;

    /// Stores the matrix of a slot.
    #[inline(always)]
    fn store<L: Lanes>(&self, slot: usize, to: &mut [f32; NUMBERS]) {
        L::store_rows(self.product::<L>(slot), to);
    }

    /// Stores the matrices of four slots, which fill whole cache lines, past the caches.
    #[inline(always)]
    fn store_lines_past_caches<L: Lanes>(&self, slot: usize, to: &mut AlignedLines) {
        for (index, to) in to.matrices_mut().iter_mut().enumerate() {
            L::store_rows_past_caches(self.product::<L>(slot + index), to);
        }
    }
}

/// Matrices whose rows are in memory.
pub trait RowsInMemory: Copy {
    /// The rows of the matrix of a slot.
    fn rows(&self, slot: usize) -> [&Vec4; 3];
}

impl<R: RowsInMemory> Products for R {
    #[inline(always)]
    fn product<L: Lanes>(&self, slot: usize) -> L::Product {
        L::from_rows(self.rows(slot))
    }

    #[inline(always)]
    fn store<L: Lanes>(&self, slot: usize, to: &mut [f32; NUMBERS]) {
        for (row, to) in self.rows(slot).into_iter().zip(to.as_chunks_mut::<4>().0) {
            *to = row.to_array();
        }
    }

    #[inline(always)]
    fn store_lines_past_caches<L: Lanes>(&self, slot: usize, to: &mut AlignedLines) {
        let rows = [self.rows(slot), self.rows(slot + 1), self.rows(slot + 2), self.rows(slot + 3)];
        L::store_lines_past_caches(rows, to);
    }
}

/// The local transforms of an instance: translation, rotation and scale in place of rows.
#[derive(Clone, Copy)]
pub struct LocalTransforms<'a>(pub [&'a [Vec4]; 3]);

impl RowsInMemory for LocalTransforms<'_> {
    #[inline(always)]
    fn rows(&self, slot: usize) -> [&Vec4; 3] {
        let [translations, rotations, scales] = self.0;
        [&translations[slot], &rotations[slot], &scales[slot]]
    }
}

/// The model matrices of an instance.
#[derive(Clone, Copy)]
pub struct ModelMatrices<'a>(pub &'a [Matrix]);

impl RowsInMemory for ModelMatrices<'_> {
    #[inline(always)]
    fn rows(&self, slot: usize) -> [&Vec4; 3] {
        self.0[slot].rows()
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

/// Writes matrices as 12 `f32` each. If `past_caches` is set, whole cache lines are written past the caches and the rest through them: a
/// line that is written past the caches in two parts takes two writes to memory.
#[inline(always)]
pub fn matrices<L: Lanes, P: Products>(products: P, past_caches: bool, to: &mut [f32]) {
    if !past_caches {
        store_each::<L, P>(products, 0, to);
    } else if let Ok(lines) = bytemuck::try_cast_slice_mut(to) {
        // Most calls have whole lines. The code below takes 2 to 7 % longer for them.
        store_lines::<L, P>(products, 0, lines);
    } else {
        let Range { start, end } = whole_lines(to, NUMBERS);
        let (before, rest) = to.split_at_mut(start * NUMBERS);
        let (lines, after) = rest.split_at_mut((end - start) * NUMBERS);
        store_each::<L, P>(products, 0, before);
        // `whole_lines` found that they begin at a cache line.
        store_lines::<L, P>(products, start, bytemuck::try_cast_slice_mut(lines).unwrap_or_default());
        store_each::<L, P>(products, end, after);
    }
}

/// Writes matrices past the caches, from a slot on.
#[inline(always)]
fn store_lines<L: Lanes, P: Products>(products: P, first: usize, to: &mut [AlignedLines]) {
    for (slot, to) in (first..).step_by(MATRICES_PER_LINES).zip(to) {
        products.store_lines_past_caches::<L>(slot, to);
    }
}

/// Writes matrices through the caches, from a slot on.
#[inline(always)]
fn store_each<L: Lanes, P: Products>(products: P, first: usize, to: &mut [f32]) {
    for (slot, to) in (first..).zip(to.as_chunks_mut::<NUMBERS>().0) {
        products.store::<L>(slot, to);
    }
}

/// The numbers of a packed matrix.
const PACKED: usize = size_of::<PackedMatrix>() / size_of::<f32>();

/// The numbers of three cache lines: four full matrices or eight packed ones.
const LINES: usize = size_of::<AlignedLines>() / size_of::<f32>();

/// The number of full matrices that fill whole cache lines.
pub const MATRICES_PER_LINES: usize = LINES / NUMBERS;

/// The number of matrices of any format that fill whole cache lines: three lines of packed ones, six of full ones.
pub const SLOTS_PER_LINES: usize = 8;

/// The first of [`SLOTS_PER_LINES`] slots that begins at a cache line, in an output of `numbers` numbers per slot. `None` if no slot does.
#[inline(always)]
pub fn first_at_line(to: &[f32], numbers: usize) -> Option<usize> {
    let address = to.as_ptr().addr();
    (0..SLOTS_PER_LINES).find(|slot| (address + 4 * numbers * slot).is_multiple_of(LINE))
}

/// The slots that fill whole cache lines, in an output of `numbers` numbers per slot.
#[inline(always)]
fn whole_lines(to: &[f32], numbers: usize) -> Range<usize> {
    let (slots, per_lines) = (to.len() / numbers, LINES / numbers);
    let start = first_at_line(to, numbers).map_or(slots, |first| first.min(slots));
    start..start + (slots - start) / per_lines * per_lines
}

/// Writes skin matrices as 12 `f16` each.
#[inline(always)]
fn half_matrices<L: Lanes, P: Products>(products: P, past_caches: bool, to: &mut [f32]) {
    // One loop for both takes 4 % longer where none goes past the caches.
    if past_caches {
        let lines = whole_lines(to, PACKED);
        for (slot, to) in to.as_chunks_mut().0.iter_mut().enumerate() {
            store::<L>(L::halves(products.product::<L>(slot)), lines.contains(&slot), to);
        }
    } else {
        for (slot, to) in to.as_chunks_mut().0.iter_mut().enumerate() {
            L::store_words(L::halves(products.product::<L>(slot)), to);
        }
    }
}

/// Writes skin matrices as rotation, translation and uniform scale, a block of joints at a time.
#[inline(always)]
fn dual_quaternions<L: Lanes, P: Products>(all: P, past_caches: bool, to: &mut [f32]) {
    let lines = if past_caches { whole_lines(to, PACKED) } else { 0..0 };
    for (block, to) in to.as_chunks_mut().0.chunks_mut(L::BLOCK).enumerate() {
        let first = block * L::BLOCK;
        // A block that is not full is filled with a matrix that can be decomposed.
        let mut products = [all.product::<L>(first); LARGEST_BLOCK];
        for (slot, product) in products[..to.len()].iter_mut().enumerate() {
            *product = all.product::<L>(first + slot);
        }
        let decomposed = dual_quaternion::decompose::<L>(&products);
        for (slot, to) in to.iter_mut().enumerate() {
            store::<L>(decomposed.words(slot), lines.contains(&(first + slot)), to);
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
