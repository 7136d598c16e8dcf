//! The command `posse`: a file or folder per command. Results go to stdout, notes and progress to stderr.
//!
//! Code that several commands share stands in this folder directly: `arguments` and `engine` (options), `source` (files
//! with clips: here a format is recognised), `retargeting` (their clips on another rig), `evaluation` (poses in
//! blocks), `drawn_crowd` and `view_args` (drawing), `output`. `draft` writes every file under
//! another name first, which `signals` removes when a signal ends the process; `write_error` adds hints to errors of
//! outputs; `invocation` tells how to start the command again.
//!
//! Without the feature `gpu`, `without_gpu` answers for the commands and options that need it.

#[cfg(feature = "gpu")]
mod adapters;
mod arguments;
mod bake;
#[cfg(feature = "gpu")]
mod bench;
mod demo;
mod draft;
#[cfg(feature = "gpu")]
mod drawn_crowd;
mod engine;
mod eval;
mod evaluation;
mod inspect;
mod invocation;
#[cfg(feature = "gpu")]
mod kernels;
mod merge;
mod npz;
mod output;
mod progress;
mod quality;
#[cfg(feature = "gpu")]
mod render;
mod retarget;
#[cfg(feature = "gpu")]
mod retarget_colours;
#[cfg(feature = "gpu")]
mod retarget_picture;
mod retargeting;
mod safetensors;
mod signals;
mod source;
mod threads;
mod verify;
#[cfg(feature = "view")]
mod view;
#[cfg(feature = "gpu")]
mod view_args;
#[cfg(not(feature = "gpu"))]
mod without_gpu;
mod write_error;

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::thread::{self, ScopedJoinHandle};
use std::{panic, process};

use clap::{Arg, CommandFactory, FromArgMatches};
use posse::Error;

use crate::output::note;
use crate::write_error::with_options;

/// Evaluates skeletal animation for crowds, and checks the poses against a reference.
#[derive(Debug, clap::Parser)]
#[command(
    name = "posse",
    version,
    after_help = "Exit codes: 0 ok, 1 a check failed, 2 bad usage or bad input; 130 after Ctrl+C, 143 after SIGTERM."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Fails, with exit code 2, for the first warning about a file, such as a track that is left out. `posse bake`
    /// stops at the first bad input.
    #[arg(long, global = true)]
    strict: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Poses a crowd of a built-in rig, measures it and checks it. Needs no file.
    Demo(demo::Args),
    /// Lists the contents of a glTF, FBX or BVH file or a Cocos clip: joints, skins, clips, tracks, timelines and
    /// repairs.
    Inspect(inspect::Args),
    /// Evaluates a clip of a glTF, FBX or BVH file, a Cocos clip, or a crowd file at given times, as JSON or NumPy
    /// arrays.
    #[command(after_long_help = eval::help())]
    Eval(eval::Args),
    /// Bakes the clips of many files at a frame rate, as NumPy arrays, Parquet, glTF, USD, BVH or VRM animations, on
    /// one machine or many.
    #[command(after_long_help = bake::EXAMPLES)]
    Bake(bake::Args),
    /// Retargets clips of a glTF, FBX or BVH file to the skeleton of another one, and writes it with them as a .glb
    /// file, or a clip as a .bvh file or a VRM animation.
    Retarget(retarget::Args),
    /// Puts the clips of many files with one skeleton into the glTF file of a character, as a .glb file.
    #[command(after_long_help = merge::HELP)]
    Merge(merge::Args),
    /// Compares an engine with the f64 reference, over every clip of glTF, FBX and BVH files, over Cocos clips, or over
    /// a crowd file.
    Verify(verify::Args),
    /// Draws a crowd of a glTF, FBX or BVH file, of a crowd file or of the built-in rig: a picture, a loop, a film, a
    /// contact sheet.
    #[cfg(feature = "gpu")]
    #[command(after_long_help = render::FILES)]
    Render(render::Args),
    /// Draws a crowd, in builds with the feature `gpu`.
    #[cfg(not(feature = "gpu"))]
    Render(AnyArgs),
    /// Opens a window with a live crowd of up to 100,000 instances, with controls for camera, time, clips and layers.
    #[cfg(feature = "view")]
    #[command(after_help = view::HELP)]
    View(view::Args),
    /// Opens a window with a live crowd, in builds with `--features view`.
    #[cfg(not(feature = "view"))]
    View(AnyArgs),
    /// Lists the adapters of this machine: driver, limits, and the reasons why one is not enough for posse.
    #[cfg(feature = "gpu")]
    #[command(after_help = adapters::HELP)]
    Adapters(adapters::Args),
    /// Lists the adapters of this machine, in builds with the feature `gpu`.
    #[cfg(not(feature = "gpu"))]
    Adapters(AnyArgs),
    /// Writes the kernels for a file or a crowd file in the language of a device of your own, with a manifest and the
    /// contents of the buffers.
    #[cfg(feature = "gpu")]
    #[command(after_long_help = kernels::HELP)]
    Kernels(kernels::Args),
    /// Writes the kernels for a device of your own, in builds with the feature `gpu`.
    #[cfg(not(feature = "gpu"))]
    Kernels(AnyArgs),
    /// Measures the engines over crowds of many sizes, or over a crowd file. Each case is compared with the reference
    /// first.
    #[cfg(feature = "gpu")]
    Bench(bench::args::Args),
    /// Measures the engines, in builds with the feature `gpu`.
    #[cfg(not(feature = "gpu"))]
    Bench(AnyArgs),
}

