//! The keys and the mouse: each input event becomes an action.

use winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};
use winit::keyboard::{Key, NamedKey};

use crate::view::clock::Direction;
use crate::view::orbit::Drag;
use crate::view::window_state::Action;

/// The end of `posse view --help`.
pub const HELP: &str = "\
Mouse: drag turns the camera, the wheel zooms, drag with the right or the middle button moves it.
Keys:  Space       plays and pauses         [ ]    previous and next clip
       Left Right  one frame back, forward  , .    second clip, which is blended in
       Down Up     slower, faster           - +    smaller and larger crowd
       Home        to the start             F      shows the whole crowd
       H           hides the controls       Q Esc  closes the window

The parameters of a crowd file have sliders. A click or a drag in the plot of a blend space sets its two parameters. The button
`file` lets a parameter follow the crowd file again.

  posse view demo --instances 1000
  posse view Fox.glb --instances 200
  posse view --crowd crowd.json";

/// The step of an arrow key in seconds of the crowd clock.
const FRAME_SECONDS: f64 = 1.0 / 30.0;
/// The pixels on a touchpad that count as one step of a wheel.
const PIXELS_PER_STEP: f64 = 40.0;

/// The action of a key; `None` if it has none.
pub fn key_action(key: &Key) -> Option<Action> {
    match key {
        Key::Named(NamedKey::Space) => Some(Action::TogglePlay),
        Key::Named(NamedKey::ArrowLeft) => Some(Action::Skip(-FRAME_SECONDS)),
        Key::Named(NamedKey::ArrowRight) => Some(Action::Skip(FRAME_SECONDS)),
        Key::Named(NamedKey::ArrowDown) => Some(Action::StepSpeed(Direction::Previous)),
        Key::Named(NamedKey::ArrowUp) => Some(Action::StepSpeed(Direction::Next)),
        Key::Named(NamedKey::Home) => Some(Action::Seek(0.0)),
        Key::Named(NamedKey::Escape) => Some(Action::Close),
        Key::Character(text) => match text.to_lowercase().as_str() {
            "[" => Some(Action::StepClip(Direction::Previous)),
            "]" => Some(Action::StepClip(Direction::Next)),
            "," => Some(Action::StepSecondClip(Direction::Previous)),
            "." => Some(Action::StepSecondClip(Direction::Next)),
            "-" | "_" => Some(Action::StepInstances(Direction::Previous)),
            "+" | "=" => Some(Action::StepInstances(Direction::Next)),
            "f" => Some(Action::Fit),
            "h" => Some(Action::ToggleControls),
            "q" => Some(Action::Close),
            _ => None,
        },
        _ => None,
    }
}

/// The position of a mouse, and its pressed button.
#[derive(Debug, Default)]
pub struct Mouse {
    /// Pixels; `None` before the first movement.
    position: Option<[f64; 2]>,
    pressed: Option<MouseButton>,
}

impl Mouse {
    /// The action of an event in a window of a height in pixels. An event that a control consumed has no action, and ends a drag
    /// if it is a button.
    pub fn action(&mut self, event: &WindowEvent, consumed: bool, height: f64) -> Option<Action> {
        match *event {
            WindowEvent::MouseInput { state, button, .. } => {
                self.pressed = (state == ElementState::Pressed && !consumed).then_some(button);
                None
            }
            WindowEvent::CursorMoved { position, .. } => {
                let [x, y] = self.position.replace([position.x, position.y])?;
                let heights = |pixels: f64| (pixels / height.max(1.0)) as f32;
                let drag = Drag { right: heights(position.x - x), down: heights(position.y - y) };
                match self.pressed? {
                    MouseButton::Left => Some(Action::Turn(drag)),
                    MouseButton::Right | MouseButton::Middle => Some(Action::Pan(drag)),
                    _ => None,
                }
            }
            WindowEvent::MouseWheel { delta, .. } if !consumed => Some(Action::Zoom(match delta {
                MouseScrollDelta::LineDelta(_, steps) => steps,
                MouseScrollDelta::PixelDelta(pixels) => (pixels.y / PIXELS_PER_STEP) as f32,
            })),
            _ => None,
        }
    }
}
