//! Stage 6, for an instance: from the values of its layers to one set of values.

use glam::{DQuat, DVec3};

use crate::model::{AdditiveReference, Layer, LayerMode, Library, Mask, Skeleton, Ticks, Transform};
use crate::reference::blend::{self, LayerShare};
use crate::reference::phase;
use crate::reference::values::{Animated, AnimatedParts, Values};

/// A layer at a tick, with its values and its weight.
#[derive(Debug, Clone)]
pub struct Played<'a> {
    /// The layer's weight times its ramp.
    pub weight: f64,
    mode: LayerMode,
    mask: Option<&'a Mask>,
    /// The values of its clip.
    pub values: Values,
    /// The values that an additive layer subtracts.
    pub reference: Values,
    /// The targets of its clip.
    pub animated: Animated,
}

impl<'a> Played<'a> {
    /// A layer of an instance without a driver, at a tick. The crowd must have been checked.
    pub fn new(library: &'a Library, layer: &Layer, now: Ticks) -> Self {
        let clip = library.clip(layer.clip);
        let skeleton = library.skeleton(clip.skeleton);
        let values_at = |time| Values::of_clip(library, clip, time);
        Self {
            weight: layer.weight * layer.ramp(now),
            mode: layer.mode,
            mask: layer.mask.map(|mask| &library.masks()[mask.index()]),
            values: values_at(phase::clip_time(layer.time, now, clip)),
            reference: match layer.mode {
                LayerMode::Additive(AdditiveReference::First) => values_at(0.0),
                _ => Values::at_rest(skeleton),
            },
            animated: Animated::by_clip(skeleton, clip),
        }
    }

    /// The weight of its mask at a joint. It is 1 without a mask, and for values that belong to no joint.
    pub fn mask_at(&self, joint: Option<usize>) -> f64 {
        self.mask.zip(joint).map_or(1.0, |(mask, joint)| mask.weights[joint])
    }

    /// Its weight at a joint, or for values that belong to no joint.
    pub fn weight_at(&self, joint: Option<usize>) -> f64 {
        self.weight * self.mask_at(joint)
    }

    /// Its share in a value of a joint, or in one that belongs to no joint. `None` if its clip does not animate the
    /// value.
    pub fn share<T>(
        &self,
        joint: Option<usize>,
        animated: bool,
        value: impl Fn(&Values) -> T,
    ) -> Option<LayerShare<T>> {
        animated.then(|| LayerShare {
            weight: self.weight_at(joint),
            mode: self.mode,
            value: value(&self.values),
            reference: value(&self.reference),
        })
    }
}

/// The shares of layers in a value, in the order of the layers.
pub fn shares<T>(
    layers: &[Played],
    joint: Option<usize>,
    animated: impl Fn(&Animated) -> bool,
    value: impl Fn(&Values) -> T,
) -> Vec<LayerShare<T>> {
    layers.iter().filter_map(|layer| layer.share(joint, animated(&layer.animated), &value)).collect()
}

/// The values of an instance at a tick: the values of all its layers together, which have no drivers.
pub fn values(library: &Library, skeleton: &Skeleton, layers: &[Layer], now: Ticks) -> Values {
    if let [only] = layers
        && only.is_plain()
    {
        // The mean of one layer is its value, and values without a track are at rest.
        let clip = library.clip(only.clip);
        return Values::of_clip(library, clip, phase::clip_time(only.time, now, clip));
    }
    let played: Vec<Played> = layers.iter().map(|layer| Played::new(library, layer, now)).collect();
    mix(skeleton, &played)
}

/// Blends the values of layers, with the rest pose below them.
fn mix(skeleton: &Skeleton, layers: &[Played]) -> Values {
    let mut mixed = Values::at_rest(skeleton);
    for (joint, local) in mixed.local.iter_mut().enumerate() {
        let joint = JointLayers { layers, joint };
        local.translation =
            joint.vector(local.translation, false, |parts| parts.translation, |local| local.translation);
        local.rotation = joint.rotation(local.rotation);
        local.scale = joint.vector(local.scale, true, |parts| parts.scale, |local| local.scale);
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
            let rotations = shares(layers, None, animated, |values| DQuat::from_slice(&values.properties[index]));
            *property = blend::rotation(DQuat::from_slice(property), &rotations).to_array().to_vec();
            continue;
        }
        for (number, value) in property.iter_mut().enumerate() {
            let layer_value = |values: &Values| vec![values.properties[index][number]];
            let shares = shares(layers, None, |animated| animated.properties[index][number], layer_value);
            *value = blend::numbers(&[*value], &shares, false)[0];
        }
    }
    mixed
}

/// The layers of an instance at one of its joints.
struct JointLayers<'a> {
    layers: &'a [Played<'a>],
    joint: usize,
}

impl JointLayers<'_> {
    /// The blended translation or scale; `is_scale` says which.
    fn vector(
        &self,
        rest: DVec3,
        is_scale: bool,
        is_animated: fn(&AnimatedParts) -> bool,
        vector: fn(&Transform) -> DVec3,
    ) -> DVec3 {
        let value = |values: &Values| vector(&values.local[self.joint]).to_array().to_vec();
        let animated = |animated: &Animated| is_animated(&animated.local[self.joint]);
        let shares = shares(self.layers, Some(self.joint), animated, value);
        DVec3::from_slice(&blend::numbers(&rest.to_array(), &shares, is_scale))
    }

    /// The blended rotation.
    fn rotation(&self, rest: DQuat) -> DQuat {
        let animated = |animated: &Animated| animated.local[self.joint].rotation;
        let value = |values: &Values| values.local[self.joint].rotation;
        blend::rotation(rest, &shares(self.layers, Some(self.joint), animated, value))
    }
}
