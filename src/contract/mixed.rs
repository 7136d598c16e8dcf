//! Bounds of blended layers, from the bounds of the layers.

use std::f64::consts::PI;

use glam::{DQuat, DVec3};

use crate::contract::bounds::{Local, Magnitudes};
use crate::contract::sizes::NARROW;
use crate::contract::slack::Clock;
use crate::model::{AdditiveReference, Layer, LayerMode, Library, Skeleton, Ticks};
use crate::reference::blend::{self, LayerShare};
use crate::reference::drive::Driven;
use crate::reference::instance::Instance;
use crate::reference::layers::Played;
use crate::reference::phase;
use crate::reference::values::{Animated, Values};

/// The relative error of a weight. A ramp is a quotient in `f32`.
pub(super) const WEIGHT: f64 = 4e-7;

/// The bounds of the local transforms, weights and properties of the layers of one instance.
pub fn bounds(instance: &Instance, now: Ticks, magnitudes: &mut Magnitudes) -> Local {
    let (library, skeleton) = (instance.library, instance.skeleton());
    match instance.driven(now).as_slice() {
        [] => Local::at_rest(skeleton),
        // A single plain layer is not blended: the mean of one layer is its value.
        [only] if instance.layers[0].is_plain() => own(library, only, now, magnitudes),
        driven => {
            let bounds: Vec<LayerBounds> =
                driven.iter().map(|driven| LayerBounds::new(library, driven, now, magnitudes)).collect();
            mix(skeleton, &Local::at_rest(skeleton), &bounds)
        }
    }
}

/// The bounds of the values of a layer's clip at a tick.
fn own(library: &Library, driven: &Driven, now: Ticks, magnitudes: &mut Magnitudes) -> Local {
    let layer = &driven.layer;
    let clip = library.clip(layer.clip);
    let time = phase::clip_time(layer.time, now, clip);
    let clock = Clock::of_layer(layer.time, now, clip.duration(), driven.time_error);
    Local::of_clip(library, layer.clip, time, clock, magnitudes)
}

/// A layer with the bounds of its values.
struct LayerBounds<'a> {
    played: Played<'a>,
    /// The size of the numbers that its weight is computed from.
    full_weight: f64,
    /// `true` if its weight follows from parameters.
    is_driven: bool,
    /// The bounds of its clip's values.
    own: Local,
    /// The bounds of the values that an additive layer subtracts.
    reference: Local,
}

impl<'a> LayerBounds<'a> {
    fn new(library: &'a Library, driven: &Driven, now: Ticks, magnitudes: &mut Magnitudes) -> Self {
        let layer = &driven.layer;
        let reference = match layer.mode {
            LayerMode::Additive(AdditiveReference::First) => {
                Local::of_clip(library, layer.clip, 0.0, Clock::STANDING, magnitudes)
            }
            _ => Local::at_rest(library.skeleton(library.clip(layer.clip).skeleton)),
        };
        let own = own(library, driven, now, magnitudes);
        let Driven { full_weight, has_driven_weight: is_driven, .. } = *driven;
        Self { played: Played::new(library, layer, now), full_weight, is_driven, own, reference }
    }
}

/// A layer's share in a value, with its bounds.
pub(super) struct Term<T> {
    pub share: LayerShare<T>,
    /// The bound of the layer's value.
    pub own: f64,
    /// The bound of the value that an additive layer subtracts.
    pub reference: f64,
    /// The error of its weight.
    pub slip: f64,
    /// `true` if the weight follows from parameters: an engine may round a weight of 0 to another number.
    pub is_driven: bool,
}

