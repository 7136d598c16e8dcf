//! The times at which two versions of a clip are compared.
//!
//! If the joints do not turn between two keys, the error of linear interpolation is largest at a key. If they turn, errors that
//! cancel each other at the keys cancel less between them, the more so the farther the joints turn. The intervals between keys
//! are therefore divided into parts in which the joints turn little.

use crate::model::{Clip, Curve, Interpolation, Library, RootRotation, Skeleton, Timeline, Transform};
use crate::reference::values::Values;

/// The most radians that a joint turns in model space between two measured times, unless its interval has [`MOST_PARTS`].
const LARGEST_TURN: f64 = 0.125;
/// The fewest parts of an interval.
const FEWEST_PARTS: u32 = 4;
/// The fewest parts of an interval with splines, easings, or a yaw that root motion removes.
const FEWEST_CURVED_PARTS: u32 = 16;
/// The most parts of an interval.
const MOST_PARTS: u32 = 64;

/// Times in order.
pub struct Moments {
    /// The times in seconds of the clip.
    pub times: Vec<f64>,
    /// For each time, true if it lies between two keys, and the times before and after it are equally far away and between the
    /// same keys or at them.
    pub between: Vec<bool>,
    /// The times are every `stride`-th of those that would be measured of a shorter clip.
    stride: usize,
}

impl Moments {
    /// All key times and times between them, evenly thinned to about `most`.
    pub fn new(library: &Library, clip: &Clip, most: usize) -> Self {
        let curves = || clip.tracks.iter().map(|track| &track.curve);
        let keys = key_times(clip);
        let window = curves().map(|curve| curve.timeline().window()).fold(0.0, f64::max);
        let removes_yaw = clip.root_motion.is_some_and(|root| root.rotation == RootRotation::Yaw);
        let curved = removes_yaw || curves().any(is_not_linear);
        let fewest = if curved { FEWEST_CURVED_PARTS } else { FEWEST_PARTS };
        let skeleton = library.skeleton(clip.skeleton);
        let (mut times, mut between) = (keys.get(..1).unwrap_or_default().to_vec(), vec![false; keys.len().min(1)]);
        let pose = |time: f64| Values::sampled(library, clip, time).local;
        let mut before = keys.first().map(|&time| pose(time)).unwrap_or_default();
        for gap in keys.windows(2) {
            let after = pose(gap[1]);
            let parts = (largest_turn(skeleton, &before, &after) / LARGEST_TURN).ceil() as u32;
            // Beside a jump, there is nothing between two times.
            let is_jump = gap[1] - gap[0] <= 2.0 * window || gap[0].next_up() == gap[1];
            let parts = if is_jump { 1 } else { parts.next_power_of_two().clamp(fewest, MOST_PARTS) };
            times.extend((1..parts).map(|part| gap[0] + f64::from(part) / f64::from(parts) * (gap[1] - gap[0])));
            times.push(gap[1]);
            between.extend((1..=parts).map(|part| part < parts));
            before = after;
        }
        let stride = times.len().div_ceil(most.max(8)).max(1);
        if stride > 1 {
            times = times.into_iter().step_by(stride).collect();
            between = vec![false; times.len()];
        }
        Self { times, between, stride }
    }

    /// The key times of another version of the clip that lie between these times, as thinned as these.
    pub fn keys_between(&self, other: &Clip) -> Vec<f64> {
        let keys = key_times(other).into_iter().step_by(self.stride);
        keys.filter(|key| self.times.binary_search_by(|time| time.total_cmp(key)).is_err()).collect()
    }
}

/// The key times of all tracks of a clip, in order, and the times beside jumps.
fn key_times(clip: &Clip) -> Vec<f64> {
    let timelines = || clip.tracks.iter().map(|track| &**track.curve.timeline());
    let times = timelines().flat_map(Timeline::times).copied().chain(timelines().flat_map(beside_jumps));
    let mut keys: Vec<f64> = times.map(|time| clip.keep(time)).collect();
    keys.sort_by(f64::total_cmp);
    keys.dedup();
    keys
}

