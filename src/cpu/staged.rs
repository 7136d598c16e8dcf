//! Matrices of instances abreast on their way to the outputs: a few slots of all instances are staged, then written instance by instance.

use std::ops::Range;

use glam::Vec4;

use crate::cpu::abreast::{Numbers, load, multiply, splat};
use crate::cpu::block::skin::{self, Products};
use crate::cpu::simd::{AlignedLines, AlignedRows, LARGEST_BLOCK, Lanes};
use crate::cpu::source::Source;
use crate::model::SkinFormat;
use crate::pack::{NUMBERS, OutputLayout};

/// Matrices of each instance that are staged before they are written: six cache lines of `f32`.
pub const STAGED: usize = 8;

/// Matrices that fill whole cache lines: three of them.
const SLOTS_PER_LINES: usize = 4;

/// The skin matrices of a group, written slot by slot.
pub struct SkinWriter<'a> {
    /// The joint of each slot.
    pub joints: &'a [u32],
    /// Three rows per slot.
    inverse_binds: &'a [[Vec4; 3]],
    /// The slot that is next.
    pub next: usize,
    /// The first slot whose matrices are staged, and the one at which staged matrices are written.
    range: Range<usize>,
    staged: &'a mut Staged,
    output: Output<'a>,
}

impl<'a> SkinWriter<'a> {
    /// A writer of all slots of a skeleton; of none if skin matrices are not requested.
    pub fn new(
        source: Source<'a>,
        layout: &OutputLayout,
        instances: usize,
        staged: &'a mut Staged,
        to: &'a mut [f32],
    ) -> Self {
        let skeleton = &source.skeleton.record;
        let arrays = &source.library.arrays;
        let count = if layout.skin > 0 { skeleton.skin_joint_count as usize } else { 0 };
        let joints = &arrays.words[skeleton.skin_joints as usize..][..count];
        let inverse_binds = &arrays.values[skeleton.inverse_binds as usize..].as_chunks::<3>().0[..count];
        let (format, past_caches) = (layout.skin_format, source.past_caches);
        let output = Output { instances, stride: layout.skin, past_caches, format, to };
        let range = 0..output.first_slots().min(count);
        Self { joints, inverse_binds, next: 0, range, staged, output }
    }

    /// Multiplies the model matrices of the next slot to skin matrices, and writes what is staged if there is no room for more.
    #[inline(always)]
    pub fn push<L: Lanes>(&mut self, model: Numbers<L>) {
        let slot = self.next;
        let inverse_bind = splat(&self.inverse_binds[slot]);
        stage::<L>(multiply(model, inverse_bind), &mut self.staged[(slot - self.range.start) % STAGED]);
        self.next += 1;
        if self.next == self.range.end {
            self.output.write::<L>(self.staged, self.range.clone());
            self.range = self.next..self.joints.len().min(self.next + STAGED);
        }
    }

    /// Writes the slots whose joints do not follow in the order of the skeleton.
    #[inline(always)]
    pub fn write_others<L: Lanes>(&mut self, models: &[Vec4]) {
        while let Some(&joint) = self.joints.get(self.next) {
            self.push::<L>(load(models, joint as usize));
        }
    }
}

/// The staged rows of matrices: for each slot and row, those of all instances.
pub type Staged = [[[Vec4; LARGEST_BLOCK]; 3]; STAGED];

/// Stages the matrices of a slot, because a register has a row of several instances.
#[inline(always)]
pub fn stage<L: Lanes>([first, second, third]: Numbers<L>, to: &mut [[Vec4; LARGEST_BLOCK]; 3]) {
    L::store_block(L::transpose(first), &mut to[0]);
    L::store_block(L::transpose(second), &mut to[1]);
    L::store_block(L::transpose(third), &mut to[2]);
}

/// An output of matrices.
pub struct Output<'a> {
    /// The number of instances, at most a block.
    pub instances: usize,
    /// The numbers of each instance.
    pub stride: usize,
    /// If set, matrices are written past the caches.
    pub past_caches: bool,
    pub format: SkinFormat,
    /// The matrices of all instances.
    pub to: &'a mut [f32],
}

impl Output<'_> {
    /// The slots that are written first: so many that the next ones begin with a cache line and fill whole ones.
    fn first_slots(&self) -> usize {
        let starts_line = |slot: &usize| self.to.get(slot * NUMBERS..).is_some_and(|to| to.as_ptr().addr() % 64 == 0);
        let is_cut = self.past_caches && self.format == SkinFormat::Matrix;
        let before = (1..SLOTS_PER_LINES).find(starts_line).filter(|_| is_cut);
        before.map_or(STAGED, |before| STAGED - SLOTS_PER_LINES + before)
    }

    /// Writes staged matrices to these slots of each instance.
    #[inline(always)]
    pub fn write<L: Lanes>(&mut self, staged: &Staged, slots: Range<usize>) {
        let width = if self.format == SkinFormat::Matrix { NUMBERS } else { NUMBERS / 2 };
        for (instance, to) in self.to.chunks_mut(self.stride).take(self.instances).enumerate() {
            // The remainder changes nothing: it spares a check of bounds per row.
            let matrices = StagedMatrices { staged, instance: instance % LARGEST_BLOCK };
            let to = &mut to[slots.start * width..slots.end * width];
            skin::write::<L, _>(matrices, self.format, self.past_caches, to);
        }
    }
}

/// The staged matrices of an instance.
#[derive(Clone, Copy)]
struct StagedMatrices<'a> {
    staged: &'a Staged,
    instance: usize,
}

impl StagedMatrices<'_> {
    /// The rows of the matrix of a slot.
    #[inline(always)]
    fn rows(&self, slot: usize) -> [&Vec4; 3] {
        let [first, second, third] = &self.staged[slot % STAGED];
        [&first[self.instance], &second[self.instance], &third[self.instance]]
    }
}

impl Products for StagedMatrices<'_> {
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
    fn store_past_caches<L: Lanes>(&self, slot: usize, to: &mut AlignedRows) {
        L::store_each_past_caches(self.rows(slot), to);
    }

    #[inline(always)]
    fn store_lines_past_caches<L: Lanes>(&self, slot: usize, to: &mut AlignedLines) {
        L::store_lines_past_caches(
            [self.rows(slot), self.rows(slot + 1), self.rows(slot + 2), self.rows(slot + 3)],
            to,
        );
    }
}
