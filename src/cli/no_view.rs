//! `posse view` in a posse that has no windows.

use posse::Error;

/// Whatever arguments there are.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<std::ffi::OsString>,
}

/// What is said in place of a window.
pub fn error() -> Error {
    Error::Usage(
        "this posse was built without windows. Build it with them: cargo install --path . --features view, which needs Rust \
         1.95; posse render writes pictures without"
            .into(),
    )
}
