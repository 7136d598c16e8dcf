//! The hierarchy of one instance: local transforms to model matrices.
//!
//! [`soa`](crate::cpu::soa) has it for a block of instances, with the same order of operations.

use glam::Vec4;

use crate::cpu::block::JointParts;
use crate::cpu::simd::{Lanes, Matrix, Token};

/// Composes the rows of `T R S` for all joints: the matrix scales, then rotates by a unit quaternion, then translates.
#[inline(always)]
pub fn compose<L: Lanes>(token: Token<L>, parts: [&[Vec4]; 3], joints: usize, to: &mut JointParts) {
    let [translations, rotations, scales] = parts;
    let [first, second, third] = &mut to.0;
    for joint in (0..joints).step_by(L::BLOCK) {
        let [tx, ty, tz, _] = L::transpose(L::load_block(token, &translations[joint..]));
        let [x, y, z, w] = L::transpose(L::load_block(token, &rotations[joint..]));
        let scale = L::load_block(token, &scales[joint..]);
        let one = L::splat(token, 1.0);
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
pub fn walk<L: Lanes>(token: Token<L>, parents: &[Option<usize>], locals: &JointParts, models: &mut [Matrix]) {
    let [first, second, third] = &locals.0;
    for (joint, parent) in parents.iter().enumerate() {
        let (before, from_here) = models.split_at_mut(joint);
        let rows = [&first[joint], &second[joint], &third[joint]];
        match parent {
            Some(parent) => L::store_matrix(L::product(token, &before[*parent], rows), &mut from_here[0]),
            None => from_here[0] = Matrix::new(rows.map(|row| *row)),
        }
    }
}
