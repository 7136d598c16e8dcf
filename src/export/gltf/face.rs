//! The face of a VRM animation: the expressions of a human, and their weights in a pose.
//!
//! The skeleton of a VRM animation has the weights: the translation of a joint per expression along x. A VRM model has
//! morph weights `w`, and expressions that move them: `w = A x` with weights `x` of the expressions from 0 to 1. Then
//! `x` is a least-squares solution, by coordinate descent from 0: the expressions that every model has come first, and
//! of these the ones that move most. So closed eyes are a `blink`, and not `blinkLeft` with `blinkRight` or what a
//! model for face capture calls its eyelids, though all give the same face. A binary expression is then on or off, and
//! the others are found once more beside it.
//!
//! An animation must not have expressions of the gaze. They take part where the others leave something: eyes that look
//! up are no smile that moves the same morph target a little.
//!
//! A player weakens expressions that others override: while a model is happy, it blinks less. Morph weights have what
//! is left, and the file the weight before. What an expression takes from others follows from its own weight before, so
//! that weights are divided until none changes: `happy` may weaken `aa`, and `aa` weaken `blink`.

use std::collections::{BTreeMap, HashSet};

use crate::model::{Expression, Skeleton, Transform};
use crate::retarget::morphs::{MIN_ON, is_gaze, overriders, share_left};

/// The expressions of VRM 1.0 that every model can have, without the expressions of the gaze, which an animation must
/// not have.
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

/// The expressions of a skeleton, with their weights in the last pose.
#[derive(Debug, Clone)]
pub(super) struct Face<'a> {
    source: &'a Skeleton,
    /// Expressions that a file can have, then expressions of the gaze.
    expressions: Vec<FaceExpression<'a>>,
    /// The number of expressions that a file can have.
    writable: usize,
    /// The morph weights at rest, and true for each that an expression moves.
    rest: Vec<f64>,
    is_moved: Vec<bool>,
    /// The expressions with morph weights, in the order in which they are found.
    order: Vec<usize>,
    /// For each expression the others that weaken it, with true for others that block it.
    overriders: Vec<Vec<(usize, bool)>>,
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
    /// `true` if it had a weight in any pose.
    pub is_used: bool,
    expression: &'a Expression,
    /// The morph weights that it moves, with their values at a weight of 1.
    column: Vec<(usize, f64)>,
    /// The sum of the squares of these values.
    square: f64,
}

