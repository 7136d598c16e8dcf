//! Rules 5 to 7: synchronised layers, markers, and root motion of driven layers.

use posse::root_motion::{RootMotion, RootRotation};
use posse::{ClipId, Crowd, LayerTime, Library, Outputs, Playback, Step, Ticks, WrapMode};

use super::{Rig, constant, keyed, looping, phase, playing, synced};
use crate::support::assert_close::assert_close;
use crate::support::each_engine::each_engine;

/// A leader that moves joint 0, and a follower that moves joint 1, with durations and markers; x is the time of the
/// clip.
fn pair(seconds: [f64; 2], markers: [&[f64]; 2]) -> (Rig, [ClipId; 2]) {
    let mut rig = Rig::new();
    let clips = [rig.moving(0, seconds[0], 1.0), rig.moving(1, seconds[1], 1.0)];
    for (clip, markers) in clips.into_iter().zip(markers) {
        rig.library.set_markers(clip, markers.to_vec()).unwrap();
    }
    (rig, clips)
}

#[test]
fn a_follower_is_at_the_same_part_of_its_clip() {
    let (rig, [lead, own]) = pair([2.0, 4.0], [&[], &[1.0]]);
    let with = |wrap: WrapMode| rig.crowd(&[playing(lead, wrap), synced(own, 0)], Vec::new());
    // The leader is at 0.5 s, at its end, at 0.5 s again, and before its start.
    rig.assert_x(&with(WrapMode::Loop), 1, &[(0.5, 1.0), (2.0, 4.0), (2.5, 1.0), (-0.5, 3.0)]);
    rig.assert_x(&with(WrapMode::Normal), 1, &[(0.5, 1.0), (2.0, 4.0), (9.0, 4.0), (-0.5, 0.0)]);
    rig.assert_x(&with(WrapMode::PingPong), 1, &[(1.5, 3.0), (2.5, 3.0), (3.5, 1.0)]);
    rig.assert_x(&with(WrapMode::Reverse), 1, &[(0.5, 3.0), (9.0, 0.0)]);
    let by_phase = rig.crowd(&[phase(lead, 0, WrapMode::Loop), synced(own, 0)], vec![constant(1.75)]);
    rig.assert_x(&by_phase, 0, &[(0.0, 1.5)]);
    rig.assert_x(&by_phase, 1, &[(0.0, 3.0)]);
}

#[test]
fn a_leader_without_a_duration_gives_0() {
    let mut rig = Rig::new();
    let (still, own) = (rig.standing(5.0), rig.moving(1, 4.0, 1.0));
    let crowd = rig.crowd(&[looping(still), synced(own, 0)], Vec::new());
    rig.assert_x(&crowd, 1, &[(0.5, 0.0), (3.0, 0.0)]);
}

#[test]
fn markers_meet_markers() {
    let (rig, [lead, own]) = pair([4.0, 1.0], [&[1.0, 2.0], &[0.0, 0.75]]);
    let crowd = rig.crowd(&[looping(lead), synced(own, 0)], Vec::new());
    // 1..2 s of the leader are 0..0.75 s, and 2..5 s are 0.75..1 s; times before 1 s count 4 s more.
    let wide = |time: f64| 0.75 + 0.25 * (time - 2.0) / 3.0;
    rig.assert_x(&crowd, 1, &[(1.0, 0.0), (1.5, 0.375), (2.0, 0.75), (3.0, wide(3.0)), (4.0, wide(4.0))]);
    rig.assert_x(&crowd, 1, &[(0.0, wide(4.0)), (0.5, wide(4.5)), (4.5, wide(4.5)), (-2.5, 0.375)]);
}

#[test]
fn a_follower_can_wrap_before_its_leader() {
    let (rig, [lead, own]) = pair([1.0, 4.0], [&[0.0, 0.75], &[1.0, 2.0]]);
    let crowd = rig.crowd(&[playing(lead, WrapMode::Normal), synced(own, 0)], Vec::new());
    // 0.75..1 s become 2..5 s. At 0.9 s it is 2 + 3 x 0.6 = 3.8 s; at 0.95 s it is 4.4 s, which is 0.4 s; at the end 1
    // s.
    rig.assert_x(&crowd, 1, &[(0.0, 1.0), (0.375, 1.5), (0.75, 2.0), (0.875, 3.5)]);
    rig.assert_x(&crowd, 1, &[(0.9375, 2.0 + 3.0 * 0.75 - 4.0), (1.0, 1.0), (5.0, 1.0)]);
}

#[test]
fn the_end_of_a_leader_is_the_end_of_its_follower() {
    for (markers, other) in [([0.0, 0.5], [0.0, 1.0]), ([0.2, 0.7], [0.6, 2.1])] {
        let (rig, [lead, own]) = pair([1.0, 3.0], [&markers, &other]);
        let crowd = rig.crowd(&[playing(lead, WrapMode::Normal), synced(own, 0)], Vec::new());
        // The first pair gives just 3 s by 1 + 1 x (3 - 1), the second one because all markers are at the same parts.
        rig.assert_x(&crowd, 1, &[(1.0, 3.0), (7.0, 3.0)]);
    }
}

