//! The task of a share, and `shards.json`: the list that all tasks of a sharded bake agree on.

use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use posse::Error;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::bake::draft::DraftTag;
use crate::bake::facts::{VERSION, different_options};
use crate::bake::inputs::{Inputs, ListedFile};
use crate::bake::job::BakeError;
use crate::bake::options::Options;
use crate::bake::share::Share;
use crate::draft::Draft;
use crate::output::plural;

/// The name of the list in OUT.
pub const NAME: &str = "shards.json";

/// The list of inputs and the options, as all tasks must have them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShardsFile {
    posse_version: String,
    /// The number of shares.
    pub shards: u32,
    files: u64,
    bytes: u64,
    /// The SHA-256 of the names and sizes of the files, in the order of the list.
    pub list_sha256: String,
    options: Value,
}

impl ShardsFile {
    /// The file of a list.
    pub fn new(shards: u32, files: &[ListedFile], options: Value) -> Self {
        let mut hash = Sha256::new();
        for file in files {
            hash.update(file.below.as_bytes());
            // A path has no zero byte, so that different lists have different bytes.
            hash.update([0]);
            hash.update(file.size.to_le_bytes());
        }
        Self {
            posse_version: VERSION.into(),
            shards,
            files: files.len() as u64,
            bytes: files.iter().fold(0, |bytes, file| bytes.saturating_add(file.size)),
            list_sha256: hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect(),
            options,
        }
    }

    /// The same list for this version and the options of this task.
    pub fn with_options(&self, options: Value) -> Self {
        Self { posse_version: VERSION.into(), options, ..self.clone() }
    }

    /// The file of a folder; `None` without a usable one.
    pub fn read(out: &Path) -> Option<Self> {
        let file: Self = serde_json::from_slice(&fs::read(out.join(NAME)).ok()?).ok()?;
        Some(file).filter(|file| (1..=Share::MAX_COUNT).contains(&file.shards))
    }

    /// Begins the file in a folder.
    fn draft(&self, out: &Path, tag: &DraftTag) -> Result<Draft, BakeError> {
        let mut draft = tag.create(&out.join(NAME)).map_err(BakeError::Output)?;
        let text =
            serde_json::to_string_pretty(self).map_err(|error| BakeError::Input(Error::Usage(error.to_string())))?;
        writeln!(draft, "{text}").map_err(|error| BakeError::Output(draft.error(error)))?;
        Ok(draft)
    }

    /// Writes the file, in place of the one of an earlier bake.
    pub fn replace(&self, out: &Path, tag: &DraftTag) -> Result<(), BakeError> {
        self.draft(out, tag)?.keep().map(drop).map_err(BakeError::Output)
    }

    /// Writes the file if it is not there. Otherwise compares the one that is there.
    pub fn agree(&self, out: &Path, tag: &DraftTag) -> Result<(), BakeError> {
        let place = out.join(NAME);
        if !place.exists() {
            self.draft(out, tag)?.keep_if_new().map_err(BakeError::Output)?;
        }
        // Another task may have written it at the same moment, so that it is read in any case.
        let failed = |source: io::Error| Error::Io { file: place.clone(), source };
        let found = fs::read_to_string(&place).map_err(|source| BakeError::Output(failed(source)))?;
        let found: Self = serde_json::from_str(&found).map_err(|error| {
            let place = place.display();
            let reason = format!(
                "{place}: {error}; expected the list of a sharded bake. Remove the file, so that it is made anew"
            );
            BakeError::Input(Error::Usage(reason))
        })?;
        let differences = self.differences(&found);
        if differences.is_empty() {
            return Ok(());
        }
        Err(BakeError::Input(Error::Usage(format!(
            "{}: the tasks that wrote it had another bake: {differences}. All tasks need the same inputs and options; otherwise \
             remove the file, or give another OUT",
            place.display()
        ))))
    }

    /// The differences from the file that was found, as a text.
    pub fn differences(&self, found: &Self) -> String {
        let mut texts = Vec::new();
        if found.posse_version != self.posse_version {
            texts.push(format!("posse was {}, is {}", found.posse_version, self.posse_version));
        }
        if found.shards != self.shards {
            texts.push(format!("the number of shares was {}, is {}", found.shards, self.shards));
        }
        if [found.files, found.bytes] != [self.files, self.bytes] {
            let [before, now] =
                [found, self].map(|list| format!("{} of {} bytes", plural(list.files as usize, "file"), list.bytes));
            texts.push(format!("the inputs were {before}, are {now}"));
        } else if found.list_sha256 != self.list_sha256 {
            texts.push(format!("names or sizes among the {} inputs differ", self.files));
        }
        if found.options != self.options {
            texts.push(different_options(&found.options, &self.options));
        }
        texts.join("; ")
    }
}

/// The inputs of a bake, and the share of them that is baked.
pub struct Task {
    /// The inputs of all shares; with a plan the inputs of the share, or of all if other shares matter.
    pub inputs: Inputs,
    /// The share; `None` without shares.
    pub share: Option<Share>,
    /// The list that all tasks agree on; `None` without shares.
    pub list: Option<ShardsFile>,
    /// The indices of the files of the share, in the order of the list.
    own: Vec<usize>,
}

impl Task {
    /// Deals the inputs, unless there are no shares.
    pub fn new(inputs: Inputs, share: Option<Share>, options: &Options) -> Self {
        let Some(share) = share else {
            return Self { own: (0..inputs.files.len()).collect(), inputs, share, list: None };
        };
        let sizes: Vec<u64> = inputs.files.iter().map(|file| file.size).collect();
        let dealt = Share::deal(share.count, &sizes).into_iter().enumerate();
        let own = dealt.filter(|(_, dealt)| *dealt == share.index).map(|(file, _)| file).collect();
        let list = ShardsFile::new(share.count, &inputs.files, options.value_of_all());
        Self { inputs, share: Some(share), list: Some(list), own }
    }

    /// The inputs of a share that was dealt before: the files of a range.
    pub fn dealt(inputs: Inputs, share: Option<Share>, list: ShardsFile, own: Range<usize>) -> Self {
        Self { inputs, share, list: share.map(|_| list), own: own.collect() }
    }

    /// The files of the share, in the order of the list; all without shares.
    pub fn files(&self) -> Vec<&ListedFile> {
        self.own.iter().map(|&file| &self.inputs.files[file]).collect()
    }

    /// The index of the share; 0 without shares.
    pub fn index(&self) -> u32 {
        self.share.map_or(0, |share| share.index)
    }
}
