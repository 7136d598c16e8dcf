//! Instances abreast: each lane of a register holds the same number of another instance.
//!
//! All instances of a group then share a transposition per joint, the products of a joint do not wait for each other, and a skeleton
//! of one joint fills registers as well as one of hundreds. [`block`](crate::cpu::block) has the same stages for one instance, with the
//! same order of operations: the numbers are the same bit by bit.

use std::ops::Range;

use glam::Vec4;

use crate::cpu::block::joints::Parts;
use crate::cpu::block::skin::{self, Products};
use crate::cpu::simd::{AlignedRows, LARGEST_BLOCK, Lanes};
use crate::cpu::source::{OutputSlices, Source};
use crate::model::SkinFormat;
use crate::pack::record::NONE;
use crate::pack::{NUMBERS, OutputLayout};

/// Matrices of each instance that are staged before they are written: six cache lines of `f32`.
const STAGED: usize = 8;

/// The numbers of an affine matrix: three rows of four.
pub type Numbers<L> = [[L; 4]; 3];

/// The memory of instances abreast.
#[derive(Debug, Default)]
pub struct Abreast {
    /// Twelve blocks of numbers per joint.
    models: Vec<Vec4>,
    /// The matrices that are written next.
    staged: Staged,
}

impl Abreast {
    /// Makes room for skeletons with `joints` joints.
    #[inline(always)]
    fn resize<L: Lanes>(&mut self, joints: usize) {
        self.models.resize(joints * NUMBERS * L::BLOCK / 4, Vec4::ZERO);
    }
}

/// The number of places from the joints of one instance to those of the next: not a power of two, of which the caches hold few.
pub fn stride(joints: usize) -> usize {
    joints.next_multiple_of(8) + 4
}

/// Writes the model and skin matrices of up to a block of instances. `parts` has the parts of each instance, [`stride`] places
/// apart.
#[inline(always)]
pub fn write_matrices<L: Lanes>(
    source: Source,
    layout: &OutputLayout,
    instances: usize,
    parts: &Parts,
    memory: &mut Abreast,
    to: &mut OutputSlices,
) {
    let joints = source.skeleton.record.joint_count as usize;
    memory.resize::<L>(joints);
    let Abreast { models, staged } = memory;
    walk::<L>(source, parts, models);
    if layout.model > 0 {
        let (format, to) = (SkinFormat::Matrix, &mut *to.model);
        let mut output = Output { instances, stride: layout.model, past_caches: false, format, to };
        for first in (0..joints).step_by(STAGED) {
            let end = joints.min(first + STAGED);
            for (joint, to) in (first..end).zip(&mut *staged) {
                stage::<L>(load(models, joint), to);
            }
            output.write::<L>(staged, first..end);
        }
    }
    if layout.skin > 0 {
        let skeleton = &source.skeleton.record;
        let count = skeleton.skin_joint_count as usize;
        let joints = &source.library.arrays.words[skeleton.skin_joints as usize..][..count];
        let inverse_binds = source.library.arrays.values[skeleton.inverse_binds as usize..].as_chunks::<3>().0;
        let (format, past_caches, to) = (layout.skin_format, source.past_caches, &mut *to.skin);
        let mut output = Output { instances, stride: layout.skin, past_caches, format, to };
        for first in (0..count).step_by(STAGED) {
            let end = count.min(first + STAGED);
            let slots = joints[first..end].iter().zip(&inverse_binds[first..end]);
            for ((&joint, inverse_bind), to) in slots.zip(&mut *staged) {
                stage::<L>(multiply(load(models, joint as usize), splat(inverse_bind)), to);
            }
            output.write::<L>(staged, first..end);
        }
    }
}

/// Composes the local matrices of all joints and multiplies them to model matrices.
#[inline(always)]
fn walk<L: Lanes>(source: Source, parts: &Parts, models: &mut [Vec4]) {
    let stride = stride(source.skeleton.record.joint_count as usize);
    let (words, values) = (&source.library.arrays.words, &source.library.arrays.values);
    let matrices = source.skeleton.record.matrices;
    for (joint, parent) in source.skeleton.parents.iter().enumerate() {
        let matrix = if matrices == NONE { NONE } else { words[matrices as usize + joint] };
        let local = if matrix == NONE {
            let [translations, rotations, scales] = &parts.0;
            compose::<L>([&translations[joint..], &rotations[joint..], &scales[joint..]], stride)
        } else {
            splat::<L>(values[matrix as usize..].first_chunk().unwrap_or(&[Vec4::ZERO; 3]))
        };
        let model = match parent {
            Some(parent) => multiply(load::<L>(models, *parent), local),
            None => local,
        };
        let to = &mut models[joint * NUMBERS * L::BLOCK / 4..][..NUMBERS * L::BLOCK / 4];
        L::store_block(model[0], &mut to[..L::BLOCK]);
        L::store_block(model[1], &mut to[L::BLOCK..2 * L::BLOCK]);
        L::store_block(model[2], &mut to[2 * L::BLOCK..3 * L::BLOCK]);
    }
}

