//! Compact keys: integers to values, by shifts, masks and multiplications.

use glam::{IVec4, UVec4, Vec4};

use crate::cpu::simd::block::LARGEST_BLOCK;
use crate::pack::record::compact_column::{
    COMPACT_BITS, COMPACT_COLUMN_WORDS, COMPACT_FORM, COMPACT_FORM_BITS, COMPACT_NUMBERS, COMPACT_UNIT, COMPACT_WIDE,
    COMPACT_WIDE_COLUMN_WORDS, CompactColumn,
};

/// Words beyond the last that are read, not used: a key's codes are looked for in 16 bytes.
pub const WORDS_BEYOND: usize = 4;

/// A column, ready to be read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Column {
    /// Bytes of the words before the one where the first key's first code begins.
    first: usize,
    /// For each number the bytes from there that hold its code.
    bytes: [u8; 16],
    /// For each number the bits below its code in them.
    shifts: UVec4,
    /// For each number the bits of its code.
    masks: UVec4,
    least: IVec4,
    step: Vec4,
    /// 1 for the number that is not stored, which the length of 1 gives.
    dropped: Vec4,
    unit: bool,
}

impl Column {
    /// A column of compact keys, by the place of its record.
    pub fn new(words: &[u32], at: u32) -> Self {
        let (record, rest) = words[at as usize..].split_at(CompactColumn::WORDS);
        let record: CompactColumn = *bytemuck::from_bytes(bytemuck::cast_slice(record));
        let field = |number: u32| record.format >> (COMPACT_BITS * number) & ((1 << COMPACT_BITS) - 1);
        let bit = field(0);
        let step = Vec4::splat(record.step);
        let least: [i32; 4] = match record.format & COMPACT_WIDE {
            0 => bytemuck::cast_slice::<u32, i16>(&rest[..2]).first_chunk().copied().unwrap_or_default().map(i32::from),
            _ => bytemuck::cast_slice::<u32, i32>(&rest[..4]).first_chunk().copied().unwrap_or_default(),
        };
        let mut column = Self {
            first: 4 * record.first as usize + bit as usize / 8,
            least: IVec4::from_array(least),
            step,
            ..Self::default()
        };
        let mut bit = bit % 8;
        for number in 0..4 {
            let width = field(number as u32 + 1);
            for byte in 0..4 {
                column.bytes[4 * number + byte] = bit as u8 / 8 + byte as u8;
            }
            column.shifts[number] = bit % 8;
            column.masks[number] = (1 << width) - 1;
            bit += width;
        }
        match record.format >> COMPACT_FORM & ((1 << COMPACT_FORM_BITS) - 1) {
            COMPACT_NUMBERS => {}
            COMPACT_UNIT => column.unit = true,
            dropped => column.dropped[(dropped - COMPACT_NUMBERS - 1) as usize] = 1.0,
        }
        column
    }

    /// Words of a column of compact keys with its least codes.
    pub fn words(words: &[u32], at: u32) -> u32 {
        match words[at as usize + 1] & COMPACT_WIDE {
            0 => COMPACT_COLUMN_WORDS,
            _ => COMPACT_WIDE_COLUMN_WORDS,
        }
    }

    /// Whether the numbers are normalised.
    pub fn is_unit(&self) -> bool {
        self.unit
    }

    /// The key of a row, by the words from the first one's to it.
    #[inline(always)]
    pub fn key(&self, words: &[u32], row: u32) -> Vec4 {
        let codes = codes(words, row, self.first, &self.bytes, self.shifts) & self.masks;
        let numbers = self.step * (self.least + codes.as_ivec4()).as_vec4();
        if self.unit {
            return numbers.normalize();
        }
        numbers + self.dropped * (1.0 - numbers.length_squared()).max(0.0).sqrt()
    }
}

/// The codes of a key, and above each what follows it.
#[inline(always)]
fn codes(words: &[u32], row: u32, first: usize, bytes: &[u8; 16], shifts: UVec4) -> UVec4 {
    let code = |number: usize| {
        let byte = first + usize::from(bytes[4 * number]);
        let word = row as usize + byte / 4;
        let [low, high] = [words[word], words[word + 1]].map(u64::from);
        ((high << u32::BITS | low) >> (8 * (byte as u32 % 4) + shifts[number])) as u32
    };
    UVec4::new(code(0), code(1), code(2), code(3))
}

/// What a key has of an element, by the place of its column's record and the words from the first key's row to its own.
pub fn key(words: &[u32], at: u32, row: u32, element: u32) -> Vec4 {
    Column::new(words, at + element * Column::words(words, at)).key(words, row)
}

/// Columns of neighbouring joints, part by part, for instructions that read those of several at once.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    firsts: Vec<usize>,
    bytes: Vec<[u8; 16]>,
    shifts: Vec<UVec4>,
    masks: Vec<UVec4>,
    least: Vec<IVec4>,
    steps: Vec<Vec4>,
    dropped: Vec<Vec4>,
}

/// Some of them, as many as there are in each part.
#[derive(Debug, Clone, Copy)]
pub struct ColumnsAt<'a> {
    pub firsts: &'a [usize],
    pub bytes: &'a [[u8; 16]],
    pub shifts: &'a [UVec4],
    pub masks: &'a [UVec4],
    pub least: &'a [IVec4],
    pub steps: &'a [Vec4],
    pub dropped: &'a [Vec4],
}

impl Columns {
    /// Adds columns, and others that read nothing of use up to whole blocks, and gives the place of the first.
    pub fn extend(&mut self, columns: &[Column]) -> usize {
        let place = self.firsts.len();
        let padding = columns.len().next_multiple_of(LARGEST_BLOCK) - columns.len();
        for column in columns.iter().copied().chain(std::iter::repeat_n(Column::default(), padding)) {
            self.firsts.push(column.first);
            self.bytes.push(column.bytes);
            self.shifts.push(column.shifts);
            self.masks.push(column.masks);
            self.least.push(column.least);
            self.steps.push(column.step);
            self.dropped.push(column.dropped);
        }
        place
    }

    /// So many columns from a place on.
    #[inline(always)]
    pub fn at(&self, place: usize, count: usize) -> ColumnsAt<'_> {
        let range = place..place + count;
        ColumnsAt {
            firsts: &self.firsts[range.clone()],
            bytes: &self.bytes[range.clone()],
            shifts: &self.shifts[range.clone()],
            masks: &self.masks[range.clone()],
            least: &self.least[range.clone()],
            steps: &self.steps[range.clone()],
            dropped: &self.dropped[range],
        }
    }
}

impl ColumnsAt<'_> {
    /// The numbers of a key of one of them, less what is dropped.
    #[inline(always)]
    pub fn numbers(&self, column: usize, words: &[u32], row: u32) -> Vec4 {
        let found = codes(words, row, self.firsts[column], &self.bytes[column], self.shifts[column]);
        self.steps[column] * (self.least[column] + (found & self.masks[column]).as_ivec4()).as_vec4()
    }
}
