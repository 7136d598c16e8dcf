//! The inputs and outputs of an instance.

use glam::Vec4;

use crate::cpu::plan::Plan;
use crate::cpu::stages::TransformPart;
use crate::cpu::stages::phase::Time;
use crate::cpu::stages::sampler::Sampler;
use crate::cpu::stages::search::{self, Span};
use crate::pack::record::{ClipRecord, LayerRecord, NONE, TimelineRecord};
use crate::pack::{OutputLayout, OutputNumbers, PackedLibrary, PackedSkeleton};

/// The results of one or more instances: a slice of each output, empty for an output that is not requested.
pub struct OutputSlices<'a> {
    pub local: &'a mut [f32],
    pub model: &'a mut [f32],
    pub skin: &'a mut [f32],
    pub values: &'a mut [f32],
    pub root_motion: &'a mut [f32],
}

impl<'a> OutputSlices<'a> {
    /// All outputs of a batch.
    pub fn new(numbers: &'a mut OutputNumbers) -> Self {
        Self {
            local: &mut numbers.local,
            model: &mut numbers.model,
            skin: &mut numbers.skin,
            values: &mut numbers.values,
            root_motion: &mut numbers.root_motion,
        }
    }

    /// Cuts the outputs into slices of `instances` instances each.
    ///
    /// The iterator does not end: slices beyond the end, and those of outputs that are not requested, are empty.
    pub fn chunks(self, layout: &OutputLayout, instances: usize) -> impl Iterator<Item = Self> {
        let (layout, mut rest) = (*layout, self);
        std::iter::from_fn(move || Some(rest.split_off(&layout, instances)))
    }

    /// Splits off the outputs of the first `instances` instances, or all if there are fewer.
    #[inline(always)]
    pub fn split_off(&mut self, layout: &OutputLayout, instances: usize) -> Self {
        let [local, model, skin, values, root_motion] = layout.strides().map(|stride| stride * instances);
        Self {
            local: split_first(&mut self.local, local),
            model: split_first(&mut self.model, model),
            skin: split_first(&mut self.skin, skin),
            values: split_first(&mut self.values, values),
            root_motion: split_first(&mut self.root_motion, root_motion),
        }
    }
}

/// Splits off the first `count` numbers, or all if there are fewer.
#[inline(always)]
fn split_first<'a>(rest: &mut &'a mut [f32], count: usize) -> &'a mut [f32] {
    rest.split_off_mut(..count.min(rest.len())).unwrap_or_default()
}

/// A packed library and one of its skeletons, as the stages read them.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub library: &'a PackedLibrary,
    pub skeleton: &'a PackedSkeleton,
    /// The plans of the clips, sorted by the offsets of the clips' records.
    pub plans: &'a [(u32, Plan)],
    /// If set, transforms and matrices are written past the caches.
    pub past_caches: bool,
    /// If set, keys are loaded into the caches ahead of time.
    pub prefetches: bool,
}

/// A clip, as the stages read it.
pub struct ClipSource<'a> {
    /// The runs of the clip.
    pub plan: &'a Plan,
    /// The timelines of the clip.
    pub timelines: &'a [TimelineRecord],
    /// The clip, at no time.
    pub sampler: Sampler<'a>,
}

impl<'a> Source<'a> {
    /// The sampler of a clip whose keys were found.
    pub fn sampler(&self, clip: &ClipRecord, spans: &'a [Span]) -> Sampler<'a> {
        Sampler::new(self.library, &self.skeleton.record, clip, spans)
    }

    /// The plan of a clip, by the offset of its record.
    pub fn plan(&self, clip: u32) -> &'a Plan {
        let found = self.plans.binary_search_by_key(&clip, |(offset, _)| *offset);
        &self.plans[found.unwrap_or_default()].1
    }

    /// A clip, by the offset of its record.
    pub fn clip(&self, offset: u32) -> ClipSource<'a> {
        let clip: ClipRecord = self.library.arrays.record(offset);
        ClipSource { plan: self.plan(offset), timelines: self.timelines(&clip), sampler: self.sampler(&clip, &[]) }
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
        let skeleton = &self.skeleton.record;
        let joints = skeleton.joint_count as usize;
        TransformPart::ALL.map(|part| &self.library.arrays.values[skeleton.rest as usize + part as usize * joints..])
    }

    /// The timelines of a clip.
    pub fn timelines(&self, clip: &ClipRecord) -> &'a [TimelineRecord] {
        let first = clip.timelines as usize;
        let records = &self.library.arrays.words[first..first + TimelineRecord::WORDS * clip.timeline_count as usize];
        bytemuck::cast_slice(records)
    }

    /// Finds the keys of all timelines of a clip and appends their spans.
    pub fn search_all(&self, clip: &ClipRecord, time: Time, spans: &mut Vec<Span>) {
        let arrays = &self.library.arrays;
        spans.extend(
            self.timelines(clip).iter().map(|timeline| search::timeline(&arrays.words, &arrays.values, timeline, time)),
        );
    }
}
