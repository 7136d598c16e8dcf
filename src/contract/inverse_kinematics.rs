//! Bounds of the local rotations of an instance after its goals.
//!
//! An engine computes the turns of a goal from vectors between joints and from model rotations. Their bounds follow
//! from the local bounds before the goal. The exact solve, repeated with each number of the vectors displaced by its
//! bound, shows the effect on the turns. The sum of all effects is the bound of a turn, to first order. This holds
//! while the displacements are small against the vectors; otherwise any rotation is within the bound. So the bounds are
//! wide where the rules are ill-conditioned:
//!
//! * The plane of a limb has the error of its bones over the sine of the angle between them, at least 1e-3.
//! * The angle of the bend has the error of the goal over the sine of the angle, bounded by the margin of 1e-4 in the
//!   rules.
//! * The direction of a folded limb has the error of its bones over the distance of its ends.
//! * The turn by a pole has the error of the first bone over the part of it that is across the goal, at least 1e-3.
//! * The shortest rotation between nearly opposite directions has their error over half the length of their sum.
//!
//! Near a threshold of the rules, the answers on both sides are right. The solve is repeated with each threshold moved
//! either way by the bound of the number that is compared with it, and the difference is added.

use std::f64::consts::PI;

use glam::{DQuat, DVec3};

use crate::contract::bounds::{Local, Magnitudes};
use crate::contract::decay;
use crate::contract::sizes::{NARROW, angle};
use crate::contract::space::Space;
use crate::model::{ChainKind, ParameterValues, Pose, Ticks};
use crate::reference::instance::Instance;
use crate::reference::inverse_kinematics::{Aim, OPPOSITE, Posture, Thresholds, TwoBone, TwoBoneRotations};

/// The rounding of an engine's vectors and lengths, relative to the vectors: eight times the rounding of an `f32`.
const ROUNDING: f64 = 1.0 / (1 << 21) as f64;
/// The largest relative error of a vector whose effects are in proportion to it.
const MAX_ERROR: f64 = 0.1;

/// The bounds of the local transforms, weights and properties of one instance at a tick, after its goals.
pub fn bounds(instance: &Instance, now: Ticks, magnitudes: &mut Magnitudes) -> Local {
    let mut local = decay::bounds(instance, now, magnitudes);
    if instance.goals.is_empty() {
        return local;
    }
    let parameters = ParameterValues::new(instance.parameters, now);
    let mut transforms = instance.values(now).local;
    for goal in instance.goals {
        let chain = &instance.library.chains()[goal.chain.index()];
        let (target, weight) = (DVec3::from(goal.target.at(parameters)), goal.weight.at(parameters));
        let posture = Posture::new(instance.skeleton(), transforms);
        if weight > 0.0 {
            local.rotation = widened(&posture, &local, &chain.kind, target, weight);
        }
        transforms = posture.reach(chain, target, weight);
    }
    local
}

/// The bounds of the local rotations after a goal.
fn widened(posture: &Posture, local: &Local, chain: &ChainKind, target: DVec3, weight: f64) -> Vec<f64> {
    let pose = Pose { local: posture.local.clone(), model: posture.model.clone(), ..Pose::default() };
    let space = Space::new(posture.skeleton, &pose, local);
    let old = &local.rotation;
    let mut new = old.clone();
    match *chain {
        ChainKind::TwoBone { joints, pole, hold } => {
            let limb = Limb::new(posture, &space, joints, pole, target);
            let Some([swing, bend]) = limb.turns() else { return new };
            let [first, second, third] = joints;
            for (joint, turn) in [(first, swing), (second, bend)] {
                new[joint] = turn.local(old[joint], space.parent_rotation(joint), weight);
            }
            if hold {
                // The rotations above the chain are the same before and after, so that their errors cancel.
                let above = posture.skeleton.ancestors(third).take_while(|&joint| joint != first);
                let changed: f64 =
                    std::iter::once(third).chain(above).chain([first]).map(|joint| old[joint] + new[joint]).sum();
                // The local rotation of the third joint itself counts once.
                new[third] = (changed - new[third] + NARROW).min(PI);
            }
        }
        ChainKind::Aim { joint, forward, limit } => {
            let aim = posture.aim(joint, forward, target, [limit, weight]);
            let rotation = old[joint] + space.parent_rotation(joint);
            let position = space.allowed(joint, DVec3::ZERO, posture.model[joint].translation.length());
            if let Some(turn) = aim_turn(&aim, rotation, position + ROUNDING * target.length()) {
                // The turn has its share already.
                new[joint] = turn.local(old[joint], space.parent_rotation(joint), 1.0);
            }
        }
    }
    new
}

/// A turn of a joint in model space, with its bound in radians.
#[derive(Debug, Clone, Copy)]
struct BoundedRotation {
    turn: DQuat,
    bound: f64,
}

