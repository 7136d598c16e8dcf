//! Sorted key times, shared by curves.

use crate::error::Error;

/// Key times in seconds, strictly increasing, at least one.
///
/// Curves share a timeline through an [`Arc`](std::sync::Arc): an engine searches it once for all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    times: Vec<f64>,
    step: Option<f64>,
}

impl Timeline {
    /// A timeline of these times, in seconds. Negative times are allowed.
    ///
    /// # Errors
    /// [`Error::Timeline`] where there is no key, a time is not finite, or a time does not increase.
    pub fn new(times: Vec<f64>) -> Result<Self, Error> {
        if times.is_empty() {
            return Err(Error::Timeline { key: 0, reason: "a timeline needs at least one key".into() });
        }
        for (key, &time) in times.iter().enumerate() {
            if !super::is_usable(time) {
                return Err(Error::Timeline {
                    key,
                    reason: format!("the time {time} is not a finite number of seconds"),
                });
            }
            if key > 0 && time <= times[key - 1] {
                let reason = format!("the time {time} does not come after {}", times[key - 1]);
                return Err(Error::Timeline { key, reason });
            }
        }
        let step = even_step(&times);
        Ok(Self { times, step })
    }

    /// The key times in seconds, strictly increasing, at least one.
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

    /// Seconds from key to key, where the keys are evenly spaced: each within a quarter of a step of its even place.
    ///
    /// An engine may then guess the key from the time, and needs to look at no more than its neighbours.
    /// `None` for a single key.
    pub fn step(&self) -> Option<f64> {
        self.step
    }
}

fn even_step(times: &[f64]) -> Option<f64> {
    let gaps = times.len() - 1;
    if gaps == 0 {
        return None;
    }
    let step = (times[gaps] - times[0]) / gaps as f64;
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
}
