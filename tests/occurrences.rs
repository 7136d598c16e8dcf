//! Events that layers reach between two ticks, on every engine.

use posse::{
    Clip, ClipId, Crowd, Event, EventList, Fade, FadeShape, Layer, LayerTime, Library, Occurrence, Playback, Skeleton,
    SkeletonId, Step, Ticks, WrapMode,
};

use crate::support::each_engine::each_engine;
use crate::support::scenes::Numbers;

const SECOND: i64 = Ticks::PER_SECOND;
const DAY: i64 = 86_400 * SECOND;
const ENDLESS: [WrapMode; 4] = [WrapMode::Loop, WrapMode::LoopReverse, WrapMode::PingPong, WrapMode::PingPongReverse];

/// A library of clips that do nothing but call: each a length and the times of its events.
fn calls(clips: &[(f64, &[f64])]) -> (Library, SkeletonId, Vec<ClipId>) {
    let mut library = Library::new();
    let skeleton = library.add_skeleton(Skeleton::new(None, Vec::new(), Vec::new()).unwrap());
    let clip = |&(length, times): &(f64, &[f64])| {
        let events = times.iter().map(|&time| Event { time, ..Event::default() }).collect();
        let clip = Clip { length: Some(length), events, ..Clip::new(None, skeleton, Vec::new()) };
        library.add_clip(clip).unwrap()
    };
    let ids = clips.iter().map(clip).collect();
    (library, skeleton, ids)
}

/// Seconds to the nearest tick.
fn ticks(seconds: f64) -> Ticks {
    Ticks::from_seconds(seconds)
}

fn step(from: f64, to: f64) -> Step {
    Step { from: ticks(from), to: ticks(to) }
}

/// Asserts what every engine gives for one layer: ticks and events.
#[track_caller]
fn assert_layer(clip: (f64, &[f64]), layer: impl Fn(ClipId) -> Layer, step: Step, expected: &[(i64, usize)]) {
    let (library, skeleton, ids) = calls(&[clip]);
    let layer = layer(ids[0]);
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[layer]).unwrap();
    each_engine(&library, |engine| {
        let found = engine.evaluate_events(&crowd, step, 1000).unwrap();
        let events: Vec<_> = found.events.iter().map(|found| (found.tick.0, found.event)).collect();
        assert_eq!((events.as_slice(), found.missed), (expected, 0), "{}: {layer:?}, {step:?}", engine.engine());
    });
}

/// As above for a play with its start at 0, where the ticks are whole numbers of milliseconds, rounded up.
#[track_caller]
fn assert_play(clip: (f64, &[f64]), playback: Playback, (from, to): (f64, f64), expected: &[(f64, usize)]) {
    let expected = expected.iter().map(|&(seconds, event)| ((seconds * SECOND as f64).ceil() as i64, event));
    let expected: Vec<_> = expected.collect();
    assert_layer(clip, |clip| Layer::new(clip, LayerTime::Playing(playback)), step(from, to), &expected);
}

fn playing(wrap: WrapMode, rate: f64) -> Playback {
    Playback::new(wrap, Ticks(0), rate)
}

/// Two seconds, with events 0 at 0 s, 1 and 2 at 0.5 s, 3 at 1.5 s, 4 at 2 s.
const STEPS: (f64, &[f64]) = (2.0, &[0.0, 0.5, 0.5, 1.5, 2.0]);

