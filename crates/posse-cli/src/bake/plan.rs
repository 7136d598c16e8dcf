//! Plans: the inputs of all shares, listed once, so that a thousand tasks do not each search a million files.
//!
//! `OUT/plan.jsonl` has lines of JSON. The head has what `shards.json` has, and for each share the number of its files,
//! their bytes, and the place of its lines. A line per file follows, share after share, with the clips as they were
//! listed. A task reads the head and its own lines. What can be found among all inputs only, such as clips of one name
//! and outputs that would replace an input, was found when the plan was written.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use posse::Error;
use serde::{Deserialize, Serialize};

use crate::bake::draft::DraftTag;
use crate::bake::facts::open_regular;
use crate::bake::inputs::{Failure, Inputs, ListedFile, check_crowds};
use crate::bake::job::BakeError;
use crate::bake::options::Options;
use crate::bake::shards_file::{ShardsFile, Task};
use crate::bake::share::Share;

/// The name of a plan in OUT.
pub const NAME: &str = "plan.jsonl";

/// The largest head, in bytes. The head of 100,000 shares has 6 MB.
const MAX_HEAD: u64 = 64 << 20;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct PlanHead {
    #[serde(flatten)]
    list: ShardsFile,
    shares: Vec<PlannedShare>,
}

/// A share in the head.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct PlannedShare {
    files: usize,
    /// The sizes of the files together.
    bytes: u64,
    /// The bytes of all lines between the head and the lines of this share.
    offset: u64,
}

/// A line after the head.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PlanLine<T, F> {
    File(T),
    /// An input that is no file to bake: a folder that could not be searched, for example. Its share reports it.
    Failure(F),
}

/// A plan that is read.
pub struct Plan {
    path: PathBuf,
    file: BufReader<File>,
    head: PlanHead,
    /// The place of the first line after the head.
    start: u64,
}

/// Writes the plan of a number of shares into OUT, and its list of shares. Returns the path of the plan.
pub fn write(
    out: &Path,
    inputs: &Inputs,
    shares: u32,
    options: &Options,
    tag: &DraftTag,
) -> Result<PathBuf, BakeError> {
    let sizes: Vec<u64> = inputs.files.iter().map(|file| file.size).collect();
    let dealt = Share::deal(shares, &sizes);
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    // Files of one share keep their order.
    order.sort_by_key(|&file| dealt[file]);
    let mut planned = vec![PlannedShare::default(); shares as usize];
    let mut text = String::new();
    for failure in &inputs.failures {
        text.push_str(&line_of(&PlanLine::<&ListedFile, _>::Failure(failure))?);
    }
    let mut files = order.into_iter().peekable();
    for (share, place) in (0..).zip(&mut planned) {
        // Failures are lines of the first share.
        place.offset = if share == 0 { 0 } else { text.len() as u64 };
        while let Some(file) = files.next_if(|&file| dealt[file] == share) {
            let (file, size) = (&inputs.files[file], sizes[file]);
            if file.path.to_str().is_none() {
                let (path, source) = (file.path.display().to_string(), Some(file.below.clone()));
                let message =
                    "its path is not UTF-8, which a plan cannot hold; rename it, or bake without a plan".into();
                let failure = Failure { path, source, clip: None, message };
                text.push_str(&line_of(&PlanLine::<&ListedFile, _>::Failure(failure))?);
                continue;
            }
            place.files += 1;
            place.bytes = place.bytes.saturating_add(size);
            text.push_str(&line_of(&PlanLine::<_, Failure>::File(file))?);
        }
    }
    let list = ShardsFile::new(shares, &inputs.files, options.value_of_all());
    let head = PlanHead { list, shares: planned };
    let place = out.join(NAME);
    let mut draft = tag.create(&place).map_err(BakeError::Output)?;
    let written = draft.write_all(line_of(&head)?.as_bytes()).and_then(|()| draft.write_all(text.as_bytes()));
    written.map_err(|error| BakeError::Output(draft.error(error)))?;
    draft.keep().map_err(BakeError::Output)?;
    head.list.replace(out, tag)?;
    Ok(place)
}

/// A line of a plan.
fn line_of(line: &impl Serialize) -> Result<String, BakeError> {
    let text = serde_json::to_string(line).map_err(|error| BakeError::Input(Error::Usage(error.to_string())))?;
    Ok(text + "\n")
}

