//! The face of a VRM animation: the expressions of a human, and their weights in a pose.
//!
//! The skeleton of a VRM animation has the weights: the translation of a joint per expression along x. A VRM model has
//! morph weights `w`, and expressions that move them: `w = A x` with weights `x` of the expressions from 0 to 1. Then
//! `x` is a least-squares solution, by coordinate descent from 0: the expressions that every model has come first, and
//! of these the ones that move most. So closed eyes are a `blink`, and not `blinkLeft` with `blinkRight` or what a
//! model for face capture calls its eyelids, though all give the same face. What expressions override is not divided
//! out: a model that blinks less while it is happy does so again.

use std::collections::{BTreeMap, HashSet};

use crate::model::{Expression, Skeleton, Transform};

/// The expressions of VRM 1.0 that every model can have, without those of the gaze, which an animation must not have.
const PRESETS: [&str; 14] = [
    "happy",
    "angry",
    "sad",
    "relaxed",
    "surprised",
    "aa",
    "ih",
    "ou",
    "ee",
    "oh",
    "blink",
    "blinkLeft",
    "blinkRight",
    "neutral",
];

/// The expressions of the gaze.
const GAZE: [&str; 4] = ["lookUp", "lookDown", "lookLeft", "lookRight"];

/// The smallest value of a morph weight at a weight of 1 of an expression that counts.
const MIN_BIND: f64 = 1e-6;
/// The most rounds over all expressions.
const MAX_ROUNDS: usize = 64;
/// The largest change of a weight that ends the rounds.
const MAX_CHANGE: f64 = 1e-7;
/// The weight up to which an expression counts as unused.
const MIN_USED: f64 = 1e-4;
/// The largest difference of a morph weight from what the expressions give that is no loss.
const MAX_LOSS: f64 = 0.005;

/// True for an expression that every model can have.
pub(super) fn is_preset(name: &str) -> bool {
    PRESETS.contains(&name)
}

/// The expressions that a file can have, with their weights in the last pose.
#[derive(Debug, Clone)]
pub(super) struct Face<'a> {
    source: &'a Skeleton,
    expressions: Vec<FaceExpression<'a>>,
    /// The morph weights at rest, and true for each that an expression moves.
    rest: Vec<f64>,
    is_moved: Vec<bool>,
    /// The expressions with morph weights, in the order in which they are found.
    order: Vec<usize>,
    /// The morph weights of the last pose.
    morphs: Vec<f64>,
    /// The first morph weight that no expression gives.
    lost: Option<usize>,
}

/// An expression of a face.
#[derive(Debug, Clone)]
pub(super) struct FaceExpression<'a> {
    pub name: &'a str,
    /// The weight in the last pose, from 0 to 1.
    pub weight: f64,
    /// True if it had a weight in any pose.
    pub is_used: bool,
    /// The joint that drives it.
    driver: Option<usize>,
    /// The morph weights that it moves, with their values at a weight of 1.
    column: Vec<(usize, f64)>,
}

