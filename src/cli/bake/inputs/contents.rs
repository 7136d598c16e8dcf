//! The kind and the clips of a file, read without its keys.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use posse::import::{bvh, cocos, crowd, gltf};
use posse::{Error, Library};

use crate::cli::bake::inputs::search::Found;
use crate::cli::bake::inputs::stem;
use crate::cli::bake::options::Options;
use crate::cli::bake::regular_file;

/// The bytes from which the kind of most files is known.
const HEAD: u64 = 4096;
/// The largest name of a file, in bytes.
const MOST_NAME_BYTES: usize = 255;
/// The largest number of instances of a crowd file.
const MOST_INSTANCES: usize = 1 << 16;

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Gltf,
    Bvh,
    Cocos,
    Crowd,
}

/// The clips of a file.
#[derive(Debug)]
pub struct Contents {
    pub kind: Kind,
    /// The number of all clips of the file; of a crowd file that of its instances.
    pub count: usize,
    /// The clips that are wanted.
    pub clips: Vec<ListedClip>,
}

/// A clip of a file.
#[derive(Debug)]
pub struct ListedClip {
    /// The index in the file.
    pub index: usize,
    /// The name: the path of the output below OUT, without extension.
    pub name: String,
}

/// Reads the size and the clips of a file.
pub fn read(found: &Found, options: &Options) -> Result<(u64, Contents), Error> {
    let path = &found.path;
    let failed = |source| Error::Io { file: path.clone(), source };
    let mut file = regular_file::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let mut head = Vec::new();
    (&mut file).take(HEAD).read_to_end(&mut head).map_err(failed)?;
    let (kind, names) = names(path, file, head).map_err(|error| match error {
        Trouble::Read(source) => failed(source),
        Trouble::Content(error) => error,
    })?;
    if kind == Kind::Cocos && options.rig.is_none() {
        let path = path.display();
        return Err(Error::Usage(format!("{path} is a Cocos clip, which has no joints; name a glTF file with --rig")));
    }
    let wanted = selection(&options.clips, &names);
    let output_names = output_names(stem(&found.below), kind, &names);
    let clips = output_names.into_iter().enumerate().filter(|(index, _)| wanted[*index]);
    let clips: Vec<ListedClip> = clips.map(|(index, name)| ListedClip { index, name }).collect();
    check_lengths(&clips, options.format.extension())?;
    Ok((size, Contents { kind, count: names.len(), clips }))
}

/// A failure to read, or content that cannot be used.
enum Trouble {
    Read(io::Error),
    Content(Error),
}

/// The kind of a file and the names of its clips. `head` has been read from `file`.
fn names(path: &Path, mut file: File, head: Vec<u8>) -> Result<(Kind, Vec<Option<String>>), Trouble> {
    if bvh::is_bvh(path, &head) {
        return Ok((Kind::Bvh, vec![path.file_stem().map(|stem| stem.to_string_lossy().into_owned())]));
    }
    if head.starts_with(b"glTF") {
        let outline = gltf::Outline::read(path).map_err(Trouble::Content)?;
        return Ok((Kind::Gltf, outline.clips));
    }
    let mut bytes = head;
    file.read_to_end(&mut bytes).map_err(Trouble::Read)?;
    if crowd::is_crowd(&bytes) {
        let crowd = crowd::load(&mut Library::new(), path).map_err(Trouble::Content)?;
        let count = crowd.len();
        if count > MOST_INSTANCES {
            let (what, needed, allowed) = ("instances of a crowd file".into(), count as u64, MOST_INSTANCES as u64);
            return Err(Trouble::Content(Error::Limit { what, needed, allowed }));
        }
        return Ok((Kind::Crowd, vec![None; count]));
    }
    if cocos::is_clip(path, &bytes) {
        return Ok((Kind::Cocos, vec![None]));
    }
    let outline = gltf::Outline::from_slice(path, &bytes).map_err(Trouble::Content)?;
    Ok((Kind::Gltf, outline.clips))
}

/// Marks the clips that `--clip` selects, by name, otherwise by index. Without `--clip`, all.
fn selection(wanted: &[String], names: &[Option<String>]) -> Vec<bool> {
    let mut selected = vec![wanted.is_empty(); names.len()];
    for wanted in wanted {
        let by_name = names.iter().position(|name| name.as_ref() == Some(wanted));
        let index = by_name.or_else(|| wanted.parse().ok());
        if let Some(selected) = index.and_then(|index| selected.get_mut(index)) {
            *selected = true;
        }
    }
    selected
}

/// The names of all clips of a file. `file` is the name of the file.
fn output_names(file: &str, kind: Kind, names: &[Option<String>]) -> Vec<String> {
    if names.len() == 1 && kind != Kind::Crowd {
        return vec![file.to_owned()];
    }
    // A name becomes a part of a path.
    let clean = |name: &String| name.replace(['/', '\0'], "_");
    let names: Vec<String> = names.iter().map(|name| name.as_ref().map(clean).unwrap_or_default()).collect();
    let mut counts = std::collections::HashMap::new();
    names.iter().for_each(|name| *counts.entry(name.as_str()).or_insert(0) += 1);
    let own = |(index, name): (usize, &String)| match counts.get(name.as_str()) {
        Some(1) if !name.is_empty() => format!("{file}#{name}"),
        _ => format!("{file}#{index}"),
    };
    names.iter().enumerate().map(own).collect()
}

/// Fails if the name of an output is longer than that of a file may be.
fn check_lengths(clips: &[ListedClip], extension: &str) -> Result<(), Error> {
    let length =
        |clip: &ListedClip| clip.name.len() - clip.name.rfind('/').map_or(0, |slash| slash + 1) + 1 + extension.len();
    match clips.iter().find(|clip| length(clip) > MOST_NAME_BYTES) {
        Some(clip) => Err(Error::Usage(format!(
            "clip {}: the name of its output has {} bytes, but that of a file may have {MOST_NAME_BYTES}; rename the clip",
            clip.index,
            length(clip)
        ))),
        None => Ok(()),
    }
}
