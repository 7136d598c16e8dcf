//! What a window shows, on the device that draws it, frame by frame.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use posse::render::encode::write_png;
use posse::render::{Bones, Picture, Renderer, View};
use posse::{Error, GpuContext};
use winit::event::WindowEvent;
use winit::window::Window;

use crate::cli::look;
use crate::cli::output::{Output, note};
use crate::cli::subject::Subject;
use crate::cli::subject::cast::{Cast, clip_name};
use crate::cli::view::clock::Clock;
use crate::cli::view::gui::{Gui, Painting};
use crate::cli::view::live::Live;
use crate::cli::view::meter::Meter;
use crate::cli::view::mouse::Mouse;
use crate::cli::view::overlay::{self, Facts, Times};
use crate::cli::view::screen::Screen;
use crate::cli::view::show::{Limits, Show};
use crate::cli::view::timer::Timer;
use crate::cli::view::{Args, keys, orbit};

/// Seconds from frame to frame where a frame is written to a file.
const STEP: f64 = 1.0 / 60.0;
/// When a window that is not seen is looked at again.
const UNSEEN: Duration = Duration::from_millis(100);

/// A window with a subject, on a device.
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
    subject: Subject,
    live: Live,
    show: Show,
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
    drawn: u32,
}

impl<'a> Viewer<'a> {
    /// Opens a device for a window and uploads a subject. Says which adapter draws.
    pub fn new(args: &'a Args, subject: Subject, window: Window) -> Result<Self, Error> {
        let window = Arc::new(window);
        let (gpu, screen) = Screen::new(Arc::clone(&window), !args.uncapped && args.screenshot.is_none())?;
        note(&format!("engine: gpu ({})", gpu.name()));
        let fault = Arc::new(Mutex::new(None));
        let reported = Arc::clone(&fault);
        gpu.device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            reported.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error.to_string());
        }));
        let renderer = Renderer::new(&gpu.device, &gpu.queue, screen.target())?;
        let live = Live::new(&gpu, &renderer, &subject, args.look.bones(&subject) != Bones::Hidden)?;
        let gui = Gui::new(&window, &gpu, screen.target().format.remove_srgb_suffix());
        let view = args.look.view(&subject, screen.frame.canvas.aspect());
        let show = Show {
            clock: Clock { running: !args.paused, ..Clock::new(Subject::ticks(args.time)?) },
            camera: view.camera,
            choice: subject.choice.clone(),
            controls: !args.bare,
            fitted: args.look.is_fitted(),
            over: false,
            message: None,
        };
        let facts = facts(&subject, &gpu);
        // The clock of an adapter in software does not wait for the work.
        let timer = if gpu.is_hardware() { Timer::new(&gpu.device, &gpu.queue) } else { None };
        Ok(Self {
            args,
            window,
            gpu,
            fault,
            screen,
            renderer,
            gui,
            mouse: Mouse::default(),
            subject,
            live,
            show,
            view,
            fitted: None,
            facts,
            meter: Meter::default(),
            timer,
            last: None,
            drawn: 0,
        })
    }

    /// Takes an event, after which the window is to be drawn anew.
    pub fn event(&mut self, event: &WindowEvent) {
        let for_control = self.gui.event(&self.window, event) && self.show.controls;
        let limits = self.limits();
        if let Some(action) = self.mouse.action(event, for_control, self.screen.size()[1].into()) {
            self.show.act(action, &limits);
        }
        match event {
            WindowEvent::KeyboardInput { event, .. } if event.state.is_pressed() && !for_control => {
                if let Some(action) = keys::action(&event.logical_key) {
                    self.show.act(action, &limits);
                }
            }
            WindowEvent::CloseRequested => self.show.over = true,
            _ => {}
        }
        self.window.request_redraw();
    }

    /// Whether the window is to be closed.
    pub fn is_over(&self) -> bool {
        self.show.over
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
        let playing = self.show.clock.running || self.args.screenshot.is_some();
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
        self.show.clock.advance(match self.args.screenshot {
            None => elapsed.unwrap_or(0.0),
            Some(_) if self.drawn > 0 => STEP,
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
        let Self { gpu, gui, show, facts, window, .. } = self;
        let painting = gui.run(gpu, window, |ui| {
            if show.controls {
                actions.extend(overlay::draw(ui, show, facts, &limits, times));
            }
        });
        actions.iter().for_each(|&action| self.show.act(action, &limits));
        (painting, !actions.is_empty())
    }

    /// Poses another crowd, where one was chosen; where that cannot be, says so and stays with the one before.
    fn choose(&mut self) -> Result<(), Error> {
        if self.show.choice != self.subject.choice {
            let before = self.subject.choice.clone();
            let chosen = self.subject.choose(self.show.choice.clone());
            let chosen = chosen.and_then(|moved| self.live.update(&self.gpu, &self.renderer, &self.subject, !moved));
            self.show.message = chosen.as_ref().err().map(Error::to_string);
            if chosen.is_err() {
                self.subject.choose(before.clone())?;
                self.show.choice = before;
            }
            self.facts = facts(&self.subject, &self.gpu);
            self.view = self.args.look.view(&self.subject, self.screen.frame.canvas.aspect());
            self.fitted = None;
            self.meter.clear();
        }
        Ok(())
    }

    /// Fits the camera, where that was asked for and something has changed.
    fn fit(&mut self) {
        let wanted = self.show.fitted.then(|| self.screen.size());
        if wanted.is_some() && wanted != self.fitted {
            self.show.camera = look::fitted(self.show.camera, &self.subject, self.screen.frame.canvas.aspect());
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
        self.live.crowd.encode_timed(device, &mut encoder, self.show.clock.now, writes);
        if let Some(timer) = &self.timer {
            timer.resolve(&mut encoder);
        }
        let view = View { camera: self.show.camera, ..self.view };
        self.renderer.draw(&mut encoder, &frame.canvas, &frame.srgb, &self.live.scene, &view)?;
        self.gui.paint(&self.gpu, &mut encoder, (&frame.stored, frame.canvas.size), painting);
        self.screen.copy(device, &mut encoder, &texture);
        self.drawn += 1;
        match &self.args.screenshot {
            Some(file) if self.drawn == self.args.frames => {
                let picture = Picture::read(&self.renderer, encoder, &frame.picture)?;
                let mut output = Output::create(Some(file))?;
                output.write(|out| write_png(out, &picture))?;
                output.finish()?;
                self.show.over = true;
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
        let cast = &self.subject.cast;
        let stage = &self.subject.stage;
        Limits {
            clips: cast.clips().len(),
            own: !matches!(cast, Cast::File { .. }),
            seconds: self.subject.seconds,
            distances: orbit::distances(stage.bounds.size(), stage.figure_size),
        }
    }
}

fn facts(subject: &Subject, gpu: &GpuContext) -> Facts {
    let Subject { library, cast, crowd, .. } = subject;
    let joints = |instance| library.skeleton(crowd.skeleton(instance)).joints().len() as u64;
    let layers = match cast {
        Cast::CrowdFile(_) => (0..crowd.len()).map(|instance| crowd.layers(instance).len()).max().unwrap_or(0),
        _ => 0,
    };
    Facts {
        clips: cast.clips().iter().map(|&clip| clip_name(library, clip).to_string()).collect(),
        own: if matches!(cast, Cast::Demo { .. }) { "each its own" } else { "none" },
        layers,
        instances: crowd.len(),
        joints: (0..crowd.len()).map(joints).sum(),
        adapter: gpu.name(),
    }
}
