//! Crowds in Bevy apps without a window, on any Vulkan device: pixels against the poses of the reference.

#[path = "../../../../examples/renderer/check.rs"]
mod check;
mod components;
mod errors;
#[path = "../../../../examples/renderer/figure.rs"]
mod figure;
mod files;
#[path = "../../examples/headless/mod.rs"]
mod headless;
mod life;
mod looks;
mod loss;
mod morphs;
mod motion;
#[path = "../../../../examples/renderer/picture.rs"]
mod picture;
mod pixels;
#[path = "../../../../examples/renderer/scene.rs"]
#[allow(dead_code, reason = "the scene has more cameras than these tests")]
mod scene;
mod squares;
mod stage;

/// The result of a fallible step.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;
