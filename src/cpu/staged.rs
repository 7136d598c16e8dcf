//! Matrices of instances abreast on their way to the outputs: a few slots of all instances are staged, then written instance by instance.

use glam::Vec4;

use crate::cpu::abreast::{Numbers, load, multiply, splat};
use crate::cpu::block::skin::{self, RowsInMemory, SLOTS_PER_LINES};
use crate::cpu::simd::{LARGEST_BLOCK, LINE, Lanes};
use crate::cpu::source::Source;
use crate::model::SkinFormat;
use crate::pack::OutputLayout;

/// The number of new slots after which staged matrices are written.
const SLOTS_PER_WRITE: usize = SLOTS_PER_LINES;

/// The slots with room per instance: new ones, and up to seven before them that wait until they fill a cache line.
const STAGED: usize = 2 * SLOTS_PER_WRITE;

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
        let counts = MatrixCounts { instances, slots: count, stride: layout.skin };
        let matrices = MatrixWriter::new(counts, layout.skin_format, source.past_caches, staged, to);
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

/// The numbers of matrices of a group.
#[derive(Clone, Copy)]
pub struct MatrixCounts {
    /// The number of instances, at most a block.
    pub instances: usize,
    /// The number of slots of each instance.
    pub slots: usize,
    /// Numbers per instance in the output.
    pub stride: usize,
}

/// The matrices of a group, written slot by slot.
pub struct MatrixWriter<'a> {
    counts: MatrixCounts,
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
    pub fn new(
        counts: MatrixCounts,
        format: SkinFormat,
        past_caches: bool,
        staged: &'a mut Staged,
        to: &'a mut [f32],
    ) -> Self {
        let cuts =
            if past_caches && counts.slots > 0 { LineCuts::new(counts, format, to) } else { LineCuts::default() };
        Self { counts, format, past_caches, next: 0, before: 0, origin: 0, cuts, staged, to }
    }

    /// Stages the matrices of the next slot, because a register has a row of several instances. After each [`SLOTS_PER_WRITE`] slots and
    /// after the last, it writes the staged ones.
    #[inline(always)]
    pub fn push<L: Lanes>(&mut self, [first, second, third]: Numbers<L>) {
        let to = &mut self.staged[(self.next - self.origin) % STAGED];
        L::store_block(L::transpose(first), &mut to[0]);
        L::store_block(L::transpose(second), &mut to[1]);
        L::store_block(L::transpose(third), &mut to[2]);
        self.next += 1;
        if self.next.is_multiple_of(SLOTS_PER_WRITE) || self.next == self.counts.slots {
            self.write::<L>();
        }
    }

    /// Writes what is staged, but for the slots that wait.
    #[inline(always)]
    fn write<L: Lanes>(&mut self) {
        let Self {
            counts: MatrixCounts { instances, stride, .. },
            format,
            past_caches,
            next,
            before,
            origin,
            cuts,
            ..
        } = *self;
        let width = format.words();
        for (instance, to) in self.to.chunks_mut(stride).take(instances).enumerate() {
            // The remainder changes nothing: it spares a check of bounds per row.
            let instance = instance % LARGEST_BLOCK;
            let [start, end] = [before, next].map(|next| next - cuts.waiting(instance, next));
            let matrices = StagedMatrices { staged: self.staged, first: start - origin, instance };
            skin::write::<L, _>(matrices, format, past_caches, &mut to[start * width..end * width]);
        }
        self.before = next;
        if !cuts.has_cuts {
            // The next slots take the same places, which are in the cache.
            self.origin = next;
        }
    }
}

/// The slots of each instance at which its matrices are cut into whole cache lines.
#[derive(Clone, Copy, Default)]
struct LineCuts {
    /// If set, some instances do not begin at a line.
    has_cuts: bool,
    /// For each instance the first slot that begins at a line.
    first: [u8; LARGEST_BLOCK],
    /// The number of slots.
    slots: usize,
}

impl LineCuts {
    /// The cuts of the instances of `to`.
    #[inline(always)]
    fn new(MatrixCounts { slots, stride, .. }: MatrixCounts, format: SkinFormat, to: &[f32]) -> Self {
        let mut first = [0; LARGEST_BLOCK];
        let has_cuts = !(to.as_ptr().addr() | size_of_val(&to[..stride])).is_multiple_of(LINE);
        if has_cuts {
            for (first, to) in first.iter_mut().zip(to.chunks(stride)) {
                // One of the slots begins at a line: outputs begin at one.
                *first = skin::first_at_line(to, format.words()).unwrap_or_default() as u8;
            }
        }
        Self { has_cuts, first, slots }
    }

    /// The number of slots before `next`, the next one, that wait until they fill their line.
    #[inline(always)]
    fn waiting(&self, instance: usize, next: usize) -> usize {
        if self.has_cuts && next > 0 && next < self.slots {
            (next - usize::from(self.first[instance])) % SLOTS_PER_LINES
        } else {
            0
        }
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
