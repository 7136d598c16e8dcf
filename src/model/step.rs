//! From one moment of the crowd's clock to another.

use crate::model::Ticks;

/// A step of the crowd's clock: the moment to pose, and the one before it.
///
/// Poses are those of `to`. Root motion and events are what happens after `from`, up to and with `to`. A tick alone is a step
/// from itself to itself, in which nothing happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step {
    /// The moment before.
    pub from: Ticks,
    /// The moment to pose; before `from` where the clock goes back.
    pub to: Ticks,
}

impl From<Ticks> for Step {
    fn from(now: Ticks) -> Self {
        Self { from: now, to: now }
    }
}
