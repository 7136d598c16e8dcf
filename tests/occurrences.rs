//! Events that layers reach between two ticks, on every engine.

use posse::{
    Clip, ClipId, Crowd, Evaluator, Event, EventList, Fade, FadeShape, Layer, LayerTime, Library, Occurrence, Playback,
    Reference, Skeleton, SkeletonId, Step, Ticks, WrapMode,
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

/// Asserts that two lists are the same, and names where they part.
#[track_caller]
pub fn assert_same(found: &EventList, expected: &EventList, what: &str) {
    let parts = found.events.iter().zip(&expected.events).find(|(found, expected)| found != expected);
    let counts = |list: &EventList| (list.events.len(), list.missed);
    assert_eq!((parts, counts(found)), (None, counts(expected)), "{what}");
}

/// Seconds to the nearest tick.
fn ticks(seconds: f64) -> Ticks {
    Ticks::from_seconds(seconds)
}

fn step(from: f64, to: f64) -> Step {
    Step { from: ticks(from), to: ticks(to) }
}

/// What is asked of one layer, and what every engine is to answer: ticks and events.
struct Case<'a> {
    clip: (f64, &'a [f64]),
    layer: Layer,
    step: Step,
    expected: Vec<(i64, usize)>,
}

/// A case of a play, with its ticks in seconds, rounded up.
fn case<'a>(clip: (f64, &'a [f64]), playback: Playback, range: (f64, f64), expected: &[(f64, usize)]) -> Case<'a> {
    let tick = |seconds: f64| (seconds * SECOND as f64).ceil() as i64;
    let expected = expected.iter().map(|&(seconds, event)| (tick(seconds), event)).collect();
    Case { clip, layer: layer(LayerTime::Playing(playback)), step: step(range.0, range.1), expected }
}

/// A layer of any clip.
fn layer(time: LayerTime) -> Layer {
    Layer::new(calls(&[STEPS]).2[0], time)
}

/// Asserts what each engine gives for each case.
#[track_caller]
fn assert_cases(cases: &[Case]) {
    let (library, skeleton, ids) = calls(&cases.iter().map(|case| case.clip).collect::<Vec<_>>());
    each_engine(&library, |engine| {
        for (case, &clip) in cases.iter().zip(&ids) {
            let layer = Layer { clip, ..case.layer };
            let mut crowd = Crowd::new();
            crowd.push(skeleton, &[layer]).unwrap();
            let found = engine.evaluate_events(&crowd, case.step, 1000).unwrap();
            let events: Vec<_> = found.events.iter().map(|found| (found.tick.0, found.event)).collect();
            let what = format!("{}: {layer:?}, {:?}", engine.engine(), case.step);
            assert_eq!((events, found.missed), (case.expected.clone(), 0), "{what}");
        }
    });
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
        case(STEPS, playing(wrap, rate), range, expected)
    };
    let mut cases = Vec::new();
    for wrap in [WrapMode::Default, WrapMode::Normal] {
        cases.push(play(wrap, 1.0, (-1.0, 9.0), &once));
        cases.push(play(wrap, 1.0, (-1.0, 0.0), &once[..1]));
        cases.push(play(wrap, 1.0, (0.0, 0.5), &once[1..3]));
        cases.push(play(wrap, 1.0, (0.5, 1.5), &once[3..4]));
        cases.push(play(wrap, 1.0, (1.5, 2.0), &once[4..]));
        cases.push(play(wrap, 1.0, (2.0, 99.0), &[]));
        cases.push(play(wrap, 1.0, (-9.0, -1.0), &[]));
        cases.push(play(wrap, 2.0, (0.0, 9.0), &[(0.25, 1), (0.25, 2), (0.75, 3), (1.0, 4)]));
    }
    let back = [(0.0, 4), (0.5, 3), (1.5, 1), (1.5, 2), (2.0, 0)];
    cases.push(play(WrapMode::Reverse, 1.0, (-1.0, 9.0), &back));
    cases.push(play(WrapMode::Reverse, -1.0, (-1.0, 9.0), &once));
    cases.push(play(WrapMode::Reverse, 0.5, (0.0, 3.0), &[(1.0, 3), (3.0, 1), (3.0, 2)]));
    // At a negative rate the very first pose is the clip's start, but the play comes from its end.
    cases.push(play(WrapMode::Normal, -1.0, (-1.0, 9.0), &back));
    assert_cases(&cases);
}