/// The times just before and after keys that have the same time, or that one time hits: a clip shows the first of them only before that
/// time, and the last only after it.
fn beside_jumps(timeline: &Timeline) -> impl Iterator<Item = f64> {
    let window = timeline.window();
    let jumps = timeline.times().windows(2).filter(move |keys| keys[1] - keys[0] <= 2.0 * window);
    jumps.flat_map(move |keys| [(keys[0] - 1.5 * window).next_down(), (keys[1] + 1.5 * window).next_up()])
}

/// The most radians that a joint turns in model space from one pose to another, if all its ancestors turn the same way. A spline that
/// swings out and returns between the poses counts as no turn; [`FEWEST_CURVED_PARTS`] is for those.
fn largest_turn(skeleton: &Skeleton, before: &[Transform], after: &[Transform]) -> f64 {
    let mut turns: Vec<f64> = Vec::with_capacity(before.len());
    for (index, joint) in skeleton.joints().iter().enumerate() {
        let (from, to) = (before[index].rotation, after[index].rotation);
        let chord = (from - to).length().min((from + to).length());
        let turn = 4.0 * (0.5 * chord).min(1.0).asin();
        turns.push(turn + joint.parent.map_or(0.0, |parent| turns[parent]));
    }
    turns.into_iter().fold(0.0, f64::max)
}

/// Returns true if a curve has splines or easings between its keys.
fn is_not_linear(curve: &Curve) -> bool {
    let mut keys = 0..curve.timeline().len() - 1;
    curve.interpolation() == Interpolation::CubicSpline || keys.any(|key| !curve.easing_at(key).is_linear())
}

/// The peak of a parabola.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// The place between -1 and 1.
    pub place: f64,
    /// The value there.
    pub height: f64,
}

impl Peak {
    /// The peak of the parabola through three numbers at -1, 0 and 1. `None` if it has no peak between them.
    pub fn new(before: f64, middle: f64, after: f64) -> Option<Self> {
        let (slope, curvature) = (0.5 * (after - before), before + after - 2.0 * middle);
        let place = -slope / curvature;
        let rises = curvature < 0.0 && place.abs() < 1.0;
        rises.then_some(Self { place, height: middle + 0.5 * slope * place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parabola_has_its_peak_where_its_formula_says() {
        // 5 - 2 (x - 0.25)^2
        let at = |x: f64| 5.0 - 2.0 * (x - 0.25) * (x - 0.25);
        assert_eq!(Peak::new(at(-1.0), at(0.0), at(1.0)), Some(Peak { place: 0.25, height: 5.0 }));
        assert_eq!(Peak::new(1.0, 0.0, 1.0), None, "a valley");
        assert_eq!(Peak::new(0.0, 1.0, 2.0), None, "a straight line");
        assert_eq!(Peak::new(0.0, 3.0, 5.0), None, "a peak beyond the last number");
    }

    #[test]
    fn a_jump_is_measured_just_before_and_after_it() {
        use std::sync::Arc;

        use crate::model::{Joint, Target, Track};

        // 7/30 + (0.8 - 7/30) is not the number before 0.8 if it is rounded.
        for window in [0.0, 1e-6] {
            let timeline = Timeline::snapping(vec![7.0 / 30.0, 0.8, 0.8], window).unwrap();
            let turns = [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]].concat();
            let curve = Curve::new(Arc::new(timeline), Interpolation::Linear, 4, turns).unwrap();
            let mut library = Library::new();
            let skeleton = library.add_skeleton(Skeleton::new(None, vec![Joint::default()], Vec::new()).unwrap());
            let clip = Clip::new(None, skeleton, vec![Track::new(Target::Rotation(0), curve)]);
            let moments = Moments::new(&library, &clip, 1000);
            let (before, after) = ((0.8 - 1.5 * window).next_down(), (0.8 + 1.5 * window).next_up());
            let jump = moments.times.iter().position(|&time| time == 0.8).unwrap();
            assert_eq!(moments.times[jump - 1..], [before, 0.8, after], "{window}");
            assert_eq!(moments.between[jump..], [false, false]);
        }
    }
}
