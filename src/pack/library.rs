//! Packing of a whole library.

use std::sync::Arc;
use std::thread;

use crate::error::Error;
use crate::model::uniform_scale::NonUniform;
use crate::model::{
    BlendSpace, BlendSpaceId, ChainId, Clip, ClipContents, ClipId, Contents, Crowd, Interpolator, Layer, Library,
    MaskId, Outputs, SkeletonId, Skin, WrapMode, uniform_scale,
};
use crate::pack::arrays::{Arrays, Sizes};
use crate::pack::chain::{self, PackedChain, ReachJoints};
use crate::pack::channels::QuantizedCurves;
use crate::pack::device_form::DeviceForm;
use crate::pack::record::{ClipRecord, EASING_BEZIER, NONE, SkeletonRecord};
use crate::pack::timeline::Timelines;
use crate::pack::{Features, clip, drive, skeleton};

/// A library in two flat arrays, ready for an engine.
///
/// It holds the state of the library at the time of packing. After a change of the library, pack it again and make the
/// engine again; if only keys have changed, the engine can take it in place of the old one
/// ([`reserve_for`](Self::reserve_for)).
///
/// # Examples
///
/// ```
/// use posse::packed::PackedLibrary;
/// use posse::{Library, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let packed = PackedLibrary::new(&library)?;
/// let empty = PackedLibrary::new(&Library::new())?;
/// assert!(packed.size() > empty.size());
/// // The number of threads does not change the result.
/// assert_eq!(PackedLibrary::with_threads(&library, 1)?.size(), packed.size());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct PackedLibrary {
    pub(crate) arrays: Arrays,
    /// The capacity for the arrays of libraries that take the place of this one in an engine, at least the size of its
    /// own arrays on a GPU.
    pub(crate) capacity: Sizes,
    /// Set if the library has quantized keys: its form for a GPU, made when it is asked for.
    pub(super) device_form: Option<DeviceForm>,
    pub(crate) skeletons: Vec<PackedSkeleton>,
    pub(super) clips: Vec<PackedClip>,
    /// For each mask its skeleton and the offset of its weights in the words.
    pub(crate) masks: Vec<(SkeletonId, u32)>,
    /// The chains, by id.
    pub(crate) chains: Vec<PackedChain>,
    /// For each list of knots its offset in the words.
    pub(crate) knots: Vec<u32>,
    /// The blend spaces.
    pub(crate) blend_spaces: Vec<PackedBlendSpace>,
    pub(crate) features: Features,
    /// The interpolators of the library, in order.
    pub(crate) interpolators: Vec<Arc<dyn Interpolator>>,
}

/// The data of a clip that packing a crowd needs.
#[derive(Debug, Clone)]
pub(crate) struct PackedClip {
    /// The name, for messages.
    pub name: Option<String>,
    /// The offset of its record in the words.
    pub offset: u32,
    /// The skeleton that it animates.
    pub skeleton: SkeletonId,
    /// The duration in seconds.
    pub duration: f64,
    /// The length in seconds that times are clamped to; `None` if they are not clamped.
    pub length: Option<f64>,
    /// The default wrap mode.
    pub wrap: WrapMode,
    /// The scale that dual quaternions cannot hold, if the clip has one.
    pub non_uniform: Option<NonUniform>,
    /// The offset of its sync marks in the words; `NONE` if it has none.
    pub marks: u32,
    /// The number of its sync markers.
    pub marker_count: usize,
}

/// A blend space, after its packing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PackedBlendSpace {
    /// The offset of its triangles in the words.
    pub table: u32,
    /// The number of its points.
    pub point_count: usize,
}

/// A skeleton's record, and the data that only the host needs.
#[derive(Debug, Clone)]
pub(crate) struct PackedSkeleton {
    /// The name, for messages.
    pub name: Option<String>,
    pub record: SkeletonRecord,
    /// The number of joints of each skin.
    pub skins: Vec<usize>,
    /// The parent of each joint.
    pub parents: Vec<Option<usize>>,
    /// The scale in the rest pose that dual quaternions cannot hold, if there is one.
    pub non_uniform: Option<NonUniform>,
    /// Set if kernels may take the x of a scale of the joints with skins for all axes, at rest and in all clips, and
    /// the packed parts of inverse bind matrices for the matrices.
    pub uniform_scales: bool,
    /// The joints that lead to its chains.
    pub reach: ReachJoints,
}

impl PackedLibrary {
    /// Packs a library, on all cores.
    ///
    /// # Errors
    /// [`Error::Limit`] if the packed library could have 2^32 - 1 words or values or more.
    pub fn new(library: &Library) -> Result<Self, Error> {
        Self::with_threads(library, all_threads())
    }

