//! Packing of quantized keys: one row of bits per key, and one record per column.

use crate::pack::arrays::Arrays;
use crate::pack::key_blocks::KeyBlock;
use crate::pack::quantized::{Form, QuantizedKeys, is_wide};
use crate::pack::record::{
    QUANTIZED_BITS, QUANTIZED_FORM, QUANTIZED_NUMBERS, QUANTIZED_UNIT, QUANTIZED_WIDE, QUANTIZED_WIDE_COLUMN_WORDS,
    QuantizedColumn,
};

/// Packs the quantized keys of columns that share their key times: rows of whole words, then the records.
pub fn pack_rows(arrays: &mut Arrays, keys: usize, columns: &[&[QuantizedKeys]]) -> KeyBlock {
    let bits: u32 = columns.iter().copied().flatten().flat_map(|part| part.widths).sum();
    let row = bits.div_ceil(u32::BITS) as usize;
    let first = arrays.words.len();
    arrays.words.resize(first + row * keys, 0);
    let mut offsets = Vec::with_capacity(columns.len());
    let mut bit = 0;
    for column in columns.iter().copied() {
        offsets.push(arrays.words.len());
        // The three records of a spline must have one size.
        let wide = column.iter().any(is_wide);
        for part in column {
            let position = BitPosition { word: first + bit / u32::BITS as usize, bit: bit as u32 % u32::BITS };
            push_record(arrays, part, wide, position);
            for (number, &width) in part.widths.iter().enumerate() {
                for (key, codes) in part.codes.iter().enumerate() {
                    write_code(&mut arrays.words[first + row * key..], bit, codes[number]);
                }
                bit += width as usize;
            }
        }
    }
    KeyBlock { row, offsets }
}

/// The largest number of words of columns that share their key times.
pub fn most_words(keys: usize, numbers: usize) -> usize {
    // A code takes less than a word, and a column has at least one number.
    (keys + QUANTIZED_WIDE_COLUMN_WORDS as usize).saturating_mul(numbers).saturating_add(keys)
}

/// The position of a bit in the words.
#[derive(Clone, Copy)]
struct BitPosition {
    word: usize,
    bit: u32,
}

/// Appends a column's record and its least values, as full words if `wide`. `position` is the first code of the first key.
fn push_record(arrays: &mut Arrays, part: &QuantizedKeys, wide: bool, position: BitPosition) {
    let form = match part.form {
        Form::Numbers => QUANTIZED_NUMBERS,
        Form::Dropped(number) => QUANTIZED_NUMBERS + 1 + number as u32,
        Form::Unit => QUANTIZED_UNIT,
    };
    let widths = part.widths.iter().rev().fold(0, |widths, width| widths << QUANTIZED_BITS | width);
    let wide_bit = if wide { QUANTIZED_WIDE } else { 0 };
    arrays.push_records(&[QuantizedColumn {
        first: position.word as u32,
        format: wide_bit | form << QUANTIZED_FORM | widths << QUANTIZED_BITS | position.bit,
        step: part.step,
    }]);
    if wide {
        arrays.push_records(&part.least);
    } else {
        arrays.push_records(&part.least.map(|least| least as i16));
    }
}

/// Writes a code at a bit position of words that are still 0 there.
fn write_code(words: &mut [u32], bit: usize, code: u32) {
    let (word, shift) = (bit / u32::BITS as usize, bit as u32 % u32::BITS);
    let code = u64::from(code) << shift;
    if code as u32 != 0 {
        words[word] |= code as u32;
    }
    if code >> u32::BITS != 0 {
        words[word + 1] |= (code >> u32::BITS) as u32;
    }
}
