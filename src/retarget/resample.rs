//! Sampling of a motion at the key times that it depends on, and between them until lines or arcs are close enough to
//! it.
//!
//! Intervals are halved until the error in model space is within the bound; `key_budget` limits all tracks together.
//! Below a sampled joint, other sampled joints undo its error, so that errors do not add up along a chain.

use std::sync::Arc;

use glam::{DQuat, DVec3};

use crate::error::Error;
use crate::model::{Clip, Curve, Extrapolation, Interpolation, Timeline};
use crate::reference::sample::slerp;

/// The places between two keys at which the error is measured, in parts of the interval.
const PLACES: usize = 16;
/// The number of halvings that find the time at which a condition changes.
const HALVINGS: usize = 40;
/// The most keys of a curve. Beyond, intervals are not divided.
const MAX_KEYS: usize = 1 << 20;

/// The times at which a motion may have a kink or a jump.
#[derive(Debug, Default, Clone)]
pub(crate) struct MotionKnots {
    /// Times in seconds, each with true if values may jump there.
    times: Vec<(f64, bool)>,
    /// A curve is not held from key to key.
    is_smooth: bool,
}

impl MotionKnots {
    /// Adds the key times of a curve of a clip of this length. With a length, they are from 0 to it.
    pub fn add(&mut self, curve: &Curve, length: Option<f64>) {
        let timeline = curve.timeline();
        let (times, window) = (timeline.times(), timeline.window());
        let is_step = curve.interpolation() == Interpolation::Step;
        let is_clamped = curve.extrapolation() == [Extrapolation::Clamp; 2];
        self.is_smooth |= !is_step || !is_clamped || window > 0.0 || timeline.has_shared_times();
        let span = timeline.last() - timeline.first();
        let known = self.times.len();
        for pass in passes(curve, length) {
            let is_mirrored = pass.rem_euclid(2) == 1 && uses(curve, Extrapolation::PingPong, pass);
            for (key, &time) in times.iter().enumerate() {
                let time = if is_mirrored { timeline.first() + timeline.last() - time } else { time };
                let time = time + pass as f64 * span;
                self.times.push((time, is_step || timeline.has_shared_times() || pass != 0));
                if window > 0.0 {
                    self.times.extend([(time - window, true), (time + window, true)]);
                }
                if is_zero_rotation(curve, key) {
                    // It is the identity at this time alone.
                    let is_held = key + 1 == times.len() && length.is_none();
                    let after = if is_held { time } else { f64::from((time as f32).next_up()) };
                    self.times.extend([(time, true), (after, true)]);
                }
            }
        }
        let Some(length) = length else { return };
        // A straight line goes on to the end of the clip.
        let [before, after] = curve.extrapolation();
        self.times.extend((before == Extrapolation::Linear).then_some((0.0, false)));
        self.times.extend((after == Extrapolation::Linear).then_some((length, false)));
        clamp(&mut self.times[known..], 0.0, length);
    }

    /// Adds a jump wherever a condition changes between the times that were added.
    pub fn add_changes(&mut self, is_met: &dyn Fn(f64) -> bool) {
        self.sort();
        let mut changes = Vec::new();
        for pair in self.times.windows(2) {
            let (first, last) = (pair[0].0, pair[1].0);
            let mut start = first;
            for place in 1..=PLACES {
                let end = first + (last - first) * (place as f64 / PLACES as f64);
                if is_met(start) != is_met(end) {
                    changes.push((change(is_met, start, end), true));
                }
                start = end;
            }
        }
        self.times.extend(changes);
    }

    /// Adds other times.
    pub fn append(&mut self, other: Self) {
        self.times.extend(other.times);
        self.is_smooth |= other.is_smooth;
    }

    /// Replaces the times beyond a range by its ends.
    pub fn clamp(&mut self, start: f64, end: f64) {
        clamp(&mut self.times, start, end);
    }

    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Adds the times of another motion.
    pub fn extend(&mut self, other: &Self) {
        self.times.extend(&other.times);
        self.is_smooth |= other.is_smooth;
    }

    /// The number of different times.
    pub fn count(&mut self) -> usize {
        self.sort();
        self.times.len()
    }

