//! What kind of file is written.

use std::path::Path;

use posse::Error;

/// A kind of file, by its name's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A picture.
    Png,
    /// A loop, all colours.
    Apng,
    /// A loop of 255 colours.
    Gif,
    /// A film, by `ffmpeg`.
    Film,
}

impl Format {
    /// The kind of a file.
    pub fn of(file: &Path) -> Result<Self, Error> {
        let extension = file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match extension.as_str() {
            "png" => Ok(Self::Png),
            "apng" => Ok(Self::Apng),
            "gif" => Ok(Self::Gif),
            "mp4" | "webm" => Ok(Self::Film),
            _ => {
                let file = file.display();
                Err(Error::Usage(format!("{file}: the name does not end with .png, .apng, .gif, .mp4 or .webm")))
            }
        }
    }
}
