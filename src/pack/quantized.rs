//! Quantized keys: integers of few bits, as they are packed and as the engines decode them.

use glam::DVec4;

use crate::model::Curve;
use crate::pack::quantized_rows::record_bytes;

/// The most bits of a code: all that an `f32` holds of an integer.
pub const MOST_BITS: u32 = 24;

/// A curve whose keys are integers: for each four of its numbers what is stored of a key, which of a cubic spline is
/// in-tangent, value and out-tangent.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantizedCurve {
    /// What is stored of a key, by four numbers.
    pub parts: Vec<Vec<QuantizedKeys>>,
}

impl QuantizedCurve {
    /// All numbers of a curve of these keys, as [`Curve::values`] has them.
    pub fn values(&self, curve: &Curve) -> Vec<f64> {
        let (width, elements) = (curve.width(), curve.interpolation().elements_per_key());
        let mut values = Vec::with_capacity(curve.values().len());
        for key in 0..curve.timeline().len() {
            for element in 0..elements {
                let numbers = self.parts.iter().flat_map(|part| part[element].value(key).to_array());
                values.extend(numbers.take(width));
            }
        }
        values
    }

    /// Bytes of its keys, about, where there are so many.
    pub fn bytes(&self, keys: usize) -> usize {
        let records: usize = self.parts.iter().map(|part| record_bytes(part)).sum();
        records + (self.bits() as usize * keys).div_ceil(8)
    }

    /// Columns of up to four numbers.
    pub fn columns(&self) -> usize {
        self.parts.iter().map(Vec::len).sum()
    }

    /// Bits of a key.
    pub fn bits(&self) -> u32 {
        self.parts.iter().flatten().flat_map(|part| part.widths).sum()
    }

    /// The most bits of a number.
    pub fn width(&self) -> u32 {
        self.parts.iter().flatten().flat_map(|part| part.widths).max().unwrap_or(0)
    }
}

/// How the numbers of a key become its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// They are the value.
    Numbers,
    /// They are a unit quaternion but for the one of this index, which is what makes its length 1, and is never negative.
    Dropped(usize),
    /// They are a quaternion that is normalised.
    Unit,
}

/// Up to four numbers of all keys, as integers.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantizedKeys {
    /// How the numbers become a value.
    pub form: Form,
    /// What is added to the codes of each number.
    pub least: [i32; 4],
    /// What that is multiplied by.
    pub step: f32,
    /// Bits of the code of each number; 0 where it does not change.
    pub widths: [u32; 4],
    /// The codes, key after key.
    pub codes: Vec<[u32; 4]>,
}

impl QuantizedKeys {
    /// The value of a key, as the engines decode it but for their rounding.
    pub fn value(&self, key: usize) -> DVec4 {
        let number =
            |number: usize| f64::from(self.step) * (f64::from(self.least[number]) + f64::from(self.codes[key][number]));
        let mut numbers = DVec4::new(number(0), number(1), number(2), number(3));
        match self.form {
            Form::Numbers => {}
            Form::Dropped(index) => numbers[index] = (1.0 - numbers.length_squared()).max(0.0).sqrt(),
            Form::Unit => numbers = numbers.normalize_or(DVec4::W),
        }
        numbers
    }
}
