//! Instances abreast: each lane of a register holds the same number of another instance.
//!
//! All instances of a group then share a transposition per joint, the products of a joint do not wait for each other, and a skeleton
//! of one joint fills registers as well as one of hundreds. [`block`](crate::cpu::block) has the same stages for one instance, with the
//! same order of operations: the numbers are the same bit by bit.

use glam::Vec4;

use crate::cpu::block::joints::Parts;
use crate::cpu::prefetch::Ahead;
use crate::cpu::simd::{LARGEST_BLOCK, Lanes};
use crate::cpu::source::{OutputSlices, Source};
use crate::cpu::staged::{MatrixWriter, SkinWriter, Staged};
use crate::model::SkinFormat;
use crate::pack::record::NONE;
use crate::pack::{Aligned, NUMBERS, OutputLayout};

/// Calls of [`Ahead::request`] per joint. The processor keeps few requests at a time, and waits where there are more.
const REQUESTS_PER_JOINT: usize = 3;

/// The numbers of an affine matrix: three rows of four.
pub type Numbers<L> = [[L; 4]; 3];

/// The memory of instances abreast.
#[derive(Debug, Default)]
pub struct Abreast {
    /// Twelve blocks of numbers per joint.
    models: Aligned<Vec4>,
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

/// The number of places from the joints of one instance to those of the next: room for a block that begins with the last joint, and not a
/// power of two, of which the caches hold few.
pub fn stride(joints: usize) -> usize {
    joints.next_multiple_of(8) + LARGEST_BLOCK + 4
}

/// Writes the model and skin matrices of up to a block of instances. `parts` has the parts of each instance, [`stride`] places
/// apart. Meanwhile, `ahead` asks for keys of later instances.
#[inline(always)]
pub fn write_matrices<L: Lanes>(
    source: Source,
    layout: &OutputLayout,
    instances: usize,
    parts: &Parts,
    memory: &mut Abreast,
    ahead: &mut Ahead,
    to: &mut OutputSlices,
) {
    let joints = source.skeleton.record.joint_count as usize;
    memory.resize::<L>(joints);
    let Abreast { models, staged } = memory;
    let mut skin = SkinWriter::new(source, layout, instances, staged, &mut *to.skin);
    walk::<L>(source, parts, models, &mut skin, ahead);
    skin.finish::<L>(models);
    if layout.model > 0 {
        let mut writer =
            MatrixWriter::new(instances, joints, SkinFormat::Matrix, source.past_caches, staged, &mut *to.model);
        for joint in 0..joints {
            writer.push::<L>(load(models, joint));
        }
        writer.finish::<L>();
    }
}

/// Composes the local matrices of all joints and multiplies them to model matrices. A model matrix is multiplied to a skin matrix
/// while it is in registers.
#[inline(always)]
fn walk<L: Lanes>(source: Source, parts: &Parts, models: &mut [Vec4], skin: &mut SkinWriter, ahead: &mut Ahead) {
    let stride = stride(source.skeleton.record.joint_count as usize);
    let (words, values) = (&source.library.arrays.words, &source.library.arrays.values);
    let matrices = source.skeleton.record.matrices;
    ahead.share(REQUESTS_PER_JOINT * source.skeleton.parents.len());
    for (joint, parent) in source.skeleton.parents.iter().enumerate() {
        ahead.request(&source.library.arrays);
        let matrix = if matrices == NONE { NONE } else { words[matrices as usize + joint] };
        let local = if matrix == NONE {
            let [translations, rotations, scales] = &parts.0;
            compose::<L>([&translations[joint..], &rotations[joint..], &scales[joint..]], stride)
        } else {
            splat::<L>(values[matrix as usize..].first_chunk().unwrap_or(&[Vec4::ZERO; 3]))
        };
        ahead.request(&source.library.arrays);
        let model = match parent {
            Some(parent) => multiply(load::<L>(models, *parent), local),
            None => local,
        };
        let to = &mut models[joint * NUMBERS * L::BLOCK / 4..][..NUMBERS * L::BLOCK / 4];
        L::store_block(model[0], &mut to[..L::BLOCK]);
        L::store_block(model[1], &mut to[L::BLOCK..2 * L::BLOCK]);
        L::store_block(model[2], &mut to[2 * L::BLOCK..3 * L::BLOCK]);
        ahead.request(&source.library.arrays);
        skin.push::<L>(joint, model);
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
pub fn load<L: Lanes>(models: &[Vec4], joint: usize) -> Numbers<L> {
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
