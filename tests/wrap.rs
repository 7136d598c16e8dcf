//! Wrap modes: the mapping of played time to clip time, on every engine.

/// Ends of passes that are reached only by rounding.
mod ends;
/// Rates that change while a clip plays, and pauses.
mod rates;

use std::collections::BTreeMap;

use posse::curves::{Interpolation, Target, Track};
use posse::low_level::reference::{phase, played};
use posse::playback::{Player, clip_time};
use posse::{Clip, ClipId, Crowd, Joint, Layer, LayerTime, Library, Outputs, Playback, Ticks, WrapMode};
use serde_json::Value;

use crate::support::build::{curve, library};
use crate::support::each_engine::each_engine;
use crate::support::scenes::Numbers;
use crate::support::skip::collected_or_skip;

const DAY: i64 = 86_400 * Ticks::PER_SECOND;

/// A library with a clip whose joint has the clip time, in seconds, as its x.
struct Clock {
    library: Library,
    clip: ClipId,
}

/// A clock in the default mode.
fn clock(duration: f64) -> Clock {
    clock_in(WrapMode::Default, duration)
}

/// A clock whose clip has this mode.
fn clock_in(wrap: WrapMode, duration: f64) -> Clock {
    let (mut library, skeleton) = library(vec![Joint::default()]);
    let keys = if duration == 0.0 { 1 } else { 2 };
    let line =
        curve(Interpolation::Linear, 3, &[0.0, duration][..keys], &[0.0, 0.0, 0.0, duration, 0.0, 0.0][..3 * keys]);
    let clip = Clip { wrap, ..Clip::new(None, skeleton, vec![Track::new(Target::Translation(0), line)]) };
    let clip = library.add_clip(clip).unwrap();
    Clock { library, clip }
}

/// Asserts that every engine has the expected clip time for each playback at a tick, within a tolerance in seconds.
fn check(duration: f64, now: Ticks, cases: &[(Playback, f64)], tolerance: f64) {
    check_clip(&clock(duration), now, cases, tolerance);
}

/// Like [`check`], for a given clock.
fn check_clip(clock: &Clock, now: Ticks, cases: &[(Playback, f64)], tolerance: f64) {
    let Clock { library, clip } = clock;
    let clip = *clip;
    let mut crowd = Crowd::new();
    for &(playback, _) in cases {
        let layer = Layer::new(clip, LayerTime::Playing(playback));
        crowd.push(library.clip(clip).skeleton, &[layer]).unwrap();
    }
    for &(playback, expected) in cases {
        let time = clip_time(LayerTime::Playing(playback), now, library.clip(clip));
        assert!((time - expected).abs() <= tolerance, "clip_time: {time}, not {expected}: {playback:?}");
    }
    each_engine(library, |engine| {
        let poses = engine.evaluate(&crowd, now, Outputs { local: true, ..Outputs::NONE }).unwrap();
        for (pose, (playback, expected)) in poses.instances.iter().zip(cases) {
            let time = pose.local[0].translation.x;
            assert!((time - expected).abs() <= tolerance, "{}: {time}, not {expected}: {playback:?}", engine.engine());
        }
    });
}

#[test]
fn each_mode_is_as_worked_by_hand() {
    let case = |wrap, seconds: f64, expected| (Playback::new(wrap, Ticks::from_seconds(10.0 - seconds), 1.0), expected);
    let cases = [
        case(WrapMode::Default, 0.5, 0.5),
        case(WrapMode::Normal, -1.0, 0.0),
        case(WrapMode::Normal, 2.0, 2.0),
        case(WrapMode::Normal, 3.5, 2.0),
        case(WrapMode::Reverse, 0.5, 1.5),
        case(WrapMode::Reverse, 9.0, 0.0),
        case(WrapMode::Loop, 2.5, 0.5),
        // A whole number of passes is at the end, or backwards at the start.
        case(WrapMode::Loop, 4.0, 2.0),
        case(WrapMode::Loop, -0.5, 1.5),
        case(WrapMode::Loop, -4.0, 0.0),
        case(WrapMode::LoopReverse, 2.5, 1.5),
        case(WrapMode::LoopReverse, 4.0, 0.0),
        case(WrapMode::PingPong, 1.5, 1.5),
        case(WrapMode::PingPong, 2.5, 1.5),
        case(WrapMode::PingPong, 2.0, 2.0),
        case(WrapMode::PingPong, 4.0, 0.0),
        case(WrapMode::PingPong, 4.5, 0.5),
        case(WrapMode::PingPongReverse, 0.5, 1.5),
        case(WrapMode::PingPongReverse, 2.5, 0.5),
    ];
    check(2.0, Ticks::from_seconds(10.0), &cases, 1e-6);
}

