//! Quantized keys: integers to values, by masks and multiplications.

use std::cmp::Ordering;

use glam::{UVec4, Vec4};

use crate::cpu::simd::block::LARGEST_BLOCK;
use crate::pack::record::{
    QUANTIZED_BITS, QUANTIZED_FORM, QUANTIZED_FORM_BITS, QUANTIZED_NARROW_COLUMN_WORDS, QUANTIZED_NUMBERS,
    QUANTIZED_UNIT, QUANTIZED_WIDE, QUANTIZED_WIDE_COLUMN_WORDS, QuantizedColumn,
};

/// Words beyond the last that are read, not used: a key's codes are looked for in a window, four bytes at a time.
pub const WORDS_BEYOND: usize = 5;

/// Bytes in which all codes of a key lie, wherever in the first its codes begin.
pub const WINDOW: usize = 16;

/// A column, ready to be read.
///
/// A number is `base + scale * code`, where the code is as it lies in whole bytes: shifted, which its scale makes up for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Column {
    /// Bytes of the words before the one where the first key's first code begins.
    first: usize,
    /// For each number the bytes from there that hold its code.
    bytes: [u8; WINDOW],
    /// For each number its code's bits in them.
    masks: UVec4,
    scale: Vec4,
    base: Vec4,
    form: Form,
    /// For each number of a value its place among these.
    order: UVec4,
}

/// How the numbers of a key become its value.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Form {
    /// They are the value.
    #[default]
    Numbers,
    /// The last is not stored: it is what makes a quaternion's length 1. Another's place may be the last.
    Dropped,
    /// They are a quaternion that is normalised.
    Unit,
}

impl Column {
    /// A column of quantized keys, by the place of its record.
    pub fn new(words: &[u32], at: u32) -> Self {
        let (record, rest) = words[at as usize..].split_at(QuantizedColumn::WORDS);
        let record: QuantizedColumn = *bytemuck::from_bytes(bytemuck::cast_slice(record));
        let field = |number: u32| record.format >> (QUANTIZED_BITS * number) & ((1 << QUANTIZED_BITS) - 1);
        let least: [i32; 4] = match record.format & QUANTIZED_WIDE {
            0 => bytemuck::cast_slice::<u32, i16>(&rest[..2]).first_chunk().copied().unwrap_or_default().map(i32::from),
            _ => bytemuck::cast_slice::<u32, i32>(&rest[..4]).first_chunk().copied().unwrap_or_default(),
        };
        let (form, dropped) = match record.format >> QUANTIZED_FORM & ((1 << QUANTIZED_FORM_BITS) - 1) {
            QUANTIZED_NUMBERS => (Form::Numbers, 3),
            QUANTIZED_UNIT => (Form::Unit, 3),
            dropped => (Form::Dropped, dropped - QUANTIZED_NUMBERS - 1),
        };
        let bit = field(0);
        let mut column = Self { first: 4 * record.first as usize + bit as usize / 8, form, ..Self::default() };
        let mut bit = bit % 8;
        for number in 0..4 {
            let place = match number.cmp(&dropped) {
                Ordering::Less => number,
                Ordering::Equal => 3,
                Ordering::Greater => number - 1,
            };
            column.order[number as usize] = place;
            let (place, width) = (place as usize, field(number + 1));
            for byte in 0..4 {
                column.bytes[4 * place + byte] = bit as u8 / 8 + byte as u8;
            }
            column.masks[place] = ((1 << width) - 1) << (bit % 8);
            column.scale[place] = record.step / (1 << (bit % 8)) as f32;
            column.base[place] = record.step * least[number as usize] as f32;
            bit += width;
        }
        column
    }

    /// Words of a column of quantized keys with its least codes.
    pub fn words(words: &[u32], at: u32) -> u32 {
        match words[at as usize + 1] & QUANTIZED_WIDE {
            0 => QUANTIZED_NARROW_COLUMN_WORDS,
            _ => QUANTIZED_WIDE_COLUMN_WORDS,
        }
    }

    /// Whether a block may be sampled of such, by the part of its joints that they are: of rotations a number is not stored.
    pub fn can_block(&self, part: usize) -> bool {
        self.form == if part == 1 { Form::Dropped } else { Form::Numbers }
    }

