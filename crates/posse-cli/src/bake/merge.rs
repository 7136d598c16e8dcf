//! The last step of the format packed: the parts of all shares become the files of the rigs and the index.
//!
//! Clips are sorted by name, so that the files have the same bytes whatever the shares were. All files are written as
//! drafts first. Then the index of an earlier merge is removed, the files of the rigs get their names, and the index
//! comes last: an index that is there always describes the files beside it. The parts go at the end. A merge that was
//! killed before the index was there is made anew from the parts. `merged.json`, a copy of `shards.json`, tells a later
//! merge that the missing parts were merged, and the others, too: a share that is baked again removes it.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use posse::Error;

use crate::Outcome;
use crate::bake::draft::DraftTag;
use crate::bake::facts::{VERSION, different_options};
use crate::bake::format::packed::{
    BUFFER, EXTENSION, IndexLine, MERGED, PackedClip, PackedRig, PartHead, PartList, parents_tensor, read_blocks,
    remove, write_line,
};
use crate::bake::format::{index_table, part_name};
use crate::bake::manifest::{ListedOutputs, ListedSource, Manifest};
use crate::bake::progress::MinuteClock;
use crate::bake::shards_file::{self, ShardsFile};
use crate::bake::share::Share;
use crate::draft::Draft;
use crate::invocation::command_line;
use crate::output::{note, plural};
use crate::safetensors;

/// The index: a line of JSON per clip, in the order of their names.
pub const INDEX: &str = "index.jsonl";

/// The index as a Parquet file.
pub const TABLE: &str = "index.parquet";

/// The extension of the files of rigs.
const RIG_EXTENSION: &str = "safetensors";

/// The largest number of parts, or of files of rigs, that are open at a time.
pub const MAX_OPEN: usize = 128;

/// The largest number of shares that a message lists.
const MAX_LISTED: usize = 10;

/// Returns `true` for the name of the file of a rig: `rig-NAME-JOINTS-DIGITS.safetensors`.
pub fn is_rig(name: &str) -> bool {
    let name = name.strip_prefix("rig-").and_then(|name| name.strip_suffix(RIG_EXTENSION)?.strip_suffix('.'));
    let mut parts = name.into_iter().flat_map(|name| name.rsplitn(3, '-'));
    let (Some(digits), Some(joints), Some(_)) = (parts.next(), parts.next(), parts.next()) else { return false };
    digits.len() == 16
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        && !joints.is_empty()
        && joints.bytes().all(|byte| byte.is_ascii_digit())
}

/// The path of an index that is not as a merge has written it, and the reason; `None` if all that are there are.
pub fn index_error(out: &Path, listed: &ListedOutputs) -> Option<(PathBuf, String)> {
    let mut there = [INDEX, TABLE].into_iter().map(|name| (name, out.join(name))).filter(|(_, path)| path.exists());
    there.find_map(|(name, path)| Some((path, listed.error_of_output(name)?)))
}

/// The names of the files of rigs that an index describes, in order. Without an index, there are none.
pub fn rig_names(out: &Path) -> Vec<String> {
    if out.join(INDEX).is_file() { all_rig_names(out) } else { Vec::new() }
}

/// The names of all files of rigs in a folder, in order.
fn all_rig_names(out: &Path) -> Vec<String> {
    let entries = fs::read_dir(out).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_rig(name)).collect();
    names.sort();
    names
}

/// Runs `posse bake --merge OUT`.
pub fn run(out: &Path) -> Result<Outcome, Error> {
    if !out.is_dir() {
        return Err(Error::Usage(format!("--merge {}: there is no such folder", out.display())));
    }
    let tag = DraftTag::new(None);
    tag.remove_dead(out);
    match merge(out, ShardsFile::read(out).as_ref(), &tag) {
        Ok(summary) => {
            note(&format!("{}: {summary}", out.display()));
            Ok(Outcome::Passed)
        }
        Err(error) => {
            note(&format!("error: {error}"));
            Ok(Outcome::Failed)
        }
    }
}

