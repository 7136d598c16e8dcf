//! Blocks of keys. Packing first reserves the offsets of all blocks in order, and then fills the blocks on all cores.
//! Quantized keys take one row of bits per key, and one record per column.
//!
//! Neighbouring rotation keys are brought into one hemisphere here, in `f64`. The direction of a half turn can depend
//! on the last bit of an `f64`, which an `f32` does not have, so that an engine could turn the other way.

use std::sync::Mutex;
use std::thread;

use glam::{DQuat, DVec4, Vec4};

use crate::model::rotation::{self, unit};
use crate::model::{Interpolation, NumberRange};
use crate::pack::arrays::Arrays;
use crate::pack::channels::TrackColumn;
use crate::pack::quantized::{Form, QuantizedKeys, is_wide};
use crate::pack::record::{
    QUANTIZED_BITS, QUANTIZED_FORM, QUANTIZED_NARROW_COLUMN_WORDS, QUANTIZED_NUMBERS, QUANTIZED_PLACE_BITS,
    QUANTIZED_STEP_HIGH, QUANTIZED_STEP_LOW, QUANTIZED_UNIT, QUANTIZED_WIDE, QUANTIZED_WIDE_COLUMN_WORDS,
    QuantizedColumn,
};

/// The location of the keys of some columns: one row per key of the timeline. Rows consist of values, or of words if
/// the keys are quantized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyBlock {
    /// The number of values or words from one key to the next.
    pub row: usize,
    /// The offset of the first row in the words; 0 unless the keys are quantized.
    pub first: usize,
    /// For each column the offset of its first key, or of its record if the keys are quantized.
    pub offsets: Vec<usize>,
}

/// The fewest values for which another thread pays: they take about one or two milliseconds.
const VALUES_PER_THREAD: usize = 1 << 17;

/// The number of keys of a column that are filled before the next column. So few rows stay in the cache of a
/// core.
const KEYS_AT_A_TIME: usize = 32;

/// A block with an offset and no values yet.
pub struct UnfilledKeyBlock<'a> {
    offset: usize,
    row: usize,
    keys: usize,
    columns: Vec<TrackColumn<'a>>,
}

/// Reserves a block for the keys of columns that share their key times.
pub fn reserve<'a>(arrays: &mut Arrays, keys: usize, columns: &[&TrackColumn<'a>]) -> (KeyBlock, UnfilledKeyBlock<'a>) {
    let offset = arrays.values.len();
    let mut row = 0;
    let mut offsets = Vec::with_capacity(columns.len());
    for column in columns {
        offsets.push(offset + row);
        row += values_per_key(column);
    }
    arrays.values.resize(offset + row * keys, Vec4::ZERO);
    let columns = columns.iter().map(|&&column| column).collect();
    (KeyBlock { row, first: 0, offsets }, UnfilledKeyBlock { offset, row, keys, columns })
}