#[test]
fn a_play_begins_at_the_start_of_its_range_and_backwards_at_the_end() {
    let seconds = Ticks::from_seconds;
    // A clip of 10 s, of which the play shows the part from 1 s to 3 s, or all.
    let play = |wrap, rate, range, start: f64| Playback { range, ..Playback::new(wrap, seconds(start), rate) };
    let part = Some([1.0, 3.0]);
    for (wrap, rate, range, expected) in [
        // At 0 s, 0.5 s, 1 s, 1.5 s and 2.5 s.
        (WrapMode::Normal, 1.0, part, [1.0, 1.5, 2.0, 2.5, 3.0]),
        (WrapMode::Loop, 1.0, part, [1.0, 1.5, 2.0, 2.5, 1.5]),
        (WrapMode::PingPong, 1.0, part, [1.0, 1.5, 2.0, 2.5, 2.5]),
        (WrapMode::Reverse, 1.0, part, [3.0, 2.5, 2.0, 1.5, 1.0]),
        (WrapMode::Normal, -1.0, part, [3.0, 2.5, 2.0, 1.5, 1.0]),
        (WrapMode::Loop, -1.0, part, [3.0, 2.5, 2.0, 1.5, 2.5]),
        (WrapMode::Reverse, -1.0, part, [1.0, 1.5, 2.0, 2.5, 3.0]),
        (WrapMode::LoopReverse, -1.0, part, [1.0, 1.5, 2.0, 2.5, 1.5]),
        (WrapMode::PingPong, -1.0, part, [3.0, 2.5, 2.0, 1.5, 1.5]),
        (WrapMode::Normal, -1.0, None, [10.0, 9.5, 9.0, 8.5, 7.5]),
        (WrapMode::Loop, 0.0, part, [1.0; 5]),
        (WrapMode::Normal, 1.0, Some([9.0, 99.0]), [9.0, 9.5, 10.0, 10.0, 10.0]),
    ] {
        let cases: Vec<_> = [0.0, 0.5, 1.0, 1.5, 2.5].map(|at| play(wrap, rate, range, 20.0 - at)).into();
        let cases: Vec<_> = cases.into_iter().zip(expected).collect();
        check(10.0, seconds(20.0), &cases, 2e-5);
    }
    // Before the start, a play that does not repeat waits at its first frame, and one at rest shows its first frame.
    let waiting = [
        (play(WrapMode::Normal, 1.0, part, 21.0), 1.0),
        (play(WrapMode::Normal, -1.0, part, 21.0), 3.0),
        (play(WrapMode::Default, -1.0, None, 21.0), 10.0),
        (play(WrapMode::Reverse, 1.0, part, 21.0), 3.0),
        (play(WrapMode::Reverse, -1.0, part, 21.0), 1.0),
        (play(WrapMode::Loop, 0.0, part, 21.0), 1.0),
        (play(WrapMode::Loop, -1.0, part, 20.5), 1.5),
    ];
    check(10.0, seconds(20.0), &waiting, 2e-5);
}

#[test]
fn repeats_ranges_and_rates_are_as_worked_by_hand() {
    let play =
        |wrap, rate, repeat_count, range| Playback { repeat_count, range, ..Playback::new(wrap, Ticks(0), rate) };
    let cases = [
        (play(WrapMode::PingPong, 1.0, Some(2.5), None), 1.0),
        (play(WrapMode::Loop, 1.0, Some(0.0), None), 2.0),
        (play(WrapMode::Normal, -1.0, Some(1.0), None), 0.0),
        (play(WrapMode::Loop, 1.0, Some(1.25), None), 0.5),
        (play(WrapMode::Loop, 0.25, None, Some([0.5, 1.5])), 1.0),
        (play(WrapMode::Reverse, 0.025, None, Some([0.5, 1.5])), 1.25),
        (play(WrapMode::Loop, 1.0, None, Some([0.5, 99.0])), 1.5),
        (play(WrapMode::Loop, 1.0, None, Some([1.0, 1.0])), 0.0),
    ];
    check(2.0, Ticks::from_seconds(10.0), &cases, 1e-6);
}

