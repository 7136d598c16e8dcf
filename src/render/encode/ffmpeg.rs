//! Films, encoded by the program `ffmpeg`.

use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::error::Error;
use crate::render::Picture;

/// A film that is being written. The file gets its name when the film is [finished](Self::finish); a film that is dropped before
/// leaves no file.
#[derive(Debug)]
pub struct Film {
    child: Child,
    draft: PathBuf,
    file: PathBuf,
}

impl Film {
    /// Begins an `.mp4` (H.264) or `.webm` (VP9) file. `size` is the width and height of the pictures in pixels, of which an odd
    /// last column or row is cut; `rate` is the number of pictures per second.
    ///
    /// # Errors
    /// [`Error::Usage`] if `ffmpeg` is not installed or the file has another extension; [`Error::Io`] if `ffmpeg` does not start.
    pub fn new(file: &Path, size: [u32; 2], rate: f64) -> Result<Self, Error> {
        let [width, height] = size;
        let extension = file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let codec: &[&str] = match extension.as_str() {
            "mp4" => &["-c:v", "libx264", "-crf", "18", "-movflags", "+faststart", "-f", "mp4"],
            "webm" => &["-c:v", "libvpx-vp9", "-crf", "30", "-b:v", "0", "-row-mt", "1", "-f", "webm"],
            _ => return Err(Error::Usage(format!("{}: a film must be an .mp4 or a .webm file", file.display()))),
        };
        let mut name = file.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.part", std::process::id()));
        let draft = file.with_file_name(name);
        let spawned = Command::new("ffmpeg")
            .args(["-loglevel", "error", "-nostdin", "-y", "-f", "rawvideo", "-pixel_format", "rgba"])
            .args(["-video_size", &format!("{width}x{height}"), "-framerate", &rate.to_string(), "-i", "-"])
            .args(["-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2", "-pix_fmt", "yuv420p"])
            .args(codec)
            // With a prefix, a name that begins with a dash is not read as an option.
            .arg(file_argument(&draft))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let child = spawned.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::Usage(format!(
                "{}: ffmpeg, which writes films, is not installed. Install it (Debian and Ubuntu: apt-get install ffmpeg; \
                 macOS: brew install ffmpeg; Windows: winget install ffmpeg), or write a .gif or .apng file",
                file.display()
            )),
            _ => Error::Io { file: "ffmpeg".into(), source: error },
        })?;
        Ok(Self { child, draft, file: file.to_path_buf() })
    }

    /// Adds a picture.
    ///
    /// # Errors
    /// [`Error::Usage`] with the message of `ffmpeg` if it failed.
    pub fn add(&mut self, picture: &Picture) -> Result<(), Error> {
        let result = self.child.stdin.as_mut().map(|stdin| stdin.write_all(&picture.pixels));
        match result {
            Some(Ok(())) => Ok(()),
            _ => Err(self.failure()),
        }
    }

    /// Waits until the file is complete, then renames it to its final name.
    ///
    /// # Errors
    /// [`Error::Usage`] with the message of `ffmpeg` if it failed; [`Error::Io`] if the file cannot be renamed.
    pub fn finish(mut self) -> Result<(), Error> {
        drop(self.child.stdin.take());
        match self.child.wait() {
            Ok(status) if status.success() => {
                std::fs::rename(&self.draft, &self.file).map_err(|source| Error::Io { file: self.file.clone(), source })
            }
            _ => Err(self.failure()),
        }
    }

    fn failure(&mut self) -> Error {
        drop(self.child.stdin.take());
        let mut text = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            // If the message cannot be read, the error has a general one.
            let _ = stderr.take(4096).read_to_string(&mut text);
        }
        let text = text.trim();
        let text = if text.is_empty() { "it stopped" } else { text };
        Error::Usage(format!("{}: ffmpeg failed: {text}", self.file.display()))
    }
}

/// The argument that names a file for `ffmpeg`.
fn file_argument(file: &Path) -> OsString {
    let mut name = OsString::from("file:");
    name.push(file);
    name
}

impl Drop for Film {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // After `finish`, the draft has been renamed and the process has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.draft);
    }
}
