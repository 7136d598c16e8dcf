//! Events that layers reach between two ticks, on every engine.

/// Random crowds.
mod random;
/// More events than a list has room for.
mod room;

use posse::events::{Event, EventList, Occurrence};
use posse::transitions::{Fade, FadeShape};
use posse::{Clip, ClipId, Crowd, Layer, LayerTime, Library, Playback, Skeleton, SkeletonId, Step, Ticks, WrapMode};

use crate::support::each_engine::each_engine;

const SECOND: i64 = Ticks::PER_SECOND;
const DAY: i64 = 86_400 * SECOND;
const ENDLESS: [WrapMode; 4] = [WrapMode::Loop, WrapMode::LoopReverse, WrapMode::PingPong, WrapMode::PingPongReverse];

/// A library of clips that have only events. Each clip is given by its length and the times of its events.
fn event_clips(clips: &[(f64, &[f64])]) -> (Library, SkeletonId, Vec<ClipId>) {
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

/// Asserts that two lists are the same, and prints the first difference.
#[track_caller]
pub fn assert_same(found: &EventList, expected: &EventList, what: &str) {
    let parts = found.events.iter().zip(&expected.events).find(|(found, expected)| found != expected);
    let counts = |list: &EventList| (list.events.len(), list.missed);
    assert_eq!((parts, counts(found)), (None, counts(expected)), "{what}");
}

/// Converts seconds to the nearest tick.
fn ticks(seconds: f64) -> Ticks {
    Ticks::from_seconds(seconds)
}

fn step(from: f64, to: f64) -> Step {
    Step { from: ticks(from), to: ticks(to) }
}

/// A layer, a step, and the expected events with their ticks.
struct Case<'a> {
    clip: (f64, &'a [f64]),
    layer: Layer,
    step: Step,
    expected: Vec<(i64, usize)>,
}

/// A case of a playback. The expected ticks are given in seconds, and rounded up.
fn case<'a>(clip: (f64, &'a [f64]), playback: Playback, range: (f64, f64), expected: &[(f64, usize)]) -> Case<'a> {
    let tick = |seconds: f64| (seconds * SECOND as f64).ceil() as i64;
    let expected = expected.iter().map(|&(seconds, event)| (tick(seconds), event)).collect();
    Case { clip, layer: layer(LayerTime::Playing(playback)), step: step(range.0, range.1), expected }
}

/// A layer at a time. Its clip is set by the case.
fn layer(time: LayerTime) -> Layer {
    Layer::new(event_clips(&[STEPS]).2[0], time)
}

/// Asserts that each engine gives the expected events of each case.
#[track_caller]
fn assert_cases(cases: &[Case]) {
    let (library, skeleton, ids) = event_clips(&cases.iter().map(|case| case.clip).collect::<Vec<_>>());
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

/// A clip of two seconds, with event 0 at 0 s, 1 and 2 at 0.5 s, 3 at 1.5 s, and 4 at 2 s.
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
    // At a negative rate the first pose is the start of the clip, but the playback comes from its end.
    cases.push(play(WrapMode::Normal, -1.0, (-1.0, 9.0), &back));
    assert_cases(&cases);
}

#[test]
fn a_loop_reaches_its_end_and_its_start_between_passes() {
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
        // A loop has played forever before its start.
        play(WrapMode::Loop, 1.0, (-2.25, -1.5), &[(-2.0, 0), (-2.0, 4), (-1.5, 1), (-1.5, 2)]),
        play(WrapMode::Loop, -1.0, (-2.25, -1.5), &[(-2.0, 0), (-2.0, 4), (-1.5, 3)]),
        play(WrapMode::Loop, 1.0, (-0.25, 0.25), &[(0.0, 0), (0.0, 4)]),
    ]);
}

#[test]
fn a_ping_pong_reaches_inner_events_both_ways_and_events_at_a_turn_once() {
    let there = [(0.5, 1), (0.5, 2), (1.5, 3), (2.0, 4), (2.5, 3), (3.5, 1), (3.5, 2), (4.0, 0), (4.5, 1), (4.5, 2)];
    let back = [(0.5, 3), (1.5, 1), (1.5, 2), (2.0, 0), (2.5, 1), (2.5, 2), (3.5, 3), (4.0, 4), (4.5, 3), (5.5, 1)];
    // Before its start it plays as after it, with the passes counted backwards: the last of them is like the first.
    // Between the two it jumps from its end to its start.
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
        // A mode that repeats has as many passes before its start as after it. Before those passes it stands still.
        // When it begins to move, it does not reach the events at the time where it stood.
        times(WrapMode::Loop, 1.0, (-99.0, -0.25), &[(-1.5, 1), (-1.5, 2), (-0.5, 3)]),
        times(WrapMode::Loop, 0.25, (-99.0, 99.0), &[(0.0, 0), (0.0, 4), (0.5, 1), (0.5, 2)]),
    ]);
}