#[test]
fn a_month_of_playing_is_exact_in_every_mode() {
    let month = Ticks(30 * DAY + 12345);
    let mut cases = Vec::new();
    for (index, wrap) in WrapMode::ALL.into_iter().cycle().take(70).enumerate() {
        let rate = 0.3 + 0.037 * index as f64 * if index % 3 == 0 { -1.0 } else { 1.0 };
        let playback = Playback::new(wrap, Ticks(index as i64 * 7919), rate);
        cases.push((playback, exact(&playback, month, 1.7)));
    }
    check(1.7, month, &cases, 1e-5);
}

#[test]
fn a_large_crowd_in_all_modes_is_in_phase_after_a_month() {
    let duration = 1.7;
    let month = Ticks(30 * DAY + 12345);
    let Clock { library, clip } = clock(duration);
    let mut numbers = Numbers::new(7);
    let mut crowd = Crowd::new();
    let mut expected = Vec::new();
    for wrap in WrapMode::ALL.into_iter().cycle().take(10_000) {
        // Half of them began in the last seconds, so that modes that do not repeat are still playing.
        let start = match numbers.below(2) {
            0 => month.0 - numbers.ticks_below(5 << 20),
            _ => numbers.ticks_below(60 * DAY) - 30 * DAY,
        };
        let playback = Playback::new(wrap, Ticks(start), numbers.within(-3.0, 3.0));
        crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::Playing(playback))]).unwrap();
        expected.push((playback, phase(&playback, played(&playback, month), duration).time));
    }
    each_engine(&library, |engine| {
        let poses = engine.evaluate(&crowd, month, Outputs { local: true, ..Outputs::NONE }).unwrap();
        for (pose, (playback, expected)) in poses.instances.iter().zip(&expected) {
            let time = pose.local[0].translation.x;
            let apart = (time - expected).abs();
            // The end of one pass is the start of the next.
            let jumps = playback.wrap.repeats() && !playback.wrap.is_ping_pong();
            let error = if jumps { apart.min((duration - apart).abs()) } else { apart };
            assert!(error <= 1e-5, "{}: {time}, not {expected}: {playback:?}", engine.engine());
        }
    });
}

#[test]
fn the_default_mode_is_that_of_the_clip() {
    // 2.5 s into a clip of 2 s.
    let own = [
        (WrapMode::Default, 2.0),
        (WrapMode::Normal, 2.0),
        (WrapMode::Loop, 0.5),
        (WrapMode::PingPong, 1.5),
        (WrapMode::Reverse, 0.0),
        (WrapMode::LoopReverse, 1.5),
        (WrapMode::PingPongReverse, 0.5),
    ];
    for (wrap, expected) in own {
        let clock = clock_in(wrap, 2.0);
        let play = |wrap| Playback::new(wrap, Ticks::from_seconds(7.5), 1.0);
        let cases = [
            (play(WrapMode::Default), expected),
            (play(wrap), expected),
            // A mode of the playback replaces the mode of the clip.
            (play(WrapMode::Normal), 2.0),
            (play(WrapMode::PingPong), 1.5),
            // The passes and the range apply to the resolved mode.
            (
                Playback { repeat_count: Some(0.25), ..play(WrapMode::Default) },
                if wrap.is_reverse() { 1.5 } else { 0.5 },
            ),
            (Playback { range: Some([1.0, 1.0]), ..play(WrapMode::Default) }, 0.0),
        ];
        check_clip(&clock, Ticks::from_seconds(10.0), &cases, 1e-6);
    }
    // Before its start, a clip that repeats plays, and one that does not waits. The mode of the clip decides.
    for (wrap, expected) in [(WrapMode::Loop, 1.5), (WrapMode::Normal, 0.0), (WrapMode::Reverse, 2.0)] {
        let playback = Playback::new(WrapMode::Default, Ticks::from_seconds(10.5), 1.0);
        check_clip(&clock_in(wrap, 2.0), Ticks::from_seconds(10.0), &[(playback, expected)], 1e-6);
    }
}

