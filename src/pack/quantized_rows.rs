//! Packing of quantized keys: one row of bits per key, and one record per column.

use crate::pack::arrays::Arrays;
use crate::pack::key_blocks::KeyBlock;
use crate::pack::quantized::{Form, QuantizedKeys, is_wide};
use crate::pack::record::{
    QUANTIZED_BITS, QUANTIZED_FORM, QUANTIZED_NARROW_COLUMN_WORDS, QUANTIZED_NUMBERS, QUANTIZED_PLACE_BITS,
    QUANTIZED_STEP_HIGH, QUANTIZED_STEP_LOW, QUANTIZED_UNIT, QUANTIZED_WIDE, QUANTIZED_WIDE_COLUMN_WORDS,
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
        // The three records of a spline must have one size, and lie below 3 * 4 * 24 bits of the first.
        let wide = column.iter().any(is_wide) || bit + 288 >= 1 << QUANTIZED_PLACE_BITS;
        for part in column {
            push_record(arrays, part, wide, bit as u32);
            for (number, &width) in part.widths.iter().enumerate() {
                for (key, codes) in part.codes.iter().enumerate() {
                    write_code(&mut arrays.words[first + row * key..], bit, codes[number]);
                }
                bit += width as usize;
            }
        }
    }
    KeyBlock { row, first, offsets }
}

/// The number of words of the record at an offset, with its least values.
pub fn column_words(words: &[u32], offset: u32) -> u32 {
    match words[offset as usize] & QUANTIZED_WIDE {
        0 => QUANTIZED_NARROW_COLUMN_WORDS,
        _ => QUANTIZED_WIDE_COLUMN_WORDS,
    }
}

/// The largest number of words of columns that share their key times.
pub fn most_words(keys: usize, numbers: usize) -> usize {
    // A code takes less than a word, and a column has at least one number.
    (keys + QUANTIZED_WIDE_COLUMN_WORDS as usize).saturating_mul(numbers).saturating_add(keys)
}

/// Appends a column's record and its least values, as full words if `wide`. The first code begins at a bit of the row.
fn push_record(arrays: &mut Arrays, part: &QuantizedKeys, wide: bool, bit: u32) {
    let form = match part.form {
        Form::Numbers => QUANTIZED_NUMBERS,
        Form::Dropped(number) => QUANTIZED_NUMBERS + 1 + number as u32,
        Form::Unit => QUANTIZED_UNIT,
    };
    let widths = part.widths.iter().rev().fold(0, |widths, width| widths << QUANTIZED_BITS | width);
    let step = part.step.to_bits();
    // The upper 12 bits of the step without its sign, then the next 8.
    let (step_high, step_low) = (step >> 19, step >> 11 & 0xff);
    let (place, wide_bit) = if wide { (0, QUANTIZED_WIDE) } else { (bit, 0) };
    arrays.push_records(&[QuantizedColumn {
        place: step_low << QUANTIZED_STEP_LOW | wide_bit | form << QUANTIZED_FORM | place,
        format: step_high << QUANTIZED_STEP_HIGH | widths,
    }]);
    if wide {
        arrays.push_records(&[bit]);
        arrays.push_records(&part.least);
    } else {
        let least = part.least.map(|least| least as i16);
        arrays.push_records(&bytemuck::cast::<[i16; 4], [u32; 2]>(least));
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
