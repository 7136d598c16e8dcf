//! Inverse kinematics of a block of instances: the turns in model space by which joints reach a target, as in
//! `shaders/shared/inverse_kinematics.wgsl`.
//!
//! Angles have no part in it: a turn is made of the cosines and sines of half its angle, which vectors give without
//! inverse functions. Registers have no branches: a number that is 0 marks the lanes in which nothing is done, or
//! another formula holds.

use crate::cpu::block::quat::{
    Quaternions, Vectors, conjugate, cross, difference, dot_3, power, product, rotate, times, times_plus,
};
use crate::cpu::block::slerp::dot;
use crate::cpu::simd::{Lanes, Token};
use crate::pack::record::{REACH_MARGIN, REACH_MIN_LENGTH, REACH_MIN_SHARE, REACH_OPPOSITE};

/// The least square of a length by which vectors are divided.
const MIN_SQUARE: f32 = 1e-30;

/// The turns of the joints of two bones in model space.
pub struct TwoBoneRotations<L> {
    /// The turn of the first joint and of all below it. It comes last.
    pub first: Quaternions<L>,
    /// The turn of the second joint and of all below it. It comes first.
    pub second: Quaternions<L>,
    /// 0 where nothing is done.
    pub acts: L,
}

/// The turns by which the end of two bones reaches a target, in part by weights from 0 to 1. `joints` has the positions
/// of the three joints, and `pole` the direction of the pole, of length 1.
#[inline(always)]
pub fn two_bones<L: Lanes>(
    joints: [Vectors<L>; 3],
    target: Vectors<L>,
    pole: Option<[f32; 3]>,
    weights: L,
) -> TwoBoneRotations<L> {
    let token = weights.token();
    let (zero, one) = (L::splat(token, 0.0), L::splat(token, 1.0));
    let [a, b, c] = joints;
    let (upper, p) = direction(difference(b, a));
    let (lower, q) = direction(difference(c, b));
    let (goal, far) = direction(difference(target, a));
    let whole = one / (p + q).max(L::splat(token, REACH_MIN_LENGTH));
    let (p, q, far) = (p * whole, q * whole, far * whole);
    let (normal, is_bent) = bending_normal(upper, lower, pole);
    let acts = above(p.min(q), REACH_MIN_SHARE).min(far).min(is_bent);

    // Half the angle between the bones, by the lengths of the triangle: no difference of large squares.
    let apart = absolute(p - q);
    let margin = L::splat(token, REACH_MARGIN);
    let most = one - apart - margin;
    let to_straight = (one - far).max(margin).min(most);
    let to_folded = (far - apart).max(margin).min(most);
    let reach = one - to_straight;
    let scale = L::splat(token, 0.25) / (p * q);
    let wanted =
        [(to_folded * (reach + apart) * scale).square_root(), (to_straight * (one + reach) * scale).square_root()];
    let found = half_angle(dot_3(upper, lower), dot_3(normal, cross(upper, lower)));
    let cosine = wanted[0].multiply_add(found[0], wanted[1] * found[1]);
    let sine = (wanted[1] * found[0] - wanted[0] * found[1]).with_sign_of(cosine);
    let second = turn_about(normal, [absolute(cosine), sine]);

    let (end, _) = direction(times_plus(rotate(second, lower), q, times(upper, p)));
    let (shortest, is_opposite) = shortest(end, goal);
    let [x, y, z, w] = shortest;
    let swing = [
        x.replace_where_zero(is_opposite, normal[0]),
        y.replace_where_zero(is_opposite, normal[1]),
        z.replace_where_zero(is_opposite, normal[2]),
        w.replace_where_zero(is_opposite, zero),
    ];
    let first = match pole {
        None => swing,
        Some(pole) => {
            let [x, y, z, w] = product(pole_turn(rotate(swing, upper), pole, goal), swing);
            // The shorter way.
            [x.with_sign_of(w), y.with_sign_of(w), z.with_sign_of(w), absolute(w)]
        }
    };
    let (first, second) = (part(first, weights), part(second, weights));
    TwoBoneRotations { first, second, acts: acts.min(is_rotation(first)).min(is_rotation(second)) }
}

/// The normals of the planes in which limbs bend, and a number that is 0 where there is none.
#[inline(always)]
fn bending_normal<L: Lanes>(upper: Vectors<L>, lower: Vectors<L>, pole: Option<[f32; 3]>) -> (Vectors<L>, L) {
    let (normal, is_bent) = normal_of(upper, lower);
    let Some(pole) = pole else { return (normal, is_bent) };
    let ([x, y, z], has_pole) = normal_of(upper, splat(upper[0].token(), pole));
    let normal = [
        normal[0].replace_where_zero(is_bent, x),
        normal[1].replace_where_zero(is_bent, y),
        normal[2].replace_where_zero(is_bent, z),
    ];
    (normal, is_bent.replace_where_zero(is_bent, has_pole))
}

