//! Matrices of instances abreast on their way to the outputs: a few slots of all instances are staged, then written instance by instance.

use glam::Vec4;

use crate::cpu::abreast::{Numbers, load, multiply, splat};
use crate::cpu::block::skin::{self, RowsInMemory, SLOTS_PER_LINES};
use crate::cpu::simd::{LARGEST_BLOCK, Lanes};
use crate::cpu::source::Source;
use crate::model::SkinFormat;
use crate::pack::OutputLayout;

/// Staged matrices of each instance are written after as many new ones.
const WRITTEN: usize = SLOTS_PER_LINES;

/// The room for matrices of each instance: for new ones, and for those before them that did not fill their lines.
const STAGED: usize = 2 * WRITTEN;

/// The skin matrices of a group, written slot by slot.
pub struct SkinWriter<'a> {
    /// The joint of each slot.
    joints: &'a [u32],
    /// Three rows per slot.
    inverse_binds: &'a [[Vec4; 3]],
    matrices: MatrixWriter<'a>,
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
        let size = Size { instances, slots: count, stride: layout.skin };
        let matrices = MatrixWriter::new(size, layout.skin_format, source.past_caches, staged, to);
        Self { joints, inverse_binds, matrices }
    }

    /// Multiplies the model matrices of a joint to the skin matrices of the next slots, as far as these belong to the joint.
    #[inline(always)]
    pub fn push<L: Lanes>(&mut self, joint: usize, model: Numbers<L>) {
        while self.joints.get(self.matrices.next) == Some(&(joint as u32)) {
            let inverse_bind = splat(&self.inverse_binds[self.matrices.next]);
            self.matrices.push::<L>(multiply(model, inverse_bind));
        }
    }

    /// Writes the slots whose joints do not follow in the order of the skeleton.
    #[inline(always)]
    pub fn write_others<L: Lanes>(&mut self, models: &[Vec4]) {
        while let Some(&joint) = self.joints.get(self.matrices.next) {
            self.push::<L>(joint as usize, load(models, joint as usize));
        }
    }
}

/// The staged rows of matrices: for each slot and row, those of all instances.
pub type Staged = [[[Vec4; LARGEST_BLOCK]; 3]; STAGED];

/// The size of an output of matrices.
#[derive(Clone, Copy)]
pub struct Size {
    /// The number of instances, at most a block.
    pub instances: usize,
    /// The number of slots of each instance.
    pub slots: usize,
    /// The numbers of each instance.
    pub stride: usize,
}

/// The matrices of a group, written slot by slot.
pub struct MatrixWriter<'a> {
    size: Size,
    format: SkinFormat,
    /// If set, matrices are written past the caches.
    past_caches: bool,
    /// The slot that is next.
    next: usize,
    /// The slot that was next when staged matrices were written last.
    before: usize,
    /// The slot that has the first place among the staged ones.
    origin: usize,
    cuts: LineCuts,
    staged: &'a mut Staged,
    /// The matrices of all instances.
    to: &'a mut [f32],
}

impl<'a> MatrixWriter<'a> {
    /// A writer of all matrices of `to`.
    #[inline(always)]
    pub fn new(size: Size, format: SkinFormat, past_caches: bool, staged: &'a mut Staged, to: &'a mut [f32]) -> Self {
        let cuts = if past_caches { LineCuts::new(size, format, to) } else { LineCuts::default() };
        Self { size, format, past_caches, next: 0, before: 0, origin: 0, cuts, staged, to }
    }

    /// Stages the matrices of the next slot, because a register has a row of several instances, and writes what is staged if that is due.
    #[inline(always)]
    pub fn push<L: Lanes>(&mut self, [first, second, third]: Numbers<L>) {
        let to = &mut self.staged[(self.next - self.origin) % STAGED];
        L::store_block(L::transpose(first), &mut to[0]);
        L::store_block(L::transpose(second), &mut to[1]);
        L::store_block(L::transpose(third), &mut to[2]);
        self.next += 1;
        if self.next % WRITTEN == 0 || self.next == self.size.slots {
            self.write::<L>();
        }
    }

    /// Writes what is staged, but for the slots that wait.
    #[inline(always)]
    fn write<L: Lanes>(&mut self) {
        let Size { instances, stride, .. } = self.size;
        let width = self.format.words();
        for (instance, to) in self.to.chunks_mut(stride).take(instances).enumerate() {
            // The remainder changes nothing: it spares a check of bounds per row.
            let instance = instance % LARGEST_BLOCK;
            let [start, end] = [self.before, self.next].map(|next| next - self.cuts.waiting(instance, next));
            let matrices = StagedMatrices { staged: self.staged, first: start - self.origin, instance };
            skin::write::<L, _>(matrices, self.format, self.past_caches, &mut to[start * width..end * width]);
        }
        self.before = self.next;
        if !self.cuts.any {
            // The next slots take the same places, which are in the cache.
            self.origin = self.next;
        }
    }
}

/// The slots of each instance at which its matrices are cut into whole cache lines.
#[derive(Default)]
struct LineCuts {
    /// For each instance the first slot that begins at a line.
    first: [usize; LARGEST_BLOCK],
    /// If set, that is not slot 0 for all instances.
    any: bool,
    /// The number of slots.
    slots: usize,
}

impl LineCuts {
    /// The cuts of the instances of `to`.
    #[inline(always)]
    fn new(Size { slots, stride, .. }: Size, format: SkinFormat, to: &[f32]) -> Self {
        let mut first = [0; LARGEST_BLOCK];
        if slots > 0 {
            for (first, to) in first.iter_mut().zip(to.chunks(stride)) {
                *first = skin::first_at_line(to, format.words()).unwrap_or_default();
            }
        }
        Self { any: first != [0; LARGEST_BLOCK], first, slots }
    }

    /// The number of slots before `next`, the next one, that wait until they fill their line.
    #[inline(always)]
    fn waiting(&self, instance: usize, next: usize) -> usize {
        if self.any && next > 0 && next < self.slots { (next - self.first[instance]) % SLOTS_PER_LINES } else { 0 }
    }
}

/// The staged matrices of an instance.
#[derive(Clone, Copy)]
struct StagedMatrices<'a> {
    staged: &'a Staged,
    /// The place of the first matrix.
    first: usize,
    instance: usize,
}

impl RowsInMemory for StagedMatrices<'_> {
    #[inline(always)]
    fn rows(&self, slot: usize) -> [&Vec4; 3] {
        let [first, second, third] = &self.staged[(self.first + slot) % STAGED];
        [&first[self.instance], &second[self.instance], &third[self.instance]]
    }
}
