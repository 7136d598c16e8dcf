//! Rotations of a row of quantized keys, decoded in blocks.

use glam::Vec4;

use crate::cpu::block::joints::blocks;
use crate::cpu::simd::{BlockColumns, FourColumns, Lanes};

/// The square of a number that is not stored is at least this.
const LEAST_SQUARE: f32 = 1e-12;

/// Decodes the rotations of whole blocks at a key. A block has its quaternions number by number, the one that is not stored last.
#[inline(always)]
pub fn decode_blocks<L: Lanes>(columns: &[BlockColumns], row: &[u8], to: &mut [Vec4]) {
    for (columns, block) in columns.iter().zip(blocks::<L>(to.len())) {
        L::store_block(block_quaternions::<L>(columns, row), &mut to[block]);
    }
}

/// Decodes rotations as [`decode_blocks`] does. If `PAIRED` is set, each two joints share a window.
#[inline(always)]
pub fn decode_fours<L: Lanes, const PAIRED: bool>(columns: &[FourColumns], row: &[u8], to: &mut [Vec4]) {
    for block in blocks::<L>(to.len()) {
        let columns = &columns[block.start / 4..block.end / 4];
        L::store_block(quaternions::<L, PAIRED>(columns, row), &mut to[block]);
    }
}

/// The rotations of a block at a key, number by number.
#[inline(always)]
fn quaternions<L: Lanes, const PAIRED: bool>(columns: &[FourColumns], row: &[u8]) -> [L; 4] {
    let joints = L::BLOCK / 4;
    let mut block = [L::splat(1.0); 4];
    for (register, numbers) in block.iter_mut().enumerate() {
        let (four, first) = (&columns[register * joints / 4], register * joints % 4);
        let codes = L::codes::<PAIRED>(four, first, row);
        *numbers = codes.multiply_add(L::load(&four.scales[first..]), L::load(&four.bases[first..]));
    }
    let [x, y, z, _] = L::transpose(block);
    with_last([x, y, z])
}

/// Unit quaternions by three of their numbers.
#[inline(always)]
fn with_last<L: Lanes>([x, y, z]: [L; 3]) -> [L; 4] {
    let (one, least) = (L::splat(1.0), L::splat(LEAST_SQUARE));
    let square = (one - x.multiply_add(x, y.multiply_add(y, z * z))).max(least);
    [x, y, z, square * square.inverse_square_root()]
}

/// The rotations of a block at a key, number by number.
#[inline(always)]
fn block_quaternions<L: Lanes>(columns: &BlockColumns, row: &[u8]) -> [L; 4] {
    let [x, y, z] = L::block_codes(columns, row);
    let number =
        |index: usize, codes: L| codes.multiply_add(L::load(&columns.scales[index]), L::load(&columns.bases[index]));
    with_last([number(0, x), number(1, y), number(2, z)])
}
