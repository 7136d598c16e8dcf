//! The differences between the instances of a group, by the R2 low-discrepancy sequence.

use crate::import::crowd::document::Spread;

/// The step of the sequence for starts, in parts of 2^32.
const START_STEP: u32 = 0xC13F_A9A9;
/// The step of the sequence for rates, in parts of 2^32.
const RATE_STEP: u32 = 0x91E1_0DA5;
/// The step from seed to seed, in parts of 2^32.
const SEED_STEP: u32 = 0x9E37_79B9;

/// The difference of an instance from its group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SpreadOffset {
    /// Seconds added to the starts of the layers.
    pub seconds: f64,
    /// Factor of the rates of the layers.
    pub factor: f64,
}

impl Spread {
    /// The offset of an instance, by its index in the group.
    pub fn offset(&self, instance: u32) -> SpreadOffset {
        let fraction = |step: u32| {
            let turned = instance.wrapping_mul(step).wrapping_add(self.seed.wrapping_mul(SEED_STEP));
            f64::from(turned.wrapping_add(1 << 31)) / 2.0_f64.powi(32)
        };
        SpreadOffset {
            seconds: interpolate(self.start, fraction(START_STEP)),
            factor: interpolate(self.rate, fraction(RATE_STEP)),
        }
    }

    /// The offsets at both ends of the ranges.
    pub fn ends(&self) -> [SpreadOffset; 2] {
        let end = |fraction| SpreadOffset {
            seconds: interpolate(self.start, fraction),
            factor: interpolate(self.rate, fraction),
        };
        [end(0.0), end(1.0)]
    }
}

/// A number between the ends of a range, rounded to a multiple of 1/4096, which `f32` holds.
fn interpolate(range: [f64; 2], fraction: f64) -> f64 {
    let [low, high] = range;
    (4096.0 * (low + (high - low) * fraction) + 0.5).floor() / 4096.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offset(seconds: f64, factor: f64) -> SpreadOffset {
        SpreadOffset { seconds, factor }
    }

    #[test]
    fn instances_follow_the_sequence() {
        let spread = |seed| Spread { start: [0.0, 2.0], rate: [0.75, 1.25], seed };
        // By hand: with seed 0 the three are 0x80000000, 0x413FA9A9, 0x027F5352 of 2^32 for starts, and 0x80000000,
        // 0x11E10DA5, 0xA3C21B4A for rates; seed 7 adds 7 x 0x9E3779B9 = 0x5384520F.
        let expected = [[4096.0, 4096.0], [2088.0, 3215.0], [80.0, 4382.0]];
        for (instance, [start, rate]) in (0..).zip(expected) {
            assert_eq!(spread(0).offset(instance), offset(start / 4096.0, rate / 4096.0), "{instance}");
        }
        let expected = [[6769.0, 4764.0], [4760.0, 3883.0], [2752.0, 5050.0]];
        for (instance, [start, rate]) in (0..).zip(expected) {
            assert_eq!(spread(7).offset(instance), offset(start / 4096.0, rate / 4096.0), "{instance}");
        }
        assert_eq!(Spread::default().offset(12345), offset(0.0, 1.0));
        assert_eq!(spread(3).ends(), [offset(0.0, 0.75), offset(2.0, 1.25)]);
    }
}
