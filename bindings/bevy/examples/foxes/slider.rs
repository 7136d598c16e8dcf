//! The foxes in a window, with a slider for their number and keys for their speed.

use std::path::Path;

use bevy::light::{NotShadowCaster, NotShadowReceiver};
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_posse::{CrowdRig, Posse, PossePlugin};

use super::{Outcome, fox, set_stage, split, view};

/// The number of foxes at the right end of the slider.
const MAX_FOXES: usize = 20_000;
/// The number of foxes at the beginning, for which camera and shadows are made.
const FIRST: usize = 1000;
/// The length of the slider, of the width of the window.
const LENGTH: f32 = 0.8;
/// The height of the slider, from -1 at the bottom of the window to 1, and the distance from the camera in metres.
const HEIGHT: f32 = -0.9;
const DISTANCE: f32 = 0.2;

/// The wanted number of foxes and their rig.
#[derive(Resource)]
struct Foxes {
    rig: Handle<CrowdRig>,
    wanted: usize,
    /// The foxes that there are, by number.
    entities: Vec<Entity>,
}

/// The knob of the slider.
#[derive(Component)]
struct Knob;

/// The bar of the slider.
#[derive(Component)]
struct Bar;

/// Opens the window.
pub fn run(rig: &Path) -> Outcome<()> {
    let (folder, name) = split(rig)?;
    let assets = AssetPlugin { file_path: folder.to_string_lossy().into_owned(), ..default() };
    let mut app = App::new();
    app.add_plugins((DefaultPlugins.set(assets), PossePlugin))
        .add_systems(Startup, move |world: &mut World| {
            let rig = world.resource::<AssetServer>().load(name.clone());
            world.insert_resource(Foxes { rig, wanted: FIRST, entities: Vec::new() });
            set_stage(world, FIRST);
            add_slider(world);
        })
        .add_systems(Update, (slide, press_keys, place_slider, count_foxes, show_numbers).chain());
    match app.run() {
        AppExit::Success => Ok(()),
        AppExit::Error(code) => Err(format!("the app ends with {code}").into()),
    }
}

/// Spawns the camera with the slider before it.
fn add_slider(world: &mut World) {
    let square = world.resource_mut::<Assets<Mesh>>().add(Rectangle::new(1.0, 1.0));
    let mut look = |color: Color| {
        let look = StandardMaterial { base_color: color, unlit: true, fog_enabled: false, ..default() };
        (
            Mesh3d(square.clone()),
            MeshMaterial3d(world.resource_mut::<Assets<StandardMaterial>>().add(look)),
            (NotShadowCaster, NotShadowReceiver),
        )
    };
    let (bar, knob) = (look(Color::srgb(0.2, 0.2, 0.2)), look(Color::srgb(0.9, 0.5, 0.1)));
    world.spawn((view(FIRST), children![(bar, Bar), (knob, Knob)]));
}

/// Follows the pointer while its button is held in the lower part of the window.
fn slide(
    window: Single<&Window, With<PrimaryWindow>>,
    buttons: Res<ButtonInput<MouseButton>>,
    mut foxes: ResMut<Foxes>,
) {
    if let (true, Some(pointer)) = (buttons.pressed(MouseButton::Left), window.cursor_position())
        && pointer.y > 0.8 * window.height()
    {
        let place = (pointer.x / window.width() - 0.5) / LENGTH + 0.5;
        foxes.wanted = number(place);
    }
}

/// Up and down change the number of foxes, left and right the speed of time.
fn press_keys(keys: Res<ButtonInput<KeyCode>>, mut foxes: ResMut<Foxes>, mut time: ResMut<Time<Virtual>>) {
    let step = |less, more| i32::from(keys.just_pressed(more)) - i32::from(keys.just_pressed(less));
    let more = step(KeyCode::ArrowDown, KeyCode::ArrowUp);
    if more != 0 {
        foxes.wanted = number(place(foxes.wanted) + 0.05 * more as f32);
    }
    let faster = step(KeyCode::ArrowLeft, KeyCode::ArrowRight);
    let speed = time.relative_speed() + 0.25 * faster as f32;
    time.set_relative_speed(speed.clamp(0.0, 4.0));
}

/// The number of foxes at a place of the slider, from 0 to 1. Low numbers have more room than high ones.
fn number(place: f32) -> usize {
    (place.clamp(0.0, 1.0).powi(2) * MAX_FOXES as f32).round() as usize
}

/// The place of a number of foxes.
fn place(number: usize) -> f32 {
    (number as f32 / MAX_FOXES as f32).sqrt()
}

/// Keeps the slider at the bottom of the window, before the camera.
fn place_slider(
    projection: Single<&Projection, With<Camera3d>>,
    foxes: Res<Foxes>,
    mut bar: Single<&mut Transform, (With<Bar>, Without<Knob>)>,
    mut knob: Single<&mut Transform, (With<Knob>, Without<Bar>)>,
) {
    let Projection::Perspective(lens) = &**projection else { return };
    let half = DISTANCE * (0.5 * lens.fov).tan();
    let [half_width, y] = [half * lens.aspect_ratio, half * HEIGHT];
    let width = 2.0 * LENGTH * half_width;
    **bar = Transform::from_xyz(0.0, y, -DISTANCE).with_scale(Vec3::new(width, 0.02 * half, 1.0));
    let x = width * (place(foxes.wanted) - 0.5);
    // A little nearer than the bar.
    **knob = Transform::from_xyz(x, y, -0.999 * DISTANCE).with_scale(Vec3::new(0.03 * half, 0.1 * half, 1.0));
}

/// Spawns the foxes that are wanted, and removes the others.
fn count_foxes(mut foxes: ResMut<Foxes>, mut commands: Commands) {
    let Foxes { rig, wanted, entities } = &mut *foxes;
    for entity in entities.drain((*wanted).min(entities.len())..) {
        commands.entity(entity).despawn();
    }
    for number in entities.len()..*wanted {
        entities.push(commands.spawn(fox(rig, number)).id());
    }
}

/// Writes the numbers into the title of the window.
fn show_numbers(
    mut window: Single<&mut Window, With<PrimaryWindow>>,
    foxes: Query<(), With<Posse>>,
    time: Res<Time<Virtual>>,
) {
    let (count, speed) = (foxes.iter().count(), time.relative_speed());
    let title = format!("{count} foxes at speed {speed}: drag the slider, or press the arrow keys");
    if window.title != title {
        window.title = title;
    }
}
