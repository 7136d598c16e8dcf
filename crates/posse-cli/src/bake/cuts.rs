//! The pieces of the inputs that a list of cuts wants.
//!
//! A row names a file as a data set does: by its path below the INPUT, or by the end of its path, or by a path that
//! ends so; with its extension, without one, or with the extension of another format. The closest fit counts. A path
//! that goes above the INPUT of its file may be the path of another file, so that a file takes rows of one such path
//! only, and a file directly in its INPUT takes rows whose folders are the real ones above it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use posse::import::FileFormat;
use posse::{Error, Selector};

use crate::bake::cut_list::{CutList, CutRow, Piece};
use crate::bake::frames::ClipPart;
use crate::bake::inputs::{Failure, Inputs, ListedClip, ListedFile, check_length, stem};
use crate::bake::options::Options;
use crate::bake::share::Share;

/// The largest number of names that a message lists.
const MAX_LISTED: usize = 5;

/// The largest number of `#` in a row at which the name of a clip may begin.
const MAX_HASHES: usize = 8;

/// The extensions of files with motion or arrays, in data sets and among outputs. They are no part of the name of a
/// piece, and a row may name a file with any of them. All others belong to the name.
const EXTENSIONS: [&str; 22] = [
    "amc", "anim", "asf", "bvh", "c3d", "csv", "fbx", "glb", "gltf", "h5", "hdf5", "json", "mat", "npy", "npz",
    "parquet", "pickle", "pkl", "pt", "trc", "usda", "vrma",
];

/// Replaces the clips of the inputs by the pieces of a list, with their mirror images if `--mirror` is given. Files
/// without a piece become unused. Of several shares, the first alone reports the rows that cannot be used.
///
/// # Errors
/// [`Error::Usage`] if no row has a piece.
pub fn cut(inputs: Inputs, list: &CutList, options: &Options, share: Option<Share>) -> Result<Inputs, Error> {
    let Inputs { files, mut unused, mut failures, lists, mut warnings } = inputs;
    let mut cutter = Cutter::new(&files, &list.rows, options.format.extension());
    let mut messages = Vec::new();
    let mut absent: Vec<&CutRow> = Vec::new();
    for row in &list.rows {
        match cutter.add(row, list.is_data_set) {
            Ok(None) => {}
            Ok(Some(repeat)) => warnings.push(format!("{}: row {}: {repeat}", list.path.display(), row.number)),
            Err(Refusal::NoInput(_)) if list.is_data_set => absent.push(row),
            Err(Refusal::NoInput(reason) | Refusal::Row(reason)) => {
                messages.push(format!("{}: row {} ({}): {reason}", list.path.display(), row.number, row.file));
            }
        }
    }
    if options.mirror {
        cutter.mirror(&list.path.display().to_string(), &mut messages);
    }
    let Cutter { mut pieces, .. } = cutter;
    if pieces.is_empty() {
        let first = messages.first().cloned().unwrap_or_else(|| {
            let names = listed(absent.iter().map(|row| row.file.as_str()));
            format!("{}: none of its takes is among the inputs: {names}", list.path.display())
        });
        let more = messages.len().saturating_sub(1);
        let more = if more > 0 { format!("; no other row has a piece, either ({more} more)") } else { String::new() };
        return Err(Error::Usage(format!("{first}{more}")));
    }
    let path = list.path.display().to_string();
    if share.is_none_or(|share| share.index == 0) {
        failures.extend(messages.into_iter().map(|message| Failure {
            path: path.clone(),
            source: None,
            clip: None,
            message,
        }));
    }
    if !absent.is_empty() {
        let names = listed(absent.iter().map(|row| row.file.as_str()));
        let (count, all) = (absent.len(), list.rows.len());
        warnings.push(format!("{path}: takes that are not among the inputs, {count} of {all}: {names}"));
    }
    let (mut used, mut left_out) = (Vec::new(), Vec::new());
    for (index, mut file) in files.into_iter().enumerate() {
        let own = pieces.remove(&index);
        if let Ok(contents) = &mut file.contents {
            let own = own.as_deref().unwrap_or_default();
            let is_cut = |clip: &&ListedClip| own.iter().any(|piece| piece.index == clip.index);
            left_out.extend(contents.clips.iter().filter(|clip| !is_cut(clip)).map(|clip| clip.name.clone()));
        }
        match own {
            Some(own) => {
                if let Ok(contents) = &mut file.contents {
                    contents.clips = own;
                }
                used.push(file);
            }
            None => unused.push(file),
        }
    }
    if !left_out.is_empty() {
        let names = listed(left_out.iter().map(String::as_str));
        warnings.push(format!("{path}: clips without a row, which are left out: {names}"));
    }
    Ok(Inputs { files: used, unused, failures, lists, warnings })
}