impl BoundedRotation {
    /// The bound of the local rotation of a joint after a share of the turn, from the bounds of the rotation and of the
    /// parent's model rotation.
    ///
    /// In the parent's space, the turn has an axis that is tilted by the error of the parent. On the sphere of
    /// quaternions, a share of a turn has `sin(weight angle / 2) / sin(angle / 2)` of the error of the turn, and at
    /// least the share of it.
    fn local(&self, old: f64, parent: f64, weight: f64) -> f64 {
        let whole = angle(DQuat::IDENTITY, self.turn);
        let half = whole / 2.0;
        let error = self.bound + 2.0 * parent * half.sin() + NARROW;
        let share = if half > 1e-6 { (weight * half).sin() / half.sin() } else { weight };
        // Near half a turn, the shorter way is the one around the other side.
        let around = if whole + error > PI { 2.0 * PI * weight.min(1.0 - weight) } else { 0.0 };
        (old + share * error + around + NARROW + ROUNDING * whole).min(PI)
    }
}

/// A vector displaced by a length in both directions of each axis.
fn displaced(vector: DVec3, length: f64) -> [[DVec3; 2]; 3] {
    DVec3::AXES.map(|axis| [vector + length * axis, vector - length * axis])
}

/// The turn, from the bounds of the joint's model rotation in radians and of the vector to the target; `None` if every
/// engine leaves the pose as it is.
fn aim_turn(aim: &Aim, rotation: f64, target: f64) -> Option<BoundedRotation> {
    if aim.forward.length() == 0.0 {
        return None;
    }
    let solved = |aim: Aim, opposite: f64| aim.turn(opposite).unwrap_or(DQuat::IDENTITY);
    let turn = solved(*aim, OPPOSITE);
    let forward_error = (rotation + ROUNDING) * aim.forward.length();
    let target_error = target + ROUNDING * aim.target.length();
    let directions = rotation + ROUNDING + target_error / aim.target.length();
    // Both directions are unit vectors, so that the length of their sum is twice the cosine of half their angle.
    let sum = (aim.forward.normalize() + aim.target.normalize_or_zero()).length();
    if !(directions < MAX_ERROR && sum > 2.0 * directions) {
        let most = aim.limit.min(PI) * aim.weight;
        return Some(BoundedRotation { turn, bound: (2.0 * most + NARROW).min(PI) });
    }
    let effect = |pair: [Aim; 2]| pair.map(|near| angle(turn, solved(near, OPPOSITE))).into_iter().fold(0.0, f64::max);
    let forwards = displaced(aim.forward, forward_error).map(|pair| pair.map(|forward| Aim { forward, ..*aim }));
    let targets = displaced(aim.target, target_error).map(|pair| pair.map(|target| Aim { target, ..*aim }));
    let bound = forwards.into_iter().chain(targets).map(effect).sum::<f64>();
    Some(BoundedRotation { turn, bound: bound + NARROW })
}

/// Two bones, with the bounds of their vectors.
struct Limb {
    exact: TwoBone,
    upper: Vector,
    lower: Vector,
    goal: Vector,
    /// The pole; zero if there is none.
    pole: Vector,
}

impl Limb {
    /// The limb of a chain in a pose.
    pub fn new(posture: &Posture, space: &Space, joints: [usize; 3], pole: Option<[f64; 3]>, target: DVec3) -> Self {
        let exact = posture.two_bone(joints, pole, target);
        let [first, second, third] = joints;
        let position = space.allowed(first, DVec3::ZERO, posture.model[first].translation.length());
        Self {
            upper: Vector::new(exact.upper, space.between(first, second)),
            lower: Vector::new(exact.lower, space.between(second, third)),
            goal: Vector::new(exact.goal, position + ROUNDING * target.length()),
            pole: Vector::new(exact.pole.unwrap_or_default(), 0.0),
            exact,
        }
    }

    /// The turns of the first and of the second joint; `None` if every engine leaves the pose as it is.
    fn turns(&self) -> Option<[BoundedRotation; 2]> {
        let solved = self.exact.turns(&Thresholds::RULES);
        let base = solved.unwrap_or(NOTHING);
        let mut bounds = Bounds { base, swing: 0.0, bend: NARROW };
        for pair in self.displaced() {
            bounds.add(pair.map(|near| near.turns(&Thresholds::RULES)));
        }
        let end = Vector::new(
            self.exact.upper + base.bend * self.exact.lower,
            self.upper.error + self.lower.error + bounds.bend * self.lower.length,
        );
        let others = self.moved_thresholds(&end).map(|pair| pair.map(|thresholds| self.exact.turns(&thresholds)));
        if solved.is_none() && others.iter().flatten().all(Option::is_none) && self.goal.error < self.goal.length {
            return None;
        }
        others.into_iter().for_each(|pair| bounds.add(pair));
        bounds.swing += self.swing_rounding(&base, &end);
        let is_small = [self.upper, self.lower, self.goal, end].iter().all(Vector::is_small);
        let bound = |bound: f64| if is_small { bound.min(PI) } else { PI };
        Some(
            [(base.swing, bounds.swing), (base.bend, bounds.bend)]
                .map(|(turn, sum)| BoundedRotation { turn, bound: bound(sum) }),
        )
    }

