//! Finds the key intervals of a group of instances at once, with the numbers of
//! [`stages::search`](crate::cpu::stages::search).
//!
//! Where keys are evenly spaced, a multiplication guesses the key of each instance. The guess is off by at most one, so
//! that four neighbouring keys are compared in all lanes, without branches. Other timelines, and groups of few
//! instances, are searched one by one. The weights of rotations follow for all instances at once ([`GroupWeights`]).
//!
//! [`GroupSpans`] has the results of instances of one layer each, and [`GroupLayers`] the results of instances whose
//! layers are mixed: all lowest layers are searched together, then all second ones, and so on.

use std::ops::Range;

use crate::cpu::block::slerp::GroupWeights;
use crate::cpu::keys::plan::ClipRuns;
use crate::cpu::keys::source::PackedSource;
use crate::cpu::simd::{LARGEST_BLOCK, Lanes, Token};
use crate::cpu::stages::blend;
use crate::cpu::stages::phase::{self, Time};
use crate::cpu::stages::search::{self, KeySpan};
use crate::pack::Arrays;
use crate::pack::record::{ClipRecord, LayerRecord, NONE, TIMES_EVEN, TimelineRecord};

/// A number of each instance.
type PerInstance = [f32; LARGEST_BLOCK];

/// Neighbouring keys that are looked at: a guess is off by at most one, and the key after the one that is found is
/// among them.
const KEYS: usize = 4;

/// The least number of instances for which a common search is faster.
const MIN_TOGETHER: usize = 4;

/// The most keys whose indices an `f32` holds exactly.
const MAX_KEYS: u32 = 1 << 24;

/// The spans of a group of instances of one layer each, and the weights of their rotations.
#[derive(Debug, Default)]
pub struct GroupSpans {
    /// The spans of all timelines of an instance lie side by side.
    pub spans: Vec<KeySpan>,
    /// The index of the first span of each instance.
    pub firsts: [usize; LARGEST_BLOCK],
    /// The weights of rotations at the timelines [`ClipRuns::turning`] of the clip of each instance.
    pub slerp_weights: Vec<GroupWeights>,
}

impl GroupSpans {
    /// Sets the fractions of rotations of some instances, which play the clip of a plan and whose keys were found.
    /// [`weigh`](Self::weigh) must follow.
    #[inline(always)]
    pub fn set_fractions(&mut self, plan: &ClipRuns, instances: Range<usize>) {
        if self.slerp_weights.len() < plan.turning.len() {
            self.slerp_weights.resize_with(plan.turning.len(), GroupWeights::default);
        }
        for (&timeline, weights) in plan.turning.iter().zip(&mut self.slerp_weights) {
            for instance in instances.clone() {
                weights.set_fraction(instance, self.spans[self.firsts[instance] + timeline as usize].fraction);
            }
        }
    }

    /// Computes the weights of rotations at the first `count` timelines of the plans of all instances.
    #[inline(always)]
    pub fn weigh<L: Lanes>(&mut self, token: Token<L>, count: usize) {
        for weights in &mut self.slerp_weights[..count] {
            weights.weigh(token);
        }
    }

    /// Finds the keys of all timelines of the clips that instances with these layers play at a tick.
    #[inline(always)]
    pub fn find<L: Lanes>(&mut self, source: PackedSource, layers: &[LayerRecord], now: i64) {
        let arrays = &source.library.arrays;
        let mut firsts = self.firsts.iter_mut();
        let mut count = 0;
        for same in layers.chunk_by(have_one_clip) {
            let clip: ClipRecord = arrays.record(same[0].clip);
            let timelines = search::timelines(arrays, &clip);
            let mut times = InstanceTimes { high: [0.0; LARGEST_BLOCK], low: [0.0; LARGEST_BLOCK] };
            for (instance, layer) in same.iter().enumerate() {
                times.set(instance, phase::of_layer(layer, &clip, now));
            }
            let first = count;
            for to in firsts.by_ref().take(same.len()) {
                *to = count;
                count += timelines.len();
            }
            if self.spans.len() < count {
                self.spans.resize(count, KeySpan::default());
            }
            for (index, timeline) in timelines.iter().enumerate() {
                let to = self.spans[first + index..].iter_mut().step_by(timelines.len()).take(same.len());
                find_in_timeline::<L>(arrays, timeline, &times, same.len() >= MIN_TOGETHER, to);
            }
        }
    }
}

/// Returns `true` if two layers play the same clip: its record, plan and sampler serve both.
pub fn have_one_clip(a: &LayerRecord, b: &LayerRecord) -> bool {
    a.clip == b.clip
}

