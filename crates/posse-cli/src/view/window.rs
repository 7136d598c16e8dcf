//! The window and its event loop.

use std::time::Instant;

use posse::Error;
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::error::EventLoopError;
use winit::event::{StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::window::{Window, WindowId};

use crate::drawn_crowd::DrawnCrowd;
use crate::view::Args;
use crate::view::viewer::Viewer;

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
