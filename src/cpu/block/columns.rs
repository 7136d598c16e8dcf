//! Joints with quantized keys, sampled in blocks.

use glam::Vec4;

use crate::cpu::block::joints::Sampling;
use crate::cpu::block::slerp::{Ends, Weights};
use crate::cpu::plan::Keys;
use crate::cpu::simd::{FourColumns, Lanes};
use crate::cpu::stages::TransformPart;

/// The square of a number that is not stored is at least this.
const LEAST_SQUARE: f32 = 1e-12;

/// The rows of the keys before and after a time, as bytes. Both have the same length.
#[derive(Clone, Copy)]
struct KeyRows<'a> {
    start: &'a [u8],
    end: &'a [u8],
}

/// Samples a run of joints with quantized keys. `columns` are those of the run.
#[inline(always)]
pub fn sample<L: Lanes>(sampling: Sampling, keys: Keys, part: TransformPart, columns: &[FourColumns], to: &mut [Vec4]) {
    let (span, words) = (sampling.sampler.span(keys.timeline()), sampling.sampler.words());
    let rotations = part == TransformPart::Rotation;
    // Beyond the keys, a straight line extends numbers but not rotations.
    let stays = keys.step && (rotations || span.interval >= 0.0);
    let (next, fraction) = if stays { (0, 0.0) } else { (span.next, span.fraction) };
    let start: &[u8] = bytemuck::cast_slice(&words[span.row as usize..]);
    let end = &start[4 * next as usize..];
    // Of equal length, so that an offset within one row is within the other, too.
    let rows = KeyRows { start: &start[..end.len()], end };
    match (rotations, keys.paired) {
        (false, false) => lerp::<L, false>(columns, rows, fraction, to),
        (false, true) => lerp::<L, true>(columns, rows, fraction, to),
        (true, paired) => {
            let weights = if stays { Weights::new(fraction) } else { sampling.weights(keys, fraction) };
            match paired {
                false => slerp::<L, false>(columns, rows, &weights, to),
                true => slerp::<L, true>(columns, rows, &weights, to),
            }
        }
    }
}

/// Interpolates numbers linearly: first their codes, so that the scale is applied once for both keys.
#[inline(always)]
fn lerp<L: Lanes, const PAIRED: bool>(columns: &[FourColumns], rows: KeyRows, fraction: f32, to: &mut [Vec4]) {
    let joints = L::BLOCK / 4;
    let fraction = L::splat(fraction);
    for (columns, to) in columns.chunks_exact(joints).zip(to.chunks_exact_mut(L::BLOCK)) {
        for (register, to) in to.chunks_exact_mut(joints).enumerate() {
            let (four, first) = (&columns[register * joints / 4], register * joints % 4);
            let (start, end) = (L::codes::<PAIRED>(four, first, rows.start), L::codes::<PAIRED>(four, first, rows.end));
            let codes = (end - start).multiply_add(fraction, start);
            codes.multiply_add(L::load(&four.scales[first..]), L::load(&four.bases[first..])).store(to);
        }
    }
}

/// Interpolates rotations spherically. The number that is not stored is the last one during the interpolation: the order of the
/// numbers does not change the arc between two rotations.
#[inline(always)]
fn slerp<L: Lanes, const PAIRED: bool>(columns: &[FourColumns], rows: KeyRows, weights: &Weights, to: &mut [Vec4]) {
    let joints = L::BLOCK / 4;
    for (columns, to) in columns.chunks_exact(joints).zip(to.chunks_exact_mut(L::BLOCK)) {
        let ends = Ends {
            start: quaternions::<L, PAIRED>(columns, rows.start),
            end: quaternions::<L, PAIRED>(columns, rows.end),
        };
        let block = L::transpose(weights.interpolate(&ends));
        for (register, to) in to.chunks_exact_mut(joints).enumerate() {
            let (four, first) = (&columns[register * joints / 4], register * joints % 4);
            block[register].in_order(&four.orders[first..]).store(to);
        }
    }
}

