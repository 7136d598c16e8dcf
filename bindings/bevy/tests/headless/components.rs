//! Components that ask for more than layers: goals, root motion, sockets.

use bevy::math::Affine3A;
use bevy::prelude::*;
use bevy_posse::{
    ChainGoal, ChainGoals, ClipLayer, CrowdClock, CrowdRig, JointSocket, LayerTransition, MovedByRoot, Posse,
};
use posse::ik::{Chain, ChainId, ChainKind, Goal, GoalTarget};
use posse::root_motion::{Motion, RootMotion};
use posse::transitions::NewTransition;
use posse::{Crowd, Error, Evaluator, Layer, LayerTime, Library, Outputs, Playback, Reference, Step, Ticks, WrapMode};

use crate::stage::Stage;

/// Changes the library of the rig, and the library of the scene in the same way.
pub fn edit<T>(stage: &mut Stage, change: impl Fn(&mut Library) -> Result<T, Error>) -> T {
    change(&mut stage.scene.library).unwrap();
    let mut rigs = stage.app.world_mut().resource_mut::<Assets<CrowdRig>>();
    let mut rig = rigs.get_mut(&stage.rig).unwrap();
    rig.edit(change).unwrap()
}

/// The place of a joint in the reference, in the space of its character, at the present time.
fn joint_place(stage: &Stage, instance: usize, joint: &str) -> Vec3 {
    let now = stage.app.world().resource::<CrowdClock>().now();
    let outputs = Outputs { model: true, ..Outputs::NONE };
    let crowd = stage.scene.crowd.at(now);
    let poses = Reference::new(&stage.scene.library).evaluate(&crowd, now, outputs).unwrap();
    let joint = stage.scene.skeleton().find_joint(joint).unwrap();
    poses.instances[instance].model[joint].translation.as_vec3()
}

/// Spawns an entity that follows the right hand of a character.
fn follow_hand(stage: &mut Stage, instance: usize) -> Entity {
    let character = stage.characters[instance];
    let socket = JointSocket { character, joint: "hand.R".into() };
    stage.app.world_mut().spawn((socket, ChildOf(character))).id()
}

/// Checks that the socket is at the hand of the reference, and returns the place.
fn check_hand(stage: &Stage, instance: usize, socket: Entity) -> Vec3 {
    let expected = joint_place(stage, instance, "hand.R");
    let found = stage.app.world().get::<Transform>(socket).unwrap().translation;
    assert!(found.distance(expected) < 1e-4, "{found}, but expected {expected}");
    found
}

#[test]
fn a_socket_follows_its_joint_through_a_transition() {
    let mut stage = Stage::new();
    let socket = follow_hand(&mut stage, 7);
    stage.frames(1);
    check_hand(&stage, 7, socket);
    let mut character = stage.app.world_mut().entity_mut(stage.characters[7]);
    character.insert(LayerTransition { half_life: 0.2, ..default() });
    character.get_mut::<Posse>().unwrap().layers = vec![ClipLayer::looping("jump")];
    stage.frames(1);
    let now = stage.app.world().resource::<CrowdClock>().now();
    let jump = stage.scene.library.find_clip("jump").unwrap();
    let layers = [Layer::new(jump, LayerTime::Playing(Playback::looping(0.0, 1.0)))];
    let new = NewTransition { half_life: 0.2, ..NewTransition::new(7, &layers, now) };
    stage.scene.crowd.begin_transition(&stage.scene.library, &new).unwrap();
    for _ in 0..3 {
        stage.frames(1);
        let found = check_hand(&stage, 7, socket);
        // Without the transition, the hand is elsewhere.
        let moving = stage.scene.crowd.clone();
        let skeleton = stage.scene.crowd.skeleton(7);
        stage.scene.crowd.set(7, skeleton, &layers).unwrap();
        let jumped = joint_place(&stage, 7, "hand.R");
        assert!(found.distance(jumped) > 0.02, "{found} is the place without a transition");
        stage.scene.crowd = moving;
    }
    stage.check();
}

/// Adds a chain of the right arm.
pub fn add_arm(library: &mut Library) -> Result<ChainId, Error> {
    let skeleton = library.skeleton_ids().next().unwrap();
    let joints = ["upper_arm.R", "lower_arm.R", "hand.R"];
    let joints = joints.map(|name| library.skeleton(skeleton).find_joint(name).unwrap());
    let kind = ChainKind::TwoBone { joints, pole: None, hold: false };
    library.add_chain(Chain { name: Some("arm".into()), skeleton, kind })
}

