//! The joints of instances of one clip, sampled in blocks, run by run of the clip's [`plan`](crate::cpu::keys::plan).

use std::ops::Range;

use glam::Vec4;

use crate::cpu::block::JointParts;
use crate::cpu::block::slerp::{Arcs, Weights, copy, lerp, slerp};
use crate::cpu::keys::decoded::DecodedClip;
use crate::cpu::keys::plan::{JointRun, KeyRun, KeyStorage, RunKind};
use crate::cpu::keys::source::{ClipSource, Sampling};
use crate::cpu::simd::{Kernel, Lanes, Token};
use crate::cpu::stages::TransformPart;
use crate::cpu::stages::sampler::Sampler;
use crate::cpu::stages::search::KeySpan;

/// The sampling of all runs of a clip.
///
/// A block that reaches beyond its run writes to joints of the next run, which overwrites them, or to the room after
/// the joints of the instance.
pub struct RunSampling<'a> {
    pub sampling: &'a Sampling<'a>,
    /// The columns of quantized keys.
    pub decoded: &'a mut DecodedClip,
    /// Gets rotations with separate keys.
    pub scattered: &'a mut Arcs,
    pub to: &'a mut JointParts,
}

impl Kernel for RunSampling<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, token: Token<L>) {
        let Self { sampling, decoded, scattered, to } = self;
        decoded.decode_rows(token, sampling);
        for part in TransformPart::ALL {
            for run in sampling.clip.plan.runs(part) {
                sample_run(token, sampling, decoded, run, part, scattered, &mut to.0[part as usize]);
            }
        }
    }
}

/// Samples the root joint again if the clip has root motion, which blocks do not separate from it.
#[inline(always)]
pub fn sample_root(sampler: &Sampler, spans: &[KeySpan], rest: &[&[Vec4]; 3], first: usize, to: &mut JointParts) {
    if let Some(root) = sampler.root_joint() {
        let sampler = sampler.at(spans);
        for part in TransformPart::ALL {
            let sampled = sampler.part(part, root).unwrap_or(rest[part as usize][root]);
            to.0[part as usize][first + root] = sampled;
        }
    }
}

/// Samples one part of a run of joints of all instances.
#[inline(always)]
fn sample_run<L: Lanes>(
    token: Token<L>,
    sampling: &Sampling,
    decoded: &DecodedClip,
    run: &JointRun,
    part: TransformPart,
    scattered: &mut Arcs,
    to: &mut [Vec4],
) {
    let Sampling { clip: ClipSource { plan, sampler, .. }, rest, .. } = *sampling;
    let (joints, values) = (run.joints(), sampler.values());
    let padded = joints.len().next_multiple_of(L::BLOCK);
    match run.kind {
        RunKind::Rest => {
            for (_, place) in sampling.places() {
                copy(token, &rest[part as usize][joints.start..], &mut to[place + joints.start..][..padded]);
            }
        }
        RunKind::Constant(first_value) => {
            for (_, place) in sampling.places() {
                copy(token, &values[first_value as usize..], &mut to[place + joints.start..][..padded]);
            }
        }
        RunKind::Gathered(first_offset) => {
            for (_, place) in sampling.places() {
                let to = &mut to[place + joints.start..][..joints.len()];
                for (to, &offset) in to.iter_mut().zip(&plan.gathered[first_offset as usize..]) {
                    *to = values[offset as usize];
                }
            }
        }
        RunKind::Keys(keys) => {
            for (instance, place) in sampling.places() {
                let span = sampling.span(instance, keys);
                if !can_block(keys, span, part) {
                    sample_each(sampling, instance, joints.clone(), part, &mut to[place..]);
                    continue;
                }
                let to = &mut to[place + joints.start..][..padded];
                if keys.is_quantized() {
                    sample_decoded(token, sampling, decoded, instance, keys, part, to);
                } else {
                    let start = &values[keys.first as usize + span.row as usize..];
                    sample_keys(token, sampling, instance, keys, part, start, to);
                }
            }
        }
        RunKind::Scattered(first_keys) if part == TransformPart::Rotation => {
            for (joint, keys) in joints.zip(&plan.scattered[first_keys as usize..]) {
                for (instance, place) in sampling.places() {
                    let span = sampling.span(instance, *keys);
                    if can_block(*keys, span, part) {
                        scattered.push(token, keys_around(sampling, decoded, instance, keys), place + joint, to);
                    } else {
                        sample_each(sampling, instance, joint..joint + 1, part, &mut to[place..]);
                    }
                }
            }
        }
        RunKind::Scattered(first_keys) => {
            for (joint, keys) in joints.zip(&plan.scattered[first_keys as usize..]) {
                for (instance, place) in sampling.places() {
                    let (start, end, fraction) = keys_around(sampling, decoded, instance, keys);
                    to[place + joint] = start + (end - start) * fraction;
                }
            }
        }
        RunKind::Single => {
            for (instance, place) in sampling.places() {
                sample_each(sampling, instance, joints.clone(), part, &mut to[place..]);
            }
        }
    }
}