/// Removes the part of a bake without shares, which has been merged.
pub fn remove_part(out: &Path) -> Result<(), Error> {
    remove(&out.join(part_name(Share { index: 0, count: 1 }, 0, EXTENSION)))
}

/// Merges the parts of the shares of a list; `None` for a bake without shares. Returns what was done, as a text.
///
/// # Errors
/// [`Error::Usage`] if parts are missing, or were not made for one bake. [`Error::Io`] for a part that is damaged, and
/// for files that cannot be read or written.
pub fn merge(out: &Path, list: Option<&ShardsFile>, tag: &DraftTag) -> Result<String, Error> {
    let count = list.map_or(1, |list| list.shards);
    let paths: Vec<PathBuf> =
        (0..count).map(|index| out.join(part_name(Share { index, count }, 0, EXTENSION))).collect();
    let missing: Vec<usize> = (0..paths.len()).filter(|&share| !paths[share].is_file()).collect();
    if missing.is_empty() {
        return Merge::read(out, paths, list)?.write(out, list.is_some(), tag);
    }
    if !is_merged(out, list.is_some())? {
        return Err(Error::Usage(missing_parts(out, &missing, count)));
    }
    // An earlier merge was killed before it had removed all of them.
    paths.iter().try_for_each(|path| remove(path))?;
    Ok(format!("the shares are merged already: {INDEX}"))
}

/// The message that the parts of some shares are missing.
fn missing_parts(out: &Path, missing: &[usize], count: u32) -> String {
    let bake = command_line(&["bake", "INPUTS", "--format", "packed", "-o", &out.to_string_lossy()]);
    let out = out.display();
    if count == 1 {
        return format!("{out}: there is no part to merge; run {bake} first");
    }
    let listed: Vec<String> = missing.iter().take(MAX_LISTED).map(|share| format!("{share}/{count}")).collect();
    let more = match missing.len().saturating_sub(listed.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (number, listed) = (missing.len(), listed.join(", "));
    format!(
        "{out}: {number} of {count} shares have no part: {listed}{more}; bake them with --format packed \
         --shard I/{count} --resume"
    )
}

/// Returns `true` if the index belongs to the shares of the folder, or of its bake without shares.
pub fn is_merged(out: &Path, has_shares: bool) -> Result<bool, Error> {
    if !out.join(INDEX).is_file() {
        return Ok(false);
    }
    let merged = read_if_there(&out.join(MERGED))?;
    Ok(merged == if has_shares { read_if_there(&out.join(shards_file::NAME))? } else { None })
}

/// The bytes of a file; `None` if it is not there.
fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::Io { file: path.to_path_buf(), source }),
    }
}

/// The parts that are merged.
struct Merge {
    paths: Vec<PathBuf>,
    stamps: Vec<Stamp>,
    head: PartHead,
    rigs: Vec<MergedRig>,
    /// The clips in the order of their names.
    clips: Vec<MergedClip>,
}

/// The size of a part and the time of its last change, which tell if a share has replaced it.
type Stamp = (u64, Option<SystemTime>);

fn stamps(paths: &[PathBuf]) -> Result<Vec<Stamp>, Error> {
    let stamp = |path: &PathBuf| {
        let file = fs::metadata(path).map_err(|error| failed(path, error))?;
        Ok((file.len(), file.modified().ok()))
    };
    paths.iter().map(stamp).collect()
}

/// A rig of all parts.
struct MergedRig {
    rig: PackedRig,
    /// The name of its file.
    file: String,
    rows: u64,
    /// The indices of its clips.
    clips: Vec<usize>,
    /// The indices of the rest poses, by their digits.
    rests: HashMap<String, u64>,
    /// A place of each rest pose.
    rest_places: Vec<Place>,
}

/// A clip in a part.
struct MergedClip {
    /// The index of its rig among the rigs of all parts.
    rig: usize,
    place: Place,
    first_row: u64,
    rest: u64,
    /// The clip in its part.
    packed: PackedClip,
}

