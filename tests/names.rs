//! Names that stay few, and that mean one thing: names at the root of the library, and names of types.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The largest number of public names at the root of the library, modules included.
const MAX_ROOT_NAMES: usize = 60;

/// The largest number of types that may share a name.
const MAX_NAMESAKES: usize = 2;

/// Folders of the types that are counted.
const FOLDERS: [&str; 8] = [
    "bindings/bevy/src",
    "bindings/c/src",
    "bindings/python/src",
    "bindings/web/bindgen/src",
    "bindings/web/src",
    "crates/posse-cli/src",
    "crates/posse-render/src",
    "src",
];

/// Names with one meaning in several places: the arguments of a command, what a format is read into and its options,
/// and the classes of the library in other languages.
const SHARED: [&str; 6] = ["Args", "Asset", "Crowd", "CrowdOptions", "Library", "LoadOptions"];

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

#[test]
fn a_type_has_a_name_of_its_own() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for folder in FOLDERS {
        read_types(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut places);
    }
    assert!(places.len() > 1000, "only {} types were found", places.len());
    places.retain(|name, files| files.len() > MAX_NAMESAKES && !SHARED.contains(&name.as_str()));
    assert!(places.is_empty(), "types of the same name; give them names that say what they are: {places:#?}");
}

/// Adds the types that the files in a folder declare, each with its file.
fn read_types(folder: &Path, places: &mut BTreeMap<String, Vec<String>>) {
    for path in fs::read_dir(folder).expect("a folder of sources").map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            read_types(&path, places);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a text");
            for name in text.lines().filter_map(declared_type) {
                places.entry(name.into()).or_default().push(path.display().to_string());
            }
        }
    }
}

/// The name of the type that a line declares.
fn declared_type(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let code = match code.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => code,
    };
    let (keyword, rest) = code.strip_prefix("unsafe ").unwrap_or(code).split_once(' ')?;
    // An indented `type` belongs to a trait.
    let is_type =
        matches!(keyword, "struct" | "enum" | "trait" | "union") || keyword == "type" && !line.starts_with(' ');
    let name = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
    is_type.then_some(name).filter(|name| !name.is_empty())
}
