//! Pages for users name what the code has: extensions of glTF, formats, arrays of SMPL, platforms, and our names beside
//! the names of other animation systems.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

fn text(file: impl AsRef<Path>) -> String {
    let file = file.as_ref();
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// What stands in quotation marks in a line of Rust, or between backticks in a line of Markdown.
fn quoted(line: &str, mark: char) -> impl Iterator<Item = &str> {
    line.split(mark).skip(1).step_by(2)
}

/// The cells of a row of a table in Markdown; nothing of other lines.
fn cells(line: &str) -> Option<Vec<&str>> {
    let row = line.strip_prefix('|')?.strip_suffix('|')?;
    Some(row.split('|').map(str::trim).collect())
}

/// The names of extensions of glTF in the sources of a folder. The names of families end with `_`.
fn extensions(folder: &Path, found: &mut BTreeSet<String>) {
    const VENDORS: [&str; 5] = ["ADOBE_", "EXT_", "KHR_", "MSFT_", "VRMC_"];
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            extensions(&entry, found);
            continue;
        }
        let source = text(&entry);
        for name in source.lines().flat_map(|line| quoted(line, '"')) {
            let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if is_word && (name == "VRM" || VENDORS.iter().any(|vendor| name.starts_with(vendor))) {
                found.insert(name.into());
            }
        }
    }
}

#[test]
fn every_extension_that_is_known_is_on_the_page() {
    let page = text(path("docs/what-is-read.md"));
    let mut found = BTreeSet::new();
    for folder in ["src/import/gltf", "src/export/gltf", "crates/posse-render/src/gltf"] {
        extensions(&path(folder), &mut found);
    }
    assert!(found.len() > 25 && found.contains("VRM") && found.contains("KHR_materials_"), "{found:?}");
    for name in found {
        let code = if name.ends_with('_') { format!("`{name}*`") } else { format!("`{name}`") };
        assert!(page.contains(&code), "docs/what-is-read.md has no {code}; say whether it is read or ignored");
    }
}

#[test]
fn every_name_of_files_is_on_the_page() {
    let page = text(path("docs/what-is-read.md"));
    let source = text(path("src/import/recognize.rs"));
    let code = source.split("#[cfg(test)]").next().unwrap();
    // `"glb" | "gltf" => Some(Self::Gltf)`, and `extensions: &["c3d"]`.
    fn list(line: &str) -> Option<&str> {
        match line.split_once("extensions: &[") {
            Some((_, list)) => list.split_once(']').map(|(list, _)| list),
            None => line.split_once("=> Some(Self::").map(|(list, _)| list),
        }
    }
    let names: BTreeSet<&str> = code.lines().filter_map(list).flat_map(|list| quoted(list, '"')).collect();
    assert!(names.contains("vrma") && names.contains("npz") && names.contains("c3d"), "{names:?}");
    for name in names {
        assert!(page.contains(&format!("`.{name}`")), "docs/what-is-read.md has no `.{name}`");
    }
}

#[test]
fn every_array_of_smpl_is_on_the_page() {
    let page = text(path("docs/what-is-read.md"));
    let source = text(path("src/import/smpl/motion.rs"));
    let lists = source.lines().filter(|line| line.contains(": &[&str] = &["));
    let names: BTreeSet<&str> = lists.flat_map(|line| quoted(line, '"')).collect();
    assert!(names.len() > 30 && names.contains("pose_body") && names.contains("betas"), "{names:?}");
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "docs/what-is-read.md has no `{name}`");
    }
}

/// The date when each part of `.ci/full` last passed, if one is recorded.
fn passed() -> HashMap<String, Option<String>> {
    let page = text(path(".ci/passed.md"));
    let rows = page.lines().filter_map(cells).filter(|cells| cells[0].starts_with('`'));
    rows.map(|cells| {
        let date = Some(cells[1].to_owned()).filter(|date| !date.is_empty());
        (cells[0].trim_matches('`').to_owned(), date)
    })
    .collect()
}

