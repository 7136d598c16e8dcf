//! The inputs of a bake: the search for files, the clips in them, and the names of the outputs.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::UNIX_EPOCH;

use posse::import::{FileFormat, crowd, fbx, gltf, recognize, recognize_head, smpl};
use posse::retarget::mirrored_name;
use posse::{Error, Library, Selector};
use serde::{Deserialize, Serialize};
use walkdir::{DirEntry, WalkDir};

use crate::bake::facts::{self, SourceFacts};
use crate::bake::frames::ClipPart;
use crate::bake::options::Options;
use crate::bake::progress::MinuteClock;
use crate::output::{file_name, note};
use crate::source::is_demo;
use crate::threads::map;

/// The largest number of names that a message proposes.
const MAX_PROPOSED: usize = 5;

/// A file with clips, as it was listed.
#[derive(Debug, Serialize, Deserialize)]
pub struct ListedFile {
    /// The path to open.
    pub path: PathBuf,
    /// The path below the INPUT, with `/` between folders.
    pub below: String,
    /// The size in bytes; 0 if the file cannot be read.
    pub size: u64,
    /// The time of the last change, in nanoseconds since 1970; `None` if it is not known.
    pub modified: Option<u64>,
    /// The clips that are wanted, or the reason that they cannot be listed.
    pub contents: Result<Contents, String>,
}

/// An input that could not be baked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The path of the file or folder.
    pub path: String,
    /// The path of the file below its INPUT, as outputs state it; `None` for a folder or a row of `--cuts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The name of the clip; `None` if the whole file failed.
    pub clip: Option<String>,
    /// The error.
    pub message: String,
}

/// All inputs, in the order of the paths.
#[derive(Default)]
pub struct Inputs {
    /// The files.
    pub files: Vec<ListedFile>,
    /// The files that were found, but of which no piece is wanted.
    pub unused: Vec<ListedFile>,
    /// The folders that cannot be searched.
    pub failures: Vec<Failure>,
    /// The files of `@LIST`.
    pub lists: Vec<PathBuf>,
    /// Remarks on the search, on `--clip` and on `--cuts`.
    pub warnings: Vec<String>,
}

impl Inputs {
    /// Searches the inputs and lists the clips of each file. `out` is left out of folders and globs.
    ///
    /// # Errors
    /// [`Error::Io`] if no input exists. [`Error::Usage`] if there are no files, no file has a clip of `--clip`, or
    /// there is an option that is not for crowd files.
    pub fn list(inputs: &[PathBuf], out: &Path, options: &Options, threads: usize) -> Result<Self, Error> {
        let mut search = Search::new(out, options.base.clone());
        for input in inputs {
            search.add(input)?;
        }
        let Search { mut found, mut missing, lists, failures, mut warnings, .. } = search;
        // A typing error in the only INPUT makes no OUT.
        if found.len() == missing.len() && failures.is_empty() && !missing.is_empty() {
            return Err(missing.swap_remove(0));
        }
        found.sort_by(|a, b| in_order(&a.path, &a.below, &b.path, &b.below));
        remove_repeats(&mut found);
        let (clock, listed) = (MinuteClock::new(), AtomicUsize::new(0));
        let files = map(threads, &found, |file| {
            let count = listed.fetch_add(1, Ordering::Relaxed) + 1;
            if clock.is_due() {
                note(&format!("{count} of {} files are listed", found.len()));
            }
            match read_contents(&file.path, &file.below, options) {
                Err(ListError::NoMotion) if file.is_searched => None,
                read => Some(ListedFile::new(&file.path, &file.below, read)),
            }
        });
        let files: Vec<ListedFile> = files.into_iter().flatten().collect();
        if files.is_empty() && failures.is_empty() {
            let names = inputs.iter().map(|input| input.display().to_string()).collect::<Vec<_>>().join(", ");
            return Err(Error::Usage(format!(
                "there is no .glb, .gltf, .fbx or .bvh file in {names}, and no .npz file of SMPL, outside of OUT"
            )));
        }
        check_crowds(&files, options)?;
        check_selection(&files, options, &mut warnings)?;
        Ok(Self { files, unused: Vec::new(), failures, lists, warnings })
    }