/// The rows of `T R S` of one joint of each instance: the matrix scales, then rotates by a unit quaternion, then translates.
#[inline(always)]
pub fn compose<L: Lanes>(parts: [&[Vec4]; 3], stride: usize) -> Numbers<L> {
    let [tx, ty, tz, _] = L::transpose(L::load_block_apart(parts[0], stride));
    let [x, y, z, w] = L::transpose(L::load_block_apart(parts[1], stride));
    let [sx, sy, sz, _] = L::transpose(L::load_block_apart(parts[2], stride));
    let one = L::splat(1.0);
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
fn load<L: Lanes>(models: &[Vec4], joint: usize) -> Numbers<L> {
    let from = &models[joint * NUMBERS * L::BLOCK / 4..][..NUMBERS * L::BLOCK / 4];
    [
        L::load_block(&from[..L::BLOCK]),
        L::load_block(&from[L::BLOCK..2 * L::BLOCK]),
        L::load_block(&from[2 * L::BLOCK..3 * L::BLOCK]),
    ]
}

/// One matrix for all instances.
#[inline(always)]
pub fn splat<L: Lanes>(rows: &[Vec4; 3]) -> Numbers<L> {
    let [a, b, c] = rows.each_ref();
    [
        [L::splat(a.x), L::splat(a.y), L::splat(a.z), L::splat(a.w)],
        [L::splat(b.x), L::splat(b.y), L::splat(b.z), L::splat(b.w)],
        [L::splat(c.x), L::splat(c.y), L::splat(c.z), L::splat(c.w)],
    ]
}

/// The products of two matrices.
#[inline(always)]
pub fn multiply<L: Lanes>(left: Numbers<L>, right: Numbers<L>) -> Numbers<L> {
    [multiply_row(left[0], &right), multiply_row(left[1], &right), multiply_row(left[2], &right)]
}

/// One row of the products.
#[inline(always)]
fn multiply_row<L: Lanes>([x, y, z, w]: [L; 4], right: &Numbers<L>) -> [L; 4] {
    let [a, b, c] = right;
    // Each sum begins with the number of the translation or with 0, as that of one instance does: the signs of zeros are the same.
    let zero = L::splat(0.0);
    [
        z.multiply_add(c[0], y.multiply_add(b[0], x.multiply_add(a[0], zero))),
        z.multiply_add(c[1], y.multiply_add(b[1], x.multiply_add(a[1], zero))),
        z.multiply_add(c[2], y.multiply_add(b[2], x.multiply_add(a[2], zero))),
        z.multiply_add(c[3], y.multiply_add(b[3], x.multiply_add(a[3], w))),
    ]
}

/// The staged rows of matrices: for each slot and row, those of all instances.
type Staged = [[[Vec4; LARGEST_BLOCK]; 3]; STAGED];

/// Stages the matrices of a slot, because a register has a row of several instances.
#[inline(always)]
fn stage<L: Lanes>([first, second, third]: Numbers<L>, to: &mut [[Vec4; LARGEST_BLOCK]; 3]) {
    L::store_block(L::transpose(first), &mut to[0]);
    L::store_block(L::transpose(second), &mut to[1]);
    L::store_block(L::transpose(third), &mut to[2]);
}

/// An output of matrices.
struct Output<'a> {
    /// The number of instances, at most a block.
    instances: usize,
    /// The numbers of each instance.
    stride: usize,
    /// If set, matrices are written past the caches.
    past_caches: bool,
    format: SkinFormat,
    /// The matrices of all instances.
    to: &'a mut [f32],
}

impl Output<'_> {
    /// Writes staged matrices to these slots of each instance.
    #[inline(always)]
    fn write<L: Lanes>(&mut self, staged: &Staged, slots: Range<usize>) {
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
}
