//! Key times that curves share, and those that they can do without.
//!
//! A key's time takes 8 bytes, what finds it 4, and a timeline a search for every instance, where a key of four numbers takes
//! about 5 bytes. So a curve gets keys at times where it had none if it then lies on another's timeline, and a timeline
//! loses keys that each of its curves comes near enough without. Both are done to curves whose way from key to key is
//! straight, on the arc of a slerp too, or stands still: cut into two or run together, it stays what it is. Where keys are hit
//! from a while before to a while after their times, it is not.

use std::collections::HashMap;
use std::sync::Arc;

use glam::DQuat;

use crate::compress::curve::{Resolution, can_be_quantized, has_unit_keys};
use crate::compress::piece::Piece;
use crate::model::rotation::unit;
use crate::model::{Clip, Curve, Extrapolation, Interpolation, Library, Timeline, Track};
use crate::pack::PackedTimeline;
use crate::reference::sample;

/// Bytes that a key of up to four numbers takes, about.
const KEY: usize = 5;

/// The cosine of half the largest turn from key to key that leaving keys out may make: near a half turn its direction would
/// hang on the last digits.
const LEAST_COSINE: f64 = 0.5;

/// How many timelines are looked at for one that another's curves could lie on.
const MOST_HOSTS: usize = 64;

/// For some timelines those that their curves are moved to.
type Moves = HashMap<*const Timeline, Arc<Timeline>>;

/// Whether a curve goes straight from key to key, and nowhere beyond them.
fn is_straight(curve: &Curve, rotation: bool) -> bool {
    let mut gaps = 0..curve.timeline().len() - 1;
    matches!(curve.interpolation(), Interpolation::Linear | Interpolation::Step)
        && can_be_quantized(curve)
        && curve.extrapolation() == [Extrapolation::Clamp; 2]
        && !curve.timeline().has_shared_times()
        && curve.timeline().window() == 0.0
        && gaps.all(|key| curve.easing_at(key).is_linear())
        && (!rotation || has_unit_keys(curve))
}

/// What lies on a timeline.
struct Lying<'a> {
    timeline: &'a Arc<Timeline>,
    /// Columns of each of its straight curves, by what copies of a curve have in common.
    columns: HashMap<usize, usize>,
    /// Whether other curves need it, too.
    has_others: bool,
}

/// Clips whose curves of fewer keys lie on a timeline that has all of theirs, where that saves bytes.
pub fn shared(library: &Library, clips: &[&Clip]) -> Vec<Clip> {
    let mut timelines: Vec<Lying> = Vec::new();
    let mut places: HashMap<*const Timeline, usize> = HashMap::new();
    for (clip, track) in clips.iter().flat_map(|clip| clip.tracks.iter().map(move |track| (clip, track))) {
        let curve = &track.curve;
        let place = *places.entry(Arc::as_ptr(curve.timeline())).or_insert_with(|| {
            timelines.push(Lying { timeline: curve.timeline(), columns: HashMap::new(), has_others: false });
            timelines.len() - 1
        });
        if is_straight(curve, track.target.is_rotation(library.skeleton(clip.skeleton))) {
            timelines[place].columns.insert(curve.values_identity(), curve.width().div_ceil(4));
        } else {
            timelines[place].has_others |= !curve.is_constant();
        }
    }
    timelines.retain(|lying| !lying.columns.is_empty());
    timelines.sort_by_key(|lying| std::cmp::Reverse(lying.timeline.len()));
    let mut hosts: Vec<&Arc<Timeline>> = Vec::new();
    let mut moves = Moves::new();
    for Lying { timeline, columns, has_others } in timelines {
        let saved = if has_others { 0 } else { PackedTimeline::bytes(timeline) };
        let key = KEY * columns.values().sum::<usize>();
        // The shortest that will do.
        let host = hosts
            .iter()
            .rev()
            .take(MOST_HOSTS)
            .find(|host| key * (host.len() - timeline.len()) < saved && has_all_times(host, timeline));
        match host {
            Some(&host) => drop(moves.insert(Arc::as_ptr(timeline), host.clone())),
            None => hosts.push(timeline),
        }
    }
    moved(library, clips, &moves)
}

/// Whether a timeline has all key times of another, and ends with it: a clip may last as long as its keys.
fn has_all_times(timeline: &Timeline, other: &Timeline) -> bool {
    let mut times = timeline.times().iter();
    let mut has = |wanted: &f64| times.find(|&time| time >= wanted) == Some(wanted);
    timeline.last() == other.last() && other.times().iter().all(&mut has)
}

