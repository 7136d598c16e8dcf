//! Records of quantized keys, decoded for a block of joints at once.
//!
//! A column of keys has a record: the place and the width of its codes in a row, their least values, and the size of a
//! step. Registers need the same numbers in another form: for each code the words that hold it, a mask, a factor and an
//! addend. This file makes that form of sixteen neighbouring records at once, in plain loops over their fields, and
//! says which columns can have it ([`Nearness`]). [`DecodedColumn`] is the same for one column.

use glam::Vec4;

use crate::cpu::simd::{BLOCK_NUMBERS, BlockColumns, FourColumns, HALF_WINDOW, LARGEST_BLOCK, Lanes, Token};
use crate::cpu::stages::TransformPart;
use crate::cpu::stages::quantized::DecodedColumn;
use crate::pack::column_words;
use crate::pack::record::{
    QUANTIZED_BITS, QUANTIZED_FORM, QUANTIZED_FORM_BITS, QUANTIZED_NARROW_COLUMN_WORDS, QUANTIZED_NUMBERS,
    QUANTIZED_PLACE_BITS, QUANTIZED_STEP_HIGH, QUANTIZED_STEP_LOW, QUANTIZED_WIDE, QUANTIZED_WIDE_COLUMN_WORDS,
};

/// The distance of the codes of quantized keys of neighbouring joints. Rotations that store all four numbers do not
/// count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Nearness {
    /// The codes of each joint have a window of their own.
    Apart,
    /// The codes of each two joints lie in one window.
    Paired,
    /// The codes of each two joints lie in one window, and the codes of each half of a block of joints in one for
    /// halves.
    Blocks,
}

/// The distance of the codes of the columns of a run. The second column of a pair is ignored if it does not decode in a
/// block; the first still sets the window.
pub fn nearness(columns: &[DecodedColumn], part: TransformPart) -> Nearness {
    let pairs = columns.as_chunks::<2>().0;
    if !pairs.iter().all(|[a, b]| !b.decodes_in_block(part) || b.bytes_from(a.first).is_some()) {
        Nearness::Apart
    } else if can_decode(columns, part) {
        Nearness::Blocks
    } else {
        Nearness::Paired
    }
}

/// A field of the records of a block, for each joint.
type Field = [u32; LARGEST_BLOCK];

/// Returns `true` if the records of neighbouring columns can be decoded by [`columns`], block after block: their codes
/// fit the windows of blocks of [`LARGEST_BLOCK`] joints, and none stores a fourth number. Records that do not decode
/// in a block are ignored, except that the first column of a half sets its window: they are decoded to numbers without
/// meaning, and replaced.
pub fn can_decode(columns: &[DecodedColumn], part: TransformPart) -> bool {
    const HALF: usize = LARGEST_BLOCK / 2;
    columns.chunks(LARGEST_BLOCK).all(|block| {
        let first = first_of(block[0].first);
        let second = block.get(HALF).map_or(first, |column| first_of(column.first));
        (first..=first + HALF_WINDOW).contains(&second)
            && block.iter().enumerate().all(|(joint, column)| {
                let window = if joint < HALF { first } else { second };
                !column.decodes_in_block(part) || column.stores_three_numbers() && column.fits_words(window)
            })
    })
}

/// The byte at which a window begins: the word of 16 bits that has its first code.
fn first_of(byte: usize) -> usize {
    byte / 2 * 2
}

/// Records of the columns of a block of both lengths, each as the [`STRIDE`](Self::STRIDE) words that begin with it.
#[derive(Default)]
pub struct MixedRecords([[u32; Self::STRIDE]; LARGEST_BLOCK]);

impl MixedRecords {
    /// The words of each.
    pub const STRIDE: usize = QUANTIZED_WIDE_COLUMN_WORDS as usize + 1;

    /// Takes the first `count` records of some words. Returns the number of words that they take.
    #[inline(always)]
    pub fn fill(&mut self, words: &[u32], count: usize) -> usize {
        let mut read = 0;
        for to in &mut self.0[..count] {
            // Also what follows a short record: a copy of one size takes no branch.
            to.copy_from_slice(&words[read..][..Self::STRIDE]);
            read += column_words(words, read as u32) as usize;
        }
        read
    }

    /// The records, one after the other.
    pub fn words(&self) -> &[u32] {
        self.0.as_flattened()
    }
}

/// The columns of a block of neighbouring joints by number, decoded from their records. `words` begins with the first
/// record, and each takes `stride` words. What follows the last one is decoded, too, to numbers without meaning.
#[inline(always)]
pub fn columns<L: Lanes>(token: Token<L>, words: &[u32], stride: usize) -> BlockColumns {
    let records = Records::new(token, words, stride);
    let first = first_of(records.places[0] as usize / 8);
    // The third place of a transposed block belongs to the first joint of its second half. If the run ends before, it
    // has no meaning.
    let second = first_of(records.places[2] as usize / 8).clamp(first, first + HALF_WINDOW);
    let mut bits = [0_u32; LARGEST_BLOCK];
    for (bits, place) in bits[..L::BLOCK].iter_mut().zip(records.places) {
        *bits = place.wrapping_sub(8 * first as u32);
    }
    BlockColumns { firsts: [first, second], ..records.columns::<L, 16>(bits) }
}

