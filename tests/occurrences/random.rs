//! Random crowds: engines compared with each other, steps compared with one long step, and with the events of Cocos
//! Creator.

use posse::events::{Event, EventList, Occurrence};
use posse::transitions::{Fade, FadeShape};
use posse::{
    Clip, ClipId, Crowd, Evaluator, Layer, LayerTime, Library, Playback, Reference, Skeleton, Step, Ticks, WrapMode,
};

use super::{DAY, SECOND, assert_same, event_clips, playing};
use crate::support::each_engine::each_engine;
use crate::support::scenes::Numbers;

/// A random library and crowd of two skeletons. Its clips have events of all kinds, and play in all modes around a
/// tick.
fn random(seed: u64, now: i64) -> (Library, Crowd) {
    let mut numbers = Numbers::new(seed);
    let mut library = Library::new();
    let skeletons = [0; 2].map(|_| library.add_skeleton(Skeleton::new(None, Vec::new(), Vec::new()).unwrap()));
    let mut clips: [Vec<ClipId>; 2] = [Vec::new(), Vec::new()];
    for number in 0..12 {
        let length = [1.0, 0.1, numbers.within(0.1, 3.0), numbers.within(0.2, 30.0)][numbers.below(4)];
        let mut times: Vec<f64> = (0..numbers.below(9)).map(|_| numbers.within(-0.1 * length, 1.1 * length)).collect();
        times.extend([0.0, length, 0.5 * length, 0.5 * length].into_iter().take(numbers.below(5)));
        times.sort_by(f64::total_cmp);
        let events = times.into_iter().map(|time| Event { time, ..Event::default() }).collect();
        let wrap = WrapMode::ALL[numbers.below(WrapMode::ALL.len())];
        let clip = Clip { length: Some(length), events, wrap, ..Clip::new(None, skeletons[number % 2], Vec::new()) };
        clips[number % 2].push(library.add_clip(clip).unwrap());
    }
    let mut crowd = Crowd::new();
    for _ in 0..200 {
        let side = numbers.below(2);
        let layers: Vec<Layer> = (0..numbers.below(5))
            .map(|_| {
                let clip = clips[side][numbers.below(clips[side].len())];
                let wrap = WrapMode::ALL[numbers.below(WrapMode::ALL.len())];
                let rate = [1.0, -1.0, numbers.within(-3.0, 3.0), 0.0][numbers.below(4)];
                let start = match numbers.below(3) {
                    0 => 0,
                    1 => now + numbers.ticks_below(6 * SECOND) - 3 * SECOND,
                    _ => now - numbers.ticks_below(60 * DAY),
                };
                let repeats = [0.0, 1.0, 2.0, numbers.within(0.0, 9.0), 1e6][numbers.below(5)];
                let end = numbers.within(0.0, 4.0);
                let playback = Playback {
                    repeat_count: (numbers.below(3) == 0).then_some(repeats),
                    range: (numbers.below(4) == 0).then_some([numbers.within(0.0, end), end]),
                    ..Playback::new(wrap, Ticks(start), rate)
                };
                let mut fade = || {
                    let start = Ticks(now + numbers.ticks_below(4 * SECOND) - SECOND);
                    let length = Ticks(numbers.ticks_below(2 * SECOND));
                    (numbers.below(4) == 0).then_some(Fade { start, length, shape: FadeShape::Smooth })
                };
                let (fade_in, fade_out) = (fade(), fade());
                let weight = if numbers.below(8) == 0 { 0.0 } else { 0.5 };
                let time = match numbers.below(9) {
                    0 => LayerTime::At(0.5),
                    _ => LayerTime::Playing(playback),
                };
                Layer { weight, fade_in, fade_out, ..Layer::new(clip, time) }
            })
            .collect();
        crowd.push(skeletons[side], &layers).unwrap();
    }
    (library, crowd)
}

