//! Quantized keys: integers to values, by masks and multiplications. A GPU reads another form, which
//! `src/pack/device_form.rs` makes.

use std::cmp::Ordering;

use glam::{UVec4, Vec4};

use crate::cpu::simd::{BLOCK_WINDOW, HALF_WINDOW, LARGEST_BLOCK, WINDOW, codes};
use crate::cpu::stages::TransformPart;
use crate::pack::record::QUANTIZED_WIDE_COLUMN_WORDS;
use crate::pack::{self, PackedColumn, column_words};

/// Words beyond the end of the library that are read but not used: by registers from the last key, and the records of a
/// block that is not full.
pub const WORDS_BEYOND: usize = {
    let records = LARGEST_BLOCK * QUANTIZED_WIDE_COLUMN_WORDS as usize;
    if records > BLOCK_WINDOW / 4 { records } else { BLOCK_WINDOW / 4 }
};
const _: () = assert!(4 * WORDS_BEYOND >= WINDOW + 3);

/// `2^-shift` for each shift of a code within its first byte.
const INVERSE_POWERS: [f32; 8] = [1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125];

/// A column of quantized keys, decoded from its record.
///
/// A number is `base + scale * code`. The code stays at its bit within its bytes; the scale makes up for this shift.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DecodedColumn {
    /// The byte of a row in which the first code begins.
    pub first: usize,
    /// For each number the four bytes, counted from `first`, that hold its code.
    pub bytes: [u8; WINDOW],
    /// For each number the bits of its code in these bytes.
    pub masks: UVec4,
    pub scale: Vec4,
    pub base: Vec4,
    form: Form,
    /// For each number of a value its index among the stored numbers.
    order: UVec4,
}

/// The rule by which the stored numbers of a key become its value.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Form {
    /// The numbers are the value.
    #[default]
    Numbers,
    /// A unit quaternion. The number at the last index is not stored; it follows from the length 1.
    Dropped,
    /// The numbers are a quaternion that is normalised.
    Unit,
}

impl DecodedColumn {
    /// Decodes the record at an offset in the words.
    pub fn new(words: &[u32], offset: u32) -> Self {
        let column = PackedColumn::new(words, offset);
        let (form, dropped) = match column.form {
            pack::Form::Numbers => (Form::Numbers, 3),
            pack::Form::Unit => (Form::Unit, 3),
            pack::Form::Dropped(index) => (Form::Dropped, index as u32),
        };
        let (mut bytes, mut masks, mut order) = ([0_u32; 4], [0_u32; 4], [0_u32; 4]);
        let (mut scale, mut base) = ([0.0_f32; 4], [0.0_f32; 4]);
        let mut bit = column.bit as u32 % 8;
        for number in 0..4 {
            let index = match number.cmp(&dropped) {
                Ordering::Less => number,
                Ordering::Equal => 3,
                Ordering::Greater => number - 1,
            };
            order[number as usize] = index;
            let (index, width, shift) = (index as usize % 4, column.widths[number as usize], bit % 8);
            // Four bytes, one after the other.
            bytes[index] = 0x0302_0100 + 0x0101_0101 * (bit / 8);
            masks[index] = ((1 << width) - 1) << shift;
            scale[index] = column.step * INVERSE_POWERS[shift as usize];
            base[index] = column.step * column.least[number as usize] as f32;
            bit += width;
        }
        Self {
            first: column.bit / 8,
            bytes: bytemuck::cast(bytes.map(u32::to_le)),
            masks: masks.into(),
            scale: scale.into(),
            base: base.into(),
            form,
            order: order.into(),
        }
    }

    /// Returns `true` if such columns decode in a block: rotations that drop a number, translations and scales that
    /// drop none.
    pub fn decodes_in_block(&self, part: TransformPart) -> bool {
        self.form == if part == TransformPart::Rotation { Form::Dropped } else { Form::Numbers }
    }

    /// The index of the number of a rotation that is not stored.
    pub fn missing(&self) -> usize {
        self.order.to_array().into_iter().position(|index| index == 3).unwrap_or(3)
    }

    /// Returns `true` if a key has at most three numbers, and the fourth is 0 or not stored.
    pub fn stores_three_numbers(&self) -> bool {
        self.masks.w == 0 && (self.form == Form::Dropped || self.base.w == 0.0)
    }

    /// Returns `true` if each code fits two words of 16 bits within [`HALF_WINDOW`] bytes that begin at the byte
    /// `first`.
    pub fn fits_words(&self, first: usize) -> bool {
        let Some(shift) = self.first.checked_sub(first) else { return false };
        (0..3).all(|number| {
            let byte = shift + usize::from(self.bytes[4 * number]);
            let highest = u32::BITS - self.masks[number].leading_zeros() + 8 * (byte as u32 % 2);
            byte / 2 + 2 <= HALF_WINDOW / 2 && highest <= u32::BITS
        })
    }

    /// The bytes of the codes, counted from the byte `first`. `None` if a window that begins there does not hold all
    /// codes.
    pub fn bytes_from(&self, first: usize) -> Option<[u8; WINDOW]> {
        let shift = self.first.checked_sub(first)?;
        let end = |number: usize| match u32::BITS - self.masks[number].leading_zeros() {
            0 => 0,
            bits => usize::from(self.bytes[4 * number]) + bits.div_ceil(8) as usize,
        };
        let end = shift + (0..4).map(end).max().unwrap_or(0);
        (end <= WINDOW).then(|| self.bytes.map(|byte| byte + shift as u8))
    }

    /// The value of a key. `row` is the offset of its row in the words.
    #[inline(always)]
    pub fn key(&self, words: &[u32], row: u32) -> Vec4 {
        let row: &[u8] = bytemuck::cast_slice(&words[row as usize..]);
        let mut numbers = self.base + self.scale * codes(&row[self.first..], &self.bytes, self.masks);
        match self.form {
            Form::Numbers => return numbers,
            Form::Dropped => numbers.w = (1.0 - numbers.length_squared()).max(0.0).sqrt(),
            Form::Unit => numbers = numbers.normalize(),
        }
        let numbers = numbers.to_array();
        Vec4::from_array(self.order.to_array().map(|index| numbers[index as usize % 4]))
    }
}

/// One element of a key: the in-tangent, value or out-tangent of a spline, or the value of another key. `column` is the
/// offset of the record of the first element, and `row` the offset of the row of the key.
pub fn key(words: &[u32], column: u32, row: u32, element: u32) -> Vec4 {
    DecodedColumn::new(words, column + element * column_words(words, column)).key(words, row)
}
