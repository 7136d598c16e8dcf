//! The layers of a group of instances that are mixed.

use crate::cpu::block::search::{GroupSpans, have_one_clip};
use crate::cpu::block::slerp::GroupWeights;
use crate::cpu::simd::Lanes;
use crate::cpu::source::Source;
use crate::cpu::stages::blend;
use crate::cpu::stages::search::Span;
use crate::pack::record::LayerRecord;

/// The weights and spans of the layers of a group of instances at a tick.
#[derive(Debug, Default)]
pub struct GroupLayers {
    /// The number of layers per instance.
    count: usize,
    /// The weight of each layer, instance after instance.
    weights: Vec<f32>,
    /// For each layer with a weight above 0 its index in the group that its spans were found with, instance after instance.
    lanes: Vec<usize>,
    /// The spans of the lowest layers of all instances, then those of the second ones, and so on.
    found: Vec<GroupSpans>,
    /// Layers whose spans are found together.
    together: Vec<LayerRecord>,
}

/// The layers of an instance of a group.
#[derive(Clone, Copy)]
pub struct InstanceLayers<'a> {
    weights: &'a [f32],
    lanes: &'a [usize],
    found: &'a [GroupSpans],
}

impl GroupLayers {
    /// Finds the weights of all layers, and the spans of those with a weight above 0. Each instance has `count` layers.
    #[inline(always)]
    pub fn find<L: Lanes>(&mut self, source: Source, layers: &[LayerRecord], count: usize, now: i64) {
        self.count = count;
        self.weights.clear();
        self.weights.extend(layers.iter().map(|layer| blend::weight(layer, now)));
        self.lanes.resize(layers.len(), 0);
        if self.found.len() < count {
            self.found.resize_with(count, GroupSpans::default);
        }
        for (index, found) in self.found.iter_mut().take(count).enumerate() {
            self.together.clear();
            for place in (index..layers.len()).step_by(count) {
                if self.weights[place] > 0.0 {
                    self.lanes[place] = self.together.len();
                    self.together.push(layers[place]);
                }
            }
            found.find::<L>(source, &self.together, now);
            let (mut first, mut turning) = (0, 0);
            for same in self.together.chunk_by(have_one_clip) {
                let plan = source.plan(same[0].clip);
                found.set_fractions(plan, first..first + same.len());
                first += same.len();
                turning = turning.max(plan.turning.len());
            }
            found.weigh::<L>(turning);
        }
    }

    /// The layers of an instance.
    #[inline(always)]
    pub fn instance(&self, instance: usize) -> InstanceLayers<'_> {
        let own = instance * self.count..(instance + 1) * self.count;
        InstanceLayers { weights: &self.weights[own.clone()], lanes: &self.lanes[own], found: &self.found }
    }
}

impl<'a> InstanceLayers<'a> {
    /// The indices of the layers with a weight above 0.
    #[inline(always)]
    pub fn active(self) -> impl Iterator<Item = usize> + Clone + use<'a> {
        (0..self.weights.len()).filter(move |&index| self.weights[index] > 0.0)
    }

    /// The weight of a layer.
    #[inline(always)]
    pub fn weight(self, index: usize) -> f32 {
        self.weights[index]
    }

    /// The spans of a layer with a weight above 0.
    #[inline(always)]
    pub fn spans(self, index: usize) -> &'a [Span] {
        let found = &self.found[index];
        &found.spans[found.firsts[self.lanes[index]]..]
    }

    /// The weights of rotations of a layer with a weight above 0: those of a group, and the index of the instance in it.
    #[inline(always)]
    pub fn slerp_weights(self, index: usize) -> (&'a [GroupWeights], usize) {
        (&self.found[index].slerp_weights, self.lanes[index])
    }
}
