//! The clips of merged files that go into a new part as they are. With `--resume`, a change of some inputs bakes these
//! alone, although the parts that the files were merged of are gone.
//!
//! A merge removes the index before it gives new files of rigs their names, writes the index last, and never writes
//! into a file that has its name. So files that are opened while one index stays in its place are the files that it
//! describes. They remain these files while they are open, also if another task merges meanwhile. On NFS, a file that
//! another machine has replaced may not be readable any more: the bake then ends with an error, and is run again.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::SystemTime;

use posse::Error;

use crate::bake::check::ManifestOutputs;
use crate::bake::format::Format;
use crate::bake::format::packed::{CopiedClip, IndexLine, RigFile};
use crate::bake::inputs::ListedFile;
use crate::bake::job::{BakeError, Job};
use crate::bake::merge::{self, INDEX, MAX_OPEN};
use crate::bake::part::Turn;

/// Merged files of an earlier bake, and their clips.
pub struct MergedFiles<'a> {
    outputs: ManifestOutputs<'a>,
    rigs: Vec<RigFile>,
    /// The clips that can be copied, by their names.
    clips: HashMap<String, MergedRows>,
}

/// The place of a clip in the file of its rig.
struct MergedRows {
    /// The index of the file.
    rig: usize,
    first_row: u64,
    rest: u64,
    engine: String,
}

/// A rig of the index, while its lines are read. A merge numbers rows and rest poses in the order of the lines.
#[derive(Default)]
struct IndexRig {
    /// The index of its file among the open ones.
    file: Option<usize>,
    /// `true` if the file has been opened, or could not be.
    is_known: bool,
    /// The first row of the next line.
    rows: u64,
    /// The number of rest poses so far.
    poses: u64,
}

impl IndexRig {
    /// Counts the rows and the rest pose of a line; `None` if they are not as a merge has numbered them.
    fn count(&mut self, line: &IndexLine) -> Option<()> {
        if line.first_row != self.rows || line.rest > self.poses {
            return None;
        }
        self.rows = self.rows.checked_add(line.listed.rows.as_ref().map_or(0, |rows| rows.frames))?;
        self.poses = self.poses.max(line.rest.checked_add(1)?);
        Some(())
    }
}

impl<'a> MergedFiles<'a> {
    /// Opens the merged files of the folder that have clips of some inputs; `None` if the bake keeps none, or if there
    /// are none as a merge has written them. Whatever is not found here is baked.
    pub fn open(job: &'a Job, files: &[&ListedFile]) -> Option<Self> {
        if !job.resume || job.options.format != Format::Packed {
            return None;
        }
        let index = job.out.join(INDEX);
        let (file, before) = open_index(&index)?;
        if merge::index_error(job.out, &job.manifest.listed).is_some() {
            return None;
        }
        let outputs = ManifestOutputs::new(job.options, &job.manifest.listed, merge::rig_names(job.out).into_iter());
        let wanted: HashSet<&str> = files.iter().flat_map(|file| file.clips()).map(|clip| clip.name.as_str()).collect();
        let (mut rigs, mut clips, mut is_full) = (Vec::new(), HashMap::new(), false);
        let mut known: HashMap<String, IndexRig> = HashMap::new();
        for line in BufReader::new(file).split(b'\n') {
            let line: IndexLine = serde_json::from_slice(&line.ok()?).ok()?;
            let rig = known.entry(line.rig.to_string()).or_default();
            rig.count(&line)?;
            // The line of a later merge than the manifests that were read is for another file.
            let is_listed = outputs.clip(&line.listed.clip) == Some((&*line.rig, &*line.listed));
            if !is_listed || !wanted.contains(line.listed.clip.as_str()) {
                continue;
            }
            if !rig.is_known && rigs.len() >= MAX_OPEN {
                is_full = true;
                continue;
            }
            if !rig.is_known {
                let file = RigFile::open(&job.out.join(&*line.rig)).ok();
                rig.file = file.is_some().then_some(rigs.len());
                rig.is_known = true;
                rigs.extend(file);
            }
            if let Some(rig) = rig.file {
                let IndexLine { first_row, rest, engine, listed, .. } = line;
                let rows = MergedRows { rig, first_row, rest, engine: engine.into_owned() };
                clips.insert(listed.into_owned().clip, rows);
            }
        }
        let has_all = |rig: &IndexRig| rig.file.is_none_or(|file| rigs[file].has_exactly(rig.rows, rig.poses));
        let (_, after) = open_index(&index)?;
        if after != before || !known.values().all(has_all) {
            return None;
        }
        if is_full {
            let text = format!("note: merged files of {MAX_OPEN} rigs are read; clips of other rigs are baked anew");
            job.progress.note(&text);
        }
        Some(Self { outputs, rigs, clips })
    }

    /// Returns `true` if the files have all clips of an input, as they would be baked. The input is hashed.
    pub fn has(&self, file: &ListedFile) -> bool {
        let clips = file.clips();
        !clips.is_empty()
            && clips.iter().all(|clip| self.clips.contains_key(&clip.name))
            && self.outputs.missing(file).is_empty()
    }

    /// Copies the clips of an input into the part of the share. Errors are recorded.
    pub fn copy(&self, job: &Job, file: &ListedFile, turn: &Turn) {
        let _progress = job.progress.begin_file(file.size, file.clips().len());
        if let Err(error) = self.try_copy(job, file, turn) {
            job.fail(file, None, BakeError::of_writer(error));
        }
    }

    fn try_copy(&self, job: &Job, file: &ListedFile, turn: &Turn) -> Result<(), Error> {
        for clip in file.clips() {
            let rows = self.clips.get(&clip.name).zip(self.outputs.clip(&clip.name));
            let Some((MergedRows { rig, first_row, rest, engine }, (_, listed))) = rows else {
                return Err(Error::Usage(format!("clip {}: it is not in the merged files; run again", clip.name)));
            };
            let (first_row, rest) = (*first_row, *rest);
            let copied = CopiedClip { file: &self.rigs[*rig], first_row, rest, engine, listed };
            let output = turn.add_copy(job, &copied)?;
            job.count_kept(file, &output, listed);
        }
        Ok(())
    }
}

/// Opens the index, with its size and the time of its last change. Both are read from the open file: for a path, a
/// shared file system may give values that are seconds old.
fn open_index(path: &Path) -> Option<(File, (u64, SystemTime))> {
    let file = File::open(path).ok()?;
    let metadata = file.metadata().ok()?;
    Some((file, (metadata.len(), metadata.modified().ok()?)))
}
