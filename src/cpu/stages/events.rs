//! The events that a layer reaches in a step, by integer arithmetic, as in `shaders/events.wgsl`.

use crate::cpu::stages::drive;
use crate::model::{EventList, Occurrence, Step, Ticks};
use crate::pack::record::{
    CLOCK_BACKWARDS, CLOCK_ENDLESS, CLOCK_PING_PONG, CLOCK_PLAYS, CLOCK_REVERSE, CLOCK_WAITS, ClipRecord, DriveRecord,
    LAYER_FADES_IN, LAYER_FADES_OUT, LayerRecord, NONE,
};

/// The progress of a layer: a pass and the reach within it.
///
/// Passes are numbered in the order of the clock. Pass 0 begins at the start tick; negative passes come before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct LayerProgress {
    pass: i64,
    /// Events at a distance below this from the start of the pass are reached, in the units of the clip. All events of
    /// earlier passes are reached.
    reach: u64,
}

/// A layer of an instance, with its clip.
#[derive(Clone, Copy)]
pub struct InstanceLayer<'a> {
    pub record: &'a LayerRecord,
    pub clip: &'a ClipRecord,
    /// The index of the instance in the crowd.
    pub instance: usize,
    /// The index of the layer in the instance.
    pub index: usize,
}

/// A synchronised layer of an instance.
#[derive(Clone, Copy)]
pub struct Follower<'a> {
    pub layer: InstanceLayer<'a>,
    pub leader: &'a LayerRecord,
    pub drive: &'a DriveRecord,
}

/// The events of the played part of a clip.
struct PlayedPart<'a> {
    layer: &'a LayerRecord,
    start: u64,
    end: u64,
    /// Two words per event of the clip: its time.
    times: &'a [u32],
    /// The first event of the part.
    first: usize,
    /// One more than the last event of the part.
    last: usize,
    /// The number of events exactly at the start of the part; 0 if the clock is not ping-pong.
    at_start: usize,
    /// The number of events exactly at the end of the part; 0 if the clock is not ping-pong.
    at_end: usize,
    /// The difference between the index of an event in the clip and its index in `times`.
    offset: usize,
}

/// Appends the events that a layer reaches in a step, up to `capacity` events in the list. The events beyond are
/// counted.
pub fn append(words: &[u32], played: InstanceLayer, step: Step, capacity: usize, list: &mut EventList) {
    let InstanceLayer { record: layer, clip, instance, index } = played;
    let Some(part) = PlayedPart::new(words, clip, layer) else { return };
    let Some((from, to)) = weighed(layer, step) else { return };
    let (begin, end) = (progress(layer, from), progress(layer, to));
    if end <= begin {
        // No event is reached, or the clock is so far from the start tick that the passes overflow.
        return;
    }
    // The difference is correct even if both numbers overflowed.
    let mut rank = part.rank(begin);
    let mut left = part.reached(end.pass, part.rank(end)).wrapping_sub(part.reached(begin.pass, rank));
    if ((end.pass.wrapping_sub(begin.pass) as u64 >> 32) * part.count() as u64) >> 32 != 0 {
        left = 1 << 63;
    }
    let capacity = capacity.min(list.events.len() + EventList::MAX_PER_LAYER);
    let mut tick = from;
    for pass in begin.pass..=end.pass {
        while left > 0 && rank < part.count() && list.events.len() < capacity {
            let (event, way) = part.event(pass, rank);
            tick = first_tick(layer, tick, to, |progress| {
                progress.pass > pass || (progress.pass == pass && way < progress.reach)
            });
            list.events.push(Occurrence { tick: Ticks(tick), instance, layer: index, event });
            // The next event can be at the same tick.
            tick -= 1;
            rank += 1;
            left -= 1;
        }
        if left == 0 || list.events.len() >= capacity {
            break;
        }
        rank = part.skipped(pass + 1);
    }
    list.missed = list.missed.saturating_add(left);
}