impl<L: Lanes> TwoBoneRotations<L> {
    /// The turn by which the third joint keeps its model rotation.
    #[inline(always)]
    pub fn third(&self) -> Quaternions<L> {
        conjugate(product(self.first, self.second))
    }
}

/// The turns by which joints aim at targets, in part by weights from 0 to 1, and a number that is 0 where nothing is
/// done.
///
/// `forward` is the direction of a joint in model space, of length 1 or 0, `target` leads from the joint to its target,
/// and `limit` has sine and cosine of half the limit.
#[inline(always)]
pub fn aim<L: Lanes>(forward: Vectors<L>, target: Vectors<L>, limit: [f32; 2], weights: L) -> (Quaternions<L>, L) {
    let token = weights.token();
    let (goal, far) = direction(target);
    let ([x, y, z, w], is_opposite) = shortest(forward, goal);
    let acts = is_opposite.min(far).min(dot_3(forward, forward));
    // The same axis with half the limit, where the turn is larger.
    let [sine, cosine] = [L::splat(token, limit[0]), L::splat(token, limit[1])];
    let square = dot_3([x, y, z], [x, y, z]);
    let inverse = inverse_length(square);
    // By the tangents of the halves: the cosine of a small limit is 1.
    let is_beyond = (square * inverse * cosine - w * sine).max(L::splat(token, 0.0));
    let shrunk = sine * inverse;
    let limited = [
        (x * shrunk).replace_where_zero(is_beyond, x),
        (y * shrunk).replace_where_zero(is_beyond, y),
        (z * shrunk).replace_where_zero(is_beyond, z),
        cosine.replace_where_zero(is_beyond, w),
    ];
    let turns = part(limited, weights);
    (turns, acts.min(is_rotation(turns)))
}

/// 0 for numbers that are no rotation, which come of positions beyond the range of an `f32`.
#[inline(always)]
pub fn is_rotation<L: Lanes>(turns: Quaternions<L>) -> L {
    above(dot(turns, turns), 0.5)
}

/// Parts of turns, by weights from 0 to 1.
#[inline(always)]
fn part<L: Lanes>(turns: Quaternions<L>, weights: L) -> Quaternions<L> {
    if weights.any_less(L::splat(weights.token(), 1.0)) { power(turns, weights) } else { turns }
}

/// The turn about the direction of the goal that brings the first bone to the side of the pole; the identity where
/// there is none.
#[inline(always)]
fn pole_turn<L: Lanes>(upper: Vectors<L>, pole: [f32; 3], goal: Vectors<L>) -> Quaternions<L> {
    let token = goal[0].token();
    let (zero, one) = (L::splat(token, 0.0), L::splat(token, 1.0));
    let (from, to) = (across(upper, goal), across(splat(token, pole), goal));
    let square = REACH_MIN_SHARE * REACH_MIN_SHARE;
    let turns = above(dot_3(from, from).min(dot_3(to, to)), square);
    let [cosine, sine] = half_angle(dot_3(from, to), dot_3(goal, cross(from, to)));
    turn_about(goal, [cosine.replace_where_zero(turns, one), sine.replace_where_zero(turns, zero)])
}

/// The unit normals of the planes of two unit vectors, and a number that is 0 where those are nearly parallel.
#[inline(always)]
fn normal_of<L: Lanes>(one: Vectors<L>, other: Vectors<L>) -> (Vectors<L>, L) {
    let across = cross(one, other);
    let square = dot_3(across, across);
    let normal = times(across, inverse_length(square));
    (normal, above(square, REACH_MIN_SHARE * REACH_MIN_SHARE))
}

/// The shortest rotations from unit vectors to others, and a number that is 0 where they are opposite.
#[inline(always)]
fn shortest<L: Lanes>(from: Vectors<L>, to: Vectors<L>) -> (Quaternions<L>, L) {
    let token = from[0].token();
    let sum = [from[0] + to[0], from[1] + to[1], from[2] + to[2]];
    // The sum of unit vectors is across their difference. Of nearly opposite ones it is mostly rounding, and what lies
    // along the difference would turn the first past the other.
    let apart = difference(from, to);
    let along = dot_3(sum, apart) / dot_3(apart, apart).max(L::splat(token, 1.0));
    let across = times_plus(apart, L::splat(token, 0.0) - along, sum);
    let middle = times(across, inverse_length(dot_3(across, across)));
    let [x, y, z] = cross(from, middle);
    ([x, y, z, dot_3(from, middle)], above(dot_3(sum, sum), REACH_OPPOSITE * REACH_OPPOSITE))
}

