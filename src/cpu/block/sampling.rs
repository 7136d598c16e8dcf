//! Instances that are sampled together.

use glam::Vec4;

use crate::cpu::block::slerp::{GroupWeights, Weights};
use crate::cpu::plan::Keys;
use crate::cpu::source::ClipSource;
use crate::cpu::stages::search::Span;

/// Instances that play one clip, each at its own time, and the joints that they pose.
pub struct Sampling<'a> {
    /// The clip.
    pub clip: &'a ClipSource<'a>,
    /// The clip at the times of the instances: the spans of all timelines of an instance lie side by side.
    pub spans: &'a [Span],
    /// The index of the first span of each instance.
    pub first_spans: &'a [usize],
    /// The rest pose of the skeleton.
    pub rest: &'a [&'a [Vec4]; 3],
    /// The place of the first joint of the first instance in the result.
    pub first: usize,
    /// The places from an instance to the next.
    pub stride: usize,
    /// The weights of rotations of a group, by the index of their timeline in [`Plan::turning`](crate::cpu::plan::Plan::turning).
    /// Those of other timelines are computed for each run.
    pub slerp_weights: &'a [GroupWeights],
    /// The index of the first instance in the group.
    pub first_lane: usize,
}

impl<'a> Sampling<'a> {
    /// The place of the first joint of each instance, with its index.
    #[inline(always)]
    pub fn places(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let Self { first, stride, .. } = *self;
        (0..self.first_spans.len()).map(move |instance| (instance, first + instance * stride))
    }

    /// The span of a timeline of an instance.
    #[inline(always)]
    pub fn span(&self, instance: usize, keys: Keys) -> &'a Span {
        &self.spans[self.first_spans[instance] + keys.timeline()]
    }

    /// The weights of rotations of an instance at a fraction between their keys.
    #[inline(always)]
    pub fn weights(&self, instance: usize, keys: Keys, fraction: f32) -> Weights {
        match self.slerp_weights.get(keys.turning()) {
            Some(weights) => weights.of(self.first_lane + instance),
            None => Weights::new(fraction),
        }
    }
}