    /// Sorts the files by their paths.
    pub fn sort(&mut self) {
        self.files.sort_by(|a, b| in_order(&a.path, &a.below, &b.path, &b.below));
    }
}

/// The order of two files, by the bytes of their paths, then of the paths below their INPUTs.
fn in_order(path: &Path, below: &str, other_path: &Path, other_below: &str) -> std::cmp::Ordering {
    let [bytes, other_bytes] = [path, other_path].map(|path| path.as_os_str().as_encoded_bytes());
    bytes.cmp(other_bytes).then_with(|| below.cmp(other_below))
}

impl ListedFile {
    /// A file whose clips were listed, or could not be listed.
    fn new(path: &Path, below: &str, read: Result<(fs::Metadata, Contents), ListError>) -> Self {
        let (metadata, contents) = match read {
            Ok((metadata, contents)) => (Some(metadata), Ok(contents)),
            Err(error) => (fs::metadata(path).ok(), Err(error.of_file(path).to_string())),
        };
        let (size, modified) = size_and_time(metadata.as_ref());
        Self { path: path.to_path_buf(), below: below.to_owned(), size, modified, contents }
    }

    /// The file of a plan as it is now: if it has changed, or if it could not be listed, its clips are listed again.
    /// Pieces of the only clip of a file stay as they are. Pieces of a changed file with several clips cannot be found
    /// without the rows.
    pub fn listed_again(self, options: &Options) -> Self {
        let (size, modified) = size_and_time(fs::metadata(&self.path).ok().as_ref());
        let is_same = (size, modified) == (self.size, self.modified);
        match &self.contents {
            Ok(_) if is_same => return self,
            Ok(contents) if options.cuts.is_some() && contents.count > 1 => {
                let path = self.path.display();
                let reason = format!("{path}: it has changed since its pieces were listed; write the plan again");
                return Self { size, modified, contents: Err(reason), ..self };
            }
            _ if options.cuts.is_some() => return Self { size, modified, ..self },
            _ => {}
        }
        let mut file = Self::new(&self.path, &self.below, read_contents(&self.path, &self.below, options));
        if let (Ok(contents), Ok(before)) = (&mut file.contents, self.contents) {
            let is_refused = |clip: &ListedClip| before.refused.iter().any(|refused| refused.name == clip.name);
            contents.clips.retain(|clip| !is_refused(clip));
            contents.refused = before.refused;
        }
        file
    }

    /// Returns `false` for a clip that the file does not have, and for an output outside of OUT. A plan has them if
    /// posse has not written it.
    pub fn is_sound(&self) -> bool {
        let Ok(contents) = &self.contents else { return true };
        let is_below = |name: &str| Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let mut clips = contents.clips.iter();
        is_below(&self.below) && clips.all(|clip| clip.index < contents.count && is_below(&clip.name))
    }

    /// The clips that are wanted; none if they cannot be listed.
    pub fn clips(&self) -> &[ListedClip] {
        self.contents.as_ref().map_or(&[], |contents| &contents.clips)
    }

    /// The clips that are wanted, but whose names others have, too.
    pub fn refused(&self) -> &[RefusedClip] {
        self.contents.as_ref().map_or(&[], |contents| &contents.refused)
    }

    /// The facts of the file, whose bytes have been read.
    pub fn source_of_bytes(&self, kind: FileFormat, bytes: &[u8]) -> Result<SourceFacts, Error> {
        let buffers = match kind {
            FileFormat::Gltf => gltf::Outline::from_slice(&self.path, bytes)?.buffers,
            FileFormat::Crowd => facts::files_of_crowd(&self.path, bytes)?,
            FileFormat::Bvh | FileFormat::Fbx | FileFormat::Smpl | FileFormat::CocosClip => Vec::new(),
        };
        let buffers = facts::facts_of_buffers(&self.path, &buffers)?;
        let (path, sha256) = (self.below.clone(), facts::sha256_of_bytes(bytes));
        Ok(SourceFacts { path, sha256, buffers, ..SourceFacts::default() })
    }