/// A place in the part of a share.
#[derive(Clone, Copy)]
struct Place {
    share: usize,
    offset: u64,
}

impl Merge {
    /// Reads the lists of the parts, and sorts their clips.
    fn read(out: &Path, paths: Vec<PathBuf>, shares: Option<&ShardsFile>) -> Result<Self, Error> {
        let stamps = stamps(&paths)?;
        let (mut head, mut rigs, mut known, mut clips) = (None, Vec::new(), HashMap::new(), Vec::new());
        for (share, path) in paths.iter().enumerate() {
            let list = PartList::read(path)?;
            let head: &PartHead = head.get_or_insert_with(|| list.head.clone());
            if let Some(difference) = difference(&list.head, head, shares) {
                let path = path.display();
                return Err(Error::Usage(format!("{path}: {difference}; bake its share again, as the others")));
            }
            let mut indices = Vec::with_capacity(list.head.rigs.len());
            for rig in list.head.rigs {
                let file = format!("{}.{RIG_EXTENSION}", rig.name());
                indices.push(*known.entry(file.clone()).or_insert_with(|| {
                    rigs.push(MergedRig::new(rig, file));
                    rigs.len() - 1
                }));
            }
            for packed in list.clips {
                // The list has been checked.
                let Some(&rig) = indices.get(packed.rig) else { continue };
                let place = Place { share, offset: packed.offset };
                clips.push(MergedClip { rig, place, first_row: 0, rest: 0, packed });
            }
        }
        clips.sort_by(|a, b| a.name().cmp(b.name()));
        if let Some(pair) = clips.windows(2).find(|pair| pair[0].name() == pair[1].name()) {
            let [first, second] = [&pair[0], &pair[1]].map(|clip| paths[clip.place.share].display());
            let name = pair[0].name();
            return Err(Error::Usage(format!(
                "{first} and {second}: both have the clip {name}; bake the shares again"
            )));
        }
        for (index, clip) in clips.iter_mut().enumerate() {
            rigs[clip.rig].add(index, clip);
        }
        let Some(head) = head else { return Err(Error::Usage(missing_parts(out, &[], 1))) };
        Ok(Self { paths, stamps, head, rigs, clips })
    }

    /// Writes the files, and removes the parts.
    fn write(self, out: &Path, has_shares: bool, tag: &DraftTag) -> Result<String, Error> {
        let Self { paths, stamps: before, head, rigs, clips } = self;
        let frames: u64 = rigs.iter().map(|rig| rig.rows).sum();
        let counts = [(clips.len(), "clip"), (rigs.len(), "rig"), (frames as usize, "frame")];
        let [count, of, frames] = counts.map(|(count, noun)| plural(count, noun));
        let summary = format!("{count} of {of}, {frames}");
        let mut parts = MergedParts::new(&paths, before.iter().map(|(bytes, _)| bytes).sum());
        let mut drafts = Vec::with_capacity(rigs.len());
        for rig in &rigs {
            let mut draft = tag.create(&out.join(&rig.file))?;
            rig.write(&head, &clips, &mut parts, &mut draft)?;
            // A library may have more rigs than a process has files.
            draft.close()?;
            drafts.push(draft);
        }
        // Some systems do not remove open files.
        drop(parts);
        let mut index = tag.create(&out.join(INDEX))?;
        index_lines(&clips, &rigs).try_for_each(|line| write_line(&mut index, &line).map(drop))?;
        index.close()?;
        let table = index_table(|| tag.create(&out.join(TABLE)), index_lines(&clips, &rigs))?;
        let list = if has_shares { read_if_there(&out.join(shards_file::NAME))? } else { None };
        let merged = match list {
            Some(bytes) => {
                let mut draft = tag.create(&out.join(MERGED))?;
                draft.write_all(&bytes).map_err(|error| draft.error(error))?;
                Some(draft)
            }
            None => None,
        };
        // The blocks of a new part do not stand where the list of the old one has them.
        if stamps(&paths)? != before {
            let merge = command_line(&["bake", "--merge", &out.to_string_lossy()]);
            let text = format!("{}: a share was baked while it was merged; run {merge} again", out.display());
            return Err(Error::Usage(text));
        }
        let manifest = Manifest::new(out, 0, &head.options);
        let mut listed: Vec<Vec<ListedSource>> = rigs.iter().map(|rig| Vec::with_capacity(rig.clips.len())).collect();
        for clip in clips {
            listed[clip.rig].push(clip.packed.listed);
        }
        [INDEX, TABLE, MERGED].iter().try_for_each(|name| remove(&out.join(name)))?;
        for ((draft, rig), clips) in drafts.into_iter().zip(&rigs).zip(listed) {
            manifest.keep(draft, &rig.file, clips)?;
        }
        table.map(|table| manifest.keep(table, TABLE, Vec::new())).transpose()?;
        manifest.keep(index, INDEX, Vec::new())?;
        merged.map(Draft::keep).transpose()?;
        let files: BTreeSet<&str> = rigs.iter().map(|rig| rig.file.as_str()).collect();
        let old = all_rig_names(out).into_iter().filter(|name| !files.contains(name.as_str()));
        old.map(|name| out.join(name)).chain(paths).try_for_each(|path| remove(&path))?;
        Ok(summary)
    }
}

