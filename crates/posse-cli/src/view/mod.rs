//! `posse view`: a window with a live crowd.

mod clock;
mod overlay;
mod screen;
mod steering;
mod window_state;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use posse::Error;
use posse::gpu::GpuContext;
use posse_render::encode::write_png;
use posse_render::{Bones, Picture, Renderer, View};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::error::EventLoopError;
use winit::event::{StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::window::{Window, WindowId};

use self::clock::Clock;
use self::overlay::{CrowdInfo, Times};
use self::screen::{GpuScene, Gui, Painting, PoseTimer, Screen};
use self::steering::{SetValues, Steering};
use self::window_state::{DistanceRange, Limits, Mouse, WindowState, key_action};
use crate::arguments::{parse_seconds, parse_size, whole};
use crate::drawn_crowd::{CrowdSource, DrawnCrowd, DrawnCrowdArgs};
use crate::engine::AdapterArgs;
use crate::evaluation::clock_ticks;
use crate::output::{Output, note};
use crate::view_args::{self, ViewArgs};

pub use self::window_state::HELP;

/// The arguments of `posse view`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    crowd_args: DrawnCrowdArgs,
    #[command(flatten)]
    view_args: ViewArgs,
    #[command(flatten)]
    adapter: AdapterArgs,
    /// The size of the window in pixels.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_size, default_value = "1280x720")]
    size: [u32; 2],
    /// The time of the first frame in seconds since the play began.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, allow_hyphen_values = true, value_parser = parse_seconds)]
    time: f64,
    /// Starts paused. The key Space plays.
    #[arg(long)]
    paused: bool,
    /// Starts without the controls. The key H shows them.
    #[arg(long)]
    bare: bool,
    /// Draws as many frames as possible. By default, the rate of the screen is the limit.
    #[arg(long)]
    uncapped: bool,
    /// Writes the content of the window as a PNG file, and ends. The crowd clock then advances by 1/60 s per frame.
    #[arg(long, value_name = "FILE")]
    screenshot: Option<PathBuf>,
    /// The number of frames that --screenshot draws. The last one is written.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        requires = "screenshot",
        value_parser = whole::<u32>(1..=100_000)
    )]
    frames: u32,
}

/// Runs `posse view`: opens a window and shows a crowd until the window is closed.
pub fn run(args: &Args) -> Result<(), Error> {
    // winit panics, with the name of the library, if a library that it loads is absent.
    let event_loop = std::panic::catch_unwind(EventLoop::new)
        .map_err(|_| {
            Error::Usage("a library that windows need is absent: install it. posse render needs no window".into())
        })?
        .map_err(no_display)?;
    let mut app = App { args, drawn: Some(DrawnCrowd::load(&args.crowd_args)?), viewer: None, result: Ok(()) };
    event_loop.run_app(&mut app).map_err(no_display)?;
    app.result
}

fn no_display(error: EventLoopError) -> Error {
    // The text starts with a position in winit's source; the reason comes last.
    let error = error.to_string();
    let reason = error.rsplit(": ").next().unwrap_or_default().trim_end_matches('.');
    Error::Usage(format!(
        "there is no display to open a window on ({reason}). Set DISPLAY or WAYLAND_DISPLAY, or start posse with xvfb-run; posse \
         render needs no display"
    ))
}

/// The window, and the result of the program.
struct App<'a> {
    args: &'a Args,
    /// The crowd until the window is open; then `None`.
    drawn: Option<DrawnCrowd>,
    viewer: Option<Viewer<'a>>,
    result: Result<(), Error>,
}

impl<'a> App<'a> {
    fn open(&self, event_loop: &ActiveEventLoop, drawn: DrawnCrowd) -> Result<Viewer<'a>, Error> {
        let [width, height] = self.args.size;
        let attributes =
            Window::default_attributes().with_title("posse").with_inner_size(PhysicalSize::new(width, height));
        let window = event_loop.create_window(attributes);
        let window = window.map_err(|error| Error::Usage(format!("no window can be opened here: {error}")))?;
        Viewer::new(self.args, drawn, window)
    }

    fn end(&mut self, event_loop: &ActiveEventLoop, result: Result<(), Error>) {
        self.result = result;
        self.viewer = None;
        event_loop.exit();
    }
}

