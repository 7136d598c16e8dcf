//! Contacts: limits, hysteresis, shortest lengths, and clips that walk.

use glam::{DQuat, DVec3};
use posse::quality::{Foot, GroundLevel, MotionQuality, QualityMeter, Stance};
use posse::{Library, demo};

use super::{FPS, JOINTS, LEFT_FOOT, LEG, RIGHT_FOOT, figure, measure, still};

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

/// On the spot, a foot moves back with the ground at 1 m/s from frame 0 to 18 of 30, in the last 4 of them 0.1 legs
/// above its standing height, as a foot that rolls over its tip. Then it swings forward. At the corners, the velocity
/// is the mean of both sides, too far from the ground's.
#[test]
fn a_foot_that_moves_with_the_ground_stays_in_contact() {
    let way = |shift: u32| {
        move |time: f64| {
            let phase = ((time * FPS).round() as u32 + shift) % 30;
            let height = match phase {
                0..14 => 0.0,
                14..=18 => 0.1 * LEG,
                _ => 0.3 * LEG,
            };
            let stance = 0.3 - f64::from(phase) / FPS;
            let swing = 0.05 * (f64::from(phase) - 24.0);
            DVec3::new(0.0, height, if phase <= 18 { stance } else { swing })
        }
    };
    let (_, feet, contacts) = measure(&figure(121, &[(LEFT_FOOT, &way(0)), (RIGHT_FOOT, &way(15))]));
    super::assert_near(feet.ground_speed, 1.0 / LEG, "speed of the ground");
    let frames = |foot: usize| contacts.of_foot(foot).iter().map(|contact| contact.frames.clone()).collect::<Vec<_>>();
    assert_eq!(frames(0), [0..18, 31..48, 61..78, 91..108]);
    assert_eq!(frames(1), [16..33, 46..63, 76..93, 106..121]);
    super::assert_near(feet.longest_slide, 0.0, "slide on the ground");
}

/// Feet that are low for two frames, and fast, do not tell of a ground that moves.
#[test]
fn a_moment_tells_of_no_moving_ground() {
    let way = |time: f64| DVec3::new(0.0, if time < 0.05 { 0.0 } else { 0.5 }, 10.0 * time.min(0.05));
    let (_, feet, _) = measure(&figure(61, &[(LEFT_FOOT, &way), (RIGHT_FOOT, &way)]));
    super::assert_near(feet.ground_speed, 0.0, "speed of the ground");
}

/// Feet that shake by 5 mm at 30 Hz are faster than the limits from frame to frame of 120 per second, but not over a
/// thirtieth of a second.
#[test]
#[allow(clippy::single_range_in_vec_init, reason = "a list of one contact")]
fn noise_of_a_fast_capture_breaks_no_contact() {
    let (library, clip) = figure(61, &[(LEFT_FOOT, &still)]);
    let stance = Stance::of_clip(&library, clip, GroundLevel::Auto).unwrap();
    let mut rest: Vec<DVec3> = Vec::new();
    for (_, parent, offset) in JOINTS {
        rest.push(parent.map_or(DVec3::ZERO, |parent: usize| rest[parent]) + DVec3::from(offset));
    }
    let mut meter = QualityMeter::new(&stance, 120.0).unwrap();
    for frame in 0..121 {
        let shake = [0.0, 0.005, 0.0, -0.005][frame % 4];
        let places: Vec<DVec3> = rest.iter().map(|place| *place + shake * DVec3::Z).collect();
        meter.add(&places, &[DQuat::IDENTITY; JOINTS.len()]).unwrap();
    }
    let (_, contacts) = meter.finish();
    assert_eq!(contacts.of_foot(0).iter().map(|contact| contact.frames.clone()).collect::<Vec<_>>(), [0..121]);
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