#[test]
fn a_play_that_does_not_repeat_reaches_each_event_once() {
    let once = [(0.0, 0), (0.5, 1), (0.5, 2), (1.5, 3), (2.0, 4)];
    let play = |wrap: WrapMode, rate: f64, range: (f64, f64), expected: &[(f64, usize)]| {
        assert_play(STEPS, playing(wrap, rate), range, expected);
    };
    for wrap in [WrapMode::Default, WrapMode::Normal] {
        play(wrap, 1.0, (-1.0, 9.0), &once);
        play(wrap, 1.0, (-1.0, 0.0), &once[..1]);
        play(wrap, 1.0, (0.0, 0.5), &once[1..3]);
        play(wrap, 1.0, (0.5, 1.5), &once[3..4]);
        play(wrap, 1.0, (1.5, 2.0), &once[4..]);
        play(wrap, 1.0, (2.0, 99.0), &[]);
        play(wrap, 1.0, (-9.0, -1.0), &[]);
        play(wrap, 2.0, (0.0, 9.0), &[(0.25, 1), (0.25, 2), (0.75, 3), (1.0, 4)]);
    }
    let back = [(0.0, 4), (0.5, 3), (1.5, 1), (1.5, 2), (2.0, 0)];
    play(WrapMode::Reverse, 1.0, (-1.0, 9.0), &back);
    play(WrapMode::Reverse, -1.0, (-1.0, 9.0), &once);
    play(WrapMode::Reverse, 0.5, (0.0, 3.0), &[(1.0, 3), (3.0, 1), (3.0, 2)]);
    // At a negative rate the very first pose is the clip's start, but the play comes from its end.
    play(WrapMode::Normal, -1.0, (-1.0, 9.0), &back);
}

#[test]
fn a_loop_reaches_its_end_and_its_start_where_passes_meet() {
    let forwards = [(0.5, 1), (0.5, 2), (1.5, 3), (2.0, 0), (2.0, 4), (2.5, 1), (2.5, 2), (3.5, 3), (4.0, 0), (4.0, 4)];
    let back = [(0.5, 3), (1.5, 1), (1.5, 2), (2.0, 0), (2.0, 4), (2.5, 3), (3.5, 1), (3.5, 2), (4.0, 0), (4.0, 4)];
    assert_play(STEPS, playing(WrapMode::Loop, 1.0), (0.0, 4.0), &forwards);
    assert_play(STEPS, playing(WrapMode::LoopReverse, -1.0), (0.0, 4.0), &forwards);
    assert_play(STEPS, playing(WrapMode::LoopReverse, 1.0), (0.0, 4.0), &back);
    assert_play(STEPS, playing(WrapMode::Loop, -1.0), (0.0, 4.0), &back);
    // It has been playing for ever.
    assert_play(STEPS, playing(WrapMode::Loop, 1.0), (-2.25, -1.5), &[(-2.0, 0), (-2.0, 4), (-1.5, 1), (-1.5, 2)]);
    assert_play(STEPS, playing(WrapMode::Loop, -1.0), (-2.25, -1.5), &[(-2.0, 0), (-2.0, 4), (-1.5, 3)]);
    assert_play(STEPS, playing(WrapMode::Loop, 1.0), (-0.25, 0.25), &[(0.0, 0), (0.0, 4)]);
}

#[test]
fn a_ping_pong_reaches_inner_events_both_ways_and_those_at_a_turn_once() {
    let there = [
        (0.5, 1),
        (0.5, 2),
        (1.5, 3),
        (2.0, 4),
        (2.5, 3),
        (3.5, 1),
        (3.5, 2),
        (4.0, 0),
        (4.5, 1),
        (4.5, 2),
        (5.5, 3),
        (6.0, 4),
    ];
    assert_play(STEPS, playing(WrapMode::PingPong, 1.0), (0.0, 6.0), &there);
    assert_play(STEPS, playing(WrapMode::PingPongReverse, -1.0), (0.0, 6.0), &there);
    let back = [
        (0.5, 3),
        (1.5, 1),
        (1.5, 2),
        (2.0, 0),
        (2.5, 1),
        (2.5, 2),
        (3.5, 3),
        (4.0, 4),
        (4.5, 3),
        (5.5, 1),
        (5.5, 2),
        (6.0, 0),
    ];
    assert_play(STEPS, playing(WrapMode::PingPongReverse, 1.0), (0.0, 6.0), &back);
    assert_play(STEPS, playing(WrapMode::PingPong, -1.0), (0.0, 6.0), &back);
    // Before its start it goes as after it, the passes counted the other way: the last of them is like the first. Between
    // the two it leaps from its end to its start.
    let before = [(-2.5, 1), (-2.5, 2), (-2.0, 0), (-1.5, 1), (-1.5, 2), (-0.5, 3), (0.0, 0), (0.0, 4)];
    assert_play(STEPS, playing(WrapMode::PingPong, 1.0), (-3.0, 0.25), &before);
}

