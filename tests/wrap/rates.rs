use posse::playback::clip_time;
use posse::{Crowd, Layer, LayerTime, Outputs, Playback, Ticks, WrapMode};

use super::{Clock, check, clock};
use crate::support::each_engine::each_engine;

/// The tick at a time in seconds.
fn seconds(seconds: f64) -> Ticks {
    Ticks::from_seconds(seconds)
}

/// The tick at which the rate changes: 10 s.
const CHANGE: Ticks = Ticks(10 * Ticks::PER_SECOND);

fn play(wrap: WrapMode, start: f64, rate: f64) -> Playback {
    Playback::new(wrap, seconds(start), rate)
}

#[test]
fn a_rate_changes_without_a_jump() {
    let ranged = Playback { range: Some([0.5, 1.5]), ..play(WrapMode::Loop, 0.0, 0.25) };
    let counted = Playback { repeat_count: Some(2.5), ..play(WrapMode::Loop, 6.0, 1.0) };
    // A clip of 2 s: the playback, the new rate, and the clip time at the change, 0.5 s after it, and 3 s after it.
    let cases = [
        // The played time is 2.5 s, then 3.5 s, then 8.5 s.
        (play(WrapMode::Loop, 7.5, 1.0), 2.0, [0.5, 1.5, 0.5]),
        (play(WrapMode::Loop, 7.5, 1.0), 0.25, [0.5, 0.625, 1.25]),
        // Backwards through its start: 2.5 s, 2.25 s, 1 s.
        (play(WrapMode::Loop, 7.5, 1.0), -0.5, [0.5, 0.25, 1.0]),
        (play(WrapMode::Loop, 7.5, 0.3), 0.7, [0.75, 1.1, 0.85]),
        // Before its start: -0.5 s, then 0.5 s, then 5.5 s.
        (play(WrapMode::Loop, 10.5, 1.0), 2.0, [1.5, 0.5, 1.5]),
        (play(WrapMode::Loop, 9.5, -1.0), -2.0, [1.5, 0.5, 1.5]),
        // On the way back of a ping-pong: 2.5 s, 3.5 s, 8.5 s.
        (play(WrapMode::PingPong, 7.5, 1.0), 2.0, [1.5, 0.5, 0.5]),
        (play(WrapMode::LoopReverse, 9.5, 1.0), -0.5, [1.5, 1.75, 1.0]),
        (play(WrapMode::PingPongReverse, 9.5, 1.0), 2.0, [1.5, 0.5, 0.5]),
        (play(WrapMode::Normal, 9.5, 1.0), 2.0, [0.5, 1.5, 2.0]),
        (play(WrapMode::Reverse, 9.5, 1.0), 0.5, [1.5, 1.25, 0.0]),
        // A playback that has ended stays at its end. One that has not begun begins at its start.
        (play(WrapMode::Normal, 1.0, 1.0), 3.0, [2.0, 2.0, 2.0]),
        (play(WrapMode::Normal, 10.25, 1.0), 3.0, [0.0, 0.75, 2.0]),
        (play(WrapMode::Reverse, 10.25, 1.0), 0.5, [2.0, 1.875, 0.625]),
        // Two and a half passes: 4 s, which is an end; 4.25 s; 5.5 s, of which 5 s are played.
        (counted, 0.5, [2.0, 0.25, 1.0]),
        // 2.5 passes of one second, then 3, then 5.5.
        (ranged, 1.0, [1.0, 1.5, 1.0]),
        // A playback that stood still was at its start.
        (play(WrapMode::Loop, 7.5, 0.0), 1.0, [0.0, 0.5, 1.0]),
    ];
    let change_rate = |&(before, rate, _): &(Playback, f64, [f64; 3])| before.with_rate_from(CHANGE, rate).unwrap();
    let before: Vec<_> = cases.iter().map(|&(before, _, times)| (before, times[0])).collect();
    check(2.0, CHANGE, &before, 1e-6);
    for (at, later) in [0.0, 0.5, 3.0].into_iter().enumerate() {
        let after: Vec<_> = cases.iter().map(|case| (change_rate(case), case.2[at])).collect();
        // An error of half a tick could move a loop across its end. None of these cases is near an end.
        check(2.0, CHANGE + seconds(later), &after, 1e-6);
    }
    assert_eq!(change_rate(&cases[0]), play(WrapMode::Loop, 8.75, 2.0));
}