    /// The two bones with each number of their vectors displaced both ways by its bound.
    fn displaced(&self) -> impl Iterator<Item = [TwoBone; 2]> {
        let exact = self.exact;
        let uppers = displaced(exact.upper, self.upper.error).map(|pair| pair.map(|upper| TwoBone { upper, ..exact }));
        let lowers = displaced(exact.lower, self.lower.error).map(|pair| pair.map(|lower| TwoBone { lower, ..exact }));
        let goals = displaced(exact.goal, self.goal.error).map(|pair| pair.map(|goal| TwoBone { goal, ..exact }));
        let pole = exact.pole.map(|pole| displaced(pole, self.pole.error));
        let poles = pole.into_iter().flatten().map(move |pair| pair.map(|pole| TwoBone { pole: Some(pole), ..exact }));
        uppers.into_iter().chain(lowers).chain(goals).chain(poles)
    }

    /// The thresholds of the rules, each moved both ways by the error of the number that is compared with it. `end`
    /// leads from the first joint to the third after the bend.
    fn moved_thresholds(&self, end: &Vector) -> [[Thresholds; 2]; 5] {
        let rules = Thresholds::RULES;
        let Self { upper, lower, goal, pole, .. } = self;
        let bone = (upper.error + lower.error) / (upper.length + lower.length);
        let straight = upper.relative() + lower.relative();
        let along_pole = upper.relative() + pole.relative();
        // The sines of angles: between the first bone and the line between the ends, and between the pole and the goal.
        let (of_bone, of_pole) = (upper.relative() + end.relative(), pole.relative() + goal.relative());
        let [bone_across, pole_across] = rules.across;
        [
            [bone, -bone].map(|error| Thresholds { bone: rules.bone + error, ..rules }),
            [straight, -straight].map(|error| Thresholds { straight: rules.straight + error, ..rules }),
            [along_pole, -along_pole].map(|error| Thresholds { along_pole: rules.along_pole + error, ..rules }),
            [of_bone, -of_bone].map(|error| Thresholds { across: [bone_across + error, pole_across], ..rules }),
            [of_pole, -of_pole].map(|error| Thresholds { across: [bone_across, pole_across + error], ..rules }),
        ]
    }

    /// The rounding of the swing, which an engine computes from the bent limb.
    fn swing_rounding(&self, base: &TwoBoneRotations, end: &Vector) -> f64 {
        let Self { upper, lower, goal, exact, .. } = self;
        let bent = (NARROW * lower.length + ROUNDING * (upper.length + lower.length)) / end.length + NARROW;
        let axis = exact.goal.normalize_or_zero();
        let across = |vector: DVec3| vector.reject_from_normalized(axis).length();
        let [first, second] = Thresholds::RULES.across;
        let bone = across(base.swing * exact.upper) / upper.length;
        let is_twisted = bone >= first && exact.pole.is_some_and(|pole| across(pole) > second * pole.length());
        if is_twisted {
            // A pole corrects the direction in which the shortest rotation swings the limb.
            return bent * (1.0 + 1.0 / bone);
        }
        // The directions before and after the swing are unit vectors, so that half of the length of their sum is the
        // cosine of half of the angle between them.
        let half = (end.vector.normalize_or_zero() + axis).length() / 2.0;
        if half > bent + end.relative() + goal.relative() { bent / half } else { PI }
    }
}

/// No turns, where nothing is done.
const NOTHING: TwoBoneRotations = TwoBoneRotations { bend: DQuat::IDENTITY, swing: DQuat::IDENTITY };

/// Sums of the effects on the turns of two bones.
struct Bounds {
    base: TwoBoneRotations,
    swing: f64,
    bend: f64,
}

impl Bounds {
    /// Adds the larger effect of two.
    fn add(&mut self, pair: [Option<TwoBoneRotations>; 2]) {
        let near = pair.map(|turns| turns.unwrap_or(NOTHING));
        let larger = |turn: fn(&TwoBoneRotations) -> DQuat| {
            near.iter().map(|near| angle(turn(&self.base), turn(near))).fold(0.0, f64::max)
        };
        let (swing, bend) = (larger(|turns| turns.swing), larger(|turns| turns.bend));
        self.swing += swing;
        self.bend += bend;
    }
}

/// A vector with its length and the bound of its error.
#[derive(Debug, Clone, Copy)]
struct Vector {
    vector: DVec3,
    length: f64,
    error: f64,
}

impl Vector {
    fn new(vector: DVec3, error: f64) -> Self {
        let length = vector.length();
        Self { vector, length, error: error + ROUNDING * length }
    }

    fn relative(&self) -> f64 {
        self.error / self.length
    }

    /// Returns `true` if the effects of the error are in proportion to it.
    fn is_small(&self) -> bool {
        self.error < MAX_ERROR * self.length
    }
}
