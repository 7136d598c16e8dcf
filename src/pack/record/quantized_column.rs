//! The record of a column of quantized keys.

use crate::pack::record::{constants, record};

constants! {
    /// The number of bits of each width in [`QuantizedColumn::format`].
    pub const QUANTIZED_BITS: u32 = 5;
    /// The number of low bits of [`QuantizedColumn::place`] that hold the place.
    pub const QUANTIZED_PLACE_BITS: u32 = 20;
    /// The lowest bit of the form in [`QuantizedColumn::place`].
    pub const QUANTIZED_FORM: u32 = 20;
    /// Form of keys with numbers that are the value. The next four forms are those of unit quaternions without component 0, 1, 2
    /// or 3.
    pub const QUANTIZED_NUMBERS: u32 = 0;
    /// Form of keys with numbers that are a quaternion, which is then normalised.
    pub const QUANTIZED_UNIT: u32 = 5;
    /// The number of bits of the form.
    pub const QUANTIZED_FORM_BITS: u32 = 3;
    /// Bit of [`QuantizedColumn::place`]: the place and each least value take a whole word.
    pub const QUANTIZED_WIDE: u32 = 1 << 23;
    /// The lowest bit of the upper part of the step in [`QuantizedColumn::format`], above four widths.
    pub const QUANTIZED_STEP_HIGH: u32 = 20;
    /// The lowest bit of the lower part of the step in [`QuantizedColumn::place`].
    pub const QUANTIZED_STEP_LOW: u32 = 24;
    /// The words of a column with least values of half a word.
    pub const QUANTIZED_NARROW_COLUMN_WORDS: u32 = 4;
    /// The words of a column with a place and least values of a whole word.
    pub const QUANTIZED_WIDE_COLUMN_WORDS: u32 = 7;
}

record! {
    /// Up to four numbers of quantized keys, in the words. A spline has three such records, one after the other. A key is a row
    /// of words with the codes bit by bit. A number is `step * (least + code)`.
    ///
    /// The step is an `f32` with a mantissa of 12 bits and no sign: 12 bits of it are in `format`, the next 8 in `place`. The
    /// least values of the four numbers follow the record, two per word. If `QUANTIZED_WIDE` is set, one word with the place
    /// and one word per least value follow it instead.
    QuantizedColumn in words {
        /// The bit of the row at which the first code begins, the form, `QUANTIZED_WIDE`, and the lower part of the step.
        place: u32,
        /// The widths of the four codes, and the upper part of the step.
        format: u32,
    }
}
