//! Curves of the model from baked keys: steps where the file has steps, and lines elsewhere, with keys added until the
//! lines follow the curve of the file.
//!
//! A key is a point with a value before and a value after its time, which differ at a step. Between two points, the
//! curve of the file is compared with a line (slerp for rotations) at four times. If one of them differs by more than the
//! tolerance, the value at the half becomes a further point, and both halves are compared in turn.

use glam::{DQuat, DVec4};

use crate::error::Error;
use crate::model::{CurveEasing, Easing, Interpolation};

/// Numbers of a value: the first one, three or four count.
pub type Value = [f64; 4];

/// Keys of a file that are no further apart, in seconds, are samples of a motion, with nothing between them.
const SAMPLE_GAP: f64 = 1.0 / super::MIN_SAMPLE_RATE;
/// The time that a step takes beside other curves, in seconds.
const STEP: f64 = 1e-3;
/// The smallest time between two keys, in seconds. Of closer ones, the last one counts.
const MIN_GAP: f64 = 1e-5;
/// The smallest time between a key that is added and its neighbours, in seconds: 1/30 s is halved five times.
const MIN_PIECE: f64 = 1e-3;

/// The parts of an interval, beside its half, after which the curve is compared with a line. At the golden section, a
/// spin of whole turns to all other parts does not look still.
const PARTS: [f64; 3] = [0.25, 0.381_966_011_250_105_1, 0.75];
/// The smallest cosine of half the angle between two rotations with a line between them: 168 degrees.
const MIN_COSINE: f64 = 0.1;

/// A curve of a file.
pub struct FileCurve<'a> {
    /// Numbers per value: 1, 3, or 4 for a rotation.
    pub width: usize,
    /// The largest difference of the result from the curve: a distance, or an angle in radians.
    pub tolerance: f64,
    /// The value at a time.
    pub evaluate: &'a dyn Fn(f64) -> Value,
}

/// A key time of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub time: f64,
    pub before: Value,
    pub after: Value,
    /// True for a key of the file.
    pub is_key: bool,
}

impl Point {
    /// A point without a step.
    pub fn new(time: f64, value: Value, is_key: bool) -> Self {
        Self { time, before: value, after: value, is_key }
    }
}

/// The keys of a curve of the model.
#[derive(Debug, PartialEq)]
pub struct ModelKeys {
    pub times: Vec<f64>,
    pub values: Vec<f64>,
    pub interpolation: Interpolation,
    pub easing: CurveEasing,
}