#[test]
fn a_loop_reaches_its_end_and_its_start_where_passes_meet() {
    let forwards = [(0.5, 1), (0.5, 2), (1.5, 3), (2.0, 0), (2.0, 4), (2.5, 1), (2.5, 2), (3.5, 3), (4.0, 0), (4.0, 4)];
    let back = [(0.5, 3), (1.5, 1), (1.5, 2), (2.0, 0), (2.0, 4), (2.5, 3), (3.5, 1), (3.5, 2), (4.0, 0), (4.0, 4)];
    let play = |wrap: WrapMode, rate: f64, range: (f64, f64), expected: &[(f64, usize)]| {
        case(STEPS, playing(wrap, rate), range, expected)
    };
    assert_cases(&[
        play(WrapMode::Loop, 1.0, (0.0, 4.0), &forwards),
        play(WrapMode::LoopReverse, -1.0, (0.0, 4.0), &forwards),
        play(WrapMode::LoopReverse, 1.0, (0.0, 4.0), &back),
        play(WrapMode::Loop, -1.0, (0.0, 4.0), &back),
        // It has been playing for ever.
        play(WrapMode::Loop, 1.0, (-2.25, -1.5), &[(-2.0, 0), (-2.0, 4), (-1.5, 1), (-1.5, 2)]),
        play(WrapMode::Loop, -1.0, (-2.25, -1.5), &[(-2.0, 0), (-2.0, 4), (-1.5, 3)]),
        play(WrapMode::Loop, 1.0, (-0.25, 0.25), &[(0.0, 0), (0.0, 4)]),
    ]);
}

#[test]
fn a_ping_pong_reaches_inner_events_both_ways_and_those_at_a_turn_once() {
    let there = [(0.5, 1), (0.5, 2), (1.5, 3), (2.0, 4), (2.5, 3), (3.5, 1), (3.5, 2), (4.0, 0), (4.5, 1), (4.5, 2)];
    let back = [(0.5, 3), (1.5, 1), (1.5, 2), (2.0, 0), (2.5, 1), (2.5, 2), (3.5, 3), (4.0, 4), (4.5, 3), (5.5, 1)];
    // Before its start it goes as after it, the passes counted the other way: the last of them is like the first. Between
    // the two it leaps from its end to its start.
    let before = [(-2.5, 1), (-2.5, 2), (-2.0, 0), (-1.5, 1), (-1.5, 2), (-0.5, 3), (0.0, 0), (0.0, 4)];
    let play = |wrap: WrapMode, rate: f64, range: (f64, f64), expected: &[(f64, usize)]| {
        case(STEPS, playing(wrap, rate), range, expected)
    };
    assert_cases(&[
        play(WrapMode::PingPong, 1.0, (0.0, 5.0), &there),
        play(WrapMode::PingPongReverse, -1.0, (0.0, 5.0), &there),
        play(WrapMode::PingPongReverse, 1.0, (0.0, 5.0), &back[..9]),
        play(WrapMode::PingPong, -1.0, (0.0, 5.0), &back[..9]),
        play(WrapMode::PingPong, 1.0, (-3.0, 0.25), &before),
    ]);
}