#[test]
fn errors_of_many_rate_changes_do_not_add_up() {
    // The rate changes ten times per second for an hour, between two rates that each hold half of the time.
    let mut playback = play(WrapMode::Loop, 0.0, 0.5);
    let mut now = Ticks(0);
    for change in 0..36_000 {
        playback = playback.with_rate_from(now, [1.5, 0.5][change % 2]).unwrap();
        now = now + Ticks(104_857);
    }
    // 36,000 times 104,857 ticks are 3,599.979 s: 514 passes of 7 s, and 1.979 s.
    let played = 36_000.0 * 104_857.0 / Ticks::PER_SECOND as f64;
    // Each change is off by at most half a tick.
    let most = 36_000.0 * 0.5 / Ticks::PER_SECOND as f64;
    check(7.0, now, &[(playback, played - 514.0 * 7.0)], most);
}

#[test]
fn rate_changes_that_no_start_can_express_are_refused() {
    let assert_refused =
        |playback: Playback, rate| assert_eq!(playback.with_rate_from(CHANGE, rate), None, "{playback:?}");
    for rate in [0.0, 1e-300, f64::NAN, f64::INFINITY] {
        assert_refused(play(WrapMode::Loop, 7.5, 1.0), rate);
        assert_refused(play(WrapMode::Loop, 10.5, 1.0), rate);
    }
    for rate in [f64::NAN, f64::INFINITY] {
        assert_refused(play(WrapMode::Normal, 10.5, 1.0), rate);
    }
    // With a reversed rate, a mode other than a loop would come from the other end.
    for wrap in [WrapMode::Normal, WrapMode::PingPong, WrapMode::PingPongReverse] {
        assert_refused(play(wrap, 7.5, 0.0), -1.0);
        assert_refused(play(wrap, 7.5, 1.0), -1.0);
    }
    for wrap in [WrapMode::Loop, WrapMode::LoopReverse] {
        assert_eq!(play(wrap, 7.5, 0.0).with_rate_from(CHANGE, -1.0), Some(play(wrap, 10.0, -1.0)));
    }
    for wrap in [WrapMode::Default, WrapMode::Normal, WrapMode::Reverse] {
        assert_refused(play(wrap, 9.5, 1.0), -1.0);
        assert_refused(play(wrap, 10.5, 1.0), 0.0);
        assert_eq!(play(wrap, 10.5, 1.0).with_rate_from(CHANGE, -1.0), Some(play(wrap, 10.5, -1.0)));
    }
    // Ticks at the ends of the clock.
    let first = Playback::new(WrapMode::Loop, Ticks(i64::MIN), 1.0);
    assert_eq!(first.with_rate_from(Ticks(i64::MAX), 1.0), None);
    assert_eq!(first.delayed(Ticks(-1)), first);
}

#[test]
fn a_playback_can_pause_continue_and_reverse() {
    let Clock { library, clip } = clock(2.0);
    let playing = play(WrapMode::PingPong, 7.5, 1.0);
    let paused = LayerTime::At(clip_time(LayerTime::Playing(playing), CHANGE, library.clip(clip)));
    let mut crowd = Crowd::new();
    crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, paused)]).unwrap();
    each_engine(&library, |engine| {
        for now in [CHANGE, seconds(12.0)] {
            let poses = engine.evaluate(&crowd, now, Outputs { local: true, ..Outputs::NONE }).unwrap();
            assert!((poses.instances[0].local[0].translation.x - 1.5).abs() < 1e-6, "{}", engine.engine());
        }
    });
    // Four seconds later it continues backwards as before: 2.5 s are played at 14 s, and 3 s at 14.5 s.
    let on = playing.delayed(seconds(4.0));
    // A single pass that is reversed at 0.75 s plays back to the start of the clip.
    let back = Playback { range: Some([0.0, 0.75]), ..Playback::new(WrapMode::Reverse, seconds(14.0), 1.0) };
    check(2.0, seconds(14.0), &[(on, 1.5), (back, 0.75)], 1e-6);
    check(2.0, seconds(14.5), &[(on, 1.0), (back, 0.25)], 1e-6);
    check(2.0, seconds(15.5), &[(on, 0.0), (back, 0.0)], 1e-6);
}
