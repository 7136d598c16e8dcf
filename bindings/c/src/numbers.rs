//! Numbers of C: enumerators, indices and counts.

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
