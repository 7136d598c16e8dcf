//! Unrolling of curves that continue beyond their keys: the loops of a timeline are laid out one after the other over
//! the clip.
//!
//! Only key times are laid out. Each names the key that it stands for, so that values are stored once.

use crate::model::{Curve, Extrapolation, Timeline};
use crate::pack::record::{MAP_BACK, MAP_STRAIGHT, Mapping};

/// The continuation of a timeline before its first key and after its last, over a clip. The default continues nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Beyond {
    before: Extrapolation,
    after: Extrapolation,
    /// The bits of the clip's length in seconds, an `f64`.
    length: u64,
}

impl Beyond {
    /// The part of a curve's extrapolation that has an effect in a clip of this length.
    pub fn new(curve: &Curve, rotation: bool, length: Option<f64>) -> Self {
        let timeline = curve.timeline();
        let Some(length) = length.filter(|_| timeline.last() > timeline.first()) else { return Self::default() };
        let lines = !rotation && curve.interpolation().has_lines();
        let effect = |extrapolation, outside: f64| match extrapolation {
            Extrapolation::Linear if !lines => Extrapolation::Clamp,
            _ if outside <= 0.0 => Extrapolation::Clamp,
            extrapolation => extrapolation,
        };
        let [before, after] = curve.extrapolation();
        let (before, after) = (effect(before, timeline.first()), effect(after, length - timeline.last()));
        if [before, after] == [Extrapolation::Clamp; 2] {
            return Self::default();
        }
        Self { before, after, length: length.to_bits() }
    }
}

/// A key time of an unrolled timeline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// The time in seconds.
    pub time: f64,
    /// The key that it stands for, and the interval that follows.
    pub map: Mapping,
}

/// Unrolls a timeline over a clip. `None` if the result would be the timeline itself.
pub fn unroll(timeline: &Timeline, beyond: Beyond) -> Option<Vec<Key>> {
    if beyond == Beyond::default() && !timeline.has_shared_times() {
        return None;
    }
    let layout = UnrolledTimeline { timeline, last: timeline.len() - 1, span: timeline.last() - timeline.first() };
    let mut keys: Vec<Key> = layout.copies_before(beyond.before);
    keys.extend((0..timeline.len()).map(|key| layout.forward(key, 0.0)));
    layout.copies_after(beyond.after, f64::from_bits(beyond.length), &mut keys);
    Some(keys)
}

/// A timeline while it is unrolled.
struct UnrolledTimeline<'a> {
    timeline: &'a Timeline,
    last: usize,
    span: f64,
}

impl UnrolledTimeline<'_> {
    fn time(&self, key: usize) -> f64 {
        self.timeline.times()[key]
    }

    fn hit(&self, key: usize) -> u32 {
        self.timeline.hit(key) as u32
    }

    /// A key, `later` seconds later, with the interval to the next key.
    fn forward(&self, key: usize, later: f64) -> Key {
        let map = Mapping { hit: self.hit(key), source: key as u32, offset: 0.0, scale: 1.0 };
        Key { time: self.time(key) + later, map }
    }

    /// A copy of all keys, `spans` spans later. It ends at the start of the next copy, to the last bit.
    fn copy(&self, spans: f64) -> impl Iterator<Item = Key> {
        let keys = (0..self.last).map(move |key| self.forward(key, spans * self.span));
        let next = self.time(0) + (spans + 1.0) * self.span;
        keys.chain([Key { time: next, ..self.forward(self.last, 0.0) }])
    }

    /// A key at a time, with the interval back to the previous key.
    fn backward(&self, key: usize, time: f64) -> Key {
        let map =
            Mapping { hit: self.hit(key), source: key.saturating_sub(1) as u32 | MAP_BACK, offset: 0.0, scale: 1.0 };
        Key { time, map }
    }

    /// The keys before the first key.
    fn copies_before(&self, extrapolation: Extrapolation) -> Vec<Key> {
        let (first, last) = (self.time(0), self.last);
        let copies = (first / self.span).ceil() as usize;
        let mut keys = Vec::new();
        match extrapolation {
            Extrapolation::Clamp => {}
            Extrapolation::Linear => {
                // The line starts at a time that is never reached, so that no key is hit there.
                let interval = self.time(1) - first;
                let intervals = (first / interval).ceil() + 1.0;
                if interval > 0.0 {
                    let scale = -intervals as f32;
                    let map = Mapping { hit: 0, source: MAP_STRAIGHT | MAP_BACK, offset: 0.0, scale };
                    keys.push(Key { time: first - intervals * interval, map });
                }
            }
            Extrapolation::Loop => {
                for copy in (1..=copies).rev() {
                    keys.extend(self.copy(-(copy as f64)));
                }
            }
            Extrapolation::PingPong => {
                for copy in (1..=copies).rev() {
                    let (copy, odd) = (copy as f64, copy % 2 == 1);
                    let mirror = 2.0 * first - (copy - 1.0) * self.span;
                    if odd {
                        keys.extend((1..=last).rev().map(|key| self.backward(key, mirror - self.time(key))));
                    } else {
                        keys.extend((0..last).map(|key| self.forward(key, -copy * self.span)));
                    }
                }
            }
        }
        keys
    }

    /// Appends the keys after the last key.
    fn copies_after(&self, extrapolation: Extrapolation, length: f64, keys: &mut Vec<Key>) {
        let last = self.last;
        let (end, outside) = (self.time(last), length - self.time(last));
        // One more copy, in case the clip ends at the start of a loop.
        let copies = (outside / self.span).floor() + 1.0;
        // Replaces the interval after the last key so far.
        let set_interval = |keys: &mut Vec<Key>, source: u32, offset: f32, scale: f32| {
            if let Some(key) = keys.last_mut() {
                key.map = Mapping { source, offset, scale, ..key.map };
            }
        };
        match extrapolation {
            Extrapolation::Clamp => {}
            Extrapolation::Linear => {
                let interval = end - self.time(last - 1);
                let intervals = (outside / interval).ceil() + 1.0;
                if interval > 0.0 {
                    set_interval(keys, (last - 1) as u32 | MAP_STRAIGHT, 1.0, intervals as f32);
                    keys.push(Key { time: end + intervals * interval, ..self.forward(last, 0.0) });
                }
            }
            Extrapolation::Loop => {
                let seam = keys.len();
                // Until the loop starts, the last key gives the value.
                set_interval(keys, (last - 1) as u32, 1.0, 0.0);
                for copy in 1..=copies as usize {
                    keys.extend(self.copy(copy as f64));
                }
                // The time of the last key gives the last key. The loop starts by a relative 2^-44 later.
                let start = end + end.abs().max(self.span) * 2.0_f64.powi(-44);
                keys[seam..].iter_mut().take_while(|key| key.time < start).for_each(|key| key.time = start);
            }
            Extrapolation::PingPong => {
                for copy in 1..=copies as usize {
                    if copy % 2 == 1 {
                        set_interval(keys, (last - 1) as u32 | MAP_BACK, 0.0, 1.0);
                        let mirror = 2.0 * end + (copy as f64 - 1.0) * self.span;
                        keys.extend((0..last).rev().map(|key| self.backward(key, mirror - self.time(key))));
                    } else {
                        set_interval(keys, 0, 0.0, 1.0);
                        keys.extend((1..=last).map(|key| self.forward(key, copy as f64 * self.span)));
                    }
                }
            }
        }
    }
}

