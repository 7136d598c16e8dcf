//! The time that the parts of a frame take.

use std::thread::ThreadId;
use std::time::{Duration, Instant};

use bevy::app::AppLabel;
use bevy::ecs::schedule::SingleThreadedExecutor;
use bevy::prelude::*;
use bevy::render::render_resource::PollType;
use bevy::render::renderer::{RenderDevice, RenderGraph};
use bevy::render::{Render, RenderApp, RenderSystems};
use cpu_time::{ProcessTime, ThreadTime};

/// CPU time of all threads, and wall time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    pub cpu: Duration,
    pub wall: Duration,
}

impl std::ops::AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        self.cpu += other.cpu;
        self.wall += other.wall;
    }
}

/// The spans of a frame.
#[derive(Debug, Clone, Copy, Default)]
pub struct Frame {
    /// The schedules of the main world: animation, transforms, visibility.
    pub main: Span,
    /// Extraction to the render world.
    pub extract: Span,
    /// The sets of the render world before and after [`RenderSystems::Render`]: queues, batches, uploads, bind groups.
    pub prepare: Span,
    /// [`RenderSystems::Render`]. With cameras that draw nothing: the commands of the kernels and their submission. A
    /// software renderer works on other threads meanwhile, so that this is the CPU time of one thread, which runs the
    /// whole render graph.
    pub record: Span,
}

impl Frame {
    /// The sum of all parts.
    pub fn total(&self) -> Span {
        let mut sum = self.main;
        for span in [self.extract, self.prepare, self.record] {
            sum += span;
        }
        sum
    }
}

/// The begin of a span.
#[derive(Debug, Clone, Copy)]
pub struct Watch(ProcessTime, Instant);

impl Watch {
    /// Begins a span.
    pub fn start() -> Self {
        Self(ProcessTime::now(), Instant::now())
    }

    /// Ends a span, and begins the next one.
    pub fn lap(&mut self) -> Span {
        let span = Span { cpu: self.0.elapsed(), wall: self.1.elapsed() };
        *self = Self::start();
        span
    }
}

/// The spans of the render world in the present frame.
#[derive(Resource)]
struct RenderSpans {
    watch: Watch,
    /// The time of the thread at the begin of the recording.
    thread: (ThreadId, Duration),
    prepare: Span,
    record: Span,
}

/// Adds the marks at the borders of [`RenderSystems::Render`].
pub fn add_marks(app: &mut App) {
    let spans =
        RenderSpans { watch: Watch::start(), thread: this_thread(), prepare: Span::default(), record: Span::default() };
    let render = app.sub_app_mut(RenderApp);
    render.edit_schedule(RenderGraph, |graph| {
        graph.set_executor(SingleThreadedExecutor::new());
    });
    render.insert_resource(spans).add_systems(
        Render,
        (
            begin_render.after(RenderSystems::Prepare).before(RenderSystems::Render),
            end_render.after(RenderSystems::Render).before(RenderSystems::Cleanup),
        ),
    );
}

/// Lets all schedules run their systems one after another.
pub fn use_one_thread(app: &mut App) {
    let worlds = app.sub_apps_mut();
    let render = worlds.sub_apps.get_mut(&RenderApp.intern());
    for app in std::iter::once(&mut worlds.main).chain(render) {
        for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
            schedule.set_executor(SingleThreadedExecutor::new());
        }
    }
}

/// The present thread and its CPU time.
fn this_thread() -> (ThreadId, Duration) {
    (std::thread::current().id(), ThreadTime::now().as_duration())
}

/// An exclusive system, which waits for all systems before it.
fn begin_render(world: &mut World) {
    let mut spans = world.resource_mut::<RenderSpans>();
    let span = spans.watch.lap();
    spans.prepare += span;
    spans.thread = this_thread();
}

/// Ends the recording, and lets the device finish outside all spans.
fn end_render(world: &mut World) {
    let mut spans = world.resource_mut::<RenderSpans>();
    let ((thread, before), (same, now)) = (spans.thread, this_thread());
    assert_eq!(thread, same, "the render graph runs on one thread");
    let span = Span { cpu: now - before, ..spans.watch.lap() };
    spans.record += span;
    if let Err(error) = world.resource::<RenderDevice>().poll(PollType::wait_indefinitely()) {
        error!("the device does not come to rest: {error}");
    }
    world.resource_mut::<RenderSpans>().watch = Watch::start();
}

/// Runs a frame as `App::update` does, and measures its parts. The device is idle before and after.
pub fn frame(app: &mut App) -> Frame {
    let apps = app.sub_apps_mut();
    let mut frame = Frame::default();
    let mut watch = Watch::start();
    apps.main.run_default_schedule();
    frame.main = watch.lap();
    let Some(render) = apps.sub_apps.get_mut(&RenderApp.intern()) else { return frame };
    render.extract(apps.main.world_mut());
    frame.extract = watch.lap();
    let mut spans = render.world_mut().resource_mut::<RenderSpans>();
    (spans.prepare, spans.record, spans.watch) = default();
    render.update();
    apps.main.world_mut().clear_trackers();
    let mut spans = render.world_mut().resource_mut::<RenderSpans>();
    let rest = spans.watch.lap();
    spans.prepare += rest;
    (frame.prepare, frame.record) = (spans.prepare, spans.record);
    frame
}

/// Memory that takes the place of all else in the caches of the processor.
#[derive(Debug, Default)]
pub struct Caches(Vec<Vec<u8>>);

impl Caches {
    /// Bytes per thread, more than caches have.
    const BYTES: usize = 64 << 20;

    /// Writes to the memory, with a thread per core.
    pub fn fill(&mut self) {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.0.resize_with(cores, || vec![0; Self::BYTES]);
        std::thread::scope(|scope| {
            for bytes in &mut self.0 {
                // A line of a cache has 64 bytes.
                scope.spawn(|| bytes.iter_mut().step_by(64).for_each(|byte| *byte = byte.wrapping_add(1)));
            }
        });
    }
}

impl Default for Watch {
    fn default() -> Self {
        Self::start()
    }
}

/// A size of the process in MiB, from Linux: `VmRSS` or `VmHWM`.
pub fn memory(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) / 1024.0
}
