//! The clips of merged files that go into a new part as they are. With `--resume`, a change of some inputs bakes these
//! alone, although the parts that the files were merged of are gone.
//!
//! A merge removes the index before it gives new files of rigs their names, writes the index last, and never writes into
//! a file that has its name. So files that are opened while one index stays in its place are the files that it
//! describes, and remain them for as long as they are open, whatever another task merges meanwhile.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::SystemTime;

use posse::Error;

use crate::bake::check::ManifestOutputs;
use crate::bake::format::Format;
use crate::bake::format::packed::{MergedClip, MergedLine, RigFile};
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

impl<'a> MergedFiles<'a> {
    /// Opens the merged files of the folder; `None` if the bake keeps none, or if there are none as a merge has written
    /// them. Whatever is not found here is baked.
    pub fn open(job: &'a Job) -> Option<Self> {
        if !job.resume || job.options.format != Format::Packed {
            return None;
        }
        let index = job.out.join(INDEX);
        let (file, before) = open_index(&index)?;
        if merge::index_error(job.out, &job.manifest.listed).is_some() {
            return None;
        }
        let outputs = ManifestOutputs::new(job.options, &job.manifest.listed, merge::rig_names(job.out).into_iter());
        let (mut rigs, mut known, mut clips) = (Vec::new(), HashMap::new(), HashMap::new());
        for line in BufReader::new(file).split(b'\n') {
            let line: MergedLine = serde_json::from_slice(&line.ok()?).ok()?;
            // The line of a later merge than the manifests that were read is for another file.
            if outputs.clip(&line.listed.clip) != Some((line.rig.as_str(), &line.listed)) {
                continue;
            }
            if !known.contains_key(&line.rig) {
                let file = (rigs.len() < MAX_OPEN).then(|| RigFile::open(&job.out.join(&line.rig)).ok()).flatten();
                known.insert(line.rig.clone(), file.is_some().then_some(rigs.len()));
                rigs.extend(file);
            }
            let Some(rig) = known.get(&line.rig).copied().flatten().filter(|&rig| rigs[rig].has(&line)) else {
                continue;
            };
            let MergedLine { first_row, rest, engine, listed, .. } = line;
            clips.insert(listed.clip, MergedRows { rig, first_row, rest, engine });
        }
        let (_, after) = open_index(&index)?;
        (after == before).then_some(Self { outputs, rigs, clips })
    }

    /// True if the files have all clips of an input, as they would be baked. The input is hashed.
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
            let Some((MergedRows { rig, first_row, rest, engine }, (_, listed))) = rows else { continue };
            let (first_row, rest) = (*first_row, *rest);
            let merged = MergedClip { file: &self.rigs[*rig], first_row, rest, engine, listed };
            let output = turn.add_merged(job, &merged)?;
            job.count_kept(file, &output, listed);
        }
        Ok(())
    }
}

/// Opens the index, with its size and the time of its last change. They are those of the open file, as a shared file
/// system may remember the ones of a path for seconds.
fn open_index(path: &Path) -> Option<(File, (u64, SystemTime))> {
    let file = File::open(path).ok()?;
    let metadata = file.metadata().ok()?;
    Some((file, (metadata.len(), metadata.modified().ok()?)))
}
