//! What keys do.

use winit::keyboard::{Key, NamedKey};

use crate::cli::view::window_state::Action;

/// What `posse view --help` says at its end.
pub const HELP: &str = "\
Mouse: drag turns, the wheel zooms, a drag with the right or the middle button moves.
Keys:  Space       plays and pauses         [ ]    the clip before, the next
       Left Right  a frame back, on         , .    the second clip, which is blended in
       Down Up     slower, faster           - +    a smaller, a larger crowd
       Home        to the start             F      shows the whole crowd
       H           hides the controls       Q Esc  closes the window

  posse view demo --instances 1000
  posse view Fox.glb --instances 200
  posse view --crowd crowd.json";

/// Seconds of the crowd's clock that an arrow key goes on by.
const FRAME: f64 = 1.0 / 30.0;

/// What a key does, if anything.
pub fn action(key: &Key) -> Option<Action> {
    match key {
        Key::Named(NamedKey::Space) => Some(Action::Play),
        Key::Named(NamedKey::ArrowLeft) => Some(Action::Step(-FRAME)),
        Key::Named(NamedKey::ArrowRight) => Some(Action::Step(FRAME)),
        Key::Named(NamedKey::ArrowDown) => Some(Action::ShiftSpeed(false)),
        Key::Named(NamedKey::ArrowUp) => Some(Action::ShiftSpeed(true)),
        Key::Named(NamedKey::Home) => Some(Action::Scrub(0.0)),
        Key::Named(NamedKey::Escape) => Some(Action::Quit),
        Key::Character(text) => match text.to_lowercase().as_str() {
            "[" => Some(Action::Clip(false)),
            "]" => Some(Action::Clip(true)),
            "," => Some(Action::Second(false)),
            "." => Some(Action::Second(true)),
            "-" | "_" => Some(Action::Crowd(false)),
            "+" | "=" => Some(Action::Crowd(true)),
            "f" => Some(Action::Fit),
            "h" => Some(Action::Controls),
            "q" => Some(Action::Quit),
            _ => None,
        },
        _ => None,
    }
}
