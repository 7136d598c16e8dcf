//! Numbers of C: enumerators, counts, and the indices of the items of a library.

use posse::parameters::{BlendSpaceId, KnotsId};
use posse::{Clip, ClipId, Skeleton, SkeletonId};

use crate::error::{Error, Outcome};
use crate::types::{
    Buffer, ChainKind, Driver, FadeShape, Format, Item, Mode, Pass, SkinFormat, Status, Time, TransitionKind, Wrap,
};

/// An enumeration whose values C passes as numbers.
pub trait Numbered: Copy + 'static {
    /// The name in the header.
    const NAME: &'static str;
    /// All values, by number from 0.
    const ALL: &'static [Self];
}

macro_rules! numbered {
    ($($type:ident $name:literal: $($value:ident)*;)*) => {$(
        impl Numbered for $type {
            const NAME: &'static str = $name;
            const ALL: &'static [Self] = &[$(Self::$value),*];
        }
    )*};
}

numbered! {
    Item "posse_item": Skeleton Clip Joint Event Weight Property Warning Skin;
    Time "posse_time": Playing Fixed Phase Synced;
    Wrap "posse_wrap": Default Normal Loop PingPong Reverse LoopReverse PingPongReverse;
    Mode "posse_mode": Blend Override Additive AdditiveRest;
    Driver "posse_driver": None Knots Point;
    FadeShape "posse_fade_shape": None Linear Smooth;
    TransitionKind "posse_transition_kind": Inertial Dead;
    ChainKind "posse_chain_kind": TwoBone Aim;
    Format "posse_format": Rows3x4 Columns4x4 Soa;
    SkinFormat "posse_skin_format": Matrix HalfMatrix DualQuaternion;
    Pass "posse_pass": Drive Play Goals Pose RootMotion;
    Buffer "posse_buffer": Words Values Frame Layers Batch Drives DriveBatch Parameters ParametersBefore Goals GoalBatch
        Lists Local Model Skin Numbers RootMotion;
}

/// The value of a number.
pub fn numbered<T: Numbered>(number: u32) -> Outcome<T> {
    let found = usize::try_from(number).ok().and_then(|number| T::ALL.get(number));
    found.copied().ok_or_else(|| {
        let most = T::ALL.len() - 1;
        Error::new(Status::Argument, format!("there is no {} {number}; the largest is {most}", T::NAME))
    })
}

/// An index or a count as C has it. Counts beyond its range are cut: no list of the library is as long.
pub fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The item of an index.
pub fn item<T>(kind: &str, mut items: impl ExactSizeIterator<Item = T>, index: u32) -> Outcome<T> {
    let count = items.len();
    let found = usize::try_from(index).ok().and_then(|index| items.nth(index));
    found.ok_or_else(|| Error::index(kind, index, count))
}

/// The items of a library.
#[derive(Default, Clone)]
pub struct Parts {
    pub library: posse::Library,
    pub knots: Vec<KnotsId>,
    pub blend_spaces: Vec<BlendSpaceId>,
}

impl Parts {
    pub fn skeleton_id(&self, skeleton: u32) -> Outcome<SkeletonId> {
        let count = self.library.skeletons().len();
        let found = usize::try_from(skeleton).ok().and_then(|index| self.library.skeleton_ids().nth(index));
        found.ok_or_else(|| Error::index("skeleton", skeleton, count))
    }

    pub fn clip_id(&self, clip: u32) -> Outcome<ClipId> {
        let count = self.library.clips().len();
        let found = usize::try_from(clip).ok().and_then(|index| self.library.clip_ids().nth(index));
        found.ok_or_else(|| Error::index("clip", clip, count))
    }

    pub fn skeleton(&self, skeleton: u32) -> Outcome<&Skeleton> {
        item("skeleton", self.library.skeletons().iter(), skeleton)
    }

    pub fn clip(&self, clip: u32) -> Outcome<&Clip> {
        item("clip", self.library.clips().iter(), clip)
    }
}
