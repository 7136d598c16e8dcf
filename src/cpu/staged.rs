//! Matrices of instances abreast on their way to the outputs: a few slots of all instances are staged, then written instance by instance.

use glam::Vec4;

use crate::cpu::abreast::{Numbers, load, multiply, splat};
use crate::cpu::block::skin::{self, MATRICES_PER_LINES, RowsInMemory, SLOTS_PER_LINES};
use crate::cpu::simd::{LARGEST_BLOCK, LINE, Lanes};
use crate::cpu::source::Source;
use crate::model::SkinFormat;
use crate::pack::{NUMBERS, OutputLayout};

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
        let matrices = MatrixWriter::new(instances, count, layout.skin_format, source.past_caches, staged, to);
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

    /// Writes the slots whose joints do not follow in the order of the skeleton, and the lines that two neighbouring instances share.
    #[inline(always)]
    pub fn finish<L: Lanes>(&mut self, models: &[Vec4]) {
        while let Some(&joint) = self.joints.get(self.matrices.next) {
            self.push::<L>(joint as usize, load(models, joint as usize));
        }
        self.matrices.finish::<L>();
    }
}

/// The rows of the matrices of a slot, those of all instances.
type StagedSlot = [[Vec4; LARGEST_BLOCK]; 3];

/// Slots that wait to be written.
#[derive(Debug, Default)]
pub struct Staged {
    /// The last slots.
    slots: [StagedSlot; STAGED],
    /// The first slots, of which up to three share a line with the last ones of the instance before. They wait for these.
    heads: [StagedSlot; MATRICES_PER_LINES],
}

/// The matrices of a group, written slot by slot.
pub struct MatrixWriter<'a> {
    /// The number of instances, at most a block.
    instances: usize,
    /// The number of slots of each instance.
    slots: usize,
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
    /// A writer of all matrices of `to`: `instances` instances with `slots` slots each. [`finish`](Self::finish) must follow the last slot.
    #[inline(always)]
    pub fn new(
        instances: usize,
        slots: usize,
        format: SkinFormat,
        past_caches: bool,
        staged: &'a mut Staged,
        to: &'a mut [f32],
    ) -> Self {
        let cuts =
            if past_caches && slots > 0 { LineCuts::new(instances, slots, format, to) } else { LineCuts::default() };
        Self { instances, slots, format, past_caches, next: 0, before: 0, origin: 0, cuts, staged, to }
    }

    /// Stages the matrices of the next slot, because a register has a row of several instances. After each [`SLOTS_PER_WRITE`] slots and
    /// after the last, it writes the staged ones.
    #[inline(always)]
    pub fn push<L: Lanes>(&mut self, [first, second, third]: Numbers<L>) {
        let to = &mut self.staged.slots[(self.next - self.origin) % STAGED];
        L::store_block(L::transpose(first), &mut to[0]);
        L::store_block(L::transpose(second), &mut to[1]);
        L::store_block(L::transpose(third), &mut to[2]);
        self.next += 1;
        if self.next.is_multiple_of(SLOTS_PER_WRITE) || self.next == self.slots {
            self.write::<L>();
        }
    }

    /// Writes what is staged, but for the slots that wait.
    #[inline(always)]
    fn write<L: Lanes>(&mut self) {
        let Self { instances, slots, format, past_caches, next, before, origin, ref cuts, .. } = *self;
        let width = format.words();
        for (instance, to) in self.to.chunks_mut(slots * width).take(instances).enumerate() {
            // The remainder changes nothing: it spares a check of bounds per row.
            let instance = instance % LARGEST_BLOCK;
            let [start, end] = [before, next].map(|next| cuts.reach(instance, next, slots));
            let matrices = StagedMatrices { staged: self.staged, first: start - origin, instance };
            skin::write::<L, _>(matrices, format, past_caches, &mut to[start * width..end * width]);
        }
        if cuts.seams > 0 && before == 0 {
            self.staged.heads.copy_from_slice(&self.staged.slots[..MATRICES_PER_LINES]);
        }
        self.before = next;
        if !cuts.has_cuts {
            // The next slots take the same places, which are in the cache.
            self.origin = next;
        }
    }

    /// Writes the lines that two neighbouring instances share. All slots must be staged.
    #[inline(always)]
    pub fn finish<L: Lanes>(&mut self) {
        debug_assert_eq!(self.next, self.slots, "all slots are staged");
        for instance in 0..self.cuts.seams {
            let first = self.cuts.reach(instance, self.slots, self.slots);
            if first < self.slots {
                let to = &mut self.to[(instance * self.slots + first) * NUMBERS..][..MATRICES_PER_LINES * NUMBERS];
                let seam = Seam { staged: self.staged, first, slots: self.slots, instance };
                skin::matrices::<L, _>(seam, self.past_caches, to);
            }
        }
    }
}

