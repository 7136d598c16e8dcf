//! Quantized keys: integers of a few bits, which the engines decode.

use glam::DVec4;

use crate::model::Curve;
use crate::pack::record::{
    QUANTIZED_BITS, QUANTIZED_FORM, QUANTIZED_FORM_BITS, QUANTIZED_NARROW_COLUMN_WORDS, QUANTIZED_NUMBERS,
    QUANTIZED_PLACE_BITS, QUANTIZED_STEP_HIGH, QUANTIZED_STEP_LOW, QUANTIZED_UNIT, QUANTIZED_WIDE,
    QUANTIZED_WIDE_COLUMN_WORDS, QuantizedColumn,
};

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
        let number = |number: usize| f64::from(self.least[number]) + f64::from(self.codes[key][number]);
        decode(self.form, self.step, [0, 1, 2, 3].map(number))
    }
}

/// The value of a key whose numbers are these multiples of a step.
fn decode(form: Form, step: f32, multiples: [f64; 4]) -> DVec4 {
    let mut numbers = f64::from(step) * DVec4::from_array(multiples);
    match form {
        Form::Numbers => {}
        Form::Dropped(index) => numbers[index] = (1.0 - numbers.length_squared()).max(0.0).sqrt(),
        Form::Unit => numbers = numbers.normalize_or(DVec4::W),
    }
    numbers
}

/// A column of a packed library, ready to read its keys.
#[derive(Debug, Clone, Copy)]
pub struct PackedColumn {
    /// The conversion of the numbers to a value.
    pub form: Form,
    /// The quantization step.
    pub step: f32,
    /// The least value of each number, in steps.
    pub least: [i32; 4],
    /// The bits of each number's code.
    pub widths: [u32; 4],
    /// The bit of a row at which the first code begins.
    pub bit: usize,
}

impl PackedColumn {
    /// Reads the record at an offset of the words.
    pub fn new(words: &[u32], offset: u32) -> Self {
        let (record, rest) = words[offset as usize..].split_at(QuantizedColumn::WORDS);
        let record: QuantizedColumn = bytemuck::pod_read_unaligned(bytemuck::cast_slice(record));
        let halves = |word: u32| [i32::from(word as i16), i32::from((word >> 16) as i16)];
        let (bit, least) = if record.place & QUANTIZED_WIDE == 0 {
            let [[x, y], [z, w]] = [halves(rest[0]), halves(rest[1])];
            (record.place & ((1 << QUANTIZED_PLACE_BITS) - 1), [x, y, z, w])
        } else {
            (rest[0], [1, 2, 3, 4].map(|word: usize| rest[word] as i32))
        };
        let form = match record.place >> QUANTIZED_FORM & ((1 << QUANTIZED_FORM_BITS) - 1) {
            QUANTIZED_NUMBERS => Form::Numbers,
            QUANTIZED_UNIT => Form::Unit,
            dropped => Form::Dropped((dropped - QUANTIZED_NUMBERS - 1) as usize),
        };
        let width = |number: u32| record.format >> (QUANTIZED_BITS * number) & ((1 << QUANTIZED_BITS) - 1);
        let (step_high, step_low) = (record.format >> QUANTIZED_STEP_HIGH, record.place >> QUANTIZED_STEP_LOW);
        let step = f32::from_bits(step_high << 19 | step_low << 11);
        Self { form, step, least, widths: [0, 1, 2, 3].map(width), bit: bit as usize }
    }

    /// The numbers of a key, in steps, from the words of its row.
    pub fn multiples(&self, row: &[u32]) -> [i32; 4] {
        let mut bit = self.bit;
        [0, 1, 2, 3].map(|number| {
            let width = self.widths[number] as usize;
            let (first, shift) = (bit / u32::BITS as usize, bit % u32::BITS as usize);
            bit += width;
            // After the last code, there may be no second word.
            let word = |index: usize| u64::from(row.get(index).copied().unwrap_or(0));
            let code = (word(first) | word(first + 1) << u32::BITS) >> shift & ((1 << width) - 1);
            self.least[number] + code as i32
        })
    }

    /// The same numbers as codes of 16 bits, which hold them. The last number of a rotation takes the place of the
    /// number that is not stored.
    pub fn short_codes(&self, row: &[u32]) -> [u16; 4] {
        let mut codes = self.multiples(row).map(|multiple| multiple as u16);
        if let Form::Dropped(index) = self.form {
            codes.swap(index, 3);
        }
        codes
    }

    /// Decodes the value of a key in `f64`, from the words of its row.
    pub fn value(&self, row: &[u32]) -> DVec4 {
        decode(self.form, self.step, self.multiples(row).map(f64::from))
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
