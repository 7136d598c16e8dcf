//! Devices that are lost.

use bevy::core_pipeline::prepass::{DepthPrepass, MotionVectorPrepass};
use bevy::prelude::*;
use bevy::render::error_handler::{ErrorType, RenderErrorHandler, RenderErrorPolicy};
use bevy::render::render_resource::PollType;
use bevy::render::renderer::RenderDevice;
use bevy::render::settings::RenderCreation;
use bevy_posse::{CrowdRig, Posse};

use crate::headless;
use crate::pixels::{add_sun, check_shadows};
use crate::stage::{Stage, layers, rig};

/// The errors of devices that Bevy has asked about.
#[derive(Resource, Default)]
struct Asked(Vec<String>);

/// Asks for another device when one is lost. No other error may come.
fn recover(stage: &mut Stage) {
    let world = stage.app.world_mut();
    world.init_resource::<Asked>();
    world.insert_resource(RenderErrorHandler(|error, world, _| {
        world.resource_mut::<Asked>().0.push(format!("{:?} {}", error.ty, error.description));
        match error.ty {
            ErrorType::DeviceLost => RenderErrorPolicy::Recover(RenderCreation::default()),
            _ => RenderErrorPolicy::StopRendering,
        }
    }));
}

/// Loses the device, and runs frames until Bevy has another one. After the first, Bevy knows of the loss, and does not
/// draw.
fn lose(stage: &mut Stage, meanwhile: impl FnOnce(&mut Stage)) {
    // Readbacks of Bevy 0.20.1 panic if `destroy` takes their buffers.
    stage.frames(12);
    let device = stage.app.world().resource::<RenderDevice>().clone();
    device.poll(PollType::wait_indefinitely()).unwrap();
    device.wgpu_device().destroy();
    device.poll(PollType::wait_indefinitely()).unwrap();
    let since = |world: &World| world.get_resource_change_ticks::<RenderDevice>().unwrap().changed;
    let before = since(stage.app.world());
    stage.frames(1);
    assert_eq!(since(stage.app.world()), before, "the device was replaced at once");
    meanwhile(stage);
    headless::run_until(&mut stage.app, |world| since(world) != before);
}

/// In the second round, characters come, go and get another rig while there is no device.
#[test]
fn a_crowd_comes_back_on_another_device() {
    let mut stage = Stage::new();
    recover(&mut stage);
    stage.check();
    for round in 1..=2 {
        stage.app.world_mut().resource_mut::<Time<Virtual>>().unpause();
        lose(&mut stage, |stage| {
            if round == 1 {
                return;
            }
            let other = rig(&stage.scene, &stage.figure, stage.app.world_mut());
            stage.rig = stage.app.world_mut().resource_mut::<Assets<CrowdRig>>().add(other);
            for instance in 0..4 {
                stage.app.world_mut().despawn(stage.characters[instance]);
                stage.characters[instance] = stage.spawn(instance);
            }
        });
        stage.frames(4);
        stage.check();
        assert_eq!(stage.app.world().resource::<Asked>().0, vec!["DeviceLost "; round]);
    }

    // A change of one character.
    let layers = [layers(&stage.scene, 0), layers(&stage.scene, 9)];
    let given = [0, 9].map(|instance| stage.scene.crowd.layers(instance).to_vec());
    let skeleton = stage.scene.crowd.skeleton(0);
    for (instance, from) in [(0, 1), (9, 0)] {
        stage.app.world_mut().get_mut::<Posse>(stage.characters[instance]).unwrap().layers = layers[from].clone();
        stage.scene.crowd.set(instance, skeleton, &given[from]).unwrap();
    }
    stage.frames(2);
    stage.check();
}

#[test]
fn shadows_come_back_on_another_device() {
    let mut stage = Stage::new();
    recover(&mut stage);
    add_sun(&mut stage);
    let world = stage.app.world_mut();
    let camera = world.query_filtered::<Entity, With<Camera3d>>().single(world).unwrap();
    world.entity_mut(camera).insert((DepthPrepass, MotionVectorPrepass));
    lose(&mut stage, |_| {});
    stage.frames(4);
    check_shadows(&mut stage);
    assert_eq!(stage.app.world().resource::<Asked>().0, ["DeviceLost "]);
}
