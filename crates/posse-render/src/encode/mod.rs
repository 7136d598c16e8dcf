//! Encoders for picture files: PNG, animated PNG and GIF, and films through the program `ffmpeg`.

// A browser starts no programs.
#[cfg(not(target_arch = "wasm32"))]
mod ffmpeg;
mod gif;
mod palette;
mod png;

#[cfg(not(target_arch = "wasm32"))]
pub use self::ffmpeg::Film;
pub use self::gif::GifAnimation;
pub use self::palette::Palette;
pub use self::png::{PngAnimation, write_indexed_png, write_png};