    /// Packs a library, on up to this many threads, at least 1. The result does not depend on the number.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn with_threads(library: &Library, threads: usize) -> Result<Self, Error> {
        Self::with_quantized(library, |_| &[], threads)
    }

    /// Packs a library, with the quantized keys of each clip.
    pub(crate) fn with_quantized<'a>(
        library: &'a Library,
        quantized: impl Fn(usize) -> QuantizedCurves<'a>,
        threads: usize,
    ) -> Result<Self, Error> {
        check_sizes(library, &quantized)?;
        let rest_clips: Vec<Clip> = library.skeleton_ids().map(|id| Clip::new(None, id, Vec::new())).collect();
        let mut arrays = Arrays::default();
        let mut timelines = Timelines::default();
        let mut features = Features::default();
        let mut skeletons = Vec::new();
        let carriers: Vec<Vec<bool>> = library.skeleton_ids().map(|id| uniform_scale::carriers(library, id)).collect();
        for (id, rest_clip) in library.skeleton_ids().zip(&rest_clips) {
            let skeleton = library.skeleton(id);
            let skins: Vec<&Skin> = library.skins_of(id).map(|(_, skin)| skin).collect();
            let (mut record, has_uniform_binds) = skeleton::pack_skeleton(&mut arrays, skeleton, &skins);
            timelines.keys.add_rest(&arrays, record.rest, skeleton);
            let rest_record = clip::pack_clip(&mut arrays, &mut timelines, library, rest_clip, &[], record.rest);
            record.rest_clip = arrays.push_records(&[rest_record]);
            features.add_skeleton(&record);
            let skins = skins.iter().map(|skin| skin.joints.len()).collect();
            let parents = skeleton.joints().iter().map(|joint| joint.parent).collect();
            let carries = &carriers[id.index()];
            let non_uniform = uniform_scale::of_skeleton(library, id, carries);
            let uniform_scales = has_uniform_binds && uniform_scale::is_uniform_at_rest(skeleton, carries);
            let name = skeleton.name().map(str::to_owned);
            let reach = ReachJoints::default();
            skeletons.push(PackedSkeleton { name, record, skins, parents, non_uniform, uniform_scales, reach });
        }
        // What crowds and kernels refer to comes before the keys, so that libraries that differ in keys alone have it
        // at the same places.
        let first_record = arrays.push_records(&vec![ClipRecord::default(); library.clips().len()]);
        let mut clips = Vec::new();
        for (index, clip) in library.clips().iter().enumerate() {
            let uniform_scales = &mut skeletons[clip.skeleton.index()].uniform_scales;
            let carries = &carriers[clip.skeleton.index()];
            *uniform_scales = *uniform_scales && uniform_scale::is_uniform_in_clip(clip, carries);
            clips.push(PackedClip {
                name: clip.name.clone(),
                offset: first_record + (index * ClipRecord::WORDS) as u32,
                skeleton: clip.skeleton,
                duration: clip.duration(),
                length: clip.length,
                wrap: clip.wrap,
                non_uniform: uniform_scale::of_clip(library, clip, carries),
                marks: drive::pack_marks(&mut arrays, clip),
                marker_count: clip.markers.len(),
            });
        }
        let mut masks = Vec::new();
        for mask in library.masks() {
            let weights: Vec<f32> = mask.weights.iter().map(|&weight| weight as f32).collect();
            masks.push((mask.skeleton, arrays.push_records(&weights)));
        }
        let (chains, reach) = chain::pack_chains(&mut arrays, library);
        for (skeleton, reach) in skeletons.iter_mut().zip(reach) {
            skeleton.reach = reach;
        }
        let knots = library.knots().iter().map(|knots| drive::pack_knots(&mut arrays, knots)).collect();
        let pack_space = |space: &BlendSpace| PackedBlendSpace {
            table: drive::pack_blend_space(&mut arrays, space),
            point_count: space.points().len(),
        };
        let blend_spaces = library.blend_spaces().iter().map(pack_space).collect();
        let head = arrays.words.len();
        for (index, (packed, clip)) in clips.iter().zip(library.clips()).enumerate() {
            let skeleton = &mut skeletons[clip.skeleton.index()].record;
            let quantized = quantized(index);
            let record = clip::pack_clip(&mut arrays, &mut timelines, library, clip, quantized, skeleton.rest);
            arrays.set_record(packed.offset, &record);
            skeleton.timeline_count = skeleton.timeline_count.max(record.timeline_count);
            features.add_clip(&arrays, skeleton, packed.offset);
        }
        timelines.keys.fill(&mut arrays, threads);
        let interpolators = library.interpolators().to_vec();
        let capacity = arrays.sizes();
        let mut packed = Self {
            features,
            masks,
            chains,
            knots,
            blend_spaces,
            arrays,
            capacity,
            device_form: features.quantized.then(|| DeviceForm::new(head)),
            skeletons,
            clips,
            interpolators,
        };
        if let Some(form) = &packed.device_form {
            packed.capacity = form.sizes(&packed.arrays, packed.clip_records());
        }
        Ok(packed)
    }

    /// The bytes of the array of words, for [`Buffer::Words`](crate::kernels::Buffer::Words) on a device of the caller:
    /// numbers of 32 bits, in the byte order of this machine. A library without joints may have none, but a buffer must
    /// not be empty: [`library_buffer`](crate::kernels::library_buffer).
    ///
    /// The first call for a library with compressed keys makes the arrays that kernels read, which take more bytes than
    /// [`size`](Self::size) says, and keeps them.
    pub fn words(&self) -> &[u8] {
        bytemuck::cast_slice(&self.device_arrays().words)
    }

    /// The bytes of the array of values, for [`Buffer::Values`](crate::kernels::Buffer::Values): elements of 16 bytes,
    /// most of them four `f32`. Compressed keys are as in [`words`](Self::words).
    pub fn values(&self) -> &[u8] {
        bytemuck::cast_slice(&self.device_arrays().values)
    }

    /// The arrays that kernels read.
    pub(crate) fn device_arrays(&self) -> &Arrays {
        self.device_form.as_ref().map_or(&self.arrays, |form| form.arrays(&self.arrays, self.clip_records()))
    }

    /// The offsets of the records of all clips, with their skeletons.
    fn clip_records(&self) -> impl Iterator<Item = (u32, SkeletonRecord)> {
        self.clips.iter().map(|clip| (clip.offset, self.skeletons[clip.skeleton.index()].record))
    }

    /// Frees the arrays that only kernels read, after their upload.
    #[cfg(feature = "gpu")]
    pub(crate) fn free_device_arrays(&mut self) {
        if let Some(form) = &mut self.device_form {
            form.free();
        }
    }

    /// The number of bytes of the packed arrays. Compressed keys take more on a GPU: [`words`](Self::words).
    pub fn size(&self) -> usize {
        self.arrays.size()
    }

    /// Appends zeros to the arrays, moves them to their final memory, and frees the memory that lists do not use.
    pub(crate) fn finish(&mut self, zeros: Sizes) {
        self.arrays.values.finish(zeros.values);
        self.arrays.words.finish(zeros.words);
        self.skeletons.shrink_to_fit();
        self.clips.shrink_to_fit();
        self.masks.shrink_to_fit();
        self.chains.shrink_to_fit();
    }

    /// The number of bytes beside the packed arrays: names, joints and places that only the host reads.
    pub(crate) fn host_size(&self) -> usize {
        let name = |name: &Option<String>| name.as_ref().map_or(0, String::len);
        let non_uniform = |non_uniform: &Option<NonUniform>| non_uniform.as_ref().map_or(0, NonUniform::text_bytes);
        let clips = self.clips.iter().map(|clip| name(&clip.name) + non_uniform(&clip.non_uniform));
        let skeletons = self.skeletons.iter().map(|skeleton| {
            let lists = size_of_val(&*skeleton.skins) + size_of_val(&*skeleton.parents) + skeleton.reach.size();
            lists + name(&skeleton.name) + non_uniform(&skeleton.non_uniform)
        });
        let places = size_of_val(&*self.masks)
            + size_of_val(&*self.chains)
            + size_of_val(&*self.knots)
            + size_of_val(&*self.blend_spaces)
            + size_of_val(&*self.interpolators);
        let records = size_of_val(&*self.clips) + size_of_val(&*self.skeletons);
        records + places + clips.sum::<usize>() + skeletons.sum::<usize>()
    }

    /// The offsets of all clips' records in order, with the skeletons that they animate.
    pub(crate) fn clip_offsets(&self) -> Vec<(u32, SkeletonId)> {
        let clips = self.clips.iter().map(|clip| (clip.offset, clip.skeleton));
        let rests =
            self.skeletons.iter().enumerate().map(|(index, skeleton)| (skeleton.record.rest_clip, SkeletonId(index)));
        let mut offsets: Vec<_> = clips.chain(rests).collect();
        offsets.sort();
        offsets
    }

    /// Checks that the skin format of the outputs can hold the scales of a crowd, which was checked against the
    /// library.
    ///
    /// # Errors
    /// [`Error::Skeleton`], [`Error::Skin`] or [`Error::Track`], if dual quaternions are wanted and the skeleton, skin
    /// or track has a scale that is not uniform, or a mirror.
    pub(crate) fn check_outputs(&self, crowd: &Crowd, outputs: Outputs) -> Result<(), Error> {
        if !outputs.is_uniform_only() {
            return Ok(());
        }
        (0..crowd.len()).try_for_each(|instance| {
            let layers: Vec<Layer> = crowd.all_layers(instance).copied().collect();
            self.check_instance_outputs(crowd.skeleton(instance), &layers, outputs)
        })
    }

    /// Checks the same for one instance.
    pub(crate) fn check_instance_outputs(
        &self,
        skeleton: SkeletonId,
        layers: &[Layer],
        outputs: Outputs,
    ) -> Result<(), Error> {
        if !outputs.is_uniform_only() {
            return Ok(());
        }
        let skeleton = &self.skeletons[skeleton.index()].non_uniform;
        let clips = layers.iter().filter_map(|layer| self.clip(layer.clip)?.non_uniform.as_ref());
        match skeleton.iter().chain(clips).next() {
            Some(non_uniform) => Err(non_uniform.error()),
            None => Ok(()),
        }
    }

    /// A clip; `None` if it does not exist.
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

    fn chain_count(&self) -> usize {
        self.chains.len()
    }

    fn knots_count(&self) -> usize {
        self.knots.len()
    }

    fn blend_space_count(&self) -> usize {
        self.blend_spaces.len()
    }

    fn point_count(&self, id: BlendSpaceId) -> usize {
        self.blend_spaces[id.index()].point_count
    }

    fn skeleton_name(&self, id: SkeletonId) -> Option<&str> {
        self.skeletons[id.index()].name.as_deref()
    }

    fn find_clip(&self, id: ClipId) -> Option<ClipContents<'_>> {
        let clip = self.clip(id)?;
        let (name, marker_count) = (clip.name.as_deref(), clip.marker_count);
        Some(ClipContents { name, skeleton: clip.skeleton, marker_count })
    }

    fn find_mask(&self, id: MaskId) -> Option<SkeletonId> {
        self.masks.get(id.index()).map(|(skeleton, _)| *skeleton)
    }

    fn find_chain(&self, id: ChainId) -> Option<SkeletonId> {
        self.chains.get(id.index()).map(|chain| chain.skeleton)
    }
}

