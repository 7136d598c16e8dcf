//! The stages of a block of instances as a structure of arrays (SoA): each lane of a register holds the same number of
//! another instance.
//!
//! All instances of a group then share a transposition per joint, the products of a joint do not wait for each other,
//! and a skeleton of one joint fills registers as well as one of hundreds. [`block`](crate::cpu::block) has the same
//! stages for one instance, with the same order of operations: the numbers are the same bit by bit.
//!
//! # From registers to outputs
//! Outputs are instance after instance, and a register has a row of several instances. Matrices are therefore
//! transposed to a staging area ([`Staged`]) of eight slots of all instances, then written instance by instance
//! ([`MatrixWriter`]). A model matrix is multiplied to a skin matrix while it is in registers.
//!
//! Stores past the caches need whole cache lines (see [`outputs`]), and instances begin anywhere in a line.
//! [`LineCuts`] finds the first slot of each instance that begins at a line. Slots that do not fill their line wait for
//! the next ones. At the end, the last slots of an instance and the first ones of the next fill a common line, a seam,
//! which is written whole.

use glam::Vec4;

use crate::cpu::block::JointParts;
use crate::cpu::block::outputs::{self, MATRICES_PER_LINES, OutputSlices, RowsInMemory, SLOTS_PER_LINES};
use crate::cpu::keys::prefetch::Prefetcher;
use crate::cpu::keys::source::PackedSource;
use crate::cpu::simd::{LARGEST_BLOCK, LINE, Lanes, Token};
use crate::model::SkinFormat;
use crate::pack::record::NONE;
use crate::pack::{Aligned, NUMBERS, OutputLayout};

/// Calls of [`Prefetcher::request`] per joint. The processor keeps few requests at a time, and waits where there are
/// more.
const REQUESTS_PER_JOINT: usize = 3;

/// The numbers of an affine matrix: three rows of four.
pub type SoaMatrix<L> = [[L; 4]; 3];

/// The memory of the instances.
#[derive(Debug, Default)]
pub struct SoaScratch {
    /// Twelve blocks of numbers per joint.
    models: Aligned<Vec4>,
    /// The matrices that are written next.
    staged: Staged,
}

impl SoaScratch {
    /// Makes room for skeletons with `joints` joints.
    #[inline(always)]
    fn resize<L: Lanes>(&mut self, joints: usize) {
        self.models.resize(joints * NUMBERS * L::BLOCK / 4, Vec4::ZERO);
    }
}

/// The number of places from the joints of one instance to the joints of the next: room for a block that begins with
/// the last joint, and not a power of two, of which the caches hold few.
pub fn stride(joints: usize) -> usize {
    joints.next_multiple_of(8) + LARGEST_BLOCK + 4
}

/// Writes the model and skin matrices of up to a block of instances. `parts` has the parts of each instance, [`stride`]
/// places apart. Meanwhile, `prefetcher` asks for keys of later instances.
#[inline(always)]
pub fn write_matrices<L: Lanes>(
    token: Token<L>,
    source: PackedSource,
    layout: &OutputLayout,
    parts: &JointParts,
    memory: &mut SoaScratch,
    prefetcher: &mut Prefetcher,
    to: &mut OutputSlices,
) {
    let joints = source.skeleton.record.joint_count as usize;
    memory.resize::<L>(joints);
    let SoaScratch { models, staged } = memory;
    let mut skin = SkinWriter::new(source, layout, staged, &mut *to.skin);
    walk(token, source, parts, models, &mut skin, prefetcher);
    skin.finish(token, models);
    if layout.model > 0 {
        let mut writer = MatrixWriter::new(joints, SkinFormat::Matrix, source.past_caches, staged, &mut *to.model);
        for joint in 0..joints {
            writer.push(token, load(token, models, joint));
        }
        writer.finish(token);
    }
}

