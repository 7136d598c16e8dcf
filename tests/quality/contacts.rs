//! Contacts: limits, hysteresis, shortest lengths, and clips that walk.

use glam::DVec3;
use posse::quality::{Foot, GroundLevel, MotionQuality};
use posse::{Library, demo};

use super::{FPS, LEFT_FOOT, LEG, RIGHT_FOOT, figure, measure, still};

/// The frames of the contacts of the left foot, whose height above standing is given for each second, in legs.
fn contacts_at(heights: &[f64]) -> Vec<std::ops::Range<u64>> {
    let seconds = heights.len();
    let height = |time: f64| heights[((time + 1e-9).floor() as usize).min(seconds - 1)] * LEG;
    let frames = seconds * FPS as usize;
    let clip = figure(frames, &[(LEFT_FOOT, &|time| DVec3::new(0.0, height(time), 0.0)), (RIGHT_FOOT, &still)]);
    let (_, _, contacts) = measure(&clip);
    contacts.of_foot(0).iter().map(|contact| contact.frames.clone()).collect()
}

/// A foot leaves the ground above 0.08 legs, and comes back below 0.04.
#[test]
fn height_has_a_hysteresis() {
    assert_eq!(contacts_at(&[0.0, 0.06, 0.1, 0.06, 0.03, 0.1]), [0..60, 120..150]);
}

/// It leaves the ground above 0.5 legs per second, and comes back below 0.25.
#[test]
fn speed_has_a_hysteresis() {
    let speeds = [0.0, 0.4, 0.8, 0.4, 0.2, 1.0];
    let way = |time: f64| {
        let second = (time.floor() as usize).min(speeds.len() - 1);
        let before: f64 = speeds[..second].iter().sum();
        DVec3::new(0.0, 0.0, LEG * (before + speeds[second] * (time - second as f64)))
    };
    let (_, _, contacts) = measure(&figure(180, &[(LEFT_FOOT, &way), (RIGHT_FOOT, &still)]));
    let frames: Vec<_> = contacts.of_foot(0).iter().map(|contact| contact.frames.clone()).collect();
    // The velocity of a frame at a corner is the mean of both sides: 0.6, 0.6, 0.3 and 0.6.
    assert_eq!(frames, [0..60, 121..150], "{frames:?}");
    assert_eq!(contacts.of_foot(1)[0].frames, 0..180);
}

/// A gap of one frame is none, and a contact of two frames is none.
#[test]
#[allow(clippy::single_range_in_vec_init, reason = "a list of one contact")]
fn short_gaps_and_contacts_are_dropped() {
    let lifted = |frames: &'static [std::ops::Range<u32>]| {
        move |time: f64| {
            let frame = (time * FPS).round() as u32;
            let is_up = frames.iter().any(|range| range.contains(&frame));
            DVec3::new(0.0, if is_up { 0.2 } else { 0.0 }, 0.0)
        }
    };
    let frames = |lifted: &dyn Fn(f64) -> DVec3| {
        let (_, _, contacts) = measure(&figure(90, &[(LEFT_FOOT, lifted), (RIGHT_FOOT, &still)]));
        contacts.of_foot(0).iter().map(|contact| contact.frames.clone()).collect::<Vec<_>>()
    };
    assert_eq!(frames(&lifted(&[30..31])), [0..90]);
    assert_eq!(frames(&lifted(&[30..33])), [0..30, 33..90]);
    assert_eq!(frames(&lifted(&[30..40, 42..50])), [0..30, 50..90]);
    assert_eq!(frames(&lifted(&[30..40, 43..50])), [0..30, 40..43, 50..90]);
    // The clip cuts a contact at its end.
    assert_eq!(frames(&lifted(&[30..89])), [0..30, 89..90]);
}

/// In contact, the feet of the walk and the run of the demo stay with the ground that moves under them.
#[test]
fn the_walk_of_the_demo_has_contacts_in_turns() {
    let library = demo::library().unwrap();
    for (name, shares) in [("walk", 0.3..0.75), ("run", 0.15..0.5)] {
        let clip = library.find_clip(name).unwrap();
        let (quality, contacts) = MotionQuality::of_clip(&library, clip, 60.0, GroundLevel::Auto).unwrap();
        let feet = quality.feet.clone().expect("a human");
        assert!(feet.ground_speed > 0.5, "{name} is on the spot: {feet:?}");
        let frames = contacts.frames();
        for foot in 0..2 {
            assert!(shares.contains(&contacts.share(foot)), "{name}: {feet:?}");
        }
        // Half a cycle later, the other foot is in contact.
        let cycle = frames - 1;
        let same = (0..cycle)
            .filter(|&frame| contacts.at(0, frame).is_some() == contacts.at(1, (frame + cycle / 2) % cycle).is_some());
        assert!(same.count() as u64 * 10 >= cycle * 9, "{name}: {contacts:?}");
        let never = (0..frames).filter(|&frame| (0..2).all(|foot| contacts.at(foot, frame).is_some())).count() as u64;
        assert!(never * 2 < frames, "{name}: both feet are in contact in {never} of {frames} frames");
    }
}

#[test]
fn the_idle_of_the_demo_stands() {
    let library = demo::library().unwrap();
    let clip = library.find_clip("idle").unwrap();
    let (quality, _) = MotionQuality::of_clip(&library, clip, 60.0, GroundLevel::Auto).unwrap();
    let feet = quality.feet.clone().expect("a human");
    assert_eq!(feet.contact, [1.0, 1.0]);
    assert!(feet.ground_speed == 0.0 && quality.jumps.count == 0, "{quality:?}");
}

#[test]
fn feet_have_heels_and_toes() {
    let library: Library = demo::library().unwrap();
    let skeleton = library.clips()[0].skeleton;
    let feet = Foot::of_skeleton(&library, skeleton);
    let name = |joint: usize| library.skeleton(skeleton).joints()[joint].name.clone().unwrap();
    for (foot, side) in feet.iter().zip(["L", "R"]) {
        assert_eq!(foot.leg.map(name), ["thigh", "calf", "foot"].map(|part| format!("{part}.{side}")));
        assert_eq!(foot.toe.map(name), Some(format!("ball.{side}")));
    }
}