    /// The facts of the file, which is read. A BVH file is not read at once, because it may be long.
    pub fn source(&self, kind: FileFormat) -> Result<SourceFacts, Error> {
        if kind == FileFormat::Bvh {
            let sha256 = facts::sha256_of_file(&self.path)?;
            return Ok(SourceFacts { path: self.below.clone(), sha256, ..SourceFacts::default() });
        }
        self.source_of_bytes(kind, &facts::read_regular(&self.path)?)
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

/// The name of a file in the names of its clips: its path below its INPUT, with the extension if the options keep it.
pub fn name_of<'a>(below: &'a str, options: &Options) -> &'a str {
    if options.keeps_extension { below } else { stem(below) }
}

/// Removes files that were found twice at one path below an INPUT, for example as `a` and `./a`.
fn remove_repeats(found: &mut Vec<FoundFile>) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    found.iter().for_each(|file| *counts.entry(file.below.clone()).or_default() += 1);
    let mut known = HashSet::new();
    found.retain(|file| {
        let canonical = || file.path.canonicalize().unwrap_or_else(|_| file.path.clone());
        counts[&file.below] == 1 || known.insert((file.below.clone(), canonical()))
    });
}

/// Fails if there is a rig, a range, `--mirror` or an option that measures clips beside a crowd file, whose instances
/// have skeletons, times and layers of their own.
pub fn check_crowds(files: &[ListedFile], options: &Options) -> Result<(), Error> {
    let is_crowd = |file: &&ListedFile| file.contents.as_ref().is_ok_and(|contents| contents.kind == FileFormat::Crowd);
    let Some(file) = files.iter().find(is_crowd) else { return Ok(()) };
    let [option, reason] = if options.rig.is_some() {
        ["--rig", "name the files of their instances"]
    } else if !options.frames.is_whole() {
        ["--frame-range", "have a clock and no frames"]
    } else if options.seconds.is_some() {
        ["--range", "have ranges of their own"]
    } else if options.mirror {
        ["--mirror", "may blend several clips"]
    } else if let Some(option) = options.measuring() {
        [option, "may blend several clips"]
    } else {
        return Ok(());
    };
    Err(Error::Usage(format!(
        "{}: {option} is not for crowd files, which {reason}; leave out {option}, or bake the file apart",
        file.path.display()
    )))
}

/// Fails for a `--clip` that selects no clip of any file. It is a warning if the clip may be in a file that cannot be
/// read.
fn check_selection(files: &[ListedFile], options: &Options, warnings: &mut Vec<String>) -> Result<(), Error> {
    let listed: Vec<&Contents> = files.iter().filter_map(|file| file.contents.as_ref().ok()).collect();
    if listed.iter().all(|contents| contents.count == 0) {
        return Ok(());
    }
    let is_unknown = |wanted: &usize| listed.iter().all(|contents| contents.selected[*wanted].is_empty());
    let unknown: Vec<&str> =
        (0..options.clips.len()).filter(is_unknown).map(|wanted| options.clips[wanted].as_str()).collect();
    let Some(first) = unknown.first() else { return Ok(()) };
    let (names, clips) = (unknown.join(", "), listed.iter().flat_map(|contents| contents.names.iter().flatten()));
    let message = format!("no file has a clip {names}; {}", known_clips(first, clips));
    if listed.len() == files.len() || unknown.len() == options.clips.len() {
        return Err(Error::Usage(message));
    }
    warnings.push(message);
    Ok(())
}

