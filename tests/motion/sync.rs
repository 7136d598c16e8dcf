use posse::parameters::Parameter;
use posse::{Clip, Crowd, Layer, LayerMode, LayerTime, Playback, WrapMode};

use super::{add_clip, assert_as_reference, assert_x, crowd_of, follower, ramp, rig, step, ticks};
use crate::support::scenes::Numbers;

#[test]
fn a_follower_is_at_the_same_part_or_between_the_same_markers() {
    let (mut library, skeleton) = rig();
    let lead = ramp(&mut library, skeleton, 4.0, &[1.0, 2.0]);
    let plain = ramp(&mut library, skeleton, 1.0, &[]);
    let marked = ramp(&mut library, skeleton, 1.0, &[0.0, 0.75]);
    let (mut crowd, mut expected) = (Crowd::new(), Vec::new());
    // By hand: the same part of the clip.
    let parts = [(0.0, 0.0), (1.0, 0.25), (3.0, 0.75), (4.0, 1.0), (-2.0, 0.0), (99.0, 1.0)];
    // 1..2 s becomes 0..0.75 s, and 2..5 s becomes 0.75..1 s; 0 s is 4 s.
    let spans = [(1.0, 0.0), (1.5, 0.375), (2.0, 0.75), (3.0, 0.75 + 0.25 / 3.0), (0.5, 0.75 + 0.25 * 2.5 / 3.0)];
    for (clip, cases) in [(plain, &parts[..]), (marked, &spans[..])] {
        for &(at, time) in cases {
            let leader = Layer { weight: 0.0, ..Layer::new(lead, LayerTime::At(at)) };
            crowd.push(skeleton, &[leader, follower(clip)]).unwrap();
            expected.push(time);
        }
    }
    assert_x(&library, &crowd, ticks(3.5), &expected);
}

#[test]
fn a_follower_follows_a_play_and_a_parameter() {
    let (mut library, skeleton) = rig();
    let lead = ramp(&mut library, skeleton, 4.0, &[]);
    let own = ramp(&mut library, skeleton, 1.0, &[]);
    let still = Clip { length: Some(0.0), ..Clip::new(None, skeleton, Vec::new()) };
    let still = library.add_clip(still).unwrap();
    let silent = |time| Layer { weight: 0.0, ..Layer::new(lead, time) };
    let looping = silent(LayerTime::Playing(Playback::looping(1.0, 2.0)));
    let phase = silent(LayerTime::Phase { parameter: 0, wrap: WrapMode::PingPong });
    let nothing = Layer { weight: 0.0, ..Layer::new(still, LayerTime::Playing(Playback::looping(0.0, 1.0))) };
    let instances = [
        (vec![looping, follower(own)], &[][..]),
        (vec![phase, follower(own)], &[1.75][..]),
        (vec![nothing, follower(own)], &[][..]),
        (vec![looping, follower(still)], &[][..]),
    ];
    // At 3.5 s, the leader has played 5 s, which is 1 s.
    assert_x(&library, &crowd_of(skeleton, instances), ticks(3.5), &[0.25, 0.25, 0.0, 0.0]);
}

/// Leaders of every kind, with followers of every kind.
fn leaders(count: usize, seed: u64) -> (posse::Library, Crowd) {
    let (mut library, skeleton) = rig();
    let marks: [(f64, &[f64]); 5] =
        [(1.0, &[]), (0.8, &[0.1, 0.3, 0.7]), (1.5, &[0.0, 0.4, 1.4]), (0.6, &[0.2, 0.3, 0.5]), (2.0, &[1.0])];
    let clips: Vec<_> = (10..)
        .zip(marks)
        .map(|(seed, (seconds, marks))| add_clip(&mut library, skeleton, seconds, marks, seed))
        .collect();
    let mut numbers = Numbers::new(seed);
    let mut crowd = Crowd::new();
    while crowd.len() < count {
        let wrap = WrapMode::ALL[numbers.below(WrapMode::ALL.len())];
        let mut playback = Playback::new(wrap, ticks(numbers.within(-3.0, 3.0)), numbers.within(-2.0, 2.0));
        if numbers.below(3) == 0 {
            playback.range = Some([numbers.within(0.0, 0.3), numbers.within(0.4, 0.6)]);
        }
        if numbers.below(3) == 0 {
            playback.repeat_count = Some(numbers.within(0.1, 6.0));
        }
        let time = match numbers.below(4) {
            0 => LayerTime::At(numbers.within(-0.5, 2.5)),
            1 => LayerTime::Phase { parameter: 0, wrap },
            _ => LayerTime::Playing(playback),
        };
        let layer = |index: usize, time| Layer { weight: 0.5 + index as f64, ..Layer::new(clips[index], time) };
        let mut layers = vec![layer(numbers.below(5), time)];
        for _ in 0..1 + numbers.below(3) {
            let mode = if numbers.below(3) == 0 { LayerMode::Override } else { LayerMode::Blend };
            let weight = numbers.within(0.1, 1.0);
            let synced = LayerTime::Synced { leader: 0 };
            layers.push(Layer { mode, weight, ..layer(numbers.below(5), synced) });
        }
        let keys = vec![[0.0, numbers.within(-3.0, 3.0)], [4.0, numbers.within(-3.0, 3.0)]];
        let mut alone = Crowd::new();
        alone.push(skeleton, &layers).unwrap();
        // Clips with different numbers of markers cannot follow each other.
        if alone.check(&library).is_ok() {
            let instance = crowd.push(skeleton, &layers).unwrap();
            crowd.set_parameters(instance, vec![Parameter::new(keys).unwrap()]).unwrap();
        }
    }
    (library, crowd)
}

#[test]
fn followers_of_every_kind_of_leader_are_within_the_contract() {
    let (library, crowd) = leaders(300, 5);
    let steps = [step(0.0, 0.5), step(1.0, 3.7), step(2.5, 0.25), step(-2.0, 2.0), step(0.0, 6.0)];
    assert_as_reference(&library, &crowd, &steps);
}

#[test]
fn followers_reach_the_events_of_the_reference() {
    let (library, crowd) = leaders(200, 6);
    for step in [step(0.0, 0.5), step(1.0, 3.7), step(-2.0, 2.0), step(0.0, 6.0)] {
        super::assert_same_events(&library, &crowd, step);
    }
}

#[test]
fn a_leader_at_a_marker_has_its_follower_at_the_marker() {
    let (mut library, skeleton) = rig();
    let lead = ramp(&mut library, skeleton, 1.0, &[0.25, 0.75]);
    let own = ramp(&mut library, skeleton, 1.0, &[0.0, 0.5]);
    let leader = Layer { weight: 0.0, ..Layer::new(lead, LayerTime::Playing(Playback::looping(0.0, 1.0))) };
    let crowd = crowd_of(skeleton, [(vec![leader, follower(own)], &[][..])]);
    for (now, time) in [(0.25, 0.0), (0.75, 0.5), (1000.25, 0.0), (1.0, 0.75)] {
        assert_x(&library, &crowd, ticks(now), &[time]);
    }
}
