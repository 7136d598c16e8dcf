//! Drafts: files under temporary names, which get their names when they are complete.
//!
//! A draft has the host, the process and the share in its name. A process number says nothing on another host, so that
//! a draft from elsewhere is removed only after an hour, and only by its own share.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use posse::Error;
use sysinfo::{Pid, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System};

use crate::unfinished::{Unfinished, without_signals};
use crate::write_error::with_remedy;

/// The age from which a draft of a share counts as left behind, whichever host it is from.
const OLD: Duration = Duration::from_secs(60 * 60);
const PREFIX: &str = ".bake-";
const SUFFIX: &str = ".part";
/// The largest number of letters of a host in the name of a draft. Names of files have at most 255 bytes.
const HOST_LETTERS: usize = 64;

/// The origin of drafts: host, process and share. It is part of their names.
#[derive(Debug)]
pub struct DraftTag {
    host: String,
    process: u32,
    share: String,
    count: AtomicU64,
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
            count: AtomicU64::new(0),
        }
    }

    /// A name that no other draft has.
    fn next_name(&self) -> String {
        let (Self { host, process, share, .. }, count) = (self, self.count.fetch_add(1, Ordering::Relaxed));
        format!("{PREFIX}{share}-{process}-{count}-{host}{SUFFIX}")
    }

    /// Removes the drafts of this share that are older than an hour, or whose process is gone on this host, from a folder and
    /// all folders below it. To be called before the first draft of this tag: a draft with the number of this process is from an
    /// earlier process.
    pub fn remove_dead(&self, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                self.remove_dead(&entry.path());
            } else if kind.is_file() && entry.file_name().to_str().is_some_and(|name| self.is_dead(name, &entry)) {
                // Another process may have removed it.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Returns true for a dead draft of this share.
    fn is_dead(&self, name: &str, entry: &fs::DirEntry) -> bool {
        let parts = || {
            let mut parts = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.splitn(4, '-');
            let (share, process) = (parts.next()?, parts.next()?.parse().ok()?);
            parts.next()?.parse::<u64>().ok()?;
            Some((share, process, parts.next()?))
        };
        let Some((share, process, host)) = parts() else { return false };
        let age = || SystemTime::now().duration_since(entry.metadata().ok()?.modified().ok()?).ok();
        let is_gone = || host == self.host && (process == self.process || !is_alive(process));
        share == self.share && (age().is_some_and(|age| age > OLD) || is_gone())
    }
}

/// Returns true if a process of this host runs.
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
        let Some(file) = folder.ancestors().find(is_file) else { return error };
        let file = if file == folder { "it".into() } else { file.display().to_string() };
        let reason = format!("{file} is no folder; expected one for the outputs. Remove the file, or give another OUT");
        io::Error::new(error.kind(), reason)
    });
    created.map_err(|source| Error::Io { file: folder.to_path_buf(), source })
}

/// A file that gets its name when it is complete. It is removed on drop, or by a signal that ends the process, unless it was kept.
pub struct Draft {
    /// `None` after the file was closed.
    file: Option<BufWriter<File>>,
    unfinished: Unfinished,
    place: PathBuf,
}

impl Draft {
    /// Creates a draft beside its place, with the folders above it.
    ///
    /// # Errors
    /// [`Error::Io`] with the place.
    pub fn create(place: &Path, tag: &DraftTag) -> Result<Self, Error> {
        let failed = |source| Error::Io { file: place.to_path_buf(), source: with_remedy(source) };
        if let Some(folder) = place.parent() {
            create_folder(folder)?;
        }
        let (unfinished, file) = Unfinished::create(place.with_file_name(tag.next_name())).map_err(failed)?;
        Ok(Self { file: Some(BufWriter::with_capacity(1 << 16, file)), unfinished, place: place.to_path_buf() })
    }

    /// The path that the file gets.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// The folder of the draft and of its place.
    pub fn folder(&self) -> &Path {
        self.unfinished.path().parent().unwrap_or(Path::new(""))
    }

    /// The error of an output, with the place of this draft.
    pub fn error(&self, source: impl Into<io::Error>) -> Error {
        Error::Io { file: self.place.clone(), source: with_remedy(source.into()) }
    }

    /// Writes the file to the disk, and gives it its name. It replaces an older file of that name.
    ///
    /// # Errors
    /// [`Error::Io`] with the place. The draft is then removed.
    pub fn keep(mut self) -> Result<(), Error> {
        self.complete().map_err(|error| self.error(error))?;
        let Self { unfinished, place, .. } = self;
        unfinished.rename(&place).map_err(|error| Error::Io { file: place, source: with_remedy(error) })
    }

    /// Writes the file to the disk, and gives it its name if there is no file of that name. Returns false if there is one.
    ///
    /// # Errors
    /// [`Error::Io`] with the place. The draft is then removed.
    pub fn keep_if_new(mut self) -> Result<bool, Error> {
        self.complete().map_err(|error| self.error(error))?;
        match without_signals(|| fs::hard_link(self.unfinished.path(), &self.place)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            // Some file systems have no links. The one that renames last decides for both.
            Err(_) if !self.place.exists() => {
                let Self { unfinished, place, .. } = self;
                let renamed = unfinished.rename(&place).map(|()| true);
                renamed.map_err(|error| Error::Io { file: place, source: with_remedy(error) })
            }
            Err(_) => Ok(false),
        }
    }

    fn complete(&mut self) -> io::Result<()> {
        let Some(mut file) = self.file.take() else { return Ok(()) };
        file.flush()?;
        // Some systems cannot rename an open file: it is closed here.
        file.get_ref().sync_all()
    }

    fn open(&mut self) -> io::Result<&mut BufWriter<File>> {
        self.file.as_mut().ok_or_else(|| io::Error::other("the draft is closed"))
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.open()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.open()?.flush()
    }
}

impl Seek for Draft {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.open()?.seek(position)
    }
}