#[test]
fn a_play_stops_after_its_passes() {
    let times = |wrap: WrapMode, count: f64, range: (f64, f64), expected: &[(f64, usize)]| {
        case(STEPS, Playback { repeat_count: Some(count), ..playing(wrap, 1.0) }, range, expected)
    };
    let two = [(0.0, 0), (0.5, 1), (0.5, 2), (1.5, 3), (2.0, 0), (2.0, 4), (2.5, 1), (2.5, 2), (3.5, 3), (4.0, 4)];
    let there = [(0.5, 1), (0.5, 2), (1.5, 3), (2.0, 4), (2.5, 3), (3.5, 1), (3.5, 2), (4.0, 0)];
    assert_cases(&[
        times(WrapMode::Normal, 2.0, (-1.0, 99.0), &two),
        times(WrapMode::Loop, 2.0, (0.0, 99.0), &two[1..]),
        times(WrapMode::Normal, 1.25, (-1.0, 99.0), &two[..8]),
        times(WrapMode::Normal, 0.125, (-1.0, 99.0), &two[..1]),
        times(WrapMode::Normal, 0.0, (-1.0, 99.0), &[]),
        times(WrapMode::Loop, 0.0, (-9.0, 99.0), &[]),
        times(WrapMode::PingPong, 2.0, (0.0, 99.0), &there),
        times(WrapMode::Normal, 2.0, (4.0, 99.0), &[]),
        // Before its start a mode that repeats has as many passes as after it; it comes out of a stand there, and what
        // lies where it stood is not reached by going.
        times(WrapMode::Loop, 1.0, (-99.0, -0.25), &[(-1.5, 1), (-1.5, 2), (-0.5, 3)]),
        times(WrapMode::Loop, 0.25, (-99.0, 99.0), &[(0.0, 0), (0.0, 4), (0.5, 1), (0.5, 2)]),
    ]);
}

#[test]
fn a_part_reaches_what_lies_in_it() {
    let part = |wrap: WrapMode, part: [f64; 2], range: (f64, f64), expected: &[(f64, usize)]| {
        case(STEPS, Playback { range: Some(part), ..playing(wrap, 1.0) }, range, expected)
    };
    assert_cases(&[
        part(WrapMode::Normal, [0.5, 1.5], (-1.0, 9.0), &[(0.0, 1), (0.0, 2), (1.0, 3)]),
        part(WrapMode::Reverse, [0.5, 1.5], (-1.0, 9.0), &[(0.0, 3), (1.0, 1), (1.0, 2)]),
        part(WrapMode::Normal, [0.25, 1.25], (-1.0, 9.0), &[(0.25, 1), (0.25, 2)]),
        part(WrapMode::Loop, [1.0, 99.0], (0.0, 2.0), &[(0.5, 3), (1.0, 4), (1.5, 3), (2.0, 4)]),
        part(WrapMode::Loop, [0.75, 1.25], (0.0, 9.0), &[]),
        part(WrapMode::Loop, [0.5, 0.5], (0.0, 9.0), &[]),
        // Outside the clip there is nothing to reach.
        case((1.0, &[-0.5, 0.25, 1.5]), playing(WrapMode::Loop, 1.0), (0.0, 2.0), &[(0.25, 1), (1.25, 1)]),
    ]);
}

#[test]
fn what_stands_still_reaches_nothing() {
    let mut cases = Vec::new();
    for wrap in WrapMode::ALL {
        cases.push(case(STEPS, playing(wrap, 0.0), (-9.0, 9.0), &[]));
        cases.push(case((0.0, &[0.0, 0.0]), playing(wrap, 1.0), (-9.0, 9.0), &[]));
        cases.push(case(STEPS, playing(wrap, 1.0), (1.5, 1.5), &[]));
        cases.push(case(STEPS, playing(wrap, 1.0), (9.0, -9.0), &[]));
        cases.push(case((2.0, &[]), playing(wrap, 1.0), (-9.0, 9.0), &[]));
    }
    cases.push(Case { clip: STEPS, layer: layer(LayerTime::At(0.5)), step: step(-9.0, 9.0), expected: Vec::new() });
    assert_cases(&cases);
}

/// A step of one tick, to this one.
fn tick(tick: i64) -> Step {
    Step { from: Ticks(tick - 1), to: Ticks(tick) }
}

#[test]
fn the_tick_is_the_first_at_which_the_event_is_reached() {
    // 0.7 s are 734,003.2 ticks; a third of a second 349,525.33.
    let seconds = |ticks: i64| ticks as f64 / SECOND as f64;
    let mut cases = vec![
        case((1.0, &[0.7]), playing(WrapMode::Loop, 1.0), (0.0, 1.0), &[(seconds(734_004), 0)]),
        case((1.0, &[0.7]), playing(WrapMode::Loop, -1.0), (0.0, 1.0), &[(seconds(314_573), 0)]),
        case((1.0, &[1.0]), playing(WrapMode::Normal, 3.0), (0.0, 1.0), &[(seconds(349_526), 0)]),
    ];
    let start = DAY + 17;
    let layer = |wrap| layer(LayerTime::Playing(Playback::new(wrap, Ticks(start), 0.25)));
    // 0.125 s are reached after half a second.
    let reached = start + SECOND / 2;
    for (offset, expected) in [(-1, vec![]), (0, vec![(reached, 0)]), (1, vec![])] {
        cases.push(Case {
            clip: (1.0, &[0.125]),
            layer: layer(WrapMode::Loop),
            step: tick(reached + offset),
            expected,
        });
    }
    let expected = vec![(start, 0)];
    cases.push(Case { clip: (1.0, &[0.0]), layer: layer(WrapMode::Normal), step: tick(start), expected });
    assert_cases(&cases);
}

