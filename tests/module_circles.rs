//! No circle of imports among the modules of a folder, in any crate. Code for tests does not count, nor does a parent
//! with its own children.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The folders of crates. A file `x.rs` or `x/mod.rs` is the module `x`.
const CRATES: [&str; 14] = [
    "benches/isa/src",
    "benches/soak/src",
    "bindings/bevy/src",
    "bindings/c/src",
    "bindings/python/src",
    "bindings/web/bindgen/src",
    "bindings/web/src",
    "crates/posse-cli/src",
    "crates/posse-cli/tests",
    "crates/posse-render/src",
    "crates/posse-render/tests",
    "fuzz/src",
    "src",
    "tests",
];

/// A path from the root of a crate.
type Names = Vec<String>;
/// Modules by path, each with the paths that it mentions; true for paths of `use` declarations.
type Mentions = BTreeMap<Names, BTreeSet<(Names, bool)>>;

#[test]
fn no_folder_has_a_circle_of_imports() {
    let found: Vec<String> = CRATES.iter().flat_map(|folder| circles(folder)).collect();
    assert!(found.is_empty(), "modules that import each other:\n{}", found.join("\n"));
}

/// The circles of a crate, one line for each folder.
fn circles(folder: &str) -> Vec<String> {
    let mut texts = BTreeMap::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &[], &mut texts);
    assert!(!texts.is_empty(), "{folder} has no modules");
    let mentions: Mentions = texts.iter().map(|(path, text)| (path.clone(), mentions(path, text, &texts))).collect();
    // The imports between the modules of each folder.
    let mut imports: BTreeMap<&[String], BTreeSet<(&str, String)>> = BTreeMap::new();
    for (path, mentioned) in &mentions {
        for owner in mentioned.iter().map(|(names, _)| owner(names, &mentions)) {
            let shared = path.iter().zip(&owner).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (path.get(shared), owner.get(shared)) {
                imports.entry(&path[..shared]).or_default().insert((from, to.clone()));
            }
        }
    }
    // In a circle, each module imports a module and is imported.
    imports.values_mut().for_each(|imports| while remove_ends(imports) {});
    let line = |(path, imports): (&&[String], &BTreeSet<(&str, String)>)| {
        let imports: Vec<String> = imports.iter().map(|(from, to)| format!("{from} -> {to}")).collect();
        format!("{folder}/{}: {}", path.join("/"), imports.join(", "))
    };
    imports.iter().filter(|(_, imports)| !imports.is_empty()).map(line).collect()
}

/// Removes the imports of modules that nobody imports, and of modules without imports. Returns whether there were any.
fn remove_ends(imports: &mut BTreeSet<(&str, String)>) -> bool {
    let all = imports.clone();
    imports.retain(|(from, to)| all.iter().any(|(_, to)| to == from) && all.iter().any(|(from, _)| from == to));
    imports.len() < all.len()
}

/// The module that owns what a path names: re-exports are followed.
fn owner(names: &[String], modules: &Mentions) -> Names {
    let length = (0..=names.len()).rev().find(|&length| modules.contains_key(&names[..length])).unwrap_or(0);
    let (module, rest) = names.split_at(length);
    let re_exported = modules.get(module).into_iter().flatten().find(|(name, is_use)| {
        *is_use && name.as_slice() != module && name.len() != length + 1 && name.last() == rest.first()
    });
    re_exported.map_or_else(|| module.to_vec(), |(name, _)| owner(&[name, &rest[1..]].concat(), modules))
}

/// Reads the modules in a folder, without comments and without what only tests compile.
fn read(folder: &Path, path: &[String], texts: &mut BTreeMap<Names, String>) {
    for entry in fs::read_dir(folder).expect("a folder of sources").map(|entry| entry.expect("an entry").path()) {
        let name = entry.file_stem().expect("a name").to_string_lossy().into_owned();
        let is_root = ["mod", "lib", "main"].contains(&name.as_str());
        let module = if is_root { path.to_vec() } else { [path, &[name]].concat() };
        if entry.is_dir() {
            read(&entry, &module, texts);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&entry).expect("a text");
            let code =
                |line: &str| line.split("//").next().filter(|code| !code.contains("#[doc = ")).map(str::to_owned);
            let mut text = text.lines().filter_map(code).collect::<Vec<_>>().join("\n");
            while let Some(start) = text.find("#[cfg(test)]") {
                let mut depth = 0;
                let end = text[start..].find(|c| {
                    depth += i32::from(c == '{') - i32::from(c == '}');
                    depth == 0 && matches!(c, ';' | '}')
                });
                text.replace_range(start..end.map_or(text.len(), |end| start + end + 1), "");
            }
            texts.insert(module, text);
        }
    }
}

/// The paths in a text that begin with `crate`, `super`, `self` or a submodule.
fn mentions(module: &[String], text: &str, modules: &BTreeMap<Names, String>) -> BTreeSet<(Names, bool)> {
    let mut mentions = BTreeSet::new();
    let mut rest = text;
    while let Some(found) = rest.find("::") {
        let start = rest[..found].rfind(|c: char| !is_name(c)).map_or(0, |before| before + 1);
        let (before, path) = rest.split_at(start);
        let first = &path[..found - start];
        let is_local = ["crate", "super", "self"].contains(&first)
            || modules.contains_key(&[module, &[first.to_owned()]].concat());
        let mut paths = Vec::new();
        let after = read_tree(path, &[], &mut paths);
        if is_local && !before.ends_with(['$', ':']) {
            let is_use = before.trim_end().ends_with("use");
            mentions.extend(paths.iter().map(|names| (absolute(names, module), is_use)));
        }
        rest = if after.len() < path.len() { after } else { &rest[found + 2..] };
    }
    mentions
}

/// A path from the root of the crate.
fn absolute(names: &[String], module: &[String]) -> Names {
    names.iter().fold(module.to_vec(), |path, name| match name.as_str() {
        "crate" => Vec::new(),
        "super" => path[..path.len().saturating_sub(1)].to_vec(),
        "self" => path,
        _ => [path, vec![name.clone()]].concat(),
    })
}

/// Reads the paths of `a::{b, c::d}`, and returns what follows.
fn read_tree<'a>(text: &'a str, prefix: &[String], paths: &mut Vec<Names>) -> &'a str {
    let (name, rest) = text.split_at(text.find(|c| !is_name(c)).unwrap_or(text.len()));
    let path = if name.is_empty() { prefix.to_vec() } else { [prefix, &[name.to_owned()]].concat() };
    if let Some(rest) = rest.strip_prefix("::") {
        return read_tree(rest, &path, paths);
    }
    let Some(mut rest) = rest.strip_prefix('{').filter(|_| name.is_empty()) else {
        paths.push(path);
        return rest;
    };
    loop {
        rest = rest.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
        if rest.is_empty() || rest.starts_with('}') {
            return rest.strip_prefix('}').unwrap_or(rest);
        }
        rest = read_tree(rest, &path, paths);
        // `*`, or `as NAME`.
        rest = &rest[rest.find([',', '}']).unwrap_or(rest.len())..];
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