/// The part of vectors that is perpendicular to unit vectors.
#[inline(always)]
fn across<L: Lanes>(vectors: Vectors<L>, axis: Vectors<L>) -> Vectors<L> {
    times_plus(axis, L::splat(axis[0].token(), 0.0) - dot_3(vectors, axis), vectors)
}

/// Cosine and sine of half an angle from above -180 to 180 degrees, from numbers in proportion to its cosine and sine.
#[inline(always)]
fn half_angle<L: Lanes>(cosine: L, sine: L) -> [L; 2] {
    let length = sine.multiply_add(sine, cosine * cosine).square_root();
    // The sum of two numbers of one sign. It is in proportion to the cosine of the half up to a right angle, then to
    // its sine.
    let sum = length + absolute(cosine);
    let is_acute = cosine.max(L::splat(cosine.token(), 0.0));
    let x = sum.replace_where_zero(is_acute, absolute(sine));
    let y = sine.replace_where_zero(is_acute, sum.with_sign_of(sine));
    let shrink = inverse_length(x.multiply_add(x, y * y));
    [x * shrink, y * shrink]
}

/// Turns about unit axes, from cosine and sine of half the angle.
#[inline(always)]
fn turn_about<L: Lanes>(axis: Vectors<L>, [cosine, sine]: [L; 2]) -> Quaternions<L> {
    let [x, y, z] = times(axis, sine);
    [x, y, z, cosine]
}

/// Vectors at length 1, and their lengths. Their squares may be beyond the range of an `f32`. Zero vectors stay 0.
#[inline(always)]
fn direction<L: Lanes>([x, y, z]: Vectors<L>) -> (Vectors<L>, L) {
    let token = x.token();
    let size = absolute(x).max(absolute(y)).max(absolute(z)).max(L::splat(token, REACH_MIN_LENGTH));
    let scaled = times([x, y, z], L::splat(token, 1.0) / size);
    let square = dot_3(scaled, scaled);
    let inverse = inverse_length(square);
    (times(scaled, inverse), size * (square * inverse))
}

/// The inverses of lengths, from their squares.
#[inline(always)]
fn inverse_length<L: Lanes>(square: L) -> L {
    square.max(L::splat(square.token(), MIN_SQUARE)).inverse_square_root()
}

/// One vector in all lanes.
#[inline(always)]
fn splat<L: Lanes>(token: Token<L>, [x, y, z]: [f32; 3]) -> Vectors<L> {
    [L::splat(token, x), L::splat(token, y), L::splat(token, z)]
}

/// What numbers have above a least one; 0 below it, and for numbers that are none.
#[inline(always)]
fn above<L: Lanes>(numbers: L, least: f32) -> L {
    let token = numbers.token();
    (numbers - L::splat(token, least)).max(L::splat(token, 0.0))
}

