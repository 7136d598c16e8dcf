//! The inputs and outputs of an instance, and the memory that its stages share.

use glam::Vec4;

use crate::cpu::block::joints::Parts;
use crate::cpu::block::mixer::Mixer;
use crate::cpu::plan::Plan;
use crate::cpu::simd::Matrix;
use crate::cpu::stages::TransformPart;
use crate::cpu::stages::phase::Time;
use crate::cpu::stages::sampler::Sampler;
use crate::cpu::stages::search::{self, Span};
use crate::pack::PackedLibrary;
use crate::pack::PackedSkeleton;
use crate::pack::record::{ClipRecord, TimelineRecord};

/// The results of one or more instances: a slice of each output, empty for an output that is not requested.
pub struct OutputSlices<'a> {
    pub local: &'a mut [f32],
    pub model: &'a mut [f32],
    pub skin: &'a mut [f32],
    pub values: &'a mut [f32],
    pub root_motion: &'a mut [f32],
}

/// A packed library and one of its skeletons, as the stages read them.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub library: &'a PackedLibrary,
    pub skeleton: &'a PackedSkeleton,
    /// The plans of the clips, sorted by the offsets of the clips' records.
    pub plans: &'a [(u32, Plan)],
    /// If set, skin matrices are written past the caches.
    pub past_caches: bool,
}

/// Memory that the instances of a thread use one after the other.
#[derive(Default)]
pub struct Scratch {
    /// The spans of all timelines of the clips at work.
    pub spans: Vec<Span>,
    /// The sampled parts of all joints.
    pub parts: Parts,
    /// The parts that an additive layer is compared with.
    pub reference: Parts,
    pub mixer: Mixer,
    /// The rows of the local matrices.
    pub locals: Parts,
    /// The model matrices.
    pub models: Vec<Matrix>,
}

impl Scratch {
    /// Makes room for an instance with `joints` joints.
    pub fn resize(&mut self, joints: usize) {
        self.parts.resize(joints);
        self.reference.resize(joints);
        self.mixer.resize(joints);
        self.locals.resize(joints);
        self.models.resize(joints, Matrix::default());
    }
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

    /// Translations, rotations and scales of the rest pose. At least one block of numbers follows the joints of each.
    pub fn rest(&self) -> [&'a [Vec4]; 3] {
        let skeleton = &self.skeleton.record;
        let joints = skeleton.joint_count as usize;
        TransformPart::ALL.map(|part| &self.library.arrays.values[skeleton.rest as usize + part as usize * joints..])
    }

    /// Finds the keys of all timelines of a clip and appends their spans.
    pub fn search_all(&self, clip: &ClipRecord, time: Time, spans: &mut Vec<Span>) {
        let arrays = &self.library.arrays;
        let first = clip.timelines as usize;
        let records = &arrays.words[first..first + TimelineRecord::WORDS * clip.timeline_count as usize];
        let records = bytemuck::cast_slice::<u32, TimelineRecord>(records);
        spans.extend(records.iter().map(|timeline| search::timeline(&arrays.words, &arrays.values, timeline, time)));
    }
}
