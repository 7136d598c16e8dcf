//! The inputs of a bake: files, the clips in them, and the names of the outputs.

mod contents;
mod search;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use posse::Error;

pub use self::contents::{Contents, Kind, ListedClip};
pub use self::search::resolve;
use self::search::{Found, Search};
use crate::bake::failures::Failure;
use crate::bake::options::Options;
use crate::bake::share::Share;
use crate::bake::workers::map;

/// The largest number of names that a message proposes.
const MOST_PROPOSED: usize = 5;

/// A file with clips, as it was listed.
pub struct ClipFile {
    /// The path to open.
    pub path: PathBuf,
    /// The path below the INPUT, with `/` between folders.
    pub below: String,
    /// The size in bytes; 0 if the file cannot be read.
    pub size: u64,
    /// The clips that are wanted, or the reason that they cannot be listed.
    pub contents: Result<Contents, String>,
}

/// All inputs, in the order of the paths.
pub struct Inputs {
    /// The files.
    pub files: Vec<ClipFile>,
    /// The folders that cannot be searched.
    pub failures: Vec<Failure>,
    /// The files of `@LIST`.
    pub lists: Vec<PathBuf>,
    /// Remarks on the search and on `--clip`.
    pub warnings: Vec<String>,
}

impl Inputs {
    /// Searches the inputs and lists the clips of each file. `out` is left out of folders and globs.
    ///
    /// # Errors
    /// [`Error::Usage`] if an input does not exist, there are no files, no file has a clip of `--clip`, a crowd file has a rig, or two
    /// clips have one name.
    pub fn list(inputs: &[PathBuf], out: &Path, options: &Options, threads: usize) -> Result<Self, Error> {
        let mut search = Search::new(out);
        for input in inputs {
            search.add(input)?;
        }
        let Search { mut found, lists, failures, mut warnings, .. } = search;
        found.sort_by(|a, b| {
            fn bytes(path: &Path) -> &[u8] {
                path.as_os_str().as_encoded_bytes()
            }
            bytes(&a.path).cmp(bytes(&b.path)).then_with(|| a.below.cmp(&b.below))
        });
        remove_repeats(&mut found);
        if found.is_empty() && failures.is_empty() {
            let names = inputs.iter().map(|input| input.display().to_string()).collect::<Vec<_>>().join(", ");
            return Err(Error::Usage(format!("there is no .glb, .gltf or .bvh file in {names}, outside of OUT")));
        }
        let files = map(threads, &found, |found| {
            let (size, contents) = match contents::read(found, options) {
                Ok((size, contents)) => (size, Ok(contents)),
                Err(error) => (std::fs::metadata(&found.path).map_or(0, |file| file.len()), Err(error.to_string())),
            };
            ClipFile { path: found.path.clone(), below: found.below.clone(), size, contents }
        });
        check_rig(&files, options)?;
        check_selection(&files, options, &mut warnings)?;
        check_names(&files)?;
        Ok(Self { files, failures, lists, warnings })
    }
}

impl ClipFile {
    /// The clips that are wanted; none if they cannot be listed.
    pub fn clips(&self) -> &[ListedClip] {
        self.contents.as_ref().map_or(&[], |contents| &contents.clips)
    }
}

/// The files of a share, in the order of the list; all without shares.
pub fn own_files(files: &[ClipFile], share: Option<Share>) -> Vec<&ClipFile> {
    match share {
        Some(share) => {
            let sizes: Vec<u64> = files.iter().map(|file| file.size).collect();
            share.deal(&sizes).into_iter().map(|file| &files[file]).collect()
        }
        None => files.iter().collect(),
    }
}

/// A path of a file below its INPUT without the extension of the file.
pub fn stem(below: &str) -> &str {
    let name = below.rfind('/').map_or(0, |slash| slash + 1);
    match below[name..].rfind('.') {
        Some(dot) if dot > 0 => &below[..name + dot],
        _ => below,
    }
}