impl<'a> Face<'a> {
    pub fn new(source: &'a Skeleton) -> Self {
        let ranges = source.weight_ranges();
        let column = |expression: &Expression| {
            let mut column = BTreeMap::new();
            for bind in &expression.binds {
                *column.entry(ranges[bind.joint].start + bind.index).or_insert(0.0) += bind.weight;
            }
            column.into_iter().filter(|(_, weight): &(_, f64)| weight.abs() > MIN_BIND).collect::<Vec<(usize, f64)>>()
        };
        let expression = |expression: &'a Expression| FaceExpression {
            name: &expression.name,
            weight: 0.0,
            is_used: false,
            driver: expression.driver,
            column: if expression.driver.is_some() { Vec::new() } else { column(expression) },
        };
        // Those of an animation come before those of a model, which may be in the same file.
        let (driven, others): (Vec<_>, Vec<_>) = source.expressions().iter().partition(|found| found.driver.is_some());
        let mut names = HashSet::new();
        let is_wanted = |found: &FaceExpression<'a>| {
            let has_weight = found.driver.is_some() || !found.column.is_empty();
            has_weight && !GAZE.contains(&found.name) && names.insert(found.name)
        };
        let all = driven.into_iter().chain(others).map(expression);
        let expressions: Vec<FaceExpression> = all.filter(is_wanted).collect();
        let rest: Vec<f64> = source.joints().iter().flat_map(|joint| joint.weights.iter().copied()).collect();
        let mut is_moved = vec![false; rest.len()];
        expressions.iter().flat_map(|found| &found.column).for_each(|&(morph, _)| is_moved[morph] = true);
        let mut order: Vec<usize> = (0..expressions.len()).filter(|&at| !expressions[at].column.is_empty()).collect();
        let size = |at: usize| expressions[at].square();
        order.sort_by(|&one, &other| {
            let presets = [one, other].map(|at| !is_preset(expressions[at].name));
            presets[0].cmp(&presets[1]).then(size(other).total_cmp(&size(one)))
        });
        let morphs = rest.iter().zip(&is_moved).map(|(&rest, is_moved)| if *is_moved { 0.0 } else { rest }).collect();
        Self { source, expressions, rest, is_moved, order, morphs, lost: None }
    }

    /// The expressions, in the order of their joints in the file.
    pub fn expressions(&self) -> &[FaceExpression<'a>] {
        &self.expressions
    }

    /// Finds the weights of the expressions in a pose of all joints and morph weights of the source. Morph weights that
    /// are missing are at rest.
    pub fn look(&mut self, local: &[Transform], morphs: &[f64]) {
        for found in &mut self.expressions {
            if let Some(driver) = found.driver {
                found.weight = local.get(driver).map_or(0.0, |driver| driver.translation.x.clamp(0.0, 1.0));
            }
        }
        let morph = |(at, &rest): (usize, &f64)| morphs.get(at).copied().unwrap_or(rest);
        let morphs: Vec<f64> = self.rest.iter().enumerate().map(morph).collect();
        if morphs != self.morphs {
            self.morphs = morphs;
            self.solve();
        }
        for found in &mut self.expressions {
            // A file has no keys for an expression that is never used.
            found.weight = if found.weight > MIN_USED { found.weight } else { 0.0 };
            found.is_used |= found.weight > 0.0;
        }
    }

    /// Finds the weights that give the morph weights.
    fn solve(&mut self) {
        // What the expressions do not give yet.
        let mut left: Vec<f64> = self.morphs.clone();
        let unmoved = left.iter_mut().zip(&self.rest).zip(&self.is_moved).filter(|(_, is_moved)| !**is_moved);
        unmoved.for_each(|((left, rest), _)| *left -= rest);
        self.order.iter().for_each(|&at| self.expressions[at].weight = 0.0);
        for _ in 0..MAX_ROUNDS {
            let mut largest = 0.0_f64;
            for &at in &self.order {
                let found = &mut self.expressions[at];
                let wanted: f64 = found.column.iter().map(|&(morph, full)| full * left[morph]).sum();
                let before = found.weight;
                found.weight = (before + wanted / found.square()).clamp(0.0, 1.0);
                let change = found.weight - before;
                found.column.iter().for_each(|&(morph, full)| left[morph] -= change * full);
                largest = largest.max(change.abs());
            }
            if largest <= MAX_CHANGE {
                break;
            }
        }
        if self.lost.is_none() {
            self.lost = left.iter().position(|left| left.abs() > MAX_LOSS);
        }
    }

    /// A note on morph weights that the expressions do not give; `None` if they give all.
    pub fn note(&self) -> Option<String> {
        let lost = self.lost?;
        let ranges = self.source.weight_ranges();
        let joint = ranges.iter().position(|range| range.contains(&lost))?;
        let name = self.source.weight_name(joint, lost - ranges[joint].start);
        Some(match self.order.is_empty() {
            true => format!("morph weights, such as {name}, are left out: the model has no expressions that move them"),
            false => format!("no expressions of the model give the morph weights exactly, such as {name}"),
        })
    }
}

