//! Crowds that change from frame to frame.

use std::time::Duration;

use bevy::camera::visibility::{NoCpuCulling, NoFrustumCulling, VisibilityRange};
use bevy::mesh::MeshTag;
use bevy::prelude::*;
use bevy_posse::{ClipLayer, CrowdClock, CrowdMaterial, CrowdRig, CrowdRigParts, JointSocket, LayerTransition, Posse};
use posse::transitions::NewTransition;
use posse::{Evaluator, Layer, LayerTime, Outputs, Playback, Reference, WrapMode};

use crate::headless;
use crate::scene::Scene;
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

/// Characters keep their slots while their rig is away, so that new ones do not get them.
#[test]
fn a_rig_comes_back_to_its_characters() {
    let mut stage = Stage::new();
    let world = stage.app.world_mut();
    let rig = world.resource_mut::<Assets<CrowdRig>>().remove(&stage.rig).unwrap();
    stage.frames(2);
    let _ = stage.app.world_mut().resource_mut::<Assets<CrowdRig>>().insert(stage.rig.id(), rig);
    for instance in 12..24 {
        stage.app.world_mut().despawn(stage.characters[instance]);
    }
    stage.frames(2);
    for instance in 12..24 {
        stage.characters[instance] = stage.spawn(instance);
    }
    stage.frames(3);
    stage.check();
    let tags: std::collections::HashSet<u32> =
        stage.characters.iter().map(|&character| stage.app.world().get::<MeshTag>(character).unwrap().value).collect();
    assert_eq!(tags.len(), 24, "characters share slots: {tags:?}");
}