/// The first names of a list, for messages.
fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = match names.len().saturating_sub(MAX_LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", names.take(MAX_LISTED).collect::<Vec<_>>().join(", "))
}

/// The reason that a row has no piece.
enum Refusal {
    /// No input has the name of the row.
    NoInput(String),
    /// The row, its piece or its clip cannot be used.
    Row(String),
}

/// The pieces so far.
struct Cutter<'a> {
    files: &'a [ListedFile],
    /// The files by their names, with and without extension.
    by_name: HashMap<&'a str, Vec<usize>>,
    /// The pieces of each file, in the order of the rows.
    pieces: BTreeMap<usize, Vec<ListedClip>>,
    /// The row of each name.
    names: HashMap<String, usize>,
    /// The paths of rows that go above the INPUT of a file, by the file. Paths of which one ends with the other count
    /// as one.
    longer: HashMap<usize, Vec<String>>,
    /// The extension of the outputs.
    extension: &'a str,
}

impl<'a> Cutter<'a> {
    fn new(files: &'a [ListedFile], rows: &[CutRow], extension: &'a str) -> Self {
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, file) in files.iter().enumerate() {
            let name = last_name(&file.below);
            let names = HashSet::from([name, stem(name)]);
            names.into_iter().for_each(|name| by_name.entry(name).or_default().push(index));
        }
        let (pieces, names, longer) = (BTreeMap::new(), HashMap::new(), HashMap::new());
        let mut cutter = Self { files, by_name, pieces, names, longer, extension };
        rows.iter().for_each(|row| cutter.note_longer(&row.file.replace('\\', "/")));
        cutter
    }

    /// Notes the path of a row that goes above the INPUT of its file.
    fn note_longer(&mut self, path: &str) {
        let Ok(Some(Located { file, path, fit: Fit::Longer(_), .. })) = self.locate(path) else { return };
        let path = format!("/{}", split(path).0.join("/"));
        let known = self.longer.entry(file).or_default();
        match known.iter().position(|known| known.ends_with(&path) || path.ends_with(known)) {
            Some(index) if known[index].len() < path.len() => known[index] = path,
            Some(_) => {}
            None => known.push(path),
        }
    }

    /// Adds the piece of a row. Returns a remark if an earlier row has the same piece.
    fn add(&mut self, row: &CutRow, is_data_set: bool) -> Result<Option<String>, Refusal> {
        let Piece { range, name } = row.piece.clone().map_err(Refusal::Row)?;
        let (file, clip) = self.find(&row.file)?;
        let Some(clip) = clip else {
            // The file cannot be read, which is reported as its failure.
            self.pieces.entry(file).or_default();
            return Ok(None);
        };
        let name = match &name {
            Some(name) => output_name(name).map_err(Refusal::Row)?,
            None if is_data_set || range.is_whole() => clip.name.clone(),
            None => format!("{}@{}", clip.name, range.to_string().replace(':', "-")),
        };
        let own = Some(clip.name.clone()).filter(|own| *own != name);
        let piece = ListedClip { index: clip.index, name, part: ClipPart { clip: own, range, mirrored: false } };
        check_length(&piece, self.extension).map_err(Refusal::Row)?;
        if let Some(earlier) = self.names.get(&piece.name) {
            let is_same =
                |other: &ListedClip| (other.index, &other.name, &other.part) == (piece.index, &piece.name, &piece.part);
            let same = self.pieces.get(&file).is_some_and(|pieces| pieces.iter().any(is_same));
            return if same {
                Ok(Some(format!("it repeats row {earlier}, and is left out")))
            } else {
                Err(Refusal::Row(format!(
                    "the name of its output, {}, is that of row {earlier}; give each piece a name of its own",
                    piece.name
                )))
            };
        }
        self.names.insert(piece.name.clone(), row.number);
        self.pieces.entry(file).or_default().push(piece);
        Ok(None)
    }

    /// Adds the mirror image of each piece, after it, under a name that no row has. A name that is too long becomes one
    /// of the messages.
    fn mirror(&mut self, list: &str, messages: &mut Vec<String>) {
        let (names, extension) = (&self.names, self.extension);
        for own in self.pieces.values_mut() {
            for piece in std::mem::take(own) {
                let image = piece.mirror_image(|name| names.contains_key(name));
                let row = names[&piece.name];
                own.push(piece);
                match check_length(&image, extension) {
                    Ok(()) => own.push(image),
                    Err(reason) => messages.push(format!("{list}: row {row}: mirror image: {reason}")),
                }
            }
        }
    }

    /// The file and the clip that a row names; no clip if the file cannot be read. The name of a clip of several
    /// follows after `#`.
    fn find(&self, text: &str) -> Result<(usize, Option<&'a ListedClip>), Refusal> {
        let path = text.replace('\\', "/");
        let Some(Located { file, clip, fit, .. }) = self.locate(&path)? else {
            return Err(self.no_input(path.rsplit_once('#').map_or(path.as_str(), |(path, _)| path)));
        };
        if let Some(several) = self.longer.get(&file).filter(|paths| matches!(fit, Fit::Longer(_)) && paths.len() > 1) {
            let below = &self.files[file].below;
            let folders = listed(several.iter().map(|path| path.trim_start_matches('/')));
            return Err(Refusal::Row(format!(
                "the input {below} fits rows of several folders: {folders}; give the folder above them as INPUT"
            )));
        }
        let found = &self.files[file];
        let Ok(contents) = &found.contents else { return Ok((file, None)) };
        if contents.kind == FileFormat::Crowd {
            let reason = "it is a crowd file, which has a clock and no frames; bake it apart, without --cuts";
            return Err(Refusal::Row(reason.into()));
        }
        // The name of a clip may have the extension of its file.
        let names = [found.below.as_str(), stem(&found.below)];
        let own = |clip: &'a ListedClip| names.iter().find_map(|name| clip.name.strip_prefix(name)?.strip_prefix('#'));
        match (clip, contents.clips.as_slice()) {
            (None, [only]) => Ok((file, Some(only))),
            (None, []) => Err(Refusal::Row("the file has no clip that is wanted".into())),
            (None, clips) => {
                let names = clips.iter().map(|clip| own(clip).unwrap_or(&clip.name));
                Err(Refusal::Row(format!("the file has several clips; add #CLIP to its name: {}", listed(names))))
            }
            (Some(name), clips) => {
                // The name of an output comes first.
                if let Some(clip) = clips.iter().find(|clip| own(clip) == Some(name)) {
                    return Ok((file, Some(clip)));
                }
                let names = Selector::of_clips(contents.names.iter().map(Option::as_deref));
                let wanted = match names.all(name).as_slice() {
                    [] => None,
                    _ => Some(names.one(name).map_err(|error| Refusal::Row(error.to_string()))?),
                };
                let listed_names = || listed(clips.iter().map(|clip| own(clip).unwrap_or("0")));
                let missing =
                    || Refusal::Row(format!("the file has no clip {name:?} that is wanted, only {}", listed_names()));
                let clip = clips.iter().find(|clip| Some(clip.index) == wanted);
                clip.map(|clip| (file, Some(clip))).ok_or_else(missing)
            }
        }
    }

    /// The file that a row names; `None` if no file fits.
    fn locate<'p>(&self, path: &'p str) -> Result<Option<Located<'p>>, Refusal> {
        if let Some((file, fit)) = self.find_file(path)? {
            return Ok(Some(Located { file, path, clip: None, fit }));
        }
        // The name of a clip may have `#` in it, as NAME#K has.
        for (at, _) in path.rmatch_indices('#').take(MAX_HASHES) {
            let (path, clip) = (&path[..at], &path[at + 1..]);
            if let Some((file, fit)) = self.find_file(path)? {
                return Ok(Some(Located { file, path, clip: Some(clip), fit }));
            }
        }
        Ok(None)
    }

    /// The file that fits a path best; `None` if none fits.
    fn find_file(&self, path: &str) -> Result<Option<(usize, Fit)>, Refusal> {
        let (folders, name) = split(path);
        let none = Vec::new();
        let by_name = |name: &str| self.by_name.get(name).unwrap_or(&none);
        // A name with its own extension, or without one, comes before one with the extension of another format.
        let fits = |candidates: &[usize]| -> Vec<(Fit, usize)> {
            let fit = |&index: &usize| Some((Fit::new(&self.files[index], &folders)?, index));
            candidates.iter().filter_map(fit).collect()
        };
        let mut found = fits(by_name(name));
        if found.is_empty() && has_known_extension(name) {
            found = fits(by_name(stem(name)));
        }
        found.sort();
        let Some(&(fit, _)) = found.last() else { return Ok(None) };
        let best: Vec<usize> = found.iter().filter(|(other, _)| *other == fit).map(|(_, index)| *index).collect();
        match best.as_slice() {
            [only] => Ok(Some((*only, fit))),
            several => {
                let paths: Vec<String> =
                    several.iter().map(|&index| self.files[index].path.display().to_string()).collect();
                let names = listed(paths.iter().map(String::as_str));
                Err(Refusal::Row(format!("it fits several inputs: {names}; write more of the path")))
            }
        }
    }

    /// The refusal of a path that no input has. The inputs whose names begin like its own are listed first.
    fn no_input(&self, path: &str) -> Refusal {
        let wanted = last_name(path).to_lowercase();
        let common = |file: &&ListedFile| {
            let name = last_name(&file.below).to_lowercase();
            Reverse(name.chars().zip(wanted.chars()).take_while(|(one, other)| one == other).count())
        };
        let mut files: Vec<&ListedFile> = self.files.iter().collect();
        files.sort_by_cached_key(common);
        let names = listed(files.iter().map(|file| file.below.as_str()));
        let what = if self.by_name.contains_key(last_name(path)) { "path" } else { "name" };
        Refusal::NoInput(format!("no input has this {what}; the inputs are {names}"))
    }
}

