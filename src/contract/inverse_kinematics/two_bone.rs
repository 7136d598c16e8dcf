//! The bounds of the turns of two bones.

use std::f64::consts::PI;

use glam::{DQuat, DVec3};

use crate::contract::angle;
use crate::contract::inverse_kinematics::{MOST, ROUNDING, Turn, displaced};
use crate::contract::sizes::NARROW;
use crate::contract::space::Space;
use crate::reference::inverse_kinematics::{Posture, Thresholds, Turns, TwoBone};

/// Two bones, with the bounds of their vectors.
pub struct Limb {
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
    pub fn turns(&self) -> Option<[Turn; 2]> {
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
        Some([(base.swing, bounds.swing), (base.bend, bounds.bend)].map(|(turn, sum)| Turn { turn, bound: bound(sum) }))
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

    /// The thresholds of the rules, each moved both ways by the error of the number that is compared with it. `end` leads from the first
    /// joint to the third after the bend.
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
    fn swing_rounding(&self, base: &Turns, end: &Vector) -> f64 {
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
        // The directions before and after the swing are unit vectors, so that half of the length of their sum is the cosine of half of
        // the angle between them.
        let half = (end.vector.normalize_or_zero() + axis).length() / 2.0;
        if half > bent + end.relative() + goal.relative() { bent / half } else { PI }
    }
}

/// No turns, where nothing is done.
const NOTHING: Turns = Turns { bend: DQuat::IDENTITY, swing: DQuat::IDENTITY };

/// Sums of the effects on the turns of two bones.
struct Bounds {
    base: Turns,
    swing: f64,
    bend: f64,
}

impl Bounds {
    /// Adds the larger effect of two.
    fn add(&mut self, pair: [Option<Turns>; 2]) {
        let near = pair.map(|turns| turns.unwrap_or(NOTHING));
        let larger =
            |turn: fn(&Turns) -> DQuat| near.iter().map(|near| angle(turn(&self.base), turn(near))).fold(0.0, f64::max);
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

    /// True if the effects of the error are in proportion to it.
    fn is_small(&self) -> bool {
        self.error < MOST * self.length
    }
}
