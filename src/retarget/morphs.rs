//! Morph weights of the target: from the weights of the source, or from its expressions; and weights of mirror images.
//!
//! Weights go from a joint to its partner, or to the joint of its name, by the names of morph targets where both joints
//! have them, else in their order. A joint of the target for which that gives nothing takes them from the joint of the
//! source with the most names in common: meshes of two files seldom have one name.
//!
//! In a VRM animation, the local translation of a node along x is the weight of an expression, clamped to 0 and 1. A
//! model names the morph weights that an expression of the same name moves, each with a factor. Weights of several
//! expressions add up, from 0. A binary expression is on above 0.5, else off. Some expressions block expressions of lip
//! sync, blinking or gaze, or weaken them. Sources:
//! <https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm_animation-1.0/README.md> and
//! <https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm-1.0/expressions.md>.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use crate::error::Error;
use crate::model::{
    Clip, ClipId, Curve, CurveEasing, Expression, ExpressionOverride, Extrapolation, Interpolation, Joint, MorphMap,
    Skeleton, Target, Track,
};
use crate::retarget::moving_joints::{MovingJoints, TransformPart};
use crate::retarget::plan::RetargetPlan;
use crate::retarget::report::TrackMethod;
use crate::retarget::resample::{KeyBudget, MotionKnots, SampledMotion, resample};
use crate::retarget::sides::SidedName;
use crate::retarget::warnings::RetargetWarning;

/// The weight of a binary expression above which it is on.
pub(crate) const MIN_ON: f64 = 0.5;
/// The weight above which an expression blocks others, or weakens a binary one. The specification has 0, above which a
/// weight that rises from 0 comes at no time that a key could have.
const MIN_BLOCKING: f64 = 1e-6;
/// The largest error of sampled weights.
const BOUND: f64 = 1e-4;

/// A track of the target, and how it was made.
type MadeTrack = (Track, TrackMethod);

/// A joint of the target with the joint of the source whose morph weights it takes over.
struct MorphPair {
    source: usize,
    target: usize,
    map: MorphMap,
}

/// The morph targets that clips move on both sides.
pub(super) struct MorphPlan {
    pairs: Vec<MorphPair>,
    /// The joints of the source that drive expressions.
    drivers: HashSet<usize>,
    /// The morph targets and expressions without a partner.
    pub warnings: Vec<RetargetWarning>,
}

impl MorphPlan {
    /// The plan for clips of the source.
    pub fn new(plan: &RetargetPlan, clips: &[ClipId]) -> Self {
        let tracks = clips.iter().flat_map(|&clip| &plan.library.clip(clip).tracks);
        let (mut moved, mut translated) = (BTreeSet::new(), HashSet::new());
        for track in tracks {
            match track.target {
                Target::Weights(joint) => {
                    moved.insert(joint);
                }
                Target::Translation(joint) => {
                    translated.insert(joint);
                }
                _ => {}
            }
        }
        let (pairs, misfits) = pairs(plan, &moved);
        let mut warnings = Vec::new();
        // A target without a face says so by the tracks that are dropped.
        if plan.target.weight_count() > 0 {
            let mut of_source: HashMap<usize, Vec<&MorphPair>> = HashMap::new();
            pairs.iter().for_each(|pair| of_source.entry(pair.source).or_default().push(pair));
            let of_joint = |joint: usize| of_source.get(&joint).map_or(&[][..], Vec::as_slice);
            warnings.extend(moved.iter().filter_map(|&joint| warning(plan, of_joint(joint), joint, &misfits)));
            let partners = Partners::new(plan.source, |joint| translated.contains(&joint));
            let names = partners.left_out(plan.target);
            if !names.is_empty() {
                warnings.push(RetargetWarning::Expressions { names });
            }
        }
        let drivers = plan.source.expressions().iter().filter_map(|expression| expression.driver).collect();
        Self { pairs, drivers, warnings }
    }

    /// Returns `true` if a track of the source has the weight of an expression.
    pub fn is_expression(&self, target: Target) -> bool {
        matches!(target, Target::Translation(joint) if self.drivers.contains(&joint))
    }

