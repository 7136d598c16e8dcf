//! The record of a column of quantized keys.

use crate::pack::record::{constants, record};

constants! {
    /// The number of bits per field of [`QuantizedColumn::format`]: the bit at which the first code begins, and above it the
    /// width of each of four codes.
    pub const QUANTIZED_BITS: u32 = 5;
    /// The lowest bit of the form in [`QuantizedColumn::format`], above the four widths.
    pub const QUANTIZED_FORM: u32 = 25;
    /// Form of keys with numbers that are the value. The next four forms are those of unit quaternions without component 0, 1, 2
    /// or 3.
    pub const QUANTIZED_NUMBERS: u32 = 0;
    /// Form of keys with numbers that are a quaternion, which is then normalised.
    pub const QUANTIZED_UNIT: u32 = 5;
    /// The number of bits of the form.
    pub const QUANTIZED_FORM_BITS: u32 = 3;
    /// Bit of [`QuantizedColumn::format`]: each least value takes a whole word.
    pub const QUANTIZED_WIDE: u32 = 1 << 28;
    /// The words of a column with least values of half a word.
    pub const QUANTIZED_NARROW_COLUMN_WORDS: u32 = 5;
    /// The words of a column with least values of a whole word.
    pub const QUANTIZED_WIDE_COLUMN_WORDS: u32 = 7;
}

record! {
    /// Up to four numbers of quantized keys, in the words. A spline has three such records, one after the other. A key is a row
    /// of words with the codes bit by bit. A number is `step * (least + code)`. The least values of the four numbers follow the
    /// record, one or two per word.
    QuantizedColumn in words {
        /// The offset in the words of the word in which the first code of the first key begins.
        first: u32,
        /// The bit of that word, the widths of the codes, and the form.
        format: u32,
        /// The quantization step.
        step: f32,
    }
}
