//! Draws the frames of a window.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use posse::{Error, GpuContext};
use posse_render::encode::write_png;
use posse_render::{Bones, Picture, Renderer, View};
use winit::event::WindowEvent;
use winit::window::Window;

use crate::drawn_crowd::DrawnCrowd;
use crate::drawn_crowd::crowd_source::CrowdSource;
use crate::evaluation::clock_ticks;
use crate::output::{Output, note};
use crate::view::Args;
use crate::view::clock::Clock;
use crate::view::frame_times::FrameTimes;
use crate::view::gpu_scene::GpuScene;
use crate::view::gui::{Gui, Painting};
use crate::view::input::{Mouse, key_action};
use crate::view::orbit::DistanceRange;
use crate::view::overlay::{self, CrowdInfo, Times};
use crate::view::pose_timer::PoseTimer;
use crate::view::screen::Screen;
use crate::view::steering::{SetValues, Steering};
use crate::view::window_state::{Limits, WindowState};
use crate::view_args;

/// The seconds of the crowd clock between two frames if a screenshot is written.
const SCREENSHOT_STEP: f64 = 1.0 / 60.0;
/// The interval at which a hidden window is tried again.
const HIDDEN_INTERVAL: Duration = Duration::from_millis(100);

/// A window that draws a crowd on a device.
pub struct Viewer<'a> {
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
    /// The values of parameters that the crowd has in place of those of the crowd file.
    steered: SetValues,
    state: WindowState,
    /// The background, the ground and the bones. The camera is that of `state`.
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
    pub fn new(args: &'a Args, drawn: DrawnCrowd, window: Window) -> Result<Self, Error> {
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
    pub fn event(&mut self, event: &WindowEvent) {
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

    /// Returns true if the window is to be closed.
    pub fn is_closed(&self) -> bool {
        self.state.closed
    }

    /// Requests a frame.
    pub fn request_frame(&self) {
        self.window.request_redraw();
    }

    /// Draws a frame. Returns the time until the next frame is due; `None` if the next event decides it.
    pub fn frame(&mut self) -> Result<Option<Duration>, Error> {
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

    /// Uploads the crowd of the settings if they have changed. If that fails, shows the error and restores the old settings.
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

    /// Draws the frame. Returns false if the window is hidden.
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
