//! Compression of clips that share curves: tries several sets of key times, with and without error compensation, and
//! keeps the result with the fewest bytes.

use std::collections::HashMap;
use std::sync::Arc;

use crate::compress::ErrorBound;
use crate::compress::compensation::Compensation;
use crate::compress::curve::can_be_quantized;
use crate::compress::displacement::Original;
use crate::compress::retiming::{self, Replacements, retime};
use crate::compress::shared_clips::{CompressedClip, SharedClips};
use crate::compress::shared_curve::SharedCurve;
use crate::model::{Clip, Curve, Extrapolation, Interpolation, Library, Timeline};
use crate::pack::{can_be_even, is_even};

/// The goal of a compression.
#[derive(Debug, Clone, Copy)]
pub enum CompressionGoal {
    /// The fewest bytes that meet a bound.
    Within(ErrorBound),
    /// A fixed number of bits per number.
    Bits(u32),
}

/// The shares of a curve's tolerance that the removal of keys may use up. Each share is tried.
const REMOVAL_SHARES: [f64; 3] = [0.02, 0.2, 0.5];

/// Compresses clips that share curves with one another and with no other clip.
pub fn compress_clips(library: &Library, clips: &[&Clip], goal: CompressionGoal) -> Vec<CompressedClip> {
    let bound = match goal {
        CompressionGoal::Within(bound) => bound,
        CompressionGoal::Bits(_) => ErrorBound::default(),
    };
    let originals: Vec<Original> = clips.iter().map(|clip| Original::new(library, clip, bound)).collect();
    if let CompressionGoal::Bits(bits) = goal {
        let clips: Vec<Clip> = clips.iter().map(|&clip| clip.clone()).collect();
        let shared_clips = SharedClips::new(&originals, &clips, Compensation::Nothing, 1.0);
        return shared_clips.finish(&shared_clips.with_bits(bits));
    }
    let unshifted: Vec<Clip> = clips.iter().map(|&clip| clip.clone()).collect();
    let shifted = {
        let shared_clips = SharedClips::new(&originals, &unshifted, Compensation::Nothing, 1.0);
        even_times(library, &unshifted, shared_clips.curves())
    };
    let shift_share = if shifted.is_some() { SHIFT_SHARE } else { 0.0 };
    let even = shifted.unwrap_or(unshifted);
    let clips: Vec<&Clip> = even.iter().collect();
    let mut retimed = vec![(0.0, retiming::share_timelines(library, &clips))];
    let fewer_keys = {
        let (_, on_shared_timelines) = &retimed[0];
        let shared_clips = SharedClips::new(&originals, on_shared_timelines, Compensation::Nothing, 1.0);
        let curves = shared_clips.curves();
        REMOVAL_SHARES.map(|share| Some((share, retiming::remove_keys(library, on_shared_timelines, curves, share)?)))
    };
    retimed.extend(fewer_keys.into_iter().flatten());
    // Error compensation saves bits for joints that are rotated, and wastes some for joints that are scaled.
    let compensations = [Compensation::RotationsAndPlaces, Compensation::Rotations, Compensation::Nothing];
    // The shift of key times, the removal of keys and quantization add up.
    let variants = retimed
        .iter()
        .flat_map(|(share, clips)| compensations.map(|compensation| (clips, compensation, 1.0 - shift_share - share)));
    let results = variants.map(|(clips, compensation, remaining_share)| {
        let mut shared_clips = SharedClips::new(&originals, clips, compensation, remaining_share);
        let candidates = shared_clips.within_bound();
        (shared_clips.size(&candidates), shared_clips, candidates)
    });
    let smallest = results.min_by_key(|(size, ..)| *size);
    smallest.map(|(_, shared_clips, candidates)| shared_clips.finish(&candidates)).unwrap_or_default()
}

/// The share of its tolerance that the shift of its key times may use up, of a curve whose error is not measured.
pub const SHIFT_SHARE: f64 = 0.05;
/// The same share of a curve that displaces joints. Their displacements are measured with the shift.
const MEASURED_SHIFT_SHARE: f64 = 0.25;

