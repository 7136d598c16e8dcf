//! Stage 4: from a time to a key and the fraction of the way to the next key, also beyond the first key and the last.

use crate::model::{Curve, Extrapolation, Timeline};

/// The result of a search: the key interval of a time and the fraction within it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeySpan {
    /// The key that is hit, or else the last key before the time. For a time before the first key, the first key.
    pub key: usize,
    /// The fraction of the way to the next key, in `[0, 1]` unless it was eased or extrapolated; 0 on a key, before the
    /// first one and after the last one.
    pub fraction: f64,
    /// `true` if a key is hit, or if the time is before the first key or after the last one.
    pub hit: bool,
    /// `true` if values from key to key lie on a straight line, whatever the interpolation of the curve is.
    pub straight: bool,
}

impl KeySpan {
    /// The span of a time on a key.
    pub(crate) fn on(key: usize) -> Self {
        Self { key, fraction: 0.0, hit: true, straight: false }
    }

    /// The span of a time between a key and the next one.
    pub(crate) fn between(key: usize, fraction: f64) -> Self {
        Self { key, fraction, hit: false, straight: false }
    }
}

/// Finds the span of a time in seconds, clamped to the first and the last key (glTF 2.0, section 3.11).
///
/// A key is hit within the timeline's window: the last key at or before the time, or else the first one after it.
pub fn find(timeline: &Timeline, time: f64) -> KeySpan {
    let times = timeline.times();
    let passed = times.partition_point(|&key_time| key_time <= time);
    if passed == 0 {
        return KeySpan::on(if times[0] - time <= timeline.window() { timeline.hit(0) } else { 0 });
    }
    let key = passed - 1;
    if time - times[key] <= timeline.window() {
        return KeySpan::on(timeline.hit(key));
    }
    if passed == times.len() {
        return KeySpan::on(key);
    }
    if times[passed] - time <= timeline.window() {
        return KeySpan::on(timeline.hit(passed));
    }
    KeySpan::between(key, (time - times[key]) / (times[passed] - times[key]))
}

/// The span of a time on a curve, before any easing. `rotation` says that the curve is one of rotations, which do not
/// continue in a straight line.
pub fn span(curve: &Curve, time: f64, rotation: bool) -> KeySpan {
    let timeline = curve.timeline();
    let (first, last) = (timeline.first(), timeline.last());
    let length = last - first;
    let [before, after] = curve.extrapolation();
    let extrapolation = match time {
        _ if length == 0.0 => Extrapolation::Clamp,
        _ if time < first => before,
        _ if time > last => after,
        _ => Extrapolation::Clamp,
    };
    match extrapolation {
        Extrapolation::Clamp => find(timeline, time),
        Extrapolation::Linear if rotation || !curve.interpolation().has_lines() => find(timeline, time),
        Extrapolation::Linear => line(timeline.times(), time).unwrap_or_else(|| find(timeline, time)),
        Extrapolation::Loop => find(timeline, first + remainder(time - first, length)),
        Extrapolation::PingPong => {
            find(timeline, first + length - (remainder(time - first, 2.0 * length) - length).abs())
        }
    }
}

/// The rest of a time after whole lengths, by the formula of Cocos Creator, which rounds differently from `%`.
fn remainder(time: f64, length: f64) -> f64 {
    time - (time / length).floor() * length
}

/// Returns `true` if a curve begins again from its first key at a time, to within rounding.
pub(crate) fn is_seam(curve: &Curve, time: f64) -> bool {
    let timeline = curve.timeline();
    let length = timeline.last() - timeline.first();
    let [before, after] = curve.extrapolation();
    let outside = match time - timeline.first() {
        past if past < 0.0 => before,
        _ if time > timeline.last() => after,
        _ => Extrapolation::Clamp,
    };
    let loops = (time - timeline.first()) / length;
    outside == Extrapolation::Loop && length > 0.0 && (loops - loops.round()).abs() <= 1e-12 * loops.abs().max(1.0)
}

/// The span of a time on the line through the first two keys or the last two keys. `None` if the two share a time.
fn line(times: &[f64], time: f64) -> Option<KeySpan> {
    let key = if time < times[0] { 0 } else { times.len() - 2 };
    let interval = times[key + 1] - times[key];
    let fraction = (time - times[key]) / interval;
    (interval > 0.0).then_some(KeySpan { straight: true, ..KeySpan::between(key, fraction) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_clamped_and_hit_keys_have_no_fraction() {
        let timeline = Timeline::new(vec![1.0, 2.0, 4.0]).unwrap();
        for (time, key) in [(0.0, 0), (1.0, 0), (2.0, 1), (4.0, 2), (9.0, 2)] {
            assert_eq!(find(&timeline, time), KeySpan::on(key), "at {time}");
        }
        for (time, key, fraction) in [(1.25, 0, 0.25), (3.0, 1, 0.5)] {
            assert_eq!(find(&timeline, time), KeySpan::between(key, fraction), "at {time}");
        }
    }

    #[test]
    fn a_window_snaps_to_keys() {
        let timeline = Timeline::snapping(vec![0.0, 1.5, 1.5, 4.0], 0.125).unwrap();
        let cases = [(-0.1, 0), (-1.0, 0), (0.125, 0), (1.375, 1), (1.5, 1), (1.625, 1), (3.9, 3), (4.1, 3), (9.0, 3)];
        for (time, key) in cases {
            assert_eq!(find(&timeline, time), KeySpan::on(key), "at {time}");
        }
        assert_eq!(find(&timeline, 0.75), KeySpan::between(0, 0.5));
        assert_eq!(find(&timeline, 2.75), KeySpan::between(2, 0.5));
    }
}