#[test]
fn whole_seconds_are_whole_however_the_clip_is_cut() {
    // Neither a third nor a tenth is a number of any engine, but ten tenths are a second.
    let clips = [(3.0, 1), (0.1, 10), (0.3, 10), (1.0 / 3.0, 3), (0.7, 10), (1e-3, 1000)];
    let mut cases = Vec::new();
    for (length, passes) in &clips {
        let expected = (length * f64::from(*passes)).round() as i64 * SECOND;
        // 84,000 s are whole passes of all these clips, and thirty times as many are a month.
        for start in [0, -30 * 84_000 * SECOND] {
            let layer = layer(LayerTime::Playing(Playback::looping(Ticks(start), 1.0)));
            let clip = (*length, std::slice::from_ref(length));
            cases.push(Case { clip, layer, step: tick(expected - 1), expected: Vec::new() });
            cases.push(Case { clip, layer, step: tick(expected), expected: vec![(expected, 0)] });
        }
    }
    assert_cases(&cases);
}

#[test]
fn thirty_days_on_events_are_where_they_were() {
    let (library, skeleton, ids) = calls(&[STEPS]);
    each_engine(&library, |engine| {
        for (wrap, rate) in ENDLESS.into_iter().flat_map(|wrap| [(wrap, 1.0), (wrap, -1.0)]) {
            let mut crowd = Crowd::new();
            crowd.push(skeleton, &[Layer::new(ids[0], LayerTime::Playing(playing(wrap, rate)))]).unwrap();
            let mut reached = |from: i64| -> Vec<(i64, usize)> {
                let step = Step { from: Ticks(from), to: Ticks(from + 8 * SECOND) };
                let found = engine.evaluate_events(&crowd, step, 100).unwrap().events;
                found.iter().map(|found| (found.tick.0 - from, found.event)).collect()
            };
            let (now, later) = (reached(SECOND / 4), reached(30 * DAY + SECOND / 4));
            assert!(now.len() >= 16, "{now:?}");
            assert_eq!(now, later, "{wrap:?} at rate {rate}");
        }
    });
}

#[test]
fn a_layer_without_a_weight_reaches_nothing() {
    let fade = |start: f64, seconds: f64| {
        [FadeShape::Linear, FadeShape::Smooth].map(|shape| Fade { start: ticks(start), length: ticks(seconds), shape })
    };
    let layer = layer(LayerTime::Playing(playing(WrapMode::Loop, 1.0)));
    // An event a second, at 0.5 s.
    let clip: (f64, &[f64]) = (1.0, &[0.5]);
    let to_tick = |seconds: &f64| ((seconds * SECOND as f64) as i64, 0);
    let mut cases = Vec::new();
    let mut push = |layer: Layer, expected: &[f64]| {
        cases.push(Case { clip, layer, step: step(0.0, 5.0), expected: expected.iter().map(to_tick).collect() });
    };
    push(Layer { weight: 0.0, ..layer }, &[]);
    push(Layer { weight: 1e-6, ..layer }, &[0.5, 1.5, 2.5, 3.5, 4.5]);
    for fade_in in fade(1.5, 1.0).map(Some) {
        // At the start of a fade-in the weight is still 0.
        push(Layer { fade_in, ..layer }, &[2.5, 3.5, 4.5]);
    }
    for fade_in in fade(1.5, 0.0).map(Some) {
        push(Layer { fade_in, ..layer }, &[1.5, 2.5, 3.5, 4.5]);
    }
    for fade_out in fade(1.25, 2.25).map(Some) {
        // At the end of a fade-out it is 0 again.
        push(Layer { fade_out, ..layer }, &[0.5, 1.5, 2.5]);
        push(Layer { fade_in: fade(1.0, 1.0).map(Some)[0], fade_out, ..layer }, &[1.5, 2.5]);
        push(Layer { fade_in: fade(3.5, 1.0).map(Some)[0], fade_out, ..layer }, &[]);
    }
    for fade_out in fade(2.5, 0.0).map(Some) {
        push(Layer { fade_out, ..layer }, &[0.5, 1.5]);
    }
    let ever = Fade { start: Ticks(i64::MIN), length: Ticks(0), shape: FadeShape::Linear };
    push(Layer { fade_in: Some(ever), ..layer }, &[0.5, 1.5, 2.5, 3.5, 4.5]);
    push(Layer { fade_out: Some(ever), ..layer }, &[]);
    let never = Fade { start: Ticks(i64::MAX), ..ever };
    push(Layer { fade_in: Some(never), ..layer }, &[]);
    push(Layer { fade_out: Some(never), ..layer }, &[0.5, 1.5, 2.5, 3.5, 4.5]);
    let slow = Fade { start: Ticks(0), length: Ticks(i64::MAX), ..ever };
    push(Layer { fade_in: Some(slow), fade_out: Some(slow), ..layer }, &[0.5, 1.5, 2.5, 3.5, 4.5]);
    assert_cases(&cases);
}

