//! The search for files: in folders, by globs, and in lists.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use posse::Error;
use walkdir::{DirEntry, WalkDir};

use crate::bake::failures::Failure;
use crate::output::file_name;

/// The extensions of the files that a folder is searched for.
const EXTENSIONS: [&str; 3] = ["glb", "gltf", "bvh"];

/// A file that was found.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// The path to open.
    pub path: PathBuf,
    /// The path below the INPUT, with `/` between folders.
    pub below: String,
}

/// The files that were found so far.
pub struct Search {
    pub found: Vec<Found>,
    /// The files of `@LIST`.
    pub lists: Vec<PathBuf>,
    /// The folders that could not be read.
    pub failures: Vec<Failure>,
    /// Links that lead back to a folder above them.
    pub warnings: Vec<String>,
    /// The canonical path of the folder of the outputs.
    out: Option<PathBuf>,
}

impl Search {
    /// A search that leaves out a folder.
    pub fn new(out: &Path) -> Self {
        Self { found: Vec::new(), lists: Vec::new(), failures: Vec::new(), warnings: Vec::new(), out: resolve(out) }
    }

    /// Adds the files of an INPUT.
    pub fn add(&mut self, input: &Path) -> Result<(), Error> {
        let text = input.to_string_lossy();
        if let Some(list) = text.strip_prefix('@') {
            return self.add_list(Path::new(list));
        }
        match fs::metadata(input) {
            Ok(metadata) if metadata.is_dir() => self.add_folder(input),
            Ok(_) => {
                self.add_file(input);
                Ok(())
            }
            Err(_) if text.contains(['*', '?', '[']) => self.add_glob(&text),
            Err(source) => Err(Error::Io { file: input.to_path_buf(), source }),
        }
    }

    fn add_file(&mut self, path: &Path) {
        self.found.push(Found { path: path.to_path_buf(), below: file_name(path) });
    }

    /// Adds the paths of a list, one per line. A path that cannot be used is found when it is read.
    fn add_list(&mut self, list: &Path) -> Result<(), Error> {
        if list.as_os_str().is_empty() {
            return Err(Error::Usage(
                "@: the name of the list is missing; give @LIST, a file with a path per line".into(),
            ));
        }
        let text = fs::read_to_string(list).map_err(|source| Error::Io { file: list.to_path_buf(), source })?;
        let lines = text.trim_start_matches('\u{feff}').lines().filter(|line| !line.trim().is_empty());
        let before = self.found.len();
        lines.for_each(|line| self.add_file(Path::new(line)));
        if self.found.len() == before {
            return Err(Error::Usage(format!("{}: the list is empty; write a path per line", list.display())));
        }
        self.lists.push(list.to_path_buf());
        Ok(())
    }

    /// Adds the files that a glob matches. Folders among them are passed over.
    fn add_glob(&mut self, pattern: &str) -> Result<(), Error> {
        let paths = glob::glob(pattern).map_err(|error| Error::Usage(format!("{pattern}: {error}")))?;
        let (before, mut outputs) = (self.found.len(), 0);
        for path in paths {
            match path {
                Ok(path) if path.is_file() && self.is_output(&path) => outputs += 1,
                Ok(path) if path.is_file() => self.add_file(&path),
                Ok(_) => {}
                Err(error) => self.fail(error.path(), error.error()),
            }
        }
        match (self.found.len() - before, outputs) {
            (0, 0) => Err(Error::Usage(format!("{pattern}: no file matches; check the path"))),
            (0, _) => Err(Error::Usage(format!(
                "{pattern}: all files that match lie in OUT ({outputs}), and a glob leaves them out; give another OUT"
            ))),
            _ => Ok(()),
        }
    }

    /// Adds the files of a folder and of all folders below it.
    fn add_folder(&mut self, folder: &Path) -> Result<(), Error> {
        if self.is_output(folder) {
            let folder = folder.display();
            return Err(Error::Usage(format!(
                "{folder} is OUT or lies in it, and OUT is never searched; give another OUT"
            )));
        }
        let out = self.out.clone();
        let is_input =
            |entry: &DirEntry| !entry.file_type().is_dir() || out.is_none() || canonical(entry.path()) != out;
        for entry in WalkDir::new(folder).follow_links(true).into_iter().filter_entry(is_input) {
            match entry {
                Ok(entry) if entry.file_type().is_file() && has_clips(entry.path()) => {
                    let below = entry.path().strip_prefix(folder).unwrap_or(entry.path());
                    self.found.push(Found { path: entry.path().to_path_buf(), below: join(below) });
                }
                Ok(_) => {}
                Err(error) => self.add_fault(folder, &error),
            }
        }
        Ok(())
    }

    /// Records a fault of a search: a loop of links, a broken link, or a folder that cannot be read.
    fn add_fault(&mut self, folder: &Path, error: &walkdir::Error) {
        let path = error.path().unwrap_or(folder);
        if let Some(above) = error.loop_ancestor() {
            let (link, above) = (path.display(), above.display());
            self.warnings.push(format!("{link} leads back to {above}, and is passed over"));
        } else if has_clips(path) {
            // A broken link to a file. It is reported when it is read.
            let below = path.strip_prefix(folder).unwrap_or(path);
            self.found.push(Found { path: path.to_path_buf(), below: join(below) });
        } else if let Some(source) = error.io_error() {
            // A broken link to anything else is no input.
            if source.kind() != io::ErrorKind::NotFound {
                self.fail(path, source);
            }
        }
    }

    fn fail(&mut self, path: &Path, error: &io::Error) {
        let message = format!("the folder cannot be searched: {error}");
        self.failures.push(Failure { path: path.display().to_string(), clip: None, message });
    }

    /// Returns true for OUT and all below it.
    fn is_output(&self, path: &Path) -> bool {
        let Some(out) = &self.out else { return false };
        canonical(path).is_some_and(|path| path.starts_with(out))
    }
}

/// The canonical path that a folder has, or gets when it is made with the missing folders above it: `new/../e` is `e`.
pub fn resolve(folder: &Path) -> Option<PathBuf> {
    let mut place = Path::new(".").canonicalize().ok()?;
    for part in folder.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                place.pop();
            }
            part => place.push(part),
        }
        // A link leads elsewhere, and the folder above its target is another one.
        place = place.canonicalize().unwrap_or(place);
    }
    Some(place)
}

fn canonical(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// Returns true for the extensions of files with clips.
fn has_clips(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// A relative path with `/` between its folders, on every system.
fn join(path: &Path) -> String {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    names.collect::<Vec<_>>().join("/")
}
