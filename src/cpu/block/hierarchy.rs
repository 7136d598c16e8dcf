//! Local transforms to model matrices, joint after joint, parents before children.

use glam::Vec4;

use crate::cpu::block::joints::Parts;
use crate::cpu::simd::{Lanes, Matrix};

/// Composes the rows of `T R S` for all joints: the matrix scales, then rotates by a unit quaternion, then translates.
#[inline(always)]
pub fn compose<L: Lanes>(parts: [&[Vec4]; 3], joints: usize, to: &mut Parts) {
    let [translations, rotations, scales] = parts;
    let [first, second, third] = &mut to.0;
    for joint in (0..joints).step_by(L::BLOCK) {
        let [tx, ty, tz, _] = L::transpose(L::load_block(&translations[joint..]));
        let [x, y, z, w] = L::transpose(L::load_block(&rotations[joint..]));
        let scale = L::load_block(&scales[joint..]);
        let one = L::splat(1.0);
        let [dx, dy, dz] = [x + x, y + y, z + z];
        let (xx, yy, zz) = (x * dx, y * dy, z * dz);
        let (xy, xz, yz) = (x * dy, x * dz, y * dz);
        let (wx, wy, wz) = (w * dx, w * dy, w * dz);
        store_scaled([one - (yy + zz), xy - wz, xz + wy, tx], scale, &mut first[joint..]);
        store_scaled([xy + wz, one - (xx + zz), yz - wx, ty], scale, &mut second[joint..]);
        store_scaled([xz - wy, yz + wx, one - (xx + yy), tz], scale, &mut third[joint..]);
    }
}

/// Stores one row of the matrices of a block. `row` holds its numbers, one register each, and `scale` the scales.
#[inline(always)]
fn store_scaled<L: Lanes>(row: [L; 4], scale: [L; 4], to: &mut [Vec4]) {
    let [a, b, c, d] = L::transpose(row);
    let [w, x, y, z] = scale;
    L::store_block([a * w.with_one(), b * x.with_one(), c * y.with_one(), d * z.with_one()], to);
}

/// Multiplies local matrices to model matrices. Parents come before children, so that one pass is enough.
#[inline(always)]
pub fn walk<L: Lanes>(parents: &[Option<usize>], locals: &Parts, models: &mut [Matrix]) {
    let [first, second, third] = &locals.0;
    for (joint, parent) in parents.iter().enumerate() {
        let (before, from_here) = models.split_at_mut(joint);
        let rows = [&first[joint], &second[joint], &third[joint]];
        match parent {
            Some(parent) => L::store_matrix(L::product(&before[*parent], rows), &mut from_here[0]),
            None => from_here[0] = Matrix::new(rows.map(|row| *row)),
        }
    }
}
