//! Compression: stores keys as integers of as few bits as an error bound allows.
//!
//! The bound is a displacement in model space, measured at each joint and at a shell of points around it, as in ACL
//! (Animation Compression Library). The steps, per clip:
//!
//! 1. Retiming (`variants.rs`, `retiming.rs`): key times that are nearly even become even, which takes no bytes per
//!    key. Curves move to shared timelines, and keys that interpolation reproduces are removed.
//! 2. Error propagation (`tolerance.rs`): the tolerance of each track follows from the bound, from the distance of the
//!    farthest point that turns with the joint, and from the number of moving tracks on the way to it.
//! 3. Error compensation (`compensation.rs`): the rotation and the translation of a joint are rounded against the
//!    already rounded transforms of its ancestors.
//! 4. Quantization (`curve.rs`): each track has a quantization step (tangents have their own), and each of its
//!    numbers a least value and a number of bits. Of a rotation, the component that stays farthest from 0 over the
//!    whole clip is dropped, and a square root restores it; splines keep all four. "Smallest three" would drop the
//!    largest component of each key; one index per track takes fewer bits and no branch.
//! 5. Search (`shared_clips.rs`): coarsens and refines the steps until the displacement, measured in `f64` by
//!    `displacement.rs`, just meets the bound.
//! 6. Choice (`variants.rs`): steps 1 to 5 run for several shares of the tolerance that the removal of keys may use up,
//!    with and without error compensation of rotations and of places. The result with the fewest bytes is kept.
//!
//! The result is again a library. It holds exactly the numbers that the engines decode, so that the reference can
//! compute the expected poses. [`CompressedLibrary::reports`] has the size and the measured error of each clip.
//!
//! At 0.01 % of the rig's size, rigs with long clips take 9 to 24 % of the `f32` packing, and a rig that moves evenly
//! takes 6 %, with all tables. Morph weights take 21 to 46 %. Clips of a few keys save less.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;

use crate::compress::displacement::Displacement;
use crate::compress::shared_clips::CompressedClip;
use crate::compress::variants::{CompressionGoal, compress_clips};
use crate::error::Error;
use crate::model::{Clip, ClipId, Library, Timeline};
use crate::pack::{MAX_BITS, PackedLibrary, QuantizedCurve, all_threads};

pub use crate::pack::ClipBytes;
pub use bound::{ErrorBound, Length};

pub(crate) mod bound;
mod compensation;
mod curve;
mod displacement;
mod retiming;
mod shared_clips;
mod shared_curve;
mod tolerance;
mod variants;

/// A library with quantized keys, from which [`pack`](Self::pack) makes a [`PackedLibrary`].
///
/// Quantized keys are integers of a few bits. Constant tracks have no keys. With an error bound, linear and stepped
/// tracks also share key times if that takes fewer bytes, and lose keys that interpolation reproduces within the bound.
/// A quaternion can come back with the opposite sign, which is the same rotation.
///
/// These tracks keep their original keys:
///
/// * tracks whose quantized keys would take no fewer bytes;
/// * tracks with a caller's interpolator, with quaternions that are not normalised, or with linear extrapolation;
/// * with an error bound: tracks with easings that overshoot, tracks that loop beyond their keys, and tracks that meet
///   the bound with no number of bits.
///
/// # Examples
///
/// ```
/// use posse::compress::{CompressedLibrary, ErrorBound, Length};
/// use posse::cpu::CpuEngine;
/// use posse::packed::PackedLibrary;
/// use posse::demo;
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// // A share of 1e-4 is 0.01 % of the size of the rig.
/// let compressed = CompressedLibrary::new(&library, ErrorBound::new(Length::Share(1e-4)))?;
/// for report in compressed.reports() {
///     println!("{} bytes of {}, off by {}", report.compressed_bytes, report.float_bytes, report.error);
/// }
/// let packed = compressed.pack()?;
/// assert!(packed.size() < PackedLibrary::new(&library)?.size());
/// let _engine = CpuEngine::from_packed(packed, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct CompressedLibrary {
    library: Library,
    /// The quantized keys, by clip and track.
    curves: Vec<Vec<Option<Arc<QuantizedCurve>>>>,
    reports: Vec<ClipReport>,
}