    /// The bytes of its codes in a window that begins elsewhere; none where not all of them are there.
    fn bytes_from(&self, first: usize) -> Option<[u8; WINDOW]> {
        let moved = self.first.checked_sub(first)?;
        let end = |number: usize| match u32::BITS - self.masks[number].leading_zeros() {
            0 => 0,
            bits => usize::from(self.bytes[4 * number]) + bits.div_ceil(8) as usize,
        };
        let end = moved + (0..4).map(end).max().unwrap_or(0);
        (end <= WINDOW).then(|| self.bytes.map(|byte| byte + moved as u8))
    }

    /// The key of a row, by the words from the first one's to it.
    #[inline(always)]
    pub fn key(&self, words: &[u32], row: u32) -> Vec4 {
        let row: &[u8] = bytemuck::cast_slice(&words[row as usize..]);
        let mut numbers = self.base + self.scale * codes(&row[self.first..], &self.bytes, self.masks);
        match self.form {
            Form::Numbers => return numbers,
            Form::Dropped => numbers.w = (1.0 - numbers.length_squared()).max(0.0).sqrt(),
            Form::Unit => numbers = numbers.normalize(),
        }
        in_order(numbers, self.order)
    }
}

/// The codes of a key, as they lie in bytes that begin with its window.
#[inline(always)]
fn codes(window: &[u8], bytes: &[u8; WINDOW], masks: UVec4) -> Vec4 {
    let window = &window[..WINDOW + 3];
    let code = |number: usize| {
        let bytes = &window[usize::from(bytes[4 * number]) % WINDOW..][..4];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    };
    // Signed, which is faster: of 24 bits shifted by up to 7, the highest is never a code's.
    (UVec4::new(code(0), code(1), code(2), code(3)) & masks).as_ivec4().as_vec4()
}

/// Numbers from their places.
#[inline(always)]
pub fn in_order(numbers: Vec4, order: UVec4) -> Vec4 {
    let numbers = numbers.to_array();
    Vec4::from_array(order.to_array().map(|place| numbers[place as usize % 4]))
}

/// What a key has of an element, by the place of its column's record and the words from the first key's row to its own.
pub fn key(words: &[u32], at: u32, row: u32, element: u32) -> Vec4 {
    Column::new(words, at + element * Column::words(words, at)).key(words, row)
}

/// Columns of neighbouring joints, as instructions read them.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub struct FourColumns {
    pub bytes: [[u8; WINDOW]; 4],
    pub masks: [UVec4; 4],
    pub scales: [Vec4; 4],
    pub bases: [Vec4; 4],
    pub orders: [UVec4; 4],
    pub firsts: [usize; 4],
}

impl FourColumns {
    /// Columns four by four, up to whole blocks, of which the last read nothing of use; and whether each two share a window.
    pub fn all(columns: &[Column]) -> (Vec<Self>, bool) {
        let mut all: Vec<Self> = columns.chunks(4).map(Self::new).collect();
        let pairs: Option<Vec<_>> = columns.as_chunks::<2>().0.iter().map(|[a, b]| b.bytes_from(a.first)).collect();
        for (pair, &bytes) in pairs.iter().flatten().enumerate() {
            let four = &mut all[pair / 2];
            let second = pair % 2 * 2 + 1;
            (four.firsts[second], four.bytes[second]) = (four.firsts[second - 1], bytes);
        }
        all.resize(columns.len().next_multiple_of(LARGEST_BLOCK) / 4, Self::default());
        (all, pairs.is_some())
    }

    fn new(columns: &[Column]) -> Self {
        let mut four = Self::default();
        for (place, column) in columns.iter().enumerate() {
            four.bytes[place] = column.bytes;
            four.masks[place] = column.masks;
            four.scales[place] = column.scale;
            four.bases[place] = column.base;
            four.orders[place] = column.order;
            four.firsts[place] = column.first;
        }
        four
    }

    /// The codes of a key of one of them, as they lie in the bytes of its row.
    #[inline(always)]
    pub fn codes(&self, column: usize, row: &[u8]) -> Vec4 {
        codes(&row[self.firsts[column]..], &self.bytes[column], self.masks[column])
    }
}