#[test]
fn a_playback_takes_mode_and_speed_from_its_clip() {
    let Clock { library, clip } = clock_in(WrapMode::PingPong, 2.0);
    let clip = Clip { speed: -0.5, ..library.clip(clip).clone() };
    let playback = Playback::of(&clip, Ticks(5));
    assert_eq!(playback, Playback::new(WrapMode::PingPong, Ticks(5), -0.5));
    assert_eq!(Playback::of(&Clip::new(None, clip.skeleton, Vec::new()), Ticks(5)).rate, 1.0);
}

/// The clip time in integer arithmetic: ticks, rate and duration are multiples of powers of two.
fn exact(playback: &Playback, now: Ticks, duration: f64) -> f64 {
    let units = |number: f64| (number * 2.0_f64.powi(40)).round() as i128;
    // In units of 2^-60 s. The rate and the duration are rounded to 40 fractional bits, which moves a month by a
    // microsecond at most.
    let played = i128::from(now.0 - playback.start.0) * units(playback.rate);
    let length = units(duration) << 20;
    let at = if playback.wrap.repeats() { played } else { played.clamp(-length, length) };
    let within = at.rem_euclid(length);
    let pass = at.unsigned_abs() / length.unsigned_abs();
    let forward = if !playback.wrap.repeats() && within == 0 && at > 0 { length } else { within };
    let turned = playback.wrap.is_ping_pong() && pass % 2 == 1;
    let position = if turned != playback.wrap.is_reverse() { length - forward } else { forward };
    position as f64 / 2.0_f64.powi(60)
}

fn collection() -> Option<Value> {
    let file = collected_or_skip("cocos/wrap.json", "the collected figures of wrap modes")?;
    Some(serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().map(number).collect(),
        value => vec![number(value)],
    }
}

/// A figure of the mapping: a playback, the played seconds, the duration of the clip, and the expected phase.
struct Figure {
    playback: Playback,
    played: f64,
    duration: f64,
    phase: [f64; 4],
}

fn mapping(collection: &Value) -> Vec<Figure> {
    let mut figures = Vec::new();
    for case in ["cases", "ranges", "zero_duration"].iter().flat_map(|kind| collection[kind].as_array().unwrap()) {
        let wrap = WrapMode::from_name(case["mode"].as_str().unwrap()).unwrap();
        let duration = case["duration"].as_f64().unwrap_or(0.0);
        let mut playback = Playback::new(wrap, Ticks(0), case["speed"].as_f64().unwrap_or(1.0));
        playback.repeat_count = case.get("repeatCount").map(number);
        playback.range = case.get("range").map(|range| numbers(range).try_into().unwrap());
        // Cocos Creator's accumulated time begins at the start of the range.
        let start = playback.part(duration)[0];
        let columns = ["time", "iterations", "direction", "stopped"].map(|key| numbers(&case[key]));
        for (index, time) in numbers(&case["t"]).into_iter().enumerate() {
            let phase = columns.each_ref().map(|column| column[index]);
            figures.push(Figure { playback, played: time - start, duration, phase });
        }
    }
    assert!(figures.len() > 2000, "only {} figures", figures.len());
    figures
}

#[test]
fn the_mapping_has_the_values_of_the_collected_figures() {
    let Some(collection) = collection() else { return };
    for Figure { playback, played, duration, phase: expected } in mapping(&collection) {
        let found = phase(&playback, played, duration);
        let found = [found.time, found.iterations, found.direction.into(), u8::from(found.stopped).into()];
        assert_eq!(found, expected, "after {played} s of {duration} s: {playback:?}");
    }
}

#[test]
fn every_engine_has_the_values_of_the_collected_figures() {
    let Some(collection) = collection() else { return };
    let mut by_duration: BTreeMap<u64, Vec<(Playback, f64)>> = BTreeMap::new();
    let (mut compared, mut left_out) = (0, 0);
    for Figure { mut playback, played, duration, phase } in mapping(&collection) {
        // The sign of the rate changes only the direction, which a pose does not contain, if it is not the sign of the
        // played seconds: then the play would wait for its start. A play of 0 s at a negative rate would be at its end.
        if played == 0.0 {
            playback.rate = playback.rate.abs();
        } else if !playback.wrap.repeats() && played * playback.rate < 0.0 {
            playback.rate = -playback.rate;
        }
        let ticks = played / playback.rate * Ticks::PER_SECOND as f64;
        if ticks.fract() != 0.0 && duration > 0.0 {
            // This time is not a whole number of ticks, and the nearest tick may be beyond an end.
            left_out += 1;
            continue;
        }
        playback.start = Ticks(-ticks as i64);
        by_duration.entry(duration.to_bits()).or_default().push((playback, phase[0]));
        compared += 1;
    }
    assert!(compared > 2000 && left_out < 100, "{compared} compared, {left_out} left out");
    for (duration, cases) in by_duration {
        let duration = f64::from_bits(duration);
        check(duration, Ticks(0), &cases, 1e-5 + 2e-6 * duration);
    }
}

