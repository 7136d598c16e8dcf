//! Morph weights and properties of instances: sampled, and mixed where the layers of an instance are mixed.

use glam::Vec4;

use crate::cpu::keys::search::InstanceLayers;
use crate::cpu::keys::source::PackedSource;
use crate::cpu::stages::blend::{self, LayerShare, LayerShares};
use crate::cpu::stages::phase::Time;
use crate::cpu::stages::sampler::Sampler;
use crate::cpu::stages::search::{self, KeySpan};
use crate::model::Crowd;
use crate::pack::OutputLayout;
use crate::pack::record::{
    ClipRecord, LAYER_ADD_FIRST, LAYER_ADD_REST, LAYER_BLEND, LAYER_MODE, LayerRecord, VALUE_NUMBER, VALUE_ROTATION,
    VALUE_ROTATION_REST,
};

/// Samples the requested numbers of layers, each with the index of its first span.
#[inline(never)]
pub fn sample<'a>(
    source: PackedSource,
    layers: impl Iterator<Item = (&'a LayerRecord, usize)>,
    spans: &[KeySpan],
    layout: &OutputLayout,
    to: &mut [f32],
) {
    for ((layer, first), to) in layers.zip(to.chunks_mut(layout.values)) {
        let sampler = source.sampler(&source.library.arrays.record(layer.clip), &spans[first..]);
        sample_layer(&sampler, layout, to);
    }
}

/// Samples the requested numbers of a clip.
fn sample_layer(sampler: &Sampler, layout: &OutputLayout, to: &mut [f32]) {
    let wanted = layout.first_value..layout.first_value + layout.values;
    for channel in sampler.value_channels().iter().filter(|channel| wanted.contains(&(channel.output as usize))) {
        sampler.value(channel, &mut to[channel.output as usize - layout.first_value..]);
    }
}

/// The numbers of the layers of an instance, and their weights.
#[derive(Debug, Default)]
pub struct MixedValues {
    /// The rest values of the requested numbers.
    rest: Vec<f32>,
    layers: [LayerValues; Crowd::MAX_LAYERS],
    /// The sum of the weights of blended layers, for each number.
    sums: Vec<f32>,
}

/// The requested numbers of a layer.
#[derive(Debug, Default)]
struct LayerValues {
    /// One of `LAYER_BLEND`, `LAYER_OVERRIDE`, `LAYER_ADD_FIRST`, `LAYER_ADD_REST`.
    mode: u32,
    sampled: Vec<f32>,
    /// The numbers that an additive layer is compared with. For other layers they have no meaning.
    references: Vec<f32>,
    /// The weight of the layer x the weight of its mask, for each number. 0 where the clip has no track.
    weights: Vec<f32>,
    /// The spans of the clip at time 0.
    start: Vec<KeySpan>,
}

impl MixedValues {
    /// Sets the rest values of a skeleton, for calls of [`mix`](Self::mix).
    pub fn set_rest(&mut self, source: PackedSource, layout: &OutputLayout) {
        let clip: ClipRecord = source.library.arrays.record(source.skeleton.record.rest_clip);
        self.rest.resize(layout.values, 0.0);
        sample_layer(&source.sampler(&clip, &[]), layout, &mut self.rest);
    }