impl ApplicationHandler for App<'_> {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        let Some(drawn) = self.drawn.take() else { return };
        match self.open(event_loop, drawn) {
            Ok(viewer) => self.viewer.insert(viewer).request_frame(),
            Err(error) => self.end(event_loop, Err(error)),
        }
    }

    fn new_events(&mut self, _: &ActiveEventLoop, cause: StartCause) {
        if let (StartCause::ResumeTimeReached { .. }, Some(viewer)) = (cause, &self.viewer) {
            viewer.request_frame();
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(viewer) = &mut self.viewer else { return };
        if event != WindowEvent::RedrawRequested {
            viewer.event(&event);
        } else {
            match viewer.frame() {
                Ok(Some(due)) if due.is_zero() => viewer.request_frame(),
                Ok(due) => {
                    let due = due.and_then(|due| Instant::now().checked_add(due));
                    event_loop.set_control_flow(due.map_or(ControlFlow::Wait, ControlFlow::WaitUntil));
                }
                Err(error) => return self.end(event_loop, Err(error)),
            }
        }
        if viewer.is_closed() {
            self.end(event_loop, Ok(()));
        }
    }
}

/// The seconds of the crowd clock between two frames if a screenshot is written.
const SCREENSHOT_STEP: f64 = 1.0 / 60.0;
/// The interval at which a hidden window is tried again.
const HIDDEN_INTERVAL: Duration = Duration::from_millis(100);

/// A window that draws a crowd on a device.
struct Viewer<'a> {
    args: &'a Args,
    window: Arc<Window>,
    gpu: GpuContext,
    /// The first error that the device reported outside error scopes.
    device_error: Arc<Mutex<Option<String>>>,
    screen: Screen,
    renderer: Renderer,
    gui: Gui,
    mouse: Mouse,
    drawn: DrawnCrowd,
    gpu_scene: GpuScene,
    steering: Steering,
    /// The values of parameters that the crowd has in place of the values of the crowd file.
    steered: SetValues,
    state: WindowState,
    /// The background, the ground and the bones. The camera is the camera of `state`.
    view: View,
    /// The size of the window that the camera was fitted to; `None` if it must be fitted again.
    fitted_size: Option<[u32; 2]>,
    info: CrowdInfo,
    frame_times: FrameTimes,
    pose_timer: Option<PoseTimer>,
    /// The start of the last frame; `None` after a pause.
    last_frame_start: Option<Instant>,
    /// The number of drawn frames.
    frames_drawn: u32,
}

