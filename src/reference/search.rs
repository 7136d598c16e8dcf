//! Stage 2: from a time to a key and the fraction of the way to the next.

use crate::model::Timeline;

/// Where in a timeline a time is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The key that is hit, or the last key before the time; the first key for a time before it.
    pub key: usize,
    /// The fraction of the way to the next key, in `[0, 1]` unless it was eased or extrapolated; 0 on a key, before the
    /// first and after the last.
    pub fraction: f64,
    /// Whether a key is hit, or the time is before the first or after the last.
    pub hit: bool,
    /// Whether the way from key to key is a straight line, whatever the curve says.
    pub straight: bool,
}

impl Place {
    /// On a key.
    pub(crate) fn on(key: usize) -> Self {
        Self { key, fraction: 0.0, hit: true, straight: false }
    }

    /// Between a key and the next.
    pub(crate) fn between(key: usize, fraction: f64) -> Self {
        Self { key, fraction, hit: false, straight: false }
    }
}

/// The place of a time, in seconds, clamped to the first and the last key (glTF 2.0, section 3.11). A key is hit within the
/// timeline's window: the last at or before the time, or else the first after it.
pub fn find(timeline: &Timeline, time: f64) -> Place {
    let times = timeline.times();
    let passed = times.partition_point(|&key_time| key_time <= time);
    if passed == 0 {
        return Place::on(if times[0] - time <= timeline.window() { timeline.hit(0) } else { 0 });
    }
    let key = passed - 1;
    if time - times[key] <= timeline.window() {
        return Place::on(timeline.hit(key));
    }
    if passed == times.len() {
        return Place::on(key);
    }
    if times[passed] - time <= timeline.window() {
        return Place::on(timeline.hit(passed));
    }
    Place::between(key, (time - times[key]) / (times[passed] - times[key]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_clamped_and_hit_keys_have_no_fraction() {
        let timeline = Timeline::new(vec![1.0, 2.0, 4.0]).unwrap();
        for (time, key) in [(0.0, 0), (1.0, 0), (2.0, 1), (4.0, 2), (9.0, 2)] {
            assert_eq!(find(&timeline, time), Place::on(key), "at {time}");
        }
        for (time, key, fraction) in [(1.25, 0, 0.25), (3.0, 1, 0.5)] {
            assert_eq!(find(&timeline, time), Place::between(key, fraction), "at {time}");
        }
    }

    #[test]
    fn a_window_snaps_to_keys_and_shared_times_to_the_one_that_is_hit() {
        let timeline = Timeline::snapping(vec![0.0, 1.5, 1.5, 4.0], 0.125).unwrap();
        let cases = [(-0.1, 0), (-1.0, 0), (0.125, 0), (1.375, 1), (1.5, 1), (1.625, 1), (3.9, 3), (4.1, 3), (9.0, 3)];
        for (time, key) in cases {
            assert_eq!(find(&timeline, time), Place::on(key), "at {time}");
        }
        assert_eq!(find(&timeline, 0.75), Place::between(0, 0.5));
        assert_eq!(find(&timeline, 2.75), Place::between(2, 0.5));
    }
}