impl CompressedLibrary {
    /// Compresses a library to as few bits as an error bound allows.
    ///
    /// The error of joints is measured in `f64`: at the key times of the original and of the result, at 4 to 64 parts
    /// of each interval between keys (the more, the farther joints turn from key to key; at least 16 with splines or
    /// easings), and at up to 256 peaks that these measurements point to. There it is at most 99.8 % of the bound. The
    /// rest is a reserve for times between these, not a proof: an interval in which joints turn by more than 8 rad, or
    /// a spline that swings out and returns, may need more parts. Morph weights and properties are not measured,
    /// because their errors follow from the steps. Clips of more than eight million joints times times, about 20
    /// minutes of 64 joints, are measured at fewer times.
    ///
    /// # Errors
    /// [`Error::Usage`] if a length of the bound is not above 0.
    pub fn new(library: &Library, bound: ErrorBound) -> Result<Self, Error> {
        Ok(Self::with_goal(library, CompressionGoal::Within(bound.check()?)))
    }

    /// Compresses a library to a fixed number of bits, 1 to 24, for the number with the largest range of each track.
    /// The error is not bounded; with 24 bits it is close to the rounding of an `f32`.
    ///
    /// # Errors
    /// [`Error::Usage`] if the number of bits is not from 1 to 24.
    pub fn with_width(library: &Library, bits: u32) -> Result<Self, Error> {
        if !(1..=MAX_BITS).contains(&bits) {
            return Err(Error::Usage(format!("keys of {bits} bits: expected 1 to {MAX_BITS} bits")));
        }
        Ok(Self::with_goal(library, CompressionGoal::Bits(bits)))
    }

    /// Compresses a library, each group of clips that share curves on one thread.
    fn with_goal(library: &Library, goal: CompressionGoal) -> Self {
        let clips = library.clips();
        let mut results: Vec<Option<CompressedClip>> = vec![None; clips.len()];
        {
            let groups = Mutex::new(groups_with_shared_curves(clips).into_iter());
            let finished = Mutex::new(&mut results);
            let work = || {
                while let Some(group) = groups.lock().ok().and_then(|mut groups| groups.next()) {
                    let group_clips: Vec<&Clip> = group.iter().map(|&index| &clips[index]).collect();
                    let compressed = compress_clips(library, &group_clips, goal);
                    if let Ok(mut finished) = finished.lock() {
                        group.into_iter().zip(compressed).for_each(|(index, clip)| finished[index] = Some(clip));
                    }
                }
            };
            let threads = all_threads().min(clips.len());
            thread::scope(|scope| {
                for _ in 1..threads {
                    scope.spawn(work);
                }
                work();
            });
        }
        let mut compressed = library.clone();
        let (mut curves, mut worst) = (Vec::new(), Vec::new());
        for (index, clip) in results.into_iter().flatten().enumerate() {
            compressed.replace_tracks(index, clip.tracks);
            curves.push(clip.curves);
            worst.push(clip.worst);
        }
        let reports = reports(library, &compressed, &curves, &worst);
        Self { library: compressed, curves, reports }
    }

    /// The library with the key values that the engines decode. All else is as in the original. A
    /// [`Reference`](crate::Reference) on this library computes the expected poses of the engines.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// The sizes and errors of each clip, in the order of the clips.
    pub fn reports(&self) -> &[ClipReport] {
        &self.reports
    }

    /// The bytes of a clip by their use, as if it were packed alone with its skeleton.
    #[doc(hidden)]
    pub fn bytes(&self, clip: ClipId) -> ClipBytes {
        ClipBytes::new(&self.library, self.library.clip(clip), &self.curves[clip.index()])
    }

    /// The quantized keys of a clip, by track.
    #[cfg(test)]
    pub(crate) fn quantized_curves(&self, clip: usize) -> &[Option<Arc<QuantizedCurve>>] {
        &self.curves[clip]
    }

    /// Packs the library with its quantized keys, on all cores.
    ///
    /// # Errors
    /// The errors of [`PackedLibrary::new`].
    pub fn pack(&self) -> Result<PackedLibrary, Error> {
        self.pack_with_threads(all_threads())
    }

    /// Packs the library with its quantized keys, on up to this many threads, at least 1. The result does not depend on
    /// the number.
    ///
    /// # Errors
    /// The errors of [`PackedLibrary::new`].
    pub fn pack_with_threads(&self, threads: usize) -> Result<PackedLibrary, Error> {
        PackedLibrary::with_quantized(&self.library, |clip| &self.curves[clip], threads)
    }
}