impl<'a> Viewer<'a> {
    /// Opens a device for a window, uploads a crowd and prints the adapter.
    fn new(args: &'a Args, drawn: DrawnCrowd, window: Window) -> Result<Self, Error> {
        let window = Arc::new(window);
        let (gpu, screen) =
            Screen::new(Arc::clone(&window), &args.adapter, !args.uncapped && args.screenshot.is_none())?;
        note(&format!("engine: gpu ({})", gpu.name()));
        let device_error = Arc::new(Mutex::new(None));
        let reported = Arc::clone(&device_error);
        gpu.device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            reported.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error.to_string());
        }));
        let renderer = Renderer::new(&gpu.device, &gpu.queue, screen.target())?;
        let gpu_scene = GpuScene::new(&gpu, &renderer, &drawn, args.view_args.bones(&drawn) != Bones::Hidden)?;
        let gui = Gui::new(&window, &gpu, screen.target().format.remove_srgb_suffix());
        let view = args.view_args.view(&drawn, screen.frame.canvas.aspect());
        let state = WindowState {
            clock: Clock { running: !args.paused, ..Clock::new(clock_ticks(args.time)?) },
            camera: view.camera,
            settings: drawn.settings.clone(),
            set_values: SetValues::new(),
            controls: !args.bare,
            fitted: args.view_args.is_fitted(),
            closed: false,
            message: None,
        };
        let info = CrowdInfo::new(&drawn, &gpu);
        let steering = Steering::new(&drawn)?;
        // The timestamps of a software adapter do not wait for the work.
        let pose_timer = if gpu.is_hardware() { PoseTimer::new(&gpu) } else { None };
        Ok(Self {
            args,
            window,
            gpu,
            device_error,
            screen,
            renderer,
            gui,
            mouse: Mouse::default(),
            drawn,
            gpu_scene,
            steering,
            steered: SetValues::new(),
            state,
            view,
            fitted_size: None,
            info,
            frame_times: FrameTimes::default(),
            pose_timer,
            last_frame_start: None,
            frames_drawn: 0,
        })
    }

    /// Handles an event and requests a frame.
    fn event(&mut self, event: &WindowEvent) {
        let consumed = self.gui.event(&self.window, event) && self.state.controls;
        let limits = self.limits();
        if let Some(action) = self.mouse.action(event, consumed, self.screen.size()[1].into()) {
            self.state.apply(action, &limits);
        }
        match event {
            WindowEvent::KeyboardInput { event, .. } if event.state.is_pressed() && !consumed => {
                if let Some(action) = key_action(&event.logical_key) {
                    self.state.apply(action, &limits);
                }
            }
            WindowEvent::CloseRequested => self.state.closed = true,
            _ => {}
        }
        self.window.request_redraw();
    }

    /// Returns `true` if the window is to be closed.
    fn is_closed(&self) -> bool {
        self.state.closed
    }

    /// Requests a frame.
    fn request_frame(&self) {
        self.window.request_redraw();
    }

    /// Draws a frame. Returns the time until the next frame is due; `None` if the next event decides it.
    fn frame(&mut self) -> Result<Option<Duration>, Error> {
        if let Some(error) = self.device_error.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(Error::Device(error));
        }
        if !self.screen.resize(&self.gpu.device)? {
            self.last_frame_start = None;
            return Ok(None);
        }
        self.advance_clock();
        let (painting, has_actions) = self.run_controls();
        self.apply_settings()?;
        self.steer()?;
        self.fit_camera();
        if !self.draw(&painting)? {
            self.last_frame_start = None;
            return Ok(Some(HIDDEN_INTERVAL));
        }
        let playing = self.state.clock.running || self.args.screenshot.is_some();
        if !playing {
            self.last_frame_start = None;
            self.frame_times.clear();
        }
        let due = if playing || has_actions { Duration::ZERO } else { painting.next_frame };
        Ok(Some(due).filter(|&due| due != Duration::MAX))
    }

    /// Advances the clock to this frame.
    fn advance_clock(&mut self) {
        let now = Instant::now();
        let elapsed = self.last_frame_start.replace(now).map(|last| (now - last).as_secs_f64());
        if let Some(elapsed) = elapsed {
            self.frame_times.add(elapsed);
        }
        self.state.clock.advance(match self.args.screenshot {
            None => elapsed.unwrap_or(0.0),
            Some(_) if self.frames_drawn > 0 => SCREENSHOT_STEP,
            Some(_) => 0.0,
        });
    }

    /// Lays out the controls and applies their actions. The flag is true if there were actions.
    fn run_controls(&mut self) -> (Painting, bool) {
        let (limits, mut actions) = (self.limits(), Vec::new());
        let times = Times {
            frame: self.frame_times.median(),
            rate: self.frame_times.rate(),
            poses: self.pose_timer.as_ref().and_then(PoseTimer::seconds),
        };
        let Self { gpu, gui, state, info, steering, window, .. } = self;
        let painting = gui.run(gpu, window, |ui| {
            if state.controls {
                actions.extend(overlay::draw(ui, state, info, steering, &limits, times));
            }
        });
        actions.iter().for_each(|&action| self.state.apply(action, &limits));
        (painting, !actions.is_empty())
    }

    /// Uploads the crowd of the settings if they have changed. If that fails, shows the error and restores the old
    /// settings.
    fn apply_settings(&mut self) -> Result<(), Error> {
        if self.state.settings == self.drawn.settings {
            return Ok(());
        }
        let previous = self.drawn.settings.clone();
        let applied = self
            .drawn
            .apply(self.state.settings.clone())
            .and_then(|moved| self.gpu_scene.update(&self.renderer, &self.drawn, !moved));
        self.state.message = applied.as_ref().err().map(Error::to_string);
        if applied.is_err() {
            self.drawn.apply(previous.clone())?;
            self.state.settings = previous;
        }
        // The crowd has the parameters of the file again.
        self.steered.clear();
        self.info = CrowdInfo::new(&self.drawn, &self.gpu);
        self.view = self.args.view_args.view(&self.drawn, self.screen.frame.canvas.aspect());
        self.fitted_size = None;
        self.frame_times.clear();
        Ok(())
    }

    /// Gives the crowd the values of parameters that the user has set.
    fn steer(&mut self) -> Result<(), Error> {
        if self.steered != self.state.set_values {
            self.steering.steer(&mut self.drawn.crowd, &self.state.set_values)?;
            self.steered.clone_from(&self.state.set_values);
        }
        Ok(())
    }

    /// Fits the camera if the state wants that and the crowd or the size of the window has changed.
    fn fit_camera(&mut self) {
        let size = self.state.fitted.then(|| self.screen.size());
        if size.is_some() && size != self.fitted_size {
            self.state.camera =
                view_args::fit_camera(self.state.camera, &self.drawn, self.screen.frame.canvas.aspect());
        }
        self.fitted_size = size;
    }

    /// Draws the frame. Returns `false` if the window is hidden.
    fn draw(&mut self, painting: &Painting) -> Result<bool, Error> {
        let GpuContext { device, queue, .. } = &self.gpu;
        let Some(texture) = self.screen.acquire(device)? else { return Ok(false) };
        let frame = &self.screen.frame;
        let mut encoder = device.create_command_encoder(&Default::default());
        let writes = self.pose_timer.as_ref().and_then(PoseTimer::writes);
        self.gpu_scene.encode(&mut encoder, &self.drawn, self.state.clock.now, writes)?;
        if let Some(timer) = &self.pose_timer {
            timer.resolve(&mut encoder);
        }
        let view = View { camera: self.state.camera, ..self.view };
        self.renderer.draw(&mut encoder, &frame.canvas, &frame.srgb, &self.gpu_scene.scene, &view);
        self.gui.paint(&self.gpu, &mut encoder, frame, painting);
        self.screen.copy(device, &mut encoder, &texture);
        self.frames_drawn += 1;
        match &self.args.screenshot {
            Some(file) if self.frames_drawn == self.args.frames => {
                let picture = Picture::read(&self.renderer, encoder, &frame.picture)?;
                let mut output = Output::create(Some(file))?;
                output.write(|out| write_png(out, &picture))?;
                output.finish()?;
                self.state.closed = true;
            }
            _ => {
                queue.submit([encoder.finish()]);
            }
        }
        if let Some(timer) = &mut self.pose_timer {
            timer.read();
        }
        self.window.pre_present_notify();
        queue.present(texture);
        Ok(true)
    }

    fn limits(&self) -> Limits {
        let source = &self.drawn.source;
        let stage = &self.drawn.stage;
        Limits {
            clips: source.clips().len(),
            own_clips: !matches!(source, CrowdSource::File { .. }),
            timeline: self.info.timeline,
            distances: DistanceRange::new(stage.bounds.size(), stage.figure_size),
        }
    }
}