/// The lines of the index.
fn index_lines<'a>(clips: &'a [MergedClip], rigs: &'a [MergedRig]) -> impl Iterator<Item = IndexLine<'a>> {
    clips.iter().map(|clip| IndexLine {
        rig: Cow::Borrowed(&rigs[clip.rig].file),
        first_row: clip.first_row,
        rest: clip.rest,
        engine: Cow::Borrowed(&clip.packed.engine),
        listed: Cow::Borrowed(&clip.packed.listed),
    })
}

/// The difference of a part from the first one and from the list of shares; `None` if it was made for their bake.
fn difference(found: &PartHead, expected: &PartHead, shares: Option<&ShardsFile>) -> Option<String> {
    if found.posse_version != VERSION {
        return Some(format!("made by posse {}, but this is {VERSION}", found.posse_version));
    }
    if found.list.as_ref() != shares.map(|list| &list.list_sha256) {
        return Some(format!("made for other inputs than {} lists", shards_file::NAME));
    }
    let is_same = found.options == expected.options;
    (!is_same).then(|| format!("made with other options: {}", different_options(&found.options, &expected.options)))
}

impl MergedClip {
    fn name(&self) -> &str {
        &self.packed.listed.clip
    }
}

impl MergedRig {
    fn new(rig: PackedRig, file: String) -> Self {
        Self { rig, file, rows: 0, clips: Vec::new(), rests: HashMap::new(), rest_places: Vec::new() }
    }

    /// Appends a clip of this index.
    fn add(&mut self, index: usize, clip: &mut MergedClip) {
        clip.first_row = self.rows;
        self.rows = self.rows.saturating_add(clip.packed.frames());
        self.clips.push(index);
        clip.rest = *self.rests.entry(std::mem::take(&mut clip.packed.rest)).or_insert_with(|| {
            self.rest_places.push(clip.place);
            self.rest_places.len() as u64 - 1
        });
    }

