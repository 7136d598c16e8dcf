//! Sorted key times, which curves share.

use std::ops::Range;

use crate::error::Error;

/// At least one key time, in seconds and in order.
///
/// Curves share a timeline through an [`Arc`](std::sync::Arc). An engine searches it once for all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    times: Vec<f64>,
    step: Option<f64>,
    window: f64,
    /// Per key, the key that is hit at its time; `None` if each key is hit at its own time.
    hits: Option<Vec<usize>>,
}

impl Timeline {
    /// A timeline of these times, in seconds. Negative times are allowed.
    ///
    /// # Errors
    /// [`Error::Timeline`] if there is no key, a time is not finite, or times do not increase.
    pub fn new(times: Vec<f64>) -> Result<Self, Error> {
        check(&times)?;
        if let Some(key) = (1..times.len()).find(|&key| times[key] <= times[key - 1]) {
            let [before, time] = [times[key - 1], times[key]];
            let reason = format!("its time {time} s is not after {before} s, the time before; times must increase");
            return Err(Error::Timeline { key, reason });
        }
        let step = even_step(&times);
        Ok(Self { times, step, window: 0.0, hits: None })
    }

    /// A timeline whose keys may share a time, at which the values jump, as in three.js: before the time the first of
    /// the keys counts, from the time on the last. Times are in seconds; negative times are allowed.
    ///
    /// # Errors
    /// [`Error::Timeline`] if there is no key, a time is not finite, or a time is less than the time before.
    pub fn jumping(times: Vec<f64>) -> Result<Self, Error> {
        check_sorted(&times)?;
        let step = even_step(&times);
        let is_shared = times.windows(2).any(|pair| pair[0] == pair[1]);
        let last_hit = |&time: &f64| times.partition_point(|&other| other <= time) - 1;
        let hits = is_shared.then(|| times.iter().map(last_hit).collect());
        Ok(Self { times, step, window: 0.0, hits })
    }

    /// A timeline whose keys are hit from `window` seconds before to `window` seconds after their times, as in Cocos
    /// Creator.
    ///
    /// Keys may share a time. Before the time the first of them counts, after it the last. At the time, the key counts
    /// that a bisection from the ends of the timeline meets first.
    ///
    /// # Errors
    /// [`Error::Timeline`] if there is no key, a time is not finite, or a time is less than the time before;
    /// [`Error::Usage`] if the window is not a finite number of 0 or more.
    pub fn snapping(times: Vec<f64>, window: f64) -> Result<Self, Error> {
        check_sorted(&times)?;
        if !super::is_usable(window) || window < 0.0 {
            let reason =
                format!("the window of a snapping timeline is {window} s; expected a finite number of 0 or more");
            return Err(Error::Usage(reason));
        }
        let step = even_step(&times);
        let hits = times.windows(2).any(|pair| pair[0] == pair[1]).then(|| hits(&times));
        Ok(Self { times, step, window, hits })
    }

    /// A timeline of some of the keys, at least one. No two keys share a time.
    pub(crate) fn part(&self, keys: Range<usize>) -> Self {
        let times = self.times[keys].to_vec();
        Self { step: even_step(&times), times, window: self.window, hits: None }
    }

    /// The key times in seconds, in order.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The number of keys, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a timeline is never empty")]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// The time of the first key.
    pub fn first(&self) -> f64 {
        self.times[0]
    }

    /// The time of the last key.
    pub fn last(&self) -> f64 {
        self.times[self.times.len() - 1]
    }

    /// Seconds before and after the time of a key in which the key is hit; 0 except for [`snapping`](Self::snapping)
    /// timelines.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// The key that counts at the time of a key: the key itself, unless other keys share its time.
    ///
    /// # Panics
    /// If there is no such key.
    pub fn hit(&self, key: usize) -> usize {
        self.hits.as_ref().map_or(key, |hits| hits[key])
    }

    /// Returns `true` if keys share a time.
    pub fn has_shared_times(&self) -> bool {
        self.hits.is_some()
    }

    /// Seconds from key to key if the keys are evenly spaced: each within a quarter of a step of its even time.
    /// Otherwise, and for a single key, `None`.
    ///
    /// For even keys, an engine guesses the key from the time, and looks only at its neighbours.
    pub fn step(&self) -> Option<f64> {
        self.step
    }
}