#[test]
fn hands_reach_for_their_goals() {
    let mut stage = Stage::new();
    let chain = edit(&mut stage, add_arm);
    let socket = follow_hand(&mut stage, 3);
    // A fixed target for one half; one that follows from parameters for the other.
    let target = |instance: usize, step: f64| match instance % 2 {
        0 => GoalTarget::Point([-0.5, 1.2 + 0.1 * step, 0.2]),
        _ => GoalTarget::Parameters([0, 1, 2]),
    };
    for step in [0.0, 1.0] {
        for instance in 0..24 {
            let values = [-0.35, 1.05 + 0.2 * step as f32, 0.25];
            let goal = target(instance, step);
            stage.scene.crowd.set_goals(instance, [Goal::new(chain, goal)]).unwrap();
            let parameters = values.map(|value| posse::parameters::Parameter::constant(f64::from(value)).unwrap());
            stage.scene.crowd.set_parameters(instance, parameters).unwrap();
            let mut character = stage.app.world_mut().entity_mut(stage.characters[instance]);
            character.insert(ChainGoals(vec![ChainGoal::new("arm", goal)]));
            character.get_mut::<Posse>().unwrap().parameters = values.to_vec();
        }
        stage.frames(2);
        let hand = check_hand(&stage, 3, socket);
        assert!(hand.distance(Vec3::new(-0.35, 1.05 + 0.2 * step as f32, 0.25)) < 1e-3, "the hand is at {hand}");
        stage.check();
    }

    // A change of one character alone, one without goals, and a new one in the slot of another.
    let moved = GoalTarget::Point([-0.3, 1.6, 0.1]);
    stage.scene.crowd.set_goals(4, [Goal::new(chain, moved)]).unwrap();
    let world = stage.app.world_mut();
    world.get_mut::<ChainGoals>(stage.characters[4]).unwrap().0 = vec![ChainGoal::new("arm", moved)];
    world.entity_mut(stage.characters[5]).remove::<ChainGoals>();
    world.despawn(stage.characters[6]);
    stage.frames(1);
    stage.characters[6] = stage.spawn(6);
    for instance in [5, 6] {
        stage.scene.crowd.set_goals(instance, []).unwrap();
    }
    stage.frames(2);
    stage.check();
}

/// Lets all clips move their characters over the ground.
pub fn add_roots(stage: &mut Stage) {
    edit(stage, |library| {
        let skeleton = library.skeleton_ids().next().unwrap();
        let root = RootMotion::on_ground(library.skeleton(skeleton), 0)?;
        let clips: Vec<_> = library.clip_ids().collect();
        for clip in clips {
            library.set_root_motion(clip, Some(root))?;
        }
        Ok(())
    });
}

#[test]
fn clips_move_their_characters() {
    let mut stage = Stage::new();
    add_roots(&mut stage);
    // The rig is looked at again, before the first movement.
    stage.app.world_mut().resource_mut::<Time<Virtual>>().pause();
    stage.frames(2);
    for &character in &stage.characters {
        stage.app.world_mut().entity_mut(character).insert(MovedByRoot);
    }
    stage.app.world_mut().resource_mut::<Time<Virtual>>().unpause();
    let mut motions = vec![Motion::IDENTITY; stage.characters.len()];
    let outputs = Outputs { root_motion: true, ..Outputs::NONE };
    for _ in 0..7 {
        stage.frames(1);
        let step = stage.app.world().resource::<CrowdClock>().step();
        let poses = Reference::new(&stage.scene.library).evaluate_step(&stage.scene.crowd, step, outputs).unwrap();
        for (motion, pose) in motions.iter_mut().zip(poses.instances) {
            *motion = motion.then(pose.root_motion.unwrap());
        }
    }
    let mut moved = 0.0_f32;
    for ((motion, placement), &character) in motions.iter().zip(&mut stage.scene.placements).zip(&stage.characters) {
        let rotation = motion.rotation.as_quat();
        let before = placement.to_world();
        let after = before * Affine3A::from_rotation_translation(rotation, motion.translation.as_vec3());
        let found = stage.app.world().get::<Transform>(character).unwrap();
        assert!(found.compute_affine().abs_diff_eq(after, 1e-4), "{found:?}, but expected {after:?}");
        moved = moved.max(found.translation.distance(before.translation.into()));
        placement.position = found.translation.into();
        placement.heading += rotation.to_euler(EulerRot::YXZ).0;
    }
    assert!(moved > 0.01, "no character has moved by more than {moved} m");
    stage.check();
}

/// The movement of a clip in a step of its play since tick 0, in the reference.
pub fn motion_of(stage: &Stage, clip: &str, step: Step) -> Motion {
    let library = &stage.scene.library;
    let clip = library.find_clip(clip).unwrap();
    let mut crowd = Crowd::new();
    let layer = Layer::new(clip, LayerTime::Playing(Playback::looping(0.0, 1.0)));
    crowd.push(library.clip(clip).skeleton, &[layer]).unwrap();
    let outputs = Outputs { root_motion: true, ..Outputs::NONE };
    let poses = Reference::new(library).evaluate_step(&crowd, step, outputs).unwrap();
    poses.instances[0].root_motion.unwrap()
}