/// The columns of a block of neighbouring joints, four by four, decoded from the records of `count` joints. Each two
/// joints must share a window. The columns of joints beyond these have a window in the row, but no meaning.
#[inline(always)]
pub fn fours<L: Lanes>(token: Token<L>, words: &[u32], stride: usize, count: usize, to: &mut [FourColumns]) {
    let records = Records::new(token, words, stride);
    let mut bits = [0_u32; LARGEST_BLOCK];
    for (bits, place) in bits[..L::BLOCK].iter_mut().zip(records.places) {
        *bits = place % 8;
    }
    let by_number = records.columns::<L, 8>(bits);
    let bytes = registers_of_joints(token, &bytemuck::cast(by_number.words));
    let masks = registers_of_joints(token, &bytemuck::cast(by_number.masks));
    let scales = registers_of_joints(token, &by_number.scales);
    let bases = registers_of_joints(token, &by_number.bases);
    let missing: [f32; LARGEST_BLOCK] = bytemuck::cast(by_number.missing);
    let per_register = L::BLOCK / 4;
    let mut first = 0;
    for (four, to) in to[..per_register].iter_mut().enumerate() {
        for index in 0..4 {
            let joint = 4 * four + index;
            // The remainders change nothing: they spare checks of bounds.
            let (register, place) = (joint / per_register % 4, joint % per_register % 4);
            let transposed = (4 * place + register) % LARGEST_BLOCK;
            let own = records.places[transposed] as usize / 8;
            if joint % 2 == 0 && joint < count {
                first = own;
            }
            // Counted from the window of the pair.
            let apart = BYTE_OF_EACH.wrapping_mul((own as u32).wrapping_sub(first as u32));
            let words: [u32; 4] = bytemuck::cast(bytes[register][place].to_array());
            to.bytes[index] = bytemuck::cast(words.map(|word| word.wrapping_add(apart)));
            to.masks[index] = bytemuck::cast(masks[register][place]);
            to.scales[index] = scales[register][place];
            to.bases[index] = bases[register][place];
            to.missing[index] = missing[transposed];
            to.firsts[index] = first;
        }
    }
}

/// The columns of a block by joint.
#[inline(always)]
pub fn by_joint<L: Lanes>(token: Token<L>, by_number: &BlockColumns) -> BlockColumns {
    let BlockColumns { words, masks, scales, bases, missing, firsts } = by_number;
    let mut columns = BlockColumns {
        words: bytemuck::cast(registers_of_joints(token, &bytemuck::cast(*words))),
        masks: bytemuck::cast(registers_of_joints(token, &bytemuck::cast(*masks))),
        scales: registers_of_joints(token, scales),
        bases: registers_of_joints(token, bases),
        missing: *missing,
        firsts: *firsts,
    };
    // The words of the second half are counted from its own window.
    let apart = ((firsts[1] - firsts[0]) / 2) as u32;
    // Not flattened, so that the compiler subtracts from whole registers.
    for register in &mut columns.words[2..] {
        for word in register {
            *word = word.wrapping_sub(apart | apart << 16);
        }
    }
    columns
}

/// `2^-shift`.
#[inline(always)]
fn power(shift: u32) -> f32 {
    const EXPONENT_OF_ONE: u32 = 127;
    f32::from_bits((EXPONENT_OF_ONE - shift) << (f32::MANTISSA_DIGITS - 1))
}

/// The records of a block, field by field.
struct Records {
    /// The words with the form and the lower part of the step.
    heads: Field,
    formats: Field,
    /// The bits of a row at which the first codes begin.
    places: Field,
    /// The least values of four numbers.
    leasts: [[i32; LARGEST_BLOCK]; 4],
}

impl Records {
    /// Reads records of `stride` words each: of the length of long or short records, or of [`MixedRecords`].
    #[inline(always)]
    fn new<L: Lanes>(token: Token<L>, words: &[u32], stride: usize) -> Self {
        let [heads, formats, third, fourth] = four_words(token, words, stride);
        let (mut places, mut leasts) = (third, [[0; LARGEST_BLOCK]; 4]);
        if stride != QUANTIZED_NARROW_COLUMN_WORDS as usize {
            leasts = four_words(token, &words[3..], stride).map(bytemuck::cast);
        }
        if stride != QUANTIZED_WIDE_COLUMN_WORDS as usize {
            for joint in 0..L::BLOCK {
                let is_wide = heads[joint] & QUANTIZED_WIDE != 0;
                let or = |wide: i32, short: i32| if is_wide { wide } else { short };
                let (first, last) = (third[joint].cast_signed(), fourth[joint].cast_signed());
                let place = heads[joint] & ((1 << QUANTIZED_PLACE_BITS) - 1);
                places[joint] = or(third[joint].cast_signed(), place.cast_signed()).cast_unsigned();
                leasts[0][joint] = or(leasts[0][joint], i32::from(first as i16));
                leasts[1][joint] = or(leasts[1][joint], first >> 16);
                leasts[2][joint] = or(leasts[2][joint], i32::from(last as i16));
                leasts[3][joint] = or(leasts[3][joint], last >> 16);
            }
        }
        Self { heads, formats, places, leasts }
    }

