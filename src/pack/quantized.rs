//! Quantized keys: integers of a few bits, which the engines decode.

use glam::DVec4;

use crate::model::Curve;
use crate::pack::record::{QUANTIZED_NARROW_COLUMN_WORDS, QUANTIZED_WIDE_COLUMN_WORDS};

/// The most bits per code. An `f32` holds every integer of 24 bits exactly.
pub const MAX_BITS: u32 = 24;

/// The quantized keys of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantizedCurve {
    /// The keys of each four numbers: one element, or for a cubic spline three: in-tangent, value and out-tangent.
    pub parts: Vec<Vec<QuantizedKeys>>,
}

impl QuantizedCurve {
    /// Decodes all numbers, in the order of [`Curve::values`].
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

    /// The approximate bytes of a number of keys.
    pub fn bytes(&self, keys: usize) -> usize {
        let records: usize = self.parts.iter().map(|part| record_bytes(part)).sum();
        records + (self.bits() as usize * keys).div_ceil(8)
    }

    /// The number of columns of up to four numbers. The tangents of a spline are columns too.
    pub fn columns(&self) -> usize {
        self.parts.iter().map(Vec::len).sum()
    }

    /// The bits per key.
    pub fn bits(&self) -> u32 {
        self.parts.iter().flatten().flat_map(|part| part.widths).sum()
    }

    /// The bits of the widest number.
    pub fn width(&self) -> u32 {
        self.parts.iter().flatten().flat_map(|part| part.widths).max().unwrap_or(0)
    }
}

/// The conversion of a key's numbers to its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The numbers are the value.
    Numbers,
    /// The numbers are a unit quaternion without the component of this index. That component is not negative and makes
    /// the length 1.
    Dropped(usize),
    /// The numbers are a quaternion, which is then normalised.
    Unit,
}

/// Up to four numbers of all keys as integers. The decoded number is `step * (least + code)`.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantizedKeys {
    /// The conversion of the numbers to a value.
    pub form: Form,
    /// The least value of each number, in steps.
    pub least: [i32; 4],
    /// The quantization step.
    pub step: f32,
    /// The bits of the code of each number; 0 for a number that does not change.
    pub widths: [u32; 4],
    /// The codes of each key.
    pub codes: Vec<[u32; 4]>,
}

impl QuantizedKeys {
    /// Decodes the value of a key in `f64`. Engines differ by their rounding to `f32`.
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

/// The largest step that a record can hold and that is not above `step`.
pub fn storable_step(step: f64) -> f32 {
    let step = f32::from_bits((step as f32).to_bits() & STEP_MASK);
    if f64::from(step) <= f64::from(f32::MAX) { step } else { f32::INFINITY }
}

/// The bits of an `f32` that the step of a record keeps.
const STEP_MASK: u32 = 0x7fff_f800;

/// The bytes of the records of columns of one curve.
fn record_bytes(columns: &[QuantizedKeys]) -> usize {
    let words = if columns.iter().any(is_wide) { QUANTIZED_WIDE_COLUMN_WORDS } else { QUANTIZED_NARROW_COLUMN_WORDS };
    4 * words as usize * columns.len()
}

/// Returns `true` if a least value does not fit 16 bits.
pub fn is_wide(part: &QuantizedKeys) -> bool {
    part.least.iter().any(|&least| i16::try_from(least).is_err())
}