/// The rotations of a block at a key, number by number.
#[inline(always)]
fn quaternions<L: Lanes, const PAIRED: bool>(columns: &[FourColumns], row: &[u8]) -> [L; 4] {
    let joints = L::BLOCK / 4;
    let (one, least) = (L::splat(1.0), L::splat(LEAST_SQUARE));
    let mut block = [one; 4];
    for (register, numbers) in block.iter_mut().enumerate() {
        let (four, first) = (&columns[register * joints / 4], register * joints % 4);
        let codes = L::codes::<PAIRED>(four, first, row);
        *numbers = codes.multiply_add(L::load(&four.scales[first..]), L::load(&four.bases[first..]));
    }
    let [x, y, z, _] = L::transpose(block);
    let square = (one - x.multiply_add(x, y.multiply_add(y, z * z))).max(least);
    [x, y, z, square * square.inverse_square_root()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::InstructionSet;
    use crate::cpu::decoded::{DecodedColumns, are_paired};
    use crate::cpu::simd::Kernel;
    use crate::cpu::stages::quantized::{Column, WORDS_BEYOND};
    use crate::pack::record::{QUANTIZED_BITS, QUANTIZED_NARROW_COLUMN_WORDS, QUANTIZED_STEP_HIGH};

    /// Interpolates the middle between two rows of columns.
    struct Lerp<'a> {
        columns: &'a [FourColumns],
        rows: KeyRows<'a>,
        paired: bool,
    }

    impl Kernel for Lerp<'_> {
        type Output = Vec<Vec4>;
        fn run<L: Lanes>(self) -> Vec<Vec4> {
            let mut to = vec![Vec4::ZERO; 4 * self.columns.len()];
            match self.paired {
                false => lerp::<L, false>(self.columns, self.rows, 0.5, &mut to),
                true => lerp::<L, true>(self.columns, self.rows, 0.5, &mut to),
            }
            to
        }
    }

    const JOINTS: usize = 19;

    /// The code of a number of a joint in a key.
    fn code(key: usize, joint: usize, number: usize, width: u32) -> u32 {
        (0x9e37_79b9_u32.wrapping_mul((57 * key + 3 * joint + number + 1) as u32) >> 3) & ((1 << width) - 1)
    }

    #[test]
    fn codes_of_all_widths_are_read_by_every_instruction_set() {
        for widths in [[9, 5, 7], [1, 13, 2], [24, 24, 24], [17, 24, 22], [0, 3, 0]] {
            let bits: u32 = widths.iter().sum();
            let row = (bits as usize * JOINTS).div_ceil(32);
            let mut words = vec![0_u32; 2 * row];
            let mut records = Vec::new();
            for joint in 0..JOINTS {
                let mut bit = joint * bits as usize;
                let widths_bits =
                    (0..3).fold(0, |format, number| format | widths[number] << (QUANTIZED_BITS * number as u32));
                // The bits of 0.5 without its sign: 12 from bit 19 on, and 8 from bit 11 on, which are 0.
                let format = 0.5_f32.to_bits() >> 19 << QUANTIZED_STEP_HIGH | widths_bits;
                let least = [6_i16, -7, 8, 0].map(|least| u32::from(least.cast_unsigned()));
                let least = [least[0] | least[1] << 16, least[2] | least[3] << 16];
                records.extend([bit as u32, format, least[0], least[1]]);
                for (number, width) in widths.into_iter().enumerate() {
                    for key in 0..2 {
                        for offset in 0..width as usize {
                            let is_set = code(key, joint, number, width) >> offset & 1;
                            words[key * row + (bit + offset) / 32] |= is_set << ((bit + offset) % 32);
                        }
                    }
                    bit += width as usize;
                }
            }
            let first_record = words.len() as u32;
            words.extend(records);
            words.extend([0; WORDS_BEYOND]);
            let columns: Vec<Column> = (0..JOINTS)
                .map(|joint| Column::new(&words, first_record + QUANTIZED_NARROW_COLUMN_WORDS * joint as u32))
                .collect();
            let value = |key: usize, joint: usize| {
                let number =
                    |number: usize, least: i32| (least + code(key, joint, number, widths[number]) as i32) as f32;
                0.5 * Vec4::new(number(0, 6), number(1, -7), number(2, 8), 0.0)
            };
            let paired = are_paired(&columns);
            let mut decoded = DecodedColumns::default();
            decoded.push_run(columns.iter().copied(), paired);
            assert_eq!(
                paired,
                bits <= 60,
                "the codes of two joints, and the bits before them in a byte, fit into 128 bits"
            );
            let bytes: &[u8] = bytemuck::cast_slice(&words);
            let rows = KeyRows { start: &bytes[..bytes.len() - 4 * row], end: &bytes[4 * row..] };
            for instructions in InstructionSet::ALL {
                let found = instructions.run(Lerp { columns: &decoded.columns, rows, paired });
                for joint in 0..JOINTS {
                    let middle = 0.5 * (value(0, joint) + value(1, joint));
                    let off = (found[joint] - middle).abs().max_element();
                    // Half of the sum of two numbers of 24 bits has 25 bits.
                    let least = f32::EPSILON * middle.abs().max_element();
                    assert!(off <= least, "{}: {widths:?}, joint {joint}", instructions.name());
                    assert_eq!(columns[joint].key(&words, row as u32), value(1, joint), "{widths:?}, joint {joint}");
                }
            }
        }
    }
}
