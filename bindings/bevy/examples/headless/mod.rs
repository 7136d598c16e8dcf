//! An app without a window, and pictures of its cameras.

mod picture;

use std::path::Path;
use std::time::{Duration, Instant};

use bevy::app::PluginGroupBuilder;
use bevy::camera::RenderTarget;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::gpu_readback::{Readback, ReadbackComplete};
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::render_resource::{TextureFormat, TextureUsages};
use bevy::time::TimeUpdateStrategy;
use bevy::window::ExitCondition;
use bevy::winit::WinitPlugin;

pub use picture::Picture;

/// The time between frames.
pub const STEP: Duration = Duration::from_millis(50);

/// An app with frames of [`STEP`].
pub fn app(plugins: PluginGroupBuilder) -> App {
    let mut app = App::new();
    app.add_plugins(plugins).insert_resource(TimeUpdateStrategy::ManualDuration(STEP));
    app
}

/// Bevy's plugins without a window. `assets` is the folder of the asset server; if `watches` says so, files that change
/// are loaded again.
pub fn plugins(assets: &Path, watches: bool) -> PluginGroupBuilder {
    let window = WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() };
    let assets = AssetPlugin {
        file_path: assets.to_string_lossy().into_owned(),
        watch_for_changes_override: Some(watches),
        ..default()
    };
    let renderer = RenderPlugin { synchronous_pipeline_compilation: true, ..default() };
    DefaultPlugins.set(window).set(assets).set(renderer).disable::<PipelinedRenderingPlugin>().disable::<WinitPlugin>()
}

/// Waits for the device, and ends the building of the app.
pub fn begin(app: &mut App) {
    while app.plugins_state() == bevy::app::PluginsState::Adding {
        bevy::tasks::tick_global_task_pools_on_main_thread();
    }
    app.finish();
    app.cleanup();
}

/// An image for a camera to draw to, in sRGB.
pub fn film(images: &mut Assets<Image>, [width, height]: [u32; 2]) -> (Handle<Image>, RenderTarget) {
    let mut image = Image::new_target_texture(width, height, TextureFormat::Rgba8UnormSrgb, None);
    image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
    let film = images.add(image);
    (film.clone(), RenderTarget::Image(film.into()))
}

/// Runs frames until a condition holds; panics after two minutes.
pub fn run_until(app: &mut App, mut holds: impl FnMut(&mut World) -> bool) {
    let begin = Instant::now();
    while !holds(app.world_mut()) {
        assert!(begin.elapsed() < Duration::from_secs(120), "nothing has come of 120 s of frames");
        app.update();
    }
}

/// The pixels of a picture that has arrived.
#[derive(Resource, Default)]
struct Arrived(Option<Vec<u8>>);

/// The rows of the next frame of an image, each padded to a multiple of 256 bytes. The clock of the app stands still
/// from then on.
pub fn shoot(app: &mut App, film: &Handle<Image>) -> Vec<u8> {
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    app.update();
    app.world_mut().insert_resource(Arrived::default());
    // `ReadbackOnce` would be taken away before the first frame, because it is spawned between frames.
    let mut reader = app.world_mut().spawn(Readback::texture(film.clone()));
    reader
        .observe(|picture: On<ReadbackComplete>, mut arrived: ResMut<Arrived>| arrived.0 = Some(picture.data.clone()));
    let reader = reader.id();
    run_until(app, |world| world.resource::<Arrived>().0.is_some());
    app.world_mut().despawn(reader);
    app.world_mut().resource_mut::<Arrived>().0.take().unwrap_or_default()
}