impl FaceExpression<'_> {
    /// The sum of the squares of what it moves.
    fn square(&self) -> f64 {
        self.column.iter().map(|(_, full)| full * full).sum()
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::model::{Joint, MorphBind};

    /// A face with two eyelids, a mouth, and a morph weight of 0.3 at rest that no expression moves.
    fn model() -> Skeleton {
        let names = ["left", "right", "smile", "ears"].map(String::from);
        let weights = vec![0.0, 0.0, 0.0, 0.3];
        let face = Joint { name: Some("Face".into()), weights, morph_names: names.into(), ..Joint::default() };
        let expression = |name: &str, binds: &[(usize, f64)]| Expression {
            name: name.into(),
            binds: binds.iter().map(|&(index, weight)| MorphBind { joint: 1, index, weight }).collect(),
            ..Expression::default()
        };
        let expressions = vec![
            expression("eyelidLeft", &[(0, 1.0)]),
            expression("blinkLeft", &[(0, 1.0)]),
            expression("blinkRight", &[(1, 1.0)]),
            expression("blink", &[(0, 1.0), (1, 1.0)]),
            expression("happy", &[(2, 0.25), (2, 0.25)]),
            expression("lookUp", &[(2, 1.0)]),
            expression("neutral", &[]),
        ];
        let skeleton = Skeleton::new(None, vec![Joint::default(), face], Vec::new()).unwrap();
        skeleton.with_expressions(expressions).unwrap()
    }

    /// The weights of the expressions that are not 0, and the note.
    fn weights(morphs: &[f64]) -> (Vec<(String, f64)>, Option<String>) {
        let skeleton = model();
        let mut face = Face::new(&skeleton);
        face.look(&[], morphs);
        let found = face.expressions().iter().filter(|found| found.is_used);
        let found = found.map(|found| (found.name.to_owned(), (found.weight * 1e5).round() / 1e5)).collect();
        (found, face.note())
    }

    #[test]
    fn morph_weights_become_the_expressions_that_every_model_has() {
        for (morphs, expected) in [
            (&[0.0, 0.0, 0.0, 0.3][..], &[][..]),
            (&[], &[]),
            (&[1.0, 1.0, 0.0, 0.3], &[("blink", 1.0)]),
            (&[0.6, 0.0, 0.0, 0.3], &[("blinkLeft", 0.6)]),
            (&[0.2, 0.7, 0.0, 0.3], &[("blinkRight", 0.5), ("blink", 0.2)]),
            // The full weight of `happy` is 0.5 on the mouth.
            (&[0.3, 0.3, 0.25, 0.3], &[("blink", 0.3), ("happy", 0.5)]),
        ] {
            let expected = expected.iter().map(|&(name, weight)| (String::from(name), weight)).collect();
            assert_eq!(weights(morphs), (expected, None), "{morphs:?}");
        }
    }

    #[test]
    fn a_note_names_a_morph_weight_that_no_expression_gives() {
        let (found, note) = weights(&[0.0, 0.0, 0.8, 0.3]);
        assert_eq!(found, [("happy".to_owned(), 1.0)]);
        assert_eq!(note.unwrap(), "no expressions of the model give the morph weights exactly, such as Face.smile");
        assert!(weights(&[0.0, 0.0, 0.0, 0.9]).1.unwrap().ends_with("such as Face.ears"));
        let without = model().with_expressions(Vec::new()).unwrap();
        let mut face = Face::new(&without);
        face.look(&[], &[0.0, 0.5, 0.0, 0.3]);
        let note = "morph weights, such as Face.right, are left out: the model has no expressions that move them";
        assert_eq!(face.note().unwrap(), note);
    }

    #[test]
    fn drivers_have_the_weights_of_an_animation() {
        let driven =
            |name: &str, driver| Expression { name: name.into(), driver: Some(driver), ..Expression::default() };
        let skeleton = Skeleton::new(None, vec![Joint::default(); 2], Vec::new()).unwrap();
        let skeleton = skeleton.with_expressions(vec![driven("aa", 0), driven("dizzy", 1), driven("aa", 1)]).unwrap();
        let mut face = Face::new(&skeleton);
        let at = |x: f64| Transform { translation: DVec3::X * x, ..Transform::IDENTITY };
        face.look(&[at(0.4), at(-1.0)], &[]);
        face.look(&[at(1.7), at(0.0)], &[]);
        let found: Vec<_> = face.expressions().iter().map(|found| (found.name, found.weight, found.is_used)).collect();
        assert_eq!(found, [("aa", 1.0, true), ("dizzy", 0.0, false)]);
    }
}
