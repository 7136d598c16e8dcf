//! Codes of quantized keys in registers: integers of up to 24 bits, which begin at any bit of a row of bytes.

use glam::{UVec4, Vec4};

/// Joints, or instances, of the largest block of any instruction set. Arrays that blocks read and write are longer than
/// their contents by this number.
pub const LARGEST_BLOCK: usize = 16;

/// Bytes that hold all codes of a key, at whichever bit of the first byte they begin.
pub const WINDOW: usize = 16;

/// The columns of four neighbouring joints, laid out for registers.
///
/// A number is `base + scale * code`. The code stays at its bit within its bytes; the scale makes up for this shift.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(align(64))]
pub struct FourColumns {
    /// For each of four numbers the four bytes of the window that hold its code.
    pub bytes: [[u8; WINDOW]; 4],
    /// For each number the bits of its code in these bytes.
    pub masks: [UVec4; 4],
    /// The factors of the codes.
    pub scales: [Vec4; 4],
    /// The addends of the scaled codes.
    pub bases: [Vec4; 4],
    /// For each column the index of the number that is not stored. Only rotations use it.
    pub missing: Vec4,
    /// For each column the byte of a row at which its window begins.
    pub firsts: [usize; 4],
}

/// Bytes of a row from which [`BlockColumns`] are read.
pub const BLOCK_WINDOW: usize = 128;

/// Bytes of a row that hold the codes of half a block.
pub const HALF_WINDOW: usize = BLOCK_WINDOW / 2;

/// The numbers that a key stores in a [`BlockColumns`].
pub const BLOCK_NUMBERS: usize = 3;

/// The columns of a block of neighbouring joints that store three numbers each, laid out for the registers of a block
/// in one of two ways. By number: each register has one number of all joints, in the order of a transposed block; the
/// fourth register is 0. By joint: each register has all four numbers of a quarter of the joints; the fourth number of
/// each joint is 0.
///
/// A number is `base + scale * code`. The code stays at its bit within two words of 16 bits; the scale makes up for
/// this shift.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub struct BlockColumns {
    /// For each number the two words of its window that hold its code: the index of the lower one in the lower half.
    pub words: [[u32; LARGEST_BLOCK]; 4],
    /// For each number the bits of its code in these words.
    pub masks: [[u32; LARGEST_BLOCK]; 4],
    /// The factors of the codes.
    pub scales: [[Vec4; LARGEST_BLOCK / 4]; 4],
    /// The addends of the scaled codes.
    pub bases: [[Vec4; LARGEST_BLOCK / 4]; 4],
    /// For each joint, in the order of a transposed block, the index of the number that is not stored. Only rotations
    /// use it.
    pub missing: [Vec4; LARGEST_BLOCK / 4],
    /// The bytes of a row at which the windows of the halves of the block begin, at most [`HALF_WINDOW`] apart. By
    /// number, there is one window of [`BLOCK_WINDOW`] bytes, which begins at the first.
    pub firsts: [usize; 2],
}

impl FourColumns {
    /// The codes of one column at a key, at their bits within their bytes. `row` is the words of the library as bytes,
    /// from the row of the key on.
    #[inline(always)]
    pub fn codes(&self, column: usize, row: &[u8]) -> Vec4 {
        codes(&row[self.firsts[column]..], &self.bytes[column], self.masks[column])
    }
}

/// The codes of a key, at their bits within their bytes. `window` begins with the window of the key.
#[inline(always)]
pub fn codes(window: &[u8], bytes: &[u8; WINDOW], masks: UVec4) -> Vec4 {
    let window = &window[..WINDOW + 3];
    let code = |number: usize| {
        let bytes = &window[usize::from(bytes[4 * number]) % WINDOW..][..4];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    };
    // Signed conversion is faster. A code of 24 bits, shifted by up to 7, never reaches the highest bit.
    (UVec4::new(code(0), code(1), code(2), code(3)) & masks).as_ivec4().as_vec4()
}

/// The codes of the first `count` numbers of a register of a block at a key. `window` is the window of the register.
#[inline(always)]
pub fn block_codes(columns: &BlockColumns, register: usize, count: usize, window: &[u8]) -> [Vec4; LARGEST_BLOCK / 4] {
    let mut codes = [Vec4::ZERO; LARGEST_BLOCK / 4];
    for number in 0..count {
        let word = |index: u32| {
            let byte = index as usize % (window.len() / 2) * 2;
            u32::from(u16::from_le_bytes([window[byte], window[byte + 1]]))
        };
        let words = columns.words[register][number];
        let code = (word(words & 0xffff) | word(words >> 16) << 16) & columns.masks[register][number];
        codes[number / 4][number % 4] = code as f32;
    }
    codes
}
