//! Characters that cannot be shown as they ask.

use bevy::app::PluginGroupBuilder;
use bevy::camera::visibility::NoFrustumCulling;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::error_handler::{RenderErrorHandler, RenderErrorPolicy};
use bevy::render::render_resource::WgpuLimits;
use bevy::render::settings::{RenderCreation, WgpuSettings};
use bevy_posse::{ChainGoal, ChainGoals, ClipLayer, CrowdClock, CrowdRig, MovedByRoot, Posse};
use posse::LayerTime;
use posse::ik::GoalTarget;
use posse::root_motion::Motion;

use crate::components::{add_arm, add_roots, check_moved, edit, motion_of};
use crate::squares::{Squares, times};
use crate::stage::{Stage, layers};

/// The most bytes that shaders read from a buffer, on a device with little room. Bevy itself needs as much.
const LITTLE: u64 = 1 << 20;

/// Bevy's renderer on such a device.
fn with_little_room(plugins: PluginGroupBuilder) -> PluginGroupBuilder {
    let limits = WgpuLimits { max_storage_buffer_binding_size: LITTLE, ..WgpuLimits::unlimited() };
    let settings = WgpuSettings { constrained_limits: Some(limits), ..default() };
    let render_creation = RenderCreation::Automatic(Box::new(settings));
    plugins.set(RenderPlugin { render_creation, synchronous_pipeline_compilation: true, ..default() })
}

/// Errors of the device.
#[derive(Resource, Default)]
struct Errors(Vec<String>);

/// Notes the errors of the device, also one that has come before.
fn note_errors(world: &mut World) {
    world.init_resource::<Errors>();
    world.insert_resource(RenderErrorHandler(|error, world, _| {
        world.resource_mut::<Errors>().0.push(error.description.clone());
        RenderErrorPolicy::StopRendering
    }));
}

/// 9,000 vertices with three displacements of 48 bytes each.
#[test]
fn too_many_morphs_for_the_device_are_left_out() {
    let mut squares = Squares::with("morph_limit", 1500, ("wander", &times()), with_little_room);
    note_errors(squares.app.world_mut());
    squares.frames(3);
    squares.displacements = [0.0; 2];
    squares.check();
    assert_eq!(squares.app.world().resource::<Errors>().0, [""; 0]);
}

/// 16,384 characters with two matrices of 48 bytes each do not fit. They stand, and the app goes on. They are hidden,
/// because Bevy's own buffers would not fit either.
#[test]
fn too_many_characters_for_the_device_are_an_error() {
    let mut squares = Squares::with("crowd_limit", 1, ("wander", &[LayerTime::At(0.0)]), with_little_room);
    note_errors(squares.app.world_mut());
    let many = Posse::new(squares.rig.clone(), [ClipLayer::new("wander", LayerTime::At(0.0))]);
    squares.app.world_mut().spawn_batch(vec![(many, Visibility::Hidden); 9000]);
    squares.frames(4);
    assert_eq!(squares.app.world().resource::<Errors>().0, [""; 0]);
}

/// Asks for an edit of the rig at the end of each frame.
#[derive(Resource)]
struct Edits;

/// New characters of a rig that is edited after the plugin has looked at them have no place on the device until the
/// next frame. The list of visible characters is then longer than the device has room for.
#[test]
fn characters_of_an_edited_rig_wait_for_the_next_frame() {
    let mut stage = Stage::new();
    let rig = stage.rig.clone();
    let edit = move |mut rigs: ResMut<Assets<CrowdRig>>| rigs.get_mut(&rig).unwrap().edit(|_| Ok(())).unwrap();
    stage.app.add_systems(Last, edit.run_if(resource_exists::<Edits>));
    note_errors(stage.app.world_mut());
    // Behind the camera, so that the picture stays the same.
    let hidden = Posse::new(stage.rig.clone(), layers(&stage.scene, 0));
    let away = Transform::from_xyz(0.0, 0.0, 500.0);
    stage.app.world_mut().spawn_batch(vec![(hidden, away, NoFrustumCulling); 100]);
    stage.app.world_mut().insert_resource(Edits);
    stage.frames(1);
    stage.app.world_mut().remove_resource::<Edits>();
    stage.frames(3);
    stage.check();
    assert_eq!(stage.app.world().resource::<Errors>().0, [""; 0]);
}

/// A goal or a parameter that is not a number is refused. The clips move the character as before, and a new one as
/// without the goal.
#[test]
fn a_goal_that_is_no_number_leaves_the_movement() {
    let mut stage = Stage::new();
    edit(&mut stage, add_arm);
    add_roots(&mut stage);
    stage.frames(2);
    let bad = ChainGoals(vec![ChainGoal::new("arm", GoalTarget::Point([0.0, f64::NAN, 0.0]))]);
    let run = (Posse::looping(stage.rig.clone(), "run"), MovedByRoot);
    let [runner, newcomer] =
        [stage.app.world_mut().spawn(run.clone()).id(), stage.app.world_mut().spawn((run, bad.clone())).id()];
    let mut motion = Motion::IDENTITY;
    stage.frames(1);
    let mut go_on = |stage: &mut Stage| {
        for _ in 0..3 {
            stage.frames(1);
            let step = stage.app.world().resource::<CrowdClock>().step();
            motion = motion.then(motion_of(stage, "run", step));
            check_moved(stage, runner, motion);
            check_moved(stage, newcomer, motion);
        }
        assert!(motion.translation.length() > 1e-3, "{motion:?}");
    };
    go_on(&mut stage);
    stage.app.world_mut().entity_mut(runner).insert(bad);
    go_on(&mut stage);
    let by_parameters = ChainGoals(vec![ChainGoal::new("arm", GoalTarget::Parameters([0, 1, 2]))]);
    let mut character = stage.app.world_mut().entity_mut(runner);
    character.insert(by_parameters);
    character.get_mut::<Posse>().unwrap().parameters = vec![0.1, f32::NAN, 0.1];
    go_on(&mut stage);
    stage.app.world_mut().resource_mut::<Time<Virtual>>().pause();
    stage.frames(2);
    check_moved(&stage, runner, motion);
    stage.app.world_mut().resource_mut::<Time<Virtual>>().unpause();
}