/// The clip times of the instances.
struct InstanceTimes {
    high: PerInstance,
    low: PerInstance,
}

impl InstanceTimes {
    #[inline(always)]
    fn set(&mut self, instance: usize, time: Time) {
        // The remainder changes nothing: it spares a check of bounds.
        let instance = instance % LARGEST_BLOCK;
        (self.high[instance], self.low[instance]) = (time.high, time.low);
    }

    #[inline(always)]
    fn get(&self, instance: usize) -> Time {
        Time { high: self.high[instance], low: self.low[instance] }
    }
}

/// Finds the keys around the times of instances in a timeline: if `together` is set, for all at once, where the
/// timeline allows it.
#[inline(always)]
fn find_in_timeline<'a, L: Lanes>(
    arrays: &Arrays,
    timeline: &TimelineRecord,
    times: &InstanceTimes,
    together: bool,
    to: impl Iterator<Item = &'a mut KeySpan>,
) {
    let is_even = timeline.table == NONE || timeline.table == TIMES_EVEN;
    let is_plain = timeline.map == NONE && timeline.easing == NONE;
    if together && is_even && is_plain && (KEYS as u32..MAX_KEYS).contains(&timeline.key_count) {
        let around = Around::find::<L>(&arrays.words, timeline, times);
        for (instance, to) in to.enumerate() {
            *to = around.span(timeline, instance % LARGEST_BLOCK);
        }
    } else {
        for (instance, to) in to.enumerate() {
            let time = times.get(instance % LARGEST_BLOCK);
            *to = search::timeline(&arrays.words, &arrays.values, timeline, time);
        }
    }
}

/// The keys before and after the time of each instance, in a timeline of evenly spaced keys.
struct Around {
    /// Seconds from the first key to the time.
    passed: PerInstance,
    /// The index of the last key before the time.
    key: PerInstance,
    /// Seconds from that key to the time, and from the time to the next key.
    since: PerInstance,
    left: PerInstance,
    /// Seconds from key to key.
    interval: PerInstance,
    fraction: PerInstance,
}

impl Around {
    // Plain loops over arrays: the compiler turns each into a few instructions on registers.
    #[inline(always)]
    fn find<L: Lanes>(words: &[u32], timeline: &TimelineRecord, times: &InstanceTimes) -> Self {
        let zero = [0.0; LARGEST_BLOCK];
        let mut found = Self { passed: zero, key: zero, since: zero, left: zero, interval: zero, fraction: zero };
        let (cells, count) = (timeline.cell_count as f32, timeline.key_count as f32);
        let first = search::key_time(words, timeline, 0);
        let (mut base, mut before, mut end) = (zero, zero, zero);
        for lane in 0..L::BLOCK {
            let passed = (times.high[lane] - first.high) + (times.low[lane] - first.low);
            let cell = (passed * timeline.cells_per_second).max(0.0).min(cells) as i32 as f32;
            found.passed[lane] = passed;
            before[lane] = cell.max(1.0) - 1.0;
            base[lane] = before[lane].min(count - KEYS as f32);
            end[lane] = (cell + 2.0).min(count);
        }
        let (high, low) = key_times::<L>(words, timeline, &base);
        for lane in 0..L::BLOCK {
            let since = |key: usize| (times.high[lane] - high[key][lane]) + (times.low[lane] - low[key][lane]);
            let (mut key, mut goes_on) = (0.0, true);
            let (mut key_high, mut key_low) = (high[0][lane], low[0][lane]);
            let (mut next_high, mut next_low) = (high[1][lane], low[1][lane]);
            for index in 1..KEYS {
                let candidate = base[lane] + index as f32;
                goes_on &= (candidate <= before[lane] || since(index) >= 0.0) && candidate < end[lane];
                let next = (index + 1).min(KEYS - 1);
                key = if goes_on { index as f32 } else { key };
                key_high = if goes_on { high[index][lane] } else { key_high };
                key_low = if goes_on { low[index][lane] } else { key_low };
                next_high = if goes_on { high[next][lane] } else { next_high };
                next_low = if goes_on { low[next][lane] } else { next_low };
            }
            let since = (times.high[lane] - key_high) + (times.low[lane] - key_low);
            let interval = (next_high - key_high) + (next_low - key_low);
            found.key[lane] = base[lane] + key;
            found.since[lane] = since;
            found.left[lane] = (next_high - times.high[lane]) + (next_low - times.low[lane]);
            found.interval[lane] = interval;
            found.fraction[lane] = (since / interval).clamp(0.0, 1.0);
        }
        found
    }

