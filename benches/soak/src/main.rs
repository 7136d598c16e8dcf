//! A crowd of the built-in human that changes in each frame, for minutes or days, on devices that are lost: its time
//! per frame, memory and open files.
//!
//! ```sh
//! cargo run --release -p posse-soak -- 60      # an hour
//! ```
//!
//! The instances form eight squads. In each frame an instance gets other layers, and another instance other parameters;
//! every 4th frame a transition begins, every 45th a squad leaves and another one joins, every 200th all instances of a
//! squad get other layers. Once a minute, or six times in a shorter run, the device is destroyed, and the crowd goes on
//! with a new one. Every thousandth frame is compared with the reference.
//!
//! The time of a frame is judged beside a new process, so that other work of the machine cancels. With each device, a
//! second crowd begins that is the same every time, and a new process begins with it, too. After every 4th frame, both
//! pose their next frame, one after the other; which of them begins alternates. The ratio of their processor times is
//! one pair. Where the system has no processor time per process, the time on the wall counts, which a busy machine
//! makes useless.
//!
//! From 6 minutes on, the first and the second half of the run are compared, without its first sixth. The exit code is
//! 1 if memory grows by more than 2 %, the number of open files by more than 2, or the median ratio of frame times by
//! more than 2 %; at any length, if a checked frame is beyond the contract, or if a device does not come back.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a program of checks fails by a panic")]

mod crowd;
mod record;

use std::env;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant, SystemTime};

use clap::Parser;
use posse::Error;
use posse::gpu::GpuEngine;
use serde_json::{Value, json};
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use crate::crowd::{ChangingCrowd, Contents, Stage};
use crate::record::{Clock, FrameTime, Meter, Record};

/// In one frame of this many, all poses are compared with the reference.
const CHECK: u64 = 1000;
/// After one frame of this many, a frame of the repeated crowd is timed beside the same frame of a new process.
const TIMED: u64 = 4;
/// The seconds after which the device is lost, and a line is added to the record.
const MINUTE: f64 = 60.0;
/// A shorter run has this many "minutes".
const MIN_MINUTES: f64 = 6.0;

/// Poses a crowd that changes all the time, on devices that are lost once a minute. Fails if its poses are beyond the
/// contract, or if its memory, open files or frame times grow.
#[derive(Debug, Parser)]
#[command(after_help = "Exit codes: 0 ok, 1 a check failed, 2 bad usage or no adapter.")]
struct Args {
    /// The length of the run in minutes. From 6 minutes on, growth is judged.
    #[arg(value_parser = parse_minutes, allow_negative_numbers = true)]
    minutes: f64,
    /// The number of instances; rounded down to a multiple of eight.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    instances: u32,
    /// The adapter: a part of its name in any case, or its index. Default: the best one.
    #[arg(long, value_name = "NAME|INDEX")]
    adapter: Option<String>,
    /// Prints the record as JSON.
    #[arg(long)]
    json: bool,
    /// Poses a frame of the crowd per line of stdin, and prints its time. The program starts such processes.
    #[arg(long, hide = true)]
    control: bool,
}

fn parse_minutes(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(minutes) if (0.0..=1e5).contains(&minutes) => Ok(minutes),
        _ => Err("a number of minutes from 0 to 100000 is needed".into()),
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    match if args.control { answer(&args) } else { run(&args) } {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs a crowd for some minutes. Returns whether the run passed.
fn run(args: &Args) -> Result<bool, Error> {
    let environment = environment();
    let stage = Stage::new(args.adapter.as_deref(), args.instances as usize)?;
    let record = match soak(args, stage) {
        // The run shows that devices go on and come back. If a device does not, the run has failed.
        Err(error @ Error::Device(_)) => {
            eprintln!("error: {error}");
            return Ok(false);
        }
        result => result?,
    };
    let (is_within, is_flat) = (record.is_within(), record.is_flat());
    let text = if args.json {
        let frames = record.frames();
        let json = json!({
            "environment": environment, "soak": record, "frames": frames, "is_within_contract": is_within,
            "is_flat": is_flat,
        });
        format!("{json:#}\n")
    } else {
        record.to_string()
    };
    print(&text)?;
    Ok(is_within && is_flat)
}

/// The command, its start time in UTC and the machine, as `posse bench --json` has them.
fn environment() -> Value {
    let quoted = |argument: String| if argument.contains(' ') { format!("'{argument}'") } else { argument };
    let arguments = env::args_os().map(|argument| quoted(argument.to_string_lossy().into_owned()));
    let wanted =
        RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing()).with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(wanted);
    json!({
        "command": arguments.collect::<Vec<_>>().join(" "),
        "began": humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        "machine": {
            "processor": system.cpus().first().map(|cpu| cpu.brand().trim()),
            "cores": System::physical_core_count(),
            "memory": system.total_memory(),
        },
    })
}

/// Prints a text to stdout. A reader that stops early is not an error: the exit code holds the result too.
fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(source) if source.kind() != ErrorKind::BrokenPipe => Err(Error::Io { file: "stdout".into(), source }),
        _ => Ok(()),
    }
}

