//! The events that a play reaches between two ticks, with their ticks. Each pass is computed on its own, in seconds of
//! the clip.

use std::ops::RangeInclusive;

use crate::model::SyncMap;
use crate::model::{Clip, Crowd, EventList, Layer, LayerTime, Library, Occurrence, Playback, Step, Ticks};
use crate::reference::instance::Instance;
use crate::reference::passes::TICK_PARTS;

/// The distance of a play to an event, in ticks, up to which it has reached the event. It exceeds the rounding of a
/// month of passes.
const NEAR: f64 = 1.0 / TICK_PARTS as f64;

/// The weight above which a layer with a driven weight reaches events. Engines may round 0 to less than this.
const MIN_DRIVEN_WEIGHT: f64 = 1.0 / (1 << 20) as f64;

/// The largest number of a pass, 2^62, before and after the start of a play.
const MAX_PASSES: f64 = 4_611_686_018_427_387_904.0;

/// The events that a crowd reaches in a step. The crowd must have been checked. The list has room for `capacity`
/// events, which the first instances take first.
pub fn of_crowd(library: &Library, crowd: &Crowd, step: Step, capacity: usize) -> EventList {
    let mut list = EventList::default();
    for instance in 0..crowd.len() {
        let mut shown = Some((Instance::new(library, crowd, instance), step));
        // Before the start of a transition, the layers that go out reach events, from the start on the layers that come
        // in.
        while let Some((present, step)) = shown.take() {
            let mut own = step;
            if let Some(transition) = present.transition {
                let last = transition.start - Ticks(1);
                shown =
                    (step.from < last).then(|| (present.before(transition), Step { to: step.to.min(last), ..step }));
                own.from = own.from.max(last);
            }
            add_layers(&present, instance, own, capacity, &mut list);
        }
    }
    list.events.sort_unstable();
    list
}

/// Adds the events that the layers of an instance reach in a step, by the index of the instance.
fn add_layers(shown: &Instance, instance: usize, step: Step, capacity: usize, list: &mut EventList) {
    let driven = shown.driven(step.to);
    for (number, layer) in shown.layers.iter().enumerate() {
        let free = (capacity - list.events.len()).min(EventList::MAX_PER_LAYER);
        if layer.driver.is_some() && driven[number].layer.weight <= MIN_DRIVEN_WEIGHT {
            continue;
        }
        let weighed = Layer { time: layer.time, ..driven[number].layer };
        let (reached, missed) = match layer.time {
            LayerTime::Synced { leader } => of_follower(shown, leader, &weighed, step, free),
            _ => of_layer(shown.library.clip(layer.clip), &weighed, step, free),
        };
        let occurrence = |(tick, event)| Occurrence { tick, instance, layer: number, event };
        list.events.extend(reached.into_iter().map(occurrence));
        list.missed = list.missed.saturating_add(missed);
    }
}

/// The events that a synchronised layer reaches in a step, as [`of_layer`]: each when its leader is at the time of the
/// leader's clip that belongs to the event.
fn of_follower(
    shown: &Instance,
    leader: usize,
    layer: &Layer,
    step: Step,
    capacity: usize,
) -> (Vec<(Ticks, usize)>, u64) {
    let [lead, clip] = [shown.layers[leader].clip, layer.clip].map(|clip| shown.library.clip(clip));
    // The map from the follower to its leader is the same, read the other way.
    let map = SyncMap::new(clip, lead);
    let duration = clip.duration();
    let reached = clip.events.iter().enumerate().filter(|(_, event)| (0.0..=duration).contains(&event.time));
    let events: Vec<(usize, f64)> = reached.map(|(index, event)| (index, map.time(event.time))).collect();
    if duration == 0.0 {
        return (Vec::new(), 0);
    }
    let layer = Layer { time: shown.layers[leader].time, ..*layer };
    of_play(lead, &layer, &events, step, capacity)
}

/// The events that a layer reaches in a step: the ticks and indices of the first `capacity` of them, in order, and the
/// number of the others.
pub fn of_layer(clip: &Clip, layer: &Layer, step: Step, capacity: usize) -> (Vec<(Ticks, usize)>, u64) {
    let events: Vec<(usize, f64)> = clip.events.iter().map(|event| event.time).enumerate().collect();
    of_play(clip, layer, &events, step, capacity)
}

/// The events that the play of a clip by a layer reaches in a step, of a list of indices and times of the clip.
fn of_play(
    clip: &Clip,
    layer: &Layer,
    events: &[(usize, f64)],
    step: Step,
    capacity: usize,
) -> (Vec<(Ticks, usize)>, u64) {
    let LayerTime::Playing(playback) = layer.time else { return (Vec::new(), 0) };
    let Some((from, to)) = weighed(layer, step) else { return (Vec::new(), 0) };
    let Some(play) = Play::new(playback.resolve_wrap(clip.wrap), clip.duration()) else { return (Vec::new(), 0) };
    let (mut reached, mut count) = (Vec::new(), 0_u64);
    for &(event, time) in events {
        if !(play.part[0]..=play.part[1]).contains(&time) {
            continue;
        }
        for run in play.runs(from, to) {
            let Some(distance) = play.distance(run.first, time) else { continue };
            // Later passes reach it at later ticks, after more passes.
            let pass = |index: i64| run.first + 2 * index;
            let begin = partition(run.count, |index| {
                play.tick(pass(index), distance) <= from || play.passes(pass(index), distance) <= -play.most
            });
            let end = partition(run.count, |index| {
                play.tick(pass(index), distance) <= to && play.passes(pass(index), distance) <= play.most
            });
            let ticks = (begin..end).take(capacity).map(|index| play.tick(pass(index), distance));
            reached.extend(ticks.map(|tick| (Ticks(tick as i64), event)));
            count = count.saturating_add((end - begin).max(0) as u64);
        }
    }
    reached.sort_unstable();
    reached.truncate(capacity);
    let missed = count - reached.len() as u64;
    (reached, missed)
}