#[test]
fn a_player_has_the_frames_of_the_collected_traces() {
    let Some(collection) = collection() else { return };
    let mut sampled = 0;
    for trace in collection["traces"].as_array().unwrap() {
        let number = |key: &str| number(&trace[key]);
        let wrap = WrapMode::from_name(trace["mode"].as_str().unwrap()).unwrap();
        let Clock { library, clip } = clock(number("duration"));
        let playback = Playback::new(wrap, Ticks(0), number("speed"));
        let mut player = Player::new(library.clip(clip), playback, number("delay")).unwrap();
        assert_eq!(playback.passes(), number("repeatCount"), "{trace}");
        let expected = if trace["seed"].is_object() { &trace["seed"] } else { &trace["v385"] };
        player.play();
        for (frame, dt) in numbers(&trace["dt"]).into_iter().enumerate() {
            let time = player.update(dt).map(|phase| phase.time);
            assert_eq!(time, expected["sampled"][frame].as_f64(), "frame {frame} of {trace}");
            assert_eq!(player.accumulated(), expected["accum"][frame].as_f64().unwrap(), "frame {frame} of {trace}");
            assert_eq!(u64::from(player.is_playing()), expected["playing"][frame], "frame {frame} of {trace}");
            sampled += u32::from(time.is_some());
        }
    }
    assert!(sampled > 80, "only {sampled} frames");
}

#[test]
fn a_player_is_as_worked_by_hand() {
    let Clock { library, clip } = clock_in(WrapMode::Loop, 2.0);
    let clip = library.clip(clip);
    let times = |player: &mut Player, dt: &[f64]| -> Vec<Option<f64>> {
        dt.iter().map(|&dt| player.update(dt).map(|phase| phase.time)).collect()
    };
    let playback = Playback { range: Some([0.5, 1.5]), ..Playback::of(clip, Ticks(0)) };
    let mut player = Player::new(clip, playback, 0.25).unwrap();
    assert!(!player.is_playing());
    assert_eq!(times(&mut player, &[1.0]), [None]);
    player.play();
    // The frame in which the delay ends is the first one, and does not advance.
    assert_eq!(times(&mut player, &[0.125, 9.0, 0.25, 1.0]), [None, Some(0.5), Some(0.75), Some(0.75)]);
    assert_eq!(player.accumulated(), 1.75, "counted from the start of the range");
    player.set_time(1.0);
    assert_eq!(times(&mut player, &[9.0, 0.25]), [Some(1.0), Some(1.25)]);
    player.stop();
    assert_eq!(times(&mut player, &[1.0]), [None]);
    assert_eq!(player.accumulated(), 1.25, "the time is kept");

    let mut player = Player::new(clip, Playback::new(WrapMode::Default, Ticks(0), 1.0), 0.0).unwrap();
    player.play();
    assert_eq!(times(&mut player, &[0.0, 2.5]), [Some(0.0), Some(0.5)], "the clip's own mode");
    player.set_repeat_count(Some(9.0)).unwrap();
    player.set_wrap(WrapMode::Normal);
    assert_eq!(player.accumulated(), 0.0);
    assert_eq!(
        times(&mut player, &[0.5, 2.5, 0.5]),
        [Some(0.5), Some(2.0), None],
        "the number of passes follows from the mode again"
    );
    player.set_repeat_count(Some(1.5)).unwrap();
    player.set_rate(-1.0).unwrap();
    player.play();
    assert_eq!(times(&mut player, &[0.0, 0.5, 1.5, 2.5]), [Some(0.0), Some(1.5), Some(0.0), Some(1.0)]);
    assert!(!player.is_playing());

    assert!(player.set_rate(f64::NAN).is_err());
    assert!(player.set_repeat_count(Some(-1.0)).is_err());
    assert!(Player::new(clip, Playback { range: Some([1.0, 0.0]), ..playback }, 0.0).is_err());
}
