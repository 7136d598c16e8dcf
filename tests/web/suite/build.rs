//! Copies the native tests, so that they compile for a browser: `posse` becomes the module `crate::posse`, environment
//! and files become functions and files of the page, and tests become functions in a list.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The list of modules and tests that do not run in a browser, with reasons.
const LEFT_OUT: &str = "left_out.txt";
/// The native tests.
const TESTS: &str = "../..";
/// Files that replace files of the native tests.
const REPLACED: &str = "src/support";

fn main() {
    println!("cargo::rerun-if-changed={REPLACED}");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("suite");
    let _ = fs::remove_dir_all(&out);
    let left_out = left_out();
    let mut suite = Suite { left_out: left_out.iter().map(|(name, _)| name.clone()).collect(), lists: Vec::new() };
    let root = read(&Path::new(TESTS).join("tests.rs"));
    let mut modules = String::new();
    for module in modules_of(&root) {
        if suite.left_out.remove(module) {
            continue;
        }
        writeln!(modules, "pub mod {module};").expect("a string takes text");
        suite.copy(module, None, &out);
    }
    assert!(suite.left_out.is_empty(), "{LEFT_OUT} names tests that do not exist: {:?}", suite.left_out);
    writeln!(modules, "pub const LISTS: &[&[(&str, fn())]] = &[{}];", suite.lists.join(", "))
        .expect("a string takes text");
    writeln!(modules, "pub const LEFT_OUT: &[(&str, &str)] = &{left_out:?};").expect("a string takes text");
    write(&out.join("mod.rs"), &modules);
    let path = out.join("mod.rs");
    write(
        &out.join("../suite.rs"),
        &format!("#[allow(clippy::all, reason = \"linted natively\")]\n#[path = {path:?}]\npub mod suite;\n"),
    );
}

/// The lines `NAME: REASON`, where NAME is a module of `tests.rs`, or the full path of a test.
fn left_out() -> Vec<(String, String)> {
    let text = read(Path::new(LEFT_OUT));
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pair = |line: &str| {
        let (name, reason) = line.split_once(": ").unwrap_or_else(|| panic!("{LEFT_OUT}: {line:?} has no reason"));
        (name.to_owned(), reason.to_owned())
    };
    lines.map(pair).collect()
}

/// The copied tests.
struct Suite {
    /// The names that have not been found yet.
    left_out: BTreeSet<String>,
    /// The paths of the lists of tests.
    lists: Vec<String>,
}

impl Suite {
    /// Copies a module with its submodules. Its source is a given file, or the file with its name.
    fn copy(&mut self, module: &str, source: Option<PathBuf>, out: &Path) {
        let (file, source) = source.map_or_else(|| find(module), |source| (format!("{module}.rs").into(), source));
        let text = read(&source);
        let mut copy = String::new();
        let mut tests = Vec::new();
        let mut is_test = false;
        let mut source = None;
        for line in text.lines() {
            let name =
                line.trim_start().strip_prefix("fn ").and_then(|line| line.split_once('(')).map(|(name, _)| name);
            if line.trim() == "#[test]" {
                is_test = true;
                continue;
            }
            if let (true, Some(name)) = (is_test, name) {
                tests.push(name.to_owned());
                is_test = false;
            }
            assert!(!is_test || !line.contains("should_panic"), "{}: a panic ends the page", file.display());
            if let Some(path) = line.strip_prefix("#[path = \"").and_then(|line| line.strip_suffix("\"]")) {
                source = Some(Path::new(TESTS).join(path));
                continue;
            }
            let is_module = line.starts_with("mod ") || line.starts_with("pub mod ");
            if let (true, Some(inner)) = (is_module, modules_of(line).next()) {
                let name = format!("{module}/{inner}");
                if self.left_out.remove(&name.replace('/', "::")) {
                    continue;
                }
                self.copy(&name, source.take(), out);
            }
            let line = in_page(line);
            writeln!(copy, "{}{line}", if line.starts_with("mod ") { "pub " } else { "" })
                .expect("a string takes text");
        }
        tests.retain(|test| !self.left_out.remove(&format!("{}::{test}", module.replace('/', "::"))));
        let path = module.replace('/', "::");
        let entries: String = tests.iter().map(|test| format!("(\"{path}::{test}\", {test}), ")).collect();
        writeln!(copy, "pub const TESTS: &[(&str, fn())] = &[{entries}];").expect("a string takes text");
        writeln!(copy, "#[allow(unused_imports)]\nuse crate::blocking::*;").expect("a string takes text");
        write(&out.join(&file), &copy);
        self.lists.push(format!("{path}::TESTS"));
    }
}

/// The file of a module below the tests, and its source, which may be a replacement.
fn find(module: &str) -> (PathBuf, PathBuf) {
    let mut files = [format!("{module}.rs"), format!("{module}/mod.rs")].map(PathBuf::from).into_iter();
    let file = files.find(|file| Path::new(TESTS).join(file).exists());
    let file = file.unwrap_or_else(|| panic!("there is no file of the module {module}"));
    let replaced = Path::new(REPLACED).join(file.strip_prefix("support").unwrap_or(&file));
    let source = if replaced.exists() { replaced } else { Path::new(TESTS).join(&file) };
    (file, source)
}

/// The names of the modules that a file declares.
fn modules_of(text: &str) -> impl Iterator<Item = &str> {
    let names = text.lines().map(|line| line.strip_prefix("pub ").unwrap_or(line));
    names.filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
}

/// A line as it is compiled for the page.
fn in_page(line: &str) -> String {
    let line = line.replace("std::env::var(", "crate::page::variable(").replace("std::fs::read(", "crate::page::read(");
    let mut copy = String::new();
    let mut rest = line.as_str();
    while let Some(at) = rest.find("posse::") {
        let (before, after) = rest.split_at(at);
        let is_inner = before.ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':');
        copy += before;
        copy += if is_inner { "posse::" } else { "crate::posse::" };
        rest = &after["posse::".len()..];
    }
    copy + rest
}

fn read(path: &Path) -> String {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) {
    let folder = path.parent().expect("a path within a folder");
    fs::create_dir_all(folder).and_then(|()| fs::write(path, text)).unwrap_or_else(|error| panic!("{path:?}: {error}"));
}
