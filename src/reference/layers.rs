//! Between stages 3 and 5: the layers of an instance become one set of values.

use glam::{DQuat, DVec3};

use crate::model::{AdditiveReference, Layer, LayerMode, Library, Mask, Skeleton, Ticks};
use crate::reference::blend::{self, Share};
use crate::reference::phase;
use crate::reference::values::{Animated, Values};

/// A layer at a tick: what it gives, and with what weight.
#[derive(Debug, Clone)]
pub struct Played<'a> {
    /// Layer weight x ramp.
    pub weight: f64,
    /// The layer's weight without ramp.
    pub full_weight: f64,
    mode: LayerMode,
    mask: Option<&'a Mask>,
    /// What its clip gives.
    pub values: Values,
    /// What an additive layer is compared to.
    pub reference: Values,
    /// What its clip animates.
    pub animated: Animated,
}

impl<'a> Played<'a> {
    /// A layer of an instance of a crowd that was checked.
    pub fn new(library: &'a Library, layer: &Layer, now: Ticks) -> Self {
        let clip = library.clip(layer.clip);
        let skeleton = library.skeleton(clip.skeleton);
        let at = |time| Values::of_clip(library, clip, time);
        Self {
            weight: layer.weight * layer.ramp(now),
            full_weight: layer.weight,
            mode: layer.mode,
            mask: layer.mask.map(|mask| &library.masks()[mask.index()]),
            values: at(phase::clip_time(layer.time, now, clip)),
            reference: match layer.mode {
                LayerMode::Additive(AdditiveReference::First) => at(0.0),
                _ => Values::at_rest(skeleton),
            },
            animated: Animated::by_clip(skeleton, clip),
        }
    }

    /// What its mask says of a joint, or of none.
    pub fn mask_at(&self, joint: Option<usize>) -> f64 {
        self.mask.zip(joint).map_or(1.0, |(mask, joint)| mask.weights[joint])
    }

    /// Its weight at a joint, or at what belongs to none.
    pub fn weight_at(&self, joint: Option<usize>) -> f64 {
        self.weight * self.mask_at(joint)
    }

    /// Its share in one thing: of a joint, which a mask may weigh, or of none.
    pub fn share<T>(&self, joint: Option<usize>, animated: bool, value: impl Fn(&Values) -> T) -> Option<Share<T>> {
        animated.then(|| Share {
            weight: self.weight_at(joint),
            mode: self.mode,
            value: value(&self.values),
            reference: value(&self.reference),
        })
    }
}

/// The shares of layers in one thing, in order.
pub fn shares<T>(
    layers: &[Played],
    joint: Option<usize>,
    animated: impl Fn(&Animated) -> bool,
    value: impl Fn(&Values) -> T,
) -> Vec<Share<T>> {
    layers.iter().filter_map(|layer| layer.share(joint, animated(&layer.animated), &value)).collect()
}

/// What the layers of an instance give together at a tick.
pub fn values(library: &Library, skeleton: &Skeleton, layers: &[Layer], now: Ticks) -> Values {
    if let [only] = layers
        && only.is_plain()
    {
        // The mean of one is itself; what it does not animate is at rest.
        let clip = library.clip(only.clip);
        return Values::of_clip(library, clip, phase::clip_time(only.time, now, clip));
    }
    let played: Vec<Played> = layers.iter().map(|layer| Played::new(library, layer, now)).collect();
    mix(skeleton, &played)
}

/// What played layers give together.
fn mix(skeleton: &Skeleton, layers: &[Played]) -> Values {
    let rest = Values::at_rest(skeleton);
    let mut mixed = rest.clone();
    for (joint, local) in mixed.local.iter_mut().enumerate() {
        let vector = |rest: DVec3, part: usize, of: fn(&Values, usize) -> DVec3| {
            let value = |values: &Values| of(values, joint).to_array().to_vec();
            let shares = shares(layers, Some(joint), |animated| animated.local[joint][part], value);
            DVec3::from_slice(&blend::numbers(&rest.to_array(), &shares, part == 2))
        };
        let turned = shares(layers, Some(joint), |animated| animated.local[joint][1], |of| of.local[joint].rotation);
        local.translation = vector(local.translation, 0, |values, joint| values.local[joint].translation);
        local.rotation = blend::rotation(local.rotation, &turned);
        local.scale = vector(local.scale, 2, |values, joint| values.local[joint].scale);
    }
    for (joint, weights) in mixed.weights.iter_mut().enumerate() {
        for (index, weight) in weights.iter_mut().enumerate() {
            let value = |values: &Values| vec![values.weights[joint][index]];
            let shares = shares(layers, Some(joint), |animated| animated.weights[joint][index], value);
            *weight = blend::numbers(&[*weight], &shares, false)[0];
        }
    }
    for (index, property) in mixed.properties.iter_mut().enumerate() {
        if skeleton.properties()[index].rotation {
            let animated = |animated: &Animated| animated.properties[index][0];
            let turned = shares(layers, None, animated, |values| DQuat::from_slice(&values.properties[index]));
            *property = blend::rotation(DQuat::from_slice(property), &turned).to_array().to_vec();
            continue;
        }
        for (number, value) in property.iter_mut().enumerate() {
            let of = |values: &Values| vec![values.properties[index][number]];
            let shares = shares(layers, None, |animated| animated.properties[index][number], of);
            *value = blend::numbers(&[*value], &shares, false)[0];
        }
    }
    mixed
}
