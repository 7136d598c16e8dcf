//! Codes of quantized keys in registers: integers of up to 24 bits, which begin at any bit of a row of bytes.

use glam::{UVec4, Vec4};

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
    /// For each number of a value its index among the stored numbers.
    pub orders: [UVec4; 4],
    /// For each column the byte of a row at which its window begins.
    pub firsts: [usize; 4],
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

/// Reorders numbers: `order` has for each result the index of its number.
#[inline(always)]
pub fn in_order(numbers: Vec4, order: UVec4) -> Vec4 {
    let numbers = numbers.to_array();
    Vec4::from_array(order.to_array().map(|index| numbers[index as usize % 4]))
}
