//! The program `posse`.

use std::process::ExitCode;

fn main() -> ExitCode {
    posse_cli::run(std::env::args_os()).into()
}
