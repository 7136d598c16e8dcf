//! The `posse` command.

mod cli;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use posse::Error;

fn main() -> ExitCode {
    match cli::run(cli::Cli::of_shell()) {
        Ok(outcome) => outcome.into(),
        // Whoever read the results has had enough of them.
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing can be said about a closed stderr.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            cli::Outcome::BadInput.into()
        }
    }
}
