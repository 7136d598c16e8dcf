//! More events than a list has room for, and more than could be counted one by one.

use posse::{Crowd, Layer, LayerTime, Step, Ticks, WrapMode};

use super::{DAY, SECOND, assert_same, event_clips, playing, step};
use crate::support::each_engine::each_engine;

#[test]
fn events_without_room_are_counted() {
    let (library, skeleton, ids) = event_clips(&[(1.0, &[0.25, 0.5, 0.5, 0.75, 1.0])]);
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
        // Twenty layers with five events per second.
        assert_eq!(counts(10.0, 10), (10, 990));
        assert_eq!(counts(10.0, 999), (999, 1));
        assert_eq!(counts(10.0, 1000), (1000, 0));
        assert_eq!(counts(10.0, 5000), (1000, 0));
        assert_eq!(counts(10.0, 0), (0, 1000));
    });
}

#[test]
fn the_first_256_events_of_a_layer_are_listed() {
    let (library, skeleton, ids) = event_clips(&[(1.0, &[0.25]), (1e-3, &[0.0, 5e-4]), (1e-3, &[1e-3])]);
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
    // Layers with very different loops, in one crowd, over a month.
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
        // The reference is off by one tick, and no more, where the f64 time is next to the exact tick.
        let apart = answer.events.iter().zip(&answers[0].events).map(|(a, b)| (a.tick.0 - b.tick.0).abs());
        assert!(apart.max() <= Some(1));
    }
}

#[test]
fn a_step_over_a_month_of_short_passes_takes_little_time() {
    // One pass per millisecond at rate 1, and ten million passes per second at rate 10,000.
    let (library, skeleton, ids) = event_clips(&[(1e-3, &[0.0, 5e-4, 1e-3])]);
    let month = Step { from: Ticks(0), to: Ticks(30 * DAY) };
    let ages = Step { from: Ticks(-1 << 57), to: Ticks(1 << 57) };
    for (wrap, rate, step, expected) in [
        (WrapMode::Loop, 1.0, month, 3 * 1000 * 86_400 * 30),
        (WrapMode::PingPong, 1.0, month, 2 * 1000 * 86_400 * 30),
        (WrapMode::LoopReverse, -1e4, month, 3 * 10_000_000 * 86_400 * 30),
        // 2^38 s. At its start a ping-pong jumps from one end to the other, which adds one event.
        (WrapMode::Loop, 1e4, ages, 30_000_000 << 38),
        (WrapMode::PingPong, 1e4, ages, (20_000_000 << 38) + 1),
    ] {
        let mut crowd = Crowd::new();
        crowd.push(skeleton, &[Layer::new(ids[0], LayerTime::Playing(playing(wrap, rate)))]).unwrap();
        each_engine(&library, |engine| {
            let found = engine.evaluate_events(&crowd, step, 100).unwrap();
            assert_eq!(found.events.len(), 100);
            let counted = found.missed + 100;
            // Passes per tick are exact to 2^-96 passes, or to an f64. Over such a long step, that is an error of some
            // passes.
            let off = counted.abs_diff(expected);
            let what = format!("{}: {counted} of {expected}, {wrap:?} at rate {rate}", engine.engine());
            assert!(off == 0 || off as f64 <= 1e-15 * expected as f64, "{what}");
            // The first events are listed.
            let last = found.events[99].tick.0 - step.from.0;
            assert!((0..SECOND).contains(&last), "{what}: {last}");
        });
    }
}
