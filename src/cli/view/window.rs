//! A window, and the loop of its events.

use std::time::Instant;

use posse::Error;
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::error::EventLoopError;
use winit::event::{StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::window::{Window, WindowId};

use crate::cli::drawn_crowd::DrawnCrowd;
use crate::cli::view::Args;
use crate::cli::view::viewer::Viewer;

/// Opens a window, and shows a drawn in it until it is closed.
pub fn run(args: &Args) -> Result<(), Error> {
    // Where a library that it loads is absent, winit panics, and says which.
    let event_loop = std::panic::catch_unwind(EventLoop::new)
        .map_err(|_| Error::Usage("a library that windows need is absent; posse render needs no window".into()))?
        .map_err(no_display)?;
    let mut opened = Opened { args, drawn: Some(DrawnCrowd::load(&args.drawn)?), viewer: None, result: Ok(()) };
    event_loop.run_app(&mut opened).map_err(no_display)?;
    opened.result
}

fn no_display(error: EventLoopError) -> Error {
    // Before the reason there is a place in winit's source.
    let error = error.to_string();
    let reason = error.rsplit(": ").next().unwrap_or_default().trim_end_matches('.');
    Error::Usage(format!(
        "there is no display to open a window on ({reason}). Set DISPLAY or WAYLAND_DISPLAY, or start it with xvfb-run; posse \
         render needs no display"
    ))
}

/// A window and how it ended.
struct Opened<'a> {
    args: &'a Args,
    /// Until the window is open.
    drawn: Option<DrawnCrowd>,
    viewer: Option<Viewer<'a>>,
    result: Result<(), Error>,
}

impl<'a> Opened<'a> {
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

impl ApplicationHandler for Opened<'_> {
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
        if viewer.is_over() {
            self.end(event_loop, Ok(()));
        }
    }
}
