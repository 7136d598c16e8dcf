//! Retiming: moves curves to shared timelines, and removes keys that interpolation reproduces.
//!
//! A key time takes 8 bytes and its part of the lookup table 4; even key times without steps take 16 bytes together.
//! Each timeline also costs its record and one search per instance. A key of four numbers takes about 5 bytes. A curve
//! is therefore moved to a timeline that has all its key times and more, if that saves bytes. A timeline loses the keys
//! that each of its curves reproduces within a share of its tolerance.
//!
//! Both apply only to linear (or slerped) and stepped curves, because inserting a key into such a curve does not change
//! it. Curves that are hit within a window around their key times are excluded.

use std::collections::HashMap;
use std::sync::Arc;

use glam::DQuat;

use crate::compress::curve::{Resolution, can_be_quantized, has_unit_keys};
use crate::compress::shared_curve::SharedCurve;
use crate::model::rotation::unit;
use crate::model::{Clip, Curve, Extrapolation, Interpolation, Library, Timeline, Track};
use crate::pack::PackedTimeline;
use crate::reference::sample;

/// The approximate number of bytes of a key of up to four numbers.
const KEY_BYTES: usize = 5;

/// The least cosine of half the angle between neighbouring keys after the removal of keys. Near a half turn, the
/// direction of the slerp would depend on the last digits.
const MIN_COSINE: f64 = 0.5;

/// The most timelines that are tried as the new timeline of some curves.
const MAX_HOSTS: usize = 64;

/// For each timeline whose curves move, the timeline that they move to.
pub type Replacements = HashMap<*const Timeline, Arc<Timeline>>;

/// Returns `true` if a curve can be moved to other key times without a change: it is linear or stepped, without
/// easings, and constant beyond its keys.
fn can_be_retimed(curve: &Curve, rotation: bool) -> bool {
    let mut intervals = 0..curve.timeline().len() - 1;
    matches!(curve.interpolation(), Interpolation::Linear | Interpolation::Step)
        && can_be_quantized(curve)
        && curve.extrapolation() == [Extrapolation::Clamp; 2]
        && !curve.timeline().has_shared_times()
        && curve.timeline().window() == 0.0
        && intervals.all(|key| curve.easing_at(key).is_linear())
        && (!rotation || has_unit_keys(curve))
}

/// The curves of a timeline.
struct TimelineCurves<'a> {
    timeline: &'a Arc<Timeline>,
    /// For each curve that can be retimed its number of columns, by the identity that copies of a curve share.
    columns: HashMap<usize, usize>,
    /// `true` if other curves need the timeline too.
    has_others: bool,
    /// `true` if a curve has steps.
    has_steps: bool,
}

/// Moves curves to timelines that have all their key times and more, if that saves bytes.
pub fn share_timelines(library: &Library, clips: &[&Clip]) -> Vec<Clip> {
    let mut hosts: Vec<&Arc<Timeline>> = Vec::new();
    let mut replacements = Replacements::new();
    for TimelineCurves { timeline, columns, has_others, has_steps } in timelines_by_length(library, clips) {
        let saved_bytes = if has_others { 0 } else { PackedTimeline::bytes(timeline, !has_steps) };
        let bytes_per_key = KEY_BYTES * columns.values().sum::<usize>();
        // The shortest host is last in the list.
        let host =
            hosts.iter().rev().take(MAX_HOSTS).find(|host| {
                bytes_per_key * (host.len() - timeline.len()) < saved_bytes && has_all_times(host, timeline)
            });
        match host {
            Some(&host) => drop(replacements.insert(Arc::as_ptr(timeline), host.clone())),
            None => hosts.push(timeline),
        }
    }
    retime(library, clips, &replacements, can_be_retimed, resample)
}

