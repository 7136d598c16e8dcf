//! The events that a layer reaches, by integer arithmetic, as in `shaders/events.wgsl`.

use crate::model::{EventList, Occurrence, Step, Ticks};
use crate::pack::record::{
    CLOCK_BACKWARDS, CLOCK_ENDLESS, CLOCK_PING_PONG, CLOCK_PLAYS, CLOCK_REVERSE, CLOCK_WAITS, ClipRecord,
    LAYER_FADES_IN, LAYER_FADES_OUT, LayerRecord, NONE,
};

/// How far a play is: so far on the way of a pass. Passes are numbered in the order of the clock, from 0, which begins at
/// the start of the play; those before it are the same backwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Progress {
    pass: i64,
    /// Events nearer to where the pass begins than this, in the clip's units, are reached; those of passes before all are.
    reach: u64,
}

/// The events of the part of a clip that a layer plays.
struct Part<'a> {
    layer: &'a LayerRecord,
    start: u64,
    end: u64,
    /// Words: a time of two for each event of the clip.
    times: &'a [u32],
    /// The events of the part, and what to add for their index in the clip.
    first: usize,
    last: usize,
    offset: usize,
}

/// Adds to a list what a layer reaches in a step; what is beyond the capacity is counted.
pub fn of_layer(
    words: &[u32],
    clip: &ClipRecord,
    layer: &LayerRecord,
    step: Step,
    (instance, number): (usize, usize),
    capacity: usize,
    list: &mut EventList,
) {
    let Some(part) = Part::new(words, clip, layer) else { return };
    let Some((from, to)) = weighed(layer, step) else { return };
    let (begin, end) = (progress(layer, from), progress(layer, to));
    if end <= begin {
        // Nothing is passed, or the clock is so far from the play's start that it has run over.
        return;
    }
    // The difference is right even where the numbers themselves have run over.
    let mut left = part.reached(end).wrapping_sub(part.reached(begin));
    if ((end.pass.wrapping_sub(begin.pass) as u64 >> 32) * part.count() as u64) >> 32 != 0 {
        left = 1 << 63;
    }
    let capacity = capacity.min(list.events.len() + EventList::MOST_OF_LAYER);
    let mut rank = part.rank(begin);
    let mut tick = from;
    for pass in begin.pass..=end.pass {
        while left > 0 && rank < part.count() && list.events.len() < capacity {
            let (event, way) = part.event(pass, rank);
            tick = first_tick(layer, tick, to, |progress| {
                progress.pass > pass || (progress.pass == pass && way < progress.reach)
            });
            list.events.push(Occurrence { tick: Ticks(tick), instance, layer: number, event });
            // The next may be at the same tick.
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

/// The part of a step in which a layer has a weight, as what begins after a tick and ends with another.
fn weighed(layer: &LayerRecord, step: Step) -> Option<(i64, i64)> {
    let (mut from, mut to) = (step.from.0, step.to.0);
    if layer.mode & LAYER_FADES_IN != 0 {
        let start = join(layer.fade_in_low, layer.fade_in_high) as i64;
        if from < start {
            // A fade that takes no time is over at its start, others have not begun.
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

/// How far a layer is at a tick. A thousandth of a tick is added, for what the cutting of its passes a tick takes.
fn progress(layer: &LayerRecord, tick: i64) -> Progress {
    let ticks = tick.wrapping_sub(join(layer.start_low, layer.start_high) as i64);
    if ticks < 0 && layer.clock & CLOCK_WAITS != 0 {
        return Progress { pass: 0, reach: 0 };
    }
    let [low, high] = [join(layer.passes_0, layer.passes_1), join(layer.passes_2, layer.passes_3)].map(u128::from);
    let count = u128::from(ticks.unsigned_abs());
    // Passes in units of 2^-64, of which `high` makes 2^32 times as many; at most 2^62 whole ones.
    let most = 1 << 126;
    let (some, many) = ((count * low) >> 32, count * high);
    let played = if many >= most >> 32 { most } else { most.min((many << 32) + some) };
    let near = (high << 64 | low) >> 42;
    let mut played = if ticks < 0 { -(played as i128) } else { played as i128 } + near as i128;
    if layer.clock & CLOCK_ENDLESS == 0 {
        let most = i128::from(layer.repeat_count) << 64 | i128::from(join(layer.repeat_low, layer.repeat_high));
        if played >= most && most as u64 == 0 {
            // The last pass is over, and no other begins.
            return Progress { pass: (most >> 64) as i64, reach: 0 };
        }
        played = played.clamp(-most, most);
    }
    let length = u128::from(join(layer.part_length_low, layer.part_length_high));
    let way = ((u128::from(played as u64) * length) >> 64) as u64;
    Progress { pass: (played >> 64) as i64, reach: way + 1 }
}

/// The first tick after one, up to and with another, at which the play has come to something that it comes to there.
fn first_tick(layer: &LayerRecord, from: i64, to: i64, reached: impl Fn(Progress) -> bool) -> i64 {
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

impl<'a> Part<'a> {
    /// None where nothing can be reached.
    fn new(words: &'a [u32], clip: &ClipRecord, layer: &'a LayerRecord) -> Option<Self> {
        let moves = layer.passes_0 | layer.passes_1 | layer.passes_2 | layer.passes_3 != 0;
        let passes = layer.repeat_count != 0 || layer.repeat_low != 0 || layer.repeat_high != 0;
        if layer.clock & CLOCK_PLAYS == 0 || !moves || !(passes || layer.clock & CLOCK_ENDLESS != 0) {
            return None;
        }
        if clip.events == NONE {
            return None;
        }
        let place = clip.events as usize;
        let (count, offset) = (words[place] as usize, words[place + 1] as usize);
        let start = join(layer.part_start_low, layer.part_start_high);
        let end = start + join(layer.part_length_low, layer.part_length_high);
        let times = &words[place + 2..place + 2 + 2 * count];
        let mut part = Self { layer, start, end, times, first: 0, last: 0, offset };
        (part.first, part.last) = (part.before(start), part.before(end + 1));
        (part.count() > 0).then_some(part)
    }

    fn count(&self) -> usize {
        self.last - self.first
    }

    fn time(&self, index: usize) -> u64 {
        join(self.times[2 * index], self.times[2 * index + 1])
    }

    /// How many of the clip's events are before a time.
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

    /// Whether a pass goes from the part's start to its end.
    fn is_upward(&self, pass: i64) -> bool {
        let clock = self.layer.clock;
        let odd = (pass ^ pass >> 63) & 1 != 0;
        let turned = clock & CLOCK_PING_PONG != 0 && odd;
        ((clock & CLOCK_BACKWARDS != 0) != (clock & CLOCK_REVERSE != 0)) == turned
    }

    /// How many events of a pass are nearer to where it begins than a reach.
    fn within(&self, pass: i64, reach: u64) -> usize {
        match self.is_upward(pass) {
            true => self.before(self.start + reach) - self.first,
            false => self.last - self.before(self.end + 1 - reach),
        }
    }

    /// How many events at its begin a pass leaves out, because the one before it turned there.
    fn skipped(&self, pass: i64) -> usize {
        if self.layer.clock & CLOCK_PING_PONG != 0 && pass != 0 { self.within(pass, 1) } else { 0 }
    }

    /// How many events of its pass a play has reached or left out.
    fn rank(&self, progress: Progress) -> usize {
        self.within(progress.pass, progress.reach).max(self.skipped(progress.pass))
    }

    /// How many events a play has reached since its start; negative, in two's complement, before it.
    fn reached(&self, progress: Progress) -> u64 {
        let pass = progress.pass;
        let mut count = (pass as u64).wrapping_mul(self.count() as u64);
        if self.layer.clock & CLOCK_PING_PONG != 0 {
            // Passes there and back since the start, or until it; the very first leaves out nothing.
            let passes = pass.unsigned_abs();
            let (alike, others) = (passes.div_ceil(2), passes / 2);
            let out = alike
                .wrapping_mul(self.within(0, 1) as u64)
                .wrapping_add(others.wrapping_mul(self.within(1, 1) as u64));
            count = if pass < 0 { count.wrapping_add(out) } else { count.wrapping_sub(out) };
            if pass > 0 {
                count = count.wrapping_add(self.within(0, 1) as u64);
            }
        }
        let of_pass = self.rank(progress) - self.skipped(pass);
        count.wrapping_add(of_pass as u64)
    }

    /// The event of a rank in a pass, its index in the clip, and how far it is from where the pass begins.
    fn event(&self, pass: i64, rank: usize) -> (usize, u64) {
        let upward = self.is_upward(pass);
        let index = if upward { self.first + rank } else { self.last - 1 - rank };
        let time = self.time(index);
        (self.offset + index, if upward { time - self.start } else { self.end - time })
    }
}

fn join(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
