//! The call of the command, for hints that a user can type as they stand.
//!
//! A hint begins as the user began: with the path by which the program was called, which is often not on the `PATH`, or
//! with `cargo run`, if cargo started the program from the checkout and starts the same build again without options.

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
    let cargo = cargo_run(called).filter(|_| is_cargo);
    let _ = PROGRAM.set(cargo.map_or_else(|| program(called), str::to_owned));
}

/// The command line that starts this program again, with other arguments, which are quoted if necessary.
pub fn command_line(arguments: &[&str]) -> String {
    let program = PROGRAM.get().map_or("posse", String::as_str);
    let quoted = arguments.iter().map(|argument| quote(argument));
    std::iter::once(program.to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

/// The name of an output of a hint: the stem of its input, then an ending.
pub fn output_name(input: &Path, ending: &str) -> String {
    input.file_stem().unwrap_or_default().to_string_lossy().into_owned() + ending
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

/// `cargo run` for a program with this path, by the folder of its profile; `None` for another profile than `dev` and
/// `release`, and for other features than the default ones.
fn cargo_run(called: &str) -> Option<&'static str> {
    let has_default_features =
        cfg!(all(feature = "fbx", feature = "gpu", not(feature = "parquet"), not(feature = "view")));
    let profile = Path::new(called).parent()?.file_name()?.to_str()?;
    match (profile, cfg!(debug_assertions)) {
        _ if !has_default_features => None,
        ("debug", true) => Some("cargo run --"),
        ("release", false) => Some("cargo run --release --"),
        _ => None,
    }
}

/// An argument, quoted for a shell if necessary.
pub fn quote(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=:+@%".contains(c) || (cfg!(windows) && c == '\\');
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.into();
    }
    if cfg!(windows) {
        return format!("\"{}\"", argument.replace('"', r#"\""#));
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
            ("../my tools/posse", if cfg!(windows) { "\"../my tools/posse\"" } else { "'../my tools/posse'" }),
            ("", "posse"),
        ] {
            assert_eq!(program(called), expected);
        }
    }

    #[test]
    fn a_program_that_cargo_starts_in_the_checkout_was_started_by_cargo_run() {
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

    #[test]
    fn a_build_that_cargo_run_does_not_make_is_called_by_its_path() {
        let is_default = cfg!(all(feature = "fbx", feature = "gpu", not(feature = "parquet"), not(feature = "view")));
        let (folder, expected) =
            if cfg!(debug_assertions) { ("debug", "cargo run --") } else { ("release", "cargo run --release --") };
        let of = |folder: &str| cargo_run(&format!("target/{folder}/posse"));
        assert_eq!(of(folder), is_default.then_some(expected));
        assert_eq!((of("dist"), of("profiling"), cargo_run("posse")), (None, None, None));
    }
}
