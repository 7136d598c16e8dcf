//! The `posse` command.

mod cli;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use posse::Error;

fn main() -> ExitCode {
    match cli::run(cli::Cli::parse_arguments()) {
        Ok(outcome) => outcome.into(),
        // The program at the other end of the pipe has stopped reading, which is not an error.
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // A failed write to stderr cannot be reported.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            cli::Outcome::BadInput.into()
        }
    }
}
