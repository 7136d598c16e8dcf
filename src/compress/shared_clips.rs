//! Clips that share curves, rounded together. Each curve gets the coarsest quantization step that all its clips allow.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::compress::compensation::{Compensation, RoundedCurves, RoundedTransforms};
use crate::compress::curve::Resolution;
use crate::compress::displacement::{Displacement, Original, is_of_joint};
use crate::compress::shared_curve::{Candidate, SharedClip, SharedCurve, TrackUse, goes_beyond, shared_curves};
use crate::compress::tolerance::joint_of;
use crate::model::{Clip, Curve, Timeline, Track};
use crate::pack::{PackedTimeline, QuantizedCurve, needs_exact_times};

/// A compressed clip.
#[derive(Debug, Clone)]
pub struct CompressedClip {
    /// Its tracks, with the values that the engines decode.
    pub tracks: Vec<Track>,
    /// For each track its quantized keys; `None` if the keys are not quantized.
    pub curves: Vec<Option<Arc<QuantizedCurve>>>,
    /// The largest displacement of its joints.
    pub worst: Displacement,
}

/// The number of rounds that adapt the tolerances of the joints to each other.
const ROUNDS: usize = 6;
/// The most times per round that all tolerances are scaled together.
const SCALINGS: usize = 4;
/// The share of the bound that the search aims at. It is below 1, because the search measures fewer times than the
/// final check.
const AIM: f64 = 0.98;
/// The share of the bound that the measured displacements may reach. The rest is for the times between the measured
/// ones.
const LARGEST_USE: f64 = 0.998;
/// The most times that the final check makes the steps finer.
const MAX_REFINEMENTS: i32 = 10;
/// The most joints whose curves the final check leaves uncompressed, before it leaves all curves uncompressed.
const MAX_UNCOMPRESSED_JOINTS: usize = 8;

/// Clips that share curves, and each of their curves once.
///
/// A list of candidates has one candidate per curve, in the order of [`curves`](Self::curves).
pub struct SharedClips<'a> {
    clips: Vec<SharedClip<'a>>,
    curves: Vec<SharedCurve>,
    /// For each clip and track the index of its curve.
    curve_indices: Vec<Vec<usize>>,
    /// Bytes of each timeline's key times and lookup table.
    timeline_bytes: HashMap<*const Timeline, usize>,
}

