//! Rings of foxes that walk and run: `cargo run --example foxes -- FOX.glb FILE.png [FOXES]` draws a picture without a window.

use std::f32::consts::PI;
use std::path::{Path, PathBuf};

use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::prelude::*;
use bevy_posse::{ClipLayer, CrowdRig, CrowdRigParts, Posse, PossePlugin};

#[path = "headless/mod.rs"]
mod headless;
#[path = "../../../examples/renderer/picture.rs"]
#[allow(dead_code, reason = "tests read single pixels")]
mod picture;

/// The result of a fallible step.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// The size of the picture in pixels.
const SIZE: [u32; 2] = [1200, 560];
/// The distance between foxes, in metres.
const SPACING: f32 = 2.0;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (rig, file, count) =
        match arguments.as_slice() {
            [rig, file] => (rig, file, 1000),
            [rig, file, count] => (rig, file, count.parse()?),
            _ => return Err(
                "give the path of Fox.glb and the name of the PNG file to write; then, if wanted, the number of foxes"
                    .into(),
            ),
        };
    let rig = std::fs::canonicalize(PathBuf::from(rig))?;
    let (folder, name) = (rig.parent().unwrap_or(Path::new("")), rig.file_name().unwrap_or_default().to_string_lossy());
    let mut app = headless::app(folder);
    app.add_plugins(PossePlugin);
    headless::begin(&mut app);

    let rig: Handle<CrowdRig> = app.world().resource::<AssetServer>().load(name.into_owned());
    let (film, target) = headless::film(&mut app.world_mut().resource_mut::<Assets<Image>>(), SIZE);
    spawn(app.world_mut(), &rig, count, target);
    headless::run_until(&mut app, |world| world.resource::<CrowdRigParts>().bounds(&rig).is_some());
    for _ in 0..3 {
        app.update();
    }
    picture::Picture::from_rows(SIZE, &headless::shoot(&mut app, &film)).save(Path::new(file))
}

/// Spawns concentric rings of foxes, the ground, the sun and a camera.
fn spawn(world: &mut World, rig: &Handle<CrowdRig>, count: usize, target: bevy::camera::RenderTarget) {
    let (mut ring, mut left) = (1, count);
    while left > 0 {
        let radius = SPACING * ring as f32;
        let in_ring = ((2.0 * PI * radius / SPACING) as usize).min(left);
        for fox in 0..in_ring {
            let angle = 2.0 * PI * fox as f32 / in_ring as f32;
            let turn = if ring % 2 == 0 { 0.0 } else { PI };
            let start = bevy_posse::posse::Ticks::from_seconds(-0.37 * (fox + 7 * ring) as f64);
            let clip = if ring % 3 == 0 { "Run" } else { "Walk" };
            world.spawn((
                Posse::new(rig.clone(), [ClipLayer::looping(clip).starting_at(start)]),
                Transform::from_xyz(radius * angle.cos(), 0.0, radius * angle.sin())
                    .with_rotation(Quat::from_rotation_y(turn - angle))
                    .with_scale(Vec3::splat(0.01)),
            ));
        }
        left -= in_ring;
        ring += 1;
    }
    let radius = SPACING * ring as f32;
    let eye = Vec3::new(0.55 * radius, 0.2 * radius, 0.75 * radius);
    world.spawn((
        Camera3d::default(),
        Tonemapping::AcesFitted,
        target,
        Transform::from_translation(eye).looking_at(0.2 * eye.with_y(0.0), Vec3::Y),
    ));
    let ground = world.resource_mut::<Assets<Mesh>>().add(Plane3d::default().mesh().size(5000.0, 5000.0));
    let grass = world.resource_mut::<Assets<StandardMaterial>>().add(Color::srgb(0.3, 0.5, 0.3));
    world.spawn((Mesh3d(ground), MeshMaterial3d(grass)));
    world.spawn((
        DirectionalLight { shadow_maps_enabled: true, ..default() },
        bevy::light::CascadeShadowConfigBuilder {
            num_cascades: 2,
            first_cascade_far_bound: 0.6 * radius,
            maximum_distance: 2.0 * radius,
            ..default()
        }
        .build(),
        Transform::from_rotation(Quat::from_euler(EulerRot::ZYX, 0.0, 1.0, -PI / 4.0)),
    ));
}
