//! Foot locking: a walk without an error on a rig whose legs have other proportions.

use std::path::Path;

use glam::DVec3;
use posse::ik::ChainId;
use posse::import::bvh;
use posse::quality::{FeetQuality, FootContacts, FootLock, GroundLevel, MotionQuality, QualityMeter, Stance};
use posse::retarget::{JointMap, RetargetOptions};
use posse::{ClipId, Crowd, Evaluator, Layer, LayerTime, Library, Outputs, Pose, Reference, SkeletonId, Ticks};

use crate::support::each_engine::each_engine;
use crate::support::walking::{self, FPS, STANCE, THIGH_AND_CALF};

const FRAMES: usize = 181;

fn import(library: &mut Library, thigh_and_calf: [f64; 2], frames: usize) -> (SkeletonId, ClipId) {
    let text = walking::bvh(thigh_and_calf, frames);
    let import = bvh::from_slice(library, Path::new("walk.bvh"), text.as_bytes()).unwrap();
    (import.skeleton, import.clip)
}

/// The walk on a rig with legs of these lengths.
fn retargeted(thigh_and_calf: [f64; 2]) -> (Library, ClipId) {
    let mut library = Library::new();
    let (source, walk) = import(&mut library, THIGH_AND_CALF, FRAMES);
    let (target, _) = import(&mut library, thigh_and_calf, 1);
    let map = JointMap::by_names(&library, source, target).unwrap();
    let result = library.retarget(&[walk], &map, &RetargetOptions::default()).unwrap();
    let clip = result.clips[0].clip;
    (library, clip)
}

/// A clip whose feet are held.
struct Locked {
    library: Library,
    clip: ClipId,
    stance: Stance,
    lock: FootLock,
    before: FeetQuality,
    contacts: FootContacts,
}

impl Locked {
    fn new((mut library, clip): (Library, ClipId)) -> Self {
        let skeleton = library.clip(clip).skeleton;
        let chains: Vec<ChainId> = FootLock::add_chains(&mut library, skeleton).unwrap();
        let stance = Stance::of_clip(&library, clip, GroundLevel::Auto).unwrap();
        let (quality, contacts) = MotionQuality::of_clip_on(&library, clip, FPS, &stance).unwrap();
        let lock = FootLock::new(clip, chains, stance.clone(), contacts.clone());
        Self { library, clip, stance, lock, before: quality.feet.unwrap(), contacts }
    }

    /// The poses of all frames, with held feet.
    fn poses(&self, engine: &mut dyn Evaluator, frames: usize) -> Vec<Pose> {
        let mut crowd = Crowd::new();
        for frame in 0..frames {
            let time = frame as f64 / FPS;
            let layers = [Layer::new(self.clip, LayerTime::At(time))];
            let instance = crowd.push(self.library.clip(self.clip).skeleton, &layers).unwrap();
            crowd.set_goals(instance, self.lock.goals(&self.library, time)).unwrap();
        }
        engine.evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap().instances
    }

    /// The measures of these poses.
    fn measure(&self, poses: &[Pose]) -> MotionQuality {
        let mut meter = QualityMeter::new(&self.stance, FPS).unwrap();
        for pose in poses {
            let places: Vec<DVec3> = pose.model.iter().map(|matrix| matrix.translation).collect();
            let rotations: Vec<_> = pose.local.iter().map(|local| local.rotation).collect();
            meter.add(&places, &rotations).unwrap();
        }
        meter.finish().0
    }
}

/// The generator of the walk is right: each foot is planted for 0.6 s of each second, and does not move.
#[test]
fn the_walk_has_no_skate() {
    let mut library = Library::new();
    let (_, walk) = import(&mut library, THIGH_AND_CALF, FRAMES);
    let (quality, contacts) = MotionQuality::of_clip(&library, walk, FPS, GroundLevel::Auto).unwrap();
    let feet = quality.feet.as_ref().unwrap();
    assert!((quality.unit - 0.85).abs() < 1e-9, "leg {}", quality.unit);
    for foot in 0..2 {
        assert!((contacts.share(foot) - STANCE).abs() < 0.1, "{feet:?}");
    }
    assert!(feet.slide_speed < 0.02 && feet.longest_slide < 0.02, "{feet:?}");
    assert!(feet.ground_speed == 0.0 && quality.jumps.count == 0, "{quality:?}");
    // The left foot is planted from 0 s, 1 s and 2 s on; the right one until 0.1 s, and from 0.5 s, 1.5 s and 2.5 s on.
    assert_eq!((contacts.of_foot(0).len(), contacts.of_foot(1).len()), (3, 4), "{contacts:?}");
}