    /// Writes the file. The times come first, and booleans last, so that all tensors are aligned.
    fn write(
        &self,
        head: &PartHead,
        clips: &[MergedClip],
        parts: &mut MergedParts,
        draft: &mut Draft,
    ) -> Result<(), Error> {
        let rests = self.rig.rest_tensors(self.rest_places.len() as u64);
        let parents = parents_tensor(self.rig.parents.len());
        let mut tensors = self.rig.row_tensors(self.rows);
        let rows = tensors.split_off(1);
        let constant = [parents].into_iter().chain(rests);
        tensors.extend(constant.chain(rows));
        let header = safetensors::header(&self.metadata(head), &tensors).map_err(|error| draft.error(error))?;
        draft.write_all(&header).map_err(|error| draft.error(error))?;
        let rest_bytes = self.rig.rest_tensors(1).map(|tensor| tensor.bytes());
        // The bytes of a row before the bytes of each array in a block.
        let mut before = 0;
        for (array, tensor) in self.rig.row_tensors(1).iter().enumerate() {
            let width = tensor.bytes();
            for clip in self.clips.iter().map(|&index| &clips[index]) {
                let frames = clip.packed.frames();
                let start = rest_bytes.iter().sum::<u64>() + before * frames;
                parts.copy(clip.place, start, width * frames, draft)?;
            }
            before += width;
            if array == 0 {
                let parents: Vec<u8> = self.rig.parents.iter().flat_map(|parent| parent.to_le_bytes()).collect();
                draft.write_all(&parents).map_err(|error| draft.error(error))?;
                let [position_bytes, rotation_bytes] = rest_bytes;
                for (start, bytes) in [(0, position_bytes), (position_bytes, rotation_bytes)] {
                    self.rest_places.iter().try_for_each(|&place| parts.copy(place, start, bytes, draft))?;
                }
            }
        }
        Ok(())
    }

    /// The metadata of the file: texts, of which lists are JSON.
    fn metadata(&self, head: &PartHead) -> Vec<(&'static str, String)> {
        let PackedRig { skeleton, joint_names, weight_names, contact_feet, .. } = &self.rig;
        let list = |names: &[String]| serde_json::Value::from(names).to_string();
        let name = self.file.strip_suffix(RIG_EXTENSION).unwrap_or(&self.file).trim_end_matches('.');
        let mut metadata = vec![
            ("format", "posse-packed".into()),
            ("format_version", "1".into()),
            ("posse_version", head.posse_version.clone()),
            ("rig", name.into()),
            ("skeleton", skeleton.clone()),
            ("joint_names", list(joint_names)),
            ("quaternion_order", self.rig.quaternion_order.clone()),
            ("up_axis", self.rig.up_axis.clone()),
            ("unit_scale", serde_json::Value::from(self.rig.unit_scale).to_string()),
        ];
        if self.rig.is_in_metres {
            metadata.push(("unit", "m".into()));
        }
        for (key, names) in [("weight_names", weight_names), ("contact_feet", contact_feet)] {
            if !names.is_empty() {
                metadata.push((key, list(names)));
            }
        }
        metadata.push(("options", head.options.to_string()));
        metadata.push(("clips", self.clips.len().to_string()));
        metadata
    }
}

/// The parts that are read.
struct MergedParts<'a> {
    paths: &'a [PathBuf],
    open: HashMap<usize, File>,
    buffer: Vec<u8>,
    /// The bytes of all parts together, and the bytes that have been read.
    bytes: [u64; 2],
    clock: MinuteClock,
}

impl<'a> MergedParts<'a> {
    /// `bytes` is the size of all parts together.
    fn new(paths: &'a [PathBuf], bytes: u64) -> Self {
        Self { paths, open: HashMap::new(), buffer: vec![0; BUFFER], bytes: [bytes, 0], clock: MinuteClock::new() }
    }

    /// Copies bytes that begin after a place in a part.
    fn copy(&mut self, place: Place, after: u64, bytes: u64, to: &mut Draft) -> Result<(), Error> {
        let Place { share, offset } = place;
        let path = &self.paths[share];
        if self.open.len() >= MAX_OPEN && !self.open.contains_key(&share) {
            self.open.clear();
        }
        let file = match self.open.entry(share) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(closed) => closed.insert(File::open(path).map_err(|error| failed(path, error))?),
        };
        let (start, failed) = (offset.saturating_add(after), |error| failed(path, error));
        read_blocks(file, start, bytes, &mut self.buffer, failed, |block| {
            to.write_all(block).map_err(|error| to.error(error))
        })?;
        self.bytes[1] += bytes;
        if self.clock.is_due() {
            let [all, done] = self.bytes.map(|bytes| bytes as f64 / 1e6);
            note(&format!("merged {done:.0} of {all:.0} MB"));
        }
        Ok(())
    }
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::Io { file: path.to_path_buf(), source }
}