    /// The columns by number, without windows: codes in words of `WORD` bits, 16 or 8. `bits` has for each joint the
    /// bit of its window at which its first code begins.
    #[inline(always)]
    fn columns<L: Lanes, const WORD: u32>(&self, mut bits: Field) -> BlockColumns {
        const { assert!(WORD == 8 || WORD == 16) };
        let Self { heads, formats, leasts, .. } = self;
        let mut columns = BlockColumns::default();
        // Plain loops over arrays: the compiler turns each into a few instructions on registers.
        let (mut missing, mut steps) = ([0_u32; LARGEST_BLOCK], [0.0; LARGEST_BLOCK]);
        for joint in 0..L::BLOCK {
            let form = heads[joint] >> QUANTIZED_FORM & ((1 << QUANTIZED_FORM_BITS) - 1);
            missing[joint] = form.wrapping_sub(QUANTIZED_NUMBERS + 1).min(3);
            steps[joint] =
                f32::from_bits(formats[joint] >> QUANTIZED_STEP_HIGH << 19 | heads[joint] >> QUANTIZED_STEP_LOW << 11);
        }
        for stored in 0..BLOCK_NUMBERS {
            let (mut scales, mut bases) = ([0.0; LARGEST_BLOCK], [0.0; LARGEST_BLOCK]);
            for joint in 0..L::BLOCK {
                let follows = stored as u32 >= missing[joint];
                let number = stored as u32 + u32::from(follows);
                let width = formats[joint] >> (QUANTIZED_BITS * number) & ((1 << QUANTIZED_BITS) - 1);
                let (word, shift) = (bits[joint] / WORD, bits[joint] % WORD);
                columns.words[stored][joint] = match WORD {
                    8 => FOUR_BYTES.wrapping_add(BYTE_OF_EACH.wrapping_mul(word)),
                    _ => word | (word + 1) << 16,
                };
                columns.masks[stored][joint] = ((1 << width) - 1) << shift;
                scales[joint] = steps[joint] * power(shift);
                // Both are loaded, then one is chosen: the compiler makes slow gathers of a choice between two places.
                let (own, next) = (leasts[stored][joint], leasts[stored + 1][joint]);
                let least = if follows { next } else { own };
                bases[joint] = steps[joint] * least as f32;
                bits[joint] = bits[joint].wrapping_add(width);
            }
            columns.scales[stored] = bytemuck::cast(scales);
            columns.bases[stored] = bytemuck::cast(bases);
        }
        let mut indices = [0.0; LARGEST_BLOCK];
        for joint in 0..L::BLOCK {
            indices[joint] = missing[joint] as f32;
        }
        columns.missing = bytemuck::cast(indices);
        columns
    }
}

/// A byte of each of four bytes.
const BYTE_OF_EACH: u32 = 0x0101_0101;

/// The indices of four bytes, one after the other.
const FOUR_BYTES: u32 = 0x0302_0100;

/// The first four words of each record of a block, word by word.
#[inline(always)]
fn four_words<L: Lanes>(token: Token<L>, words: &[u32], stride: usize) -> [Field; 4] {
    let mut fields = [[Vec4::ZERO; LARGEST_BLOCK / 4]; 4];
    let block = L::load_numbers_apart(token, bytemuck::cast_slice(words), stride);
    for (field, register) in fields.iter_mut().zip(L::transpose(block)) {
        register.store(field);
    }
    bytemuck::cast(fields)
}

/// Turns four numbers per joint, number by number, into joints. Registers only move them: they need not be numbers.
#[inline(always)]
fn transpose<L: Lanes>(token: Token<L>, [a, b, c, d]: &[[Vec4; LARGEST_BLOCK / 4]; 4]) -> [L; 4] {
    L::transpose([L::load(token, a), L::load(token, b), L::load(token, c), L::load(token, d)])
}

/// The registers of [`transpose`], an array each.
#[inline(always)]
fn registers_of_joints<L: Lanes>(
    token: Token<L>,
    numbers: &[[Vec4; LARGEST_BLOCK / 4]; 4],
) -> [[Vec4; LARGEST_BLOCK / 4]; 4] {
    let mut registers = [[Vec4::ZERO; LARGEST_BLOCK / 4]; 4];
    let [a, b, c, d] = transpose(token, numbers);
    a.store(&mut registers[0]);
    b.store(&mut registers[1]);
    c.store(&mut registers[2]);
    d.store(&mut registers[3]);
    registers
}