/// Thighs that are shorter and calves that are longer make planted feet slide. Held feet slide less than a tenth as
/// far. The skate also has the speed of low feet that take off and land: the speed of the walk without an error is left
/// out.
#[test]
fn held_feet_hardly_slide() {
    let mut library = Library::new();
    let (_, walk) = import(&mut library, THIGH_AND_CALF, FRAMES);
    let (quality, _) = MotionQuality::of_clip(&library, walk, FPS, GroundLevel::Auto).unwrap();
    let steps = quality.feet.unwrap().skate;
    for legs in [[0.36, 0.50], [0.50, 0.36], [0.72, 1.0]] {
        let locked = Locked::new(retargeted(legs));
        let poses = locked.poses(&mut Reference::new(&locked.library), FRAMES);
        let after = locked.measure(&poses);
        let (before, feet) = (&locked.before, after.feet.clone().unwrap());
        assert!(before.slide_speed > 0.03, "{legs:?} do not slide: {before:?}");
        assert!(feet.slide_speed < 0.1 * before.slide_speed, "{legs:?}: {before:?}, then {feet:?}");
        assert!(feet.longest_slide < 0.1 * before.longest_slide, "{legs:?}: {before:?}, then {feet:?}");
        assert!(feet.skate - steps < 0.5 * (before.skate - steps), "{legs:?}: {before:?}, then {feet:?}");
        assert_eq!(after.jumps.count, 0, "{legs:?}: {:?}", after.jumps);
    }
}

/// A figure on straight legs that slides ahead: no plane tells where its knees bend. They bend towards the front.
#[test]
fn straight_legs_are_held_on_every_engine() {
    const SLIDE: f64 = 0.08;
    let text = walking::bvh(THIGH_AND_CALF, FRAMES);
    let (hierarchy, _) = text.split_once("MOTION").unwrap();
    let mut text = format!("{hierarchy}MOTION\nFrames: {FRAMES}\nFrame Time: {}\n", 1.0 / FPS);
    for frame in 0..FRAMES {
        text.push_str(&format!("0 0.88 {} 0 0 0{}\n", SLIDE * frame as f64 / FPS, " 0".repeat(51)));
    }
    let mut library = Library::new();
    let walk = bvh::from_slice(&mut library, Path::new("slide.bvh"), text.as_bytes()).unwrap().clip;
    let locked = Locked::new((library, walk));
    assert!((locked.before.slide_speed - SLIDE / 0.85).abs() < 1e-3, "{:?}", locked.before);
    each_engine(&locked.library, |engine| {
        let poses = locked.poses(engine, FRAMES);
        let feet = locked.measure(&poses).feet.unwrap();
        assert!(feet.slide_speed < 0.05 * locked.before.slide_speed, "{}: {feet:?}", engine.engine());
        // The foot is held 0.12 m ahead of the hip, as far away as the leg is long but for a ten-thousandth. By the law
        // of cosines, the knee is then 6 mm beside the line from the hip to the ankle.
        for foot in &locked.stance.feet {
            let [hip, knee, ankle] = foot.leg.map(|joint| poses[0].model[joint].translation);
            let aside = (knee - hip).reject_from(ankle - hip);
            assert!(aside.z > 0.003 && aside.x.abs() < 0.001, "{}: {aside}", engine.engine());
        }
    });
}

