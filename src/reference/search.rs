//! Stage 2: from a time to a key and the fraction of the way to the next.

use crate::model::timeline::Timeline;

/// Where in a timeline a time is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The last key at or before the time; the first key for a time before it.
    pub key: usize,
    /// The fraction of the way to the next key, in `[0, 1]` unless it was eased; 0 on a key, before the first and after
    /// the last.
    pub fraction: f64,
}

/// The place of a time, in seconds, clamped to the first and the last key (glTF 2.0, section 3.11).
pub fn find(timeline: &Timeline, time: f64) -> Place {
    let times = timeline.times();
    let passed = times.partition_point(|&key_time| key_time <= time);
    if passed == 0 || passed == times.len() {
        return Place { key: passed.saturating_sub(1), fraction: 0.0 };
    }
    let key = passed - 1;
    Place { key, fraction: (time - times[key]) / (times[key + 1] - times[key]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_clamped_and_hit_keys_have_no_fraction() {
        let timeline = Timeline::new(vec![1.0, 2.0, 4.0]).unwrap();
        let cases =
            [(0.0, 0, 0.0), (1.0, 0, 0.0), (1.25, 0, 0.25), (2.0, 1, 0.0), (3.0, 1, 0.5), (4.0, 2, 0.0), (9.0, 2, 0.0)];
        for (time, key, fraction) in cases {
            assert_eq!(find(&timeline, time), Place { key, fraction }, "at {time}");
        }
    }
}