impl FileCurve<'_> {
    /// The points with further points between them, as many as are `left`.
    pub fn refine(&self, points: Vec<Point>, left: &mut usize) -> Vec<Point> {
        let are_samples = |from: &Point, to: &Point| from.is_key && to.is_key && to.time - from.time <= SAMPLE_GAP;
        if points.windows(2).all(|pair| are_samples(&pair[0], &pair[1])) {
            return points;
        }
        let (mut refined, mut intervals) = (Vec::with_capacity(points.len()), Vec::new());
        refined.extend(points.first());
        for pair in points.windows(2) {
            let &[from, to] = pair else { continue };
            if !are_samples(&from, &to) {
                intervals.push((from.time, from.after, to.time, to.before));
            }
            while let Some((start, first, end, last)) = intervals.pop() {
                let half = start + 0.5 * (end - start);
                let may_halve = *left > 0 && end - start >= 2.0 * MIN_PIECE;
                let middle = if may_halve { self.middle_of_bend(start, first, end, last) } else { None };
                if let Some(middle) = middle {
                    *left -= 1;
                    intervals.push((half, middle, end, last));
                    intervals.push((start, first, half, middle));
                } else if end < to.time {
                    refined.push(Point::new(end, last, false));
                }
            }
            refined.push(to);
        }
        refined
    }

    /// The value in the middle of a curve that does not follow a line; `None` for a curve that does.
    fn middle_of_bend(&self, start: f64, first: Value, end: f64, last: Value) -> Option<Value> {
        let on_curve = |part: f64| (self.evaluate)(start + part * (end - start));
        let is_near = |part: f64, on_curve: Value| {
            // A number that is not finite is no reason for further keys.
            let distance = self.distance(on_curve, self.interpolate(first, last, part));
            !distance.is_finite() || distance <= self.tolerance
        };
        // Of rotations by half a turn, rounding would choose the direction of slerp.
        let is_ambiguous = self.width == 4 && DVec4::from(first).dot(DVec4::from(last)).abs() < MIN_COSINE;
        let middle = on_curve(0.5);
        let is_line = || is_near(0.5, middle) && PARTS.into_iter().all(|part| is_near(part, on_curve(part)));
        (is_ambiguous || !is_line()).then_some(middle)
    }

    fn interpolate(&self, from: Value, to: Value, part: f64) -> Value {
        if self.width == 4 {
            return DQuat::from_array(from).slerp(DQuat::from_array(to), part).to_array();
        }
        DVec4::from(from).lerp(DVec4::from(to), part).to_array()
    }

    /// The distance of two values, or the angle between two rotations in radians.
    fn distance(&self, one: Value, other: Value) -> f64 {
        if self.width == 4 {
            let difference = DQuat::from_array(one).conjugate() * DQuat::from_array(other);
            return 2.0 * difference.xyz().length().atan2(difference.w.abs());
        }
        DVec4::from(one).distance(DVec4::from(other))
    }

    /// True for values that differ by rounding alone. The signs of quaternions do not count.
    pub fn is_same(&self, one: Value, other: Value) -> bool {
        let scale = || DVec4::from(one).abs().max_element().max(1.0);
        one == other || self.distance(one, other) <= 1e-9 * scale()
    }

    /// Returns `true` if all points have one value.
    pub fn is_constant(&self, points: &[Point]) -> bool {
        let Some(first) = points.first() else { return true };
        points.iter().all(|point| self.is_same(first.before, point.before) && self.is_same(first.before, point.after))
    }

    /// The keys of the model: a step curve if the value only changes in steps, otherwise lines. A value that holds up
    /// to a step has the easing [`Easing::Constant`].
    pub fn keys(&self, points: &[Point]) -> ModelKeys {
        let is_step = |point: &Point| !self.is_same(point.before, point.after);
        let holds = |from: &Point, to: &Point| self.is_same(from.after, to.before);
        let has_steps = points.iter().any(is_step);
        let all_hold = || points.windows(2).all(|pair| holds(&pair[0], &pair[1]));
        let interpolation = if has_steps && all_hold() { Interpolation::Step } else { Interpolation::Linear };
        let mut keys = KeyList::default();
        for (index, point) in points.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|index| points.get(index));
            if let Some(before) = before.filter(|before| is_step(point) && !holds(before, point)) {
                let gap = STEP.min(0.5 * (point.time - before.time));
                keys.push(point.time - gap, point.before, Easing::Constant);
            }
            let next = points.get(index + 1);
            let holds = next.is_some_and(|next| is_step(next) && holds(point, next));
            keys.push(point.time, point.after, if holds { Easing::Constant } else { Easing::Linear });
        }
        if self.width == 4 {
            keys.align_signs();
        }
        let has_easing = interpolation == Interpolation::Linear && keys.easings.contains(&Easing::Constant);
        let easing = if has_easing { CurveEasing::PerKey(keys.easings.into()) } else { CurveEasing::None };
        let values = keys.values.iter().flat_map(|value| value.iter().take(self.width).copied()).collect();
        ModelKeys { times: keys.times, values, interpolation, easing }
    }
}

#[derive(Default)]
struct KeyList {
    times: Vec<f64>,
    values: Vec<Value>,
    easings: Vec<Easing>,
}

impl KeyList {
    /// Adds a key, in place of a last one that is too close.
    fn push(&mut self, time: f64, value: Value, easing: Easing) {
        if self.times.last().is_some_and(|last| time - last < MIN_GAP) {
            self.values.pop();
            self.easings.pop();
        } else {
            self.times.push(time);
        }
        self.values.push(value);
        self.easings.push(easing);
    }

    /// Gives each quaternion the sign that is nearer to the one before.
    fn align_signs(&mut self) {
        let mut last = DVec4::ZERO;
        for value in &mut self.values {
            if last.dot(DVec4::from(*value)) < 0.0 {
                *value = value.map(|number| -number);
            }
            last = DVec4::from(*value);
        }
    }
}