impl Plan {
    /// Opens a plan, and reads its head.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read, [`Error::Usage`] for a file that is no plan, and for a plan with other
    /// options or of another version.
    pub fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        let mut file = BufReader::new(open_regular(path)?);
        let mut text = Vec::new();
        let read = (&mut file).take(MAX_HEAD).read_until(b'\n', &mut text);
        read.map_err(|source| Error::Io { file: path.to_path_buf(), source })?;
        let head: PlanHead = serde_json::from_slice(&text).map_err(|error| {
            let error = error.to_string().replace(" at line 1 column ", ", column ");
            Error::Usage(format!("{}: line 1: {error}; expected a plan of posse bake --plan N", path.display()))
        })?;
        let plan = Self { path: path.to_path_buf(), file, head, start: text.len() as u64 };
        let PlanHead { list, shares } = &plan.head;
        if list.shards as usize != shares.len() || shares.is_empty() {
            return Err(plan.damaged(&format!("its head has {} of {} shares", shares.len(), list.shards)));
        }
        let differences = list.with_options(options.value_of_all()).differences(list);
        if !differences.is_empty() {
            let path = path.display();
            let hint = "Give the same options as for the plan, or write another one";
            return Err(Error::Usage(format!("{path}: it is the plan of another bake: {differences}. {hint}")));
        }
        Ok(plan)
    }

    /// The number of shares.
    pub fn shares(&self) -> u32 {
        self.head.list.shards
    }

    /// The task of a share, or of all shares together. Files that have changed since, or could not be listed, are
    /// listed again. If a clip has a name then that the plan does not have for its file, the task has the files of all
    /// shares, among which clashes are to be sought.
    ///
    /// # Errors
    /// [`Error::Io`] if the plan cannot be read, [`Error::Usage`] if it is damaged.
    pub fn task(mut self, share: Option<Share>, options: &Options) -> Result<Task, Error> {
        let all = 0..self.head.shares.len();
        let Some(Share { index, .. }) = share else {
            let (mut inputs, _) = self.read(all, options)?;
            inputs.sort();
            let own = 0..inputs.files.len();
            return Ok(Task::dealt(inputs, share, self.head.list, own));
        };
        let index = index as usize;
        let (mut inputs, has_new_names) = self.read(index..index + 1, options)?;
        let mut own = 0..inputs.files.len();
        // The file of a share without clips has the columns of another share.
        let needs_columns = options.format.has_columns() && inputs.files.iter().all(|file| file.clips().is_empty());
        if needs_columns || has_new_names {
            inputs.files = self.read(all, options)?.0.files;
            let before: usize = self.head.shares[..index].iter().map(|share| share.files).sum();
            own = before..before + own.len();
        }
        Ok(Task::dealt(inputs, share, self.head.list, own))
    }

    /// Reads the files of some shares, in the order of the plan. Returns `true` if clips are there under names that the
    /// plan does not have.
    fn read(&mut self, shares: Range<usize>, options: &Options) -> Result<(Inputs, bool), Error> {
        let failed = |path: &Path, source| Error::Io { file: path.to_path_buf(), source };
        let wanted = &self.head.shares[shares.clone()];
        let count: usize = wanted.iter().fold(0, |count, share| count.saturating_add(share.files));
        let start = wanted.first().map_or(0, |share| share.offset);
        let end = self.head.shares.get(shares.end).map_or(u64::MAX, |share| share.offset);
        let place = SeekFrom::Start(self.start.saturating_add(start));
        self.file.seek(place).map_err(|source| failed(&self.path, source))?;
        let (mut inputs, mut has_new_names) = (Inputs::default(), false);
        let mut text = Vec::new();
        let mut lines = (&mut self.file).take(end.saturating_sub(start));
        loop {
            text.clear();
            let read = lines.read_until(b'\n', &mut text);
            if read.map_err(|source| failed(&self.path, source))? == 0 {
                break;
            }
            match serde_json::from_slice::<PlanLine<ListedFile, Failure>>(&text) {
                Ok(PlanLine::File(file)) => {
                    let names = |file: &ListedFile| -> HashSet<String> {
                        file.clips().iter().map(|clip| clip.name.clone()).collect()
                    };
                    let before = names(&file);
                    let file = file.listed_again(options);
                    if !file.is_sound() {
                        return Err(self.damaged(&format!("{} has no such clips", file.path.display())));
                    }
                    has_new_names |= !names(&file).is_subset(&before);
                    inputs.files.push(file);
                }
                Ok(PlanLine::Failure(failure)) => inputs.failures.push(failure),
                Err(error) => return Err(self.damaged(&error.to_string())),
            }
        }
        if inputs.files.len() != count {
            return Err(self.damaged(&format!("it has {} of {count} files", inputs.files.len())));
        }
        check_crowds(&inputs.files, options)?;
        Ok((inputs, has_new_names))
    }

    fn damaged(&self, reason: &str) -> Error {
        Error::Usage(format!("{}: the plan is damaged: {reason}; write it again", self.path.display()))
    }
}
