//! The `posse` command.

mod cli;

use std::io::ErrorKind;
use std::process::ExitCode;

use posse::Error;

fn main() -> ExitCode {
    match cli::run(cli::Cli::parse_arguments()) {
        Ok(outcome) => outcome.into(),
        // The program at the other end of the pipe has stopped reading, which is not an error.
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            cli::note(&format!("error: {error}"));
            cli::Outcome::BadInput.into()
        }
    }
}
