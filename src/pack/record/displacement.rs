//! The record of a transition on its way.

use crate::model::Ticks;
use crate::pack::record::{constants, record};

constants! {
    /// Kind of [`DisplacementRecord`]: no transition.
    pub const DISPLACED_NOT: u32 = 0;
    /// Kind of [`DisplacementRecord`]: the difference decays.
    pub const DISPLACED_INERTIAL: u32 = 1;
    /// Kind of [`DisplacementRecord`]: the pose that goes out moves on.
    pub const DISPLACED_DEAD: u32 = 2;
    /// The numbers of a displacement per joint: offset and speed of the translation, offset and speed of the scale, three each,
    /// then the offset of the rotation, four, and its speed, three, with a 0 behind it.
    pub const DISPLACED_JOINT: u32 = 20;
    /// The numbers of a displacement per morph weight and per number of a property: offset and speed. A rotation has its speed
    /// in the first three of its four numbers.
    pub const DISPLACED_NUMBER: u32 = 2;
    /// The words of a [`DisplacementRecord`], which the numbers follow.
    pub const DISPLACED_HEAD: u32 = DisplacementRecord::WORDS as u32;
    /// The seconds of a tick.
    pub const DISPLACED_TICK: f32 = 1.0 / Ticks::PER_SECOND as f32;
}

record! {
    /// The head of the displacement of an instance.
    DisplacementRecord {
        /// The kind.
        kind: u32,
        /// The start tick, lower half.
        start_low: u32,
        /// The start tick, upper half.
        start_high: u32,
        /// The rate of the decay per second: of an inertial transition twice, of a dead one once the natural logarithm of 2
        /// over the half-life.
        rate: f32,
        /// The length in seconds.
        seconds: f32,
    }
}
