//! The extent of the values of a parameter.

/// The least and the greatest of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    least: f64,
    greatest: f64,
}

impl Extent {
    /// The extent of no value.
    pub const EMPTY: Self = Self { least: f64::INFINITY, greatest: f64::NEG_INFINITY };
    /// The margin on either side, as a part of the extent.
    const MARGIN: f64 = 0.125;

    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }

    /// The extent with a margin on either side. Of no value it is 0 to 1; of values that are nearly one it contains 0, 1 and them.
    pub fn with_margin(self) -> [f64; 2] {
        let Self { least, greatest } = self;
        let size = greatest - least;
        let least_size = 1e-6 * least.abs().max(greatest.abs());
        if size.is_finite() && size > least_size {
            return [least - Self::MARGIN * size, greatest + Self::MARGIN * size];
        }
        [least.min(0.0), greatest.max(1.0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_an_eighth_and_a_single_value_is_shown_with_0_and_1() {
        let extent = |values: &[f64]| {
            let mut extent = Extent::EMPTY;
            values.iter().for_each(|&value| extent.add(value));
            extent.with_margin()
        };
        assert_eq!(extent(&[]), [0.0, 1.0]);
        assert_eq!(extent(&[3.0, -1.0, 7.0]), [-2.0, 8.0]);
        assert_eq!(extent(&[0.5]), [0.0, 1.0]);
        assert_eq!(extent(&[-4.0, -4.0]), [-4.0, 1.0]);
        assert_eq!(extent(&[7.0]), [0.0, 7.0]);
    }
}