#[test]
fn platforms_have_the_dates_of_the_parts_that_passed() {
    let passed = passed();
    let page = text(path("docs/what-is-read.md"));
    let (_, platforms) = page.split_once("## Platforms").unwrap();
    let mut rows = 0;
    for row in platforms.lines().filter_map(cells) {
        let Ok([name, _, by, date]) = <[&str; 4]>::try_from(row) else { continue };
        let Some(recorded) = by.strip_prefix('`').and_then(|by| passed.get(by.trim_end_matches('`'))) else { continue };
        let recorded = recorded.as_deref().unwrap_or("not recorded");
        assert_eq!(date, recorded, "docs/what-is-read.md, {name}: .ci/passed.md has another date of {by}");
        rows += 1;
    }
    assert!(rows > 5, "{rows} rows name a part of .ci/full");
}

/// True for a path of Rust, such as `Layer::weight`, or the name of a type.
fn is_path(code: &str) -> bool {
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    code.split("::").all(is_name) && (code.contains("::") || code.starts_with(|first: char| first.is_ascii_uppercase()))
}

/// A text of TypeScript without its comments.
fn without_comments(text: &str) -> String {
    let (mut code, mut rest) = (String::new(), text);
    while let Some((before, comment)) = rest.split_once("/*") {
        code += before;
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    code += rest;
    code.lines().map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n").collect()
}

/// The names that a text of TypeScript declares: types, and names before `(`, `:`, `?(` or `?:`.
fn declared_names(code: &str) -> BTreeSet<&str> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let (mut names, mut before, mut rest) = (BTreeSet::new(), "", code);
    while let Some(start) = rest.find(is_letter) {
        let word = &rest[start..];
        let (word, after) = word.split_at(word.find(|c: char| !is_letter(c)).unwrap_or(word.len()));
        let is_member = after.strip_prefix('?').unwrap_or(after).starts_with([':', '(']);
        if is_member || ["class", "interface", "type"].contains(&before) {
            names.insert(word);
        }
        (before, rest) = (word, after);
    }
    names
}

#[test]
fn words_of_comments_and_of_types_are_no_declared_names() {
    let text = "/** A pose: it (once) */\nclass Crowd { // time: seconds\n  clip?: string; at?(x: Ticks): void }";
    let code = without_comments(text);
    assert_eq!(declared_names(&code), BTreeSet::from(["Crowd", "at", "clip", "x"]));
}

#[test]
fn our_names_beside_names_of_other_systems_exist() {
    let surface = text(path(".ci/public-api.txt"));
    let ours: BTreeSet<&str> = surface.lines().filter_map(|line| line.split(": ").next()).collect();
    let types = ["types.d.ts", "posse.d.ts", "three.d.ts"].map(|file| text(path("bindings/web").join(file))).concat();
    let types = without_comments(&types);
    let words = declared_names(&types);
    let (mut header, mut checked): (Option<Vec<String>>, [usize; 2]) = (None, [0; 2]);
    for line in text(path("docs/coming-from.md")).lines() {
        let Some(cells) = cells(line) else {
            header = None;
            continue;
        };
        let Some(columns) = &header else {
            header = Some(cells.iter().map(|&cell| cell.to_owned()).collect());
            continue;
        };
        for (column, cell) in columns.iter().zip(cells) {
            for code in quoted(cell, '`') {
                match column.as_str() {
                    "posse" => {
                        let end = format!("::{code}");
                        let is_ours = is_path(code) && ours.iter().any(|path| path.ends_with(&end));
                        assert!(is_ours, "docs/coming-from.md: `{code}` is no public name");
                        checked[0] += 1;
                    }
                    "posse in JavaScript" => {
                        assert!(code.split('.').all(|word| words.contains(word)), "docs/coming-from.md: `{code}`");
                        checked[1] += 1;
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(checked[0] > 50 && checked[1] > 20, "{checked:?}");
}
