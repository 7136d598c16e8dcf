//! Rings of foxes that walk and run.
//!
//! `cargo run --release --example foxes -- FOX.glb` opens a window with a slider for their number.
//! `foxes FOX.glb FILE.png [FOXES]` draws a picture without a window.

use std::f32::consts::{PI, TAU};
use std::path::{Path, PathBuf};

use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::prelude::*;
use bevy_posse::posse::Ticks;
use bevy_posse::{ClipLayer, CrowdRig, CrowdRigParts, Posse, PossePlugin};

#[path = "../headless/mod.rs"]
mod headless;
mod slider;

/// The result of a fallible step.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// The size of the picture in pixels.
const SIZE: [u32; 2] = [1200, 560];
/// The distance between foxes, in metres.
const SPACING: f32 = 2.0;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [rig] => slider::run(Path::new(rig)),
        [rig, file] => draw(Path::new(rig), Path::new(file), 1000),
        [rig, file, count] => draw(Path::new(rig), Path::new(file), count.parse()?),
        _ => Err("give the path of Fox.glb; then, for a picture, the name of the PNG file and, if wanted, the number of foxes".into()),
    }
}

/// The folder of a file, for the asset server, and the name in it.
fn split(file: &Path) -> Outcome<(PathBuf, String)> {
    let file = std::fs::canonicalize(file)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok((file.parent().unwrap_or(Path::new("")).to_owned(), name))
}

/// Draws a picture without a window.
fn draw(rig: &Path, file: &Path, count: usize) -> Outcome<()> {
    let (folder, name) = split(rig)?;
    let mut app = headless::app(headless::plugins(&folder, false));
    app.add_plugins(PossePlugin);
    headless::begin(&mut app);

    let rig: Handle<CrowdRig> = app.world().resource::<AssetServer>().load(name);
    let (film, target) = headless::film(&mut app.world_mut().resource_mut::<Assets<Image>>(), SIZE);
    set_stage(app.world_mut(), count);
    for number in 0..count {
        app.world_mut().spawn(fox(&rig, number));
    }
    app.world_mut().spawn((view(count), target));
    headless::run_until(&mut app, |world| world.resource::<CrowdRigParts>().bounds(&rig).is_some());
    for _ in 0..3 {
        app.update();
    }
    headless::Picture::from_rows(SIZE, &headless::shoot(&mut app, &film)).save(file)
}

/// The ring of a fox, from 1, its position in the ring, and the number of foxes in a full ring.
fn ring(number: usize) -> (usize, usize, usize) {
    let (mut ring, mut left) = (1, number);
    loop {
        let room = (TAU * ring as f32) as usize;
        if left < room {
            return (ring, left, room);
        }
        left -= room;
        ring += 1;
    }
}

/// A fox of concentric rings, by its number.
fn fox(rig: &Handle<CrowdRig>, number: usize) -> impl Bundle + use<> {
    let (ring, position, room) = ring(number);
    let (radius, angle) = (SPACING * ring as f32, TAU * position as f32 / room as f32);
    let turn = if ring.is_multiple_of(2) { 0.0 } else { PI };
    let start = Ticks::from_seconds(-0.37 * (position + 7 * ring) as f64);
    let clip = if ring.is_multiple_of(3) { "Run" } else { "Walk" };
    (
        Posse::new(rig.clone(), [ClipLayer::looping(clip).starting_at(start)]),
        Transform::from_xyz(radius * angle.cos(), 0.0, radius * angle.sin())
            .with_rotation(Quat::from_rotation_y(turn - angle))
            .with_scale(Vec3::splat(0.01)),
    )
}

/// The radius of the rings of that many foxes, and one ring more.
fn radius(count: usize) -> f32 {
    SPACING * (ring(count.saturating_sub(1)).0 + 1) as f32
}

/// A camera that sees most of the rings.
fn view(count: usize) -> impl Bundle {
    let radius = radius(count);
    let eye = Vec3::new(0.55 * radius, 0.2 * radius, 0.75 * radius);
    let place = Transform::from_translation(eye).looking_at(0.2 * eye.with_y(0.0), Vec3::Y);
    (Camera3d::default(), Tonemapping::AcesFitted, place)
}

/// Spawns the ground and the sun.
fn set_stage(world: &mut World, count: usize) {
    let ground = world.resource_mut::<Assets<Mesh>>().add(Plane3d::default().mesh().size(5000.0, 5000.0));
    let grass = world.resource_mut::<Assets<StandardMaterial>>().add(Color::srgb(0.3, 0.5, 0.3));
    world.spawn((Mesh3d(ground), MeshMaterial3d(grass)));
    let radius = radius(count);
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