/// The file of a row.
struct Located<'p> {
    file: usize,
    /// The path of the row, without the name of a clip.
    path: &'p str,
    /// The name of a clip, after `#`.
    clip: Option<&'p str>,
    fit: Fit,
}

/// How well the folders of a row fit the folders of a file. Later ones fit better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The folders of the row end with the folders of the file below its INPUT, of which there are so many, at least 1.
    Longer(usize),
    /// The path of the file ends with the folders of the row. For a file directly in its INPUT, this may be the real
    /// path.
    Shorter,
    /// The folders are the folders of the file below its INPUT.
    Exact,
}

impl Fit {
    fn new(file: &ListedFile, folders: &[&str]) -> Option<Self> {
        let (below, _) = split(&file.below);
        let path = file.path.to_string_lossy().replace('\\', "/");
        let (above, _) = split(&path);
        if below == folders {
            Some(Self::Exact)
        } else if above.ends_with(folders) {
            Some(Self::Shorter)
        } else if below.is_empty() {
            // The folders of the row lie above the INPUT, where only the real path tells if the file has them.
            let folder = file.path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
            let folder = folder.to_string_lossy().replace('\\', "/");
            let (mut real, last) = split(&folder);
            real.push(last);
            real.ends_with(folders).then_some(Self::Shorter)
        } else {
            folders.ends_with(&below).then_some(Self::Longer(below.len()))
        }
    }
}

