//! The names and places of the outputs, checked before anything is baked.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use posse::Error;
use posse::import::FileFormat;

use crate::bake::format::packed::MERGED;
use crate::bake::format::{Format, part_name};
use crate::bake::inputs::{Inputs, ListedFile, RefusedClip, name_of, resolve, stem};
use crate::bake::options::{Options, ReadFile};
use crate::bake::share::Share;
use crate::bake::{crowd, job, manifest, merge, plan, shards_file};
use crate::threads::map;

/// The largest number of files that a message lists.
const MAX_LISTED: usize = 5;

/// A file that a bake writes.
struct BakedFile<'a> {
    /// The path below OUT, with `/` between folders.
    below: String,
    /// The file that it is made from; `None` for a file of the whole bake.
    source: Option<&'a Path>,
}

impl BakedFile<'_> {
    /// The folders of the path below OUT, from the lowest one up.
    fn folders(&self) -> impl Iterator<Item = &str> {
        self.below.rmatch_indices('/').map(|(end, _)| &self.below[..end])
    }

    /// The output of a file, for messages.
    fn text(&self) -> String {
        match self.source {
            Some(source) => format!("the output {} of {}", self.below, source.display()),
            None => format!("the output {}", self.below),
        }
    }
}

/// A name that several clips have.
#[derive(Default)]
struct RepeatedName {
    /// The indices of their files.
    files: Vec<usize>,
    /// `true` if one of them is a mirror image.
    mirrored: bool,
}

/// Makes bad inputs of clips whose outputs cannot be there beside others. An output depends on its own file and the
/// options alone, so that none of several clips of one name gets it. A clip whose output would be a folder of other
/// outputs makes way for them, and so do the clips in a folder that would be a file of the bake.
///
/// Clips that were refused before count as well, so that a second call changes nothing.
pub fn refuse_clashes(files: &mut [ListedFile], options: &Options) {
    let mut messages: HashMap<usize, HashMap<String, String>> = HashMap::new();
    for (index, name, message) in clips_in_place_of_others(files, options) {
        messages.entry(index).or_default().insert(name, message);
    }
    for (name, repeat) in repeated_names(files, options) {
        for &index in &repeat.files {
            let message = repeated_message(files, index, &name, &repeat);
            messages.entry(index).or_default().insert(name.clone(), message);
        }
    }
    for (index, mut of_file) in messages {
        let file = &mut files[index];
        let Ok(contents) = &mut file.contents else { continue };
        if contents.kind == FileFormat::Crowd
            && let Some(message) = of_file.remove(name_of(&file.below, options))
        {
            file.contents = Err(message);
            continue;
        }
        for clip in std::mem::take(&mut contents.clips) {
            match of_file.remove(&clip.name) {
                Some(message) => contents.refused.push(RefusedClip { name: clip.name, message }),
                None => contents.clips.push(clip),
            }
        }
    }
}

/// The names of the clips of a file, with true for mirror images. A crowd file may have an output of its own besides
/// the files of its instances.
fn names<'a>(file: &'a ListedFile, options: &Options) -> impl Iterator<Item = (&'a str, bool)> {
    let is_crowd = file.contents.as_ref().is_ok_and(|contents| contents.kind == FileFormat::Crowd);
    let own = is_crowd.then(|| (name_of(&file.below, options), false));
    let refused = file.refused().iter().map(|refused| (refused.name.as_str(), false));
    file.clips().iter().map(|clip| (clip.name.as_str(), clip.part.mirrored)).chain(refused).chain(own)
}

/// The clips whose output would be a folder of other outputs, or be in a folder that is a file of the bake: the indices
/// of their files, their names and the errors.
fn clips_in_place_of_others(files: &[ListedFile], options: &Options) -> Vec<(usize, String, String)> {
    if options.format.is_per_share() {
        return Vec::new();
    }
    let mut folders: HashMap<&str, &Path> = HashMap::new();
    for file in files {
        for (name, _) in names(file, options) {
            for (end, _) in name.rmatch_indices('/') {
                // The folders above a known one are known too.
                if folders.insert(&name[..end], &file.path).is_some() {
                    break;
                }
            }
        }
    }
    let mut found = Vec::new();
    for (index, file) in files.iter().enumerate() {
        let own = crowd::reference_output(options, file).map(|_| name_of(&file.below, options));
        for name in file.clips().iter().map(|clip| clip.name.as_str()).chain(own) {
            let output = options.format.output(name);
            let of_bake = name.split_once('/').map(|(folder, _)| folder).filter(|folder| is_reserved(folder, options));
            let reason = match (folders.get(output.as_str()), of_bake) {
                (Some(other), _) => format!("has the place of a folder of the outputs of {}", other.display()),
                (None, Some(of_bake)) => format!("has a folder in the place of {of_bake}, which posse writes itself"),
                (None, None) => continue,
            };
            let path = file.path.display();
            let message = format!("{path}: its output {output} {reason}; rename one of the input files or folders");
            found.push((index, name.to_owned(), message));
        }
    }
    found
}