    /// The tracks of the target for the morph weights of a clip. Marks the tracks of the clip on which they depend.
    pub fn weight_tracks(
        &self,
        plan: &RetargetPlan,
        clip: &Clip,
        used: &mut [bool],
        budget: &mut KeyBudget,
    ) -> Result<Vec<MadeTrack>, Error> {
        let mut of_joint: HashMap<usize, Vec<(usize, &Track)>> = HashMap::new();
        for (index, track) in clip.tracks.iter().enumerate() {
            if let Target::Weights(joint) = track.target {
                of_joint.entry(joint).or_default().push((index, track));
            }
        }
        let mut made = Vec::new();
        for pair in &self.pairs {
            for &(index, track) in of_joint.get(&pair.source).into_iter().flatten() {
                let rest = &plan.target.joints()[pair.target].weights;
                // Many joints may take over the weights of one.
                budget.charge_curve(track.curve.timeline().len(), pair.map.copied(track))?;
                let tracks = pair.map.tracks(track, pair.target, rest)?;
                used[index] |= !tracks.is_empty();
                made.extend(tracks.into_iter().map(|track| (track, TrackMethod::Exact)));
            }
        }
        Ok(made)
    }
}

/// The joints of the target that take over weights of joints of the source, which clips move; and, for joints of the
/// source, a joint of the target that cannot, because it has another number of weights without names.
fn pairs(plan: &RetargetPlan, moved: &BTreeSet<usize>) -> (Vec<MorphPair>, HashMap<usize, usize>) {
    let joints = plan.source.joints();
    // Nodes that only show a mesh are no joints of the map.
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for &joint in moved {
        if let Some(name) = joints[joint].name.as_deref() {
            by_name.entry(name).or_insert(joint);
        }
    }
    // Joints that show the same mesh have the same names; the first of them stands for all.
    let mut joints_of_names: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut meshes = HashSet::new();
    for &joint in moved {
        if meshes.insert(joints[joint].morph_names.as_ptr()) {
            let names: HashSet<&str> =
                (0..joints[joint].weights.len()).filter_map(|index| joints[joint].morph_name(index)).collect();
            names.into_iter().for_each(|name| joints_of_names.entry(name).or_default().push(joint));
        }
    }
    let (mut nearest, mut misfits) = (HashMap::new(), HashMap::new());
    let mut pairs = Vec::new();
    for (target, joint) in plan.target.joints().iter().enumerate().filter(|(_, joint)| !joint.weights.is_empty()) {
        let partner = plan.source_of[target].filter(|&source| !joints[source].weights.is_empty());
        let partner = partner.or_else(|| by_name.get(joint.name.as_deref()?).copied());
        let pair = |source: usize| Some(MorphPair { source, target, map: MorphMap::new(&joints[source], joint)? });
        let by_partner = partner.and_then(pair);
        if let (Some(source), None) = (partner, &by_partner) {
            misfits.entry(source).or_insert(target);
        }
        let has_common = |pair: &MorphPair| pair.map.len() > 0;
        pairs.extend(by_partner.filter(has_common).or_else(|| {
            let key = joint.morph_names.as_ptr();
            let source = *nearest.entry(key).or_insert_with(|| most_in_common(joint, &joints_of_names));
            source.and_then(pair).filter(has_common)
        }));
    }
    (pairs, misfits)
}

/// The joint of the source that shares most names of morph targets with a joint, the first of several.
fn most_in_common(joint: &Joint, joints_of_names: &HashMap<&str, Vec<usize>>) -> Option<usize> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for name in (0..joint.weights.len()).filter_map(|index| joint.morph_name(index)) {
        joints_of_names.get(name).into_iter().flatten().for_each(|&source| *counts.entry(source).or_default() += 1);
    }
    counts.into_iter().max_by_key(|&(source, count)| (count, Reverse(source))).map(|(source, _)| source)
}