#[test]
fn what_finds_no_room_is_counted() {
    let (library, skeleton, ids) = calls(&[(1.0, &[0.25, 0.5, 0.5, 0.75, 1.0])]);
    let mut crowd = Crowd::new();
    for _ in 0..10 {
        let looping = Layer::new(ids[0], LayerTime::Playing(playing(WrapMode::Loop, 1.0)));
        crowd.push(skeleton, &[looping, looping]).unwrap();
    }
    each_engine(&library, |engine| {
        let mut counts = |seconds: f64, capacity: usize| {
            let found = engine.evaluate_events(&crowd, step(0.0, seconds), capacity).unwrap();
            assert!(found.events.is_sorted());
            (found.events.len(), found.missed)
        };
        // Twenty layers of five events a second.
        assert_eq!(counts(10.0, 10), (10, 990));
        assert_eq!(counts(10.0, 999), (999, 1));
        assert_eq!(counts(10.0, 1000), (1000, 0));
        assert_eq!(counts(10.0, 5000), (1000, 0));
        assert_eq!(counts(10.0, 0), (0, 1000));
    });
}

#[test]
fn of_one_layer_the_first_256_are_listed() {
    let (library, skeleton, ids) = calls(&[(1.0, &[0.25]), (1e-3, &[0.0, 5e-4]), (1e-3, &[1e-3])]);
    let mut crowd = Crowd::new();
    let modes = [(0, WrapMode::Loop), (1, WrapMode::Loop), (2, WrapMode::PingPong)];
    let layers = modes.map(|(clip, wrap)| Layer::new(ids[clip], LayerTime::Playing(playing(wrap, 1.0))));
    crowd.push(skeleton, &layers[..1]).unwrap();
    let seconds: Vec<i64> = (0..256).map(|pass| pass * SECOND + SECOND / 4).collect();
    each_engine(&library, |engine| {
        let found = engine.evaluate_events(&crowd, step(0.0, 1000.0), 10_000).unwrap();
        let ticks: Vec<i64> = found.events.iter().map(|found| found.tick.0).collect();
        assert_eq!((&ticks, found.missed), (&seconds, 744), "{}", engine.engine());
    });
    // Layers of most different loops, side by side, over a month.
    for instance in 0..200 {
        crowd.push(skeleton, &[layers[instance % 3], layers[instance / 3 % 3]]).unwrap();
    }
    let mut answers = Vec::new();
    each_engine(&library, |engine| {
        let month = Step { from: Ticks(0), to: Ticks(30 * DAY) };
        answers.push(engine.evaluate_events(&crowd, month, 1 << 20).unwrap());
    });
    assert_eq!(answers[0].events.len(), 401 * 256);
    for answer in &answers[1..] {
        assert_same(answer, &answers[1], "a month");
        assert_eq!(answer.missed, answers[0].missed);
        // The reference has another tick where an f64 is beside the tick that is meant, and no more than one off.
        let apart = answer.events.iter().zip(&answers[0].events).map(|(a, b)| (a.tick.0 - b.tick.0).abs());
        assert!(apart.max() <= Some(1));
    }
}

