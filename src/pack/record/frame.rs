//! What changes from frame to frame.

use crate::model::{Step, Ticks};
use crate::pack::record::record;

record! {
    /// What changes from frame to frame, a step of the crowd's clock: a uniform.
    Frame {
        /// The tick to pose, lower half.
        now_low: u32,
        /// Upper half.
        now_high: u32,
        /// The tick before, lower half.
        from_low: u32,
        /// Upper half.
        from_high: u32,
        /// Whether only those instances are posed that are listed as visible: 1, else 0.
        visible_only: u32,
        /// The number of the frame, by which listed instances are due or not.
        number: u32,
        /// Fills the record to a multiple of 16 bytes, as a uniform needs.
        reserved_0: u32,
        /// As above.
        reserved_1: u32,
    }
}

impl Frame {
    /// The frame of a step, in which all instances are posed.
    pub fn new(step: Step) -> Self {
        let halves = |tick: Ticks| (tick.0 as u32, (tick.0 >> 32) as u32);
        let ((now_low, now_high), (from_low, from_high)) = (halves(step.to), halves(step.from));
        Self { now_low, now_high, from_low, from_high, ..Self::default() }
    }

    /// The frame of a step, in which those instances are posed that are listed and due by the frame's number.
    pub fn visible(step: Step, number: u32) -> Self {
        Self { visible_only: 1, number, ..Self::new(step) }
    }

    /// The step.
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