    /// The span of an instance.
    #[inline(always)]
    fn span(&self, timeline: &TimelineRecord, instance: usize) -> KeySpan {
        let window = timeline.window;
        let key = self.key[instance] as i32 as u32;
        if self.passed[instance] < -window {
            return KeySpan::on(0, timeline);
        }
        if self.since[instance] <= window || key + 1 >= timeline.key_count {
            return KeySpan::on(key, timeline);
        }
        if self.left[instance] <= window {
            return KeySpan::on(key + 1, timeline);
        }
        KeySpan {
            row: timeline.keys + key * timeline.row,
            next: timeline.row,
            fraction: self.fraction[instance],
            interval: self.interval[instance],
        }
    }
}

/// The times of a few keys of each instance, from the key `base` on.
#[inline(always)]
fn key_times<L: Lanes>(
    words: &[u32],
    timeline: &TimelineRecord,
    base: &PerInstance,
) -> ([PerInstance; KEYS], [PerInstance; KEYS]) {
    let mut high = [[0.0; LARGEST_BLOCK]; KEYS];
    let mut low = [[0.0; LARGEST_BLOCK]; KEYS];
    if timeline.table == TIMES_EVEN {
        let first = search::key_time(words, timeline, 0);
        let [step_high, step_low] = [2, 3].map(|number| f32::from_bits(words[timeline.times as usize + number]));
        for key in 0..KEYS {
            for lane in 0..L::BLOCK {
                let index = base[lane] + key as f32;
                high[key][lane] = first.high + index * step_high;
                low[key][lane] = first.low + index * step_low;
            }
        }
    } else {
        let stored = &words[timeline.times as usize..][..2 * timeline.key_count as usize];
        for lane in 0..L::BLOCK {
            let keys = stored[2 * base[lane] as i32 as usize..].first_chunk::<{ 2 * KEYS }>();
            for (key, time) in keys.unwrap_or(&[0; 2 * KEYS]).as_chunks::<2>().0.iter().enumerate() {
                [high[key][lane], low[key][lane]] = time.map(f32::from_bits);
            }
        }
    }
    (high, low)
}

/// The weights and spans of the layers of a group of instances at a tick.
#[derive(Debug, Default)]
pub struct GroupLayers {
    /// The number of layers per instance.
    count: usize,
    /// The weight of each layer, instance after instance.
    weights: Vec<f32>,
    /// For each layer with a weight above 0 its index in the group that its spans were found with, instance after
    /// instance.
    lanes: Vec<usize>,
    /// The spans of the lowest layers of all instances, then of the second ones, and so on.
    found: Vec<GroupSpans>,
    /// Layers whose spans are found together.
    together: Vec<LayerRecord>,
}

/// The layers of an instance of a group.
#[derive(Clone, Copy)]
pub struct InstanceLayers<'a> {
    weights: &'a [f32],
    lanes: &'a [usize],
    found: &'a [GroupSpans],
}

impl GroupLayers {
    /// Finds the weights of all layers, and the spans of those with a weight above 0. Each instance has `count` layers.
    #[inline(always)]
    pub fn find<L: Lanes>(
        &mut self,
        token: Token<L>,
        source: PackedSource,
        layers: &[LayerRecord],
        count: usize,
        now: i64,
    ) {
        self.count = count;
        self.weights.clear();
        self.weights.extend(layers.iter().map(|layer| blend::weight(layer, now)));
        self.lanes.resize(layers.len(), 0);
        if self.found.len() < count {
            self.found.resize_with(count, GroupSpans::default);
        }
        for (index, found) in self.found.iter_mut().take(count).enumerate() {
            self.together.clear();
            for place in (index..layers.len()).step_by(count) {
                if self.weights[place] > 0.0 {
                    self.lanes[place] = self.together.len();
                    self.together.push(layers[place]);
                }
            }
            found.find::<L>(source, &self.together, now);
            let (mut first, mut turning) = (0, 0);
            for same in self.together.chunk_by(have_one_clip) {
                let plan = source.plan(same[0].clip);
                found.set_fractions(plan, first..first + same.len());
                first += same.len();
                turning = turning.max(plan.turning.len());
            }
            found.weigh(token, turning);
        }
    }

    /// The layers of an instance.
    #[inline(always)]
    pub fn instance(&self, instance: usize) -> InstanceLayers<'_> {
        let own = instance * self.count..(instance + 1) * self.count;
        InstanceLayers { weights: &self.weights[own.clone()], lanes: &self.lanes[own], found: &self.found }
    }
}