fn soak(args: &Args, mut stage: Stage) -> Result<Record, Error> {
    let whole = Duration::from_secs_f64(60.0 * args.minutes);
    let minute = Duration::from_secs_f64((whole.as_secs_f64() / MIN_MINUTES).min(MINUTE));
    let mut record = Record {
        adapter: stage.adapter(),
        instances: stage.instances(),
        changes: stage.changes(),
        checked: 0,
        worst_share: 0.0,
        minutes: Vec::new(),
    };
    eprintln!("posing {} instances for {} minutes", record.instances, args.minutes);
    let start = Instant::now();
    let (mut meter, mut began, mut frames) = (Meter::new()?, start, 0_u64);
    let mut control = Control::start(args.adapter.as_deref(), record.instances)?;
    loop {
        let frame = Instant::now();
        stage.frame()?;
        meter.add(frame.elapsed());
        frames += 1;
        if frames.is_multiple_of(TIMED) {
            meter.add_pair(timed_pair(&mut stage, &mut control, frames.is_multiple_of(2 * TIMED))?);
        }
        let is_over = start.elapsed() >= whole;
        if frames.is_multiple_of(CHECK) || is_over {
            record.add_check(&stage.check()?);
        }
        if is_over || began.elapsed() >= minute {
            stage.lose_device()?;
            record.minutes.extend(meter.end(start.elapsed())?);
            record.changes = stage.changes();
            if let Some(last) = record.minutes.last() {
                eprintln!("{last}");
            }
            began = Instant::now();
            if !is_over {
                // The old process ends first, so that one process is measured beside one other.
                drop(control);
                control = Control::start(args.adapter.as_deref(), record.instances)?;
            }
        }
        if is_over {
            return Ok(record);
        }
    }
}

/// The times of the next frame here and in the new process, in this order or in the other one.
fn timed_pair(stage: &mut Stage, control: &mut Control, here_first: bool) -> Result<[FrameTime; 2], Error> {
    if here_first {
        return Ok([stage.repeated_frame()?, control.frame()?]);
    }
    let there = control.frame()?;
    Ok([stage.repeated_frame()?, there])
}

/// A new process with a crowd from its first frame on.
struct Control {
    process: Child,
    /// A line asks for a frame; the end of the file ends the process.
    requests: Option<ChildStdin>,
    times: BufReader<ChildStdout>,
}

impl Control {
    /// Starts the process. It makes its crowd while this one goes on.
    fn start(adapter: Option<&str>, instances: usize) -> Result<Self, Error> {
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        command.args(["0", "--control", "--instances", &instances.to_string()]);
        command.args(adapter.map(|adapter| format!("--adapter={adapter}")));
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let (requests, times) = (process.stdin.take(), process.stdout.take());
        let times = times.ok_or_else(|| failed("it has no stdout"))?;
        Ok(Self { process, requests, times: BufReader::new(times) })
    }

    /// Lets the process pose its next frame, and returns the time of the frame.
    fn frame(&mut self) -> Result<FrameTime, Error> {
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
        // The times of all frames are known; how the process ends does not matter.
        let _ = self.process.wait();
    }
}

/// An error of the process.
fn failed(reason: impl std::fmt::Display) -> Error {
    let file = std::env::current_exe().unwrap_or_else(|_| "posse-soak".into());
    Error::Io { file, source: io::Error::other(format!("the process to compare with failed: {reason}")) }
}

/// Runs as the new process: poses a frame per line of stdin, and prints its time.
fn answer(args: &Args) -> Result<bool, Error> {
    let contents = Contents::new()?;
    let engine = GpuEngine::new(crowd::open(args.adapter.as_deref())?, &contents.library)?;
    let mut crowd = ChangingCrowd::new(&contents, &engine, args.instances as usize)?;
    // The process that asks has ended if a request cannot be read.
    for _ in io::stdin().lock().lines().map_while(Result::ok) {
        let clock = Clock::start();
        crowd.frame(&contents, &engine)?;
        let time = clock.elapsed();
        print(&format!("{}\n", time.to_line()))?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_command_time_and_machine() {
        let environment = environment();
        let began = environment["began"].as_str().unwrap();
        assert!(humantime::parse_rfc3339(began).is_ok(), "{began}");
        assert!(!environment["command"].as_str().unwrap().is_empty());
        assert!(environment["machine"]["memory"].as_u64().unwrap() > 0);
        assert!(environment["machine"]["processor"].is_string());
    }

    /// The program of the tests knows no `--control`, and ends.
    #[test]
    fn a_process_that_ends_is_an_error_of_its_program() {
        let mut control = Control::start(None, 1).unwrap();
        control.process.wait().unwrap();
        for _ in 0..2 {
            let error = control.frame().unwrap_err();
            let Error::Io { file, source } = &error else { panic!("{error:?}") };
            assert_eq!(*file, std::env::current_exe().unwrap());
            assert_eq!(source.kind(), io::ErrorKind::Other, "{error}");
            assert!(error.to_string().contains("process to compare with failed: "), "{error}");
        }
    }
}
