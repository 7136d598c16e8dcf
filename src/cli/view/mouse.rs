//! What a mouse does.

use winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};

use crate::cli::view::window_state::Action;

/// Pixels of a touchpad that are a step of a wheel.
const PIXELS_PER_STEP: f64 = 40.0;

/// Where a mouse is, and what it holds.
#[derive(Debug, Default)]
pub struct Mouse {
    at: Option<[f64; 2]>,
    held: Option<MouseButton>,
}

impl Mouse {
    /// What an event does in a window of a height. One that was meant for a control does nothing here but let go.
    pub fn action(&mut self, event: &WindowEvent, for_control: bool, height: f64) -> Option<Action> {
        match *event {
            WindowEvent::MouseInput { state, button, .. } => {
                self.held = (state == ElementState::Pressed && !for_control).then_some(button);
                None
            }
            WindowEvent::CursorMoved { position, .. } => {
                let [x, y] = self.at.replace([position.x, position.y])?;
                let by = [(position.x - x) / height.max(1.0), (position.y - y) / height.max(1.0)].map(|by| by as f32);
                match self.held? {
                    MouseButton::Left => Some(Action::Turn(by)),
                    MouseButton::Right | MouseButton::Middle => Some(Action::Pan(by)),
                    _ => None,
                }
            }
            WindowEvent::MouseWheel { delta, .. } if !for_control => Some(Action::Zoom(match delta {
                MouseScrollDelta::LineDelta(_, steps) => steps,
                MouseScrollDelta::PixelDelta(pixels) => (pixels.y / PIXELS_PER_STEP) as f32,
            })),
            _ => None,
        }
    }
}
