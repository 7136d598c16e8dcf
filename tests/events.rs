//! Events that a player fires from frame to frame.

use posse::events::Event;
use posse::low_level::reference::Events;
use posse::playback::Player;
use posse::{Clip, Library, Playback, Skeleton, Ticks, WrapMode};
use serde_json::Value;

use crate::support::skip::collected_or_skip;

/// A clip that has only events.
fn clip_with_events(duration: f64, times: impl IntoIterator<Item = f64>) -> Clip {
    let skeleton = Library::new().add_skeleton(Skeleton::new(None, Vec::new(), Vec::new()).unwrap());
    let event = |time| Event { time, ..Event::default() };
    let events = times.into_iter().map(event).collect();
    Clip { length: Some(duration), events, ..Clip::new(None, skeleton, Vec::new()) }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn events_are_those_of_the_collected_figures() {
    let Some(file) = collected_or_skip("cocos/events.json", "the collected figures of events") else { return };
    let figures: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let (mut updates, mut fired, mut lingering) = (0, 0, 0);
    for run in figures["runs"].as_array().unwrap() {
        let clip = clip_with_events(run["duration"].as_f64().unwrap(), numbers(&run["frames"]));
        let wrap = WrapMode::from_name(run["mode"].as_str().unwrap()).unwrap();
        let playback = Playback::new(wrap, Ticks(0), run["speed"].as_f64().unwrap());
        let mut player = Player::new(&clip, playback, 0.0).unwrap();
        player.play();
        let frames = numbers(&run["dt"]).into_iter().zip(numbers(&run["accum"])).zip(run["fired"].as_array().unwrap());
        let mut before = None;
        for ((dt, accumulated), expected) in frames {
            let names = expected.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
            let expected: Vec<usize> = names.map(|name| name.strip_prefix('e').unwrap().parse().unwrap()).collect();
            player.update(dt);
            assert_eq!(player.accumulated(), accumulated, "{run}");
            assert_eq!(player.fired(), expected, "at {accumulated} of {run}");
            let alone = Events::new(&clip).fired(&playback, before, accumulated);
            if alone != expected {
                // In a reversed ping-pong, Cocos Creator takes the first step for a turn, and continues in that
                // direction.
                assert!(wrap == WrapMode::PingPong && playback.rate < 0.0, "from {before:?} to {accumulated} of {run}");
                lingering += 1;
            }
            before = Some(accumulated);
            updates += 1;
            fired += expected.len();
        }
    }
    assert!(updates > 60 && fired > 10, "only {updates} updates, {fired} events");
    assert_eq!(lingering, 2);
}

#[test]
fn a_player_fires_the_events_that_its_frames_pass() {
    let clip = clip_with_events(1.0, [0.0, 0.25, 0.25, 0.75]);
    let mut player = Player::new(&clip, Playback::looping(0.0, 2.0), 0.0).unwrap();
    let frames = |player: &mut Player, dt: &[f64]| -> Vec<Vec<usize>> {
        let fire = |&dt: &f64| {
            player.update(dt);
            player.fired().to_vec()
        };
        dt.iter().map(fire).collect()
    };
    assert_eq!(frames(&mut player, &[1.0]), [[0; 0]], "no event before it plays");
    player.play();
    let expected = [vec![0], vec![1, 2], vec![3], vec![0]];
    assert_eq!(frames(&mut player, &[9.0, 0.25, 0.125, 0.1875]), expected);
    player.set_time(0.75);
    assert_eq!(frames(&mut player, &[9.0, 0.0625]), [vec![3], vec![]]);
    player.stop();
    assert_eq!(frames(&mut player, &[9.0]), [[0; 0]]);
}
