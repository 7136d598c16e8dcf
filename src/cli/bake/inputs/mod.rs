//! The inputs of a bake: files, the clips in them, and the names of the outputs.

mod contents;
mod search;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use posse::Error;

pub use self::contents::{Contents, Kind, ListedClip};
use self::search::Search;
use crate::cli::bake::failures::Failure;
use crate::cli::bake::options::Options;
use crate::cli::bake::share::Share;
use crate::cli::bake::workers::map;

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
    /// Remarks on the search.
    pub warnings: Vec<String>,
}

impl Inputs {
    /// Searches the inputs and lists the clips of each file. `out` is left out of folders and globs.
    ///
    /// # Errors
    /// [`Error::Usage`] if an input does not exist, there are no files, no file has a clip of `--clip`, or two clips have one name.
    pub fn list(inputs: &[PathBuf], out: &Path, options: &Options, threads: usize) -> Result<Self, Error> {
        let mut search = Search::new(out);
        for input in inputs {
            search.add(input)?;
        }
        let Search { mut found, failures, warnings, .. } = search;
        found.sort_by(|a, b| {
            fn bytes(path: &Path) -> &[u8] {
                path.as_os_str().as_encoded_bytes()
            }
            bytes(&a.path).cmp(bytes(&b.path)).then_with(|| a.below.cmp(&b.below))
        });
        found.dedup();
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
        check_selection(&files, options)?;
        check_names(&files)?;
        Ok(Self { files, failures, warnings })
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

/// Fails if `--clip` selects no clip of any file that can be read.
fn check_selection(files: &[ClipFile], options: &Options) -> Result<(), Error> {
    let has_clips = |file: &ClipFile| file.contents.as_ref().is_ok_and(|contents| contents.count > 0);
    if options.clips.is_empty() || !files.iter().any(has_clips) || files.iter().any(|file| !file.clips().is_empty()) {
        return Ok(());
    }
    let names = options.clips.join(", ");
    Err(Error::Usage(format!("no file has a clip {names}; `posse inspect FILE` lists the clips of a file")))
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
