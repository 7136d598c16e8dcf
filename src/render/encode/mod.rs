//! Pictures into files: PNG, APNG and GIF by themselves, films through `ffmpeg`.

pub mod ffmpeg;
pub mod gif;
pub mod palette;
pub mod png;
