//! The inputs of the stages: a library and a skeleton, a clip, and the instances that sample it together.

use glam::Vec4;

use crate::cpu::block::slerp::{GroupWeights, Weights};
use crate::cpu::keys::plan::{ClipRuns, KeyRun};
use crate::cpu::stages::sampler::Sampler;
use crate::cpu::stages::search::{self, KeySpan};
use crate::pack::record::{ClipRecord, LayerRecord, NONE, TimelineRecord};
use crate::pack::{PackedLibrary, PackedSkeleton};

/// A packed library and one of its skeletons, as the stages read them.
#[derive(Clone, Copy)]
pub struct PackedSource<'a> {
    pub library: &'a PackedLibrary,
    pub skeleton: &'a PackedSkeleton,
    /// The plans of the clips, sorted by the offsets of the clips' records.
    pub plans: &'a [(u32, ClipRuns)],
    /// If set, transforms and matrices are written past the caches.
    pub past_caches: bool,
    /// If set, keys are loaded into the caches ahead of time.
    pub prefetches: bool,
}

/// A clip, as the stages read it.
pub struct ClipSource<'a> {
    /// The runs of the clip.
    pub plan: &'a ClipRuns,
    /// The timelines of the clip.
    pub timelines: &'a [TimelineRecord],
    /// The clip, at no time.
    pub sampler: Sampler<'a>,
}

impl<'a> PackedSource<'a> {
    /// The sampler of a clip whose keys were found.
    pub fn sampler(&self, clip: &ClipRecord, spans: &'a [KeySpan]) -> Sampler<'a> {
        Sampler::new(self.library, &self.skeleton.record, clip, spans)
    }

    /// The plan of a clip, by the offset of its record.
    pub fn plan(&self, clip: u32) -> &'a ClipRuns {
        let found = self.plans.binary_search_by_key(&clip, |(offset, _)| *offset);
        &self.plans[found.unwrap_or_default()].1
    }

    /// A clip, by the offset of its record.
    pub fn clip(&self, offset: u32) -> ClipSource<'a> {
        let clip: ClipRecord = self.library.arrays.record(offset);
        ClipSource {
            plan: self.plan(offset),
            timelines: search::timelines(&self.library.arrays, &clip),
            sampler: self.sampler(&clip, &[]),
        }
    }

    /// The mask of a layer: a factor per joint. Empty: 1.
    pub fn mask(&self, layer: &LayerRecord) -> &'a [f32] {
        match layer.mask {
            NONE => &[],
            mask => {
                let joints = self.skeleton.record.joint_count as usize;
                bytemuck::cast_slice(&self.library.arrays.words[mask as usize..][..joints])
            }
        }
    }

    /// Translations, rotations and scales of the rest pose. At least one block of numbers follows the joints of each.
    pub fn rest(&self) -> [&'a [Vec4]; 3] {
        // Not by `map`, which would be a call.
        let skeleton = &self.skeleton.record;
        let (rest, joints) = (&self.library.arrays.values[skeleton.rest as usize..], skeleton.joint_count as usize);
        [rest, &rest[joints..], &rest[2 * joints..]]
    }
}

/// Instances that play one clip, each at its own time, and the joints that they pose.
pub struct Sampling<'a> {
    /// The clip.
    pub clip: &'a ClipSource<'a>,
    /// The clip at the times of the instances: the spans of all timelines of an instance lie side by side.
    pub spans: &'a [KeySpan],
    /// The index of the first span of each instance.
    pub first_spans: &'a [usize],
    /// The rest pose of the skeleton.
    pub rest: &'a [&'a [Vec4]; 3],
    /// The place of the first joint of the first instance in the result.
    pub first: usize,
    /// The places from an instance to the next.
    pub stride: usize,
    /// The weights of rotations of a group, by the index of their timeline in [`ClipRuns::turning`].
    /// The weights of other timelines are computed for each run.
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
    pub fn span(&self, instance: usize, keys: KeyRun) -> &'a KeySpan {
        &self.spans[self.first_spans[instance] + keys.timeline()]
    }

    /// The weights of rotations of an instance at a fraction between their keys.
    #[inline(always)]
    pub fn weights(&self, instance: usize, keys: KeyRun, fraction: f32) -> Weights {
        match self.slerp_weights.get(keys.turning()) {
            Some(weights) => weights.of(self.first_lane + instance),
            None => Weights::new(fraction),
        }
    }
}