/// The names that several clips have.
fn repeated_names(files: &[ListedFile], options: &Options) -> HashMap<String, RepeatedName> {
    let names = || {
        let indexed = files.iter().enumerate();
        indexed.flat_map(move |(index, file)| names(file, options).map(move |(name, mirrored)| (index, name, mirrored)))
    };
    let mut known = HashSet::new();
    let repeats = names().filter(|(_, name, _)| !known.insert(*name));
    let mut repeated: HashMap<String, RepeatedName> =
        repeats.map(|(_, name, _)| (name.to_owned(), RepeatedName::default())).collect();
    for (index, name, mirrored) in names() {
        if let Some(name) = repeated.get_mut(name) {
            name.files.push(index);
            name.mirrored |= mirrored;
        }
    }
    repeated
}

/// The message for a file with a clip whose name clips of other files have.
fn repeated_message(files: &[ListedFile], index: usize, name: &str, repeat: &RepeatedName) -> String {
    let file = &files[index];
    let others = repeat.files.iter().filter(|other| **other != index).map(|&other| &files[other]);
    let others: Vec<&ListedFile> = others.take(MAX_LISTED).collect();
    let paths: Vec<String> = others.iter().map(|other| other.path.display().to_string()).collect();
    let more = match repeat.files.len().saturating_sub(1 + others.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let both = if others.len() > 1 { "all" } else { "both" };
    let mirrored = if repeat.mirrored { ", as a clip or as a mirror image" } else { "" };
    let has_other_extension =
        |other: &&ListedFile| other.below != file.below && stem(&other.below) == stem(&file.below);
    let hint = match others.iter().all(has_other_extension) {
        true => "keep the extensions in the names (--keep-extension), or rename a file",
        false => "rename a file, or give the folder above them as INPUT",
    };
    format!(
        "{} and {}{more} {both} have a clip of the name {name}, and with it one output{mirrored}, which none of them \
         gets; {hint}",
        file.path.display(),
        paths.join(", ")
    )
}

/// Fails if an output of any share would replace a file that the bake reads, or if its place is taken for good: by a
/// folder, or by a file where a folder is needed. All tasks of a bake with shares find the same.
pub fn check(
    out: &Path,
    inputs: &Inputs,
    options: &Options,
    share: Option<Share>,
    threads: usize,
) -> Result<(), Error> {
    check_folders_of_out(out)?;
    // An output that is not there yet replaces nothing.
    let Some(canonical_out) = resolve(out).filter(|out| out.exists()) else { return Ok(()) };
    let out = if out.exists() { out } else { &canonical_out };
    let read = read_files(inputs, options);
    let places = map(threads, &read, |file| file.path.canonicalize().ok());
    for (file, place) in read.iter().zip(&places) {
        let Some(place) = place else { continue };
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        if place.parent() == Some(&canonical_out) && is_reserved(&name, options) {
            let (role, path, out) = (file.role, file.path.display(), out.display());
            return Err(Error::Usage(format!(
                "{path}: {role} has a name in {out} that posse writes itself; move the file, or give another OUT"
            )));
        }
    }
    let by_place: HashMap<&Path, &ReadFile> =
        places.iter().zip(&read).filter_map(|(place, file)| Some((place.as_deref()?, file))).collect();
    let outputs = outputs(&inputs.files, options, share);
    check_folders_below(out, &outputs)?;
    let checked = map(threads, &outputs, |output| check_place(out, output, &by_place));
    checked.into_iter().collect()
}

/// The outputs of all clips, and the files of the bake.
fn outputs<'a>(files: &'a [ListedFile], options: &Options, share: Option<Share>) -> Vec<BakedFile<'a>> {
    let of_bake = |below: String| BakedFile { below, source: None };
    let Share { index, count } = share.unwrap_or(Share { index: 0, count: 1 });
    let mut outputs = vec![of_bake(job::failures_name(index)), of_bake(manifest::name(index))];
    if share.is_some() {
        outputs.push(of_bake(shards_file::NAME.into()));
    }
    if options.format.is_per_share() {
        outputs.push(of_bake(part_name(Share { index, count }, 0, options.format.extension())));
        if options.format == Format::Packed {
            outputs.extend([merge::INDEX, merge::TABLE, MERGED].map(|name| of_bake(name.into())));
        }
        return outputs;
    }
    for file in files {
        let source = Some(file.path.as_path());
        let clips = file.clips().iter().map(|clip| options.format.output(&clip.name));
        let reference = crowd::reference_output(options, file);
        outputs.extend(clips.chain(reference).map(|below| BakedFile { below, source }));
    }
    outputs
}