/// The reference computes the same continuations without unrolled keys.
#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::Interpolation;
    use crate::pack::record::MAP_KEY;
    use crate::reference::search;
    use crate::reference::search::KeySpan;

    /// Searches a time among unrolled keys, as the kernels do.
    fn find_unrolled(keys: &[Key], window: f64, time: f64) -> KeySpan {
        let timeline = Timeline::snapping(keys.iter().map(|key| key.time).collect(), 0.0).unwrap();
        let hit = |key: usize| KeySpan { key: keys[key].map.hit as usize, hit: true, ..KeySpan::between(0, 0.0) };
        let times = timeline.times();
        let low = times.partition_point(|&key_time| key_time <= time).max(1) - 1;
        let straight = keys[low].map.source & MAP_STRAIGHT != 0;
        let window = if straight { 0.0 } else { window };
        if time - times[low] <= window || low + 1 == times.len() {
            return hit(low);
        }
        if times[low + 1] - time <= window {
            return hit(low + 1);
        }
        let Mapping { source, offset, scale, .. } = keys[low].map;
        let elapsed = if source & MAP_BACK != 0 { times[low + 1] - time } else { time - times[low] };
        let fraction = f64::from(offset) + f64::from(scale) * elapsed / (times[low + 1] - times[low]);
        KeySpan { straight, ..KeySpan::between((source & MAP_KEY) as usize, fraction) }
    }

    #[test]
    fn unrolled_keys_extrapolate_like_the_reference() {
        let all = [Extrapolation::Clamp, Extrapolation::Linear, Extrapolation::Loop, Extrapolation::PingPong];
        let length = 9.0;
        for (times, window) in [(vec![2.0, 2.25, 3.0], 1e-6), (vec![4.5, 5.0], 0.0), (vec![0.0, 3.0, 3.5, 8.5], 1e-6)] {
            let timeline = Arc::new(Timeline::snapping(times.clone(), window).unwrap());
            for (before, after) in all.into_iter().flat_map(|before| all.map(|after| (before, after))) {
                let values = vec![0.0; times.len()];
                let curve = Curve::new(timeline.clone(), Interpolation::Linear, 1, values).unwrap();
                let curve = curve.with_extrapolation(before, after);
                let beyond = Beyond::new(&curve, false, Some(length));
                let Some(keys) = unroll(&timeline, beyond) else {
                    assert_eq!(beyond, Beyond::default());
                    continue;
                };
                assert!(keys.is_sorted_by(|a, b| a.time <= b.time), "{before:?} {after:?} {keys:?}");
                let near = (0..=9).flat_map(|key| [-7e-7, 7e-7].map(|off| f64::from(key) + off));
                for time in (0..=720).map(|step| f64::from(step) / 80.0).chain(near.filter(|time| *time > 0.0)) {
                    let (found, wanted) = (find_unrolled(&keys, window, time), search::span(&curve, time, false));
                    let near = (found.fraction - wanted.fraction).abs() < 1e-9 * wanted.fraction.abs().max(1.0);
                    let same = (found.key, found.hit, found.straight) == (wanted.key, wanted.hit, wanted.straight);
                    assert!(near && same, "{before:?} {after:?} at {time}: {found:?}, not {wanted:?}");
                }
            }
        }
    }

    #[test]
    fn shared_times_hit_the_keys_of_the_reference() {
        let timeline = Timeline::snapping(vec![0.0, 1.5, 1.5, 4.0], 0.0).unwrap();
        let keys = unroll(&timeline, Beyond::default()).unwrap();
        for step in 0..=40 {
            let time = f64::from(step) / 8.0;
            assert_eq!(find_unrolled(&keys, 0.0, time), search::find(&timeline, time), "at {time}");
        }
    }
}