#[test]
fn a_leap_over_a_month_of_short_passes_is_over_at_once() {
    // A pass a millisecond at rate 1, ten million a second at rate 10,000.
    let (library, skeleton, ids) = calls(&[(1e-3, &[0.0, 5e-4, 1e-3])]);
    let month = Step { from: Ticks(0), to: Ticks(30 * DAY) };
    let ages = Step { from: Ticks(-1 << 57), to: Ticks(1 << 57) };
    for (wrap, rate, step, expected) in [
        (WrapMode::Loop, 1.0, month, 3 * 1000 * 86_400 * 30),
        (WrapMode::PingPong, 1.0, month, 2 * 1000 * 86_400 * 30),
        (WrapMode::LoopReverse, -1e4, month, 3 * 10_000_000 * 86_400 * 30),
        // 2^38 s; at its start a ping-pong leaps from an end to the other, which is one more.
        (WrapMode::Loop, 1e4, ages, 30_000_000 << 38),
        (WrapMode::PingPong, 1e4, ages, (20_000_000 << 38) + 1),
    ] {
        let mut crowd = Crowd::new();
        crowd.push(skeleton, &[Layer::new(ids[0], LayerTime::Playing(playing(wrap, rate)))]).unwrap();
        each_engine(&library, |engine| {
            let found = engine.evaluate_events(&crowd, step, 100).unwrap();
            assert_eq!(found.events.len(), 100);
            let counted = found.missed + 100;
            // Passes a tick are known to 2^-96 passes, or as an f64 is: after ages, that is some passes.
            let off = counted.abs_diff(expected);
            let what = format!("{}: {counted} of {expected}, {wrap:?} at rate {rate}", engine.engine());
            assert!(off == 0 || off as f64 <= 1e-15 * expected as f64, "{what}");
            // The first of them are listed.
            let last = found.events[99].tick.0 - step.from.0;
            assert!((0..SECOND).contains(&last), "{what}: {last}");
        });
    }
}

/// A crowd of two skeletons, with clips of all kinds of events, played in all ways around a tick, and its library.
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
                    1 => now + numbers.below(6 * SECOND as usize) as i64 - 3 * SECOND,
                    _ => now - numbers.below(60 * DAY as usize) as i64,
                };
                let repeats = [0.0, 1.0, 2.0, numbers.within(0.0, 9.0), 1e6][numbers.below(5)];
                let end = numbers.within(0.0, 4.0);
                let playback = Playback {
                    repeat_count: (numbers.below(3) == 0).then_some(repeats),
                    range: (numbers.below(4) == 0).then_some([numbers.within(0.0, end), end]),
                    ..Playback::new(wrap, Ticks(start), rate)
                };
                let mut fade = || {
                    let start = Ticks(now + numbers.below(4 * SECOND as usize) as i64 - SECOND);
                    let length = Ticks(numbers.below(2 * SECOND as usize) as i64);
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
fn random_crowds_reach_the_same_on_every_engine() {
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
            // Within a tick of each other; at the ends of the step, one may have what the other has not.
            let near = |tick: Ticks, end: Ticks| (tick.0 - end.0).abs() <= 1;
            let ordered = |list: &EventList| {
                let inner =
                    list.events.iter().filter(|found| !near(found.tick, step.to) && !near(found.tick, step.from));
                let mut ordered: Vec<Occurrence> = inner.copied().collect();
                ordered.sort_by_key(|found| (found.instance, found.layer, found.event, found.tick));
                ordered
            };
            let (expected, found) = (ordered(&reference.1), ordered(&fast[0].1));
            assert_eq!(expected.len(), found.len(), "seed {seed}");
            for (expected, found) in expected.iter().zip(&found) {
                let who = |of: &Occurrence| (of.instance, of.layer, of.event);
                assert_eq!(who(expected), who(found), "seed {seed}");
                assert!(near(expected.tick, found.tick), "{expected:?}, {found:?}, seed {seed}");
            }
            total += found.len();
        }
    }
    assert!(total > 1000, "only {total} events");
}

