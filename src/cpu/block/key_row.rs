//! A row of quantized keys, decoded in blocks.

use glam::Vec4;

use crate::cpu::block::joints::blocks;
use crate::cpu::simd::{BlockColumns, FourColumns, LARGEST_BLOCK, Lanes};
use crate::cpu::stages::TransformPart;

/// The columns of neighbouring joints, in the form in which registers read them.
#[derive(Clone, Copy)]
pub enum RunColumns<'a> {
    /// The codes of each joint have a window of their own.
    Apart(&'a [FourColumns]),
    /// Each two joints share a window.
    Paired(&'a [FourColumns]),
    /// The joints of a block share a window, or those of each half. The columns of rotations are by number, those of other parts by joint.
    Blocks(&'a [BlockColumns]),
}

/// A row that is decoded.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The place of its first code among all codes, in bytes.
    pub from: usize,
    /// The place of its first value among all values.
    pub to: usize,
}

impl Row {
    /// The word that has its first code.
    pub fn first_word(self) -> u32 {
        (self.from / size_of::<u32>()) as u32
    }
}

/// Decodes whole blocks of joints of each row, block by block: the columns of a block stay in registers. Rotations become quaternions number
/// by number; other parts become values joint by joint.
#[inline(always)]
pub fn decode<L: Lanes>(
    columns: RunColumns,
    joints: usize,
    part: TransformPart,
    rows: &[Row],
    codes: &[u8],
    values: &mut [Vec4],
) {
    let turns = part == TransformPart::Rotation;
    match columns {
        RunColumns::Apart(columns) => fours::<L, false>(columns, joints, turns, rows, codes, values),
        RunColumns::Paired(columns) => fours::<L, true>(columns, joints, turns, rows, codes, values),
        RunColumns::Blocks(columns) if turns => rotations::<L>(columns, joints, rows, codes, values),
        RunColumns::Blocks(columns) => vectors::<L>(columns, joints, rows, codes, values),
    }
}

/// Replaces the rotation of a joint in a row of blocks by number, by the place of the joint.
#[inline(always)]
pub fn replace<L: Lanes>(rotation: Vec4, row: &mut [Vec4], place: usize) {
    let block = &mut row[place / L::BLOCK * L::BLOCK..][..L::BLOCK];
    let mut joints = [Vec4::ZERO; LARGEST_BLOCK];
    L::store_block(L::transpose(L::load_block(block)), &mut joints);
    joints[place % L::BLOCK] = rotation;
    L::store_block(L::transpose(L::load_block(&joints)), block);
}

/// Decodes whole blocks of rotations, whose columns are by number.
#[inline(always)]
fn rotations<L: Lanes>(columns: &[BlockColumns], joints: usize, rows: &[Row], codes: &[u8], values: &mut [Vec4]) {
    for (columns, block) in columns.iter().zip(blocks::<L>(joints)) {
        let columns = *columns;
        let missing = L::load(&columns.missing);
        for row in rows {
            let [a, b, c] = L::block_codes(&columns, &codes[row.from..]);
            let stored = [numbers(&columns, 0, a), numbers(&columns, 1, b), numbers(&columns, 2, c)];
            L::store_block(with_missing(stored, missing), &mut values[row.to + block.start..]);
        }
    }
}

/// Decodes whole blocks of translations or scales, whose columns are by joint.
#[inline(always)]
fn vectors<L: Lanes>(columns: &[BlockColumns], joints: usize, rows: &[Row], codes: &[u8], values: &mut [Vec4]) {
    for (columns, block) in columns.iter().zip(blocks::<L>(joints)) {
        let columns = *columns;
        for row in rows {
            let [a, b, c, d] = L::joint_codes(&columns, &codes[row.from..]);
            let decoded =
                [numbers(&columns, 0, a), numbers(&columns, 1, b), numbers(&columns, 2, c), numbers(&columns, 3, d)];
            L::store_block(decoded, &mut values[row.to + block.start..]);
        }
    }
}

/// Decodes whole blocks, four joints by four. If `turns` is set, they are quaternions.
#[inline(always)]
fn fours<L: Lanes, const PAIRED: bool>(
    columns: &[FourColumns],
    joints: usize,
    turns: bool,
    rows: &[Row],
    codes: &[u8],
    values: &mut [Vec4],
) {
    for block in blocks::<L>(joints) {
        let missing = if turns { missing_of_block(columns, block.start) } else { L::splat(0.0) };
        for row in rows {
            let mut decoded = numbers_of_block::<L, PAIRED>(columns, &codes[row.from..], block.start);
            if turns {
                let [a, b, c, _] = L::transpose(decoded);
                decoded = with_missing([a, b, c], missing);
            }
            L::store_block(decoded, &mut values[row.to + block.start..]);
        }
    }
}

/// The stored numbers of a block that begins with a joint.
#[inline(always)]
fn numbers_of_block<L: Lanes, const PAIRED: bool>(columns: &[FourColumns], row: &[u8], first: usize) -> [L; 4] {
    let columns = &columns[first / 4..(first + L::BLOCK) / 4];
    let joints = L::BLOCK / 4;
    let mut block = [L::splat(1.0); 4];
    for (register, numbers) in block.iter_mut().enumerate() {
        let (four, first) = (&columns[register * joints / 4], register * joints % 4);
        let codes = L::codes::<PAIRED>(four, first, row);
        *numbers = codes.multiply_add(L::load(&four.scales[first..]), L::load(&four.bases[first..]));
    }
    block
}

/// For each joint of a block, in the order of a transposed block, the index of the number that is not stored. `first` is the first joint.
#[inline(always)]
fn missing_of_block<L: Lanes>(columns: &[FourColumns], first: usize) -> L {
    let columns = &columns[first / 4..(first + L::BLOCK) / 4];
    let mut joints = [Vec4::ZERO; LARGEST_BLOCK];
    for (columns, joints) in columns.iter().zip(joints.as_chunks_mut::<4>().0) {
        let [a, b, c, d] = columns.missing.to_array();
        *joints = [Vec4::splat(a), Vec4::splat(b), Vec4::splat(c), Vec4::splat(d)];
    }
    let [missing, ..] = L::transpose(L::load_block(&joints));
    missing
}

/// The stored numbers of a register of a block.
#[inline(always)]
fn numbers<L: Lanes>(columns: &BlockColumns, register: usize, codes: L) -> L {
    codes.multiply_add(L::load(&columns.scales[register]), L::load(&columns.bases[register]))
}

/// Unit quaternions by the three numbers that are stored, in order. `missing` has the index of the number that is not stored. It follows
/// from the length 1.
#[inline(always)]
fn with_missing<L: Lanes>([a, b, c]: [L; 3], missing: L) -> [L; 4] {
    let one = L::splat(1.0);
    let square = one - a.multiply_add(a, b.multiply_add(b, c * c));
    let inserted = square.max(L::splat(0.0)).square_root();
    // Each is 0 where that number is missing.
    let (x, y, z, w) = (missing, missing - one, missing - L::splat(2.0), missing - L::splat(3.0));
    [
        a.replace_where_zero(x, inserted),
        b.replace_where_zero(y, inserted).replace_where_zero(x, a),
        c.replace_where_zero(z, inserted).replace_where_zero(x * y, b),
        c.replace_where_zero(w, inserted),
    ]
}
