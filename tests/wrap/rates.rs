use posse::clip_time;
use posse::{Crowd, Layer, LayerTime, Outputs, Playback, Ticks, WrapMode};

use super::{check, clock};
use crate::support::each_engine::each_engine;

/// A tick at so many seconds.
fn seconds(seconds: f64) -> Ticks {
    Ticks::from_seconds(seconds)
}

/// When the rate changes: at 10 s.
const CHANGE: Ticks = Ticks(10 * Ticks::PER_SECOND);

fn play(wrap: WrapMode, start: f64, rate: f64) -> Playback {
    Playback::new(wrap, seconds(start), rate)
}

#[test]
fn a_rate_changes_without_a_jump_by_hand() {
    let ranged = Playback { range: Some([0.5, 1.5]), ..play(WrapMode::Loop, 0.0, 0.25) };
    let counted = Playback { repeat_count: Some(2.5), ..play(WrapMode::Loop, 6.0, 1.0) };
    // A clip of 2 s: the play, the new rate, where it is at the change, 0.5 s after it, and 3 s after it.
    let cases = [
        // 2.5 s are played, then 3.5, then 8.5.
        (play(WrapMode::Loop, 7.5, 1.0), 2.0, [0.5, 1.5, 0.5]),
        (play(WrapMode::Loop, 7.5, 1.0), 0.25, [0.5, 0.625, 1.25]),
        // Back through its start: 2.5, 2.25, 1.
        (play(WrapMode::Loop, 7.5, 1.0), -0.5, [0.5, 0.25, 1.0]),
        (play(WrapMode::Loop, 7.5, 0.3), 0.7, [0.75, 1.1, 0.85]),
        // Before its start: -0.5, then 0.5, then 5.5.
        (play(WrapMode::Loop, 10.5, 1.0), 2.0, [1.5, 0.5, 1.5]),
        (play(WrapMode::Loop, 9.5, -1.0), -2.0, [1.5, 0.5, 1.5]),
        // On its way back: 2.5, 3.5, 8.5.
        (play(WrapMode::PingPong, 7.5, 1.0), 2.0, [1.5, 0.5, 0.5]),
        (play(WrapMode::LoopReverse, 9.5, 1.0), -0.5, [1.5, 1.75, 1.0]),
        (play(WrapMode::PingPongReverse, 9.5, 1.0), 2.0, [1.5, 0.5, 0.5]),
        (play(WrapMode::Normal, 9.5, 1.0), 2.0, [0.5, 1.5, 2.0]),
        (play(WrapMode::Reverse, 9.5, 1.0), 0.5, [1.5, 1.25, 0.0]),
        // Over, and over it stays; not begun, and begun when it was to be.
        (play(WrapMode::Normal, 1.0, 1.0), 3.0, [2.0, 2.0, 2.0]),
        (play(WrapMode::Normal, 10.25, 1.0), 3.0, [0.0, 0.75, 2.0]),
        (play(WrapMode::Reverse, 10.25, 1.0), 0.5, [2.0, 1.875, 0.625]),
        // Two passes and a half: 4 s, which is an end; 4.25; 5.5, of which 5 are played.
        (counted, 0.5, [2.0, 0.25, 1.0]),
        // 2.5 passes of one second, 3, and 5.5.
        (ranged, 1.0, [1.0, 1.5, 1.0]),
        // What stood, stood where it begins.
        (play(WrapMode::Loop, 7.5, 0.0), 1.0, [0.0, 0.5, 1.0]),
    ];
    let changed = |&(before, rate, _): &(Playback, f64, [f64; 3])| before.with_rate_from(CHANGE, rate).unwrap();
    let before: Vec<_> = cases.iter().map(|&(before, _, times)| (before, times[0])).collect();
    check(2.0, CHANGE, &before, 1e-6);
    for (at, later) in [0.0, 0.5, 3.0].into_iter().enumerate() {
        let after: Vec<_> = cases.iter().map(|case| (changed(case), case.2[at])).collect();
        // A play that is off by half a tick may be on the other side of a loop's end, which none of these is.
        check(2.0, CHANGE + seconds(later), &after, 1e-6);
    }
    assert_eq!(changed(&cases[0]), play(WrapMode::Loop, 8.75, 2.0));
}

#[test]
fn a_rate_changes_often_and_nothing_adds_up() {
    // Ten times a second for an hour, between two rates: each is half of the time.
    let mut playback = play(WrapMode::Loop, 0.0, 0.5);
    let mut now = Ticks(0);
    for change in 0..36_000 {
        playback = playback.with_rate_from(now, [1.5, 0.5][change % 2]).unwrap();
        now = now + Ticks(104_857);
    }
    // 36,000 times 104,857 ticks are 3,599.979 s, of which 7 s are played 514 times, and 1.979 s.
    let played = 36_000.0 * 104_857.0 / Ticks::PER_SECOND as f64;
    // At most half a tick each time.
    let most = 36_000.0 * 0.5 / Ticks::PER_SECOND as f64;
    check(7.0, now, &[(playback, played - 514.0 * 7.0)], most);
}

#[test]
fn what_no_start_can_do_is_refused() {
    let refused = |playback: Playback, rate| assert_eq!(playback.with_rate_from(CHANGE, rate), None, "{playback:?}");
    for rate in [0.0, 1e-300, f64::NAN, f64::INFINITY] {
        refused(play(WrapMode::Loop, 7.5, 1.0), rate);
        refused(play(WrapMode::Loop, 10.5, 1.0), rate);
    }
    for rate in [f64::NAN, f64::INFINITY] {
        refused(play(WrapMode::Normal, 10.5, 1.0), rate);
    }
    // Back from where it stands, or turned round, it would come from the other end, but for a loop.
    for wrap in [WrapMode::Normal, WrapMode::PingPong, WrapMode::PingPongReverse] {
        refused(play(wrap, 7.5, 0.0), -1.0);
        refused(play(wrap, 7.5, 1.0), -1.0);
    }
    for wrap in [WrapMode::Loop, WrapMode::LoopReverse] {
        assert_eq!(play(wrap, 7.5, 0.0).with_rate_from(CHANGE, -1.0), Some(play(wrap, 10.0, -1.0)));
    }
    for wrap in [WrapMode::Default, WrapMode::Normal, WrapMode::Reverse] {
        refused(play(wrap, 9.5, 1.0), -1.0);
        refused(play(wrap, 10.5, 1.0), 0.0);
        assert_eq!(play(wrap, 10.5, 1.0).with_rate_from(CHANGE, -1.0), Some(play(wrap, 10.5, -1.0)));
    }
    // The clock's ends.
    let first = Playback::looping(Ticks(i64::MIN), 1.0);
    assert_eq!(first.with_rate_from(Ticks(i64::MAX), 1.0), None);
    assert_eq!(first.delayed(Ticks(-1)), first);
}

#[test]
fn a_play_pauses_goes_on_and_turns_round() {
    let super::Clock { library, clip } = clock(2.0);
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
    // Four seconds later it goes on, backwards as before: 2.5 s are played at 14 s, and 3 at 14.5 s.
    let on = playing.delayed(seconds(4.0));
    // A play of one pass turns at 0.75 s, and stops where it began.
    let back = Playback { range: Some([0.0, 0.75]), ..Playback::new(WrapMode::Reverse, seconds(14.0), 1.0) };
    check(2.0, seconds(14.0), &[(on, 1.5), (back, 0.75)], 1e-6);
    check(2.0, seconds(14.5), &[(on, 1.0), (back, 0.25)], 1e-6);
    check(2.0, seconds(15.5), &[(on, 0.0), (back, 0.0)], 1e-6);
}
