//! The times between frames.

use std::collections::VecDeque;

/// The durations of the frames of the last second.
#[derive(Debug, Default)]
pub struct FrameTimes {
    seconds: VecDeque<f64>,
    sum: f64,
}

impl FrameTimes {
    /// Adds the duration of a frame in seconds, and removes the frames that ended more than a second ago.
    pub fn add(&mut self, seconds: f64) {
        self.seconds.push_back(seconds);
        self.sum += seconds;
        while self.seconds.len() > 1 && self.sum - self.seconds[0] >= 1.0 {
            self.sum -= self.seconds.pop_front().unwrap_or(0.0);
        }
    }

    /// Removes all frames.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The median duration in seconds; `None` without frames.
    pub fn median(&self) -> Option<f64> {
        let mut sorted: Vec<f64> = self.seconds.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }

    /// The number of frames per second; `None` without frames.
    pub fn rate(&self) -> Option<f64> {
        (self.sum > 0.0).then(|| self.seconds.len() as f64 / self.sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_frames_of_the_last_second_count() {
        let mut times = FrameTimes::default();
        assert_eq!((times.median(), times.rate()), (None, None));
        (0..100).for_each(|_| times.add(0.5));
        assert_eq!((times.median(), times.rate()), (Some(0.5), Some(2.0)));
        (0..16).for_each(|_| times.add(0.0625));
        assert_eq!((times.median(), times.rate()), (Some(0.0625), Some(16.0)));
        // One long frame changes the rate, but not the median.
        times.add(0.25);
        assert_eq!(times.median(), Some(0.0625));
        assert_eq!(times.rate(), Some(13.0 / 1.0));
    }
}
