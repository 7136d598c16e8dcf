//! Child processes that tests start, watch and end.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The longest time that a test waits for a child. A child takes a few seconds on an idle machine.
const LIMIT: Duration = Duration::from_secs(120);
/// The time between two looks.
const POLL: Duration = Duration::from_millis(2);

/// A child process. It is killed when a test fails or forgets it.
pub struct Running {
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
}

/// The end of a child process.
#[derive(Debug)]
pub struct Ended {
    /// The exit code, or the signal that ended the process.
    pub status: ExitStatus,
    /// The text on stdout.
    pub stdout: String,
    /// The text on stderr.
    pub stderr: String,
}

/// The same command without the signals that this process ignores, as background jobs of scripts do: its children would
/// inherit that.
fn with_default_signals(command: &Command) -> Command {
    let mut same = Command::new(if cfg!(target_os = "linux") { OsStr::new("env") } else { command.get_program() });
    if cfg!(target_os = "linux") {
        same.arg("--default-signal=INT,HUP,TERM").arg(command.get_program());
    }
    same.args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        same.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => same.env(name, value),
            None => same.env_remove(name),
        };
    }
    same
}

impl Running {
    /// Starts a command. Its outputs are collected.
    pub fn start(command: &mut Command) -> Self {
        let mut command = with_default_signals(command);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().map(collect);
        let stderr = child.stderr.take().map(collect);
        Self { child, stdout, stderr }
    }

    /// Sends a signal, such as `INT` or `TERM`.
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let status = Command::new("sh").args(["-c", "kill -$0 $1", name, &id]).status().unwrap();
        assert!(status.success(), "the child {id} has ended before SIG{name}");
    }

    /// True until the child has ended.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits until a condition holds while the child runs.
    #[track_caller]
    pub fn wait_until(&mut self, what: &str, mut holds: impl FnMut() -> bool) {
        let start = Instant::now();
        while !holds() {
            assert!(self.is_running(), "the child ended before {what}: {:?}", self.texts());
            assert!(start.elapsed() < LIMIT, "{what} did not come");
            thread::sleep(POLL);
        }
    }

    /// Waits for the end.
    #[track_caller]
    pub fn end(mut self) -> Ended {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < LIMIT, "the child does not end");
            thread::sleep(POLL);
        };
        let (stdout, stderr) = self.texts();
        Ended { status, stdout, stderr }
    }

    /// The texts of a child that has ended.
    fn texts(&mut self) -> (String, String) {
        let text = |collected: Option<JoinHandle<String>>| collected.map_or(String::new(), |text| text.join().unwrap());
        (text(self.stdout.take()), text(self.stderr.take()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The child may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The names of the files in a folder and below it, in order.
pub fn files_below(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => names.extend(files_below(&entry.path())),
            _ => names.push(entry.file_name().to_string_lossy().into_owned()),
        }
    }
    names.sort();
    names
}