/// Appends the events that a synchronised layer reaches, as [`append`]: each when its leader is at the time of the
/// leader's clip that belongs to the event.
pub fn append_follower(words: &[u32], follower: Follower, step: Step, capacity: usize, list: &mut EventList) {
    let Follower { layer: played, leader, drive } = follower;
    let events = played.clip.events;
    if events == NONE {
        return;
    }
    let header = events as usize;
    let (count, first) = (words[header] as usize, words[header + 1] as usize);
    let times = words[header + 2..header + 2 + 2 * count].as_chunks::<2>().0;
    let position = |time: &[u32; 2]| drive::leader_position(words, drive, join(time[0], time[1]));
    let mapped = times.iter().map(position);
    let mut mapped: Vec<(u64, usize)> = mapped.zip(first..).collect();
    mapped.sort_unstable();
    let times = mapped.iter().flat_map(|event| [event.0 as u32, (event.0 >> 32) as u32]);
    let words: Vec<u32> = [count as u32, 0].into_iter().chain(times).collect();
    let own = played.record;
    let record = &LayerRecord {
        weight: own.weight,
        mode: own.mode,
        fade_in_low: own.fade_in_low,
        fade_in_high: own.fade_in_high,
        fade_in_length: own.fade_in_length,
        fade_out_low: own.fade_out_low,
        fade_out_high: own.fade_out_high,
        fade_out_length: own.fade_out_length,
        ..*leader
    };
    let clip = &ClipRecord { events: 0, ..*played.clip };
    let before = list.events.len();
    append(&words, InstanceLayer { record, clip, ..played }, step, capacity, list);
    list.events[before..].iter_mut().for_each(|occurrence| occurrence.event = mapped[occurrence.event].1);
}

/// The part of a step in which the layer has a weight above 0: after the first tick, up to and with the second.
fn weighed(layer: &LayerRecord, step: Step) -> Option<(i64, i64)> {
    let (mut from, mut to) = (step.from.0, step.to.0);
    if layer.mode & LAYER_FADES_IN != 0 {
        let start = join(layer.fade_in_low, layer.fade_in_high) as i64;
        if from < start {
            // A fade of length 0 is over at its start tick. At that tick, all others still have the weight 0.
            from = start - i64::from(layer.fade_in_length == 0.0);
        }
    }
    if layer.mode & LAYER_FADES_OUT != 0 {
        let start = join(layer.fade_out_low, layer.fade_out_high) as i64;
        let end = start.saturating_add(layer.fade_out_length as i64);
        if end <= from {
            return None;
        }
        to = to.min(end - 1);
    }
    (layer.weight > 0.0 && from < to).then_some((from, to))
}

/// The progress of a layer at a tick. A thousandth of a tick is added, because the passes per tick are rounded down.
fn progress(layer: &LayerRecord, tick: i64) -> LayerProgress {
    let ticks = tick.wrapping_sub(join(layer.start_low, layer.start_high) as i64);
    if ticks < 0 && layer.clock & CLOCK_WAITS != 0 {
        return LayerProgress { pass: 0, reach: 0 };
    }
    let [low, high] = [join(layer.passes_0, layer.passes_1), join(layer.passes_2, layer.passes_3)].map(u128::from);
    let count = u128::from(ticks.unsigned_abs());
    // Passes in units of 2^-64; the units of `high` count 2^32 times. At most 2^62 whole passes.
    let most = 1 << 126;
    let (some, many) = ((count * low) >> 32, count * high);
    let played = if many >= most >> 32 { most } else { most.min((many << 32) + some) };
    let near = (high << 64 | low) >> 42;
    let mut played = if ticks < 0 { -(played as i128) } else { played as i128 } + near as i128;
    if layer.clock & CLOCK_ENDLESS == 0 {
        let most = i128::from(layer.repeat_count) << 64 | i128::from(join(layer.repeat_low, layer.repeat_high));
        if played >= most && most as u64 == 0 {
            // The last pass is over, and no other one begins.
            return LayerProgress { pass: (most >> 64) as i64, reach: 0 };
        }
        played = played.clamp(-most, most);
    }
    let length = u128::from(join(layer.part_length_low, layer.part_length_high));
    let way = ((u128::from(played as u64) * length) >> 64) as u64;
    LayerProgress { pass: (played >> 64) as i64, reach: way + 1 }
}

/// The first tick after `from`, up to and with `to`, at which `reached` is true. It is true at `to`.
fn first_tick(layer: &LayerRecord, from: i64, to: i64, reached: impl Fn(LayerProgress) -> bool) -> i64 {
    let (mut before, mut after) = (from, to);
    while after.wrapping_sub(before) as u64 > 1 {
        let middle = before.wrapping_add((after.wrapping_sub(before) as u64 / 2) as i64);
        if reached(progress(layer, middle)) {
            after = middle;
        } else {
            before = middle;
        }
    }
    after
}