/// The timelines with curves that can be retimed, the longest first.
fn timelines_by_length<'a>(library: &Library, clips: &[&'a Clip]) -> Vec<TimelineCurves<'a>> {
    let mut timelines: Vec<TimelineCurves> = Vec::new();
    let mut indices: HashMap<*const Timeline, usize> = HashMap::new();
    for &clip in clips {
        let skeleton = library.skeleton(clip.skeleton);
        for track in &clip.tracks {
            let curve = &track.curve;
            let index = *indices.entry(Arc::as_ptr(curve.timeline())).or_insert_with(|| {
                let timeline = curve.timeline();
                timelines.push(TimelineCurves {
                    timeline,
                    columns: HashMap::new(),
                    has_others: false,
                    has_steps: false,
                });
                timelines.len() - 1
            });
            if can_be_retimed(curve, track.target.is_rotation(skeleton)) {
                timelines[index].has_steps |= curve.interpolation() == Interpolation::Step;
                timelines[index].columns.insert(curve.values_identity(), curve.width().div_ceil(4));
            } else {
                timelines[index].has_others |= !curve.is_constant();
            }
        }
    }
    timelines.retain(|curves| !curves.columns.is_empty());
    timelines.sort_by_key(|curves| std::cmp::Reverse(curves.timeline.len()));
    timelines
}

/// Returns `true` if a timeline has all key times of another and ends with it. The end matters, because the last key
/// time can be the duration of the clip.
fn has_all_times(timeline: &Timeline, other: &Timeline) -> bool {
    let mut times = timeline.times().iter();
    let mut has = |wanted: &f64| times.find(|&time| time >= wanted) == Some(wanted);
    timeline.last() == other.last() && other.times().iter().all(&mut has)
}

/// Removes the keys of each timeline that all its curves reproduce within a share of their tolerances. `None` if that
/// saves no bytes on any timeline.
pub fn remove_keys(library: &Library, clips: &[Clip], curves: &[SharedCurve], share: f64) -> Option<Vec<Clip>> {
    let mut by_timeline: HashMap<*const Timeline, Vec<ReducibleCurve>> = HashMap::new();
    for shared in curves.iter().filter(|shared| can_be_retimed(&shared.curve, shared.rotation)) {
        let timeline = Arc::as_ptr(shared.curve.timeline());
        by_timeline.entry(timeline).or_default().push(ReducibleCurve::new(shared, share));
    }
    let mut replacements = Replacements::new();
    for (identity, curves) in by_timeline {
        let old = curves[0].curve.timeline();
        let moving: Vec<&ReducibleCurve> = curves.iter().filter(|curve| !curve.becomes_constant).collect();
        if moving.is_empty() {
            continue;
        }
        let Some(new) = without_unneeded_keys(old, &moving) else { continue };
        let columns: usize = moving.iter().map(|reducible| reducible.curve.width().div_ceil(4)).sum();
        let has_steps = moving.iter().any(|reducible| reducible.curve.interpolation() == Interpolation::Step);
        let bytes =
            |timeline: &Timeline| PackedTimeline::bytes(timeline, !has_steps) + KEY_BYTES * columns * timeline.len();
        if bytes(&new) < bytes(old) {
            replacements.insert(identity, Arc::new(new));
        }
    }
    let clips: Vec<&Clip> = clips.iter().collect();
    (!replacements.is_empty()).then(|| retime(library, &clips, &replacements, can_be_retimed, resample))
}

/// A timeline without the keys that no curve needs; `None` if every key is needed.
fn without_unneeded_keys(timeline: &Timeline, curves: &[&ReducibleCurve]) -> Option<Timeline> {
    let times = timeline.times();
    let mut kept = vec![times[0]];
    let mut from = 0;
    while from + 1 < times.len() {
        from = farthest(from, times.len() - 1, |to| curves.iter().all(|curve| curve.is_reproduced(from, to)));
        kept.push(times[from]);
    }
    // A subset of valid key times is a valid timeline.
    if kept.len() == times.len() { None } else { Timeline::new(kept).ok() }
}

/// Searches for the farthest key that may follow another, at least the next. It doubles the step while that succeeds,
/// then halves it, so that the result is a local optimum.
fn farthest(from: usize, last: usize, may_follow: impl Fn(usize) -> bool) -> usize {
    let (mut to, mut step) = (from + 1, 1);
    while to + step <= last && may_follow(to + step) {
        to += step;
        step *= 2;
    }
    while step > 1 {
        step /= 2;
        if to + step <= last && may_follow(to + step) {
            to += step;
        }
    }
    to
}