/// Composes the local matrices of all joints and multiplies them to model matrices. A model matrix is multiplied to a
/// skin matrix while it is in registers.
#[inline(always)]
fn walk<L: Lanes>(
    token: Token<L>,
    source: PackedSource,
    parts: &JointParts,
    models: &mut [Vec4],
    skin: &mut SkinWriter,
    prefetcher: &mut Prefetcher,
) {
    let stride = stride(source.skeleton.record.joint_count as usize);
    let (words, values) = (&source.library.arrays.words, &source.library.arrays.values);
    let matrices = source.skeleton.record.matrices;
    prefetcher.share(REQUESTS_PER_JOINT * source.skeleton.parents.len());
    for (joint, parent) in source.skeleton.parents.iter().enumerate() {
        prefetcher.request(&source.library.arrays);
        let matrix = if matrices == NONE { NONE } else { words[matrices as usize + joint] };
        let local = if matrix == NONE {
            let [translations, rotations, scales] = &parts.0;
            compose(token, [&translations[joint..], &rotations[joint..], &scales[joint..]], stride)
        } else {
            splat(token, values[matrix as usize..].first_chunk().unwrap_or(&[Vec4::ZERO; 3]))
        };
        prefetcher.request(&source.library.arrays);
        let model = match parent {
            Some(parent) => multiply(load(token, models, *parent), local),
            None => local,
        };
        let to = &mut models[joint * NUMBERS * L::BLOCK / 4..][..NUMBERS * L::BLOCK / 4];
        L::store_block(model[0], &mut to[..L::BLOCK]);
        L::store_block(model[1], &mut to[L::BLOCK..2 * L::BLOCK]);
        L::store_block(model[2], &mut to[2 * L::BLOCK..3 * L::BLOCK]);
        prefetcher.request(&source.library.arrays);
        skin.push(token, joint, model);
    }
}

/// The rows of `T R S` of one joint of each instance: the matrix scales, then rotates by a unit quaternion, then
/// translates.
#[inline(always)]
pub fn compose<L: Lanes>(token: Token<L>, parts: [&[Vec4]; 3], stride: usize) -> SoaMatrix<L> {
    let [tx, ty, tz, _] = L::transpose(L::load_block_apart(token, parts[0], stride));
    let [x, y, z, w] = L::transpose(L::load_block_apart(token, parts[1], stride));
    let [sx, sy, sz, _] = L::transpose(L::load_block_apart(token, parts[2], stride));
    let one = L::splat(token, 1.0);
    let [dx, dy, dz] = [x + x, y + y, z + z];
    let (xx, yy, zz) = (x * dx, y * dy, z * dz);
    let (xy, xz, yz) = (x * dy, x * dz, y * dz);
    let (wx, wy, wz) = (w * dx, w * dy, w * dz);
    [
        [(one - (yy + zz)) * sx, (xy - wz) * sy, (xz + wy) * sz, tx],
        [(xy + wz) * sx, (one - (xx + zz)) * sy, (yz - wx) * sz, ty],
        [(xz - wy) * sx, (yz + wx) * sy, (one - (xx + yy)) * sz, tz],
    ]
}

/// The matrices of a joint.
#[inline(always)]
pub fn load<L: Lanes>(token: Token<L>, models: &[Vec4], joint: usize) -> SoaMatrix<L> {
    let from = &models[joint * NUMBERS * L::BLOCK / 4..][..NUMBERS * L::BLOCK / 4];
    [
        L::load_block(token, &from[..L::BLOCK]),
        L::load_block(token, &from[L::BLOCK..2 * L::BLOCK]),
        L::load_block(token, &from[2 * L::BLOCK..3 * L::BLOCK]),
    ]
}

/// One matrix for all instances.
#[inline(always)]
pub fn splat<L: Lanes>(token: Token<L>, rows: &[Vec4; 3]) -> SoaMatrix<L> {
    let [a, b, c] = rows.each_ref();
    [
        [L::splat(token, a.x), L::splat(token, a.y), L::splat(token, a.z), L::splat(token, a.w)],
        [L::splat(token, b.x), L::splat(token, b.y), L::splat(token, b.z), L::splat(token, b.w)],
        [L::splat(token, c.x), L::splat(token, c.y), L::splat(token, c.z), L::splat(token, c.w)],
    ]
}