/// Checks that a character has moved like this since it was at the origin.
pub fn check_moved(stage: &Stage, character: Entity, motion: Motion) {
    let expected = Affine3A::from_rotation_translation(motion.rotation.as_quat(), motion.translation.as_vec3());
    let found = stage.app.world().get::<Transform>(character).unwrap().compute_affine();
    assert!(found.abs_diff_eq(expected, 1e-4), "{found:?}, but expected {expected:?}");
}

/// A new character begins with the frame after its first one, as do new layers.
#[test]
fn a_step_belongs_to_the_layers_before_it() {
    let mut stage = Stage::new();
    add_roots(&mut stage);
    stage.frames(2);
    for has_transition in [false, true] {
        let runner = stage.app.world_mut().spawn((Posse::looping(stage.rig.clone(), "run"), MovedByRoot)).id();
        if has_transition {
            stage.app.world_mut().entity_mut(runner).insert(LayerTransition::default());
        }
        let mut motion = Motion::IDENTITY;
        stage.frames(1);
        check_moved(&stage, runner, motion);
        for (next, played) in
            [(None, "run"), (Some("idle"), "run"), (None, "idle"), (Some("walk"), "idle"), (None, "walk")]
        {
            if let Some(next) = next {
                stage.app.world_mut().get_mut::<Posse>(runner).unwrap().layers = vec![ClipLayer::looping(next)];
            }
            stage.frames(1);
            let step = stage.app.world().resource::<CrowdClock>().step();
            let [by_played, by_run] = [played, "run"].map(|clip| motion_of(&stage, clip, step));
            let difference = by_played.translation.distance(by_run.translation);
            assert!((difference < 1e-9) == (played == "run"), "the clips move by the same way");
            motion = motion.then(by_played);
            check_moved(&stage, runner, motion);
        }
        stage.app.world_mut().despawn(runner);
    }
}

/// The phase of a run follows from a parameter, which passes the end of the clip.
#[test]
fn a_parameter_moves_a_character_through_its_clip() {
    let mut stage = Stage::new();
    add_roots(&mut stage);
    stage.frames(2);
    let phase = |clip: &str| vec![ClipLayer::new(clip, LayerTime::Phase { parameter: 0, wrap: WrapMode::Loop })];
    let posse = Posse { parameters: vec![0.75], ..Posse::new(stage.rig.clone(), phase("run")) };
    let runner = stage.app.world_mut().spawn((posse, MovedByRoot)).id();
    stage.frames(2);
    let mut motion = Motion::IDENTITY;
    check_moved(&stage, runner, motion);
    let run = stage.scene.library.find_clip("run").unwrap();
    let duration = stage.scene.library.clip(run).duration();
    for [from, to] in [[0.75, 0.875], [0.875, 1.0625], [1.0625, 1.25], [1.25, 1.125]] {
        stage.app.world_mut().get_mut::<Posse>(runner).unwrap().parameters = vec![to as f32];
        stage.frames(1);
        let [from, to] = [from, to].map(|phase| Ticks::from_seconds(phase * duration));
        let moved = motion_of(&stage, "run", Step { from, to });
        assert!(moved.translation.length() > 1e-3, "the run moves by {moved:?}");
        motion = motion.then(moved);
        check_moved(&stage, runner, motion);
    }

    // Also while the clock stands. A layer that plays stands then.
    stage.app.world_mut().resource_mut::<Time<Virtual>>().pause();
    stage.frames(2);
    check_moved(&stage, runner, motion);
    stage.app.world_mut().get_mut::<Posse>(runner).unwrap().parameters = vec![1.5];
    stage.frames(1);
    let [from, to] = [1.125, 1.5].map(|phase| Ticks::from_seconds(phase * duration));
    motion = motion.then(motion_of(&stage, "run", Step { from, to }));
    check_moved(&stage, runner, motion);
    stage.app.world_mut().get_mut::<Posse>(runner).unwrap().layers = vec![ClipLayer::looping("walk")];
    stage.frames(1);
    stage.app.world_mut().get_mut::<Posse>(runner).unwrap().parameters = vec![1.75];
    stage.frames(2);
    check_moved(&stage, runner, motion);

    // A parameter of other layers is no movement.
    let mut posse = stage.app.world_mut().get_mut::<Posse>(runner).unwrap();
    (posse.layers, posse.parameters) = (phase("walk"), vec![0.5]);
    stage.frames(2);
    check_moved(&stage, runner, motion);

    // More parameters than a character can have are refused, and move it in no frame.
    stage.app.world_mut().get_mut::<Posse>(runner).unwrap().parameters = vec![0.75; 17];
    stage.frames(3);
    check_moved(&stage, runner, motion);
}
