//! Crowds that change from frame to frame.

use std::time::Duration;

use bevy::prelude::*;
use bevy_posse::{CrowdClock, CrowdRig, JointSocket, Posse};
use posse::{Evaluator, Outputs, Reference};

use crate::headless;
use crate::stage::{Stage, layers, rig};

#[test]
fn characters_that_come_and_go_keep_their_poses_apart() {
    let mut stage = Stage::new();
    for instance in 0..24 {
        stage.app.world_mut().despawn(stage.characters[instance]);
    }
    stage.frames(1);
    // In another order, so that each gets the slot of another one.
    for instance in (0..24).rev() {
        stage.characters[instance] = stage.spawn(instance);
    }
    stage.frames(2);
    stage.check();
}

#[test]
fn a_crowd_outgrows_its_buffers() {
    let mut stage = Stage::new();
    // Behind the camera, so that the picture stays the same.
    for _ in 0..100 {
        let hidden = Posse::new(stage.rig.clone(), layers(&stage.scene, 0));
        stage.app.world_mut().spawn((hidden, Transform::from_xyz(0.0, 0.0, 500.0)));
    }
    stage.frames(2);
    stage.check();
}

#[test]
fn two_cameras_see_the_same_poses() {
    let mut stage = Stage::new();
    let second = stage.add_camera();
    stage.frames(2);
    stage.check();
    stage.check_film(&second);
}

#[test]
fn the_clock_follows_the_pause_and_the_speed_of_time() {
    let mut stage = Stage::new();
    let now = |stage: &Stage| stage.app.world().resource::<CrowdClock>().now();
    let time = |stage: &mut Stage, change: fn(&mut Time<Virtual>)| {
        change(&mut stage.app.world_mut().resource_mut::<Time<Virtual>>());
    };
    let before = now(&stage);
    time(&mut stage, |time| time.pause());
    stage.frames(2);
    assert_eq!(now(&stage), before);
    time(&mut stage, |time| time.unpause());
    time(&mut stage, |time| time.set_relative_speed(3.0));
    stage.frames(1);
    let moved = Duration::from_secs_f64((now(&stage) - before).to_seconds());
    assert!(moved.abs_diff(3 * headless::STEP) < Duration::from_millis(1), "{moved:?}");
    stage.check();
}

#[test]
fn characters_change_their_rig_and_rigs_change() {
    let mut stage = Stage::new();
    let copy = rig(&stage.scene, &stage.figure, stage.app.world_mut());
    let copy = stage.app.world_mut().resource_mut::<Assets<CrowdRig>>().add(copy);
    stage.rig = copy.clone();
    for instance in 0..12 {
        stage.app.world_mut().despawn(stage.characters[instance]);
        stage.characters[instance] = stage.spawn(instance);
    }
    stage.frames(3);
    stage.check();

    // The same asset with other content, as after a change of its file.
    stage.app.world_mut().resource_mut::<Time<Virtual>>().unpause();
    let again = stage.app.world().resource::<Assets<CrowdRig>>().get(&copy).unwrap().clone();
    let _ = stage.app.world_mut().resource_mut::<Assets<CrowdRig>>().insert(copy.id(), again);
    stage.frames(3);
    stage.check();
}

#[test]
fn a_socket_follows_its_joint() {
    let mut stage = Stage::new();
    let character = stage.characters[7];
    let socket = JointSocket { character, joint: "hand.R".into() };
    let socket = stage.app.world_mut().spawn((socket, ChildOf(character))).id();
    stage.frames(2);
    let now = stage.app.world().resource::<CrowdClock>().now();
    let outputs = Outputs { model: true, ..Outputs::NONE };
    let poses = Reference::new(&stage.scene.library).evaluate(&stage.scene.crowd, now, outputs).unwrap();
    let joint = stage.scene.skeleton().find_joint("hand.R").unwrap();
    let expected = poses.instances[7].model[joint].translation.as_vec3();
    let expected = stage.scene.placements[7].to_world().transform_point3(expected);
    let found = stage.app.world().get::<GlobalTransform>(socket).unwrap().translation();
    assert!(found.distance(expected) < 1e-4, "{found}, but expected {expected}");
}
