//! Tests that the unrolled key times of a packed timeline give what the reference computes beyond the keys.
//!
//! They stand here because neither `src/pack/` nor `src/reference/` imports the other.

use std::sync::Arc;

use crate::model::{Curve, Extrapolation, Interpolation, Timeline};
use crate::pack::record::{MAP_BACK, MAP_KEY, MAP_STRAIGHT, Mapping};
use crate::pack::{Beyond, Key, unroll};
use crate::reference::search::Span;
use crate::reference::{extrapolate, search};

/// Searches a time among unrolled keys, as the kernels do.
fn find_unrolled(keys: &[Key], window: f64, time: f64) -> Span {
    let timeline = Timeline::snapping(keys.iter().map(|key| key.time).collect(), 0.0).unwrap();
    let hit = |key: usize| Span { key: keys[key].map.hit as usize, hit: true, ..Span::between(0, 0.0) };
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
    Span { straight, ..Span::between((source & MAP_KEY) as usize, fraction) }
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
                let (found, wanted) = (find_unrolled(&keys, window, time), extrapolate::span(&curve, time, false));
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