/// Samples joints of an instance one by one.
#[inline(always)]
fn sample_each(sampling: &Sampling, instance: usize, joints: Range<usize>, part: TransformPart, to: &mut [Vec4]) {
    let sampler = sampling.clip.sampler.at(&sampling.spans[sampling.first_spans[instance]..]);
    for joint in joints {
        to[joint] = sampler.part(part, joint).unwrap_or(sampling.rest[part as usize][joint]);
    }
}

/// Returns `true` if the keys can be sampled as a block. An easing can lead rotations beyond their arc; then they
/// cannot.
#[inline(always)]
fn can_block(keys: KeyRun, span: &KeySpan, part: TransformPart) -> bool {
    part != TransformPart::Rotation || keys.step || (0.0..1.0).contains(&span.fraction)
}

/// Returns `true` if the key before the time holds. Beyond the keys, a straight line extends numbers but not rotations.
#[inline(always)]
pub fn stays(keys: KeyRun, part: TransformPart, span: &KeySpan) -> bool {
    keys.step && (part == TransformPart::Rotation || span.interval >= 0.0)
}

/// Samples a run of joints of an instance with keys in rows. `start` begins with the first key before the time.
#[inline(always)]
fn sample_keys<L: Lanes>(
    token: Token<L>,
    sampling: &Sampling,
    instance: usize,
    keys: KeyRun,
    part: TransformPart,
    start: &[Vec4],
    to: &mut [Vec4],
) {
    let span = sampling.span(instance, keys);
    let end = &start[span.next as usize..];
    if stays(keys, part, span) {
        copy(token, start, to);
    } else if part == TransformPart::Rotation {
        // Also if a key is hit: the keys of a file have unit length only up to its rounding.
        let weights = &sampling.weights(instance, keys, span.fraction);
        if keys.storage == KeyStorage::NearRotations {
            slerp::<_, false, true>(token, [start, end], weights, to);
        } else {
            slerp::<_, false, false>(token, [start, end], weights, to);
        }
    } else {
        lerp(token, start, end, span.fraction, to);
    }
}

/// The keys before and after the time of an instance, and the fraction between them.
#[inline(always)]
fn keys_around(sampling: &Sampling, decoded: &DecodedClip, instance: usize, keys: &KeyRun) -> (Vec4, Vec4, f32) {
    let span = sampling.span(instance, *keys);
    if keys.is_quantized() {
        let [start, end] = decoded.around_joint(sampling, instance, keys);
        return (start, end, span.fraction);
    }
    let (start, values) = (keys.first as usize + span.row as usize, sampling.clip.sampler.values());
    (values[start], values[start + span.next as usize], span.fraction)
}