/// The part of a step in which a layer has a weight. It begins after the first tick and ends with the second one.
fn weighed(layer: &Layer, step: Step) -> Option<(i128, i128)> {
    let (mut from, mut to) = (i128::from(step.from.0), i128::from(step.to.0));
    if let Some(fade) = layer.fade_in {
        // A fade of no length is over at its start. Other fades have a weight of 0 there.
        from = from.max(i128::from(fade.start.0) - i128::from(fade.length.0 == 0));
    }
    if let Some(fade) = layer.fade_out {
        to = to.min(i128::from(fade.start.0) + i128::from(fade.length.0) - 1);
    }
    (layer.weight > 0.0 && from < to).then_some((from, to))
}

/// A play that moves, of a part of a clip that has a length.
struct Play {
    playback: Playback,
    /// Start and end of the part, in seconds of the clip.
    part: [f64; 2],
    /// Ticks per second of the clip.
    pace: f64,
    /// Passes until it stops; infinite if it does not stop.
    most: f64,
}

/// Every second one of consecutive passes. They have the same direction.
struct PassRun {
    first: i64,
    count: i64,
}

impl Play {
    fn new(playback: Playback, duration: f64) -> Option<Self> {
        let part = playback.part(duration);
        let most = playback.passes();
        let moves = part[1] > part[0] && playback.rate != 0.0 && most > 0.0;
        moves.then(|| Self { playback, part, pace: Ticks::PER_SECOND as f64 / playback.rate.abs(), most })
    }

    fn length(&self) -> f64 {
        self.part[1] - self.part[0]
    }

    /// Returns `true` if a pass goes from the part's start to its end. Passes are numbered in the order of the clock.
    /// Pass 0 begins at the start of the play. Passes before it mirror those after it.
    fn is_upward(&self, pass: i64) -> bool {
        let number = if pass < 0 { -pass - 1 } else { pass };
        let turned = self.playback.wrap.is_ping_pong() && number % 2 == 1;
        ((self.playback.rate < 0.0) != self.playback.wrap.is_reverse()) == turned
    }

    /// Seconds of the clip from the start of a pass to an event of the part. `None` if the pass begins at the event
    /// after a turn, because the previous pass has reached it.
    fn distance(&self, pass: i64, event: f64) -> Option<f64> {
        let distance = if self.is_upward(pass) { event - self.part[0] } else { self.part[1] - event };
        (distance > 0.0 || pass == 0 || !self.playback.wrap.is_ping_pong()).then_some(distance)
    }

    /// Passes from the start of the play to `distance` seconds after the start of a pass.
    fn passes(&self, pass: i64, distance: f64) -> f64 {
        pass as f64 + distance / self.length()
    }

    /// The first tick at which a pass has taken `distance` seconds of the clip.
    fn tick(&self, pass: i64, distance: f64) -> i128 {
        let ticks = (pass as f64).mul_add(self.length(), distance) * self.pace;
        // A slow pass may end beyond the last tick of the clock.
        i128::from(self.playback.start.0).saturating_add((ticks - NEAR).ceil() as i128)
    }

    /// The passes between two ticks, in runs.
    fn runs(&self, from: i128, to: i128) -> Vec<PassRun> {
        let passes = |tick: i128| (tick - i128::from(self.playback.start.0)) as f64 / (self.pace * self.length());
        // One more pass on either side, because of rounding.
        let most = self.most.ceil();
        let least = if self.playback.wrap.repeats() { -most } else { 0.0 };
        let [first, last] = [(passes(from).floor() - 1.0).max(least), (passes(to).floor() + 1.0).min(most - 1.0)];
        let [first, last] = [first, last].map(|pass| pass.clamp(-MAX_PASSES, MAX_PASSES) as i64);
        let sides = [first..=last.min(-1), first.max(0)..=last.min(0), first.max(1)..=last];
        let halves = sides.iter().flat_map(|side| [(side, 0), (side, 1)]);
        let run = |(side, half): (&RangeInclusive<i64>, i64)| {
            let first = side.start() + half;
            PassRun { first, count: (side.end() - first).div_euclid(2) + 1 }
        };
        halves.map(run).filter(|run| run.count > 0).collect()
    }
}

/// The number of integers from 0 up to a count for which `holds` is true. It must be true for the first ones and false
/// for all others.
fn partition(count: i64, holds: impl Fn(i64) -> bool) -> i64 {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ClipId, Fade, FadeShape};

    #[test]
    fn a_layer_reaches_events_while_its_ramp_is_above_0() {
        let lengths = [0, 1, 2, 7];
        for (length_in, length_out) in lengths.into_iter().flat_map(|a| lengths.map(|b| (a, b))) {
            for (gap, shape) in (-4..10).flat_map(|gap| [(gap, FadeShape::Linear), (gap, FadeShape::Smooth)]) {
                let fade = |start, length| Some(Fade { start: Ticks(start), length: Ticks(length), shape });
                let layer = Layer {
                    fade_in: fade(0, length_in),
                    fade_out: fade(gap, length_out),
                    ..Layer::new(ClipId(0), LayerTime::At(0.0))
                };
                for tick in -6..20 {
                    let step = Step { from: Ticks(tick - 1), to: Ticks(tick) };
                    let counts = weighed(&layer, step).is_some();
                    assert_eq!(counts, layer.ramp(Ticks(tick)) > 0.0, "{layer:?} at {tick}");
                }
            }
        }
    }
}