/// The files that a bake reads: inputs with the files that they name, and the files of the options.
fn read_files(inputs: &Inputs, options: &Options) -> Vec<ReadFile> {
    let mut read: Vec<ReadFile> = Vec::new();
    for file in inputs.files.iter().chain(&inputs.unused) {
        read.push(ReadFile { role: "the input", path: file.path.clone() });
        let beside = file.contents.as_ref().map_or(&[][..], |contents| &contents.beside);
        read.extend(beside.iter().map(|path| ReadFile { role: "a file that an input names", path: path.clone() }));
    }
    read.extend(inputs.lists.iter().map(|path| ReadFile { role: "the list of inputs", path: path.clone() }));
    read.extend_from_slice(&options.read_files);
    read
}

/// Returns `true` for the names of the files in OUT that do not belong to one clip, of any share.
fn is_reserved(name: &str, options: &Options) -> bool {
    let is_number = |text: &str| text.len() >= 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_part = || {
        let name = name.strip_prefix("part-").and_then(|name| name.strip_suffix(options.format.extension()));
        let name = name.and_then(|name| name.strip_suffix('.'));
        name.and_then(|name| name.split_once("-of-")).is_some_and(|(share, _)| is_number(share))
    };
    let is_merged = || merge::is_rig(name) || [merge::INDEX, merge::TABLE, MERGED].contains(&name);
    name == shards_file::NAME
        || name == plan::NAME
        || job::is_failures(name)
        || manifest::is_manifest(name)
        || options.format.is_per_share() && is_part()
        || options.format == Format::Packed && is_merged()
}

/// Fails if OUT, or the lowest folder above it that is there, is a file.
fn check_folders_of_out(out: &Path) -> Result<(), Error> {
    match out.ancestors().find(|path| path.exists()) {
        Some(path) if !path.is_dir() => {
            Err(Error::Usage(format!("{}: OUT is not a folder; give the path of a folder with -o", path.display())))
        }
        _ => Ok(()),
    }
}

/// Fails if a file stands where a folder of the outputs is needed.
fn check_folders_below(out: &Path, outputs: &[BakedFile]) -> Result<(), Error> {
    let mut known = HashSet::new();
    for output in outputs {
        for folder in output.folders() {
            // The folders above a known one are known too.
            if !known.insert(folder) {
                break;
            }
            let place = out.join(folder);
            if fs::metadata(&place).is_ok_and(|file| !file.is_dir()) {
                let (place, text) = (place.display(), output.text());
                return Err(Error::Usage(format!(
                    "{place}: a file stands in the place of a folder of {text}; remove the file, or give another OUT"
                )));
            }
        }
    }
    Ok(())
}

/// Fails if the place of an output is a folder, or one of the files that are read.
fn check_place(out: &Path, output: &BakedFile, read: &HashMap<&Path, &ReadFile>) -> Result<(), Error> {
    let place = out.join(&output.below);
    let (shown, text) = (place.display(), output.text());
    match place.canonicalize() {
        Ok(canonical) if canonical.is_dir() => Err(Error::Usage(format!(
            "{shown}: a folder stands in the place of {text}; remove the folder, or give another OUT"
        ))),
        Ok(canonical) => match read.get(canonical.as_path()) {
            Some(ReadFile { role, path }) => {
                Err(Error::Usage(format!("{shown}: {text} would replace {role} {}; give another OUT", path.display())))
            }
            None => Ok(()),
        },
        Err(_) => Ok(()),
    }
}
