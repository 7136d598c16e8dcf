//! How long frames take.

use std::collections::VecDeque;

/// Frames of the last second.
#[derive(Debug, Default)]
pub struct Meter {
    seconds: VecDeque<f64>,
    sum: f64,
}

impl Meter {
    /// Takes note of a frame that took so many seconds, and forgets those that were over a second ago.
    pub fn add(&mut self, seconds: f64) {
        self.seconds.push_back(seconds);
        self.sum += seconds;
        while self.seconds.len() > 1 && self.sum - self.seconds[0] >= 1.0 {
            self.sum -= self.seconds.pop_front().unwrap_or(0.0);
        }
    }

    /// Forgets all frames.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The median of the frames' seconds; `None` without any.
    pub fn median(&self) -> Option<f64> {
        let mut sorted: Vec<f64> = self.seconds.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }

    /// Frames in a second.
    pub fn rate(&self) -> Option<f64> {
        (self.sum > 0.0).then(|| self.seconds.len() as f64 / self.sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_knows_the_frames_of_the_last_second_only() {
        let mut meter = Meter::default();
        assert_eq!((meter.median(), meter.rate()), (None, None));
        (0..100).for_each(|_| meter.add(0.5));
        assert_eq!((meter.median(), meter.rate()), (Some(0.5), Some(2.0)));
        (0..16).for_each(|_| meter.add(0.0625));
        assert_eq!((meter.median(), meter.rate()), (Some(0.0625), Some(16.0)));
        // One long frame is in the rate, not in the median.
        meter.add(0.25);
        assert_eq!(meter.median(), Some(0.0625));
        assert_eq!(meter.rate(), Some(13.0 / 1.0));
    }
}
