//! Expressions of faces: the weights of a VRM animation's expressions become morph weights of a VRM model.
//!
//! In a VRM animation, the local translation of a node along x is the weight of an expression. A model names the morph
//! weights that an expression of the same name moves, each with a factor; several expressions add up, and a binary one
//! is on above 0.5. Sources:
//! <https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm_animation-1.0/README.md> and
//! <https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm-1.0/expressions.md>.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::error::Error;
use crate::model::{Curve, Interpolation, Skeleton, Target, Timeline, Track};
use crate::retarget::moving_joints::{MovingJoints, TransformPart};
use crate::retarget::report::TrackMethod;

/// The weight of a binary expression above which it is on.
const MIN_ON: f64 = 0.5;
/// The largest change of a weight within a step of an `f32` that is no jump.
const MAX_STEP: f64 = 0.01;
/// The places between two keys of a spline at which weights are sampled.
const PLACES: usize = 16;
/// The number of halvings that find the time at which a binary expression goes on or off.
const HALVINGS: usize = 40;

/// A morph weight that an expression of the source moves.
struct MovedWeight {
    /// The joint of the source whose translation along x is the weight of the expression.
    driver: usize,
    is_binary: bool,
    /// The index of the morph weight, and its value at a weight of 1.
    index: usize,
    weight: f64,
}

/// The tracks of morph weights of the target for the expressions that source and target have. `used` marks the tracks of
/// the clip on which they depend.
pub(super) fn expression_tracks(
    skeletons: [&Skeleton; 2],
    source: &MovingJoints,
    used: &mut [bool],
) -> Result<Vec<(Track, TrackMethod)>, Error> {
    let drivers = skeletons[0].expressions().iter();
    let drivers: HashMap<&str, usize> =
        drivers.filter_map(|expression| Some((expression.name.as_str(), expression.driver?))).collect();
    let mut by_joint: BTreeMap<usize, Vec<MovedWeight>> = BTreeMap::new();
    for expression in skeletons[1].expressions().iter().filter(|expression| !expression.binds.is_empty()) {
        let Some(&driver) = drivers.get(expression.name.as_str()) else { continue };
        let tracks = source.tracks(driver, TransformPart::Translation);
        tracks.iter().for_each(|&(index, _)| used[index] = true);
        for bind in expression.binds.iter().filter(|_| !tracks.is_empty()) {
            let is_binary = expression.is_binary;
            let moved = MovedWeight { driver, is_binary, index: bind.index, weight: bind.weight };
            by_joint.entry(bind.joint).or_default().push(moved);
        }
    }
    by_joint
        .into_iter()
        .map(|(joint, moved)| track(&skeletons[1].joints()[joint].weights, joint, &moved, source))
        .collect()
}

/// The track of the weights of a joint.
fn track(
    rest: &[f64],
    joint: usize,
    moved: &[MovedWeight],
    source: &MovingJoints,
) -> Result<(Track, TrackMethod), Error> {
    let mut base = rest.to_vec();
    moved.iter().for_each(|moved| base[moved.index] = 0.0);
    let weights = |mut numbers: Vec<f64>, of: &dyn Fn(&MovedWeight) -> f64| {
        moved.iter().for_each(|moved| numbers[moved.index] += moved.weight * of(moved));
        numbers
    };
    let first = moved.first().map_or(0, |moved| moved.driver);
    if let [(_, track)] = source.tracks(first, TransformPart::Translation)
        && track.component.is_none()
        && moved.iter().all(|moved| moved.driver == first && !moved.is_binary)
    {
        let curve = &track.curve;
        let is_value = |element: usize| curve.interpolation() != Interpolation::CubicSpline || element % 3 == 1;
        let keys = curve.values().chunks_exact(3).enumerate().flat_map(|(element, numbers)| {
            let base = if is_value(element) { base.clone() } else { vec![0.0; base.len()] };
            weights(base, &|_| numbers[0])
        });
        let curve = curve.with_values(curve.interpolation(), rest.len(), keys.collect())?;
        return Ok((Track::new(Target::Weights(joint), curve), TrackMethod::Exact));
    }
    let value = |time: f64| {
        weights(base.clone(), &|moved| {
            let weight = source.translation(moved.driver, time).x;
            if moved.is_binary { f64::from(u8::from(weight > MIN_ON)) } else { weight }
        })
    };
    let difference =
        |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
    let mut keys: Vec<(f64, Vec<f64>)> = Vec::new();
    for time in times(moved, source) {
        let before = f64::from((time as f32).next_down());
        let jumps = keys.last().is_some_and(|&(last, _)| last < before);
        if jumps && difference(&value(before), &value(time)) > MAX_STEP {
            keys.push((before, value(before)));
        }
        keys.push((time, value(time)));
    }
    let error = |pair: &[(f64, Vec<f64>)]| {
        let [(start, from), (end, to)] = pair else { return 0.0 };
        let middle: Vec<f64> = from.iter().zip(to).map(|(from, to)| 0.5 * (from + to)).collect();
        // Within a jump there is no time that an engine asks for.
        if ((*start as f32).next_up() as f64) < *end { difference(&middle, &value(0.5 * (start + end))) } else { 0.0 }
    };
    let error = keys.windows(2).map(error).fold(0.0, f64::max);
    let timeline = Timeline::new(keys.iter().map(|&(time, _)| time).collect())?;
    let numbers = keys.iter().flat_map(|(_, numbers)| numbers.iter().copied()).collect();
    let curve = Curve::new(Arc::new(timeline), Interpolation::Linear, rest.len(), numbers)?;
    let method = TrackMethod::Resampled { keys: keys.len(), error };
    Ok((Track::new(Target::Weights(joint), curve), method))
}

/// The times of the keys of sampled weights, each an `f32`, in order.
fn times(moved: &[MovedWeight], source: &MovingJoints) -> Vec<f64> {
    let tracks = moved.iter().flat_map(|moved| source.tracks(moved.driver, TransformPart::Translation));
    let mut times = Vec::new();
    for (_, track) in tracks {
        let keys = track.curve.timeline().times();
        times.extend_from_slice(keys);
        if track.curve.interpolation() == Interpolation::CubicSpline {
            for pair in keys.windows(2) {
                times.extend((1..PLACES).map(|place| pair[0] + (pair[1] - pair[0]) * place as f64 / PLACES as f64));
            }
        }
    }
    times.sort_by(f64::total_cmp);
    let mut changes = Vec::new();
    for moved in moved.iter().filter(|moved| moved.is_binary) {
        let is_on = |time: f64| source.translation(moved.driver, time).x > MIN_ON;
        for pair in times.windows(2) {
            let (mut start, mut end) = (pair[0], pair[1]);
            if is_on(start) != is_on(end) {
                for _ in 0..HALVINGS {
                    let middle = 0.5 * (start + end);
                    if is_on(middle) == is_on(end) { end = middle } else { start = middle }
                }
                // The next `f32`, at which it has changed.
                let rounded = end as f32;
                changes.push(f64::from(if f64::from(rounded) < end { rounded.next_up() } else { rounded }));
            }
        }
    }
    times.extend(changes);
    times.iter_mut().for_each(|time| *time = f64::from(*time as f32));
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}