/// The terms of a value, in the order of the layers.
fn terms<T>(
    layers: &[LayerBounds],
    joint: Option<usize>,
    animated: impl Fn(&Animated) -> bool,
    value: impl Fn(&Values) -> T,
    bound: impl Fn(&Local) -> f64,
) -> Vec<Term<T>> {
    let term = |layer: &LayerBounds| {
        let share = layer.played.share(joint, animated(&layer.played.animated), &value)?;
        let slip = WEIGHT * layer.full_weight * layer.played.mask_at(joint);
        let (own, reference) = (bound(&layer.own), bound(&layer.reference));
        Some(Term { share, own, reference, slip, is_driven: layer.is_driven })
    };
    layers.iter().filter_map(term).collect()
}

/// The bounds of blended layers.
fn mix(skeleton: &Skeleton, at_rest: &Local, layers: &[LayerBounds]) -> Local {
    let mut mixed = at_rest.clone();
    let rest = Values::at_rest(skeleton);
    for joint in 0..skeleton.joints().len() {
        let here = Some(joint);
        let value = |values: &Values| values.local[joint].translation;
        let bound = |local: &Local| local.translation[joint];
        let translations = terms(layers, here, |animated| animated.local[joint].translation, value, bound);
        mixed.translation[joint] = vectors(value(&rest), at_rest.translation[joint], &translations, false);
        let value = |values: &Values| values.local[joint].scale;
        let bound = |local: &Local| local.scale[joint];
        let scales = terms(layers, here, |animated| animated.local[joint].scale, value, bound);
        mixed.scale[joint] = vectors(value(&rest), at_rest.scale[joint], &scales, true);
        let value = |values: &Values| values.local[joint].rotation;
        let bound = |local: &Local| local.rotation[joint];
        let rotations = terms(layers, here, |animated| animated.local[joint].rotation, value, bound);
        mixed.rotation[joint] = rotation(value(&rest), at_rest.rotation[joint], &rotations);
    }
    let single = |number: f64| DVec3::new(number, 0.0, 0.0);
    let mut next = 0;
    for (joint, weights) in rest.weights.iter().enumerate() {
        for (index, &weight) in weights.iter().enumerate() {
            let value = |values: &Values| single(values.weights[joint][index]);
            let animated = |animated: &Animated| animated.weights[joint][index];
            let terms = terms(layers, Some(joint), animated, value, |local| local.weights[next]);
            mixed.weights[next] = vectors(single(weight), at_rest.weights[next], &terms, false);
            next += 1;
        }
    }
    for (index, property) in skeleton.properties().iter().enumerate() {
        let bound = |local: &Local| local.properties[index];
        if property.rotation {
            let value = |values: &Values| DQuat::from_slice(&values.properties[index]);
            let terms = terms(layers, None, |animated| animated.properties[index][0], value, bound);
            mixed.properties[index] = rotation(value(&rest), at_rest.properties[index], &terms);
            continue;
        }
        let number = |number: usize| {
            let value = |values: &Values| single(values.properties[index][number]);
            let terms = terms(layers, None, |animated| animated.properties[index][number], value, bound);
            vectors(value(&rest), at_rest.properties[index], &terms, false)
        };
        mixed.properties[index] = (0..property.rest.len()).map(number).fold(0.0, f64::max);
    }
    mixed
}