/// The default number of threads: the number of cores that the system reports, or 1.
pub fn all_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Checks that all offsets fit 32 bits, so that packing needs no such checks.
fn check_sizes<'a>(library: &Library, quantized: impl Fn(usize) -> QuantizedCurves<'a>) -> Result<(), Error> {
    let total = largest_sizes(library, quantized);
    for (what, needed) in [("words of a packed library", total.words), ("values of a packed library", total.values)] {
        if needed >= NONE as usize {
            return Err(Error::Limit { what: what.into(), needed: needed as u64, allowed: u64::from(NONE) - 1 });
        }
    }
    Ok(())
}

/// The largest sizes of the arrays of a packed library, in any form.
fn largest_sizes<'a>(library: &Library, quantized: impl Fn(usize) -> QuantizedCurves<'a>) -> Sizes {
    // The code of a Bezier curve is its offset plus EASING_BEZIER.
    let mut total = Sizes { words: 0, values: EASING_BEZIER as usize };
    for id in library.skeleton_ids() {
        let skins: Vec<&Skin> = library.skins_of(id).map(|(_, skin)| skin).collect();
        let skeleton = library.skeleton(id);
        total.add(skeleton::sizes(skeleton, &skins));
        total.add(clip::sizes(library, &Clip::new(None, id, Vec::new()), &[]));
    }
    total.add(drive::sizes(library.clips(), library.knots(), library.blend_spaces()));
    total.add(chain::sizes(library));
    library.masks().iter().for_each(|mask| total.add(Sizes { words: mask.weights.len(), values: 0 }));
    for (index, clip) in library.clips().iter().enumerate() {
        total.add(clip::sizes(library, clip, quantized(index)));
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::{CompressedLibrary, ErrorBound, Length};
    use crate::demo;

    #[test]
    fn no_form_of_a_library_is_larger_than_its_largest_sizes() {
        let library = demo::library().unwrap();
        let is_within = |found: Sizes, most: Sizes| found.words <= most.words && found.values <= most.values;
        let packed = PackedLibrary::new(&library).unwrap();
        let most = largest_sizes(&library, |_| &[]);
        assert!(is_within(packed.arrays.sizes(), most), "{:?}, not {most:?}", packed.arrays.sizes());
        let compressed = CompressedLibrary::new(&library, ErrorBound::new(Length::Share(1e-4))).unwrap();
        let packed = compressed.pack().unwrap();
        let most = largest_sizes(compressed.library(), |index| compressed.quantized_curves(index));
        for found in [packed.arrays.sizes(), packed.device_arrays().sizes()] {
            assert!(is_within(found, most), "{found:?}, not {most:?}");
        }
    }
}
