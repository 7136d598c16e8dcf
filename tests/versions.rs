//! The packages of a release have one version, the version of the workspace, and their documents tell it.

use std::fs;
use std::path::Path;

fn text(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file))
        .unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// What stands between a text and the next quotation mark.
fn quoted<'a>(file: &str, text: &'a str, before: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{file}: no `{before}`"));
    rest.split('"').next().unwrap()
}

/// The version of the workspace.
fn version() -> String {
    quoted("Cargo.toml", &text("Cargo.toml"), "[workspace.package]\nversion = \"").to_owned()
}

/// The version without its last number: what programs write, and what has to change before 1.0 if they must be changed.
fn major_and_minor(version: &str) -> String {
    version.split('.').take(2).collect::<Vec<_>>().join(".")
}

#[test]
fn all_packages_have_the_version_of_the_workspace() {
    let version = version();
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    let root = text("Cargo.toml");
    for name in ["posse", "posse-cli", "posse-render"] {
        let line = root.lines().find(|line| line.starts_with(&format!("{name} = {{ path"))).unwrap();
        assert_eq!(quoted("Cargo.toml", line, "version = \""), version, "{line}");
    }
    let members = root.split_once("members = [").unwrap().1.split_once(']').unwrap().0;
    for member in members.split('"').skip(1).step_by(2) {
        let manifest = text(&format!("{member}/Cargo.toml"));
        // Programs for measurements are never published.
        let own = manifest.lines().find(|line| line.starts_with("version")).unwrap();
        assert!(["version.workspace = true", "version = \"0.0.0\""].contains(&own), "{member}/Cargo.toml: {own}");
    }

    // Outside of the workspace.
    let plugin = text("bindings/bevy/Cargo.toml");
    assert_eq!(quoted("bindings/bevy/Cargo.toml", &plugin, "\nversion = \""), version);
    assert_eq!(quoted("bindings/bevy/Cargo.toml", &plugin, "\nposse = { path = \"../..\", version = \""), version);
    assert_eq!(quoted("package.json", &text("bindings/web/package.json"), "\"version\": \""), version);
    // maturin takes the version of the crate.
    assert!(text("bindings/python/pyproject.toml").contains("dynamic = [\"version\"]"));
    // The archive of the C interface has the first version of this file: `bindings/c/package`.
    assert_eq!(quoted("Cargo.toml", &root, "\nversion = \""), version);
}

#[test]
fn documents_tell_the_version() {
    let version = version();
    let changelog = text("CHANGELOG.md");
    let heading = changelog.lines().find(|line| line.starts_with("## ")).unwrap();
    assert!(heading.contains(&version), "CHANGELOG.md begins with `{heading}`; expected {version}");

    let short = major_and_minor(&version);
    for file in ["bindings/c/README.md", "bindings/c/tests/CMakeLists.txt"] {
        let wanted = format!("find_package(posse {short} REQUIRED CONFIG)");
        assert!(text(file).contains(&wanted), "{file}: expected `{wanted}`");
    }

    // The table of versions of the plugin: its first row is today's.
    let plugin = text("bindings/bevy/Cargo.toml");
    let bevy = major_and_minor(quoted("bindings/bevy/Cargo.toml", &plugin, "\nbevy = { version = \""));
    let readme = text("bindings/bevy/README.md");
    let row = readme.split_once("| bevy | bevy_posse | posse |\n|---|---|---|\n").unwrap().1.lines().next().unwrap();
    assert_eq!(row, format!("| {bevy} | {short} | {short} |"));
}