impl<'a> InstanceLayers<'a> {
    /// The indices of the layers with a weight above 0.
    #[inline(always)]
    pub fn active(self) -> impl Iterator<Item = usize> + Clone + use<'a> {
        (0..self.weights.len()).filter(move |&index| self.weights[index] > 0.0)
    }

    /// The weight of a layer.
    #[inline(always)]
    pub fn weight(self, index: usize) -> f32 {
        self.weights[index]
    }

    /// The spans of a layer with a weight above 0.
    #[inline(always)]
    pub fn spans(self, index: usize) -> &'a [KeySpan] {
        let found = &self.found[index];
        &found.spans[found.firsts[self.lanes[index]]..]
    }

    /// The weights of rotations of a layer with a weight above 0: the weights of a group, and the index of the instance
    /// in it.
    #[inline(always)]
    pub fn slerp_weights(self, index: usize) -> (&'a [GroupWeights], usize) {
        (&self.found[index].slerp_weights, self.lanes[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::simd::{InstructionSet, Kernel};
    use crate::model::Timeline;
    use crate::pack::record::split;
    use crate::pack::{Beyond, PackedTimeline};

    struct Find<'a> {
        arrays: &'a Arrays,
        timeline: &'a TimelineRecord,
        times: &'a [Time],
    }

    impl Kernel for Find<'_> {
        type Output = Vec<KeySpan>;

        fn run<L: Lanes>(self, _: Token<L>) -> Vec<KeySpan> {
            let mut spans = vec![KeySpan::default(); self.times.len()];
            for (times, to) in self.times.chunks(L::BLOCK).zip(spans.chunks_mut(L::BLOCK)) {
                let mut group = InstanceTimes { high: [0.0; LARGEST_BLOCK], low: [0.0; LARGEST_BLOCK] };
                times.iter().enumerate().for_each(|(instance, &time)| group.set(instance, time));
                find_in_timeline::<L>(self.arrays, self.timeline, &group, true, to.iter_mut());
            }
            spans
        }
    }

    fn bits(span: &KeySpan) -> [u32; 4] {
        [span.row, span.next, span.fraction.to_bits(), span.interval.to_bits()]
    }

    /// Times on keys, between them, within their windows, and beyond the first and the last.
    fn times(keys: &[f64], window: f64) -> Vec<Time> {
        let length = keys[keys.len() - 1] - keys[0];
        let count = if cfg!(miri) { 40 } else { 4000 };
        let between =
            (-count / 20..count + count / 20).map(|part| keys[0] + length * f64::from(part) / f64::from(count));
        let beside = keys.iter().flat_map(|key| [-1.1, -0.9, 0.0, 0.9, 1.1].map(|windows| key + windows * window));
        let far = [-1e9, -1e3, 1e3, 1e9];
        let time = |seconds: f64| {
            let (high, low) = split(seconds);
            Time { high, low }
        };
        between.chain(beside).chain(far).map(time).collect()
    }

    #[test]
    fn spans_of_a_group_are_those_of_each_instance_bit_by_bit() {
        let even =
            |first: f64, step: f64, keys: u32| (0..keys).map(|key| first + f64::from(key) * step).collect::<Vec<_>>();
        let uneven: Vec<f64> = [0.0, 0.4, 0.41, 1.7, 1.8, 5.0].to_vec();
        let all = [
            even(0.0, 1.0 / 30.0, 60),
            even(-3.0, 0.1, if cfg!(miri) { 40 } else { 4000 }),
            even(2.0, 0.5, 4),
            // Key times that two `f32` do not tell apart.
            even(1e9, 1e-6, 9),
            even(0.0, 0.5, 3),
            even(0.0, 1.0, 2),
            uneven,
        ];
        for keys in all {
            let timeline = Timeline::new(keys.clone()).unwrap();
            let mut arrays = Arrays::default();
            let mut records = vec![PackedTimeline::new(&mut arrays, &timeline, Beyond::default())];
            if timeline.step().is_some() {
                records.push(PackedTimeline::even(&mut arrays, &timeline));
            }
            for record in records {
                let record = TimelineRecord { keys: 100, ..record.record(3, NONE) };
                let times = times(&keys, f64::from(record.window));
                let alone = times.iter().map(|&time| search::timeline(&arrays.words, &arrays.values, &record, time));
                let alone: Vec<_> = alone.map(|span| bits(&span)).collect();
                let find = || Find { arrays: &arrays, timeline: &record, times: &times };
                for instructions in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
                    for found in [instructions.run(find()), instructions.run_exact(find())] {
                        let found: Vec<_> = found.iter().map(bits).collect();
                        let differs = (0..times.len()).find(|&at| found[at] != alone[at]);
                        assert!(
                            differs.is_none(),
                            "{}: {:?}",
                            instructions.name(),
                            differs.map(|at| (times[at], found[at], alone[at]))
                        );
                    }
                }
            }
        }
    }
}