/// The warning about the morph targets of a joint of the source with its pairs; `None` if all have a partner. Others of
/// the target alone are no loss, but may tell of another spelling.
fn warning(
    plan: &RetargetPlan,
    pairs: &[&MorphPair],
    joint: usize,
    misfits: &HashMap<usize, usize>,
) -> Option<RetargetWarning> {
    let [source, target] = [plan.source, plan.target].map(Skeleton::joints);
    let Some(first) = pairs.first() else {
        return Some(match misfits.get(&joint) {
            Some(&partner) => {
                let counts = [source[joint].weights.len(), target[partner].weights.len()];
                RetargetWarning::MorphCounts { joint, partner, counts }
            }
            None => RetargetWarning::Morphs { joint },
        });
    };
    // A morph target is left out if no joint of the target has it.
    let mut left_out: BTreeSet<usize> = first.map.left_out().into_iter().collect();
    let mut at_rest = BTreeSet::new();
    for pair in pairs {
        let without: BTreeSet<usize> = pair.map.left_out().into_iter().collect();
        left_out.retain(|index| without.contains(index));
        at_rest.extend(pair.map.at_rest().into_iter().map(|index| target[pair.target].morph_label(index)));
    }
    let left_out: Vec<String> = left_out.into_iter().map(|index| source[joint].morph_label(index)).collect();
    let is_whole = left_out.is_empty();
    let morphs = [left_out, at_rest.into_iter().collect()];
    (!is_whole).then_some(RetargetWarning::MorphNames { joint, morphs })
}

/// The morph targets of a joint in the mirror image of a clip, for a joint and its partner, which have one number of
/// weights. Names exchange left and right; a morph target without a counterpart stays as it is. Of several names that
/// differ in their signs alone, as `blink_L` and `blink.L` do, the first belongs to the first, and so on. If not all
/// have a partner then, the order counts.
pub(super) fn mirrored_morphs(joint: &Joint, partner: &Joint) -> MorphMap {
    let count = joint.weights.len();
    let side = |joint: &Joint, index: usize| joint.morph_name(index).and_then(SidedName::new);
    let mut by_side: HashMap<(bool, String), VecDeque<usize>> = HashMap::new();
    for index in 0..count {
        if let Some(SidedName { is_left, rest }) = side(joint, index) {
            by_side.entry((is_left, rest)).or_default().push_back(index);
        }
    }
    let counterpart = |index: usize| {
        let SidedName { is_left, rest } = side(partner, index)?;
        by_side.get_mut(&(!is_left, rest))?.pop_front()
    };
    let mut sources: Vec<Option<usize>> = (0..count).map(counterpart).collect();
    let taken: HashSet<usize> = sources.iter().flatten().copied().collect();
    // Morph targets without a name follow each other, too.
    let mut by_name: HashMap<Option<&str>, VecDeque<usize>> = HashMap::new();
    for index in (0..count).filter(|index| !taken.contains(index)) {
        by_name.entry(joint.morph_name(index)).or_default().push_back(index);
    }
    for (index, source) in sources.iter_mut().enumerate().filter(|(_, source)| source.is_none()) {
        *source = by_name.get_mut(&partner.morph_name(index)).and_then(VecDeque::pop_front);
    }
    if sources.contains(&None) {
        sources = (0..count).map(Some).collect();
    }
    MorphMap::of(sources, count)
}

/// The joints that drive expressions, each with the joint that takes over its weight in the mirror image of a clip:
/// names of expressions exchange left and right. A weight is no place, so that it is not reflected.
pub(super) fn mirrored_drivers(skeleton: &Skeleton) -> HashMap<usize, usize> {
    let driven =
        || skeleton.expressions().iter().filter_map(|found| Some((SidedName::new(&found.name), found.driver?)));
    let sided = driven().filter_map(|(side, driver)| Some((side?, driver)));
    let by_side: HashMap<(bool, String), usize> =
        sided.map(|(side, driver)| ((side.is_left, side.rest), driver)).collect();
    let mut partners = HashMap::new();
    for (side, driver) in driven() {
        let partner = side.and_then(|side| by_side.get(&(!side.is_left, side.rest)).copied());
        let partner = partner.filter(|&partner| skeleton.joints()[partner].matrix.is_none());
        partners.entry(driver).or_insert(partner.unwrap_or(driver));
    }
    // A joint may drive several expressions.
    let is_mutual = |driver: usize, partner: usize| partners.get(&partner) == Some(&driver);
    let partner = |(&driver, &partner)| (driver, if is_mutual(driver, partner) { partner } else { driver });
    partners.iter().map(partner).collect()
}

/// The expressions of the source with the joints that drive them, by name. Names in VRM 0.x have no case.
struct Partners<'a> {
    by_name: HashMap<&'a str, usize>,
    by_folded_name: HashMap<String, usize>,
}

