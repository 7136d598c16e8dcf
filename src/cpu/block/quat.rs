//! Quaternions and vectors of a block, number by number, as in `shaders/shared/quat.wgsl`.

use crate::cpu::block::slerp::{Ends, dot, series_of};
use crate::cpu::simd::Lanes;

/// Vectors, number by number.
pub type Vectors<L> = [L; 3];
/// Quaternions xyzw, number by number.
pub type Quaternions<L> = [L; 4];

/// The products of two blocks of quaternions.
#[inline(always)]
pub fn product<L: Lanes>([ax, ay, az, aw]: [L; 4], [bx, by, bz, bw]: [L; 4]) -> [L; 4] {
    [
        aw.multiply_add(bx, ax.multiply_add(bw, ay * bz - az * by)),
        aw.multiply_add(by, ay.multiply_add(bw, az * bx - ax * bz)),
        aw.multiply_add(bz, az.multiply_add(bw, ax * by - ay * bx)),
        aw * bw - ax.multiply_add(bx, ay.multiply_add(by, az * bz)),
    ]
}

/// A block of quaternions at unit length.
#[inline(always)]
pub fn unit<L: Lanes>(block: [L; 4]) -> [L; 4] {
    scaled(block, dot(block, block).inverse_square_root())
}

/// A block of quaternions times a factor each.
#[inline(always)]
pub fn scaled<L: Lanes>([x, y, z, w]: [L; 4], factor: L) -> [L; 4] {
    [x * factor, y * factor, z * factor, w * factor]
}

/// The inverses of a block of rotations of unit length.
#[inline(always)]
pub fn conjugate<L: Lanes>([x, y, z, w]: Quaternions<L>) -> Quaternions<L> {
    let zero = L::splat(x.token(), 0.0);
    [zero - x, zero - y, zero - z, w]
}

/// Vectors turned by quaternions of unit length.
#[inline(always)]
pub fn rotate<L: Lanes>([x, y, z, w]: Quaternions<L>, vectors: Vectors<L>) -> Vectors<L> {
    let axis = [x, y, z];
    let [a, b, c] = cross(axis, vectors);
    let twice = [a + a, b + b, c + c];
    let [d, e, f] = cross(axis, twice);
    [
        vectors[0] + twice[0].multiply_add(w, d),
        vectors[1] + twice[1].multiply_add(w, e),
        vectors[2] + twice[2].multiply_add(w, f),
    ]
}

/// Powers of quaternions of unit length whose w is 0 or more, with exponents from 0 to 1: that part of each turn.
#[inline(always)]
pub fn power<L: Lanes>(turns: Quaternions<L>, exponents: L) -> Quaternions<L> {
    let token = exponents.token();
    let (zero, one) = (L::splat(token, 0.0), L::splat(token, 1.0));
    let rest = one - exponents;
    let near_part = exponents.min(rest);
    let doubled = near_part + near_part;
    let from_end = (exponents - rest).max(zero);
    let ends = Ends { start: [zero, zero, zero, one], end: turns };
    let arc = ends.arc();
    let (middle, near) =
        arc.weights(series_of(doubled, arc.cosine_less_one), series_of(one - doubled, arc.cosine_less_one));
    ends.mean(middle.replace_where_zero(from_end, near), near.replace_where_zero(from_end, middle))
}

/// The differences of vectors.
#[inline(always)]
pub fn difference<L: Lanes>([ax, ay, az]: Vectors<L>, [bx, by, bz]: Vectors<L>) -> Vectors<L> {
    [ax - bx, ay - by, az - bz]
}

/// Vectors times a factor each.
#[inline(always)]
pub fn times<L: Lanes>([x, y, z]: Vectors<L>, factor: L) -> Vectors<L> {
    [x * factor, y * factor, z * factor]
}

/// Vectors times a factor each, plus other vectors.
#[inline(always)]
pub fn times_plus<L: Lanes>([x, y, z]: Vectors<L>, factor: L, [a, b, c]: Vectors<L>) -> Vectors<L> {
    [x.multiply_add(factor, a), y.multiply_add(factor, b), z.multiply_add(factor, c)]
}

/// The dot products of vectors.
#[inline(always)]
pub fn dot_3<L: Lanes>([ax, ay, az]: Vectors<L>, [bx, by, bz]: Vectors<L>) -> L {
    az.multiply_add(bz, ay.multiply_add(by, ax * bx))
}

/// The cross products of vectors.
#[inline(always)]
pub fn cross<L: Lanes>([ax, ay, az]: Vectors<L>, [bx, by, bz]: Vectors<L>) -> Vectors<L> {
    [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]
}