impl<'a> Face<'a> {
    pub fn new(source: &'a Skeleton) -> Self {
        let ranges = source.weight_ranges();
        let column = |expression: &Expression| -> Vec<(usize, f64)> {
            let mut column = BTreeMap::new();
            for bind in expression.binds.iter().filter(|_| expression.driver.is_none()) {
                *column.entry(ranges[bind.joint].start + bind.index).or_insert(0.0) += bind.weight;
            }
            column.into_iter().filter(|(_, weight): &(_, f64)| weight.abs() > MIN_BIND).collect()
        };
        let expression = |expression: &'a Expression| {
            let column = column(expression);
            let square = column.iter().map(|(_, full)| full * full).sum();
            FaceExpression { name: &expression.name, weight: 0.0, is_used: false, expression, column, square }
        };
        // Expressions of an animation come before expressions of a model, which may be in the same file.
        let (driven, others): (Vec<_>, Vec<_>) = source.expressions().iter().partition(|found| found.driver.is_some());
        let mut names = HashSet::new();
        let is_wanted = |found: &FaceExpression<'a>| {
            let has_weight = found.expression.driver.is_some() || !found.column.is_empty();
            has_weight && names.insert(found.name)
        };
        let all = driven.into_iter().chain(others).map(expression);
        let is_writable = |found: &FaceExpression<'a>| !is_gaze(found.name);
        let (mut expressions, gaze): (Vec<_>, Vec<_>) = all.filter(is_wanted).partition(is_writable);
        let writable = expressions.len();
        expressions.extend(gaze);
        let rest: Vec<f64> = source.joints().iter().flat_map(|joint| joint.weights.iter().copied()).collect();
        let mut is_moved = vec![false; rest.len()];
        expressions.iter().flat_map(|found| &found.column).for_each(|&(morph, _)| is_moved[morph] = true);
        let mut order: Vec<usize> = (0..expressions.len()).filter(|&at| !expressions[at].column.is_empty()).collect();
        let rank = |at: usize| (at >= writable, !is_preset(expressions[at].name));
        order.sort_by(|&one, &other| {
            let squares = [one, other].map(|at| expressions[at].square);
            rank(one).cmp(&rank(other)).then(squares[1].total_cmp(&squares[0]))
        });
        let morphs = rest.iter().zip(&is_moved).map(|(&rest, is_moved)| if *is_moved { 0.0 } else { rest }).collect();
        let overriders = overriders(&Vec::from_iter(expressions.iter().map(|found| found.expression)));
        Self { source, expressions, writable, rest, is_moved, order, overriders, morphs, lost: None }
    }

    /// The expressions that a file can have, in the order of their joints in the file.
    pub fn expressions(&self) -> &[FaceExpression<'a>] {
        &self.expressions[..self.writable]
    }

    /// Finds the weights of the expressions in a pose of all joints and morph weights of the source. Morph weights that
    /// are missing are at rest.
    pub fn look(&mut self, local: &[Transform], morphs: &[f64]) {
        for found in &mut self.expressions {
            if let Some(driver) = found.expression.driver {
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
        self.descend(&mut left, |_, is_gaze| !is_gaze);
        let with_gaze = self.writable < self.expressions.len() && first_lost(&left).is_some();
        if with_gaze {
            self.descend(&mut left, |_, _| true);
        }
        let mut is_rounded = false;
        for &at in &self.order {
            let found = &mut self.expressions[at];
            if found.expression.is_binary {
                let weight = if found.weight > MIN_ON { 1.0 } else { 0.0 };
                is_rounded |= found.set(weight, &mut left) > MAX_CHANGE;
            }
        }
        if is_rounded {
            self.descend(&mut left, |expression, is_gaze| !expression.is_binary && (with_gaze || !is_gaze));
        }
        // The file does not have them.
        for gaze in &mut self.expressions[self.writable..] {
            gaze.set(0.0, &mut left);
        }
        self.divide(&mut left);
        if self.lost.is_none() {
            self.lost = first_lost(&left);
        }
    }

    /// Changes the weights of the expressions that are free, one after the other, until `left` is as small as can be.
    /// `is_free` gets an expression, and true for one of the gaze.
    fn descend(&mut self, left: &mut [f64], is_free: impl Fn(&Expression, bool) -> bool) {
        for _ in 0..MAX_ROUNDS {
            let mut largest = 0.0_f64;
            for &at in &self.order {
                let found = &mut self.expressions[at];
                if is_free(found.expression, at >= self.writable) {
                    let wanted: f64 = found.column.iter().map(|&(morph, full)| full * left[morph]).sum();
                    let weight = (found.weight + wanted / found.square).clamp(0.0, 1.0);
                    largest = largest.max(found.set(weight, left));
                }
            }
            if largest <= MAX_CHANGE {
                break;
            }
        }
    }

    /// Divides the weights by what overriders leave of them. A weight of which they leave nothing stays, for models
    /// without them.
    fn divide(&mut self, left: &mut [f64]) {
        let Self { expressions, overriders, order, .. } = self;
        let used = |found: &FaceExpression| if found.weight > MIN_USED { found.weight } else { 0.0 };
        let shown: Vec<f64> = expressions.iter().map(used).collect();
        let overridden = || order.iter().copied().filter(|&at| !overriders[at].is_empty());
        let share = |at: usize, own: &[f64]| share_left(expressions[at].expression, &overriders[at], own);
        let mut own = shown.clone();
        for _ in 0..MAX_ROUNDS {
            let mut largest = 0.0_f64;
            for at in overridden() {
                let share = share(at, &own);
                let before = if share > 0.0 { (shown[at] / share).min(1.0) } else { shown[at] };
                largest = largest.max((before - own[at]).abs());
                own[at] = before;
            }
            if largest <= MAX_CHANGE {
                break;
            }
        }
        let shares: Vec<(usize, f64)> = overridden().map(|at| (at, share(at, &own))).collect();
        for (at, share) in shares {
            let found = &mut expressions[at];
            found.set(share * own[at], left);
            found.weight = own[at];
        }
    }

    /// A note on morph weights that the expressions do not give; `None` if they give all.
    pub fn note(&self) -> Option<String> {
        let lost = self.lost?;
        let ranges = self.source.weight_ranges();
        let joint = ranges.iter().position(|range| range.contains(&lost))?;
        let name = self.source.weight_name(joint, lost - ranges[joint].start);
        Some(match self.expressions().iter().all(|found| found.column.is_empty()) {
            true => format!("morph weights, such as {name}, are left out: the model has no expressions that move them"),
            false => format!("no expressions of the model give the morph weights exactly, such as {name}"),
        })
    }
}

/// The first morph weight of which more is left than is no loss.
fn first_lost(left: &[f64]) -> Option<usize> {
    left.iter().position(|left| left.abs() > MAX_LOSS)
}

impl FaceExpression<'_> {
    /// Changes the weight, and what is left of the morph weights with it. Returns the size of the change.
    fn set(&mut self, weight: f64, left: &mut [f64]) -> f64 {
        let change = weight - self.weight;
        self.weight = weight;
        self.column.iter().for_each(|&(morph, full)| left[morph] -= change * full);
        change.abs()
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::model::{ExpressionOverride, Joint, MorphBind};

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
        weights_of(&model(), morphs)
    }

    fn weights_of(skeleton: &Skeleton, morphs: &[f64]) -> (Vec<(String, f64)>, Option<String>) {
        let mut face = Face::new(skeleton);
        face.look(&[], morphs);
        let found = face.expressions().iter().filter(|found| found.is_used);
        let found = found.map(|found| (found.name.to_owned(), (found.weight * 1e4).round() / 1e4)).collect();
        (found, face.note())
    }

    /// A face of morph weights that are 0 at rest, each named by its index.
    fn face_of(count: usize, expressions: Vec<Expression>) -> Skeleton {
        let joint = Joint { weights: vec![0.0; count], ..Joint::default() };
        Skeleton::new(None, vec![joint], Vec::new()).unwrap().with_expressions(expressions).unwrap()
    }

    fn moving(name: &str, binds: &[(usize, f64)]) -> Expression {
        let binds = binds.iter().map(|&(index, weight)| MorphBind { joint: 0, index, weight }).collect();
        Expression { name: name.into(), binds, ..Expression::default() }
    }

    /// The expressions of the model Godette of <https://github.com/V-Sekai/godot-vrm>, in which many share morph
    /// targets.
    fn godette() -> Skeleton {
        let mut expressions = vec![
            moving("aa", &[(5, 1.0)]),
            moving("ih", &[(6, 1.0)]),
            moving("ou", &[(7, 1.0)]),
            moving("ee", &[(8, 1.0)]),
            moving("oh", &[(9, 1.0)]),
            moving("blink", &[(3, 1.0), (4, 1.0)]),
            moving("happy", &[(9, 0.5), (10, 0.25)]),
            moving("angry", &[(14, 1.0), (5, 0.25), (3, 0.25), (4, 0.25)]),
            moving("sad", &[(11, 0.5), (2, 1.0), (3, 0.1), (4, 0.1)]),
            moving("relaxed", &[(7, 0.5), (10, 0.25)]),
            moving("lookUp", &[(10, 1.0)]),
            moving("lookDown", &[(11, 1.0)]),
        ];
        let binary = [("blinkLeft", 3), ("blinkRight", 4)];
        expressions.extend(binary.map(|(name, index)| Expression { is_binary: true, ..moving(name, &[(index, 1.0)]) }));
        face_of(15, expressions)
    }

    #[test]
    fn expressions_that_share_morph_targets_are_told_apart() {
        let model = godette();
        for (given, expected, lost) in [
            (&[("happy", 1.0)][..], &[("happy", 1.0)][..], None),
            (&[("relaxed", 1.0)], &[("relaxed", 1.0)], None),
            (&[("blink", 1.0)], &[("blink", 1.0)], None),
            (&[("angry", 0.2), ("sad", 0.4), ("aa", 0.5)], &[("aa", 0.5), ("angry", 0.2), ("sad", 0.4)], None),
            // An animation has no gaze, and what shares its morph targets does not stand in for it.
            (&[("lookUp", 1.0)], &[], Some("10")),
            (&[("lookUp", 1.0), ("happy", 0.5)], &[("happy", 0.5)], Some("10")),
            // A player shows a binary expression wholly or not at all.
            (&[("blinkLeft", 1.0)], &[("blinkLeft", 1.0)], None),
            (&[("blinkLeft", 0.6)], &[("blinkLeft", 1.0)], Some("3")),
        ] {
            let mut morphs = vec![0.0; 15];
            for (name, weight) in given {
                let expression = model.expressions().iter().find(|expression| expression.name == *name).unwrap();
                expression.binds.iter().for_each(|bind| morphs[bind.index] += weight * bind.weight);
            }
            let expected = expected.iter().map(|&(name, weight)| (String::from(name), weight)).collect();
            let (found, note) = weights_of(&model, &morphs);
            assert_eq!((&found, note.is_some()), (&expected, lost.is_some()), "{given:?}: {note:?}");
            let is_named = |name: &str| note.as_ref().is_some_and(|note| note.ends_with(&format!(".{name}")));
            assert!(lost.is_none_or(is_named), "{given:?}: {note:?}");
        }
    }

    #[test]
    fn a_file_has_the_weights_before_overriders() {
        // A player shows blinks by the weight times 1 less the weight of `happy`, or not at all beside it.
        for (effect, morphs, blink, is_lost) in [
            (ExpressionOverride::None, [0.5, 0.25], 0.25, false),
            (ExpressionOverride::Blend, [0.5, 0.25], 0.5, false),
            (ExpressionOverride::Blend, [0.5, 0.75], 1.0, true),
            (ExpressionOverride::Block, [0.0, 0.25], 0.25, false),
            (ExpressionOverride::Block, [0.5, 0.25], 0.25, true),
        ] {
            let happy = Expression { override_blink: effect, ..moving("happy", &[(0, 1.0)]) };
            let model = face_of(2, vec![moving("blink", &[(1, 1.0)]), happy]);
            let (found, note) = weights_of(&model, &morphs);
            assert_eq!(found[0], ("blink".into(), blink), "{effect:?} {morphs:?}");
            assert_eq!((found.get(1).map_or(0.0, |happy| happy.1), note.is_some()), (morphs[0], is_lost), "{effect:?}");
        }
    }

    #[test]
    fn weights_are_divided_by_those_before_overriders() {
        // `happy` weakens `aa` by a half, from 0.5 to 0.25, and that weakens `blink` by its 0.5. `blink` moves more
        // than the others, so that it is found first.
        let happy = Expression { override_mouth: ExpressionOverride::Blend, ..moving("happy", &[(0, 1.0)]) };
        let aa = Expression { override_blink: ExpressionOverride::Blend, ..moving("aa", &[(1, 1.0)]) };
        let blink = moving("blink", &[(2, 1.0), (3, 1.0)]);
        let model = face_of(4, vec![blink.clone(), aa.clone(), happy]);
        let (found, note) = weights_of(&model, &[0.5, 0.25, 0.25, 0.25]);
        assert_eq!((found, note), (["blink", "aa", "happy"].map(|name| (name.into(), 0.5)).to_vec(), None));
        // Expressions that weaken each other: x (1 - y) and y (1 - x) are 0.16 for 0.2, and 0.5 for no weights.
        let blink = Expression { override_mouth: ExpressionOverride::Blend, ..blink };
        let model = face_of(4, vec![blink, aa]);
        let (found, note) = weights_of(&model, &[0.0, 0.16, 0.16, 0.16]);
        assert_eq!((found, note), (["blink", "aa"].map(|name| (name.into(), 0.2)).to_vec(), None));
        assert!(weights_of(&model, &[0.0, 0.5, 0.5, 0.5]).1.is_some());
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