/// The names of clips for a message, names that resemble a wanted name first.
fn known_clips<'a>(wanted: &str, names: impl Iterator<Item = &'a String>) -> String {
    let wanted = wanted.to_lowercase();
    let mut names: Vec<&str> = names.map(String::as_str).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    names.sort_by_cached_key(|name| {
        let name = name.to_lowercase();
        !(name.contains(&wanted) || wanted.contains(&name))
    });
    let more = match names.len().saturating_sub(MAX_PROPOSED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.truncate(MAX_PROPOSED);
    match names.as_slice() {
        [] => "the clips have no names, only indexes from 0".into(),
        [name] => format!("the only name of a clip is {name}"),
        names => format!("the names are {}{more}", names.join(", ")),
    }
}

/// The extensions of the files that a folder is searched for.
const EXTENSIONS: [&str; 5] = ["glb", "gltf", "fbx", "bvh", "npz"];

/// A file that was found.
#[derive(Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// The path to open.
    pub path: PathBuf,
    /// The path below the INPUT, with `/` between folders.
    pub below: String,
    /// True for a file of a folder or glob, which is left out if it is an .npz file without a motion of SMPL: a shape
    /// of AMASS, or an output of a bake.
    pub is_searched: bool,
}

/// The files that were found so far.
pub struct Search {
    pub found: Vec<FoundFile>,
    /// The errors of INPUTs that are not there. They are among the files found, as bad inputs.
    missing: Vec<Error>,
    /// The files of `@LIST`.
    pub lists: Vec<PathBuf>,
    /// The folders that could not be read.
    pub failures: Vec<Failure>,
    /// Links that lead back to a folder above them.
    pub warnings: Vec<String>,
    /// The canonical path of the folder of the outputs.
    out: Option<PathBuf>,
    /// The folder of the paths of lists; `None` for the working folder.
    base: Option<PathBuf>,
}

impl Search {
    /// A search that leaves out a folder. `base` is the base of the paths of lists.
    pub fn new(out: &Path, base: Option<PathBuf>) -> Self {
        let (found, missing, lists) = (Vec::new(), Vec::new(), Vec::new());
        Self { found, missing, lists, failures: Vec::new(), warnings: Vec::new(), out: resolve(out), base }
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
                self.add_file(input, false);
                Ok(())
            }
            Err(_) if text.contains(['*', '?', '[']) => self.add_glob(&text),
            Err(_) if is_demo(input) => Err(Error::Usage(
                "demo: there is no such file; a bake takes the built-in human as --rig demo, not as INPUT".into(),
            )),
            // Without a folder, it is not known which clips are left out.
            Err(source) if source.kind() == io::ErrorKind::NotFound && has_clips(input) => {
                self.missing.push(Error::Io { file: input.to_path_buf(), source });
                self.add_file(input, false);
                Ok(())
            }
            Err(source) => Err(Error::Io { file: input.to_path_buf(), source }),
        }
    }

    fn add_file(&mut self, path: &Path, is_searched: bool) {
        self.found.push(FoundFile { path: path.to_path_buf(), below: file_name(path), is_searched });
    }

    /// Adds the paths of a list, one per line. A path that cannot be used is found when it is read.
    fn add_list(&mut self, list: &Path) -> Result<(), Error> {
        if list.as_os_str().is_empty() {
            return Err(Error::Usage(
                "@: the name of the list is missing; give @LIST, a file with a path per line".into(),
            ));
        }
        let text = fs::read_to_string(list).map_err(|source| Error::Io { file: list.to_path_buf(), source })?;
        let before = self.found.len();
        for (number, line) in (1_usize..).zip(text.trim_start_matches('\u{feff}').lines()) {
            if line.trim().is_empty() {
                continue;
            }
            match &self.base {
                None => self.add_file(Path::new(line), false),
                Some(base) => {
                    let below = path_below(base, Path::new(line)).ok_or_else(|| {
                        let (list, base) = (list.display(), base.display());
                        let reason = "is not below it; give a folder above all files of the list";
                        Error::Usage(format!("{list}: line {number}: --base {base}: {line} {reason}"))
                    })?;
                    self.found.push(FoundFile { path: base.join(line), below, is_searched: false });
                }
            }
        }
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
                Ok(path) if path.is_file() => self.add_file(&path, true),
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
                    let below = join_names(entry.path().strip_prefix(folder).unwrap_or(entry.path()));
                    self.found.push(FoundFile { path: entry.path().to_path_buf(), below, is_searched: true });
                }
                Ok(_) => {}
                Err(error) => self.add_error(folder, &error),
            }
        }
        Ok(())
    }

    /// Records an error of a search: a loop of links, a broken link, or a folder that cannot be read.
    fn add_error(&mut self, folder: &Path, error: &walkdir::Error) {
        let path = error.path().unwrap_or(folder);
        if let Some(above) = error.loop_ancestor() {
            let (link, above) = (path.display(), above.display());
            self.warnings.push(format!("{link} leads back to {above}, and is passed over"));
        } else if has_clips(path) {
            // A broken link to a file. It is reported when it is read.
            let below = join_names(path.strip_prefix(folder).unwrap_or(path));
            self.found.push(FoundFile { path: path.to_path_buf(), below, is_searched: true });
        } else if let Some(source) = error.io_error() {
            // A broken link to anything else is no input.
            if source.kind() != io::ErrorKind::NotFound {
                self.fail(path, source);
            }
        }
    }

    fn fail(&mut self, path: &Path, error: &io::Error) {
        let message = format!("the folder cannot be searched: {error}");
        self.failures.push(Failure { path: path.display().to_string(), source: None, clip: None, message });
    }

    /// Returns `true` for OUT and all below it.
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

