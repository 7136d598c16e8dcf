//! What a window shows, on the device that draws it, frame by frame.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use posse::render::encode::write_png;
use posse::render::{Bones, Picture, Renderer, View};
use posse::{Error, GpuContext};
use winit::event::WindowEvent;
use winit::window::Window;

use crate::cli::drawn_crowd::DrawnCrowd;
use crate::cli::drawn_crowd::crowd_source::{CrowdSource, clip_name};
use crate::cli::evaluation::clock_ticks;
use crate::cli::output::{Output, note};
use crate::cli::view::clock::Clock;
use crate::cli::view::gpu_scene::GpuScene;
use crate::cli::view::gui::{Gui, Painting};
use crate::cli::view::meter::Meter;
use crate::cli::view::mouse::Mouse;
use crate::cli::view::overlay::{self, Facts, Times};
use crate::cli::view::screen::Screen;
use crate::cli::view::timer::Timer;
use crate::cli::view::window_state::{Limits, WindowState};
use crate::cli::view::{Args, keys, orbit};
use crate::cli::view_args;

/// Seconds from frame to frame where a frame is written to a file.
const STEP: f64 = 1.0 / 60.0;
/// When a window that is not seen is looked at again.
const UNSEEN: Duration = Duration::from_millis(100);

/// A window with a drawn, on a device.
pub struct Viewer<'a> {
    args: &'a Args,
    window: Arc<Window>,
    gpu: GpuContext,
    /// What the device reported that nobody asked for.
    fault: Arc<Mutex<Option<String>>>,
    screen: Screen,
    renderer: Renderer,
    gui: Gui,
    mouse: Mouse,
    drawn: DrawnCrowd,
    gpu_scene: GpuScene,
    state: WindowState,
    /// What is seen, but for the camera.
    view: View,
    /// The size of the window that the camera was fitted to; `None` where it has to be again.
    fitted: Option<[u32; 2]>,
    facts: Facts,
    meter: Meter,
    timer: Option<Timer>,
    /// When the last frame was begun, where one follows the other.
    last: Option<Instant>,
    /// Frames that were drawn.
    frames_drawn: u32,
}