    /// Sorts the times, and leaves each once.
    pub fn sort(&mut self) {
        self.times.sort_by(|one, other| one.0.total_cmp(&other.0));
        self.times.dedup_by(|next, kept| {
            let is_same = next.0 as f32 == kept.0 as f32;
            kept.1 |= is_same && next.1;
            is_same
        });
    }
}

/// The first `f32` from which a condition is as at the end of an interval, at whose start it is not.
fn change(is_met: &dyn Fn(f64) -> bool, mut start: f64, mut end: f64) -> f64 {
    let is_met_after = is_met(end);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (start + end);
        *(if is_met(middle) == is_met_after { &mut end } else { &mut start }) = middle;
    }
    let rounded = end as f32;
    f64::from(if f64::from(rounded) < end { rounded.next_up() } else { rounded })
}

fn clamp(times: &mut [(f64, bool)], start: f64, end: f64) {
    for (time, _) in times {
        *time = time.clamp(start, end);
    }
}

/// Returns `true` if a key of a spline of rotations is zero.
fn is_zero_rotation(curve: &Curve, key: usize) -> bool {
    let is_rotation = curve.width() == 4 && curve.interpolation() == Interpolation::CubicSpline;
    is_rotation && curve.value(key).iter().all(|&number| number == 0.0)
}

fn uses(curve: &Curve, wanted: Extrapolation, pass: i64) -> bool {
    let [before, after] = curve.extrapolation();
    (if pass < 0 { before } else { after }) == wanted
}

/// The repetitions of a curve within its clip, the keys themselves being repetition 0.
fn passes(curve: &Curve, length: Option<f64>) -> std::ops::RangeInclusive<i64> {
    let (timeline, most) = (curve.timeline(), MAX_KEYS as f64);
    let span = timeline.last() - timeline.first();
    let (Some(length), true) = (length, span > 0.0) else { return 0..=0 };
    let repeats = |extrapolation| matches!(extrapolation, Extrapolation::Loop | Extrapolation::PingPong);
    let [before, after] = curve.extrapolation();
    let count = |outside: f64| (outside / span).ceil().clamp(0.0, most / timeline.len() as f64) as i64;
    let first = if repeats(before) { -count(timeline.first()) } else { 0 };
    let last = if repeats(after) { count(length - timeline.last()) } else { 0 };
    first..=last
}

/// A value of a motion.
pub(crate) trait MotionValue: Clone {
    /// Numbers per key.
    fn width(&self) -> usize;
    /// The value between two keys.
    fn mix(&self, other: &Self, fraction: f64) -> Self;
    /// The numbers of a key.
    fn numbers(&self) -> Vec<f64>;
    /// The same value with the numbers that are nearer to the numbers of the key before.
    fn near(self, _before: &Self) -> Self {
        self
    }
}

impl MotionValue for DQuat {
    fn width(&self) -> usize {
        4
    }

    fn mix(&self, other: &Self, fraction: f64) -> Self {
        slerp(*self, *other, fraction)
    }

    fn numbers(&self) -> Vec<f64> {
        self.to_array().to_vec()
    }

    fn near(self, before: &Self) -> Self {
        if self.dot(*before) < 0.0 { -self } else { self }
    }
}

impl MotionValue for DVec3 {
    fn width(&self) -> usize {
        3
    }

    fn mix(&self, other: &Self, fraction: f64) -> Self {
        (1.0 - fraction) * *self + fraction * *other
    }

    fn numbers(&self) -> Vec<f64> {
        self.to_array().to_vec()
    }
}

/// The morph weights of a joint.
impl MotionValue for Vec<f64> {
    fn width(&self) -> usize {
        self.len()
    }

    fn mix(&self, other: &Self, fraction: f64) -> Self {
        self.iter().zip(other).map(|(from, to)| (1.0 - fraction) * from + fraction * to).collect()
    }

    fn numbers(&self) -> Vec<f64> {
        self.clone()
    }
}

/// A curve through samples, and the largest error that was measured.
pub(crate) struct Resampled {
    pub curve: Curve,
    pub error: f64,
}