#[test]
fn a_range_reaches_the_events_in_it() {
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
        // Events outside the clip are not reached.
        case((1.0, &[-0.5, 0.25, 1.5]), playing(WrapMode::Loop, 1.0), (0.0, 2.0), &[(0.25, 1), (1.25, 1)]),
    ]);
}

#[test]
fn a_layer_that_stands_still_reaches_no_event() {
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

/// The step of one tick that ends at this tick.
fn tick(tick: i64) -> Step {
    Step { from: Ticks(tick - 1), to: Ticks(tick) }
}

#[test]
fn the_tick_is_the_first_at_which_the_event_is_reached() {
    // 0.7 s are 734,003.2 ticks, and a third of a second is 349,525.33 ticks.
    let seconds = |ticks: i64| ticks as f64 / SECOND as f64;
    let mut cases = vec![
        case((1.0, &[0.7]), playing(WrapMode::Loop, 1.0), (0.0, 1.0), &[(seconds(734_004), 0)]),
        case((1.0, &[0.7]), playing(WrapMode::Loop, -1.0), (0.0, 1.0), &[(seconds(314_573), 0)]),
        case((1.0, &[1.0]), playing(WrapMode::Normal, 3.0), (0.0, 1.0), &[(seconds(349_526), 0)]),
    ];
    let start = DAY + 17;
    let layer = |wrap| layer(LayerTime::Playing(Playback::new(wrap, Ticks(start), 0.25)));
    // At a rate of 0.25, 0.125 s are reached after half a second.
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
fn events_at_whole_seconds_are_exact_for_any_clip_length() {
    // Neither a third nor a tenth is exact in any engine, but ten tenths are a second.
    let clips = [(3.0, 1), (0.1, 10), (0.3, 10), (1.0 / 3.0, 3), (0.7, 10), (1e-3, 1000)];
    let mut cases = Vec::new();
    for (length, passes) in &clips {
        let expected = (length * f64::from(*passes)).round() as i64 * SECOND;
        // 84,000 s are whole passes of all these clips. Thirty times 84,000 s are almost a month.
        for start in [0, -30 * 84_000 * SECOND] {
            let layer = layer(LayerTime::Playing(Playback::new(WrapMode::Loop, Ticks(start), 1.0)));
            let clip = (*length, std::slice::from_ref(length));
            cases.push(Case { clip, layer, step: tick(expected - 1), expected: Vec::new() });
            cases.push(Case { clip, layer, step: tick(expected), expected: vec![(expected, 0)] });
        }
    }
    assert_cases(&cases);
}

#[test]
fn events_are_exact_after_thirty_days() {
    let (library, skeleton, ids) = event_clips(&[STEPS]);
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
fn a_layer_without_a_weight_reaches_no_event() {
    let fade = |start: f64, seconds: f64| {
        [FadeShape::Linear, FadeShape::Smooth].map(|shape| Fade { start: ticks(start), length: ticks(seconds), shape })
    };
    let layer = layer(LayerTime::Playing(playing(WrapMode::Loop, 1.0)));
    // One event per second, at 0.5 s.
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
fn an_occurrence_has_the_index_of_its_instance() {
    // Instances of two skeletons, mixed. The second or the third layer has events.
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

#[test]
fn events_of_a_clip_can_be_replaced() {
    let (mut library, skeleton, ids) = event_clips(&[(1.0, &[0.75])]);
    let event = |time| Event { time, ..Event::default() };
    let refuse = |library: &mut Library, events: &[f64]| {
        library.set_events(ids[0], events.iter().map(|&time| event(time)).collect()).unwrap_err().to_string()
    };
    assert_eq!(
        refuse(&mut library, &[0.5, 0.25]),
        "clip unnamed: event 1 is at 0.25 s, event 0 at 0.5 s; order the events by time"
    );
    assert_eq!(refuse(&mut library, &[f64::NAN]), "clip unnamed: event 0 (\"\") is at NaN s; expected a finite time");
    let beyond = event_clips(&[STEPS; 2]).2[1];
    assert_eq!(
        library.set_events(beyond, Vec::new()).unwrap_err().to_string(),
        "there is no clip 1; the library has 1, numbered from 0"
    );
    // A refused list leaves the events unchanged.
    assert_eq!(library.set_events(ids[0], vec![event(0.25), event(0.5)]).unwrap(), [event(0.75)]);
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[Layer::new(ids[0], LayerTime::Playing(Playback::looping(0.0, 1.0)))]).unwrap();
    each_engine(&library, |engine| {
        let found = engine.evaluate_events(&crowd, step(0.0, 1.0), 10).unwrap();
        let reached = |tick, event| Occurrence { tick, instance: 0, layer: 0, event };
        let expected = vec![reached(Ticks(SECOND / 4), 0), reached(Ticks(SECOND / 2), 1)];
        assert_same(&found, &EventList { events: expected, missed: 0 }, engine.engine());
    });
}
