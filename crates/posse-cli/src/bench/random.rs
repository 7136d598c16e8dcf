//! Random numbers that are the same in each run.

use std::ops::Range;

/// A generator of random numbers: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Debug, Clone)]
pub struct Random(pub u64);

/// The number that is added to the seed for each number: 2^64 divided by the golden ratio.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

impl Random {
    /// The generator whose first number is number `index` of the seed 0.
    pub fn at(index: u64) -> Self {
        Self(index.wrapping_mul(STEP))
    }

    /// The next 64 bits.
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number of a range.
    pub fn within(&mut self, range: Range<f64>) -> f64 {
        let share = (self.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        range.start + share * (range.end - range.start)
    }

    /// An index below `count`, which is not 0.
    pub fn index(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }

    /// True once in `count` times on average.
    pub fn once_in(&mut self, count: u64) -> bool {
        self.bits().is_multiple_of(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the generator's published test, from the seed 1234567.
    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        let mut random = Random(1_234_567);
        let numbers: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        assert_eq!(numbers, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
        let mut zero = Random(0);
        assert!((0..10).all(|index| Random::at(index).bits() == zero.bits()));
        assert!((0..1000).all(|_| (2.0..3.0).contains(&random.within(2.0..3.0)) && random.index(3) < 3));
    }
}