/// Drivers that a rig does not have: the character stands, as it does without layers, or goes on as before.
#[test]
fn a_character_with_a_error_leaves_others_alone() {
    let mut stage = Stage::new();
    let mut other = stage.scene.library.clone();
    let knots = || posse::parameters::Knots::new(vec![[0.0, 0.0], [1.0, 1.0]]).unwrap();
    let knots = [other.add_knots(knots()), other.add_knots(knots())][1];
    let driver = Some(posse::parameters::WeightDriver::Knots { parameter: 0, knots });
    let bad = vec![ClipLayer { driver, ..ClipLayer::looping("walk") }];
    stage.app.world_mut().get_mut::<Posse>(stage.characters[2]).unwrap().layers = bad.clone();
    stage.app.world_mut().despawn(stage.characters[5]);
    stage.characters[5] = stage.spawn(5);
    let mut newcomer = stage.app.world_mut().get_mut::<Posse>(stage.characters[5]).unwrap();
    (newcomer.layers, newcomer.parameters) = (bad, vec![f32::NAN]);
    let skeleton = stage.scene.crowd.skeleton(5);
    stage.scene.crowd.set(5, skeleton, &[]).unwrap();
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

/// The reference begins the same transitions at the same tick.
#[test]
fn other_layers_come_in_by_transitions() {
    let mut stage = Stage::new();
    // In the second round, each transition interrupts one.
    for (clip, step) in [("jump", 8), ("idle", 3)] {
        for &character in stage.characters.iter().step_by(step) {
            let mut character = stage.app.world_mut().entity_mut(character);
            character.insert(LayerTransition { half_life: 0.2, ..default() });
            character.get_mut::<Posse>().unwrap().layers = vec![ClipLayer::looping(clip)];
        }
        stage.frames(1);
        let now = stage.app.world().resource::<CrowdClock>().now();
        let Scene { library, crowd, .. } = &mut stage.scene;
        let clip = library.find_clip(clip).unwrap();
        let layers = [Layer::new(clip, LayerTime::Playing(Playback::looping(0.0, 1.0)))];
        for instance in (0..24).step_by(step) {
            let new = NewTransition::new(instance, &layers, now);
            crowd.begin_transition(library, &NewTransition { half_life: 0.2, ..new }).unwrap();
        }
        stage.frames(2);
    }
    stage.check();
}

#[test]
fn hidden_characters_are_not_posed() {
    check_unposed(|mut character| {
        character.insert(Visibility::Hidden);
    });
}

/// The GPU culls characters, so that the plugin itself finds the characters that no camera sees.
#[test]
fn characters_out_of_view_are_not_posed() {
    check_unposed(|mut character| {
        assert!(character.contains::<NoCpuCulling>());
        character.insert(Transform::from_xyz(0.0, 0.0, 500.0));
    });
}

/// Bevy culls these on the CPU.
#[test]
fn characters_out_of_range_are_not_posed() {
    check_unposed(|mut character| {
        character.insert(VisibilityRange::abrupt(0.0, 1.0));
        assert!(!character.contains::<NoCpuCulling>());
    });
}

/// Bevy makes no frustum of a light that no camera sees.
#[test]
fn lights_out_of_view_see_no_characters() {
    let mut stage = Stage::new();
    for place in [Vec3::new(0.0, 0.0, 900.0), Vec3::new(0.0, 0.0, 505.0)] {
        let place = Transform::from_translation(place).looking_to(Vec3::Z, Vec3::Y);
        stage.app.world_mut().spawn((SpotLight { shadow_maps_enabled: true, ..default() }, place));
        stage.app.world_mut().spawn((PointLight { shadow_maps_enabled: true, ..default() }, place));
    }
    let hidden = DirectionalLight { shadow_maps_enabled: true, ..default() };
    let sun = stage.app.world_mut().spawn((hidden, Transform::default().looking_to(Vec3::NEG_Z, Vec3::Y))).id();
    // Its cascades stay as they were when it was shown.
    stage.frames(2);
    stage.app.world_mut().entity_mut(sun).insert(Visibility::Hidden);
    check_unposed_in(stage, |mut character| {
        character.insert(Transform::from_xyz(0.0, 0.0, 500.0));
    });
}

/// Takes characters out of sight, and checks that their matrices stay as they are: meshes without a character show
/// them.
fn check_unposed(take_away: impl Fn(EntityWorldMut)) {
    check_unposed_in(Stage::new(), take_away);
}

/// The same in a scene.
fn check_unposed_in(mut stage: Stage, take_away: impl Fn(EntityWorldMut)) {
    let before = stage.app.world().resource::<CrowdClock>().now();
    for &character in &stage.characters {
        let world = stage.app.world_mut();
        let mut look = world.query::<(&Mesh3d, &MeshMaterial3d<CrowdMaterial>, &MeshTag, &Transform)>();
        let (mesh, material, tag, transform) = look.get(world, character).unwrap();
        let ghost = (mesh.clone(), material.clone(), tag.clone(), *transform, NoFrustumCulling);
        world.spawn(ghost);
        take_away(world.entity_mut(character));
    }
    stage.frames(6);
    assert!(stage.app.world().resource::<CrowdClock>().now() > before);
    stage.check_at(before);
}

#[test]
fn a_living_character_changes_its_rig() {
    let mut stage = Stage::new();
    let plain = Posse::new(stage.rig.clone(), layers(&stage.scene, 0));
    let plain = stage.app.world_mut().spawn((plain, Transform::from_xyz(0.0, 0.0, 500.0))).id();
    stage.frames(2);
    // A second skin, so that each character has twice as many matrices.
    let skin = stage.scene.library.skins()[0].clone();
    stage.scene.library.add_skin(skin).unwrap();
    let other = rig(&stage.scene, &stage.figure, stage.app.world_mut());
    let skinning = other.skinning();
    let other = stage.app.world_mut().resource_mut::<Assets<CrowdRig>>().add(other);
    for &character in stage.characters[..12].iter().chain([&plain]) {
        let world = stage.app.world_mut();
        world.get_mut::<Posse>(character).unwrap().rig = other.clone();
        if character != plain {
            // A material of one's own names the matrices of a rig.
            let material = world.get::<MeshMaterial3d<CrowdMaterial>>(character).unwrap().0.clone();
            let mut materials = world.resource_mut::<Assets<CrowdMaterial>>();
            materials.get_mut(&material).unwrap().extension = skinning.clone();
        }
    }
    stage.frames(3);
    stage.check();
    let world = stage.app.world();
    let part = &world.resource::<CrowdRigParts>().of(&other)[0];
    assert_eq!(world.get::<MeshMaterial3d<CrowdMaterial>>(plain).unwrap().0, part.material);
    assert_eq!(world.get::<Mesh3d>(stage.characters[0]).unwrap().0, part.mesh);

    // The slots in the first rig are free: it has the indices of 25 characters.
    let free: Vec<Entity> = (0..13).map(|instance| stage.spawn(instance)).collect();
    stage.frames(1);
    let matrices = 25 * stage.scene.skeleton().joints().len() as u32;
    for character in free {
        let tag = stage.app.world().get::<MeshTag>(character).unwrap();
        assert!(tag.value < matrices, "{tag:?}, but expected less than {matrices}");
    }
}

/// The phase of a clip follows from the second parameter. The reference has the time of the clip.
#[test]
fn parameters_stay_with_their_characters() {
    let mut stage = Stage::new();
    let set = |stage: &mut Stage, instance: usize, parameters: &[f32]| {
        let library = &stage.scene.library;
        let walk = library.find_clip("walk").unwrap();
        let phase = f64::from(parameters.get(1).copied().unwrap_or(0.0));
        let layer = Layer::new(walk, LayerTime::At(phase * library.clip(walk).duration()));
        stage.scene.crowd.set(instance, library.clip(walk).skeleton, &[layer]).unwrap();
        let mut posse = stage.app.world_mut().get_mut::<Posse>(stage.characters[instance]).unwrap();
        posse.layers = vec![ClipLayer::new("walk", LayerTime::Phase { parameter: 1, wrap: WrapMode::Loop })];
        posse.parameters = parameters.to_vec();
    };
    for instance in 0..24 {
        set(&mut stage, instance, &[9.0, 0.04 * instance as f32]);
    }
    stage.frames(2);
    stage.check();

    // Parameters that are not there any more are 0, also for a new character in the slot of another one.
    set(&mut stage, 13, &[9.0]);
    set(&mut stage, 14, &[]);
    stage.app.world_mut().despawn(stage.characters[15]);
    stage.frames(1);
    stage.characters[15] = stage.spawn(15);
    set(&mut stage, 15, &[]);
    stage.frames(2);
    stage.check();

    // A larger crowd on the device.
    for _ in 0..100 {
        let hidden = Posse::new(stage.rig.clone(), layers(&stage.scene, 0));
        stage.app.world_mut().spawn((hidden, Transform::from_xyz(0.0, 0.0, 500.0)));
    }
    stage.frames(2);
    stage.check();
}
