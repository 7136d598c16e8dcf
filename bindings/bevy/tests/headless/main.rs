//! Crowds in Bevy apps without a window, on any Vulkan device: pixels against the poses of the reference.

mod check;
mod components;
mod errors;
mod figure;
mod files;
#[path = "../../examples/headless/mod.rs"]
mod headless;
mod life;
mod looks;
mod loss;
mod morphs;
mod motion;
mod pixels;
mod scene;
mod squares;
mod stage;

/// The result of a fallible step.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;
