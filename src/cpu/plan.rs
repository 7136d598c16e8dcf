//! The plan of a clip: runs of neighbouring joints that are sampled together.

use std::ops::Range;
use std::sync::OnceLock;

use glam::Vec4;

use crate::cpu::block::joints::Parts;
use crate::cpu::decoded_rows::RowPlaces;
use crate::cpu::stages::TransformPart;
use crate::cpu::stages::quantized::Column;
use crate::pack::column_words;
use crate::pack::record::{QUANTIZED_NARROW_COLUMN_WORDS, QUANTIZED_WIDE_COLUMN_WORDS};

/// The runs of the joints of a clip. They refer to the packed library, of which a plan copies nothing.
#[derive(Debug, Default)]
pub struct Plan {
    /// The runs of translations, then of rotations, then of scales, in the order of the joints.
    pub(super) runs: Box<[Run]>,
    /// The index of the first run of rotations, and that of scales.
    pub(super) splits: [u32; 2],
    /// The offsets in the values of joints of kind [`Kind::Gathered`].
    pub gathered: Box<[u32]>,
    /// The keys of joints of kind [`Kind::Scattered`].
    pub scattered: Box<[Keys]>,
    /// The joints that the clip animates, a bit each: those with a translation, those with a rotation, those with a scale.
    pub animated: Box<[u64]>,
    /// The parts that an additive layer is compared with: those at the start of the clip, and those of the rest pose.
    pub references: [OnceLock<Box<Parts>>; 2],
    /// The first [`MOST_TURNING`] timelines of rotations that are interpolated in blocks. Their weights are computed for all instances of a
    /// group at once.
    pub turning: Box<[u32]>,
    /// For each timeline the first key of the joints.
    pub first_keys: Box<[FirstKey]>,
    /// The bytes of all keys of the joints.
    pub key_bytes: usize,
    /// The places of decoded rows.
    pub rows: RowPlaces,
    /// If set, the clip has quantized keys.
    pub quantized: bool,
}

/// The most timelines whose weights are computed for all instances of a group at once.
pub const MOST_TURNING: usize = 8;
/// The index of a timeline that is not in [`Plan::turning`].
pub const NOT_TURNING: u8 = u8::MAX;

/// Neighbouring joints that are sampled together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// The first joint.
    pub(super) first: u32,
    /// The number of joints.
    pub(super) count: u32,
    /// The way in which they are sampled.
    pub kind: Kind,
}

impl Run {
    /// The joints of the run.
    #[inline(always)]
    pub fn joints(&self) -> Range<usize> {
        let first = self.first as usize;
        first..first + self.count as usize
    }
}

/// A way to sample joints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// The rest pose.
    Rest,
    /// One value per joint, side by side. The index is the offset of the first one in the values.
    Constant(u32),
    /// One value per joint, at any place. The index is that of the first one in [`Plan::gathered`]; the others follow.
    Gathered(u32),
    /// Keys of one timeline, side by side in rows.
    Keys(Keys),
    /// Separate keys per joint, none of them steps. The index is that of the first one in [`Plan::scattered`]; the others follow.
    Scattered(u32),
    /// Joints that are sampled one by one.
    Single,
}

/// Keys of neighbouring joints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Keys {
    /// The offset in the values of the first key of the first joint. Of quantized keys, the offset of the record of its column in the words.
    pub first: u32,
    /// The index of the timeline in the clip.
    pub(super) timeline: u32,
    /// Of quantized keys, the index of the first column among the decoded ones of the clip: of all runs, or of all separate keys.
    pub(super) columns: u32,
    /// The form in which they are stored.
    pub(super) storage: KeyStorage,
    /// The index of the timeline in [`Plan::turning`]; [`NOT_TURNING`] if it is not there.
    pub(super) turning: u8,
    /// If set, a key holds until the next.
    pub step: bool,
    /// Of quantized keys, how near each other their codes are.
    pub nearness: Nearness,
}

/// A form in which the keys of neighbouring joints are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KeyStorage {
    /// Values.
    Values,
    /// Quantized keys, whose columns have short records.
    Narrow,
    /// Quantized keys, whose columns have long records.
    Wide,
    /// Quantized keys, whose columns have records of either length.
    Mixed,
    /// Quantized keys, whose columns have records of either length. Some rotations store all four numbers.
    MixedWithWhole,
}

impl KeyStorage {
    /// Those of neighbouring joints together.
    pub fn with(self, other: Self) -> Self {
        match (self, other) {
            (own, other) if own == other => own,
            (Self::MixedWithWhole, _) | (_, Self::MixedWithWhole) => Self::MixedWithWhole,
            _ => Self::Mixed,
        }
    }
}