/// Moves the curves of timelines that are nearly even to exactly even times. Steps stay where they are: a step at
/// another time would give another value just before it or after it. `None` if no key time moves.
pub fn even_times(library: &Library, clips: &[Clip], curves: &[SharedCurve]) -> Option<Vec<Clip>> {
    let mut by_timeline: HashMap<*const Timeline, Vec<&SharedCurve>> = HashMap::new();
    for shared in curves.iter().filter(|shared| !shared.curve.is_constant()) {
        by_timeline.entry(Arc::as_ptr(shared.curve.timeline())).or_default().push(shared);
    }
    let mut replacements = Replacements::new();
    for (identity, curves) in by_timeline {
        if !curves.iter().all(|shared| can_be_shifted(&shared.curve)) {
            continue;
        }
        let old = curves[0].curve.timeline();
        let shift = |new: &Timeline| {
            let shifts = old.times().iter().zip(new.times()).map(|(old, new)| (old - new).abs());
            shifts.fold(0.0, f64::max)
        };
        let Some(new) = even_timeline(old).filter(|new| {
            let shift = shift(new);
            curves.iter().all(|shared| {
                let share = if shared.strict { SHIFT_SHARE } else { MEASURED_SHIFT_SHARE };
                shift * fastest(shared) <= share * shared.tolerance
            })
        }) else {
            continue;
        };
        replacements.insert(identity, Arc::new(new));
    }
    let clips: Vec<&Clip> = clips.iter().collect();
    let shifted = || retime(library, &clips, &replacements, |curve, _| can_be_shifted(curve), shift);
    (!replacements.is_empty()).then(shifted)
}

/// Returns `true` if the key times of a curve may be shifted a little.
fn can_be_shifted(curve: &Curve) -> bool {
    let mut intervals = 0..curve.timeline().len() - 1;
    matches!(curve.interpolation(), Interpolation::Linear | Interpolation::CubicSpline)
        && can_be_quantized(curve)
        && curve.extrapolation() == [Extrapolation::Clamp; 2]
        && !curve.timeline().has_shared_times()
        && curve.timeline().window() == 0.0
        && intervals.all(|key| curve.easing_at(key).is_linear())
}

/// The timeline with the same first and last time and with even times between them. `None` if the timeline has no even
/// times, or exactly even ones.
fn even_timeline(timeline: &Timeline) -> Option<Timeline> {
    let gaps = timeline.len() - 1;
    if !can_be_even(timeline) || is_even(timeline) {
        return None;
    }
    let (first, last) = (timeline.first(), timeline.last());
    let time = |key: usize| if key == gaps { last } else { first + key as f64 * ((last - first) / gaps as f64) };
    Timeline::new((0..=gaps).map(time).collect()).ok()
}

/// The largest change of a curve's numbers per second, at a key and between keys.
fn fastest(shared: &SharedCurve) -> f64 {
    let SharedCurve { curve, rotation, .. } = shared;
    let length = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|number| number * number).sum::<f64>().sqrt();
    let times = curve.timeline().times();
    let speed = |key: usize| {
        let ends = || curve.value(key).iter().zip(curve.value(key + 1));
        let mut change = length(&mut ends().map(|(from, to)| to - from));
        if *rotation {
            // Slerp takes the shorter arc, which is up to pi / 2 times longer than its chord.
            change = 1.6 * change.min(length(&mut ends().map(|(from, to)| to + from)));
        }
        let speed = change / (times[key + 1] - times[key]);
        match curve.interpolation() {
            // The derivative of a cubic Hermite spline is at most one and a half of the straight line's, and the
            // tangents.
            Interpolation::CubicSpline => {
                let tangents = [curve.out_tangent(key), curve.in_tangent(key + 1)];
                1.5 * speed + tangents.map(|tangent| length(&mut tangent.iter().copied())).iter().sum::<f64>()
            }
            _ => speed,
        }
    };
    (0..times.len() - 1).map(speed).fold(0.0, f64::max)
}

/// The same keys at other times.
fn shift(_: &Library, curve: &Curve, timeline: &Arc<Timeline>, _: bool) -> Curve {
    let shifted = Curve::new(timeline.clone(), curve.interpolation(), curve.width(), curve.values().to_vec());
    // The values are valid, so that this does not fail. If it did, the original curve would serve.
    shifted.unwrap_or_else(|_| curve.clone())
}
