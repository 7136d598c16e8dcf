//! The kind and the clips of a file, read without its keys.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use posse::import::{bvh, cocos, crowd, gltf};
use posse::{Error, Library};

use crate::bake::inputs::search::Found;
use crate::bake::inputs::stem;
use crate::bake::options::Options;
use crate::bake::{crowd_files, regular_file};

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
    /// The files that it names: buffers, and the files of a crowd file with theirs.
    pub beside: Vec<PathBuf>,
    /// The index of the clip that each `--clip` selects.
    pub selected: Vec<Option<usize>>,
    /// The names of all clips, for messages about `--clip`; empty without it.
    pub names: Vec<String>,
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
    let mut file = regular_file::open(path)?;
    let size = file.metadata().map_err(failed)?.len();
    let mut head = Vec::new();
    (&mut file).take(HEAD).read_to_end(&mut head).map_err(failed)?;
    let Outline { kind, names, beside } = Outline::read(path, file, head).map_err(|error| match error {
        Trouble::Read(source) => failed(source),
        Trouble::Content(error) => error,
    })?;
    if kind == Kind::Cocos && options.rig.is_none() {
        let path = path.display();
        return Err(Error::Usage(format!("{path} is a Cocos clip, which has no joints; name a glTF file with --rig")));
    }
    let selected: Vec<Option<usize>> = options.clips.iter().map(|wanted| selection(wanted, &names)).collect();
    let is_wanted = |index: usize| selected.is_empty() || selected.contains(&Some(index));
    let output_names = output_names(stem(&found.below), kind, &names);
    let clips = output_names.into_iter().enumerate().filter(|(index, _)| is_wanted(*index));
    let clips: Vec<ListedClip> = clips.map(|(index, name)| ListedClip { index, name }).collect();
    check_lengths(&clips, options.format.extension())?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let beside = beside.iter().map(|below| folder.join(below)).collect();
    let count = names.len();
    let names = if selected.is_empty() { Vec::new() } else { names.into_iter().flatten().collect() };
    Ok((size, Contents { kind, count, clips, beside, selected, names }))
}

/// A failure to read, or content that cannot be used.
enum Trouble {
    Read(io::Error),
    Content(Error),
}

/// The parts of a file that are known without its keys.
struct Outline {
    kind: Kind,
    /// The names of the clips.
    names: Vec<Option<String>>,
    /// The files that it names, relative to its folder.
    beside: Vec<String>,
}

impl Outline {
    /// Reads the outline of a file. `head` has been read from `file`.
    fn read(path: &Path, mut file: File, head: Vec<u8>) -> Result<Self, Trouble> {
        let of_gltf = |outline: gltf::Outline| Self { kind: Kind::Gltf, names: outline.clips, beside: outline.buffers };
        if bvh::is_bvh(path, &head) {
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            return Ok(Self { kind: Kind::Bvh, names: vec![name], beside: Vec::new() });
        }
        if head.starts_with(b"glTF") {
            return gltf::Outline::read(path).map(of_gltf).map_err(Trouble::Content);
        }
        let mut bytes = head;
        file.read_to_end(&mut bytes).map_err(Trouble::Read)?;
        if crowd::is_crowd(&bytes) {
            return Self::of_crowd(path, &bytes).map_err(Trouble::Content);
        }
        if cocos::is_clip(path, &bytes) {
            return Ok(Self { kind: Kind::Cocos, names: vec![None], beside: Vec::new() });
        }
        gltf::Outline::from_slice(path, &bytes).map(of_gltf).map_err(Trouble::Content)
    }

    /// The outline of a crowd file, which is loaded for the number of its instances.
    fn of_crowd(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let count = crowd::load(&mut Library::new(), path)?.len();
        if count > MOST_INSTANCES {
            let what = "instances of a crowd file; split it into several".into();
            let (needed, allowed) = (count as u64, MOST_INSTANCES as u64);
            return Err(Error::Limit { what, needed, allowed });
        }
        Ok(Self { kind: Kind::Crowd, names: vec![None; count], beside: crowd_files::list(path, bytes)? })
    }
}

/// The index of the clip that a `--clip` selects, by name, otherwise by index.
fn selection(wanted: &str, names: &[Option<String>]) -> Option<usize> {
    let by_name = names.iter().position(|name| name.as_deref() == Some(wanted));
    by_name.or_else(|| wanted.parse().ok().filter(|index| *index < names.len()))
}

/// The names of all clips of a file. `file` is the name of the file.
fn output_names(file: &str, kind: Kind, names: &[Option<String>]) -> Vec<String> {
    if names.len() == 1 && kind != Kind::Crowd {
        return vec![file.to_owned()];
    }
    // A name becomes a part of a path.
    let clean = |name: &String| name.replace(['/', '\0'], "_");
    let names: Vec<String> = names.iter().map(|name| name.as_ref().map(clean).unwrap_or_default()).collect();
    let mut counts = HashMap::new();
    names.iter().for_each(|name| *counts.entry(name.as_str()).or_insert(0) += 1);
    let is_own = |name: &str| !name.is_empty() && counts[name] == 1;
    let owned = names.iter().enumerate().filter(|clip| is_own(clip.1));
    let mut owners: HashMap<&str, usize> = owned.map(|(index, name)| (name.as_str(), index)).collect();
    let mut indexed: Vec<usize> = (0..names.len()).filter(|&index| !is_own(&names[index])).collect();
    // A clip whose name is the index of such a clip gets its index too.
    while let Some(index) = indexed.pop() {
        indexed.extend(owners.remove(index.to_string().as_str()));
    }
    let own = |index: usize| match owners.get(names[index].as_str()) {
        Some(owner) if *owner == index => format!("{file}#{}", names[index]),
        _ => format!("{file}#{index}"),
    };
    (0..names.len()).map(own).collect()
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
