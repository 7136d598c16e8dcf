//! posse in a Bevy app without a window. Device, clock, camera and frame belong to Bevy; posse computes the poses.
//!
//! `cargo run --ignore-rust-version -- FILE.png` draws a picture. With `--check` instead of a file, it draws the number of
//! each instance and compares the picture with the reference.

use std::path::Path;
use std::time::Duration;

use bevy::app::ScheduleRunnerPlugin;
use bevy::camera::RenderTarget;
use bevy::core_pipeline::tonemapping::{DebandDither, Tonemapping};
use bevy::prelude::*;
use bevy::render::gpu_readback::{ReadbackComplete, ReadbackOnce};
use bevy::render::render_resource::{TextureFormat, TextureUsages};
use bevy::time::TimeUpdateStrategy;
use bevy::window::ExitCondition;
use posse::Ticks;

use crowd::CrowdPlugin;
use draw::Look;
use picture::Picture;
use scene::Scene;

#[path = "../../renderer/check.rs"]
mod check;
mod crowd;
#[path = "../../renderer/draw.rs"]
mod draw;
#[path = "../../renderer/figure.rs"]
mod figure;
#[path = "../../renderer/picture.rs"]
mod picture;
#[path = "../../renderer/scene.rs"]
mod scene;

/// The result of a fallible step.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// The number of the frame that is read back. The first frame is 1.
const FRAME: u32 = 6;
/// The time between frames.
const STEP: Duration = Duration::from_millis(50);

/// The task from the command line.
#[derive(Resource, Clone)]
enum Task {
    Check,
    Picture(String),
}

impl Task {
    fn scene(&self) -> Result<Scene, posse::Error> {
        match self {
            Self::Check => Scene::apart(),
            Self::Picture(_) => Scene::run_from_behind(),
        }
    }

    fn look(&self) -> (Look, Msaa) {
        match self {
            Self::Check => (Look::Identity, Msaa::Off),
            Self::Picture(_) => (Look::Sunny, Msaa::Sample4),
        }
    }
}

fn main() -> AppExit {
    let task = match std::env::args().nth(1).as_deref() {
        Some("--check") => Task::Check,
        Some(file) if !file.starts_with('-') => Task::Picture(file.into()),
        _ => {
            eprintln!("no file was given; give the name of the PNG file to write, or --check");
            return AppExit::from_code(2);
        }
    };
    let window = WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() };
    App::new()
        .add_plugins((DefaultPlugins.set(window), ScheduleRunnerPlugin::run_loop(Duration::ZERO)))
        .add_plugins(CrowdPlugin { task: task.clone() })
        .insert_resource(TimeUpdateStrategy::ManualDuration(STEP))
        .insert_resource(task)
        .add_systems(Startup, look_through_a_camera)
        .add_systems(Update, take_a_picture)
        .run()
}

/// The image that the camera draws to.
#[derive(Resource)]
struct Film(Handle<Image>);

fn look_through_a_camera(task: Res<Task>, mut commands: Commands, mut images: ResMut<Assets<Image>>) -> Result {
    let camera = task.scene()?.camera;
    let [width, height] = camera.size;
    let mut image = Image::new_target_texture(width, height, TextureFormat::Rgba8UnormSrgb, None);
    image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
    let film = images.add(image);
    let (look, samples) = task.look();
    let background = look.background();
    let [red, green, blue] = [background.r, background.g, background.b].map(|value| value as f32);
    commands.spawn((
        Camera3d::default(),
        Camera { clear_color: Color::linear_rgb(red, green, blue).into(), ..default() },
        RenderTarget::Image(film.clone().into()),
        Projection::Perspective(PerspectiveProjection {
            fov: camera.field_of_view,
            near: scene::Camera::NEAR,
            ..default()
        }),
        Transform::from_translation(camera.eye).looking_at(camera.target, Vec3::Y),
        samples,
        // The colours of the crowd need no tone mapping.
        (Tonemapping::None, DebandDither::Disabled),
    ));
    commands.insert_resource(Film(film));
    Ok(())
}

/// Reads the picture of one frame back, and stops the clock, so that the time is still that of the picture when it arrives.
fn take_a_picture(mut frame: Local<u32>, mut clock: ResMut<Time<Virtual>>, film: Res<Film>, mut commands: Commands) {
    *frame += 1;
    if *frame == FRAME {
        clock.pause();
        commands.spawn(ReadbackOnce::texture(film.0.clone())).observe(finish);
    }
}

/// Saves the picture or checks it, and ends the app.
fn finish(picture: On<ReadbackComplete>, task: Res<Task>, time: Res<Time>, mut exit: MessageWriter<AppExit>) {
    let now = Ticks::from_seconds(time.elapsed_secs_f64());
    let outcome = task.scene().map_err(Into::into).and_then(|scene| -> Outcome<()> {
        let picture = Picture::from_rows(scene.camera.size, &picture.data);
        match &*task {
            Task::Picture(file) => picture.save(Path::new(file)),
            Task::Check => check::check(&picture, &scene, &figure::Figure::new(scene.skeleton(), 0.02)?, now),
        }
    });
    match outcome {
        Ok(()) => {
            println!(
                "{}",
                if matches!(*task, Task::Check) { "all instances are where the reference poses them" } else { "done" }
            );
            exit.write(AppExit::Success);
        }
        Err(error) => {
            eprintln!("the picture at {} s: {error}", now.to_seconds());
            exit.write(AppExit::error());
        }
    }
}