#[test]
fn a_play_stops_after_its_passes() {
    let times = |wrap: WrapMode, count: f64| Playback { repeat_count: Some(count), ..playing(wrap, 1.0) };
    let two = [(0.0, 0), (0.5, 1), (0.5, 2), (1.5, 3), (2.0, 0), (2.0, 4), (2.5, 1), (2.5, 2), (3.5, 3), (4.0, 4)];
    assert_play(STEPS, times(WrapMode::Normal, 2.0), (-1.0, 99.0), &two);
    assert_play(STEPS, times(WrapMode::Loop, 2.0), (0.0, 99.0), &two[1..]);
    assert_play(STEPS, times(WrapMode::Normal, 1.25), (-1.0, 99.0), &two[..8]);
    assert_play(STEPS, times(WrapMode::Normal, 0.125), (-1.0, 99.0), &two[..1]);
    assert_play(STEPS, times(WrapMode::Normal, 0.0), (-1.0, 99.0), &[]);
    assert_play(STEPS, times(WrapMode::Loop, 0.0), (-9.0, 99.0), &[]);
    let there = [(0.5, 1), (0.5, 2), (1.5, 3), (2.0, 4), (2.5, 3), (3.5, 1), (3.5, 2), (4.0, 0)];
    assert_play(STEPS, times(WrapMode::PingPong, 2.0), (0.0, 99.0), &there);
    // Before its start a mode that repeats goes back as many passes as after it, and comes out of a stand there.
    assert_play(STEPS, times(WrapMode::Loop, 1.0), (-99.0, -0.25), &[(-1.5, 1), (-1.5, 2), (-0.5, 3)]);
    assert_play(STEPS, times(WrapMode::Loop, 0.25), (-99.0, 99.0), &[(0.0, 0), (0.0, 4), (0.5, 1), (0.5, 2)]);
}

#[test]
fn a_part_reaches_what_lies_in_it() {
    let part = |wrap: WrapMode, range: [f64; 2]| Playback { range: Some(range), ..playing(wrap, 1.0) };
    let inner = [(0.0, 1), (0.0, 2), (1.0, 3)];
    assert_play(STEPS, part(WrapMode::Normal, [0.5, 1.5]), (-1.0, 9.0), &inner);
    assert_play(STEPS, part(WrapMode::Reverse, [0.5, 1.5]), (-1.0, 9.0), &[(0.0, 3), (1.0, 1), (1.0, 2)]);
    assert_play(STEPS, part(WrapMode::Normal, [0.25, 1.25]), (-1.0, 9.0), &[(0.25, 1), (0.25, 2)]);
    assert_play(STEPS, part(WrapMode::Loop, [1.0, 99.0]), (0.0, 2.0), &[(0.5, 3), (1.0, 4), (1.5, 3), (2.0, 4)]);
    assert_play(STEPS, part(WrapMode::Loop, [0.75, 1.25]), (0.0, 9.0), &[]);
    assert_play(STEPS, part(WrapMode::Loop, [0.5, 0.5]), (0.0, 9.0), &[]);
    // Outside the clip there is nothing to reach.
    assert_play((1.0, &[-0.5, 0.25, 1.5]), playing(WrapMode::Loop, 1.0), (0.0, 2.0), &[(0.25, 1), (1.25, 1)]);
}

#[test]
fn what_stands_still_reaches_nothing() {
    let nothing = |clip, playback, range| assert_play(clip, playback, range, &[]);
    for wrap in WrapMode::ALL {
        nothing(STEPS, playing(wrap, 0.0), (-9.0, 9.0));
        nothing((0.0, &[0.0, 0.0]), playing(wrap, 1.0), (-9.0, 9.0));
        nothing(STEPS, playing(wrap, 1.0), (1.5, 1.5));
        nothing(STEPS, playing(wrap, 1.0), (9.0, -9.0));
        nothing((2.0, &[]), playing(wrap, 1.0), (-9.0, 9.0));
    }
    assert_layer(STEPS, |clip| Layer::new(clip, LayerTime::At(0.5)), step(-9.0, 9.0), &[]);
}