    /// Samples and mixes the requested numbers of an instance, whose weights and spans were found: each number by
    /// itself, rotations as a whole.
    pub fn mix(
        &mut self,
        source: PackedSource,
        layers: &[LayerRecord],
        found: InstanceLayers,
        layout: &OutputLayout,
        to: &mut [f32],
    ) {
        let first_kind = source.skeleton.record.value_kinds as usize + layout.first_value;
        let kinds = &source.library.arrays.words[first_kind..first_kind + layout.values];
        let Self { rest, layers: layer_values, sums } = self;
        let mut count = 0;
        for (index, values) in found.active().zip(&mut *layer_values) {
            let sampler = source.sampler(&source.library.arrays.record(layers[index].clip), found.spans(index));
            values.sample(source, &layers[index], &sampler, layout, rest);
            values.weigh(source.mask(&layers[index]), found.weight(index), &sampler, layout, kinds);
            count += 1;
        }
        let active = &layer_values[..count];
        mean(active.iter().filter(|layer| layer.mode == LAYER_BLEND), rest, sums, to);
        active.iter().filter(|layer| layer.mode != LAYER_BLEND).for_each(|layer| layer.apply(to));
        for (number, _) in kinds.iter().enumerate().filter(|(_, kind)| **kind == VALUE_ROTATION) {
            let four = |numbers: &[f32]| Vec4::from_slice(&numbers[number..]);
            let share = |layer: &LayerValues| LayerShare {
                weight: layer.weights[number],
                mode: layer.mode,
                value: four(&layer.sampled),
                reference: four(&layer.references),
            };
            let mut shares = LayerShares::default();
            active.iter().map(share).filter(|share| share.weight > 0.0).for_each(|share| shares.push(share));
            to[number..number + 4].copy_from_slice(&blend::rotation(four(rest), &shares).to_array());
        }
    }
}

impl LayerValues {
    /// Samples the numbers of a layer, and the numbers that it is compared with.
    fn sample(
        &mut self,
        source: PackedSource,
        layer: &LayerRecord,
        sampler: &Sampler,
        layout: &OutputLayout,
        rest: &[f32],
    ) {
        self.mode = layer.mode & LAYER_MODE;
        self.sampled.resize(layout.values, 0.0);
        self.references.resize(layout.values, 0.0);
        sample_layer(sampler, layout, &mut self.sampled);
        if self.mode == LAYER_ADD_REST {
            self.references.copy_from_slice(rest);
        }
        if self.mode == LAYER_ADD_FIRST {
            self.start.clear();
            let clip: ClipRecord = source.library.arrays.record(layer.clip);
            search::all(&source.library.arrays, &clip, Time { high: 0.0, low: 0.0 }, &mut self.start);
            sample_layer(&sampler.at(&self.start), layout, &mut self.references);
        }
    }

    /// Sets the weights of the numbers. A mask weighs the morph weights of its joints, an empty one none.
    fn weigh(&mut self, mask: &[f32], weight: f32, sampler: &Sampler, layout: &OutputLayout, kinds: &[u32]) {
        self.weights.clear();
        self.weights.resize(layout.values, weight);
        if !mask.is_empty() {
            for (to, &kind) in self.weights.iter_mut().zip(kinds) {
                if !matches!(kind, VALUE_NUMBER | VALUE_ROTATION | VALUE_ROTATION_REST) {
                    *to *= mask[kind as usize];
                }
            }
        }
        let wanted = layout.first_value..layout.first_value + layout.values;
        for (channel, outputs) in sampler.value_outputs() {
            if wanted.contains(&outputs.start) && !sampler.is_animated(channel) {
                self.weights[outputs.start - wanted.start..outputs.end - wanted.start].fill(0.0);
            }
        }
    }

    /// Applies the layer to the numbers of the layers below.
    fn apply(&self, to: &mut [f32]) {
        let mode = self.mode;
        let numbers = self.sampled.iter().zip(&self.references).zip(&self.weights);
        for (to, ((&value, &reference), &weight)) in to.iter_mut().zip(numbers) {
            *to = if weight > 0.0 { blend::over(*to, mode, weight, value, reference) } else { *to };
        }
    }
}

/// The weighted means of blended layers.
fn mean<'a>(blended: impl Iterator<Item = &'a LayerValues>, rest: &[f32], sums: &mut Vec<f32>, to: &mut [f32]) {
    sums.clear();
    sums.resize(to.len(), 0.0);
    to.fill(0.0);
    for layer in blended {
        let numbers = layer.sampled.iter().zip(&layer.weights);
        for ((to, sum), (&value, &weight)) in to.iter_mut().zip(&mut *sums).zip(numbers) {
            *to += if weight > 0.0 { weight * value } else { 0.0 };
            *sum += weight.max(0.0);
        }
    }
    for ((to, &sum), &rest) in to.iter_mut().zip(&*sums).zip(rest) {
        *to = blend::mean(rest, sum, *to);
    }
}