/// The products of two matrices.
#[inline(always)]
pub fn multiply<L: Lanes>(left: SoaMatrix<L>, right: SoaMatrix<L>) -> SoaMatrix<L> {
    [multiply_row(left[0], &right), multiply_row(left[1], &right), multiply_row(left[2], &right)]
}

/// One row of the products.
#[inline(always)]
fn multiply_row<L: Lanes>([x, y, z, w]: [L; 4], right: &SoaMatrix<L>) -> [L; 4] {
    let [a, b, c] = right;
    // Each sum begins with the number of the translation or with 0, as the sum of one instance does: the signs of zeros
    // are the same.
    let zero = L::splat(x.token(), 0.0);
    [
        z.multiply_add(c[0], y.multiply_add(b[0], x.multiply_add(a[0], zero))),
        z.multiply_add(c[1], y.multiply_add(b[1], x.multiply_add(a[1], zero))),
        z.multiply_add(c[2], y.multiply_add(b[2], x.multiply_add(a[2], zero))),
        z.multiply_add(c[3], y.multiply_add(b[3], x.multiply_add(a[3], w))),
    ]
}

/// The number of new slots after which staged matrices are written.
const SLOTS_PER_WRITE: usize = SLOTS_PER_LINES;

/// The slots with room per instance: new ones, and up to seven before them that wait until they fill a cache line.
const STAGED: usize = 2 * SLOTS_PER_WRITE;

/// The skin matrices of a group, written slot by slot.
struct SkinWriter<'a> {
    /// The joint of each slot.
    joints: &'a [u32],
    /// Three rows per slot.
    inverse_binds: &'a [[Vec4; 3]],
    matrices: MatrixWriter<'a>,
}

impl<'a> SkinWriter<'a> {
    /// A writer of all slots of a skeleton; of none if skin matrices are not requested.
    fn new(source: PackedSource<'a>, layout: &OutputLayout, staged: &'a mut Staged, to: &'a mut [f32]) -> Self {
        let skeleton = &source.skeleton.record;
        let arrays = &source.library.arrays;
        let count = if layout.skin > 0 { skeleton.skin_joint_count as usize } else { 0 };
        let joints = &arrays.words[skeleton.skin_joints as usize..][..count];
        let inverse_binds = &arrays.values[skeleton.inverse_binds as usize..].as_chunks::<3>().0[..count];
        let matrices = MatrixWriter::new(count, layout.skin_format, source.past_caches, staged, to);
        Self { joints, inverse_binds, matrices }
    }

    /// Multiplies the model matrices of a joint to the skin matrices of the next slots, as far as these belong to the
    /// joint.
    #[inline(always)]
    fn push<L: Lanes>(&mut self, token: Token<L>, joint: usize, model: SoaMatrix<L>) {
        while self.joints.get(self.matrices.next) == Some(&(joint as u32)) {
            let inverse_bind = splat(token, &self.inverse_binds[self.matrices.next]);
            self.matrices.push(token, multiply(model, inverse_bind));
        }
    }

    /// Writes the slots whose joints do not follow in the order of the skeleton, and the lines that two neighbouring
    /// instances share.
    #[inline(always)]
    fn finish<L: Lanes>(&mut self, token: Token<L>, models: &[Vec4]) {
        while let Some(&joint) = self.joints.get(self.matrices.next) {
            self.push(token, joint as usize, load(token, models, joint as usize));
        }
        self.matrices.finish(token);
    }
}

/// The rows of the matrices of a slot, of all instances.
type StagedSlot = [[Vec4; LARGEST_BLOCK]; 3];

/// Slots that wait to be written.
#[derive(Debug, Default)]
struct Staged {
    /// The last slots.
    slots: [StagedSlot; STAGED],
    /// The first slots, of which up to three share a line with the last ones of the instance before. They wait for
    /// these.
    heads: [StagedSlot; MATRICES_PER_LINES],
}