/// The folders of a path, and its last name.
fn split(path: &str) -> (Vec<&str>, &str) {
    let mut names: Vec<&str> = path.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    let name = names.pop().unwrap_or_default();
    (names, name)
}

fn last_name(path: &str) -> &str {
    split(path).1
}

/// Returns `true` for a path with one of the [`EXTENSIONS`].
fn has_known_extension(path: &str) -> bool {
    let extension = last_name(path).rsplit_once('.').map_or("", |(_, extension)| extension);
    EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// The path of an output below OUT that a row names.
fn output_name(name: &str) -> Result<String, String> {
    let path = name.replace('\\', "/");
    let path = if has_known_extension(&path) { stem(&path) } else { &path };
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(format!("the name of its output is {name:?}; expected a path below OUT"));
    }
    if path.contains(char::is_control) {
        return Err(format!("the name of its output is {name:?}; expected a name without control characters"));
    }
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::bake::inputs::Contents;

    use super::*;

    fn file(path: &str, below: &str, clips: &[&str]) -> ListedFile {
        let names = clips.iter().map(|clip| Some((*clip).to_owned())).collect();
        let name = |clip: &&str| if clip.is_empty() { stem(below).into() } else { format!("{}#{clip}", stem(below)) };
        let listed = |(index, name)| ListedClip { index, name, part: ClipPart::default() };
        let clips = clips.iter().map(name).enumerate().map(listed).collect::<Vec<_>>();
        let (count, kind) = (clips.len(), FileFormat::Bvh);
        let (refused, beside, selected) = (Vec::new(), Vec::new(), Vec::new());
        let contents = Contents { kind, count, clips, refused, beside, selected, names };
        ListedFile { path: path.into(), below: below.into(), size: 1, modified: None, contents: Ok(contents) }
    }

    #[test]
    fn a_row_names_a_file_by_the_closest_fit() {
        let files = [
            file("in/walk.bvh", "walk.bvh", &[""]),
            file("in/more/walk.bvh", "more/walk.bvh", &[""]),
            file("in/more/run.001.bvh", "more/run.001.bvh", &[""]),
            file("in/a/both.bvh", "a/both.bvh", &[""]),
            file("in/b/both.bvh", "b/both.bvh", &[""]),
            file("in/lift.gltf", "lift.gltf", &["rise", "fall"]),
            file("in/odd#1.bvh", "odd#1.bvh", &[""]),
        ];
        let cutter = Cutter::new(&files, &[], "npz");
        let find = |text: &str| match cutter.find(text) {
            Ok((file, clip)) => format!("{file} {}", clip.unwrap().name),
            Err(Refusal::NoInput(reason) | Refusal::Row(reason)) => reason,
        };
        for (text, expected) in [
            ("walk.bvh", "0 walk"),
            ("walk", "0 walk"),
            ("./walk.npy", "0 walk"),
            ("in/walk.bvh", "0 walk"),
            ("more/walk", "1 more/walk"),
            ("in\\more\\walk.bvh", "1 more/walk"),
            ("/data/set/more/walk.bvh", "1 more/walk"),
            ("walk.PKL", "0 walk"),
            ("run.001", "2 more/run.001"),
            ("run.001.fbx", "2 more/run.001"),
            ("a/both", "3 a/both"),
            ("lift.gltf#fall", "5 lift#fall"),
            ("lift#0", "5 lift#rise"),
            ("lift.npy#rise", "5 lift#rise"),
            ("lift##1", "5 lift#fall"),
            ("lift.gltf#fall#0", "5 lift#fall"),
            ("odd#1.bvh", "6 odd#1"),
            ("odd#1", "6 odd#1"),
        ] {
            assert_eq!(find(text), expected, "{text}");
        }
        for (text, reason) in [
            ("both.bvh", "it fits several inputs: in/a/both.bvh, in/b/both.bvh; write more of the path"),
            ("lift.gltf", "the file has several clips; add #CLIP to its name: rise, fall"),
            ("lift#wave", "the file has no clip \"wave\" that is wanted, only rise, fall"),
            ("walk.001", "no input has this name; the inputs are walk.bvh, more/walk.bvh, "),
            ("other/walk.bvh", "no input has this path; the inputs are walk.bvh, more/walk.bvh, "),
            ("Walk.bvh", "no input has this name; the inputs are walk.bvh, more/walk.bvh, "),
            ("other/run.001", "no input has this path; the inputs are more/run.001.bvh, walk.bvh, "),
        ] {
            assert!(find(text).starts_with(reason), "{text}: {}", find(text));
        }
    }

    #[test]
    fn names_of_outputs_stay_below_out() {
        for (name, expected) in [
            ("000017.npy", Ok("000017")),
            ("a/b", Ok("a/b")),
            ("a\\b.BVH", Ok("a/b")),
            ("v1.2", Ok("v1.2")),
            ("a.c3d", Ok("a")),
            ("a\nb", Err(())),
            ("a\u{7f}", Err(())),
            ("../a", Err(())),
            ("/a", Err(())),
            ("a//b", Err(())),
        ] {
            assert_eq!(output_name(name).map_err(|_| ()), expected.map(str::to_owned), "{name}");
        }
    }
}