impl<'a> SharedClips<'a> {
    /// Clips in their original form and on the timelines that they will have. Curves that displace no joint get
    /// `remaining_share` of the bound.
    pub fn new(
        originals: &'a [Original<'a>],
        clips: &'a [Clip],
        compensation: Compensation,
        remaining_share: f64,
    ) -> Self {
        let mut use_counts: HashMap<usize, usize> = HashMap::new();
        for track in clips.iter().flat_map(|clip| &clip.tracks) {
            *use_counts.entry(track.curve.values_identity()).or_default() += 1;
        }
        let may_change = |track: &Track| use_counts[&track.curve.values_identity()] == 1;
        let clips: Vec<SharedClip> = originals
            .iter()
            .zip(clips)
            .map(|(original, clip)| SharedClip::new(original, clip, compensation, may_change))
            .collect();
        let curves = shared_curves(&clips, remaining_share);
        let mut curve_indices: Vec<Vec<usize>> = clips.iter().map(|shared| vec![0; shared.clip.tracks.len()]).collect();
        for (index, curve) in curves.iter().enumerate() {
            curve.uses.iter().for_each(|&TrackUse { clip, track }| curve_indices[clip][track] = index);
        }
        let timeline_bytes = timeline_bytes(&curves);
        Self { clips, curves, curve_indices, timeline_bytes }
    }

    /// The curves.
    pub fn curves(&self) -> &[SharedCurve] {
        &self.curves
    }

    /// Candidates with a fixed number of bits per number, regardless of the error.
    pub fn with_bits(&self, bits: u32) -> Vec<Candidate> {
        self.curves.iter().map(|curve| curve.candidate(Resolution::bits(bits), false)).collect()
    }

    /// The smallest candidates that the search finds within the bound.
    pub fn within_bound(&mut self) -> Vec<Candidate> {
        // The error of a curve beyond its keys can be larger between the measured times than at any of them.
        self.curves.iter_mut().for_each(|curve| curve.is_float |= goes_beyond(&curve.curve));
        let mut best: Option<(usize, Vec<f64>)> = None;
        for _ in 0..ROUNDS {
            let mut errors = Vec::new();
            for _ in 0..SCALINGS {
                let candidates = self.candidates();
                errors = (0..self.clips.len()).map(|clip| self.errors_by_joint(&candidates, clip)).collect();
                let used = largest(&errors);
                let size = self.size(&candidates);
                if used <= AIM && best.as_ref().is_none_or(|(least, _)| size < *least) {
                    best = Some((size, self.curves.iter().map(|curve| curve.tolerance).collect()));
                }
                if (0.95 * AIM..=AIM).contains(&used) {
                    break;
                }
                self.scale_tolerances((AIM / used.max(1e-3)).clamp(0.125, 8.0));
            }
            self.loosen_unused(&errors);
        }
        match best {
            Some((_, tolerances)) => {
                self.curves.iter_mut().zip(tolerances).for_each(|(curve, tolerance)| curve.tolerance = tolerance);
            }
            None => self.scale_tolerances(0.1),
        }
        self.refine()
    }

    /// Raises the tolerances of curves whose joints stay below the largest error.
    fn loosen_unused(&mut self, errors: &[Vec<f64>]) {
        let used = largest(errors);
        let clips = &self.clips;
        let error_below = |curve: &SharedCurve| {
            let joints = curve.uses.iter().filter_map(|&TrackUse { clip, track }| {
                Some(errors[clip][joint_of(clips[clip].clip.tracks[track].target)?])
            });
            joints.fold(0.0, f64::max)
        };
        for curve in self.curves.iter_mut().filter(|curve| !curve.strict) {
            curve.tolerance *= (used / error_below(curve).max(1e-3)).clamp(1.0, 4.0).sqrt();
        }
    }

    /// The approximate number of bytes of candidates: their keys, key times and lookup tables.
    pub fn size(&self, candidates: &[Candidate]) -> usize {
        let moving = candidates.iter().map(|candidate| &candidate.curve).filter(|curve| !curve.is_constant());
        let timelines: HashSet<*const Timeline> = moving.map(|curve| Arc::as_ptr(curve.timeline())).collect();
        let keys: usize = self.curves.iter().zip(candidates).map(|(curve, candidate)| curve.size(candidate)).sum();
        keys + timelines.iter().filter_map(|timeline| self.timeline_bytes.get(timeline)).sum::<usize>()
    }

    /// Scales the tolerances of all curves that displace joints.
    fn scale_tolerances(&mut self, factor: f64) {
        for curve in self.curves.iter_mut().filter(|curve| !curve.strict) {
            curve.tolerance *= factor;
        }
    }

    /// Makes the steps finer until the bound holds at all measured times. Joints for which that does not help keep
    /// their original keys.
    fn refine(&mut self) -> Vec<Candidate> {
        let mut uncompressed_joints = 0;
        let mut refinements = 0;
        loop {
            let candidates = self.candidates();
            let worst = self.clips.iter().enumerate().map(|(clip, shared)| {
                let worst = shared.original.worst(&self.joint_tracks(&candidates, clip));
                (worst.distance / shared.original.bound(), clip, worst.joint)
            });
            let Some((used, worst_clip, joint)) = worst.max_by(|a, b| a.0.total_cmp(&b.0)) else { return candidates };
            // With all original keys, nothing is left to refine.
            if used <= LARGEST_USE || uncompressed_joints > MAX_UNCOMPRESSED_JOINTS {
                return candidates;
            }
            if refinements < MAX_REFINEMENTS {
                refinements += 1;
                self.scale_tolerances((AIM.powi(refinements) / used).clamp(0.1, AIM));
                continue;
            }
            // Finer steps do not help. The joint and its ancestors keep their original keys; after several joints, all
            // do.
            uncompressed_joints += 1;
            let all = uncompressed_joints > MAX_UNCOMPRESSED_JOINTS;
            let chain = self.clips[worst_clip].propagation.chain(joint);
            for curve in &mut self.curves {
                let is_on_chain = |&TrackUse { clip, track }: &TrackUse| {
                    let target = self.clips[worst_clip].clip.tracks.get(track).map(|track| track.target);
                    clip == worst_clip && target.and_then(joint_of).is_some_and(|joint| chain.contains(&joint))
                };
                curve.is_float |= all || curve.uses.iter().any(is_on_chain);
            }
        }
    }

    /// Quantizes all curves by their tolerances, with error compensation.
    fn candidates(&self) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> =
            self.curves.iter().map(|curve| curve.candidate(curve.resolution(), true)).collect();
        for (shared, curve_indices) in self.clips.iter().zip(&self.curve_indices) {
            let library = shared.original.library();
            let mut rounded = RoundedTransforms::new(&shared.compensation, shared.original.skeleton());
            for tracks in shared.compensation.joints() {
                let index = |track: Option<usize>| track.map(|track| curve_indices[track]);
                let [translation, rotation, scale] = [tracks.translation, tracks.rotation, tracks.scale].map(index);
                if let Some(index) = rotation {
                    self.compensate(&mut candidates[index], index, |curve| rounded.compensated_rotations(curve));
                }
                if let Some(index) = translation {
                    self.compensate(&mut candidates[index], index, |curve| rounded.compensated_translations(curve));
                }
                let curve = |index: Option<usize>| index.map(|index| &candidates[index].curve);
                let [translation, rotation, scale] = [translation, rotation, scale].map(curve);
                rounded.push(library, RoundedCurves { translation, rotation, scale });
            }
        }
        candidates
    }

    /// Quantizes a curve again, from keys that compensate errors.
    fn compensate(&self, candidate: &mut Candidate, index: usize, keys: impl Fn(&Curve) -> Option<Vec<f64>>) {
        // A joint that stands still needs no keys. Compensation would make it move.
        if candidate.quantized.is_none() {
            return;
        }
        let shared = &self.curves[index];
        let curve = &shared.curve;
        let with_keys = |keys| curve.with_values(curve.interpolation(), curve.width(), keys).ok();
        if let Some(compensated) = keys(curve).and_then(with_keys) {
            *candidate = shared.candidate_from(&compensated, shared.resolution(), true);
        }
    }

    /// For each joint of a clip the largest displacement of the joint and the joints below it, as a share of the bound.
    fn errors_by_joint(&self, candidates: &[Candidate], clip: usize) -> Vec<f64> {
        let shared = &self.clips[clip];
        let errors = shared.original.by_joint(&self.joint_tracks(candidates, clip));
        let largest_below = shared.propagation.largest_below(&errors);
        largest_below.into_iter().map(|error| error / shared.original.bound()).collect()
    }

    /// The tracks of a clip that move joints.
    fn joint_tracks(&self, candidates: &[Candidate], clip: usize) -> Vec<Track> {
        self.tracks(candidates, clip).into_iter().map(|(track, _)| track).filter(is_of_joint).collect()
    }

    /// All tracks of a clip, each with its quantized keys.
    fn tracks(&self, candidates: &[Candidate], clip: usize) -> Vec<(Track, Option<Arc<QuantizedCurve>>)> {
        let tracks = &self.clips[clip].clip.tracks;
        let mut results: Vec<_> = tracks.iter().map(|track| (track.clone(), None)).collect();
        for (curve, candidate) in self.curves.iter().zip(candidates) {
            for &TrackUse { track, .. } in curve.uses.iter().filter(|track_use| track_use.clip == clip) {
                let compressed = Track { curve: candidate.curve.clone(), ..tracks[track].clone() };
                results[track] = (compressed, candidate.quantized.clone());
            }
        }
        results
    }

    /// The compressed clips of some candidates, with their largest displacements.
    pub fn finish(&self, candidates: &[Candidate]) -> Vec<CompressedClip> {
        let clip = |clip: usize| {
            let worst = self.clips[clip].original.worst(&self.joint_tracks(candidates, clip));
            let (tracks, curves) = self.tracks(candidates, clip).into_iter().unzip();
            CompressedClip { tracks, curves, worst }
        };
        (0..self.clips.len()).map(clip).collect()
    }
}

/// The bytes of the key times and the lookup table of each timeline. Curves that keep their original keys need exact
/// times.
fn timeline_bytes(curves: &[SharedCurve]) -> HashMap<*const Timeline, usize> {
    let mut may_be_even: HashMap<*const Timeline, (&Timeline, bool)> = HashMap::new();
    for shared in curves {
        for curve in [&shared.original, &shared.curve] {
            let (_, even) = may_be_even.entry(Arc::as_ptr(curve.timeline())).or_insert((curve.timeline(), true));
            *even &= curve.is_constant() || !(shared.is_float || needs_exact_times(curve));
        }
    }
    let bytes = may_be_even.into_iter();
    bytes.map(|(identity, (timeline, even))| (identity, PackedTimeline::bytes(timeline, even))).collect()
}

/// The largest error of all joints of all clips.
fn largest(errors: &[Vec<f64>]) -> f64 {
    errors.iter().flatten().fold(0.0, |largest, &error| error.max(largest))
}
