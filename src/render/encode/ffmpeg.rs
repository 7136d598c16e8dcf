//! Films, through the program `ffmpeg`.

use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::error::Error;
use crate::render::Picture;

/// A film that is being written. The file appears under its name when it is [finished](Self::finish).
#[derive(Debug)]
pub struct Film {
    child: Child,
    draft: PathBuf,
    file: PathBuf,
}

impl Film {
    /// Begins an `.mp4` (H.264) or `.webm` (VP9) file of pictures of a size, so many a second. Sides are cut to even numbers.
    ///
    /// # Errors
    /// [`Error::Usage`] where `ffmpeg` is not installed, or the file's name ends otherwise; [`Error::Io`] where it cannot be
    /// started.
    pub fn new(file: &Path, size: [u32; 2], rate: f64) -> Result<Self, Error> {
        let [width, height] = size;
        let extension = file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let codec: &[&str] = match extension.as_str() {
            "mp4" => &["-c:v", "libx264", "-crf", "18", "-movflags", "+faststart", "-f", "mp4"],
            "webm" => &["-c:v", "libvpx-vp9", "-crf", "30", "-b:v", "0", "-row-mt", "1", "-f", "webm"],
            _ => return Err(Error::Usage(format!("{}: a film is an .mp4 or a .webm file", file.display()))),
        };
        let mut name = file.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.part", std::process::id()));
        let draft = file.with_file_name(name);
        let spawned = Command::new("ffmpeg")
            .args(["-loglevel", "error", "-nostdin", "-y", "-f", "rawvideo", "-pixel_format", "rgba"])
            .args(["-video_size", &format!("{width}x{height}"), "-framerate", &rate.to_string(), "-i", "-"])
            .args(["-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2", "-pix_fmt", "yuv420p"])
            .args(codec)
            // A name that begins with a dash is not an option.
            .arg(of_file(&draft))
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
    /// [`Error::Usage`] with what `ffmpeg` says, where it has given up.
    pub fn add(&mut self, picture: &Picture) -> Result<(), Error> {
        let written = self.child.stdin.as_mut().map(|stdin| stdin.write_all(&picture.pixels));
        match written {
            Some(Ok(())) => Ok(()),
            _ => Err(self.failure()),
        }
    }

    /// Waits until the file is complete, and gives it its name.
    ///
    /// # Errors
    /// [`Error::Usage`] with what `ffmpeg` says, where it failed; [`Error::Io`] where the file cannot get its name.
    pub fn finish(mut self) -> Result<(), Error> {
        drop(self.child.stdin.take());
        match self.child.wait() {
            Ok(status) if status.success() => {
                let named = std::fs::rename(&self.draft, &self.file);
                named.map_err(|source| Error::Io { file: self.file.clone(), source })
            }
            _ => Err(self.failure()),
        }
    }

    fn failure(&mut self) -> Error {
        drop(self.child.stdin.take());
        let mut text = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            // What cannot be read says nothing.
            let _ = stderr.take(4096).read_to_string(&mut text);
        }
        let text = text.trim();
        let text = if text.is_empty() { "it stopped" } else { text };
        Error::Usage(format!("{}: ffmpeg failed: {text}", self.file.display()))
    }
}

/// A file as `ffmpeg` is told of it.
fn of_file(file: &Path) -> OsString {
    let mut name = OsString::from("file:");
    name.push(file);
    name
}

impl Drop for Film {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // A film that was not finished is of no use; one that was has another name by now.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.draft);
    }
}