/// The matrices of a group, written slot by slot.
struct MatrixWriter<'a> {
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
    /// A writer of all matrices of `to`, which has `slots` slots per instance, for at most a block of instances.
    /// [`finish`](Self::finish) must follow the last slot.
    #[inline(always)]
    fn new(slots: usize, format: SkinFormat, past_caches: bool, staged: &'a mut Staged, to: &'a mut [f32]) -> Self {
        let cuts = if past_caches && slots > 0 { LineCuts::new(slots, format, to) } else { LineCuts::default() };
        Self { slots, format, past_caches, next: 0, before: 0, origin: 0, cuts, staged, to }
    }

    /// Stages the matrices of the next slot, because a register has a row of several instances. After each
    /// [`SLOTS_PER_WRITE`] slots and after the last, it writes the staged ones.
    #[inline(always)]
    fn push<L: Lanes>(&mut self, token: Token<L>, [first, second, third]: SoaMatrix<L>) {
        let to = &mut self.staged.slots[(self.next - self.origin) % STAGED];
        L::store_block(L::transpose(first), &mut to[0]);
        L::store_block(L::transpose(second), &mut to[1]);
        L::store_block(L::transpose(third), &mut to[2]);
        self.next += 1;
        if self.next.is_multiple_of(SLOTS_PER_WRITE) || self.next == self.slots {
            self.write(token);
        }
    }

    /// Writes what is staged, but for the slots that wait.
    #[inline(always)]
    fn write<L: Lanes>(&mut self, token: Token<L>) {
        let Self { slots, format, past_caches, next, before, origin, ref cuts, .. } = *self;
        let width = format.words();
        for (instance, to) in self.to.chunks_mut(slots * width).enumerate() {
            // The remainder changes nothing: it spares a check of bounds per row.
            let instance = instance % LARGEST_BLOCK;
            let [start, end] = [before, next].map(|next| cuts.reach(instance, next, slots));
            let matrices = StagedMatrices { staged: self.staged, first: start - origin, instance };
            outputs::write(token, matrices, format, past_caches, &mut to[start * width..end * width]);
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
    fn finish<L: Lanes>(&mut self, token: Token<L>) {
        debug_assert_eq!(self.next, self.slots, "all slots are staged");
        for instance in 0..self.cuts.seams {
            let first = self.cuts.reach(instance, self.slots, self.slots);
            if first < self.slots {
                let to = &mut self.to[(instance * self.slots + first) * NUMBERS..][..MATRICES_PER_LINES * NUMBERS];
                let seam = Seam { staged: self.staged, first, slots: self.slots, instance };
                outputs::matrices(token, seam, self.past_caches, to);
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
    /// The number of seams: lines that the last slots of an instance and the first ones of the next one share. Seams of
    /// packed matrices are written through the caches.
    seams: usize,
}

impl LineCuts {
    /// The cuts of the instances of `to`, which have `slots` slots each.
    #[inline(always)]
    fn new(slots: usize, format: SkinFormat, to: &[f32]) -> Self {
        let mut first = [0; LARGEST_BLOCK];
        let stride = slots * format.words();
        let has_cuts = !(to.as_ptr().addr() | size_of_val(&to[..stride])).is_multiple_of(LINE);
        if has_cuts {
            for (first, to) in first.iter_mut().zip(to.chunks(stride)) {
                // One of the slots begins at a line: outputs begin at one.
                *first = outputs::first_at_line(to, format.words()).unwrap_or_default() as u8;
            }
        }
        let has_seams = has_cuts && format == SkinFormat::Matrix && slots >= MATRICES_PER_LINES;
        Self { has_cuts, first, seams: if has_seams { (to.len() / stride).saturating_sub(1) } else { 0 } }
    }

    /// The slot up to which the matrices of an instance are written when those before `next` are staged. What follows
    /// waits until it fills its line.
    #[inline(always)]
    fn reach(&self, instance: usize, next: usize, slots: usize) -> usize {
        let first = usize::from(self.first[instance % LARGEST_BLOCK]);
        if !self.has_cuts {
            next
        } else if next == 0 {
            // Slots before the first line wait for the instance before.
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

/// Matrices that fill lines which two neighbouring instances share: the last slots of one, then the first ones of the
/// next.
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