/// An error of the model as a reason. The place of a key is of no use for a file.
pub fn reason(error: Error) -> String {
    match error {
        Error::Curve { reason, .. } | Error::Timeline { reason, .. } => reason,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(width: usize, tolerance: f64, evaluate: &dyn Fn(f64) -> Value) -> FileCurve<'_> {
        FileCurve { width, tolerance, evaluate }
    }

    fn number(value: f64) -> Value {
        [value, 0.0, 0.0, 0.0]
    }

    fn refine(curve: &FileCurve, points: &[Point]) -> Vec<Point> {
        curve.refine(points.to_vec(), &mut 1000)
    }

    #[test]
    fn lines_keep_their_keys_and_a_parabola_gets_those_that_it_needs() {
        let line = |time: f64| number(3.0 * time);
        let points = [Point::new(0.0, number(0.0), true), Point::new(2.0, number(6.0), true)];
        assert_eq!(refine(&curve(1, 1e-3, &line), &points), points);
        // The largest distance of t^2 from a chord of the width h is h^2 / 4, in its middle. h = 1 and 1/2 are too
        // wide for a tolerance of 0.02; h = 1/4 has 0.0156.
        let parabola = |time: f64| number(time * time);
        let points = [Point::new(0.0, number(0.0), true), Point::new(1.0, number(1.0), true)];
        let refined = refine(&curve(1, 0.02, &parabola), &points);
        let found: Vec<_> = refined.iter().map(|point| (point.time, point.after[0])).collect();
        assert_eq!(found, [(0.0, 0.0), (0.25, 0.0625), (0.5, 0.25), (0.75, 0.5625), (1.0, 1.0)]);
        assert_eq!(refined.iter().map(|point| point.is_key).collect::<Vec<_>>(), [true, false, false, false, true]);
        // With two points left, the first half gets both.
        let (curve, mut left) = (curve(1, 0.02, &parabola), 2);
        let times: Vec<_> = curve.refine(points.to_vec(), &mut left).iter().map(|point| point.time).collect();
        assert_eq!((times, left), (vec![0.0, 0.25, 0.5, 1.0], 0));
    }

    #[test]
    fn whole_turns_between_far_keys_are_followed() {
        // Four turns per second: the keys after 2 s and 16 s have the rotation of the first one.
        let spin = |time: f64| DQuat::from_rotation_z(4.0 * time * std::f64::consts::TAU).to_array();
        let points = [0.0, 2.0, 16.0].map(|time| Point::new(time, spin(time), true));
        let refined = refine(&curve(4, 0.01, &spin), &points);
        let widest = refined.windows(2).map(|pair| pair[1].time - pair[0].time).fold(0.0, f64::max);
        // Slerp takes the shorter way: less than half a turn per interval.
        assert!(widest < 0.125 && refined.len() < 1000, "{widest} s, {} points", refined.len());
    }

    #[test]
    fn samples_of_a_motion_get_no_keys_between_them() {
        // A jump of an Euler angle by a whole turn between two frames.
        let turn = |time: f64| DQuat::from_rotation_z(30.0 * time * std::f64::consts::TAU).to_array();
        let is_key = [true, false];
        let counts = is_key.map(|is_key| {
            let points = [Point::new(0.0, turn(0.0), true), Point::new(1.0 / 30.0, turn(1.0 / 30.0), is_key)];
            refine(&curve(4, 0.01, &turn), &points).len()
        });
        assert_eq!(counts[0], 2);
        assert!(counts[1] > 2);
    }

    #[test]
    fn values_that_change_in_steps_alone_are_a_step_curve() {
        let none = |_: f64| number(f64::NAN);
        let step = |time, before, after| Point { time, before: number(before), after: number(after), is_key: true };
        let points = [step(0.0, 1.0, 1.0), step(1.0, 1.0, 5.0), step(3.0, 5.0, 2.0)];
        let keys = curve(1, 0.1, &none).keys(&points);
        assert_eq!((keys.interpolation, keys.easing), (Interpolation::Step, CurveEasing::None));
        assert_eq!((keys.times, keys.values), (vec![0.0, 1.0, 3.0], vec![1.0, 5.0, 2.0]));
    }

    #[test]
    fn a_step_beside_lines_holds_its_value_or_takes_a_millisecond() {
        let none = |_: f64| number(f64::NAN);
        let step = |time, before, after| Point { time, before: number(before), after: number(after), is_key: true };
        // It holds 1 until 1 s, steps to 5, moves to 7 until 2 s, and steps to 0.
        let points = [step(0.0, 1.0, 1.0), step(1.0, 1.0, 5.0), step(2.0, 7.0, 0.0)];
        let keys = curve(1, 0.1, &none).keys(&points);
        assert_eq!(keys.interpolation, Interpolation::Linear);
        assert_eq!((keys.times, keys.values), (vec![0.0, 1.0, 2.0 - 1e-3, 2.0], vec![1.0, 5.0, 7.0, 0.0]));
        let easings = [Easing::Constant, Easing::Linear, Easing::Constant, Easing::Linear];
        assert_eq!(keys.easing, CurveEasing::PerKey(easings.into()));
    }

    #[test]
    fn keys_at_almost_one_time_become_one_and_quaternions_keep_their_side() {
        let none = |_: f64| [f64::NAN; 4];
        let points = [
            Point::new(0.0, [0.0, 0.0, 0.0, 1.0], true),
            Point::new(1.0, [0.6, 0.0, 0.0, -0.8], true),
            Point::new(1.0 + 1e-7, [0.8, 0.0, 0.0, -0.6], true),
        ];
        let keys = curve(4, 0.1, &none).keys(&points);
        assert_eq!((keys.times, keys.values), (vec![0.0, 1.0], vec![0.0, 0.0, 0.0, 1.0, -0.8, -0.0, -0.0, 0.6]));
    }
}
