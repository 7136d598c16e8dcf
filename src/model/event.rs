//! Events of clips, and their occurrences in a crowd.

use crate::model::Ticks;

/// A call that a clip makes when its play passes a time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Event {
    /// Seconds on the clip's own axis.
    pub time: f64,
    /// What is called.
    pub function: String,
    /// What it is given: strings as they are, anything else as JSON.
    pub parameters: Vec<String>,
}

/// An event of a clip that a layer's play has reached in a step of the crowd's clock.
///
/// It is reached at the first tick at which the play, in its direction, stands on the event's time or beyond it; a thousandth
/// of a tick before it counts as on it. Every pass counts for itself:
///
/// * An event at the start of the played part is reached where a pass begins there, one at its end where a pass ends there; at
///   the turn of a ping-pong, once.
/// * A mode that does not repeat reaches what lies where it begins at the tick of its start. One that does has been playing for
///   ever: where passes meet it reaches what lies at the end of the one and at the start of the next. After its last pass a play
///   reaches nothing.
/// * Events outside the played part, or the clip, are never reached. Nor is anything by a layer at a fixed time, at rate 0, or of a clip or a
///   part without a duration.
/// * A layer counts only while it has a weight: where its own is 0 nothing is reached, nor up to a fade-in's start, nor from a
///   fade-out's end on. Masks do not matter.
/// * Beyond 2^62 passes from its start, ages of the shortest of clips, a play reaches nothing.
/// * A step that goes back, or nowhere, reaches nothing. Steps that follow one another reach together what one over all of them
///   does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Occurrence {
    /// When it was reached: after the step's begin, at its end at the latest.
    pub tick: Ticks,
    /// The instance's index in the crowd.
    pub instance: usize,
    /// The layer's index in the instance.
    pub layer: usize,
    /// The event's index in its clip.
    pub event: usize,
}

/// What a crowd has reached in a step: as much of it as there was room for.
///
/// Of one layer the first [`MOST_OF_LAYER`](Self::MOST_OF_LAYER) of a step find room, whatever the list has left: more than
/// any frame has. Who leaps over minutes, and wants all, goes in several steps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventList {
    /// Those that found room, by tick, then instance, layer and event.
    pub events: Vec<Occurrence>,
    /// How many did not; `u64::MAX` stands for that many or more.
    pub missed: u64,
}

impl EventList {
    /// How many events of one layer are listed in a step; those after them are counted.
    pub const MOST_OF_LAYER: usize = 256;
}
