//! The call of the command, for hints that a user can type as they stand.
//!
//! A hint begins as the user began: with the path by which the program was called, which is often not on the `PATH`, or
//! with `cargo run`, if cargo started the program from the checkout.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The beginning of a command line that starts this program again.
static PROGRAM: OnceLock<String> = OnceLock::new();

/// Stores the name by which the program was called: the first of its arguments. Hints say `posse` without this call.
pub fn set_program(called: &str) {
    let variables = ["CARGO_PKG_NAME", "CARGO_MANIFEST_DIR"].map(env::var_os);
    let is_cargo = env::current_dir().is_ok_and(|folder| is_cargo_run(variables, &folder));
    let _ = PROGRAM.set(if is_cargo { cargo_run().into() } else { program(called) });
}

/// The command line that starts this program again, with other arguments, which are quoted if necessary.
pub fn command_line(arguments: &[&str]) -> String {
    let program = PROGRAM.get().map_or("posse", String::as_str);
    let quoted = arguments.iter().map(|argument| quote(argument));
    std::iter::once(program.to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

/// The program by the path with which it was called, quoted for a shell.
fn program(called: &str) -> String {
    if called.is_empty() { "posse".into() } else { quote(called) }
}

/// True for the two variables that cargo sets for a program of this package, in a folder in which `cargo run` without
/// `--package` finds it: the folder of the package, or the root of the workspace, two levels above. A folder elsewhere
/// may belong to a program that cargo started, and that calls this one.
fn is_cargo_run([package, manifest]: [Option<OsString>; 2], folder: &Path) -> bool {
    let manifest = manifest.map(PathBuf::from).unwrap_or_default();
    let root = manifest.ancestors().nth(2);
    package.is_some_and(|name| name == env!("CARGO_PKG_NAME")) && (folder == manifest || Some(folder) == root)
}

/// `cargo run` with the profile of this build.
fn cargo_run() -> &'static str {
    if cfg!(debug_assertions) { "cargo run --" } else { "cargo run --release --" }
}

/// An argument, quoted for a shell if necessary.
pub fn quote(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=:+@%".contains(c) || (cfg!(windows) && c == '\\');
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.into();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_begins_with_the_path_by_which_the_program_was_called() {
        for (called, expected) in [
            ("posse", "posse"),
            ("target/release/posse", "target/release/posse"),
            ("../my tools/posse", "'../my tools/posse'"),
            ("", "posse"),
        ] {
            assert_eq!(program(called), expected);
        }
    }

    #[test]
    fn only_a_start_by_cargo_in_the_checkout_is_one_of_cargo_run() {
        let of = |package: &str, manifest: &str, folder: &str| {
            is_cargo_run([package, manifest].map(|value| Some(value.into())), Path::new(folder))
        };
        assert!(of("posse-cli", "/home/posse/crates/posse-cli", "/home/posse"));
        assert!(of("posse-cli", "/home/posse/crates/posse-cli", "/home/posse/crates/posse-cli"));
        // `cargo run --manifest-path`, and a program of another package that calls this one.
        assert!(!of("posse-cli", "/home/posse/crates/posse-cli", "/home"));
        assert!(!of("game", "/home/game", "/home/game"));
        assert!(!is_cargo_run([None, None], Path::new("/home/posse")));
    }
}