fn check(times: &[f64]) -> Result<(), Error> {
    if times.is_empty() {
        return Err(Error::Timeline { key: 0, reason: "there is no key; a timeline needs at least one".into() });
    }
    match times.iter().position(|&time| !super::is_usable(time)) {
        Some(key) => {
            let reason = format!("its time {} is not a finite number of seconds", times[key]);
            Err(Error::Timeline { key, reason })
        }
        None => Ok(()),
    }
}

/// Checks times that may be equal.
fn check_sorted(times: &[f64]) -> Result<(), Error> {
    check(times)?;
    let Some(key) = (1..times.len()).find(|&key| times[key] < times[key - 1]) else { return Ok(()) };
    let [before, time] = [times[key - 1], times[key]];
    let reason = format!("its time {time} s is less than {before} s, the time before; sort the keys");
    Err(Error::Timeline { key, reason })
}

/// Per key, the first key that a bisection for its time meets.
fn hits(times: &[f64]) -> Vec<usize> {
    let mut hits: Vec<usize> = Vec::with_capacity(times.len());
    for (key, &time) in times.iter().enumerate() {
        if key > 0 && times[key - 1] == time {
            hits.push(hits[key - 1]);
            continue;
        }
        let (mut low, mut high) = (0, times.len() - 1);
        let mut middle = (low + high) / 2;
        while times[middle] != time {
            if times[middle] > time {
                high = middle - 1
            } else {
                low = middle + 1
            }
            middle = (low + high) / 2;
        }
        hits.push(middle);
    }
    hits
}

fn even_step(times: &[f64]) -> Option<f64> {
    let gaps = times.len() - 1;
    if gaps == 0 {
        return None;
    }
    let step = (times[gaps] - times[0]) / gaps as f64;
    if step == 0.0 {
        return None;
    }
    let even = times.iter().enumerate().all(|(key, time)| (time - (times[0] + key as f64 * step)).abs() <= 0.25 * step);
    even.then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_spacing_survives_rounding_and_is_not_claimed_without_it() {
        let rounded: Vec<f64> = (0..200).map(|key| f64::from(key as f32 / 30.0)).collect();
        let step = Timeline::new(rounded).unwrap().step().unwrap();
        assert!((step - 1.0 / 30.0).abs() < 1e-7);
        assert_eq!(Timeline::new(vec![0.0, 1.0, 4.0]).unwrap().step(), None);
        assert_eq!(Timeline::new(vec![2.0]).unwrap().step(), None);
    }

    #[test]
    fn times_must_be_finite_and_increase() {
        for (times, key) in [(vec![], 0), (vec![0.0, f64::NAN], 1), (vec![0.0, 1.0, 1.0], 2), (vec![f64::INFINITY], 0)]
        {
            match Timeline::new(times.clone()) {
                Err(Error::Timeline { key: found, .. }) => assert_eq!(found, key, "{times:?}"),
                other => panic!("{times:?} gave {other:?}"),
            }
        }
    }

    #[test]
    fn the_last_of_the_keys_that_share_a_time_is_hit_after_a_jump() {
        let jumping = Timeline::jumping(vec![0.0, 1.0, 1.0, 2.0, 2.0]).unwrap();
        assert_eq!([0, 1, 2, 3, 4].map(|key| jumping.hit(key)), [0, 2, 2, 4, 4]);
        assert!(jumping.has_shared_times() && jumping.step().is_none());
        assert_eq!(Timeline::jumping(vec![0.0, 1.0]).unwrap(), Timeline::new(vec![0.0, 1.0]).unwrap());
        assert!(matches!(Timeline::jumping(vec![0.0, 2.0, 1.0]), Err(Error::Timeline { key: 2, .. })));
    }

    #[test]
    fn bisection_hits_one_of_the_keys_that_share_a_time() {
        let shared = Timeline::snapping(vec![0.0, 1.5, 1.5, 4.0], 1e-6).unwrap();
        assert_eq!([0, 1, 2, 3].map(|key| shared.hit(key)), [0, 1, 1, 3]);
        let late = Timeline::snapping(vec![0.0, 1.0, 2.0, 3.0, 3.0, 3.0], 0.0).unwrap();
        assert_eq!([2, 3, 4, 5].map(|key| late.hit(key)), [2, 4, 4, 4]);
        assert_eq!(Timeline::snapping(vec![1.0, 1.0], 0.0).unwrap().step(), None);
        assert!(matches!(Timeline::snapping(vec![1.0, 0.5], 0.0), Err(Error::Timeline { key: 1, .. })));
        assert!(Timeline::snapping(vec![1.0], -1.0).is_err() && Timeline::snapping(vec![1.0], f64::NAN).is_err());
    }
}
