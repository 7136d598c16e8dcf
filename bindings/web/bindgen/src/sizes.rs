//! The size of the code of a WebAssembly module, by crate.

use std::collections::BTreeMap;
use std::error::Error;

use wasmparser::{KnownCustom, Name, Parser, Payload};

/// Crates with less code than this share of the whole are listed together.
const MIN_SHARE: f64 = 0.01;

/// Lines with the bytes of code per crate, the largest first, and the bytes of data. The module needs a name section.
pub fn by_crate(wasm: &[u8]) -> Result<Vec<String>, Box<dyn Error>> {
    let (mut imports, mut bodies, mut names, mut data) = (0, Vec::new(), BTreeMap::new(), 0);
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ImportSection(section) => imports = function_imports(section)?,
            Payload::CodeSectionEntry(body) => bodies.push(body.range().len()),
            Payload::DataSection(section) => data = section.range().len(),
            Payload::CustomSection(section) => {
                if let KnownCustom::Name(section) = section.as_known() {
                    read_names(section, &mut names)?;
                }
            }
            _ => {}
        }
    }
    let mut crates: BTreeMap<String, usize> = BTreeMap::new();
    for (index, bytes) in (imports..).zip(&bodies) {
        let name = names.get(&index).map_or("", |name: &String| name.as_str());
        *crates.entry(crate_of(name)).or_default() += bytes;
    }
    Ok(lines(crates, data))
}

fn function_imports(section: wasmparser::ImportSectionReader) -> Result<u32, Box<dyn Error>> {
    let mut count = 0;
    for import in section.into_imports() {
        count += u32::from(matches!(import?.ty, wasmparser::TypeRef::Func(_)));
    }
    Ok(count)
}

fn read_names(section: wasmparser::NameSectionReader, names: &mut BTreeMap<u32, String>) -> Result<(), Box<dyn Error>> {
    for part in section {
        if let Name::Function(functions) = part? {
            for naming in functions {
                let naming = naming?;
                names.insert(naming.index, naming.name.to_owned());
            }
        }
    }
    Ok(())
}

/// The crate of a mangled function name: the first path after the prefix of either mangling.
fn crate_of(name: &str) -> String {
    if let Some(legacy) = name.strip_prefix("_ZN") {
        let first = component(legacy);
        // A trait implementation begins with its type: `<posse..Crowd as ...>`.
        let first = first.trim_start_matches(['_', '$', 'L', 'T', 'R', 'F', 'B', '&', 'u', '2', '0']);
        return plain(first.split("..").next().unwrap_or(first));
    }
    if name.starts_with("_R") {
        // The v0 mangling: the first crate root is `C`, perhaps with `s..._`, then its length and its name.
        let bytes = name.as_bytes();
        for start in (0..bytes.len()).filter(|&index| bytes[index] == b'C') {
            let rest = &name[start + 1..];
            let rest = rest.strip_prefix('s').and_then(|rest| rest.split_once('_')).map_or(rest, |(_, rest)| rest);
            let found = component(rest);
            if !found.is_empty() {
                return plain(found);
            }
        }
    }
    "other".into()
}

/// The text after a decimal length; empty if there is none.
fn component(text: &str) -> &str {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let length: usize = text[..digits].parse().unwrap_or(0);
    text[digits..].trim_start_matches('_').get(..length).unwrap_or_default()
}

/// The name of a crate without what is not a name.
fn plain(name: &str) -> String {
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(name.len());
    match &name[..end] {
        "" => "other".into(),
        "core" | "alloc" | "std" | "dlmalloc" | "compiler_builtins" | "hashbrown" => "the standard library".into(),
        name => name.into(),
    }
}

fn lines(crates: BTreeMap<String, usize>, data: usize) -> Vec<String> {
    let code: usize = crates.values().sum();
    let is_small = |bytes: usize| (bytes as f64) < MIN_SHARE * code as f64;
    let small: usize = crates.values().filter(|&&bytes| is_small(bytes)).sum();
    let mut crates: Vec<_> = crates.into_iter().filter(|&(_, bytes)| !is_small(bytes)).collect();
    crates.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    crates.extend([("smaller crates".to_owned(), small), ("data: texts, tables, WGSL".to_owned(), data)]);
    let whole = (code + data).max(1) as f64;
    crates
        .into_iter()
        .map(|(name, bytes)| format!("{bytes:>9} bytes {:>4.1} %  {name}", 100.0 * bytes as f64 / whole))
        .collect()
}