impl<'a> Viewer<'a> {
    /// Opens a device for a window and uploads a drawn. Says which adapter draws.
    pub fn new(args: &'a Args, drawn: DrawnCrowd, window: Window) -> Result<Self, Error> {
        let window = Arc::new(window);
        let (gpu, screen) = Screen::new(Arc::clone(&window), !args.uncapped && args.screenshot.is_none())?;
        note(&format!("engine: gpu ({})", gpu.name()));
        let fault = Arc::new(Mutex::new(None));
        let reported = Arc::clone(&fault);
        gpu.device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            reported.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error.to_string());
        }));
        let renderer = Renderer::new(&gpu.device, &gpu.queue, screen.target())?;
        let gpu_scene = GpuScene::new(&gpu, &renderer, &drawn, args.look.bones(&drawn) != Bones::Hidden)?;
        let gui = Gui::new(&window, &gpu, screen.target().format.remove_srgb_suffix());
        let view = args.look.view(&drawn, screen.frame.canvas.aspect());
        let state = WindowState {
            clock: Clock { running: !args.paused, ..Clock::new(clock_ticks(args.time)?) },
            camera: view.camera,
            settings: drawn.settings.clone(),
            controls: !args.bare,
            fitted: args.look.is_fitted(),
            over: false,
            message: None,
        };
        let facts = facts(&drawn, &gpu);
        // The clock of an adapter in software does not wait for the work.
        let timer = if gpu.is_hardware() { Timer::new(&gpu) } else { None };
        Ok(Self {
            args,
            window,
            gpu,
            fault,
            screen,
            renderer,
            gui,
            mouse: Mouse::default(),
            drawn,
            gpu_scene,
            state,
            view,
            fitted: None,
            facts,
            meter: Meter::default(),
            timer,
            last: None,
            frames_drawn: 0,
        })
    }

    /// Takes an event, after which the window is to be drawn anew.
    pub fn event(&mut self, event: &WindowEvent) {
        let for_control = self.gui.event(&self.window, event) && self.state.controls;
        let limits = self.limits();
        if let Some(action) = self.mouse.action(event, for_control, self.screen.size()[1].into()) {
            self.state.act(action, &limits);
        }
        match event {
            WindowEvent::KeyboardInput { event, .. } if event.state.is_pressed() && !for_control => {
                if let Some(action) = keys::action(&event.logical_key) {
                    self.state.act(action, &limits);
                }
            }
            WindowEvent::CloseRequested => self.state.over = true,
            _ => {}
        }
        self.window.request_redraw();
    }

    /// Whether the window is to be closed.
    pub fn is_over(&self) -> bool {
        self.state.over
    }

    /// Asks for a frame.
    pub fn request_frame(&self) {
        self.window.request_redraw();
    }

    /// Draws a frame, and says how long after it the next one is due; `None`: not before something happens.
    pub fn frame(&mut self) -> Result<Option<Duration>, Error> {
        if let Some(fault) = self.fault.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(Error::Device(fault));
        }
        if !self.screen.follow(&self.gpu.device)? {
            self.last = None;
            return Ok(None);
        }
        self.tick();
        let (painting, acted) = self.controls();
        self.choose()?;
        self.fit();
        let again = painting.again;
        if !self.draw(painting)? {
            self.last = None;
            return Ok(Some(UNSEEN));
        }
        let playing = self.state.clock.running || self.args.screenshot.is_some();
        if !playing {
            self.last = None;
            self.meter.clear();
        }
        Ok(if playing || acted { Some(Duration::ZERO) } else { Some(again).filter(|&again| again != Duration::MAX) })
    }

    /// Brings the clock to this frame.
    fn tick(&mut self) {
        let now = Instant::now();
        let elapsed = self.last.replace(now).map(|last| (now - last).as_secs_f64());
        if let Some(elapsed) = elapsed {
            self.meter.add(elapsed);
        }
        self.state.clock.advance(match self.args.screenshot {
            None => elapsed.unwrap_or(0.0),
            Some(_) if self.frames_drawn > 0 => STEP,
            Some(_) => 0.0,
        });
    }

    /// Lays the controls out, and does what was done with them, if anything.
    fn controls(&mut self) -> (Painting, bool) {
        let (limits, mut actions) = (self.limits(), Vec::new());
        let times = Times {
            frame: self.meter.median(),
            rate: self.meter.rate(),
            poses: self.timer.as_ref().and_then(Timer::seconds),
        };
        let Self { gpu, gui, state, facts, window, .. } = self;
        let painting = gui.run(gpu, window, |ui| {
            if state.controls {
                actions.extend(overlay::draw(ui, state, facts, &limits, times));
            }
        });
        actions.iter().for_each(|&action| self.state.act(action, &limits));
        (painting, !actions.is_empty())
    }

    /// Poses another crowd, where one was chosen; where that cannot be, says so and stays with the one before.
    fn choose(&mut self) -> Result<(), Error> {
        if self.state.settings != self.drawn.settings {
            let before = self.drawn.settings.clone();
            let chosen = self.drawn.apply(self.state.settings.clone());
            let chosen = chosen.and_then(|moved| self.gpu_scene.update(&self.gpu, &self.renderer, &self.drawn, !moved));
            self.state.message = chosen.as_ref().err().map(Error::to_string);
            if chosen.is_err() {
                self.drawn.apply(before.clone())?;
                self.state.settings = before;
            }
            self.facts = facts(&self.drawn, &self.gpu);
            self.view = self.args.look.view(&self.drawn, self.screen.frame.canvas.aspect());
            self.fitted = None;
            self.meter.clear();
        }
        Ok(())
    }

    /// Fits the camera, where that was asked for and something has changed.
    fn fit(&mut self) {
        let wanted = self.state.fitted.then(|| self.screen.size());
        if wanted.is_some() && wanted != self.fitted {
            self.state.camera =
                view_args::fit_camera(self.state.camera, &self.drawn, self.screen.frame.canvas.aspect());
        }
        self.fitted = wanted;
    }

    /// Draws the frame. False where the window cannot be drawn on.
    fn draw(&mut self, painting: Painting) -> Result<bool, Error> {
        let GpuContext { device, queue, .. } = &self.gpu;
        let Some(texture) = self.screen.acquire(device)? else { return Ok(false) };
        let frame = &self.screen.frame;
        let mut encoder = device.create_command_encoder(&Default::default());
        let writes = self.timer.as_ref().and_then(Timer::writes);
        self.gpu_scene.crowd.encode_timed(device, &mut encoder, self.state.clock.now, writes);
        if let Some(timer) = &self.timer {
            timer.resolve(&mut encoder);
        }
        let view = View { camera: self.state.camera, ..self.view };
        self.renderer.draw(&mut encoder, &frame.canvas, &frame.srgb, &self.gpu_scene.scene, &view)?;
        self.gui.paint(&self.gpu, &mut encoder, (&frame.stored, frame.canvas.size), painting);
        self.screen.copy(device, &mut encoder, &texture);
        self.frames_drawn += 1;
        match &self.args.screenshot {
            Some(file) if self.frames_drawn == self.args.frames => {
                let picture = Picture::read(&self.renderer, encoder, &frame.picture)?;
                let mut output = Output::create(Some(file))?;
                output.write(|out| write_png(out, &picture))?;
                output.finish()?;
                self.state.over = true;
            }
            _ => {
                queue.submit([encoder.finish()]);
            }
        }
        if let Some(timer) = &mut self.timer {
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
            own: !matches!(source, CrowdSource::File { .. }),
            seconds: self.drawn.seconds,
            distances: orbit::distances(stage.bounds.size(), stage.figure_size),
        }
    }
}

fn facts(drawn: &DrawnCrowd, gpu: &GpuContext) -> Facts {
    let DrawnCrowd { library, source, crowd, .. } = drawn;
    let joints = |instance| library.skeleton(crowd.skeleton(instance)).joints().len() as u64;
    let layers = match source {
        CrowdSource::CrowdFile(_) => (0..crowd.len()).map(|instance| crowd.layers(instance).len()).max().unwrap_or(0),
        _ => 0,
    };
    Facts {
        clips: source.clips().iter().map(|&clip| clip_name(library, clip).to_string()).collect(),
        own: if matches!(source, CrowdSource::Demo { .. }) { "each its own" } else { "none" },
        layers,
        instances: crowd.len(),
        joints: (0..crowd.len()).map(joints).sum(),
        adapter: gpu.name(),
    }
}