/// Removes files that were found twice at one path below an INPUT, for example as `a` and `./a`.
fn remove_repeats(found: &mut Vec<Found>) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    found.iter().for_each(|file| *counts.entry(file.below.clone()).or_default() += 1);
    let mut known = HashSet::new();
    found.retain(|file| {
        let canonical = || file.path.canonicalize().unwrap_or_else(|_| file.path.clone());
        counts[&file.below] == 1 || known.insert((file.below.clone(), canonical()))
    });
}

/// Fails if there is a rig beside a crowd file, whose instances have skeletons of their own.
fn check_rig(files: &[ClipFile], options: &Options) -> Result<(), Error> {
    let is_crowd = |file: &&ClipFile| file.contents.as_ref().is_ok_and(|contents| contents.kind == Kind::Crowd);
    match files.iter().find(is_crowd) {
        Some(file) if options.rig.is_some() => Err(Error::Usage(format!(
            "{}: --rig is not for crowd files, which name the files of their instances; leave out --rig, or bake the file apart",
            file.path.display()
        ))),
        _ => Ok(()),
    }
}

/// Fails for a `--clip` that selects no clip of any file. It is a warning if the clip may be in a file that cannot be read.
fn check_selection(files: &[ClipFile], options: &Options, warnings: &mut Vec<String>) -> Result<(), Error> {
    let listed: Vec<&Contents> = files.iter().filter_map(|file| file.contents.as_ref().ok()).collect();
    if listed.iter().all(|contents| contents.count == 0) {
        return Ok(());
    }
    let is_unknown = |wanted: &usize| listed.iter().all(|contents| contents.selected[*wanted].is_none());
    let unknown: Vec<&str> =
        (0..options.clips.len()).filter(is_unknown).map(|wanted| options.clips[wanted].as_str()).collect();
    let Some(first) = unknown.first() else { return Ok(()) };
    let (names, clips) = (unknown.join(", "), listed.iter().flat_map(|contents| &contents.names));
    let message = format!("no file has a clip {names}; {}", known_clips(first, clips));
    if listed.len() == files.len() || unknown.len() == options.clips.len() {
        return Err(Error::Usage(message));
    }
    warnings.push(message);
    Ok(())
}

/// The names of clips for a message, those that resemble a wanted name first.
fn known_clips<'a>(wanted: &str, names: impl Iterator<Item = &'a String>) -> String {
    let wanted = wanted.to_lowercase();
    let mut names: Vec<&str> = names.map(String::as_str).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    names.sort_by_cached_key(|name| {
        let name = name.to_lowercase();
        !(name.contains(&wanted) || wanted.contains(&name))
    });
    let more = match names.len().saturating_sub(MOST_PROPOSED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.truncate(MOST_PROPOSED);
    match names.as_slice() {
        [] => "the clips have no names, only indexes from 0".into(),
        [name] => format!("the only name of a clip is {name}"),
        names => format!("the names are {}{more}", names.join(", ")),
    }
}

/// Fails if two clips have one name.
fn check_names(files: &[ClipFile]) -> Result<(), Error> {
    let mut known: HashMap<&str, &Path> = HashMap::new();
    for file in files {
        // A crowd file may have an output of its own besides those of its instances.
        let is_crowd = file.contents.as_ref().is_ok_and(|contents| contents.kind == Kind::Crowd);
        let own = is_crowd.then(|| stem(&file.below));
        for name in file.clips().iter().map(|clip| clip.name.as_str()).chain(own) {
            if let Some(other) = known.insert(name, &file.path) {
                let (one, other) = (file.path.display(), other.display());
                return Err(Error::Usage(format!(
                    "{other} and {one} both have a clip of the name {name}, and with it one output; rename a file, or give the \
                     folder above both as INPUT"
                )));
            }
        }
    }
    Ok(())
}
