//! Names that stay few: those at the root of the library.

use std::fs;
use std::path::Path;

/// The largest number of public names at the root of the library, modules included.
const MAX_ROOT_NAMES: usize = 60;

#[test]
fn the_root_of_the_library_has_few_names() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).expect("a text");
    let code: Vec<&str> = text.lines().filter_map(|line| line.split("//").next()).collect();
    let code = code.join("\n");
    // What stands at the beginning of a line is at the root.
    let names: Vec<&str> = code.split("\npub ").skip(1).flat_map(declared_names).collect();
    for name in ["Library", "bake", "glam", "retarget"] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    assert!(names.len() <= MAX_ROOT_NAMES, "{} names: {names:?}; put some into modules", names.len());
}

/// The names that a declaration without its `pub` makes public.
fn declared_names(declaration: &str) -> Vec<&str> {
    let head = declaration.split(';').next().unwrap_or_default();
    if let Some(module) = head.strip_prefix("mod ") {
        return module.split_whitespace().take(1).filter(|&module| module != "low_level").collect();
    }
    let Some(tree) = head.strip_prefix("use ") else { return Vec::new() };
    let parts = tree.split([',', '{', '}']).map(str::trim).filter(|part| !part.is_empty() && !part.ends_with("::"));
    parts.filter_map(|part| part.rsplit("::").next()).collect()
}