impl<'a> PlayedPart<'a> {
    /// The events of the part of the clip that a layer plays. `None` if it can reach no event.
    fn new(words: &'a [u32], clip: &ClipRecord, layer: &'a LayerRecord) -> Option<Self> {
        let moves = layer.passes_0 | layer.passes_1 | layer.passes_2 | layer.passes_3 != 0;
        let passes = layer.repeat_count != 0 || layer.repeat_low != 0 || layer.repeat_high != 0;
        if layer.clock & CLOCK_PLAYS == 0 || !moves || !(passes || layer.clock & CLOCK_ENDLESS != 0) {
            return None;
        }
        if clip.events == NONE {
            return None;
        }
        let header = clip.events as usize;
        let (count, offset) = (words[header] as usize, words[header + 1] as usize);
        let start = join(layer.part_start_low, layer.part_start_high);
        let end = start + join(layer.part_length_low, layer.part_length_high);
        let times = &words[header + 2..header + 2 + 2 * count];
        let mut part = Self { layer, start, end, times, first: 0, last: 0, at_start: 0, at_end: 0, offset };
        (part.first, part.last) = (part.before(start), part.before(end + 1));
        if layer.clock & CLOCK_PING_PONG != 0 {
            part.at_start = part.before(start + 1) - part.first;
            part.at_end = part.last - part.before(end);
        }
        (part.count() > 0).then_some(part)
    }

    /// The number of events of the part.
    fn count(&self) -> usize {
        self.last - self.first
    }

    /// The time of an event, in the units of the clip.
    fn time(&self, index: usize) -> u64 {
        join(self.times[2 * index], self.times[2 * index + 1])
    }

    /// The number of events of the clip before a time.
    fn before(&self, time: u64) -> usize {
        let (mut low, mut high) = (0, self.times.len() / 2);
        while low < high {
            let middle = (low + high) / 2;
            if self.time(middle) < time {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns `true` if a pass goes from the start of the part to its end.
    fn is_upward(&self, pass: i64) -> bool {
        let clock = self.layer.clock;
        let odd = (pass ^ pass >> 63) & 1 != 0;
        let turned = clock & CLOCK_PING_PONG != 0 && odd;
        ((clock & CLOCK_BACKWARDS != 0) != (clock & CLOCK_REVERSE != 0)) == turned
    }

    /// The number of events exactly at the start of a pass, of a ping-pong clock.
    fn at_turn(&self, pass: i64) -> usize {
        if self.is_upward(pass) { self.at_start } else { self.at_end }
    }

    /// The number of events at the start of a pass that it leaves out, because the pass before it reached them when it
    /// turned.
    fn skipped(&self, pass: i64) -> usize {
        if self.layer.clock & CLOCK_PING_PONG != 0 && pass != 0 { self.at_turn(pass) } else { 0 }
    }

    /// The number of events of the current pass that were reached or left out.
    fn rank(&self, progress: LayerProgress) -> usize {
        let reached = match self.is_upward(progress.pass) {
            true => self.before(self.start + progress.reach) - self.first,
            false => self.last - self.before(self.end + 1 - progress.reach),
        };
        reached.max(self.skipped(progress.pass))
    }

    /// The number of events reached since the start tick. Before it, the number is negative, in two's complement.
    /// `rank` is the rank of this pass.
    fn reached(&self, pass: i64, rank: usize) -> u64 {
        let mut count = (pass as u64).wrapping_mul(self.count() as u64);
        if self.layer.clock & CLOCK_PING_PONG != 0 {
            // Passes in both directions since the start tick, or until it. The very first one leaves out no event.
            let passes = pass.unsigned_abs();
            let (even, odd) = (passes.div_ceil(2), passes / 2);
            let [here, there] = [0, 1].map(|pass| self.at_turn(pass) as u64);
            let left_out = even.wrapping_mul(here).wrapping_add(odd.wrapping_mul(there));
            count = if pass < 0 { count.wrapping_add(left_out) } else { count.wrapping_sub(left_out) };
            if pass > 0 {
                count = count.wrapping_add(here);
            }
        }
        count.wrapping_add((rank - self.skipped(pass)) as u64)
    }

    /// The event of a rank in a pass: its index in the clip, and its distance from the start of the pass.
    fn event(&self, pass: i64, rank: usize) -> (usize, u64) {
        let upward = self.is_upward(pass);
        let index = if upward { self.first + rank } else { self.last - 1 - rank };
        let time = self.time(index);
        (self.offset + index, if upward { time - self.start } else { self.end - time })
    }
}

/// The 64-bit integer of two words.
fn join(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
