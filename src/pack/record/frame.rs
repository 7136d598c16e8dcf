//! The record that changes from frame to frame.

use crate::model::{Step, Ticks};
use crate::pack::record::record;

record! {
    /// The uniform that changes from frame to frame: a step of the crowd clock.
    Frame {
        /// The tick to pose, lower half.
        now_low: u32,
        /// The tick to pose, upper half.
        now_high: u32,
        /// The previous tick, lower half.
        from_low: u32,
        /// The previous tick, upper half.
        from_high: u32,
        /// 1 if only instances in the visible list are posed, else 0.
        visible_only: u32,
        /// The number of the frame. It decides which listed instances are due.
        number: u32,
        /// Pads the record to a multiple of 16 bytes, as a uniform needs.
        reserved_0: u32,
        /// Pads the record to a multiple of 16 bytes.
        reserved_1: u32,
    }
}

impl Frame {
    /// The frame of a step that poses all instances.
    pub fn new(step: Step) -> Self {
        let halves = |tick: Ticks| (tick.0 as u32, (tick.0 >> 32) as u32);
        let ((now_low, now_high), (from_low, from_high)) = (halves(step.to), halves(step.from));
        Self { now_low, now_high, from_low, from_high, ..Self::default() }
    }

    /// The frame of a step that poses the visible instances that are due in the frame of this number.
    pub fn visible(step: Step, number: u32) -> Self {
        Self { visible_only: 1, number, ..Self::new(step) }
    }

    /// The step of the clock.
    pub fn step(self) -> Step {
        let tick = |low: u32, high: u32| Ticks(i64::from(high as i32) << 32 | i64::from(low));
        Step { from: tick(self.from_low, self.from_high), to: tick(self.now_low, self.now_high) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_survives_the_frame() {
        for tick in [0, 1, -1, i64::MAX, i64::MIN, 1 << 32, -(1 << 40) + 7] {
            let step = Step { from: Ticks(tick), to: Ticks(tick.wrapping_add(1)) };
            assert_eq!(Frame::new(step).step(), step);
        }
    }
}
