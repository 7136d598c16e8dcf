//! The `posse` command.

mod cli;

use std::io::ErrorKind;
use std::process::ExitCode;
use std::thread::{self, JoinHandle};

use posse::Error;

/// The stack of a command. That of the main thread follows the limits of the shell (`ulimit -s`), and can be too small.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    let command = || {
        let cli = cli::Cli::parse_arguments();
        if cli.has_window() { Err(Box::new(cli)) } else { Ok(run(cli)) }
    };
    match thread::Builder::new().name("command".into()).stack_size(STACK).spawn(command).map(JoinHandle::join) {
        Ok(Ok(Ok(code))) => code,
        // Systems draw windows on the main thread.
        Ok(Ok(Err(cli))) => run(*cli),
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        // The system starts no thread.
        Err(_) => run(cli::Cli::parse_arguments()),
    }
}

fn run(cli: cli::Cli) -> ExitCode {
    match cli::run(cli) {
        Ok(outcome) => outcome.into(),
        // The program at the other end of the pipe has stopped reading, which is not an error.
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            cli::note(&format!("error: {}", cli::with_options(&error)));
            cli::Outcome::BadInput.into()
        }
    }
}