impl<'a> Partners<'a> {
    /// Those whose drivers move.
    fn new(source: &'a Skeleton, moves: impl Fn(usize) -> bool) -> Self {
        let (mut by_name, mut by_folded_name) = (HashMap::new(), HashMap::new());
        for expression in source.expressions() {
            if let Some(driver) = expression.driver.filter(|&driver| moves(driver)) {
                by_name.entry(expression.name.as_str()).or_insert(driver);
                by_folded_name.entry(expression.name.to_lowercase()).or_insert(driver);
            }
        }
        Self { by_name, by_folded_name }
    }

    /// The joint that drives the expression of a name.
    fn driver(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).or_else(|| self.by_folded_name.get(&name.to_lowercase())).copied()
    }

    /// The names of expressions that have no effect on a skeleton.
    fn left_out(&self, target: &Skeleton) -> Vec<String> {
        let has_effect = |expression: &&Expression| expression.driver.is_some() || !expression.binds.is_empty();
        let taken = target.expressions().iter().filter(has_effect).filter_map(|found| self.driver(&found.name));
        let taken: HashSet<usize> = taken.collect();
        let mut names: Vec<&str> =
            self.by_name.iter().filter(|(_, driver)| !taken.contains(driver)).map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.into_iter().map(str::to_owned).collect()
    }
}

/// An expression of the target that one of the source drives.
struct DrivenExpression<'a> {
    expression: &'a Expression,
    /// The joint of the source whose translation along x is its weight.
    driver: usize,
    /// The expressions that weaken it, with true for expressions that block it.
    overriders: Vec<(usize, bool)>,
}

/// The expressions of the target that the expressions of the source drive.
struct DrivenExpressions<'a> {
    source: &'a MovingJoints<'a>,
    expressions: Vec<DrivenExpression<'a>>,
}

/// A morph weight that an expression moves.
struct MovedWeight {
    /// The index of the expression.
    expression: usize,
    /// The index of the morph weight, and its value at a weight of 1.
    index: usize,
    weight: f64,
}

/// The tracks of the target for the expressions of a clip, without the joints whose tracks `is_made` knows. Marks the
/// tracks of the clip on which they depend.
pub(super) fn expression_tracks(
    plan: &RetargetPlan,
    clip: &Clip,
    source: &MovingJoints,
    is_made: impl Fn(Target) -> bool,
    used: &mut [bool],
    budget: &mut KeyBudget,
) -> Result<Vec<MadeTrack>, Error> {
    let driven = DrivenExpressions::new(plan, source);
    let (mut made, mut by_joint) = (Vec::new(), BTreeMap::<usize, Vec<MovedWeight>>::new());
    let (joints, mut drivers) = (plan.target.joints(), HashSet::new());
    for (position, DrivenExpression { expression, driver, .. }) in driven.expressions.iter().enumerate() {
        let tracks = source.tracks(*driver, TransformPart::Translation);
        // The target is an animation, too.
        let of_target = expression.driver.filter(|&joint| joints[joint].matrix.is_none() && drivers.insert(joint));
        if let Some(target) = of_target.map(Target::Translation).filter(|&target| !is_made(target)) {
            tracks.iter().for_each(|&(index, _)| used[index] = true);
            let copies = tracks.iter().map(|&(_, track)| Track { target, ..track.clone() });
            made.extend(copies.map(|track| (track, TrackMethod::Exact)));
        }
        for bind in expression.binds.iter().filter(|bind| !is_made(Target::Weights(bind.joint))) {
            tracks.iter().for_each(|&(index, _)| used[index] = true);
            let moved = MovedWeight { expression: position, index: bind.index, weight: bind.weight };
            by_joint.entry(bind.joint).or_default().push(moved);
        }
    }
    for (joint, moved) in by_joint {
        let rest = &joints[joint].weights;
        let (curve, method) = driven.curve(rest, &moved, clip.length, budget)?;
        made.push((Track::new(Target::Weights(joint), curve), method));
    }
    Ok(made)
}

