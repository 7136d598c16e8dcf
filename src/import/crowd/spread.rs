//! Instances of a group, set apart by the R2 low-discrepancy sequence.

use crate::import::crowd::document::Spread;

/// What the sequence goes on by from instance to instance, in parts of 2^32: for starts, for rates.
const STEPS: [u32; 2] = [0xC13F_A9A9, 0x91E1_0DA5];
/// What it goes on by from seed to seed.
const SEED_STEP: u32 = 0x9E37_79B9;

impl Spread {
    /// The seconds and the factor of an instance.
    pub fn at(&self, instance: u32) -> [f64; 2] {
        let at = |step: u32, range: [f64; 2]| {
            let turned = instance.wrapping_mul(step).wrapping_add(self.seed.wrapping_mul(SEED_STEP));
            within(range, f64::from(turned.wrapping_add(1 << 31)) / 2.0_f64.powi(32))
        };
        [at(STEPS[0], self.start), at(STEPS[1], self.rate)]
    }

    /// Both ends of what there can be: seconds, and factors.
    pub fn ends(&self) -> [[f64; 2]; 2] {
        [self.start, self.rate].map(|range| [0.0, 1.0].map(|part| within(range, part)))
    }
}

/// A part of the way, on a grid that `f32` holds.
fn within([low, high]: [f64; 2], part: f64) -> f64 {
    (4096.0 * (low + (high - low) * part) + 0.5).floor() / 4096.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_are_where_the_sequence_is() {
        let spread = |seed| Spread { start: [0.0, 2.0], rate: [0.75, 1.25], seed };
        // By hand: with seed 0 the three are 0x80000000, 0x413FA9A9, 0x027F5352 of 2^32 for starts, and 0x80000000,
        // 0x11E10DA5, 0xA3C21B4A for rates; seed 7 adds 7 x 0x9E3779B9 = 0x5384520F.
        let expected = [[4096.0, 4096.0], [2088.0, 3215.0], [80.0, 4382.0]];
        for (instance, [start, rate]) in (0..).zip(expected) {
            assert_eq!(spread(0).at(instance), [start / 4096.0, rate / 4096.0], "{instance}");
        }
        let expected = [[6769.0, 4764.0], [4760.0, 3883.0], [2752.0, 5050.0]];
        for (instance, [start, rate]) in (0..).zip(expected) {
            assert_eq!(spread(7).at(instance), [start / 4096.0, rate / 4096.0], "{instance}");
        }
        assert_eq!(Spread::default().at(12345), [0.0, 1.0]);
        assert_eq!(spread(3).ends(), [[0.0, 2.0], [0.75, 1.25]]);
    }
}