#[test]
fn with_markers_in_one_clip_only_the_same_part_counts() {
    for markers in [[&[0.5][..], &[]], [&[], &[0.5]]] {
        let (rig, [lead, own]) = pair([2.0, 4.0], markers);
        let crowd = rig.crowd(&[looping(lead), synced(own, 0)], Vec::new());
        rig.assert_x(&crowd, 1, &[(0.5, 1.0), (1.5, 3.0)]);
    }
    let (rig, [lead, own]) = pair([2.0, 4.0], [&[0.5], &[0.5, 1.0]]);
    let error = rig.crowd(&[looping(lead), synced(own, 0)], Vec::new()).check(&rig.library).unwrap_err().to_string();
    assert!(error.contains("has 2 sync markers") && error.contains("has 1"), "{error}");
}

/// The movement along x from one second to another.
#[track_caller]
fn assert_moves(library: &Library, crowd: &Crowd, cases: &[([f64; 2], f64)]) {
    each_engine(library, |engine| {
        for &([from, to], expected) in cases {
            let step = Step { from: Ticks::from_seconds(from), to: Ticks::from_seconds(to) };
            let outputs = Outputs { root_motion: true, ..Outputs::NONE };
            let poses = engine.evaluate_step(crowd, step, outputs).unwrap();
            let motion = poses.instances[0].root_motion.unwrap();
            let what = format!("{} from {from} s to {to} s", engine.engine());
            assert_close(&motion.translation.to_array(), &[expected, 0.0, 0.0], &what);
        }
    });
}

fn along_x(joint: usize) -> Option<RootMotion> {
    Some(RootMotion { joint, translation: [true, false, false], rotation: RootRotation::None })
}

#[test]
fn a_follower_moves_as_its_clip_time_does() {
    let (mut rig, [lead, own]) = pair([2.0, 1.0], [&[], &[]]);
    rig.library.set_root_motion(own, along_x(1)).unwrap();
    let at_rate = |rate: f64, wrap: WrapMode| {
        let time = LayerTime::Playing(Playback::new(wrap, Ticks(0), rate));
        rig.crowd(&[posse::Layer::new(lead, time), synced(own, 0)], Vec::new())
    };
    // Half a metre per second of the leader, through the end as often as it wraps.
    let cases = [([0.5, 4.5], 2.0), ([4.5, 0.5], -2.0), ([0.0, 2.0], 1.0), ([-3.0, 3.0], 3.0), ([1.75, 2.25], 0.25)];
    assert_moves(&rig.library, &at_rate(1.0, WrapMode::Loop), &cases);
    assert_moves(&rig.library, &at_rate(-1.0, WrapMode::Loop), &[([0.5, 4.5], -2.0), ([-3.0, 3.0], -3.0)]);
    assert_moves(&rig.library, &at_rate(1.0, WrapMode::LoopReverse), &[([0.5, 4.5], -2.0)]);
    // Forwards and back.
    let cases = [([0.5, 1.5], 0.5), ([0.5, 3.5], 0.0), ([1.0, 2.5], 0.25), ([2.5, 3.5], -0.5)];
    assert_moves(&rig.library, &at_rate(1.0, WrapMode::PingPong), &cases);
    assert_moves(&rig.library, &at_rate(1.0, WrapMode::Normal), &[([-1.0, 9.0], 1.0), ([1.0, 9.0], 0.5)]);
}

#[test]
fn a_follower_moves_through_its_end_where_the_map_wraps() {
    let (mut rig, [lead, own]) = pair([2.0, 1.0], [&[0.5], &[0.0]]);
    let crowd = rig.crowd(&[playing(lead, WrapMode::PingPong), synced(own, 0)], Vec::new());
    // The leader at 0.25 s is the follower at (2.25 - 0.5) / 2 = 0.875 s; at 1 s it is 0.25 s: 0.125 m and 0.25 m.
    rig.assert_x(&crowd, 1, &[(0.25, 0.875), (1.0, 0.25)]);
    rig.library.set_root_motion(own, along_x(1)).unwrap();
    // Backwards, the leader is at 1 s at second 3, and at 0.25 s at second 3.75.
    assert_moves(&rig.library, &crowd, &[([0.25, 1.0], 0.375), ([3.0, 3.75], -0.375), ([0.25, 3.75], 0.0)]);
}

#[test]
fn a_phase_moves_from_its_first_to_its_last_value() {
    let mut rig = Rig::new();
    let clip = rig.moving(0, 2.0, 1.0);
    rig.library.set_root_motion(clip, along_x(0)).unwrap();
    let parameters = || vec![keyed(&[[0.0, 0.25], [1.0, 3.0], [2.0, 0.75], [3.0, -1.25]])];
    // Two metres per cycle.
    let crowd = rig.crowd(&[phase(clip, 0, WrapMode::Loop)], parameters());
    assert_moves(&rig.library, &crowd, &[([0.0, 1.0], 5.5), ([0.0, 2.0], 1.0), ([2.0, 3.0], -4.0), ([3.0, 0.0], 3.0)]);
    // Without repetition it stands still below 0 and above 1.
    let once = rig.crowd(&[phase(clip, 0, WrapMode::Normal)], parameters());
    assert_moves(&rig.library, &once, &[([0.0, 1.0], 1.5), ([2.0, 3.0], -1.5), ([0.0, 2.0], 1.0)]);
}