impl<'a> DrivenExpressions<'a> {
    fn new(plan: &RetargetPlan<'a>, source: &'a MovingJoints<'a>) -> Self {
        let partners = Partners::new(plan.source, |joint| source.has_translation(joint));
        let target = plan.target.expressions().iter();
        let found = target.filter_map(|expression| Some((expression, partners.driver(&expression.name)?)));
        let (found, drivers): (Vec<&Expression>, Vec<usize>) = found.unzip();
        let driven = found.iter().zip(drivers).zip(overriders(&found));
        let driven =
            driven.map(|((&expression, driver), overriders)| DrivenExpression { expression, driver, overriders });
        Self { source, expressions: driven.collect() }
    }

    /// The weight of an expression by itself at a time.
    fn own_weight(&self, index: usize, time: f64) -> f64 {
        let DrivenExpression { expression, driver, .. } = &self.expressions[index];
        let weight = self.source.translation(*driver, time).x.clamp(0.0, 1.0);
        if expression.is_binary { f64::from(u8::from(weight > MIN_ON)) } else { weight }
    }

    /// The weights of expressions at a time: of `driving` ones beside the expressions that weaken them, of other
    /// `needed` ones by themselves, else 0.
    fn weights(&self, needed: &BTreeSet<usize>, driving: &BTreeSet<usize>, time: f64) -> Vec<f64> {
        let mut own = vec![0.0; self.expressions.len()];
        needed.iter().for_each(|&index| own[index] = self.own_weight(index, time));
        let mut weights = own.clone();
        driving.iter().for_each(|&index| weights[index] = self.weakened_weight(index, &own));
        weights
    }

    /// The weight of an expression beside expressions that weaken it. `own` has the weights by themselves.
    fn weakened_weight(&self, index: usize, own: &[f64]) -> f64 {
        let DrivenExpression { expression, overriders, .. } = &self.expressions[index];
        share_left(expression, overriders, own) * own[index]
    }

    /// The curve of the weights of a joint.
    fn curve(
        &self,
        rest: &[f64],
        moved: &[MovedWeight],
        length: Option<f64>,
        budget: &mut KeyBudget,
    ) -> Result<(Curve, TrackMethod), Error> {
        let mut base = rest.to_vec();
        moved.iter().for_each(|moved| base[moved.index] = 0.0);
        let moving = |weight_of: &dyn Fn(usize) -> f64| {
            let mut weights = base.clone();
            moved.iter().for_each(|moved| weights[moved.index] += moved.weight * weight_of(moved.expression));
            weights
        };
        if let Some(curve) = self.linear_curve(moved) {
            budget.charge_curve(curve.timeline().len(), rest.len())?;
            let keys = curve.values().chunks_exact(3).flat_map(|numbers| moving(&|_| numbers[0]));
            let curve = curve.with_values(curve.interpolation(), rest.len(), keys.collect())?;
            return Ok((curve, TrackMethod::Exact));
        }
        let driving: BTreeSet<usize> = moved.iter().map(|moved| moved.expression).collect();
        let overriders = driving.iter().flat_map(|&index| &self.expressions[index].overriders);
        let needed = driving.iter().copied().chain(overriders.map(|&(overrider, _)| overrider)).collect();
        let mut knots = self.knots(&needed, &driving, length);
        // Many expressions may move one weight, so that the time to sample it may be out of proportion to the clip.
        budget.charge_curve(knots.count(), needed.len())?;
        let motion = SampledMotion {
            value: &|time| {
                let weights = self.weights(&needed, &driving, time);
                moving(&|expression| weights[expression])
            },
            error: &|_, found: Vec<f64>, wanted: Vec<f64>| {
                found.iter().zip(&wanted).map(|(found, wanted)| (found - wanted).abs()).fold(0.0, f64::max)
            },
            bound: BOUND,
        };
        let resampled = resample(knots, &motion, budget)?;
        let method = TrackMethod::Resampled { keys: resampled.curve.timeline().len(), error: resampled.error };
        Ok((resampled.curve, method))
    }