#[inline(always)]
fn absolute<L: Lanes>(numbers: L) -> L {
    numbers.max(L::splat(numbers.token(), 0.0) - numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::simd::{InstructionSet, Kernel};
    use glam::{DQuat, DVec3, Vec4};
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_3, FRAC_PI_6, PI};

    /// Two bones and a weight, or an aim and a weight, in every lane.
    enum IkCase {
        Bones { joints: [[f32; 3]; 3], target: [f32; 3], pole: Option<[f32; 3]>, weight: f32 },
        Aim { forward: [f32; 3], target: [f32; 3], limit: f32, weight: f32 },
    }

    impl Kernel for &IkCase {
        /// The turns of the first and of the second joint; `None` if nothing is done.
        type Output = Option<[DQuat; 2]>;

        #[inline(always)]
        fn run<L: Lanes>(self, token: Token<L>) -> Self::Output {
            let (first, second, acts) = match *self {
                IkCase::Bones { joints: [a, b, c], target, pole, weight } => {
                    let joints = [splat(token, a), splat(token, b), splat(token, c)];
                    let turns = two_bones(joints, splat(token, target), pole, L::splat(token, weight));
                    (turns.first, turns.second, turns.acts)
                }
                IkCase::Aim { forward, target, limit, weight } => {
                    let limit = [(0.5 * limit).sin(), (0.5 * limit).cos()];
                    let (turn, acts) = aim(splat(token, forward), splat(token, target), limit, L::splat(token, weight));
                    (turn, turn, acts)
                }
            };
            let last = |numbers: L| {
                let mut stored = [Vec4::ZERO; 4];
                numbers.store(&mut stored);
                f64::from(stored[L::BLOCK / 4 - 1].w)
            };
            let rotation = |[x, y, z, w]: [L; 4]| DQuat::from_xyzw(last(x), last(y), last(z), last(w));
            (last(acts) > 0.0).then(|| [rotation(first), rotation(second)])
        }
    }

    /// Asserts the turns of a case on every instruction set.
    #[track_caller]
    fn assert_turns(case: &IkCase, expected: Option<[DQuat; 2]>) {
        for instructions in InstructionSet::ALL.into_iter().filter(|instructions| instructions.is_available()) {
            let found = instructions.run(case);
            assert_eq!(found.is_some(), expected.is_some(), "{instructions:?}");
            for (found, expected) in found.into_iter().flatten().zip(expected.into_iter().flatten()) {
                let apart = (found - expected).length().min((found + expected).length());
                assert!(apart < 1e-6, "{instructions:?}: {found}, not {expected}");
            }
        }
    }

    fn about(axis: DVec3, angle: f64) -> DQuat {
        DQuat::from_axis_angle(axis, angle)
    }

    const BENT: [[f32; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]];
    const STRAIGHT: [[f32; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]];

    fn bones(joints: [[f32; 3]; 3], target: [f32; 3], pole: Option<[f32; 3]>) -> IkCase {
        IkCase::Bones { joints, target, pole, weight: 1.0 }
    }

    #[test]
    fn a_right_angle_becomes_that_of_an_equilateral_triangle() {
        // From 90 to 120 degrees between the bones; then the end is at 60 degrees, and turns back to 0.
        let swing = about(DVec3::Z, -FRAC_PI_3);
        let bend = about(DVec3::Z, FRAC_PI_6);
        assert_turns(&bones(BENT, [1.0, 0.0, 0.0], None), Some([swing, bend]));
        let half = IkCase::Bones { joints: BENT, target: [1.0, 0.0, 0.0], pole: None, weight: 0.5 };
        assert_turns(&half, Some([about(DVec3::Z, -FRAC_PI_6), about(DVec3::Z, 0.5 * FRAC_PI_6)]));
        // Far away, and in other units, it is the same.
        let far = BENT.map(|joint| joint.map(|number| 1e-20 * number));
        assert_turns(&bones(far, [1e-20, 0.0, 0.0], None), Some([swing, bend]));
        let large = BENT.map(|joint| joint.map(|number| 1e25 * number));
        assert_turns(&bones(large, [1e25, 0.0, 0.0], None), Some([swing, bend]));
    }

    #[test]
    fn a_pole_turns_the_limb_about_the_direction_of_the_target() {
        let (swing, bend) = (about(DVec3::Z, -FRAC_PI_3), about(DVec3::Z, FRAC_PI_6));
        let pole_turn = about(DVec3::X, -FRAC_PI_2);
        assert_turns(&bones(BENT, [1.0, 0.0, 0.0], Some([0.0, 0.0, 1.0])), Some([pole_turn * swing, bend]));
        // The part of the pole along the target does not count; a pole along the target does nothing.
        let slanted = [0.8, 0.0, 0.6];
        assert_turns(&bones(BENT, [1.0, 0.0, 0.0], Some(slanted)), Some([pole_turn * swing, bend]));
        assert_turns(&bones(BENT, [1.0, 0.0, 0.0], Some([1.0, 0.0, 0.0])), Some([swing, bend]));
    }

    #[test]
    fn a_straight_limb_bends_to_its_pole_only() {
        assert_turns(&bones(STRAIGHT, [1.0, 0.0, 0.0], None), None);
        assert_turns(&bones(STRAIGHT, [1.0, 0.0, 0.0], Some([1.0, 0.0, 0.0])), None);
        let expected = [about(DVec3::X, PI) * about(DVec3::Z, -FRAC_PI_3), about(DVec3::Z, 2.0 * FRAC_PI_3)];
        assert_turns(&bones(STRAIGHT, [1.0, 0.0, 0.0], Some([0.0, 1.0, 0.0])), Some(expected));
    }

    #[test]
    fn targets_out_of_reach_leave_a_small_bend() {
        // (1 - 1e-4) of both lengths: the cosine of half the angle between the bones is 1 - 1e-4.
        let bend = 2.0 * (1.0_f64 - 1e-4).acos();
        let expected = [about(DVec3::Z, -0.5 * bend), about(DVec3::Z, bend - FRAC_PI_2)];
        for far in [2.0, 5.0, 1e30, f32::MAX] {
            assert_turns(&bones(BENT, [far, 0.0, 0.0], None), Some(expected));
        }
        // Folded: the sine of half the angle at the middle joint is 1e-4.
        let inner = 2.0 * (1e-4_f64).asin();
        let Some([_, second]) = InstructionSet::Portable.run(&bones(BENT, [1e-6, 0.0, 0.0], None)) else { panic!() };
        assert!((second - about(DVec3::Z, FRAC_PI_2 - inner)).length() < 1e-6, "{second}");
    }

    #[test]
    fn nothing_is_done_without_bones_or_direction() {
        assert_turns(&bones(BENT, [0.0; 3], None), None);
        assert_turns(&bones([[0.0; 3]; 3], [1.0, 0.0, 0.0], None), None);
        let short = [[0.0, 0.0, 0.0], [1e-4, 0.0, 0.0], [1e-4, 1.0, 0.0]];
        assert_turns(&bones(short, [1.0, 0.0, 0.0], Some([0.0, 0.0, 1.0])), None);
    }

    #[test]
    fn an_end_opposite_to_the_target_turns_in_the_plane_of_the_limb() {
        // The end is at 60 degrees after the bend; the target is on the other side.
        let (sine, cosine) = (FRAC_PI_3.sin() as f32, FRAC_PI_3.cos() as f32);
        let Some([first, _]) = InstructionSet::Portable.run(&bones(BENT, [-cosine, -sine, 0.0], None)) else {
            panic!()
        };
        assert!((first * DVec3::X - about(DVec3::Z, PI) * DVec3::X).length() < 1e-6, "{first}");
    }

    #[test]
    fn what_is_nearly_opposite_turns_to_the_target_all_the_same() {
        let forward = DVec3::new(0.48, -0.6, 0.64);
        let across = DVec3::new(0.8, 0.0, -0.6);
        for lean in [3e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1] {
            // The axis follows from a small difference; where the joint then points does not.
            let target = (across * lean - forward).normalize();
            let [from, to] = [forward, target].map(|vector| vector.as_vec3().to_array());
            let case = IkCase::Aim { forward: from, target: to, limit: std::f32::consts::PI, weight: 1.0 };
            for instructions in InstructionSet::ALL.into_iter().filter(|instructions| instructions.is_available()) {
                let Some([turn, _]) = instructions.run(&case) else { panic!("{instructions:?}: nothing is done") };
                let apart = (turn * forward - target).length();
                assert!(apart < 1e-6, "{instructions:?}, {lean}: {apart}");
            }
        }
    }

    #[test]
    fn an_aim_turns_up_to_its_limit() {
        let aim = |limit, weight| IkCase::Aim { forward: [0.0, 0.0, 1.0], target: [3.0, 0.0, 0.0], limit, weight };
        let turned = |angle| Some([about(DVec3::Y, angle); 2]);
        assert_turns(&aim(std::f32::consts::PI, 1.0), turned(FRAC_PI_2));
        assert_turns(&aim(std::f32::consts::FRAC_PI_3, 1.0), turned(FRAC_PI_3));
        assert_turns(&aim(std::f32::consts::FRAC_PI_3, 0.5), turned(FRAC_PI_6));
        assert_turns(&aim(0.0, 1.0), turned(0.0));
        for limit in [1e-5, 1e-4, 1e-3, 1e-2] {
            assert_turns(&aim(limit, 1.0), turned(limit.into()));
            // An aligned joint stays, and one within the limit turns all the way.
            let to = |x| IkCase::Aim { forward: [0.0, 0.0, 1.0], target: [x, 0.0, 1.0], limit, weight: 1.0 };
            assert_turns(&to(0.0), turned(0.0));
            assert_turns(&to(0.5 * limit), turned((0.5 * f64::from(limit)).atan()));
        }
        let to = |target| IkCase::Aim { forward: [0.0, 0.0, 1.0], target, limit: 1.0, weight: 1.0 };
        assert_turns(&to([0.0, 0.0, 2.0]), turned(0.0));
        assert_turns(&to([0.0, 0.0, -2.0]), None);
        assert_turns(&to([0.0; 3]), None);
        assert_turns(&IkCase::Aim { forward: [0.0; 3], target: [1.0, 0.0, 0.0], limit: 1.0, weight: 1.0 }, None);
    }
}