/// Groups clips that share the numbers of a curve, directly or through other clips. Returns their indices.
fn groups_with_shared_curves(clips: &[Clip]) -> Vec<Vec<usize>> {
    let mut group_of: Vec<usize> = (0..clips.len()).collect();
    let mut first_use: HashMap<usize, usize> = HashMap::new();
    for (index, clip) in clips.iter().enumerate() {
        for track in &clip.tracks {
            let other = *first_use.entry(track.curve.values_identity()).or_insert(index);
            let (from, to) = (group_of[index].max(group_of[other]), group_of[index].min(group_of[other]));
            if from != to {
                group_of.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
            }
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); clips.len()];
    for (index, group) in group_of.into_iter().enumerate() {
        groups[group].push(index);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// The sizes of a clip before and after compression, each as if packed alone, and its largest error.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipReport {
    /// The clip.
    pub clip: ClipId,
    /// Bytes of keys, constants, key times and lookup tables without compression: four `f32` per value.
    pub float_bytes: usize,
    /// The same with compression.
    pub compressed_bytes: usize,
    /// Bytes of the clip's record and channels without compression.
    pub float_table_bytes: usize,
    /// The same with compression.
    pub compressed_table_bytes: usize,
    /// The largest displacement of a joint or of a point on its shell, in the rig's units.
    pub error: f64,
    /// The index of the joint with that displacement.
    pub joint: usize,
    /// The time of that displacement, in seconds of the clip.
    pub time: f64,
    /// The number of key times without compression. Timelines of constant tracks do not count, and a shared timeline
    /// counts once.
    pub float_key_times: usize,
    /// The same with compression.
    pub compressed_key_times: usize,
    /// The number of tracks with one value for all times.
    pub constant_tracks: usize,
    /// The number of tracks that keep their original keys.
    pub float_tracks: usize,
    /// The number of quantized tracks by the bits of their widest number, from 0 to 24.
    pub tracks_by_width: [usize; MAX_BITS as usize + 1],
}

impl ClipReport {
    /// The compressed size divided by the uncompressed size; 1 for a clip without keys.
    pub fn ratio(&self) -> f64 {
        if self.float_bytes == 0 { 1.0 } else { self.compressed_bytes as f64 / self.float_bytes as f64 }
    }
}

/// Makes a report for each clip.
pub(super) fn reports(
    original: &Library,
    compressed: &Library,
    curves: &[Vec<Option<Arc<QuantizedCurve>>>],
    worst: &[Displacement],
) -> Vec<ClipReport> {
    let report = |(index, curves): (usize, &Vec<Option<Arc<QuantizedCurve>>>)| {
        let Displacement { distance, joint, time } = worst[index];
        let float = ClipBytes::new(original, &original.clips()[index], &[]);
        let quantized = ClipBytes::new(compressed, &compressed.clips()[index], curves);
        let mut report = ClipReport {
            clip: ClipId(index),
            float_bytes: float.of_keys(),
            compressed_bytes: quantized.of_keys(),
            float_table_bytes: float.channels + float.record,
            compressed_table_bytes: quantized.channels + quantized.record,
            error: distance,
            joint,
            time,
            float_key_times: key_times(&original.clips()[index]),
            compressed_key_times: key_times(&compressed.clips()[index]),
            constant_tracks: 0,
            float_tracks: 0,
            tracks_by_width: [0; MAX_BITS as usize + 1],
        };
        for (track, quantized) in compressed.clips()[index].tracks.iter().zip(curves) {
            match quantized {
                Some(quantized) => report.tracks_by_width[quantized.width() as usize] += 1,
                None if track.curve.is_constant() => report.constant_tracks += 1,
                None => report.float_tracks += 1,
            }
        }
        report
    };
    curves.iter().enumerate().map(report).collect()
}

/// The number of keys of all timelines with a track that is not constant. Each timeline counts once.
fn key_times(clip: &Clip) -> usize {
    let moving = clip.tracks.iter().map(|track| &track.curve).filter(|curve| !curve.is_constant());
    let timelines: HashMap<*const Timeline, usize> =
        moving.map(|curve| (Arc::as_ptr(curve.timeline()), curve.timeline().len())).collect();
    timelines.values().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo;
    use crate::pack::Features;

    #[test]
    fn a_packed_compressed_library_has_the_feature_of_quantized_keys() {
        let library = demo::library().unwrap();
        let floats = PackedLibrary::new(&library).unwrap().features;
        let quantized = CompressedLibrary::with_width(&library, 8).unwrap().pack().unwrap().features;
        assert!(!floats.quantized);
        assert_eq!(quantized, Features { quantized: true, ..floats });
    }
}