#[test]
fn random_crowds_reach_the_same_events_on_every_engine() {
    let mut total = 0;
    for seed in 0..6 {
        let now = [0, DAY, 30 * DAY][seed as usize % 3] + 12_345;
        let (library, crowd) = random(seed, now);
        for length in [17_476, SECOND / 2] {
            let step = Step { from: Ticks(now), to: Ticks(now + length) };
            let mut answers: Vec<(&str, EventList)> = Vec::new();
            each_engine(&library, |engine| {
                answers.push((engine.engine(), engine.evaluate_events(&crowd, step, 1 << 16).unwrap()));
            });
            let (reference, fast) = answers.split_first().unwrap();
            for (engine, answer) in fast {
                assert_same(answer, &fast[0].1, &format!("{engine}, seed {seed}"));
            }
            assert_eq!((reference.1.missed, fast[0].1.missed), (0, 0));
            // The ticks are within one of each other. At the ends of the step, one list can have an event that the
            // other lacks.
            let near = |tick: Ticks, end: Ticks| (tick.0 - end.0).abs() <= 1;
            let sort_inner = |list: &EventList| {
                let inner =
                    list.events.iter().filter(|found| !near(found.tick, step.to) && !near(found.tick, step.from));
                let mut ordered: Vec<Occurrence> = inner.copied().collect();
                ordered.sort_by_key(|found| (found.instance, found.layer, found.event, found.tick));
                ordered
            };
            let (expected, found) = (sort_inner(&reference.1), sort_inner(&fast[0].1));
            assert_eq!(expected.len(), found.len(), "seed {seed}");
            for (expected, found) in expected.iter().zip(&found) {
                let key = |found: &Occurrence| (found.instance, found.layer, found.event);
                assert_eq!(key(expected), key(found), "seed {seed}");
                assert!(near(expected.tick, found.tick), "{expected:?}, {found:?}, seed {seed}");
            }
            total += found.len();
        }
    }
    assert!(total > 1000, "only {total} events");
}

#[test]
fn consecutive_steps_reach_the_events_of_one_long_step() {
    let now = 3 * DAY;
    let (library, crowd) = random(77, now);
    let mut numbers = Numbers::new(7);
    let mut ends = vec![now];
    while ends[ends.len() - 1] < now + SECOND / 2 {
        // Frames, single ticks, and long steps.
        let next = [1, 1, 17_476, numbers.ticks_below(100_000) + 1][numbers.below(4)];
        ends.push((ends[ends.len() - 1] + next).min(now + SECOND / 2));
    }
    each_engine(&library, |engine| {
        let mut list_events = |from: i64, to: i64| {
            let list = engine.evaluate_events(&crowd, Step { from: Ticks(from), to: Ticks(to) }, 1 << 16).unwrap();
            assert_eq!(list.missed, 0);
            list.events
        };
        let whole = list_events(now, now + SECOND / 2);
        let parts: Vec<Occurrence> = ends.windows(2).flat_map(|ends| list_events(ends[0], ends[1])).collect();
        assert!(whole.len() > 200, "only {} events", whole.len());
        assert_eq!(parts, whole);
    });
}

#[test]
fn steps_shorter_than_a_pass_reach_the_events_of_cocos_creator() {
    // No event is at an end, where Cocos Creator behaves differently. Steps are shorter than a pass and end at no
    // event. In a step across a turn, Cocos Creator leaves out an event that is next to both ends of the step.
    let (library, skeleton, ids) = event_clips(&[(2.0, &[0.25, 0.7, 0.7, 1.3])]);
    let clip = library.clip(ids[0]);
    let mut numbers = Numbers::new(5);
    let mut total = 0;
    for wrap in WrapMode::ALL {
        for rate in [1.0, -1.0, 0.75] {
            let playback = playing(wrap, rate);
            let mut crowd = Crowd::new();
            crowd.push(skeleton, &[Layer::new(ids[0], LayerTime::Playing(playback))]).unwrap();
            // At its very first tick, a backwards playback is at the other end of the clip, so the steps begin one tick
            // later.
            let mut from = Ticks(1);
            for _ in 0..80 {
                let to = Ticks(from.0 + 1 + numbers.ticks_below(SECOND / 2));
                let pass = |tick: Ticks| (tick.to_seconds() * rate.abs() / 2.0).floor();
                if wrap.is_ping_pong() && pass(from) != pass(to) {
                    from = to;
                    continue;
                }
                let mut expected = posse::low_level::reference::fired(clip, &playback, Some(from), to);
                expected.sort_unstable();
                let list = Reference::new(&library).evaluate_events(&crowd, Step { from, to }, 100).unwrap();
                let mut found: Vec<usize> = list.events.iter().map(|found| found.event).collect();
                found.sort_unstable();
                assert_eq!(found, expected, "{wrap:?} at rate {rate}, from {from:?} to {to:?}");
                total += found.len();
                from = to;
            }
        }
    }
    assert!(total > 300, "only {total} events");
}