/// A path below a folder, relative to it, with `/` between folders: a relative path is that already. `None` for a path
/// that leads out of the folder.
fn path_below(folder: &Path, path: &Path) -> Option<String> {
    let folders = [std::path::absolute(folder).ok(), canonical(folder)];
    let relative = match path.is_absolute() {
        true => folders.iter().flatten().find_map(|folder| path.strip_prefix(folder).ok())?,
        false => path,
    };
    (!relative.components().any(|part| part == Component::ParentDir)).then(|| join_names(relative))
}

fn canonical(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// Returns `true` for the extensions of files with clips.
fn has_clips(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// A relative path with `/` between its folders, on every system.
fn join_names(path: &Path) -> String {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    names.collect::<Vec<_>>().join("/")
}

/// The bytes from which the kind of most files is known.
const HEAD: u64 = 4096;
/// The largest name of a file, in bytes.
const MAX_NAME_BYTES: usize = 255;
/// The largest number of instances of a crowd file.
const MAX_INSTANCES: usize = 1 << 16;

/// The clips of a file.
#[derive(Debug, Serialize, Deserialize)]
pub struct Contents {
    #[serde(with = "kind_name")]
    pub kind: FileFormat,
    /// The number of all clips of the file; of a crowd file the number of its instances.
    pub count: usize,
    /// The clips that are wanted.
    pub clips: Vec<ListedClip>,
    /// The clips that are wanted, but whose names other clips have, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedClip>,
    /// The files that it names: buffers, and the files of a crowd file with theirs.
    #[serde(skip)]
    pub beside: Vec<PathBuf>,
    /// The indices of the clips that each `--clip` selects.
    #[serde(skip)]
    pub selected: Vec<Vec<usize>>,
    /// The names of all clips, for `--clip` and `--cuts`; empty without them.
    #[serde(skip)]
    pub names: Vec<Option<String>>,
}

/// The names of formats in a plan.
mod kind_name {
    use posse::import::FileFormat;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    const NAMES: [(FileFormat, &str); 6] = [
        (FileFormat::Gltf, "gltf"),
        (FileFormat::Bvh, "bvh"),
        (FileFormat::Fbx, "fbx"),
        (FileFormat::Smpl, "smpl"),
        (FileFormat::CocosClip, "cocos"),
        (FileFormat::Crowd, "crowd"),
    ];

    pub fn serialize<S: Serializer>(kind: &FileFormat, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(NAMES.iter().find(|(known, _)| known == kind).map_or("", |(_, name)| name))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<FileFormat, D::Error> {
        let name = String::deserialize(from)?;
        let found = NAMES.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind);
        found.ok_or_else(|| D::Error::custom(format!("there is no format {name:?}")))
    }
}

/// A clip whose name another clip has, too.
#[derive(Debug, Serialize, Deserialize)]
pub struct RefusedClip {
    /// The name.
    pub name: String,
    /// The error.
    pub message: String,
}

/// A clip of a file, or a piece of it, or the mirror image of either.
#[derive(Debug, Serialize, Deserialize)]
pub struct ListedClip {
    /// The index in the file.
    pub index: usize,
    /// The name: the path of the output below OUT, without extension.
    pub name: String,
    /// What of it is baked.
    #[serde(flatten)]
    pub part: ClipPart,
}

impl ListedClip {
    /// The mirror image of the clip or piece, whose name is not taken.
    pub fn mirror_image(&self, is_taken: impl Fn(&str) -> bool) -> Self {
        let Self { index, name, part } = self;
        let clip = part.clip.clone().or_else(|| Some(name.clone()));
        let part = ClipPart { clip, range: part.range, mirrored: true };
        Self { index: *index, name: mirrored_name(name, is_taken), part }
    }
}

/// The size of a file, and the time of its last change in nanoseconds since 1970.
fn size_and_time(file: Option<&fs::Metadata>) -> (u64, Option<u64>) {
    let since_1970 = |file: &fs::Metadata| file.modified().ok()?.duration_since(UNIX_EPOCH).ok();
    let nanoseconds = file.and_then(since_1970).and_then(|time| u64::try_from(time.as_nanos()).ok());
    (file.map_or(0, fs::Metadata::len), nanoseconds)
}

/// Reads the size, the time and the clips of a file.
fn read_contents(path: &Path, below: &str, options: &Options) -> Result<(fs::Metadata, Contents), ListError> {
    let mut file = facts::open_regular(path)?;
    let metadata = file.metadata().map_err(ListError::Read)?;
    let mut head = Vec::new();
    (&mut file).take(HEAD).read_to_end(&mut head).map_err(ListError::Read)?;
    let Outline { kind, names, beside } = Outline::read(path, file, head)?;
    if kind == FileFormat::CocosClip && options.rig.is_none() {
        let path = path.display();
        let reason = format!("{path} is a Cocos clip, which has no joints; name a glTF file with --rig");
        return Err(Error::Usage(reason).into());
    }
    let selector = Selector::of_clips(names.iter().map(Option::as_deref));
    let selected: Vec<Vec<usize>> = options.clips.iter().map(|wanted| selector.all(wanted)).collect();
    let wanted: HashSet<usize> = selected.iter().flatten().copied().collect();
    let is_wanted = |index: usize| selected.is_empty() || wanted.contains(&index);
    let output_names = output_names(name_of(below, options), kind, &names);
    let taken: HashSet<&str> = output_names.iter().map(String::as_str).collect();
    let mut clips = Vec::new();
    for (index, name) in output_names.iter().enumerate().filter(|(index, _)| is_wanted(*index)) {
        let part = ClipPart { range: options.frames, ..ClipPart::default() };
        let clip = ListedClip { index, name: name.clone(), part };
        // With cuts, the pieces have mirror images.
        let is_mirrored = options.mirror && options.cuts.is_none();
        let mirror_image = is_mirrored.then(|| clip.mirror_image(|name| taken.contains(name)));
        clips.push(clip);
        clips.extend(mirror_image);
    }
    if options.cuts.is_none() {
        let checked = clips.iter().try_for_each(|clip| check_length(clip, options.format.extension()));
        checked.map_err(|reason| ListError::Content(Error::Usage(reason)))?;
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let beside = beside.iter().map(|below| folder.join(below)).collect();
    let count = names.len();
    let names = if selected.is_empty() && options.cuts.is_none() { Vec::new() } else { names };
    Ok((metadata, Contents { kind, count, clips, refused: Vec::new(), beside, selected, names }))
}

/// A reason that the clips of a file cannot be listed.
enum ListError {
    /// It cannot be read.
    Read(io::Error),
    /// Its content cannot be used.
    Content(Error),
    /// It is an .npz file without a motion of SMPL.
    NoMotion,
}

impl From<Error> for ListError {
    fn from(error: Error) -> Self {
        Self::Content(error)
    }
}

impl ListError {
    /// The error of a file.
    fn of_file(self, path: &Path) -> Error {
        match self {
            Self::Read(source) => Error::Io { file: path.to_path_buf(), source },
            Self::Content(error) => error,
            Self::NoMotion => Error::Usage(format!(
                "{} has no motion of SMPL: none of the arrays poses and pose_body",
                path.display()
            )),
        }
    }
}

/// The parts of a file that are known without its keys.
struct Outline {
    kind: FileFormat,
    /// The names of the clips.
    names: Vec<Option<String>>,
    /// The files that it names, relative to its folder.
    beside: Vec<String>,
}

impl Outline {
    /// Reads the outline of a file. `head` has been read from `file`.
    fn read(path: &Path, mut file: File, head: Vec<u8>) -> Result<Self, ListError> {
        let found = recognize_head(path, &head)?;
        if found == Some(FileFormat::Gltf) {
            return Ok(Self::of_gltf(gltf::Outline::read(path)?));
        }
        let mut bytes = head;
        let kind = match found {
            Some(kind) => kind,
            None => {
                file.read_to_end(&mut bytes).map_err(ListError::Read)?;
                recognize(path, &bytes)?
            }
        };
        let names = match kind {
            FileFormat::Gltf => return Ok(Self::of_gltf(gltf::Outline::from_slice(path, &bytes)?)),
            FileFormat::Crowd => return Ok(Self::of_crowd(path, &bytes)?),
            FileFormat::Fbx => {
                file.read_to_end(&mut bytes).map_err(ListError::Read)?;
                fbx::clip_names(path, &bytes)?
            }
            FileFormat::Smpl if !smpl::has_motion(&mut file).map_err(ListError::Read)? => {
                return Err(ListError::NoMotion);
            }
            FileFormat::Bvh | FileFormat::Smpl => {
                vec![path.file_stem().map(|stem| stem.to_string_lossy().into_owned())]
            }
            FileFormat::CocosClip => vec![None],
        };
        Ok(Self { kind, names, beside: Vec::new() })
    }

    fn of_gltf(outline: gltf::Outline) -> Self {
        Self { kind: FileFormat::Gltf, names: outline.clips, beside: outline.buffers }
    }

    /// The outline of a crowd file, which is loaded for the number of its instances.
    fn of_crowd(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let count = crowd::load(&mut Library::new(), path)?.len();
        if count > MAX_INSTANCES {
            let what = "instances of a crowd file; split it into several".into();
            let (needed, allowed) = (count as u64, MAX_INSTANCES as u64);
            return Err(Error::Limit { what, needed, allowed });
        }
        Ok(Self { kind: FileFormat::Crowd, names: vec![None; count], beside: facts::files_of_crowd(path, bytes)? })
    }
}

/// The names of all clips of a file. `file` is the name of the file.
fn output_names(file: &str, kind: FileFormat, names: &[Option<String>]) -> Vec<String> {
    if names.len() == 1 && kind != FileFormat::Crowd {
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

/// Fails if the name of an output is longer than the name of a file may be.
pub fn check_length(clip: &ListedClip, extension: &str) -> Result<(), String> {
    let ListedClip { index, name, .. } = clip;
    let length = name.len() - name.rfind('/').map_or(0, |slash| slash + 1) + 1 + extension.len();
    if length <= MAX_NAME_BYTES {
        return Ok(());
    }
    Err(format!(
        "clip {index}: the name of its output has {length} bytes, but the name of a file may have {MAX_NAME_BYTES}; rename the clip"
    ))
}