/// Samples a run of joints of an instance with quantized keys, whole blocks of them.
#[inline(always)]
fn sample_decoded<L: Lanes>(
    token: Token<L>,
    sampling: &Sampling,
    decoded: &DecodedClip,
    instance: usize,
    keys: KeyRun,
    part: TransformPart,
    to: &mut [Vec4],
) {
    let span = sampling.span(instance, keys);
    let [start, end] = decoded.around(sampling, instance, keys, to.len());
    let rotations = part == TransformPart::Rotation;
    let stays = stays(keys, part, span);
    if rotations {
        let (end, weights) =
            if stays { (start, Weights::new(0.0)) } else { (end, sampling.weights(instance, keys, span.fraction)) };
        slerp::<_, true, false>(token, [start, end], &weights, to);
    } else if stays {
        copy(token, start, to);
    } else {
        lerp(token, start, end, span.fraction, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::InstructionSet;
    use crate::cpu::keys::records::{self, Nearness, nearness};
    use crate::cpu::keys::rows::{self, KeyRow, RunColumns};
    use crate::cpu::simd::FourColumns;
    use crate::cpu::stages::quantized::{DecodedColumn, WORDS_BEYOND};
    use crate::pack::record::{
        QUANTIZED_BITS, QUANTIZED_FORM, QUANTIZED_NARROW_COLUMN_WORDS, QUANTIZED_NUMBERS, QUANTIZED_STEP_HIGH,
        QUANTIZED_WIDE, QUANTIZED_WIDE_COLUMN_WORDS,
    };

    const JOINTS: usize = 19;

    /// Two rows of codes, the records of their columns, and words beyond them.
    struct TestKeys {
        words: Vec<u32>,
        /// The words of a row.
        row: usize,
        /// The number that the columns of each joint do not store; `None`: the numbers are the value.
        missing: Option<fn(usize) -> u32>,
        widths: [u32; 3],
        /// If set, least values and places take whole words.
        wide: bool,
    }

    /// Bits before the codes of a joint.
    #[derive(Debug, Clone, Copy)]
    struct Gap {
        joint: usize,
        bits: usize,
    }

    /// The code of a number of a joint in a key.
    fn code(key: usize, joint: usize, number: usize, width: u32) -> u32 {
        (0x9e37_79b9_u32.wrapping_mul((57 * key + 3 * joint + number + 1) as u32) >> 3) & ((1 << width) - 1)
    }

    /// The least value of a number. For rotations it is negative, so that numbers are of both signs.
    fn least(stored: usize, width: u32, is_rotation: bool, wide: bool) -> i32 {
        match (is_rotation, width) {
            (false, _) => [6, -7, 8][stored] * if wide { 10_000 } else { 1 },
            (true, 0) => 0,
            (true, width) => -(1 << (width - 1)),
        }
    }

    impl TestKeys {
        /// Codes of some widths, in steps of `2^-step_power`, side by side.
        fn new(widths: [u32; 3], step_power: u32, missing: Option<fn(usize) -> u32>, wide: bool) -> Self {
            Self::with_gap(widths, step_power, missing, wide, Gap { joint: 0, bits: 0 })
        }

        /// Codes with a gap between two joints.
        fn with_gap(
            widths: [u32; 3],
            step_power: u32,
            missing: Option<fn(usize) -> u32>,
            wide: bool,
            gap: Gap,
        ) -> Self {
            let bits: u32 = widths.iter().sum();
            let row = (bits as usize * JOINTS + gap.bits).div_ceil(32);
            let mut words = vec![0_u32; 2 * row];
            let mut records = Vec::new();
            for joint in 0..JOINTS {
                let first_bit = joint * bits as usize + if joint >= gap.joint { gap.bits } else { 0 };
                let mut bit = first_bit;
                let form = missing.map_or(QUANTIZED_NUMBERS, |missing| QUANTIZED_NUMBERS + 1 + missing(joint));
                // The bits of the step without its sign: 12 from bit 19 on, and 8 from bit 11 on, which are 0.
                let mut format = (127 - step_power) << 23 >> 19 << QUANTIZED_STEP_HIGH;
                let mut leasts = [0_i32; 4];
                let numbers = (0..4).filter(|&number| missing.is_none_or(|missing| missing(joint) != number));
                for ((stored, width), number) in widths.into_iter().enumerate().zip(numbers) {
                    format |= width << (QUANTIZED_BITS * number);
                    leasts[number as usize] = least(stored, width, missing.is_some(), wide);
                    for key in 0..2 {
                        for offset in 0..width as usize {
                            let is_set = code(key, joint, stored, width) >> offset & 1;
                            words[key * row + (bit + offset) / 32] |= is_set << ((bit + offset) % 32);
                        }
                    }
                    bit += width as usize;
                }
                let head = form << QUANTIZED_FORM;
                if wide {
                    records.extend([head | QUANTIZED_WIDE, format, first_bit as u32]);
                    records.extend(leasts.map(i32::cast_unsigned));
                } else {
                    records.extend([head | first_bit as u32, format]);
                    records.extend(
                        [0, 2].map(|at| leasts[at].cast_unsigned() & 0xffff | leasts[at + 1].cast_unsigned() << 16),
                    );
                }
            }
            words.extend(records);
            // What follows the records is decoded with them, and has no meaning.
            words.extend([u32::MAX; WORDS_BEYOND]);
            Self { words, row, missing, widths, wide }
        }

        /// The words of a record.
        fn stride(&self) -> usize {
            let words = if self.wide { QUANTIZED_WIDE_COLUMN_WORDS } else { QUANTIZED_NARROW_COLUMN_WORDS };
            words as usize
        }

        fn records(&self) -> &[u32] {
            &self.words[2 * self.row..]
        }

        fn columns(&self) -> Vec<DecodedColumn> {
            let record = |joint: usize| (2 * self.row + self.stride() * joint) as u32;
            (0..JOINTS).map(|joint| DecodedColumn::new(&self.words, record(joint))).collect()
        }

        fn part(&self) -> TransformPart {
            if self.missing.is_some() { TransformPart::Rotation } else { TransformPart::Translation }
        }

        fn nearness(&self) -> Nearness {
            nearness(&self.columns(), self.part())
        }

        /// The numbers that a key stores, before they are multiplied by the step.
        fn stored(&self, key: usize, joint: usize) -> [f32; 3] {
            [0, 1, 2].map(|stored| {
                let width = self.widths[stored];
                (least(stored, width, self.missing.is_some(), self.wide) + code(key, joint, stored, width) as i32)
                    as f32
            })
        }
    }

    /// A way to decode columns.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Way {
        /// Record by record.
        Apart,
        /// The records of a block at once, to columns four by four.
        Fours,
        /// The records of a block at once, to columns of blocks.
        Blocks,
    }

    /// Decodes two rows and interpolates between them at a fraction.
    struct Sample<'a> {
        keys: &'a TestKeys,
        decoded: &'a DecodedClip,
        nearness: Nearness,
        fraction: f32,
        way: Way,
    }

    impl Kernel for Sample<'_> {
        type Output = Vec<Vec4>;
        fn run<L: Lanes>(self, token: Token<L>) -> Vec<Vec4> {
            let mut four = self.decoded.columns.clone();
            let mut joints = 4 * four.len();
            let mut blocks = Vec::new();
            if self.way != Way::Apart {
                let stride = self.keys.stride();
                joints = JOINTS.next_multiple_of(L::BLOCK);
                four = vec![FourColumns::default(); joints / 4];
                for first in (0..joints).step_by(L::BLOCK) {
                    let records = &self.keys.records()[stride * first..];
                    if self.way == Way::Fours {
                        let count = L::BLOCK.min(JOINTS - first);
                        records::fours(token, records, stride, count, &mut four[first / 4..]);
                        continue;
                    }
                    let block = records::columns(token, records, stride);
                    blocks.push(if self.keys.missing.is_some() { block } else { records::by_joint(token, &block) });
                }
            }
            let columns = match self.nearness {
                _ if self.way == Way::Blocks => RunColumns::Blocks(&blocks),
                Nearness::Apart => RunColumns::Apart(&four),
                _ => RunColumns::Paired(&four),
            };
            let part = self.keys.part();
            let rows = [KeyRow { from: 0, to: 0 }, KeyRow { from: 4 * self.keys.row, to: joints }];
            let mut ends = vec![Vec4::NAN; 2 * joints];
            rows::decode(token, columns, joints, part, &rows, bytemuck::cast_slice(&self.keys.words), &mut ends);
            let (start, end) = ends.split_at(joints);
            let mut to = vec![Vec4::ZERO; joints];
            match part {
                TransformPart::Rotation => {
                    slerp::<_, true, false>(token, [start, end], &Weights::new(self.fraction), &mut to);
                }
                _ => lerp(token, start, end, self.fraction, &mut to),
            }
            to.truncate(JOINTS);
            to
        }
    }

    /// Samples keys in each instruction set and each way that can read them. The results of one instruction set have
    /// the same bits.
    fn sample_in_all_ways(keys: &TestKeys, fraction: f32) -> Vec<(String, Vec<Vec4>)> {
        let columns = keys.columns();
        let nearness = keys.nearness();
        let mut decoded = DecodedClip::default();
        decoded.push_columns(columns.into_iter(), nearness != Nearness::Apart);
        let bits = |values: &[Vec4]| -> Vec<[u32; 4]> {
            // Zeros of either sign are equal.
            values.iter().map(|value| (value + Vec4::ZERO).to_array().map(f32::to_bits)).collect()
        };
        let mut all = Vec::new();
        for set in InstructionSet::ALL {
            let sample = |way| Sample { keys, decoded: &decoded, nearness, fraction, way };
            let found = set.run(sample(Way::Apart));
            if nearness == Nearness::Blocks {
                let exact = set.run_exact(sample(Way::Apart));
                for way in [Way::Fours, Way::Blocks] {
                    assert_eq!(bits(&set.run(sample(way))), bits(&found), "{}, {way:?}: {:?}", set.name(), keys.widths);
                    assert_eq!(bits(&set.run_exact(sample(way))), bits(&exact), "{}, {way:?}, exact", set.name());
                }
            }
            all.push((set.name().to_owned(), found));
        }
        all
    }

    #[test]
    fn codes_of_all_widths_are_read_by_every_instruction_set() {
        for (widths, wide, near) in [
            ([9, 5, 7], false, Nearness::Blocks),
            ([1, 13, 2], true, Nearness::Blocks),
            ([0, 3, 0], false, Nearness::Blocks),
            ([16, 16, 16], true, Nearness::Blocks),
            // A code of 22 bits that begins at bit 12 of a word reaches into a third one.
            ([6, 6, 22], false, Nearness::Paired),
            // The codes of two joints take 126 or 144 bits, and more with the bits before them in a byte.
            ([17, 24, 22], false, Nearness::Apart),
            ([24, 24, 24], true, Nearness::Apart),
        ] {
            let keys = TestKeys::new(widths, 1, None, wide);
            let columns = keys.columns();
            assert_eq!(keys.nearness(), near, "{widths:?}");
            let value = |key: usize, joint: usize| {
                let [x, y, z] = keys.stored(key, joint);
                0.5 * Vec4::new(x, y, z, 0.0)
            };
            for (set, found) in sample_in_all_ways(&keys, 0.5) {
                for joint in 0..JOINTS {
                    let middle = 0.5 * (value(0, joint) + value(1, joint));
                    let off = (found[joint] - middle).abs().max_element();
                    // Half of the sum of two numbers of 24 bits has 25 bits.
                    let least = f32::EPSILON * middle.abs().max_element();
                    assert!(off <= least, "{set}: {widths:?}, joint {joint}");
                    let key = columns[joint].key(&keys.words, keys.row as u32);
                    assert_eq!(key, value(1, joint), "{widths:?}, joint {joint}");
                }
            }
        }
    }

    #[test]
    fn blocks_have_a_window_per_half_of_64_bytes_each() {
        // Four joints of 16 bits take 8 bytes. The last code of a window ends before its last word of 16 bits.
        for (joint, bytes, near) in [
            (8, 48, Nearness::Blocks),
            (8, 50, Nearness::Paired),
            (4, 46, Nearness::Blocks),
            (4, 48, Nearness::Paired),
            (12, 46, Nearness::Blocks),
            (12, 48, Nearness::Paired),
        ] {
            let keys = TestKeys::with_gap([5, 5, 6], 1, None, true, Gap { joint, bits: 8 * bytes });
            assert_eq!(keys.nearness(), near, "{bytes} bytes before joint {joint}");
            for (set, found) in sample_in_all_ways(&keys, 1.0) {
                for (joint, found) in found.into_iter().enumerate() {
                    let [x, y, z] = keys.stored(1, joint);
                    assert_eq!(found, 0.5 * Vec4::new(x, y, z, 0.0), "{set}: joint {joint}, {bytes} bytes");
                }
            }
        }
    }

    #[test]
    fn rotations_without_any_of_their_numbers_are_read_by_every_instruction_set() {
        let missing: fn(usize) -> u32 = |joint| (joint as u32 * 3 + joint as u32 / 4) % 4;
        for (widths, wide, near) in [
            ([9, 5, 7], false, Nearness::Blocks),
            ([16, 15, 16], true, Nearness::Blocks),
            ([11, 16, 0], false, Nearness::Blocks),
            ([6, 6, 22], true, Nearness::Paired),
            ([17, 24, 22], true, Nearness::Apart),
        ] {
            // Numbers up to a half, so that the missing one is at least a half.
            let keys = TestKeys::new(widths, *widths.iter().max().unwrap_or(&0), Some(missing), wide);
            let columns = keys.columns();
            assert_eq!(keys.nearness(), near, "{widths:?}");
            let step = 0.5_f64.powi(widths.into_iter().max().unwrap_or(0) as i32);
            for (key, fraction) in [(0, 0.0), (1, 1.0)] {
                for (set, found) in sample_in_all_ways(&keys, fraction) {
                    for joint in 0..JOINTS {
                        let stored = keys.stored(key, joint).map(|number| step * f64::from(number));
                        let last = (1.0 - stored.iter().map(|number| number * number).sum::<f64>()).sqrt();
                        let mut value = stored.to_vec();
                        value.insert(missing(joint) as usize, last);
                        let off = |found: Vec4| {
                            let pairs = found.to_array().into_iter().zip(&value);
                            pairs.map(|(found, value)| (f64::from(found) - value).abs()).fold(0.0, f64::max)
                        };
                        // A rotation and its opposite are the same.
                        let off_found = off(found[joint]).min(off(-found[joint]));
                        assert!(off_found < 5e-7, "{set}: {widths:?}, joint {joint}: {off_found}");
                        let stored = columns[joint].key(&keys.words, (key * keys.row) as u32);
                        assert!(off(stored) < 2e-7, "{widths:?}, joint {joint}");
                    }
                }
            }
            sample_in_all_ways(&keys, 0.3);
        }
    }
}
