//! Films, encoded by the program `ffmpeg`.

use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::Picture;
use posse::Error;

/// The time between two looks at `ffmpeg`.
const POLL: Duration = Duration::from_millis(5);

/// A film that is being written. The file is complete when the film is [finished](Self::finish).
#[derive(Debug)]
pub struct Film {
    child: Arc<Mutex<Child>>,
    stdin: Option<ChildStdin>,
    stderr: Option<ChildStderr>,
    file: PathBuf,
}

impl Film {
    /// Begins an `.mp4` (H.264) or `.webm` (VP9) file, by the extension of `file`, which also names it in errors. Its
    /// bytes go to `draft`, which is there or not. `size` is the width and height of the pictures in pixels, of which
    /// an odd last column or row is cut; `rate` is the number of pictures per second.
    ///
    /// # Errors
    /// [`Error::Usage`] if `ffmpeg` is not installed or the file has another extension; [`Error::Io`] if `ffmpeg` does
    /// not start.
    pub fn new(file: &Path, draft: &Path, size: [u32; 2], rate: f64) -> Result<Self, Error> {
        let [width, height] = size;
        let extension = file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let codec: &[&str] = match extension.as_str() {
            "mp4" => &["-c:v", "libx264", "-crf", "18", "-movflags", "+faststart", "-f", "mp4"],
            "webm" => &["-c:v", "libvpx-vp9", "-crf", "30", "-b:v", "0", "-row-mt", "1", "-f", "webm"],
            _ => return Err(Error::Usage(format!("{}: a film must be an .mp4 or a .webm file", file.display()))),
        };
        let spawned = Command::new("ffmpeg")
            .args(["-loglevel", "error", "-nostdin", "-y", "-f", "rawvideo", "-pixel_format", "rgba"])
            .args(["-video_size", &format!("{width}x{height}"), "-framerate", &rate.to_string(), "-i", "-"])
            .args(["-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2", "-pix_fmt", "yuv420p"])
            .args(codec)
            // With a prefix, a name that begins with a dash is not read as an option.
            .arg(file_argument(draft))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = spawned.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::Usage(format!(
                "{}: ffmpeg, which writes films, is not installed. Install it (Debian and Ubuntu: apt-get install ffmpeg; \
                 macOS: brew install ffmpeg; Windows: winget install ffmpeg), or write a .gif or .apng file",
                file.display()
            )),
            _ => Error::Io { file: "ffmpeg".into(), source: error },
        })?;
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        Ok(Self { child: Arc::new(Mutex::new(child)), stdin, stderr, file: file.to_path_buf() })
    }

    /// A function that ends `ffmpeg`, for programs that end before the film does. The file remains.
    pub fn stop(&self) -> impl Fn() + Send + use<> {
        let child = Arc::clone(&self.child);
        move || {
            let mut child = lock(&child);
            // It may have ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Adds a picture.
    ///
    /// # Errors
    /// [`Error::Usage`] with the message of `ffmpeg` if it failed.
    pub fn add(&mut self, picture: &Picture) -> Result<(), Error> {
        let result = self.stdin.as_mut().map(|stdin| stdin.write_all(&picture.pixels));
        match result {
            Some(Ok(())) => Ok(()),
            _ => Err(self.failure()),
        }
    }

    /// Waits until the file is complete.
    ///
    /// # Errors
    /// [`Error::Usage`] with the message of `ffmpeg` if it failed.
    pub fn finish(mut self) -> Result<(), Error> {
        drop(self.stdin.take());
        match self.wait() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(self.failure()),
        }
    }

    /// Waits for the end of `ffmpeg`. Meanwhile, [`stop`](Self::stop) can end it.
    fn wait(&self) -> std::io::Result<ExitStatus> {
        loop {
            if let Some(status) = lock(&self.child).try_wait()? {
                return Ok(status);
            }
            thread::sleep(POLL);
        }
    }

    fn failure(&mut self) -> Error {
        drop(self.stdin.take());
        let mut text = String::new();
        if let Some(stderr) = &mut self.stderr {
            // If the message cannot be read, the error has a general one.
            let _ = stderr.take(4096).read_to_string(&mut text);
        }
        let text = text.trim();
        let text = if text.is_empty() { "it stopped" } else { text };
        Error::Usage(format!("{}: ffmpeg failed: {text}", self.file.display()))
    }
}

fn lock(child: &Mutex<Child>) -> MutexGuard<'_, Child> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The argument that names a file for `ffmpeg`.
fn file_argument(file: &Path) -> OsString {
    let mut name = OsString::from("file:");
    name.push(file);
    name
}

impl Drop for Film {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // After `finish`, the process has ended.
        self.stop()();
    }
}
