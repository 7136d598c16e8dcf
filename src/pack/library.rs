//! A whole library in two arrays.

use std::sync::Arc;
use std::thread;

use crate::error::Error;
use crate::model::uniform_scale::Uneven;
use crate::model::{
    Clip, ClipContents, ClipId, Contents, Crowd, Interpolator, Layer, Library, MaskId, Outputs, SkeletonId, Skin,
    WrapMode, uniform_scale,
};
use crate::pack::arrays::{Arrays, Sizes};
use crate::pack::column::QuantizedCurves;
use crate::pack::record::{EASING_BEZIER, NONE, SkeletonRecord};
use crate::pack::timeline::Timelines;
use crate::pack::{Features, clip, skeleton};

/// A library in flat arrays, ready for an engine.
///
/// It is the library as it was when it was packed, and so is what every engine of it knows: who adds to the library, or gives
/// its clips other roots or events, packs it again.
#[derive(Debug, Clone)]
pub struct PackedLibrary {
    pub(crate) arrays: Arrays,
    pub(crate) skeletons: Vec<PackedSkeleton>,
    clips: Vec<PackedClip>,
    /// Places of the masks' weights in the words.
    pub(crate) masks: Vec<(SkeletonId, u32)>,
    pub(crate) features: Features,
    /// As the library has them.
    pub(crate) interpolators: Vec<Arc<dyn Interpolator>>,
}

/// A clip, as a crowd needs to know it.
#[derive(Debug, Clone)]
pub(crate) struct PackedClip {
    /// Its name, for messages.
    pub name: Option<String>,
    /// Place of its record in the words.
    pub place: u32,
    /// The skeleton that it moves.
    pub skeleton: SkeletonId,
    /// Its duration in seconds.
    pub duration: f64,
    /// The duration, where times are kept within it.
    pub length: Option<f64>,
    /// How it plays where nobody says.
    pub wrap: WrapMode,
    /// What keeps its skin matrices from being dual quaternions.
    pub uneven: Option<Uneven>,
}

/// A skeleton's record, and what only the host needs.
#[derive(Debug, Clone)]
pub(crate) struct PackedSkeleton {
    /// Its name, for messages.
    pub name: Option<String>,
    pub record: SkeletonRecord,
    /// Joints of each skin.
    pub skins: Vec<usize>,
    /// Each joint's parent.
    pub parents: Vec<Option<usize>>,
    /// What keeps its skin matrices, at rest, from being dual quaternions.
    pub uneven: Option<Uneven>,
}

impl PackedLibrary {
    /// Packs a library, on all cores.
    ///
    /// # Errors
    /// [`Error::Limit`] where there are more than 2^32 words or values to pack.
    pub fn new(library: &Library) -> Result<Self, Error> {
        Self::with_threads(library, all_threads())
    }

    /// Packs a library, on up to so many threads, at least 1; what comes of it is the same.
    ///
    /// # Errors
    /// As from [`new`](Self::new).
    pub fn with_threads(library: &Library, threads: usize) -> Result<Self, Error> {
        Self::with(library, |_| &[], threads)
    }