/// The durations of the frames of the last second.
#[derive(Debug, Default)]
struct FrameTimes {
    seconds: VecDeque<f64>,
    sum: f64,
}

impl FrameTimes {
    /// Adds the duration of a frame in seconds, and removes the frames that ended more than a second ago.
    fn add(&mut self, seconds: f64) {
        self.seconds.push_back(seconds);
        self.sum += seconds;
        while self.seconds.len() > 1 && self.sum - self.seconds[0] >= 1.0 {
            self.sum -= self.seconds.pop_front().unwrap_or(0.0);
        }
    }

    /// Removes all frames.
    fn clear(&mut self) {
        *self = Self::default();
    }

    /// The median duration in seconds; `None` without frames.
    fn median(&self) -> Option<f64> {
        let mut sorted: Vec<f64> = self.seconds.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }

    /// The number of frames per second; `None` without frames.
    fn rate(&self) -> Option<f64> {
        (self.sum > 0.0).then(|| self.seconds.len() as f64 / self.sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_frames_of_the_last_second_count() {
        let mut times = FrameTimes::default();
        assert_eq!((times.median(), times.rate()), (None, None));
        (0..100).for_each(|_| times.add(0.5));
        assert_eq!((times.median(), times.rate()), (Some(0.5), Some(2.0)));
        (0..16).for_each(|_| times.add(0.0625));
        assert_eq!((times.median(), times.rate()), (Some(0.0625), Some(16.0)));
        // One long frame changes the rate, but not the median.
        times.add(0.25);
        assert_eq!(times.median(), Some(0.0625));
        assert_eq!(times.rate(), Some(13.0 / 1.0));
    }
}
