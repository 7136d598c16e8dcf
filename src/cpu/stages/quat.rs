//! Quaternions in the order xyzw, as in `shaders/shared/quat.wgsl`.

use glam::Vec4;

use crate::cpu::stages::ease::sine;
use crate::pack::record::{QUAT_MAX_ARCS, QUAT_MIN_ARC, QUAT_MIN_NUMBER, QUAT_SINE_DIVISORS, QUAT_SINE_SQUARES};

/// The terms of the series of `sin(t a) / sin(a)` after the first: each is the term before times `(t t - square) *
/// factor`.
pub const SINE_RATIO: [(f32, f32); 8] = {
    let mut terms = [(0.0, 0.0); 8];
    let mut term = 0;
    while term < terms.len() {
        terms[term] = (QUAT_SINE_SQUARES[term], 1.0 / QUAT_SINE_DIVISORS[term]);
        term += 1;
    }
    terms
};

/// Interpolates two rotations spherically. The result has unit length.
///
/// The quaternions are at most a right angle apart in their space, and have unit length up to the rounding of a file.
/// The arc is halved, then a series gives the weights (D. Eberly, "A Fast and Accurate Algorithm for Computing SLERP",
/// 2011). An eased fraction may be below 0 or above 1: the weights then advance by whole arcs, step by step.
pub fn slerp(start: Vec4, end: Vec4, fraction: f32) -> Vec4 {
    let (start_weight, end_weight) = slerp_weights(start.dot(end).min(1.0), fraction);
    let sum = start * start_weight + end * end_weight;
    if (0.0..1.0).contains(&fraction) { sum.normalize() } else { normalize(sum, start) }
}

/// Interpolates two quaternions of any length spherically, without normalising the result.
///
/// Both lie in one hemisphere. Quaternions that are almost equal are interpolated linearly, as in Cocos Creator.
pub fn slerp_as_is(start: Vec4, end: Vec4, fraction: f32) -> Vec4 {
    let cosine = start.dot(end);
    if 1.0 - cosine <= QUAT_MIN_ARC {
        return start + (end - start) * fraction.clamp(-QUAT_MAX_ARCS, QUAT_MAX_ARCS + 1.0);
    }
    let (start_weight, end_weight) = slerp_weights(cosine, fraction);
    start * start_weight + end * end_weight
}

/// The weights of start and end. `cosine` is the cosine of their angle, which is at most a right one.
fn slerp_weights(cosine: f32, fraction: f32) -> (f32, f32) {
    let fraction = fraction.clamp(-QUAT_MAX_ARCS, QUAT_MAX_ARCS + 1.0);
    let arcs = fraction.floor();
    let part = fraction - arcs;
    let half_cosine = (0.5 + 0.5 * cosine).sqrt();
    let from_end = part > 0.5;
    let doubled = 2.0 * if from_end { 1.0 - part } else { part };
    let middle = sine_ratio(doubled, half_cosine) / (2.0 * half_cosine);
    let near = sine_ratio(1.0 - doubled, half_cosine) + middle;
    let weights = if from_end { (middle, near) } else { (near, middle) };
    if arcs == 0.0 { weights } else { farther(weights, cosine, arcs) }
}

/// The product of two quaternions: it applies the right one first, then the left one.
pub fn multiply(left: Vec4, right: Vec4) -> Vec4 {
    let [a, b] = [left.truncate(), right.truncate()];
    (left.w * b + right.w * a + a.cross(b)).extend(left.w * right.w - a.dot(b))
}

/// The inverse of a rotation of unit length.
pub fn conjugate(q: Vec4) -> Vec4 {
    q * Vec4::new(-1.0, -1.0, -1.0, 1.0)
}

/// A quaternion in the hemisphere of another: negated if their dot product is negative. The rotation stays the same.
#[inline(always)]
pub fn toward(q: Vec4, other: Vec4) -> Vec4 {
    if q.dot(other) < 0.0 { -q } else { q }
}

/// A vector rotated by a quaternion of unit length. The fourth number is 0.
pub fn rotate(q: Vec4, vector: Vec4) -> Vec4 {
    let (axis, vector) = (q.truncate(), vector.truncate());
    let twice = 2.0 * axis.cross(vector);
    (vector + q.w * twice + axis.cross(twice)).extend(0.0)
}

/// The rotation by angles in degrees about x, then z, then y, all axes of the parent: the order of Cocos Creator.
pub fn from_euler_angles(degrees: Vec4) -> Vec4 {
    // Whole turns of the half angle are removed first, which is exact. The rest is in quarter turns.
    let quarters = (degrees - 720.0 * (degrees / 720.0 + 0.5).floor()) / 180.0;
    let [(sx, cx), (sy, cy), (sz, cz)] = [quarters.x, quarters.y, quarters.z].map(sine_cosine);
    let xyz = [sx * cy * cz + cx * sy * sz, cx * sy * cz + sx * cy * sz, cx * cy * sz - sx * sy * cz];
    Vec4::new(xyz[0], xyz[1], xyz[2], cx * cy * cz - sx * sy * sz).normalize()
}