/// A curve whose keys may be removed.
struct ReducibleCurve<'a> {
    curve: &'a Curve,
    /// The keys at unit length, if they are rotations. Otherwise empty.
    rotations: Vec<DQuat>,
    /// The largest error that the removal of keys may cause.
    tolerance: f64,
    /// `true` if quantization will make the curve constant.
    becomes_constant: bool,
}

impl<'a> ReducibleCurve<'a> {
    /// A curve, of whose tolerance the removal of keys may use `share`.
    fn new(shared: &'a SharedCurve, share: f64) -> Self {
        let curve = &shared.curve;
        let keys = 0..if shared.rotation { curve.timeline().len() } else { 0 };
        let rotation = |key| unit(DQuat::from_slice(curve.value(key))).unwrap_or(DQuat::IDENTITY);
        let resolution = Resolution::within(curve, (1.0 - share) * shared.tolerance, shared.strict);
        Self {
            curve,
            rotations: keys.map(rotation).collect(),
            tolerance: share * shared.tolerance,
            becomes_constant: shared.candidate(resolution, true).curve.is_constant(),
        }
    }

    /// Returns `true` if interpolation from one key to another reproduces the keys between them within the tolerance.
    fn is_reproduced(&self, from: usize, to: usize) -> bool {
        let Self { curve, rotations, tolerance, .. } = self;
        let times = curve.timeline().times();
        let stepped = curve.interpolation() == Interpolation::Step;
        let interval = if stepped { f64::INFINITY } else { times[to] - times[from] };
        let mut between = (from + 1..to).map(|key| (key, (times[key] - times[from]) / interval));
        if let (Some(&first), Some(&last)) = (rotations.get(from), rotations.get(to)) {
            return (stepped || first.dot(last).abs() >= MIN_COSINE)
                && between.all(|(key, fraction)| {
                    let value = sample::slerp(first, last, fraction);
                    (value - rotations[key]).length().min((value + rotations[key]).length()) <= *tolerance
                });
        }
        between.all(|(key, fraction)| {
            let ends = curve.value(from).iter().zip(curve.value(to));
            let values = ends.map(|(a, b)| (1.0 - fraction) * a + fraction * b);
            values.zip(curve.value(key)).all(|(value, original)| (value - original).abs() <= *tolerance)
        })
    }
}

/// Moves the curves of some timelines to their replacements, if `may_move` returns true for the curve and its flag of
/// rotations. `moved` returns the curve on another timeline. Copies of a curve remain copies.
pub fn retime(
    library: &Library,
    clips: &[&Clip],
    replacements: &Replacements,
    may_move: impl Fn(&Curve, bool) -> bool,
    moved: impl Fn(&Library, &Curve, &Arc<Timeline>, bool) -> Curve,
) -> Vec<Clip> {
    let mut retimed: HashMap<(usize, *const Timeline, Interpolation, bool), Curve> = HashMap::new();
    let mut retime_track = |clip: &Clip, track: &Track| {
        let curve = &track.curve;
        let rotation = track.target.is_rotation(library.skeleton(clip.skeleton));
        let timeline = Arc::as_ptr(curve.timeline());
        let new = replacements.get(&timeline).filter(|_| may_move(curve, rotation));
        let Some(new) = new else { return track.clone() };
        let identity = (curve.values_identity(), timeline, curve.interpolation(), rotation);
        let curve = retimed.entry(identity).or_insert_with(|| moved(library, curve, new, rotation));
        Track { curve: curve.clone(), ..track.clone() }
    };
    let retime_clip = |clip: &&Clip| {
        let tracks = clip.tracks.iter().map(|track| retime_track(clip, track)).collect();
        Clip { tracks, ..Clip::clone(clip) }
    };
    clips.iter().map(retime_clip).collect()
}

/// Samples a curve at the key times of another timeline.
fn resample(library: &Library, curve: &Curve, timeline: &Arc<Timeline>, rotation: bool) -> Curve {
    let value = |&time: &f64| match rotation {
        true => sample::rotation(curve, time).to_array().to_vec(),
        false => sample::value(library, curve, time),
    };
    let values = timeline.times().iter().flat_map(value).collect();
    // Values between valid values are valid, so that this does not fail. If it did, the original curve would serve.
    Curve::new(timeline.clone(), curve.interpolation(), curve.width(), values).unwrap_or_else(|_| curve.clone())
}
