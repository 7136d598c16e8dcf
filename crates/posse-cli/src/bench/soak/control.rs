//! A new process that poses the same frames, so that the time of a frame can be compared with that of a process that has run for long.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use posse::{AdapterKind, Error, GpuEngine};

use super::changing::{ChangingCrowd, Contents};
use super::frame_time::{Clock, FrameTime};
use crate::Outcome;
use crate::bench::args::Args;
use crate::engine::AdapterArgs;
use crate::output;

/// A new process with a crowd from its first frame on.
pub struct Control {
    process: Child,
    /// A line asks for a frame; the end of the file ends the process.
    requests: Option<ChildStdin>,
    times: BufReader<ChildStdout>,
}

impl Control {
    /// Starts the process. It makes its crowd while this one goes on.
    pub fn start(adapter: &AdapterArgs, instances: usize) -> Result<Self, Error> {
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        command.args(["bench", "--soak-control", "--instances", &instances.to_string()]).args(adapter.arguments());
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let (requests, times) = (process.stdin.take(), process.stdout.take());
        let times = times.ok_or_else(|| failed("it has no stdout"))?;
        Ok(Self { process, requests, times: BufReader::new(times) })
    }

    /// Lets the process pose its next frame, and returns the time of the frame.
    pub fn frame(&mut self) -> Result<FrameTime, Error> {
        let requests = self.requests.as_mut().ok_or_else(|| failed("it has no stdin"))?;
        requests.write_all(b"\n").map_err(failed)?;
        let mut line = String::new();
        self.times.read_line(&mut line).map_err(failed)?;
        FrameTime::from_line(&line).ok_or_else(|| failed(format!("it answered {line:?} instead of a time")))
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.requests = None;
        // The times of all its frames are known; how it ends does not matter.
        let _ = self.process.wait();
    }
}

/// An error of the process. It never has the kind of a broken pipe, with which a command ends in peace.
fn failed(reason: impl std::fmt::Display) -> Error {
    let file = std::env::current_exe().unwrap_or_else(|_| "posse".into());
    Error::Io { file, source: io::Error::other(format!("the process that --soak compares with failed: {reason}")) }
}

/// Runs as the new process: poses a frame per line of stdin, and prints its time.
pub fn answer(args: &Args) -> Result<Outcome, Error> {
    let instances = args.instances.first().copied().unwrap_or(1) as usize;
    let contents = Contents::new()?;
    let engine = GpuEngine::new(&contents.library, args.adapter.open(AdapterKind::Any)?)?;
    let mut crowd = ChangingCrowd::new(&contents, &engine, instances)?;
    // A request that cannot be read is one of a process that has ended.
    for _ in io::stdin().lock().lines().map_while(Result::ok) {
        let clock = Clock::start();
        crowd.frame(&contents, &engine)?;
        let time = clock.elapsed();
        output::print(|out| writeln!(out, "{}", time.to_line()).and_then(|()| out.flush()))?;
    }
    Ok(Outcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program of the tests knows no `bench --soak-control`, and ends.
    #[test]
    fn a_process_that_ends_is_an_error_of_its_program() {
        let mut control = Control::start(&AdapterArgs::default(), 1).unwrap();
        control.process.wait().unwrap();
        for _ in 0..2 {
            let error = control.frame().unwrap_err();
            let Error::Io { file, source } = &error else { panic!("{error:?}") };
            assert_eq!(*file, std::env::current_exe().unwrap());
            assert_eq!(source.kind(), io::ErrorKind::Other, "{error}");
            assert!(error.to_string().contains("that --soak compares with failed: "), "{error}");
        }
    }
}
