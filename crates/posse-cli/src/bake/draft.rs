//! The drafts of outputs, and their names.
//!
//! A draft has the host, the process and the share in its name. A process number says nothing on another host, so that
//! a draft from elsewhere is removed only after an hour, and only by its own share.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use posse::Error;
use sysinfo::{Pid, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System};

use crate::draft::{Draft, SUFFIX};
use crate::write_error::with_hint_at;

/// The age from which a draft of a share counts as left behind, whichever host it is from.
const OLD: Duration = Duration::from_secs(60 * 60);
const PREFIX: &str = ".bake-";
/// The largest number of letters of a host in the name of a draft. Names of files have at most 255 bytes.
const HOST_LETTERS: usize = 64;

/// The origin of drafts: host, process and share. It is part of their names.
#[derive(Debug)]
pub struct DraftTag {
    host: String,
    process: u32,
    share: String,
}

impl DraftTag {
    /// The tag of this process. `share` is the index of its share; `None` without shares.
    pub fn new(share: Option<u32>) -> Self {
        let letter = |letter: char| if letter.is_ascii_alphanumeric() || ".-".contains(letter) { letter } else { '_' };
        let host = System::host_name().unwrap_or_default();
        Self {
            host: host.chars().map(letter).take(HOST_LETTERS).collect(),
            process: std::process::id(),
            share: share.map_or("all".into(), |share| format!("{share:05}")),
        }
    }

    /// Creates a draft beside its place, with the folders above it.
    ///
    /// # Errors
    /// [`Error::Io`] with the place.
    pub fn create(&self, place: &Path) -> Result<Draft, Error> {
        let Self { host, process, share } = self;
        create_folder(place.parent().unwrap_or(Path::new("")))?;
        Draft::with_name(place, &format!("{PREFIX}{share}-{process}-"), &format!("-{host}{SUFFIX}"))
    }

    /// Removes the drafts of this share that are older than an hour, or whose process is gone on this host, from a
    /// folder. The folders below it are not searched: they may hold a million outputs of other shares. To be called
    /// before the first draft of this tag: a draft with the number of this process is from an earlier process.
    pub fn remove_dead(&self, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file && entry.file_name().to_str().is_some_and(|name| self.is_dead(name, &entry)) {
                // Another process may have removed it.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Returns `true` for a dead draft of this share.
    fn is_dead(&self, name: &str, entry: &fs::DirEntry) -> bool {
        let parts = || {
            let mut parts = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.splitn(4, '-');
            let (share, process) = (parts.next()?, parts.next()?.parse().ok()?);
            Some((share, process, parts.nth(1)?))
        };
        let Some((share, process, host)) = parts() else { return false };
        let age = || SystemTime::now().duration_since(entry.metadata().ok()?.modified().ok()?).ok();
        let is_gone = || host == self.host && (process == self.process || !is_alive(process));
        share == self.share && (age().is_some_and(|age| age > OLD) || is_gone())
    }
}

/// Returns `true` if a process of this host runs.
fn is_alive(process: u32) -> bool {
    let (mut system, id) = (System::new(), Pid::from_u32(process));
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), true, ProcessRefreshKind::nothing());
    system.process(id).is_some_and(|process| !matches!(process.status(), ProcessStatus::Zombie | ProcessStatus::Dead))
}

/// Creates a folder for outputs, with the folders above it.
///
/// # Errors
/// [`Error::Io`] with the folder.
pub fn create_folder(folder: &Path) -> Result<(), Error> {
    let created = fs::create_dir_all(folder).map_err(|error| {
        let is_file = |above: &&Path| above.exists() && !above.is_dir();
        let Some(file) = folder.ancestors().find(is_file) else { return with_hint_at(folder, error) };
        let file = if file == folder { "it".into() } else { file.display().to_string() };
        let reason = format!("{file} is no folder; expected one for the outputs. Remove the file, or give another OUT");
        io::Error::new(error.kind(), reason)
    });
    created.map_err(|source| Error::Io { file: folder.to_path_buf(), source })
}