/// The distance of the codes of quantized keys of neighbouring joints. Rotations that store all four numbers do not count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Nearness {
    /// The codes of each joint have a window of their own.
    Apart,
    /// The codes of each two joints lie in one window.
    Paired,
    /// The codes of each two joints lie in one window, and those of each half of a block of joints in one for halves.
    Blocks,
}

impl Keys {
    /// Returns `true` if the keys are quantized.
    #[inline(always)]
    pub fn is_quantized(&self) -> bool {
        self.storage != KeyStorage::Values
    }

    /// Returns `true` if some rotations store all four numbers.
    #[inline(always)]
    pub fn have_whole_rotations(&self) -> bool {
        self.storage == KeyStorage::MixedWithWhole
    }

    /// The words of the record of each column of quantized keys; `None` if they differ.
    #[inline(always)]
    pub fn column_stride(&self) -> Option<usize> {
        match self.storage {
            KeyStorage::Narrow => Some(QUANTIZED_NARROW_COLUMN_WORDS as usize),
            KeyStorage::Wide => Some(QUANTIZED_WIDE_COLUMN_WORDS as usize),
            KeyStorage::Values | KeyStorage::Mixed | KeyStorage::MixedWithWhole => None,
        }
    }

    /// These keys, then those of each joint that follows.
    pub fn each(self, words: &[u32]) -> impl Iterator<Item = Self> {
        std::iter::successors(Some(self), |keys| Some(Self { first: keys.end(words), ..*keys }))
    }

    /// The offset after the first key of the first joint, or after the record of its column.
    pub fn end(&self, words: &[u32]) -> u32 {
        self.first + if self.is_quantized() { column_words(words, self.first) } else { 1 }
    }

    /// The index of the timeline in the clip.
    #[inline(always)]
    pub fn timeline(&self) -> usize {
        self.timeline as usize
    }

    /// The index of the first column among the decoded ones of the clip.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.columns as usize
    }

    /// The index of the timeline in [`Plan::turning`], or a larger number.
    #[inline(always)]
    pub fn turning(&self) -> usize {
        self.turning.into()
    }

    /// The columns of quantized keys of this joint and the next ones, decoded.
    pub fn decode(self, words: &[u32]) -> impl Iterator<Item = Column> {
        self.each(words).map(|keys| Column::new(words, keys.first))
    }
}

impl Plan {
    /// The runs of one part of the transforms.
    #[inline(always)]
    pub fn runs(&self, part: TransformPart) -> &[Run] {
        let [rotations, scales] = self.splits.map(|split| split as usize);
        match part {
            TransformPart::Translation => &self.runs[..rotations],
            TransformPart::Rotation => &self.runs[rotations..scales],
            TransformPart::Scale => &self.runs[scales..],
        }
    }

    /// The runs of translations, then of rotations, then of scales.
    pub fn all_runs(&self) -> &[Run] {
        &self.runs
    }

    /// The number of bytes that the plan refers to.
    pub fn heap_bytes(&self) -> usize {
        let references = self.references.iter().filter_map(OnceLock::get);
        size_of_val(&*self.runs)
            + size_of_val(&*self.gathered)
            + size_of_val(&*self.scattered)
            + size_of_val(&*self.animated)
            + size_of_val(&*self.turning)
            + size_of_val(&*self.first_keys)
            + size_of_val(&*self.rows.timelines)
            + references.map(|parts| size_of::<Parts>() + parts.size()).sum::<usize>()
    }
}

/// The location of the first key of a timeline. All keys of a timeline have the same distance from one to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum FirstKey {
    /// No joint has keys of the timeline.
    #[default]
    None,
    /// The offset in the values.
    Value(u32),
    /// The offset in the words, of quantized keys.
    Word(u32),
}

impl FirstKey {
    /// The first of two keys.
    pub fn min(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, first) => first,
            (Self::Value(a), Self::Value(b)) => Self::Value(a.min(b)),
            (Self::Word(a), Self::Word(b)) => Self::Word(a.min(b)),
            (first, _) => first,
        }
    }

    /// The location that is `elements` elements further.
    pub fn after(self, elements: u32) -> Self {
        match self {
            Self::None => Self::None,
            Self::Value(first) => Self::Value(first.saturating_add(elements)),
            Self::Word(first) => Self::Word(first.saturating_add(elements)),
        }
    }

    /// The bytes of an element of the array with the keys.
    pub fn element_bytes(self) -> usize {
        match self {
            Self::None => 0,
            Self::Value(_) => size_of::<Vec4>(),
            Self::Word(_) => size_of::<u32>(),
        }
    }
}