/// Clips without the key times that all curves of a timeline come within a share of their tolerances without; none where
/// too few are.
pub fn thinned(library: &Library, clips: &[Clip], pieces: &[Piece], share: f64) -> Option<Vec<Clip>> {
    let mut ways: HashMap<*const Timeline, Vec<Way>> = HashMap::new();
    for piece in pieces.iter().filter(|piece| is_straight(&piece.curve, piece.rotation)) {
        ways.entry(Arc::as_ptr(piece.curve.timeline())).or_default().push(Way::new(piece, share));
    }
    let mut moves = Moves::new();
    for (timeline, ways) in ways {
        let old = ways[0].curve.timeline();
        let moving: Vec<&Way> = ways.iter().filter(|way| !way.stands_still).collect();
        if moving.is_empty() {
            continue;
        }
        let Some(new) = thinner(old, &moving) else { continue };
        let columns: usize = moving.iter().map(|way| way.curve.width().div_ceil(4)).sum();
        let size = |timeline: &Timeline| PackedTimeline::bytes(timeline) + KEY * columns * timeline.len();
        if size(&new) < size(old) {
            moves.insert(timeline, Arc::new(new));
        }
    }
    let clips: Vec<&Clip> = clips.iter().collect();
    (!moves.is_empty()).then(|| moved(library, &clips, &moves))
}

/// A timeline without the keys that no way needs, unless it needs them all.
fn thinner(timeline: &Timeline, ways: &[&Way]) -> Option<Timeline> {
    let times = timeline.times();
    let mut kept = vec![times[0]];
    let mut from = 0;
    while from + 1 < times.len() {
        from = farthest(from, times.len() - 1, |to| ways.iter().all(|way| way.is_near(from, to)));
        kept.push(times[from]);
    }
    // Some of the times of a timeline are one.
    if kept.len() == times.len() { None } else { Timeline::new(kept).ok() }
}

/// About the farthest key that may follow another, at least the next: by steps twice as long each, then half as long.
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

/// A curve's way, and what it may be left by.
struct Way<'a> {
    curve: &'a Curve,
    /// The keys of rotations, at unit length.
    rotations: Vec<DQuat>,
    slack: f64,
    /// Whether it will lose all its keys.
    stands_still: bool,
}

impl<'a> Way<'a> {
    fn new(piece: &'a Piece, share: f64) -> Self {
        let curve = &piece.curve;
        let keys = 0..if piece.rotation { curve.timeline().len() } else { 0 };
        let rotation = |key| unit(DQuat::from_slice(curve.value(key))).unwrap_or(DQuat::IDENTITY);
        let rest = (1.0 - share) * piece.tolerance;
        Self {
            curve,
            rotations: keys.map(rotation).collect(),
            slack: share * piece.tolerance,
            stands_still: piece.make(Resolution::within(curve, rest, piece.strict), true).curve.is_constant(),
        }
    }

    /// Whether the straight way from one key to another passes near the keys between them.
    fn is_near(&self, from: usize, to: usize) -> bool {
        let Self { curve, rotations, slack, .. } = self;
        let times = curve.timeline().times();
        let stepped = curve.interpolation() == Interpolation::Step;
        let gap = if stepped { f64::INFINITY } else { times[to] - times[from] };
        let mut between = (from + 1..to).map(|key| (key, (times[key] - times[from]) / gap));
        if let (Some(&first), Some(&last)) = (rotations.get(from), rotations.get(to)) {
            return (stepped || first.dot(last).abs() >= LEAST_COSINE)
                && between.all(|(key, fraction)| {
                    let passed = sample::slerp(first, last, fraction);
                    (passed - rotations[key]).length().min((passed + rotations[key]).length()) <= *slack
                });
        }
        between.all(|(key, fraction)| {
            let ends = curve.value(from).iter().zip(curve.value(to));
            let passed = ends.map(|(a, b)| (1.0 - fraction) * a + fraction * b);
            passed.zip(curve.value(key)).all(|(passed, value)| (passed - value).abs() <= *slack)
        })
    }
}

/// Clips with their straight curves on other timelines. Curves that were copies of one another stay so.
fn moved(library: &Library, clips: &[&Clip], moves: &Moves) -> Vec<Clip> {
    let mut made: HashMap<(usize, *const Timeline, Interpolation, bool), Curve> = HashMap::new();
    let mut track = |clip: &Clip, track: &Track| {
        let curve = &track.curve;
        let rotation = track.target.is_rotation(library.skeleton(clip.skeleton));
        let to = moves.get(&Arc::as_ptr(curve.timeline())).filter(|_| is_straight(curve, rotation));
        let Some(to) = to else { return track.clone() };
        let key = (curve.values_identity(), Arc::as_ptr(curve.timeline()), curve.interpolation(), rotation);
        let curve = made.entry(key).or_insert_with(|| laid_on(library, curve, to, rotation));
        Track { curve: curve.clone(), ..track.clone() }
    };
    let clip =
        |clip: &&Clip| Clip { tracks: clip.tracks.iter().map(|of| track(clip, of)).collect(), ..Clip::clone(clip) };
    clips.iter().map(clip).collect()
}

/// A curve with the keys that it has at the times of another timeline.
fn laid_on(library: &Library, curve: &Curve, timeline: &Arc<Timeline>, rotation: bool) -> Curve {
    let value = |&time: &f64| match rotation {
        true => sample::rotation(curve, time).to_array().to_vec(),
        false => sample::value(library, curve, time),
    };
    let values = timeline.times().iter().flat_map(value).collect();
    // What lies between numbers that a curve can have is one. Were it none, the curve would do as it is.
    Curve::new(timeline.clone(), curve.interpolation(), curve.width(), values).unwrap_or_else(|_| curve.clone())
}