#[test]
fn the_tick_is_the_first_at_which_the_event_is_reached() {
    // 0.7 s are 734,003.2 ticks; a third of a second 349,525.33.
    assert_play((1.0, &[0.7]), playing(WrapMode::Loop, 1.0), (0.0, 1.0), &[(734_004.0 / SECOND as f64, 0)]);
    assert_play((1.0, &[0.7]), playing(WrapMode::Loop, -1.0), (0.0, 1.0), &[(314_573.0 / SECOND as f64, 0)]);
    assert_play((1.0, &[1.0]), playing(WrapMode::Normal, 3.0), (0.0, 1.0), &[(349_526.0 / SECOND as f64, 0)]);
    let start = Ticks(DAY + 17);
    let layer = |wrap| move |clip| Layer::new(clip, LayerTime::Playing(Playback::new(wrap, start, 0.25)));
    let at = |tick: i64| Step { from: Ticks(tick - 1), to: Ticks(tick) };
    // 0.125 s are reached after half a second.
    let reached = start.0 + SECOND / 2;
    assert_layer((1.0, &[0.125]), layer(WrapMode::Loop), at(reached - 1), &[]);
    assert_layer((1.0, &[0.125]), layer(WrapMode::Loop), at(reached), &[(reached, 0)]);
    assert_layer((1.0, &[0.125]), layer(WrapMode::Loop), at(reached + 1), &[]);
    assert_layer((1.0, &[0.0]), layer(WrapMode::Normal), at(start.0), &[(start.0, 0)]);
}

#[test]
fn whole_seconds_are_whole_however_the_clip_is_cut() {
    // Neither a third nor a tenth is a number of any engine, but ten tenths are a second.
    for (length, passes) in [(3.0, 1), (0.1, 10), (0.3, 10), (1.0 / 3.0, 3), (0.7, 10), (1e-3, 1000)] {
        let whole = (length * f64::from(passes)).round();
        let expected = (whole * SECOND as f64) as i64;
        for days in [0, 30] {
            // As many days as are whole passes.
            let start = -days * 21 * 10 * SECOND * 400;
            let layer = |clip| Layer::new(clip, LayerTime::Playing(Playback::looping(Ticks(start), 1.0)));
            let at = |tick: i64| Step { from: Ticks(tick - 1), to: Ticks(tick) };
            assert_layer((length, &[length]), layer, at(expected - 1), &[]);
            assert_layer((length, &[length]), layer, at(expected), &[(expected, 0)]);
        }
    }
}

#[test]
fn thirty_days_on_events_are_where_they_were() {
    for wrap in ENDLESS {
        for rate in [1.0, -1.0] {
            let layer = |clip| Layer::new(clip, LayerTime::Playing(playing(wrap, rate)));
            let (library, skeleton, ids) = calls(&[STEPS]);
            let mut crowd = Crowd::new();
            crowd.push(skeleton, &[layer(ids[0])]).unwrap();
            let reached = |from: i64, events: &EventList| -> Vec<(i64, usize)> {
                events.events.iter().map(|found| (found.tick.0 - from, found.event)).collect()
            };
            each_engine(&library, |engine| {
                let mut from = |from: i64| {
                    let step = Step { from: Ticks(from), to: Ticks(from + 8 * SECOND) };
                    reached(from, &engine.evaluate_events(&crowd, step, 100).unwrap())
                };
                // Sixty days before, the last turn of a ping-pong begins one pass off.
                let (now, later) = (from(SECOND / 4), from(30 * DAY + SECOND / 4));
                assert!(now.len() >= 16, "{now:?}");
                assert_eq!(now, later, "{wrap:?} at rate {rate}");
            });
        }
    }
}