    /// The curve of the translation of the only driver, if weights are multiples of its x: a curve without tangents,
    /// from 0 to 1.
    fn linear_curve(&self, moved: &[MovedWeight]) -> Option<&'a Curve> {
        let first = &self.expressions[moved.first()?.expression];
        let is_alone = |moved: &MovedWeight| {
            let DrivenExpression { expression, driver, overriders } = &self.expressions[moved.expression];
            *driver == first.driver && !expression.is_binary && overriders.is_empty()
        };
        let [(_, track)] = self.source.tracks(first.driver, TransformPart::Translation) else { return None };
        let curve = &track.curve;
        let is_linear = matches!(curve.interpolation(), Interpolation::Step | Interpolation::Linear)
            && matches!(curve.easing(), CurveEasing::None)
            && curve.extrapolation() == [Extrapolation::Clamp; 2];
        let is_within = || curve.values().chunks_exact(3).all(|numbers| (0.0..=1.0).contains(&numbers[0]));
        (moved.iter().all(is_alone) && track.component.is_none() && is_linear && is_within()).then_some(curve)
    }

    /// The times at which the weights of `driving` expressions may have a kink or a jump. `needed` has the expressions
    /// that weaken them, too.
    fn knots(&self, needed: &BTreeSet<usize>, driving: &BTreeSet<usize>, length: Option<f64>) -> MotionKnots {
        let mut blocking = BTreeSet::new();
        for &index in driving {
            let DrivenExpression { expression, overriders, .. } = &self.expressions[index];
            let jumps = overriders.iter().filter(|(_, blocks)| *blocks || expression.is_binary);
            blocking.extend(jumps.map(|&(overrider, _)| overrider));
        }
        let mut knots = MotionKnots::default();
        for &index in needed {
            let DrivenExpression { expression, driver, .. } = &self.expressions[index];
            let mut own = MotionKnots::default();
            for (_, track) in self.source.tracks(*driver, TransformPart::Translation) {
                own.add(&track.curve, length);
            }
            if expression.is_binary {
                own.add_changes(&|time| self.own_weight(index, time) > MIN_ON);
            } else if blocking.contains(&index) {
                own.add_changes(&|time| self.own_weight(index, time) > MIN_BLOCKING);
            }
            knots.append(own);
        }
        knots
    }
}

/// For each of these expressions the others that weaken it, by their positions, with true for others that block it.
pub(crate) fn overriders(expressions: &[&Expression]) -> Vec<Vec<(usize, bool)>> {
    let mut found = vec![Vec::new(); expressions.len()];
    for group in [OverrideGroup::Mouth, OverrideGroup::Blink, OverrideGroup::Look] {
        let of_group = |expression: &Expression| OverrideGroup::of(&expression.name) == Some(group);
        let others = expressions.iter().enumerate().filter(|(_, expression)| !of_group(expression));
        let of_others = others.filter_map(|(index, expression)| match group.effect_of(expression) {
            ExpressionOverride::None => None,
            effect => Some((index, effect == ExpressionOverride::Block)),
        });
        let of_others: Vec<(usize, bool)> = of_others.collect();
        for (found, _) in found.iter_mut().zip(expressions).filter(|(_, expression)| of_group(expression)) {
            found.clone_from(&of_others);
        }
    }
    found
}

/// The share of the weight of an expression that its overriders leave. `own` has the weights of all by themselves.
pub(crate) fn share_left(expression: &Expression, overriders: &[(usize, bool)], own: &[f64]) -> f64 {
    let effects = overriders.iter().map(|&(index, blocks)| match own[index] {
        weight if blocks => f64::from(u8::from(weight > MIN_BLOCKING)),
        weight => weight,
    });
    let left = 1.0 - effects.sum::<f64>().min(1.0);
    // A binary expression is never half on.
    if expression.is_binary && left < 1.0 - MIN_BLOCKING { 0.0 } else { left }
}

/// True for the expressions of the gaze.
pub(crate) fn is_gaze(name: &str) -> bool {
    OverrideGroup::of(name) == Some(OverrideGroup::Look)
}

/// The expressions that others can weaken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OverrideGroup {
    Mouth,
    Blink,
    Look,
}

impl OverrideGroup {
    /// The group of an expression.
    fn of(name: &str) -> Option<Self> {
        match name {
            "aa" | "ih" | "ou" | "ee" | "oh" => Some(Self::Mouth),
            "blink" | "blinkLeft" | "blinkRight" => Some(Self::Blink),
            "lookUp" | "lookDown" | "lookLeft" | "lookRight" => Some(Self::Look),
            _ => None,
        }
    }

    /// The effect of an expression on this group.
    fn effect_of(self, expression: &Expression) -> ExpressionOverride {
        match self {
            Self::Mouth => expression.override_mouth,
            Self::Blink => expression.override_blink,
            Self::Look => expression.override_look_at,
        }
    }
}
