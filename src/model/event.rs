//! Events of clips, and their occurrences in a crowd.

use crate::model::Ticks;

/// A call that a clip makes when its play passes a time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Event {
    /// Seconds on the axis of the clip.
    pub time: f64,
    /// The name of the function to call.
    pub function: String,
    /// The arguments of the call: strings as they are, other values as JSON.
    pub parameters: Vec<String>,
}

/// An event of a clip that the play of a layer has reached in a step of the crowd clock.
///
/// An event is reached at the first tick at which the play, in its direction, is at the time of the event or beyond it. A
/// thousandth of a tick before the time counts as at the time. Each pass counts separately:
///
/// * An event at the start of the played part is reached when a pass begins there, an event at its end when a pass ends there.
///   An event at the turn of a ping-pong is reached once per turn.
/// * A mode that does not repeat reaches the events at its first frame at the tick of its start. A mode that repeats has played
///   for ever: at the seam of two passes it reaches the events at the end of the one and at the start of the next. After its last
///   pass, a play reaches nothing.
/// * Events outside the played part or the clip are never reached. A layer reaches nothing at a fixed time, at rate 0, or if its
///   clip or part has no duration.
/// * A layer reaches events only while it has a weight: nothing if its own weight is 0, nothing up to the start of a fade-in, and
///   nothing from the end of a fade-out on. Masks have no effect.
/// * More than 2^62 passes after its start, which are ages for the shortest clips, a play reaches nothing.
/// * A layer with a driven weight reaches events in a step if its weight at the end of the step is above 2^-20. A synchronised layer
///   reaches an event when its leader is at the time that belongs to the event. A layer whose time is a parameter, and one that
///   follows it, reach nothing.
/// * In a step across the start of a transition, the index of a layer is one among the layers at the tick of the event.
/// * A step backwards or of no length reaches nothing. Consecutive steps reach together the same events as one step over all of
///   them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Occurrence {
    /// The tick at which the event was reached: after `from` of the step, at or before `to`.
    pub tick: Ticks,
    /// Index of the instance in the crowd.
    pub instance: usize,
    /// Index of the layer in the instance.
    pub layer: usize,
    /// Index of the event in its clip.
    pub event: usize,
}

/// The events that a crowd has reached in a step, up to a capacity.
///
/// Per layer and step, the list has room for the first [`MOST_OF_LAYER`](Self::MOST_OF_LAYER) events, whatever its capacity. That
/// is more than a frame has. To list all events of several minutes, use several steps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventList {
    /// The listed events, ordered by tick, then instance, layer and event.
    pub events: Vec<Occurrence>,
    /// The number of events that are not listed. `u64::MAX` means that number or more.
    pub missed: u64,
}

impl EventList {
    /// The most events of one layer that are listed in a step. Further events are counted.
    pub const MOST_OF_LAYER: usize = 256;
}