/// A motion to be sampled.
pub(crate) struct SampledMotion<'a, V> {
    /// The value at a time.
    pub value: &'a dyn Fn(f64) -> V,
    /// The error at a time of a value, the first, in place of another.
    pub error: &'a dyn Fn(f64, V, V) -> f64,
    /// The largest error that is wanted.
    pub bound: f64,
}

/// A curve through a motion.
///
/// A motion whose tracks are all held from key to key becomes such a curve, which is exact. All others become lines or
/// arcs; a jump becomes two keys, a step of an `f32` apart. Fails if the budget has too few keys.
pub(crate) fn resample<V: MotionValue>(
    mut knots: MotionKnots,
    motion: &SampledMotion<V>,
    budget: &mut KeyBudget,
) -> Result<Resampled, Error> {
    knots.sort();
    let (is_step, knots) = (!knots.is_smooth, knots.times);
    // A key of many numbers counts as several.
    let cost = knots.first().map_or(1, |&(time, _)| (motion.value)(time).width().div_ceil(NUMBERS_PER_KEY));
    if is_step {
        budget.charge(knots.len().saturating_mul(cost))?;
        let keys = knots.iter().map(|&(time, _)| (time, (motion.value)(time))).collect();
        return curve(keys, Interpolation::Step, 0.0);
    }
    let count: usize = knots.iter().map(|&(_, jumps)| 1 + usize::from(jumps)).sum();
    budget.charge(count.saturating_mul(cost))?;
    let mut keys: Vec<(f64, V)> = Vec::with_capacity(count);
    let mut worst: f64 = 0.0;
    let mut left = Left { keys: MAX_KEYS.saturating_sub(count), cost, budget };
    for &(time, jumps) in &knots {
        let Some(first) = keys.last().cloned() else {
            keys.push((time, (motion.value)(time)));
            continue;
        };
        let before = (time as f32).next_down();
        let end = if jumps { f64::from(before) } else { time };
        // Between two neighbouring `f32`, there is no room for a key before a jump.
        if !jumps || (first.0 as f32) < before {
            worst = worst.max(divide(first, end, motion, &mut left, &mut keys)?);
        }
        if jumps {
            keys.push((time, (motion.value)(time)));
        }
    }
    curve(keys, Interpolation::Linear, worst)
}

fn curve<V: MotionValue>(
    mut keys: Vec<(f64, V)>,
    interpolation: Interpolation,
    error: f64,
) -> Result<Resampled, Error> {
    for index in 1..keys.len() {
        keys[index].1 = keys[index].1.clone().near(&keys[index - 1].1);
    }
    let width = keys.first().map_or(0, |(_, value)| value.width());
    let timeline = Timeline::new(keys.iter().map(|&(time, _)| time).collect())?;
    let numbers = keys.iter().flat_map(|(_, value)| value.numbers()).collect();
    Ok(Resampled { curve: Curve::new(Arc::new(timeline), interpolation, width, numbers)?, error })
}

/// The keys that intervals may still be divided by.
struct Left<'a> {
    /// The keys of the curve. Without any, intervals stay as they are.
    keys: usize,
    /// The keys of the budget that one of them takes.
    cost: usize,
    /// The keys of all curves. Without any, the sampling fails.
    budget: &'a mut KeyBudget,
}

/// Adds keys from a key, without it, to a time, until the error between them is within the bound. Returns the largest
/// error.
fn divide<V: MotionValue>(
    first: (f64, V),
    end: f64,
    motion: &SampledMotion<V>,
    left: &mut Left,
    keys: &mut Vec<(f64, V)>,
) -> Result<f64, Error> {
    let mut worst: f64 = 0.0;
    let mut start = first;
    // The ends of the intervals that are still to be compared, the nearest last.
    let mut ends = vec![(end, (motion.value)(end))];
    while let Some((end, value)) = ends.last().cloned() {
        let middle = 0.5 * (start.0 + end);
        let is_divisible = left.keys > 0 && (start.0 as f32) < (middle as f32) && (middle as f32) < (end as f32);
        // Within a jump, between two neighbouring `f32`, there are no times that an engine asks for.
        let places = if (start.0 as f32).next_up() < end as f32 { PLACES - 1 } else { 0 };
        let mut most: f64 = 0.0;
        // The middle comes first, because it tells most.
        for place in (0..places).map(|step| 1 + (step + PLACES / 2 - 1) % (PLACES - 1)) {
            let fraction = place as f64 / PLACES as f64;
            let time = start.0 + fraction * (end - start.0);
            most = most.max((motion.error)(time, start.1.mix(&value, fraction), (motion.value)(time)));
            if is_divisible && most > motion.bound {
                break;
            }
        }
        if is_divisible && most > motion.bound {
            left.keys -= 1;
            left.budget.charge(left.cost)?;
            ends.push((middle, (motion.value)(middle)));
            continue;
        }
        worst = worst.max(most);
        keys.push((end, value.clone()));
        start = (end, value);
        ends.pop();
    }
    Ok(worst)
}