    /// Packs a library, with what there is of each clip's keys as integers.
    pub(crate) fn with<'a>(
        library: &'a Library,
        quantized: impl Fn(usize) -> QuantizedCurves<'a>,
        threads: usize,
    ) -> Result<Self, Error> {
        check_sizes(library, &quantized)?;
        let rests: Vec<Clip> = library.skeleton_ids().map(|id| Clip::new(None, id, Vec::new())).collect();
        let mut arrays = Arrays::default();
        let mut timelines = Timelines::default();
        let mut features = Features::default();
        let mut skeletons = Vec::new();
        for (id, rest) in library.skeleton_ids().zip(&rests) {
            let skeleton = library.skeleton(id);
            let skins: Vec<&Skin> = library.skins_of(id).map(|(_, skin)| skin).collect();
            let mut record = skeleton::pack_skeleton(&mut arrays, skeleton, &skins);
            let (rest_clip, _) = clip::pack_clip(&mut arrays, &mut timelines, library, rest, &[]);
            record.rest_clip = rest_clip;
            features.add_skeleton(&record);
            let skins = skins.iter().map(|skin| skin.joints.len()).collect();
            let parents = skeleton.joints().iter().map(|joint| joint.parent).collect();
            let (name, uneven) = (skeleton.name().map(str::to_owned), uniform_scale::of_skeleton(library, id));
            skeletons.push(PackedSkeleton { name, record, skins, parents, uneven });
        }
        let mut clips = Vec::new();
        for (index, clip) in library.clips().iter().enumerate() {
            let (place, timeline_count) = clip::pack_clip(&mut arrays, &mut timelines, library, clip, quantized(index));
            let most = &mut skeletons[clip.skeleton.index()].record.timeline_count;
            *most = timeline_count.max(*most);
            features.add_clip(&arrays, skeletons[clip.skeleton.index()].record.joint_count, place);
            let (skeleton, duration, uneven) = (clip.skeleton, clip.duration(), uniform_scale::of_clip(library, clip));
            let (name, length, wrap) = (clip.name.clone(), clip.length, clip.wrap);
            clips.push(PackedClip { name, place, skeleton, duration, length, wrap, uneven });
        }
        let mut masks = Vec::new();
        for mask in library.masks() {
            let weights: Vec<f32> = mask.weights.iter().map(|&weight| weight as f32).collect();
            masks.push((mask.skeleton, arrays.push_records(&weights)));
        }
        timelines.keys.fill(&mut arrays, threads);
        if features.quantized {
            // A code is read as two words, of which the second may be nobody's.
            arrays.words.push(0);
        }
        Ok(Self { features, masks, arrays, skeletons, clips, interpolators: library.interpolators().to_vec() })
    }

    /// Bytes of all arrays.
    pub fn size(&self) -> usize {
        self.arrays.size()
    }

    /// The places of all clips' records, with the skeletons that they move, in order.
    pub(crate) fn clip_places(&self) -> Vec<(u32, SkeletonId)> {
        let clips = self.clips.iter().map(|clip| (clip.place, clip.skeleton));
        let rests =
            self.skeletons.iter().enumerate().map(|(index, skeleton)| (skeleton.record.rest_clip, SkeletonId(index)));
        let mut places: Vec<_> = clips.chain(rests).collect();
        places.sort();
        places
    }

    /// Checks that all that a crowd uses can be written as it is wanted. The crowd was checked.
    ///
    /// # Errors
    /// [`Error::Skeleton`], [`Error::Skin`] or [`Error::Track`] where dual quaternions are wanted and the place has a scale
    /// that is not uniform, or a mirror.
    pub(crate) fn check_outputs(&self, crowd: &Crowd, outputs: Outputs) -> Result<(), Error> {
        (0..crowd.len()).try_for_each(|instance| {
            self.check_instance_outputs(crowd.skeleton(instance), crowd.layers(instance), outputs)
        })
    }

    /// The same of one instance.
    pub(crate) fn check_instance_outputs(
        &self,
        skeleton: SkeletonId,
        layers: &[Layer],
        outputs: Outputs,
    ) -> Result<(), Error> {
        if !outputs.is_uniform_only() {
            return Ok(());
        }
        let skeleton = &self.skeletons[skeleton.index()].uneven;
        let clips = layers.iter().filter_map(|layer| self.clip(layer.clip)?.uneven.as_ref());
        match skeleton.iter().chain(clips).next() {
            Some(uneven) => Err(uneven.error()),
            None => Ok(()),
        }
    }

    /// A clip; `None` where there is no such one.
    pub(crate) fn clip(&self, id: ClipId) -> Option<&PackedClip> {
        self.clips.get(id.index())
    }
}

impl Contents for PackedLibrary {
    const ADVICE: &'static str = "; if it was added after the engine was made, make the engine again";

    fn skeleton_count(&self) -> usize {
        self.skeletons.len()
    }

    fn clip_count(&self) -> usize {
        self.clips.len()
    }

    fn mask_count(&self) -> usize {
        self.masks.len()
    }

    fn skeleton_name(&self, id: SkeletonId) -> Option<&str> {
        self.skeletons[id.index()].name.as_deref()
    }

    fn find_clip(&self, id: ClipId) -> Option<ClipContents<'_>> {
        let clip = self.clip(id)?;
        Some(ClipContents { name: clip.name.as_deref(), skeleton: clip.skeleton })
    }

    fn find_mask(&self, id: MaskId) -> Option<SkeletonId> {
        self.masks.get(id.index()).map(|(skeleton, _)| *skeleton)
    }
}

/// The default number of threads: the number of cores that the system reports, or 1.
pub fn all_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Checks beforehand that all places fit 32 bits, so that packing need not.
fn check_sizes<'a>(library: &Library, quantized: impl Fn(usize) -> QuantizedCurves<'a>) -> Result<(), Error> {
    // The code of a Bezier curve is its place and that much more.
    let mut total = Sizes { words: 0, values: EASING_BEZIER as usize };
    let mut add = |sizes: Sizes| {
        total.words = total.words.saturating_add(sizes.words);
        total.values = total.values.saturating_add(sizes.values);
    };
    for id in library.skeleton_ids() {
        let skins: Vec<&Skin> = library.skins_of(id).map(|(_, skin)| skin).collect();
        let skeleton = library.skeleton(id);
        add(skeleton::sizes(skeleton, &skins));
        add(clip::sizes(library, &Clip::new(None, id, Vec::new()), &[]));
    }
    library.masks().iter().for_each(|mask| add(Sizes { words: mask.weights.len(), values: 0 }));
    for (index, clip) in library.clips().iter().enumerate() {
        add(clip::sizes(library, clip, quantized(index)));
    }
    for (what, needed) in [("words of a packed library", total.words), ("values of a packed library", total.values)] {
        if needed >= NONE as usize {
            return Err(Error::Limit { what: what.into(), needed: needed as u64, allowed: u64::from(NONE) - 1 });
        }
    }
    Ok(())
}
