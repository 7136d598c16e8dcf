//! The command line: one file a command. Results go to stdout, notes and progress to stderr.

mod bench;
mod compress;
mod crowd;
mod demo;
mod desktop;
mod engine;
mod eval;
mod inspect;
mod look;
#[cfg(not(feature = "view"))]
mod no_view;
mod output;
mod progress;
mod question;
mod render;
mod skin_format;
mod source;
mod start_up;
mod subject;
mod verify;
#[cfg(feature = "view")]
mod view;

use std::process::ExitCode;

use clap::{Arg, CommandFactory, FromArgMatches};
use posse::Error;

/// Poses crowds of animated rigs, and says how right the poses are.
#[derive(Debug, clap::Parser)]
#[command(name = "posse", version, after_help = "Exit codes: 0 ok, 1 a check failed, 2 bad usage or bad input.")]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Poses a crowd of a built-in rig, measures it and checks it. Needs no file.
    Demo(demo::Args),
    /// Says what is in a glTF file or a Cocos clip: joints, skins, clips, tracks, timelines, and what had to be repaired.
    Inspect(inspect::Args),
    /// Evaluates a clip of a glTF file, a Cocos clip, or a crowd file, at some times, as JSON or NumPy arrays.
    #[command(after_long_help = eval::help())]
    Eval(eval::Args),
    /// Holds an engine to the f64 reference, over every clip of glTF files, over Cocos clips, or over a crowd file.
    Verify(verify::Args),
    /// Draws a crowd of a glTF file, of a crowd file or of the built-in rig: a picture, a loop, a film, a contact sheet.
    #[command(after_long_help = render::FILES)]
    Render(render::Args),
    /// Opens a window with a live crowd: camera, play, scrub, clips, layers, crowds up to 100,000, and how fast it goes.
    #[cfg(feature = "view")]
    #[command(after_help = view::HELP)]
    View(view::Args),
    /// Opens a window with a live crowd, in a posse that was built with `--features view`.
    #[cfg(not(feature = "view"))]
    View(no_view::Args),
    /// Measures the engines over crowds of many sizes, or over a crowd file, each checked against the reference first.
    Bench(bench::args::Args),
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All is well.
    Passed,
    /// A check was made and failed.
    Failed,
    /// The usage or an input was no good.
    BadInput,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Passed => 0,
            Outcome::Failed => 1,
            Outcome::BadInput => 2,
        })
    }
}

impl Cli {
    /// What the shell asks for.
    pub fn of_shell() -> Self {
        Self::from_arg_matches(&shell().get_matches()).unwrap_or_else(|error| error.exit())
    }
}

/// All commands. A negative number is an option's value, so that an option that takes none of them says what it takes.
fn shell() -> clap::Command {
    let takes_numbers = |arg: &Arg| !arg.is_positional() && arg.get_action().takes_values();
    let number = move |arg: Arg| if takes_numbers(&arg) { arg.allow_negative_numbers(true) } else { arg };
    Cli::command().mut_subcommands(|command| command.mut_args(number))
}

/// Runs a command.
pub fn run(cli: Cli) -> Result<Outcome, Error> {
    // Only `inspect` never lists the adapters.
    if !matches!(cli.command, Command::Inspect(_)) {
        desktop::without_wayland_errors();
    }
    match cli.command {
        Command::Demo(args) => demo::run(&args),
        Command::Inspect(args) => inspect::run(&args).map(|()| Outcome::Passed),
        Command::Eval(args) => eval::run(&args).map(|()| Outcome::Passed),
        Command::Verify(args) => verify::run(&args),
        Command::Render(args) => render::run(&args).map(|()| Outcome::Passed),
        #[cfg(feature = "view")]
        Command::View(args) => view::run(&args).map(|()| Outcome::Passed),
        #[cfg(not(feature = "view"))]
        Command::View(_) => Err(no_view::error()),
        Command::Bench(args) => bench::run(&args),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn arguments_do_not_contradict_one_another() {
        super::shell().debug_assert();
    }
}