/// Fills blocks, given in the order of their offsets, on up to this many threads.
pub fn fill(values: &mut [Vec4], blocks: Vec<UnfilledKeyBlock>, threads: usize) {
    let count: usize = blocks.iter().map(|block| block.row * block.keys).sum();
    let threads = threads.min(count.div_ceil(VALUES_PER_THREAD));
    let (mut rest, mut start) = (values, 0);
    let blocks = blocks.into_iter().filter_map(|block| {
        let end = block.offset + block.row * block.keys;
        let part = rest.split_off_mut(..end - start)?.split_off_mut(block.offset - start..)?;
        start = end;
        Some((block, part))
    });
    let blocks = Mutex::new(blocks);
    let work = || {
        // A poisoned lock means that another thread has panicked. The scope reports that.
        while let Some((block, values)) = blocks.lock().ok().and_then(|mut blocks| blocks.next()) {
            block.fill(values);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
}

impl UnfilledKeyBlock<'_> {
    fn fill(&self, values: &mut [Vec4]) {
        let mut previous = vec![None; self.columns.len()];
        for (part, rows) in values.chunks_mut(KEYS_AT_A_TIME * self.row).enumerate() {
            let mut in_row = 0;
            for (column, previous) in self.columns.iter().zip(&mut previous) {
                let count = values_per_key(column);
                for (key, row) in (part * KEYS_AT_A_TIME..).zip(rows.chunks_exact_mut(self.row)) {
                    for (index, value) in row[in_row..in_row + count].iter_mut().enumerate() {
                        *value = Vec4::from_array(key_value(column, key, index, previous));
                    }
                }
                in_row += count;
            }
        }
    }
}

/// The number of values per key and per four numbers.
pub fn elements_per_key(interpolation: Interpolation) -> usize {
    if interpolation == Interpolation::Slerp { 2 } else { interpolation.elements_per_key() }
}

/// The number of values per key of a column.
fn values_per_key(column: &TrackColumn) -> usize {
    match column.curve.interpolation() {
        Interpolation::Custom(_) => column.curve_numbers.count.div_ceil(4),
        interpolation => elements_per_key(interpolation),
    }
}

/// The `index`-th value of a key, as the engines read it.
///
/// Rotations for slerp are brought into the hemisphere of the previous key in `f64`: the direction of a half turn can
/// depend on the last bit of an `f64`, which an `f32` does not have. `previous` is the previous key before that, and
/// true if it was negated.
fn key_value(column: &TrackColumn, key: usize, index: usize, previous: &mut Option<(DQuat, bool)>) -> [f32; 4] {
    let curve = column.curve;
    let quaternion = |key: usize| curve.numbers(key, curve.value_element(), NumberRange::new(0, 4));
    let numbers = match curve.interpolation() {
        Interpolation::Linear if column.rotation => {
            let rotation = rotation::key(DQuat::from_array(quaternion(key))).unwrap_or(DQuat::IDENTITY);
            let negated = previous.is_some_and(|(before, negated)| negated != (before.dot(rotation) < 0.0));
            *previous = Some((rotation, negated));
            (if negated { -rotation } else { rotation }).to_array()
        }
        Interpolation::Step if column.rotation => {
            unit(DQuat::from_array(quaternion(key))).unwrap_or(DQuat::IDENTITY).to_array()
        }
        // In-tangent, value and out-tangent, in the order of the curve.
        Interpolation::CubicSpline => curve.numbers(key, index, column.curve_numbers),
        Interpolation::Slerp if index == 1 => {
            let value = DVec4::from_array(quaternion(key));
            let next = DVec4::from_array(quaternion((key + 1).min(curve.timeline().len() - 1)));
            (if value.dot(next) < 0.0 { -next } else { next }).to_array()
        }
        Interpolation::Custom(_) => {
            let first = 4 * index;
            curve.numbers(key, 0, NumberRange::new(first, (column.curve_numbers.count - first).min(4)))
        }
        _ => curve.numbers(key, 0, column.curve_numbers),
    };
    narrow(numbers)
}

/// Rounds numbers to the precision of the engines.
pub fn narrow(numbers: [f64; 4]) -> [f32; 4] {
    numbers.map(|number| number as f32)
}

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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::VALUES_PER_THREAD;
    use crate::model::{Clip, Curve, Interpolation, Joint, Library, Skeleton, Target, Timeline, Track};
    use crate::pack::PackedLibrary;

    /// The rotations of several clips leave the hemisphere of the previous key. Together they occupy more than two
    /// threads.
    #[test]
    fn the_number_of_threads_does_not_change_the_result() {
        let (joints, keys) = (20, 4000);
        let skeleton = Skeleton::new(None, vec![Joint::default(); joints], Vec::new()).unwrap();
        let mut library = Library::new();
        let skeleton = library.add_skeleton(skeleton);
        for clip in 0..5 {
            let timeline = Arc::new(Timeline::new((0..keys).map(f64::from).collect()).unwrap());
            let track = |joint: usize| {
                let angle = |key: i32| f64::from(key * (joint as i32 + clip) % 7);
                let rotation = |key| [0.0, 0.0, angle(key).sin(), angle(key).cos()];
                let values = (0..keys).flat_map(rotation).collect();
                let curve = Curve::new(timeline.clone(), Interpolation::Linear, 4, values).unwrap();
                Track::new(Target::Rotation(joint), curve)
            };
            library.add_clip(Clip::new(None, skeleton, (0..joints).map(track).collect())).unwrap();
        }
        let one = PackedLibrary::with_threads(&library, 1).unwrap().arrays;
        assert!(one.values.iter().any(|value| value.w < -0.9) && one.values.len() > 2 * VALUES_PER_THREAD);
        for threads in [2, 3, 16] {
            let several = PackedLibrary::with_threads(&library, threads).unwrap().arrays;
            assert!(several.words[..] == one.words[..] && several.values[..] == one.values[..], "{threads} threads");
        }
    }
}