/// The bound of blended vectors, as a distance.
pub(super) fn vectors(rest: DVec3, at_rest: f64, terms: &[Term<DVec3>], scale: bool) -> f64 {
    let mut below = rest;
    let mut bound = at_rest;
    let blended = || terms.iter().filter(|term| term.share.mode == LayerMode::Blend);
    let sum: f64 = blended().map(|term| term.share.weight).sum();
    if blended().next().is_some() {
        let whole = sum.max(Layer::MIN_WEIGHT);
        let off = |term: &Term<DVec3>| {
            term.share.weight * term.own + term.slip * (term.share.value.length() + rest.length() + term.own)
        };
        bound = (blended().map(off).sum::<f64>() + (whole - sum) * at_rest) / whole;
        let mixed: DVec3 = blended().map(|term| term.share.weight * term.share.value).sum();
        below = (mixed + (whole - sum) * rest) / whole;
    }
    for Term { share, own, reference, slip, .. } in terms.iter().filter(|term| term.share.mode != LayerMode::Blend) {
        match share.mode {
            LayerMode::Additive(_) if scale => {
                let (mut worst, mut next) = (0.0_f64, below);
                for axis in 0..3 {
                    let (layer, to) = (share.value[axis], share.reference[axis]);
                    let small = to.abs() < 1e-6;
                    let ratio = if small { 1.0 } else { layer / to };
                    let factor = 1.0 + share.weight * (ratio - 1.0);
                    let off = if small { 0.0 } else { (own + ratio.abs() * reference) / to.abs() };
                    let terms = 1.0 + share.weight * (ratio.abs() + 1.0);
                    let own = below[axis].abs() * (share.weight * off + slip * (ratio - 1.0).abs() + NARROW * terms);
                    worst = worst.max(factor.abs() * bound + own);
                    next[axis] = below[axis] * factor;
                }
                (bound, below) = (2.0 * worst, next);
            }
            LayerMode::Additive(_) => {
                let change = share.value - share.reference;
                bound += share.weight * (own + reference) + slip * change.length();
                below += share.weight * change;
            }
            _ => {
                let weight = share.weight.min(1.0);
                let change = share.value - below;
                bound = (1.0 - weight) * bound + weight * own + slip * change.length();
                below += weight * change;
            }
        }
    }
    // A sum may be smaller than its terms. The bounds of the terms are in proportion to the terms.
    bound
}

/// The bound of blended rotations, in radians.
pub(super) fn rotation(rest: DQuat, at_rest: f64, terms: &[Term<DQuat>]) -> f64 {
    let shares: Vec<LayerShare<DQuat>> = terms.iter().map(|term| term.share.clone()).collect();
    let mut steps = blend::rotation_steps(rest, &shares).into_iter();
    let mut bound = at_rest;
    // Weights of 0 that an engine may round to other numbers.
    let is_unseen = |term: &&Term<DQuat>| term.is_driven && term.share.weight == 0.0;
    let unseen: f64 = terms.iter().filter(is_unseen).map(|term| PI * term.slip).sum();
    let sum: f64 = terms.iter().filter(|term| term.share.mode == LayerMode::Blend).map(|term| term.share.weight).sum();
    let unseen = unseen / sum.clamp(Layer::MIN_WEIGHT, 1.0);
    let blended = || terms.iter().filter(|term| term.share.mode == LayerMode::Blend && term.share.weight > 0.0);
    if blended().next().is_some() {
        let Some(step) = steps.next() else { return PI };
        let sum: f64 = blended().map(|term| term.share.weight).sum();
        let whole = sum.max(Layer::MIN_WEIGHT);
        let worst = blended().map(|term| term.own).fold(at_rest, f64::max);
        let off = |term: &Term<DQuat>| term.share.weight * term.own + PI * term.slip;
        bound = (blended().map(off).sum::<f64>() + (whole - sum) * at_rest) / whole;
        bound = (bound + NARROW) / step.length;
        // Rounding may negate a term: then any rotation is within the bound.
        if step.turn < 2.0 * worst {
            return PI;
        }
    }
    let follows = |term: &&Term<DQuat>| term.share.mode != LayerMode::Blend && term.share.weight > 0.0;
    for (Term { share, own, reference, slip, .. }, step) in terms.iter().filter(follows).zip(steps) {
        let (weight, other) = match share.mode {
            LayerMode::Additive(_) => (share.weight, own + reference),
            _ => (share.weight.min(1.0), *own),
        };
        if step.turn < 2.0 * (bound + other) {
            return PI;
        }
        let whole = (1.0 - weight).abs() + weight;
        let added = (weight * other + PI * slip) / whole;
        bound = match share.mode {
            LayerMode::Additive(_) => bound + (added + NARROW) / step.length,
            _ => ((1.0 - weight) * bound + added + NARROW) / step.length,
        };
    }
    (bound + unseen).min(PI)
}
