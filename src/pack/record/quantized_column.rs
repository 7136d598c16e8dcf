//! Quantized keys.

use crate::pack::record::{constants, record};

constants! {
    /// Bits of [`QuantizedColumn::format`] that hold where in a word the first code begins, and of each code's width above it.
    pub const QUANTIZED_BITS: u32 = 5;
    /// The lowest bit of [`QuantizedColumn::format`] above the four widths: the form.
    pub const QUANTIZED_FORM: u32 = 25;
    /// Form of a key whose numbers are its value. Between the two forms lie, in order, those of a unit quaternion of which one
    /// number is not stored.
    pub const QUANTIZED_NUMBERS: u32 = 0;
    /// Form of a key whose numbers are a quaternion that is normalised.
    pub const QUANTIZED_UNIT: u32 = 5;
    /// Bits of the form.
    pub const QUANTIZED_FORM_BITS: u32 = 3;
    /// Bit of [`QuantizedColumn::format`]: each least code has a word to itself.
    pub const QUANTIZED_WIDE: u32 = 1 << 28;
    /// Words of a column with its least codes, two in a word.
    pub const QUANTIZED_NARROW_COLUMN_WORDS: u32 = 5;
    /// Words of a column with its least codes, each in a word to itself.
    pub const QUANTIZED_WIDE_COLUMN_WORDS: u32 = 7;
}

record! {
    /// Up to four numbers of quantized keys, in the words; of a spline's keys there are three such, one after the other. A key
    /// is a row of words, in which the codes lie bit by bit, and a number is `step * (least + code)`. The least codes of the
    /// four numbers follow the record: in a word each, or two in one.
    QuantizedColumn in words {
        /// Words: the one of the first key's row where the first code begins.
        first: u32,
        /// The bit of that word, the widths of the codes, and how the numbers become a value.
        format: u32,
        /// What a code is multiplied by.
        step: f32,
    }
}
