//! Synchronised layers: from the clip time of a leader to the clip time of a follower.

use crate::model::Clip;

/// The map from the time of a leader's clip to the time of a follower's clip.
///
/// If both clips have as many sync markers, it takes marker to marker and is linear between them; otherwise start to
/// start and end to end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SyncMap<'a> {
    leader: Points<'a>,
    follower: Points<'a>,
    has_markers: bool,
}

/// The distance from the end of a clip, as a part of its duration, that counts as none. Engines use a similar number.
const SEAM: f64 = 1.0 / (1_u64 << 40) as f64;

/// The moments of a clip that a map connects: its markers, or its start alone.
#[derive(Debug, Clone, Copy)]
struct Points<'a> {
    times: &'a [f64],
    duration: f64,
}

impl Points<'_> {
    /// The time of a moment. The one after the last is the first one, a duration later.
    fn at(&self, index: usize) -> f64 {
        match self.times.get(index) {
            Some(time) => *time,
            None => self.times[0] + self.duration,
        }
    }
}

impl<'a> SyncMap<'a> {
    /// The map of two clips.
    pub fn new(leader: &'a Clip, follower: &'a Clip) -> Self {
        let has_markers = !leader.markers.is_empty() && leader.markers.len() == follower.markers.len();
        let points = |clip: &'a Clip| Points {
            times: if has_markers { &clip.markers } else { &[0.0] },
            duration: clip.duration(),
        };
        Self { leader: points(leader), follower: points(follower), has_markers }
    }

    /// The time of the follower, from 0 to its duration. A time beyond the ends of the leader's clip counts as the end.
    pub fn time(&self, leader_time: f64) -> f64 {
        let leader_time = leader_time.clamp(0.0, self.leader.duration);
        let (length, is_end) = (self.follower.duration, leader_time == self.leader.duration);
        match self.unwrapped(leader_time) {
            time if time < 0.0 => time + length,
            time if time > length || (time == length && !is_end) => time - length,
            time => time,
        }
    }

    /// The time of the follower without a wrap: it grows with the leader's time, by one duration of the follower per
    /// duration of the leader, and is less than 0 or more than the duration where the map wraps.
    pub fn unwrapped(&self, leader_time: f64) -> f64 {
        let Self { leader, follower, .. } = self;
        if leader.duration == 0.0 {
            return 0.0;
        }
        let leader_time = leader_time.clamp(0.0, leader.duration);
        let is_before = leader_time < leader.times[0];
        let time = if is_before { leader_time + leader.duration } else { leader_time };
        let index = leader.times.partition_point(|&marker| marker <= time) - 1;
        let along = (time - leader.at(index)) / (leader.at(index + 1) - leader.at(index));
        let found = follower.at(index) + along * (follower.at(index + 1) - follower.at(index));
        // Markers that are as far from the ends in both clips take the ends to the ends. Rounding must not turn an end
        // into the other.
        let is_end = self.has_markers && (found - follower.duration).abs() <= SEAM * follower.duration;
        let found = if is_end { follower.duration } else { found };
        if is_before { found - follower.duration } else { found }
    }
}

impl SyncMap<'_> {
    /// The largest speed of the follower's time, in seconds per second of the leader's.
    pub fn steepest(&self) -> f64 {
        let Self { leader, follower, .. } = self;
        if leader.duration == 0.0 {
            return 0.0;
        }
        let speed =
            |index: usize| (follower.at(index + 1) - follower.at(index)) / (leader.at(index + 1) - leader.at(index));
        (0..leader.times.len()).map(speed).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SkeletonId;

    fn clip(duration: f64, markers: &[f64]) -> Clip {
        Clip { length: Some(duration), markers: markers.to_vec(), ..Clip::new(None, SkeletonId(0), Vec::new()) }
    }

    #[test]
    fn clips_without_markers_keep_the_same_part() {
        let (walk, run) = (clip(2.0, &[]), clip(1.0, &[0.25]));
        let map = SyncMap::new(&walk, &run);
        assert_eq!([0.0, 0.5, 1.5, 2.0].map(|time| map.time(time)), [0.0, 0.25, 0.75, 1.0]);
        let still = clip(0.0, &[]);
        assert_eq!(SyncMap::new(&still, &run).time(0.0), 0.0);
        assert_eq!(SyncMap::new(&walk, &still).time(1.5), 0.0);
    }

    #[test]
    fn markers_meet_markers() {
        let (walk, run) = (clip(4.0, &[1.0, 2.0]), clip(1.0, &[0.0, 0.75]));
        let map = SyncMap::new(&walk, &run);
        // By hand: 1..2 s becomes 0..0.75 s, and 2..5 s becomes 0.75..1 s, so that 0 s, which is 4 s, lies two thirds
        // of the way.
        assert_eq!([1.0, 1.5, 2.0].map(|time| map.time(time)), [0.0, 0.375, 0.75]);
        assert!((map.time(0.0) - (0.75 + 0.25 * 2.0 / 3.0)).abs() < 1e-15);
        assert!((map.time(0.5) - (0.75 + 0.25 * 2.5 / 3.0)).abs() < 1e-15);
        assert_eq!(map.time(4.0), map.time(0.0));
        // The other way round, the follower wraps before its leader.
        let map = SyncMap::new(&run, &walk);
        assert_eq!([0.0, 0.75].map(|time| map.time(time)), [1.0, 2.0]);
        assert!(map.time(0.75 + 0.25 * 2.0 / 3.0 + 1e-9) < 1e-6);
        assert_eq!(map.time(1.0), 1.0);
    }

    #[test]
    fn the_end_stays_the_end() {
        let (a, b) = (clip(2.0, &[0.0]), clip(3.0, &[0.0]));
        let map = SyncMap::new(&a, &b);
        assert_eq!(map.time(2.0), 3.0);
        assert_eq!(map.unwrapped(2.0), 3.0);
        // Markers at the same parts of both clips: without care, rounding makes the end a little too late or too early.
        for (duration, part) in [(0.7, 0.1), (0.9, 0.3), (1.3, 0.7), (2.9, 0.6)] {
            for factor in [0.1, 0.3, 0.7, 1.1, 3.7] {
                let marked = |duration: f64| clip(duration, &[duration * part]);
                let (walk, run) = (marked(duration), marked(duration * factor));
                assert_eq!(SyncMap::new(&walk, &run).time(duration), duration * factor);
            }
        }
    }

    #[test]
    fn times_beyond_the_leader_are_clamped_to_it() {
        let (walk, run) = (clip(2.0, &[0.5]), clip(1.0, &[0.25]));
        let map = SyncMap::new(&walk, &run);
        assert_eq!([-9.0, 0.0, 9.0].map(|time| map.time(time)), [0.0, 0.0, 1.0]);
    }
}