#[test]
fn steps_that_follow_one_another_reach_what_one_over_all_does() {
    let now = 3 * DAY;
    let (library, crowd) = random(77, now);
    let mut numbers = Numbers::new(7);
    let mut ends = vec![now];
    while ends[ends.len() - 1] < now + SECOND / 2 {
        // Frames, single ticks, and leaps.
        let next = [1, 1, 17_476, numbers.below(100_000) as i64 + 1][numbers.below(4)];
        ends.push((ends[ends.len() - 1] + next).min(now + SECOND / 2));
    }
    each_engine(&library, |engine| {
        let mut over = |from: i64, to: i64| {
            let list = engine.evaluate_events(&crowd, Step { from: Ticks(from), to: Ticks(to) }, 1 << 16).unwrap();
            assert_eq!(list.missed, 0);
            list.events
        };
        let whole = over(now, now + SECOND / 2);
        let parts: Vec<Occurrence> = ends.windows(2).flat_map(|ends| over(ends[0], ends[1])).collect();
        assert!(whole.len() > 200, "only {} events", whole.len());
        assert_eq!(parts, whole);
    });
}

#[test]
fn where_no_pass_is_left_out_it_is_what_cocos_creator_fires() {
    // No event at an end, where that engine has its own ways, and steps of less than a pass that end at no event. From
    // one side of a turn to the other it leaves out an event that it stands beside on both.
    let (library, skeleton, ids) = calls(&[(2.0, &[0.25, 0.7, 0.7, 1.3])]);
    let clip = library.clip(ids[0]);
    let mut numbers = Numbers::new(5);
    let mut total = 0;
    for wrap in WrapMode::ALL {
        for rate in [1.0, -1.0, 0.75] {
            let playback = playing(wrap, rate);
            let mut crowd = Crowd::new();
            crowd.push(skeleton, &[Layer::new(ids[0], LayerTime::Playing(playback))]).unwrap();
            // At the very start, a play backwards stands at the other end of the clip than a moment later.
            let mut from = Ticks(1);
            for _ in 0..80 {
                let to = Ticks(from.0 + 1 + numbers.below(SECOND as usize / 2) as i64);
                let pass = |tick: Ticks| (tick.to_seconds() * rate.abs() / 2.0).floor();
                if wrap.is_ping_pong() && pass(from) != pass(to) {
                    from = to;
                    continue;
                }
                let mut expected = posse::reference::events::fired(clip, &playback, Some(from), to);
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

#[test]
fn an_instance_is_named_by_its_place_in_the_crowd() {
    // Two skeletons in turn, and layers of which the second or the third calls.
    let mut library = Library::new();
    let skeletons = [0; 2].map(|_| library.add_skeleton(Skeleton::new(None, Vec::new(), Vec::new()).unwrap()));
    let clips = skeletons.map(|skeleton| {
        [vec![], vec![Event { time: 0.25, ..Event::default() }, Event { time: 0.5, ..Event::default() }]].map(
            |events| {
                let clip = Clip { length: Some(1.0), events, ..Clip::new(None, skeleton, Vec::new()) };
                library.add_clip(clip).unwrap()
            },
        )
    });
    let mut crowd = Crowd::new();
    let mut expected = Vec::new();
    for instance in 0..150 {
        let side = usize::from(instance % 3 == 0);
        let layer = 1 + instance % 2;
        let start = Ticks(instance as i64 * 1000);
        let time = LayerTime::Playing(Playback::new(WrapMode::Normal, start, 1.0));
        let layers: Vec<Layer> =
            (0..=layer).map(|at| Layer::new(clips[side][usize::from(at == layer)], time)).collect();
        crowd.push(skeletons[side], &layers).unwrap();
        expected.push(Occurrence { tick: Ticks(start.0 + SECOND / 2), instance, layer, event: 1 });
    }
    let expected = EventList { events: expected, missed: 0 };
    each_engine(&library, |engine| {
        let found = engine.evaluate_events(&crowd, step(0.45, 9.0), 1000).unwrap();
        assert_same(&found, &expected, engine.engine());
    });
}