/// Any arguments. A build without windows, or without the GPU, answers all of them with the same error.
#[cfg(not(feature = "view"))]
#[derive(Debug, clap::Args)]
struct AnyArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

/// The result of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The command succeeded.
    Passed,
    /// A check failed, or an output cannot be written.
    Failed,
    /// The usage or an input is wrong.
    BadInput,
}

impl From<Outcome> for u8 {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Passed => 0,
            Outcome::Failed => 1,
            Outcome::BadInput => 2,
        }
    }
}

impl Cli {
    /// Parses arguments, of which the first one is the name of the program. Prints the help, or a message if they are
    /// wrong, and returns the exit code.
    fn parse(arguments: &[OsString]) -> Result<Self, u8> {
        let matches = definition().try_get_matches_from(arguments);
        matches.and_then(|matches| Self::from_arg_matches(&matches)).map_err(|error| {
            // There is nowhere to tell of a stream that is closed.
            let _ = error.print();
            u8::try_from(error.exit_code()).unwrap_or(Outcome::BadInput.into())
        })
    }

    /// True for a command that opens a window.
    fn has_window(&self) -> bool {
        matches!(self.command, Command::View(_))
    }
}

/// The definition of all commands. An option with a value takes a negative number as its value, so that the message for
/// a number out of range names the option.
fn definition() -> clap::Command {
    let takes_values = |arg: &Arg| !arg.is_positional() && arg.get_action().takes_values();
    let allow_negative = move |arg: Arg| if takes_values(&arg) { arg.allow_negative_numbers(true) } else { arg };
    Cli::command().mut_subcommands(|command| command.mut_args(allow_negative))
}

/// Runs a command.
fn run_command(cli: Cli) -> Result<Outcome, Error> {
    signals::install();
    output::set_strict(cli.strict);
    output::forget_files();
    match cli.command {
        Command::Demo(args) => demo::run(&args),
        Command::Inspect(args) => inspect::run(&args).map(|()| Outcome::Passed),
        Command::Eval(args) => eval::run(&args).map(|()| Outcome::Passed),
        Command::Bake(args) => bake::run(&args),
        Command::Retarget(args) => retarget::run(&args).map(|()| Outcome::Passed),
        Command::Merge(args) => merge::run(&args).map(|()| Outcome::Passed),
        Command::Verify(args) => verify::run(&args),
        #[cfg(feature = "gpu")]
        Command::Render(args) => render::run(&args).map(|()| Outcome::Passed),
        #[cfg(feature = "view")]
        Command::View(args) => view::run(&args).map(|()| Outcome::Passed),
        #[cfg(not(feature = "view"))]
        Command::View(_) => Err(Error::Usage(
            "this posse was built without windows. Build it with them: cargo install --path crates/posse-cli --features view, which needs \
             Rust 1.95; posse render writes pictures without"
                .into(),
        )),
        #[cfg(feature = "gpu")]
        Command::Adapters(args) => adapters::run(&args).map(|()| Outcome::Passed),
        #[cfg(feature = "gpu")]
        Command::Kernels(args) => kernels::run(&args).map(|()| Outcome::Passed),
        #[cfg(feature = "gpu")]
        Command::Bench(args) => bench::run(&args),
        #[cfg(not(feature = "gpu"))]
        Command::Render(_) | Command::Adapters(_) | Command::Kernels(_) | Command::Bench(_) => Err(without_gpu::error()),
    }
}

/// The stack of a command. The stack of the main thread follows the limits of the shell (`ulimit -s`), and can be too
/// small.
const STACK: usize = 8 << 20;

/// The exit code after a panic, which has printed its message.
const PANICKED: u8 = 101;

/// A program that is built without unwinding ends with [`PANICKED`] after a panic, too. A signal, by which it would end
/// otherwise, is a kill for job scripts.
fn exit_after_panic() {
    if cfg!(panic = "abort") {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            print(panic);
            process::exit(PANICKED.into());
        }));
    }
}

/// Runs the command with arguments, of which the first one is the name of the program, and returns its exit code. It
/// writes to the standard streams of the process, and handles its signals from then on: SIGINT, SIGTERM and SIGHUP end
/// the process.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    exit_after_panic();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    invocation::set_program(&arguments.first().map(|called| called.to_string_lossy()).unwrap_or_default());
    let command = || match Cli::parse(&arguments) {
        // Systems draw windows on the main thread.
        Ok(cli) if cli.has_window() => Err(Box::new(cli)),
        Ok(cli) => Ok(run_to_code(cli)),
        Err(code) => Ok(code),
    };
    let code = thread::scope(|scope| {
        let thread = thread::Builder::new().name("command".into()).stack_size(STACK).spawn_scoped(scope, command);
        match thread.map(ScopedJoinHandle::join) {
            Ok(Ok(Ok(code))) => code,
            Ok(Ok(Err(cli))) => run_to_code(*cli),
            Ok(Err(_)) => PANICKED,
            // The system starts no thread.
            Err(_) => match Cli::parse(&arguments) {
                Ok(cli) => run_to_code(cli),
                Err(code) => code,
            },
        }
    });
    // A program that is not written in Rust does not flush it.
    let _ = io::stdout().flush();
    code
}

fn run_to_code(cli: Cli) -> u8 {
    match run_command(cli) {
        Ok(outcome) => outcome.into(),
        // The program at the other end of the pipe has stopped reading, which is not an error.
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => Outcome::Passed.into(),
        Err(error) => {
            note(&format!("error: {}", with_options(&error)));
            Outcome::BadInput.into()
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_arguments_are_consistent() {
        super::definition().debug_assert();
    }
}
