//! A whole library in two arrays.

use std::collections::HashMap;
use std::sync::Arc;

use bytemuck::Pod;

use crate::error::Error;
use crate::model::clip::Clip;
use crate::model::library::{ClipId, Library, SkeletonId};
use crate::model::skin::Skin;
use crate::model::timeline::Timeline;
use crate::pack::easing::Easings;
use crate::pack::record;
use crate::pack::timeline::PackedTimeline;
use crate::pack::{clip, skeleton};

/// A library in flat arrays, ready for an engine.
#[derive(Debug, Clone)]
pub struct Packing {
    pub(crate) arrays: Arrays,
    pub(crate) skeletons: Vec<PackedSkeleton>,
    /// Place of each clip's record in the words, and its skeleton.
    clips: Vec<(u32, SkeletonId)>,
}

/// A skeleton's record, and what only the host needs.
#[derive(Debug, Clone)]
pub(crate) struct PackedSkeleton {
    pub record: record::Skeleton,
    /// Place of the record of a clip without tracks.
    pub rest_clip: u32,
    /// Joints of each skin.
    pub skins: Vec<usize>,
    /// Each joint's parent.
    pub parents: Vec<Option<usize>>,
}

/// The two arrays.
#[derive(Debug, Clone, Default)]
pub struct Arrays {
    /// Indices, key times, records.
    pub words: Vec<u32>,
    /// Keys, rest poses, matrices.
    pub values: Vec<[f32; 4]>,
}

/// Elements of the two arrays.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sizes {
    /// Words, of 4 bytes.
    pub words: usize,
    /// Values, of 16 bytes.
    pub values: usize,
}

/// Timelines and easings that are packed already.
#[derive(Default)]
pub struct Timelines {
    /// The easings.
    pub(crate) easings: Easings,
    packed: HashMap<*const Timeline, PackedTimeline>,
}

impl Packing {
    /// Packs a library.
    ///
    /// # Errors
    /// [`Error::Limit`] where there are more than 2^32 words or values to pack.
    pub fn new(library: &Library) -> Result<Self, Error> {
        check_sizes(library)?;
        let mut arrays = Arrays::default();
        let mut timelines = Timelines::default();
        let mut skeletons = Vec::new();
        for id in library.skeleton_ids() {
            let skeleton = library.skeleton(id);
            let skins: Vec<&Skin> = library.skins_of(id).map(|(_, skin)| skin).collect();
            let record = skeleton::pack_skeleton(&mut arrays, skeleton, &skins);
            let rest = Clip { name: None, skeleton: id, tracks: Vec::new() };
            let (rest_clip, _) = clip::pack_clip(&mut arrays, &mut timelines, skeleton, &rest);
            let skins = skins.iter().map(|skin| skin.joints.len()).collect();
            let parents = skeleton.joints().iter().map(|joint| joint.parent).collect();
            skeletons.push(PackedSkeleton { record, rest_clip, skins, parents });
        }
        let mut clips = Vec::new();
        for clip in library.clips() {
            let skeleton = library.skeleton(clip.skeleton);
            let (place, timeline_count) = clip::pack_clip(&mut arrays, &mut timelines, skeleton, clip);
            let most = &mut skeletons[clip.skeleton.index()].record.timeline_count;
            *most = timeline_count.max(*most);
            clips.push((place, clip.skeleton));
        }
        Ok(Self { arrays, skeletons, clips })
    }

    /// Bytes of all arrays.
    pub fn size(&self) -> usize {
        4 * self.arrays.words.len() + 16 * self.arrays.values.len()
    }

    /// Place of a clip's record, and its skeleton.
    pub(crate) fn clip(&self, id: ClipId) -> Option<(u32, SkeletonId)> {
        self.clips.get(id.index()).copied()
    }
}

impl Arrays {
    /// Appends records to the words, and gives their place.
    pub fn push_records<T: Pod>(&mut self, records: &[T]) -> u32 {
        let place = self.words.len() as u32;
        self.words.extend_from_slice(bytemuck::cast_slice(records));
        place
    }

    /// Appends a value, and gives its place.
    pub fn push_value(&mut self, value: [f32; 4]) -> u32 {
        self.values.push(value);
        self.values.len() as u32 - 1
    }

    /// Reads a record from the words.
    pub fn record<T: Pod>(&self, place: u32) -> T {
        let place = place as usize;
        bytemuck::pod_read_unaligned(bytemuck::cast_slice(&self.words[place..place + size_of::<T>() / 4]))
    }
}

impl Timelines {
    /// Packs a timeline, once however often it is asked for.
    pub fn pack(&mut self, arrays: &mut Arrays, timeline: &Arc<Timeline>) -> PackedTimeline {
        *self.packed.entry(Arc::as_ptr(timeline)).or_insert_with(|| PackedTimeline::new(arrays, timeline))
    }
}

/// Checks beforehand that all places fit 32 bits, so that packing need not.
fn check_sizes(library: &Library) -> Result<(), Error> {
    // The code of a Bezier curve is its place and that much more.
    let mut total = Sizes { words: 0, values: record::EASING_BEZIER as usize };
    let mut add = |sizes: Sizes| {
        total.words = total.words.saturating_add(sizes.words);
        total.values = total.values.saturating_add(sizes.values);
    };
    for id in library.skeleton_ids() {
        let skins: Vec<&Skin> = library.skins_of(id).map(|(_, skin)| skin).collect();
        let skeleton = library.skeleton(id);
        add(skeleton::sizes(skeleton, &skins));
        add(clip::sizes(skeleton, &Clip { name: None, skeleton: id, tracks: Vec::new() }));
    }
    for clip in library.clips() {
        add(clip::sizes(library.skeleton(clip.skeleton), clip));
        clip.tracks.iter().for_each(|track| add(PackedTimeline::sizes(track.curve.timeline())));
    }
    for (what, needed) in [("words of a packed library", total.words), ("values of a packed library", total.values)] {
        if needed >= record::NONE as usize {
            return Err(Error::Limit {
                what: what.into(),
                needed: needed as u64,
                allowed: u64::from(record::NONE) - 1,
            });
        }
    }
    Ok(())
}