/// Bones keep their lengths, the foot its rotation and its height, and all above the legs stays.
#[test]
fn legs_are_not_stretched_and_the_rest_stays() {
    let locked = Locked::new(retargeted([0.36, 0.50]));
    let poses = locked.poses(&mut Reference::new(&locked.library), FRAMES);
    for (frame, pose) in poses.iter().enumerate() {
        let mut crowd = Crowd::new();
        let layers = [Layer::new(locked.clip, LayerTime::At(frame as f64 / FPS))];
        crowd.push(locked.library.clip(locked.clip).skeleton, &layers).unwrap();
        let free =
            Reference::new(&locked.library).evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap().instances.remove(0);
        for (index, foot) in locked.stance.feet.iter().enumerate() {
            let [hip, knee, ankle] = foot.leg.map(|joint| pose.model[joint].translation);
            assert!((hip.distance(knee) - 0.36).abs() < 1e-6 && (knee.distance(ankle) - 0.50).abs() < 1e-6);
            assert!(hip.distance(ankle) < 0.86 * 0.9999);
            let matrices = [&pose.model[foot.leg[2]], &free.model[foot.leg[2]]];
            let rotated = matrices[0].matrix3 - matrices[1].matrix3;
            assert!(rotated.to_cols_array().iter().all(|number| number.abs() < 1e-6), "frame {frame}");
            if locked.contacts.at(index, frame as u64).is_some() {
                let heights = matrices.map(|matrix| matrix.translation.y);
                assert!((heights[0] - heights[1]).abs() < 1e-4, "frame {frame}: {heights:?}");
            }
        }
        let above: Vec<usize> = (0..pose.model.len())
            .filter(|&joint| {
                let skeleton = locked.library.skeleton(locked.library.clip(locked.clip).skeleton);
                !skeleton.joint_name(joint).contains("Leg")
                    && !skeleton.joint_name(joint).contains("Foot")
                    && !skeleton.joint_name(joint).contains("Toe")
            })
            .collect();
        assert!(above.iter().all(|&joint| pose.model[joint] == free.model[joint]));
    }
}

/// Every engine holds the feet: the goals belong to crowds.
#[test]
fn every_engine_holds_feet() {
    let locked = Locked::new(retargeted([0.36, 0.50]));
    each_engine(&locked.library, |engine| {
        let poses = locked.poses(engine, FRAMES);
        let feet = locked.measure(&poses).feet.unwrap();
        assert!(feet.slide_speed < 0.1 * locked.before.slide_speed, "{}: {feet:?}", engine.engine());
    });
}

/// The walk ends in the pose with which it begins, in the middle of a contact of the right foot. Both ends of the walk
/// with held feet have one pose, too.
#[test]
fn held_feet_have_no_seam_in_a_loop() {
    let locked = Locked::new(retargeted([0.36, 0.50]));
    assert!(locked.contacts.is_loop());
    let poses = locked.poses(&mut Reference::new(&locked.library), FRAMES);
    let [first, last] = [&poses[0], &poses[FRAMES - 1]];
    for joint in 0..first.model.len() {
        let [from, to] = [first, last].map(|pose| pose.model[joint].translation - pose.model[0].translation);
        assert!(from.distance(to) < 1e-6, "joint {joint}: {from} and {to}");
    }
    let goals = locked.lock.goals(&locked.library, 0.0);
    assert!(!goals.is_empty());
}

/// Beyond the ends of a clip, its pose stays, and the ground under it, too.
#[test]
fn feet_stay_beyond_the_ends_of_a_clip() {
    let library = posse::demo::library().unwrap();
    let clip = library.find_clip("walk").unwrap();
    let locked = Locked::new((library, clip));
    assert!(locked.stance.ground_velocity.length() > 0.0);
    let duration = locked.library.clip(clip).duration();
    for (beyond, end) in [(100.0, duration), (-100.0, 0.0)] {
        let goals = locked.lock.goals(&locked.library, end);
        assert!(!goals.is_empty(), "no foot is held at {end} s");
        assert_eq!(locked.lock.goals(&locked.library, beyond), goals, "at {beyond} s");
    }
}

/// A walk on the spot has feet that move with the ground: they are held on it. Where its knees are straight, they are
/// raised.
#[test]
fn the_walk_of_the_demo_is_held_on_its_ground() {
    let library = posse::demo::library().unwrap();
    let clip = library.find_clip("walk").unwrap();
    let locked = Locked::new((library, clip));
    let held = locked.poses(&mut Reference::new(&locked.library), locked.contacts.frames() as usize);
    let (mut before, mut after) = (0.0, 0.0);
    for (frame, held) in held.iter().enumerate() {
        let time = frame as f64 / FPS;
        let mut crowd = Crowd::new();
        crowd.push(locked.library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(time))]).unwrap();
        let mut free = Reference::new(&locked.library).evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap();
        let free = free.instances.remove(0);
        for (index, foot) in locked.stance.feet.iter().enumerate() {
            let Some(contact) = locked.contacts.at(index, frame as u64) else { continue };
            let place = contact.place + time * locked.stance.ground_velocity;
            let away = |pose: &Pose| locked.stance.horizontal(pose.model[foot.pivot()].translation - place).length();
            before += away(&free);
            after += away(held);
        }
    }
    assert!(before > 0.0 && after < 0.05 * before, "{before}, then {after}");
}
