//! The time of a frame, on the clock of the wall and on that of the processors.

use std::time::{Duration, Instant};

/// The time of a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameTime {
    /// The time from its begin to its end.
    pub wall: Duration,
    /// The processor time of all threads of the process; `None` if the system does not tell.
    pub processor: Option<Duration>,
}

/// Measures a frame from its begin on.
pub struct Clock {
    wall: Instant,
    processor: Option<Duration>,
}

impl Clock {
    /// Begins a frame.
    pub fn start() -> Self {
        Self { wall: Instant::now(), processor: processor_time() }
    }

    /// The time since the begin.
    pub fn elapsed(&self) -> FrameTime {
        let processor = self.processor.zip(processor_time());
        let processor = processor.map(|(before, after)| after.saturating_sub(before));
        FrameTime { wall: self.wall.elapsed(), processor }
    }
}

/// The processor time of this process so far.
#[cfg(unix)]
fn processor_time() -> Option<Duration> {
    rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).try_into().ok()
}

/// `None`: such a clock is one of Unix.
#[cfg(not(unix))]
fn processor_time() -> Option<Duration> {
    None
}

impl FrameTime {
    /// The time as a line of text: nanoseconds of both clocks.
    pub fn to_line(self) -> String {
        let processor = self.processor.map_or("-".into(), |time| time.as_nanos().to_string());
        format!("{} {processor}", self.wall.as_nanos())
    }

    /// Reads a line of `to_line`; `None` for any other text.
    pub fn from_line(line: &str) -> Option<Self> {
        let (wall, processor) = line.trim().split_once(' ')?;
        let time = |text: &str| text.parse().ok().map(Duration::from_nanos);
        let processor = if processor == "-" { None } else { Some(time(processor)?) };
        Some(Self { wall: time(wall)?, processor })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_a_time() {
        let wall = Duration::from_nanos(12_345_678);
        for processor in [None, Some(Duration::from_nanos(9))] {
            let time = FrameTime { wall, processor };
            assert_eq!(FrameTime::from_line(&time.to_line()), Some(time));
        }
        for other in ["", "1", "1 x", "x 1", "-1 1", "error: no adapter"] {
            assert_eq!(FrameTime::from_line(other), None, "{other}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn the_processor_time_is_that_of_work() {
        let clock = Clock::start();
        while clock.elapsed().processor.unwrap() < Duration::from_millis(5) {
            std::hint::black_box(0);
        }
        // Other tests of the process work meanwhile, on all processors.
        assert!(clock.elapsed().wall > Duration::from_micros(1));
    }
}
