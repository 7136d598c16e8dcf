//! Pixels of one frame: the main pass, the prepass, shadows.

use bevy::core_pipeline::prepass::{DepthPrepass, MotionVectorPrepass, NormalPrepass};
use bevy::prelude::*;
use bevy_posse::{CrowdClock, CrowdMaterial};
use posse::{Evaluator, Outputs, Reference};

use crate::stage::Stage;

#[test]
fn characters_are_where_the_reference_poses_them() {
    Stage::new().check();
}

/// The main pass draws what is at the depth of the prepass. With other depths, pixels would be missing.
#[test]
fn the_prepass_has_the_depth_of_the_main_pass() {
    let mut stage = Stage::new();
    let world = stage.app.world_mut();
    let camera = world.query_filtered::<Entity, With<Camera3d>>().single(world).unwrap();
    world.entity_mut(camera).insert((DepthPrepass, NormalPrepass, MotionVectorPrepass));
    stage.frames(2);
    stage.check();
}

/// The transparent pass draws them, without the prepass.
#[test]
fn transparent_characters_have_the_same_poses() {
    let mut stage = Stage::new();
    for &character in &stage.characters {
        let world = stage.app.world_mut();
        let material = world.get::<MeshMaterial3d<CrowdMaterial>>(character).unwrap().0.clone();
        let mut materials = world.resource_mut::<Assets<CrowdMaterial>>();
        materials.get_mut(&material).unwrap().base.alpha_mode = AlphaMode::Blend;
    }
    stage.frames(2);
    stage.check();
}

#[test]
fn characters_cast_the_shadows_of_their_poses() {
    let mut stage = Stage::new();
    add_sun(&mut stage);
    stage.frames(2);
    check_shadows(&mut stage);
}

/// The direction of the sunlight.
fn sunlight() -> Vec3 {
    Vec3::new(1.0, -2.0, -0.4).normalize()
}

/// Adds a white ground and the sun, and makes all characters red.
pub fn add_sun(stage: &mut Stage) {
    let red = StandardMaterial { base_color: Color::srgb(1.0, 0.0, 0.0), unlit: true, ..default() };
    for instance in 0..stage.characters.len() {
        stage.app.world_mut().despawn(stage.characters[instance]);
        stage.characters[instance] = stage.spawn_in(instance, red.clone());
    }
    let world = stage.app.world_mut();
    let ground = world.resource_mut::<Assets<Mesh>>().add(Plane3d::default().mesh().size(60.0, 60.0));
    let white = world.resource_mut::<Assets<StandardMaterial>>().add(StandardMaterial {
        base_color: Color::WHITE,
        perceptual_roughness: 1.0,
        reflectance: 0.0,
        ..default()
    });
    world.spawn((Mesh3d(ground), MeshMaterial3d(white)));
    world.spawn((
        DirectionalLight { shadow_maps_enabled: true, shadow_normal_bias: 0.6, ..default() },
        bevy::light::CascadeShadowConfigBuilder { num_cascades: 1, maximum_distance: 40.0, ..default() }.build(),
        Transform::IDENTITY.looking_to(sunlight(), Vec3::Y),
    ));
}

/// Takes a picture, and checks that the shadows of joints on the ground are dark, and the rest of the ground is bright.
pub fn check_shadows(stage: &mut Stage) {
    let towards = sunlight();
    let film = stage.film.clone();
    let picture = stage.shoot(&film);

    let now = stage.app.world().resource::<CrowdClock>().now();
    let outputs = Outputs { model: true, ..Outputs::NONE };
    let poses = Reference::new(&stage.scene.library).evaluate(&stage.scene.crowd, now, outputs).unwrap().instances;
    let clip_from_world = stage.scene.camera.clip_from_world();
    let [width, height] = stage.scene.camera.size.map(|size| size as f32);
    let pixel = |point: Vec3| {
        let clip = clip_from_world * point.extend(1.0);
        let [x, y] = [0.5 * (1.0 + clip.x / clip.w) * width, 0.5 * (1.0 - clip.y / clip.w) * height];
        picture.pixel(x as i64, y as i64)
    };
    let (mut dark, mut bright) = (0, 0);
    for (pose, placement) in poses.iter().zip(&stage.scene.placements) {
        // The middle of wide parts: the bias of a shadow map takes the edges.
        for name in ["head", "spine.3", "pelvis"] {
            let joint = stage.scene.skeleton().find_joint(name).unwrap();
            let point = placement.to_world().transform_point3(pose.model[joint].translation.as_vec3());
            let shadow = point + towards * (point.y / -towards.y);
            match pixel(shadow) {
                Some([red, green, _]) if red > 200 && green < 60 => {} // A character hides its shadow.
                Some([red, ..]) if red < 90 => dark += 1,
                Some(_) => bright += 1,
                None => {}
            }
        }
    }
    assert!(dark > 40 && bright * 20 < dark, "{dark} shadows of joints are dark, {bright} are bright");
    let open = pixel(Vec3::new(0.0, 0.0, 6.0)).unwrap();
    assert!(open.iter().all(|&value| value > 120), "the open ground is dark: {open:?}");
}