/// The keys that sampled tracks may still get, all together.
///
/// Few keys can become many: below a joint that rotates far and has no partner, each interval becomes hundreds of keys
/// in each track. The limit is 8 keys per key of the clips and 2^22 more, so that memory stays in proportion to the
/// input. A key of many numbers counts as several.
#[derive(Debug, Clone)]
pub(crate) struct KeyBudget {
    left: usize,
    allowed: usize,
}

/// The numbers of a key that counts once; a rotation has as many.
const NUMBERS_PER_KEY: usize = 4;
/// Keys of sampled tracks per key of the clips.
const GROWTH: usize = 8;
/// The keys that sampled tracks may have in any case.
const ALLOWANCE: usize = 1 << 22;

impl KeyBudget {
    /// A budget that no clip has raised yet.
    pub fn new() -> Self {
        Self::of(ALLOWANCE)
    }

    /// A budget of this number of keys.
    pub fn of(keys: usize) -> Self {
        Self { left: keys, allowed: keys }
    }

    /// Raises the limit by a clip that is sampled.
    pub fn add_clip(&mut self, clip: &Clip) {
        let cost = |curve: &Curve| curve.timeline().len().saturating_mul(curve.width().div_ceil(NUMBERS_PER_KEY));
        let keys = clip.tracks.iter().fold(0_usize, |keys, track| keys.saturating_add(cost(&track.curve)));
        let more = keys.saturating_mul(GROWTH);
        self.left = self.left.saturating_add(more);
        self.allowed = self.allowed.saturating_add(more);
    }

    /// Takes the keys of a curve of this width, which are transformed, from the budget. To be called before they are
    /// made.
    ///
    /// # Errors
    /// [`Error::Usage`] if too few are left.
    pub fn charge_curve(&mut self, keys: usize, width: usize) -> Result<(), Error> {
        self.charge(keys.saturating_mul(width.div_ceil(NUMBERS_PER_KEY)))
    }

    /// Takes keys from the budget. To be called before they are made.
    ///
    /// # Errors
    /// [`Error::Usage`] if too few are left.
    pub fn charge(&mut self, keys: usize) -> Result<(), Error> {
        let Some(left) = self.left.checked_sub(keys) else {
            return Err(Error::Usage(format!(
                "the sampled tracks need more than {} keys, {GROWTH} per key of the clips and {ALLOWANCE} more; take fewer or \
                 shorter clips at once, a lower frame rate, or a larger error bound",
                self.allowed
            )));
        };
        self.left = left;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampling_fails_before_it_outgrows_its_budget() {
        let timeline = Arc::new(Timeline::new(vec![0.0, 1.0]).unwrap());
        let line = Curve::new(timeline, Interpolation::Linear, 1, vec![0.0, 1.0]).unwrap();
        let motion = SampledMotion {
            value: &|time: f64| DVec3::new((20.0 * time).sin(), 0.0, 0.0),
            error: &|_, one: DVec3, other| one.distance(other),
            bound: 1e-4,
        };
        let sample = |keys: usize| {
            let (mut knots, mut budget) = (MotionKnots::default(), KeyBudget::of(keys));
            knots.add(&line, None);
            resample(knots, &motion, &mut budget)
        };
        let needed = sample(1 << 20).unwrap().curve.timeline().len();
        assert!(needed > 100);
        assert_eq!(sample(needed).unwrap().curve.timeline().len(), needed);
        let error = sample(needed - 1).err().unwrap().to_string();
        assert!(error.contains(&format!("need more than {} keys", needed - 1)), "{error}");
    }
}