/// The slots at which the matrices of each instance are cut into whole cache lines.
#[derive(Clone, Copy, Default)]
struct LineCuts {
    /// If set, some instances do not begin at a line.
    has_cuts: bool,
    /// For each instance the first slot that begins at a line.
    first: [u8; LARGEST_BLOCK],
    /// The number of seams: lines that the last slots of an instance and the first ones of the next one share. Those of packed matrices
    /// are written through the caches.
    seams: usize,
}

impl LineCuts {
    /// The cuts of the instances of `to`, which have `slots` slots each.
    #[inline(always)]
    fn new(instances: usize, slots: usize, format: SkinFormat, to: &[f32]) -> Self {
        let mut first = [0; LARGEST_BLOCK];
        let stride = slots * format.words();
        let has_cuts = !(to.as_ptr().addr() | size_of_val(&to[..stride])).is_multiple_of(LINE);
        if has_cuts {
            for (first, to) in first.iter_mut().zip(to.chunks(stride)) {
                // One of the slots begins at a line: outputs begin at one.
                *first = skin::first_at_line(to, format.words()).unwrap_or_default() as u8;
            }
        }
        let has_seams = has_cuts && format == SkinFormat::Matrix && slots >= MATRICES_PER_LINES;
        Self { has_cuts, first, seams: if has_seams { instances.saturating_sub(1) } else { 0 } }
    }

    /// The slot up to which the matrices of an instance are written when those before `next` are staged. What follows waits until it fills
    /// its line.
    #[inline(always)]
    fn reach(&self, instance: usize, next: usize, slots: usize) -> usize {
        let first = usize::from(self.first[instance % LARGEST_BLOCK]);
        if !self.has_cuts {
            next
        } else if next == 0 {
            // Those before the first line wait for those of the instance before.
            if (1..=self.seams).contains(&instance) { first } else { 0 }
        } else if next < slots {
            next - (next - first) % SLOTS_PER_LINES
        } else if instance < self.seams {
            next - (next - first) % MATRICES_PER_LINES
        } else {
            next
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
        let [first, second, third] = &self.staged.slots[(self.first + slot) % STAGED];
        [&first[self.instance], &second[self.instance], &third[self.instance]]
    }
}

/// Matrices that fill lines which two neighbouring instances share: the last slots of one, then the first ones of the next.
#[derive(Clone, Copy)]
struct Seam<'a> {
    staged: &'a Staged,
    /// The first slot of the lines.
    first: usize,
    /// The number of slots of an instance.
    slots: usize,
    /// The instance before the seam.
    instance: usize,
}

impl RowsInMemory for Seam<'_> {
    #[inline(always)]
    fn rows(&self, slot: usize) -> [&Vec4; 3] {
        let slot = self.first + slot;
        let (staged, instance) = if slot < self.slots {
            (&self.staged.slots[slot % STAGED], self.instance)
        } else {
            (&self.staged.heads[(slot - self.slots) % MATRICES_PER_LINES], self.instance + 1)
        };
        staged.each_ref().map(|row| &row[instance % LARGEST_BLOCK])
    }
}
