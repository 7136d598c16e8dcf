//! The plan of a clip: runs of neighbouring joints that are sampled together.

use std::ops::Range;
use std::sync::OnceLock;

use glam::Vec4;

use crate::cpu::block::joints::Parts;
use crate::cpu::decoded_rows::RowPlaces;
use crate::cpu::stages::TransformPart;
use crate::cpu::stages::quantized::Column;

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
    /// The offset in the values of the first key of the first joint. Of quantized keys, the offset of its column in the words.
    pub first: u32,
    /// The index of the timeline in the clip.
    pub(super) timeline: u32,
    /// Of quantized keys, the index of the first column among the decoded ones of the clip.
    pub(super) columns: u32,
    /// The distance from the first key of a joint to that of the next. Of quantized keys, the words of a column.
    pub(super) stride: u8,
    /// The index of the timeline in [`Plan::turning`]; [`NOT_TURNING`] if it is not there.
    pub(super) turning: u8,
    /// If set, a key holds until the next.
    pub step: bool,
    /// Of quantized keys, how near each other their codes are.
    pub nearness: Nearness,
}

/// How near each other the codes of quantized keys of neighbouring joints are.
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
    /// The keys of the joint that follows by `count`.
    #[inline(always)]
    pub fn after(self, count: u32) -> Self {
        Self { first: self.first + count * u32::from(self.stride), ..self }
    }

    /// Returns `true` if the keys are quantized: a column has several words.
    #[inline(always)]
    pub fn is_quantized(&self) -> bool {
        self.stride > 1
    }

    /// The words of the record of a column of quantized keys.
    #[inline(always)]
    pub fn column_words(&self) -> usize {
        self.stride.into()
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
        (0..).map(move |joint| Column::new(words, self.after(joint).first))
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

impl Kind {
    /// The kind that the next joint must have to continue a run of `count` joints.
    #[inline(always)]
    pub fn after(self, count: u32) -> Self {
        match self {
            Self::Constant(first) => Self::Constant(first + count),
            Self::Keys(keys) => Self::Keys(keys.after(count)),
            kind => kind,
        }
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