/// Sine and cosine of an angle in quarter turns, -2 to 2.
fn sine_cosine(quarters: f32) -> (f32, f32) {
    let size = quarters.abs();
    (sine(size.min(2.0 - size)).copysign(quarters), sine(1.0 - size))
}

/// The weights of start and end after `arcs` more whole arcs; negative goes back. The step is
/// `sin(a + 1) = 2 cos(1) sin(a) - sin(a - 1)`, with the arc as the unit.
fn farther(weights: (f32, f32), cosine: f32, arcs: f32) -> (f32, f32) {
    let (mut start, mut end) = weights;
    for _ in 0..arcs.max(0.0) as u32 {
        (start, end) = (-end, start + 2.0 * cosine * end);
    }
    for _ in 0..(-arcs).max(0.0) as u32 {
        (start, end) = (end + 2.0 * cosine * start, -start);
    }
    (start, end)
}

/// `sin(t a) / sin(a)` for `t` from 0 to 1 and `a` up to 45 degrees. `cosine` is `cos(a)`. The error is at most 1e-8.
fn sine_ratio(t: f32, cosine: f32) -> f32 {
    let x = cosine - 1.0;
    let s = t * t;
    let mut sum = 1.0;
    for (square, factor) in SINE_RATIO[1..].iter().rev() {
        sum = 1.0 + (s - square) * (x * factor) * sum;
    }
    let (square, factor) = SINE_RATIO[0];
    t + t * (s - square) * (x * factor) * sum
}

/// Normalises a quaternion of any length. If it is too short, the fallback is normalised; if that is too short, the
/// result is the identity.
pub fn normalize(q: Vec4, fallback: Vec4) -> Vec4 {
    let has_length = |q: &Vec4| q.abs().max_element() > QUAT_MIN_NUMBER;
    let Some(usable) = [q, fallback].into_iter().find(has_length) else { return Vec4::W };
    // Divided by the largest component first, so that no square overflows or underflows.
    (usable / usable.abs().max_element()).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DQuat, DVec3, Vec3};

    /// The largest error in radians for fractions in a range, over arcs of all widths.
    fn worst(from: f64, to: f64) -> f64 {
        let mut worst = 0.0_f64;
        for angle in [0.0, 1e-8, 1e-4, 0.01, 0.3, 1.0, 1.5, 2.0, 3.0, std::f64::consts::PI] {
            // Miri takes minutes for what takes a second elsewhere.
            for step in (0..=64).step_by(if cfg!(miri) { 8 } else { 1 }) {
                let fraction = f64::from((from + (to - from) * f64::from(step) / 64.0) as f32);
                let axis = DVec3::new(0.48, -0.6, 0.64);
                let start = DQuat::from_axis_angle(DVec3::Y, 0.7);
                let end = start * DQuat::from_axis_angle(axis, angle);
                let wanted = start * DQuat::from_axis_angle(axis, angle * fraction);
                let vector = |q: DQuat| Vec4::from_array(q.as_quat().to_array());
                let found = slerp(vector(start), vector(end), fraction as f32).as_dvec4();
                assert!((found.length() - 1.0).abs() < 2e-7);
                let wanted = glam::DVec4::from_array(wanted.to_array());
                worst = worst.max(2.0 * (found.normalize() - wanted * wanted.dot(found).signum()).length());
            }
        }
        worst
    }

    #[test]
    fn slerp_is_exact_to_5e_7_rad_up_to_a_half_turn() {
        let worst = worst(0.0, 1.0);
        assert!(worst < 5e-7, "{worst} rad");
    }

    #[test]
    fn slerp_past_its_ends_has_an_error_in_proportion_to_the_distance() {
        for far in [0.5, 1.0, 2.0, 8.0, 32.0] {
            for worst in [worst(-far, 0.0), worst(1.0, 1.0 + far)] {
                assert!(worst < 5e-7 * (1.0 + far), "{worst} rad within {far} arcs");
            }
        }
        let ends = (Vec4::W, Vec4::new(0.6, 0.0, 0.0, 0.8));
        assert_eq!(slerp(ends.0, ends.1, 1e30), slerp(ends.0, ends.1, 33.0));
        assert_eq!(slerp(ends.0, ends.1, -1e30), slerp(ends.0, ends.1, -32.0));
    }

    #[test]
    fn quaternions_of_every_length_are_normalised() {
        for size in [1e-20_f32, 1.0, 1e30] {
            assert!(
                (normalize(Vec4::new(3.0, 0.0, 4.0, 0.0) * size, Vec4::W) - Vec4::new(0.6, 0.0, 0.8, 0.0)).length()
                    < 1e-6
            );
        }
        assert_eq!(normalize(Vec4::ZERO, Vec3::ZERO.extend(2.0)), Vec4::W);
        assert_eq!(normalize(Vec4::ZERO, Vec4::ZERO), Vec4::W);
        assert_eq!(normalize(Vec4::ZERO, Vec4::X), Vec4::X);
    }
}
