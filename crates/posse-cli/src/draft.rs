//! Drafts: every file that the command writes whole is written under another name in the same folder, and gets its own
//! name when it is complete. A draft is removed on drop, and by a signal before it ends the process, unless it was
//! kept.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use posse::Error;
use tempfile::{NamedTempFile, TempPath};

use crate::write_error::with_hint_at;

/// The drafts of the process. While the list is locked, no signal ends the process.
static DRAFTS: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// The end of the names of drafts.
pub const SUFFIX: &str = ".part";

/// The letters of a name that differ from draft to draft.
const RANDOM_LETTERS: usize = 8;

/// A draft in the list.
struct Entry {
    path: PathBuf,
    /// Ends the program that writes the file, if it is another one.
    #[cfg_attr(not(unix), allow(dead_code, reason = "other systems have no signals"))]
    stop: Option<Box<dyn Fn() + Send>>,
}

/// A file that gets its name when it is complete.
pub struct Draft {
    /// `None` after the file was closed.
    file: Option<BufWriter<File>>,
    /// `None` after the file has got its name.
    path: Option<TempPath>,
    place: PathBuf,
    permissions: Option<Permissions>,
    /// The size of the closed file.
    bytes: u64,
}

impl Draft {
    /// Creates a draft in the folder of its place. The name is short, so that it is valid wherever the name of the
    /// place is.
    ///
    /// # Errors
    /// [`Error::Io`] with the place.
    pub fn create(place: &Path) -> Result<Self, Error> {
        Self::with_name(place, &format!(".posse-{}-", std::process::id()), SUFFIX)
    }

    /// The same with the beginning and the end of the name.
    ///
    /// # Errors
    /// [`Error::Io`] with the place.
    pub fn with_name(place: &Path, prefix: &str, suffix: &str) -> Result<Self, Error> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).suffix(suffix).rand_bytes(RANDOM_LETTERS);
        // By the builder alone, only the owner could read the file.
        let open = |path: &Path| OpenOptions::new().read(true).write(true).create_new(true).open(path);
        let mut drafts = lock();
        let created =
            builder.make_in(place.parent().unwrap_or(Path::new("")), open).map_err(|error| failed(place, error))?;
        let (file, path) = NamedTempFile::into_parts(created);
        drafts.push(Entry { path: path.to_path_buf(), stop: None });
        let file = Some(BufWriter::with_capacity(1 << 16, file));
        Ok(Self { file, path: Some(path), place: place.to_path_buf(), permissions: None, bytes: 0 })
    }

    /// Gives the file the permissions of the one that it replaces, if there is one.
    pub fn with_permissions_of_replaced(mut self) -> Self {
        self.permissions = fs::metadata(&self.place).ok().map(|replaced| replaced.permissions());
        self
    }

    /// The path that the file gets.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// The folder of the draft and of its place.
    pub fn folder(&self) -> &Path {
        self.place.parent().unwrap_or(Path::new(""))
    }

    /// The error of a write, with the place.
    pub fn error(&self, source: impl Into<io::Error>) -> Error {
        failed(&self.place, source.into())
    }

    /// Starts a program that writes the file in place of this process. `start` gets the path of the draft, and `stop`
    /// returns a function that ends the program, which runs before a signal removes the file.
    #[cfg(feature = "gpu")]
    pub fn write_by<T, E, S: Fn() + Send + 'static>(
        &mut self,
        start: impl FnOnce(&Path) -> Result<T, E>,
        stop: impl FnOnce(&T) -> S,
    ) -> Result<T, E> {
        let mut drafts = lock();
        let path = self.path.as_deref().unwrap_or(&self.place);
        let program = start(path)?;
        if let Some(entry) = drafts.iter_mut().find(|entry| entry.path == path) {
            entry.stop = Some(Box::new(stop(&program)));
        }
        Ok(program)
    }

    /// Writes the file to the disk and closes it, before it gets its name.
    ///
    /// # Errors
    /// [`Error::Io`] with the place.
    pub fn close(&mut self) -> Result<(), Error> {
        self.complete().map(drop).map_err(|error| self.error(error))
    }

    /// Writes the file to the disk, and gives it its name. It replaces an older file of that name. Returns its size in
    /// bytes.
    ///
    /// # Errors
    /// [`Error::Io`] with the place. The draft is then removed.
    pub fn keep(mut self) -> Result<u64, Error> {
        let kept = self.complete().and_then(|bytes| self.rename(TempPath::persist).map(|()| bytes));
        kept.map_err(|error| self.error(error))
    }

    /// Writes the file to the disk, and gives it its name if there is no file of that name. Returns `false` if there is
    /// one.
    ///
    /// # Errors
    /// [`Error::Io`] with the place. The draft is then removed.
    pub fn keep_if_new(mut self) -> Result<bool, Error> {
        self.complete().map_err(|error| self.error(error))?;
        match self.rename(TempPath::persist_noclobber) {
            Ok(()) => Ok(true),
            Err(_) if self.place.exists() => Ok(false),
            // Some file systems can neither link nor rename without replacing. The one that renames last decides for
            // both.
            Err(_) => self.rename(TempPath::persist).map(|()| true).map_err(|error| self.error(error)),
        }
    }

    /// Writes and closes the file, as some systems cannot rename an open one. Returns its size.
    fn complete(&mut self) -> io::Result<u64> {
        let Some(mut file) = self.file.take() else { return Ok(self.bytes) };
        file.flush()?;
        let file = file.get_ref();
        if let Some(permissions) = self.permissions.take() {
            file.set_permissions(permissions)?;
        }
        file.sync_all()?;
        self.bytes = file.metadata()?.len();
        Ok(self.bytes)
    }

    fn rename(
        &mut self,
        persist: impl FnOnce(TempPath, PathBuf) -> Result<(), tempfile::PathPersistError>,
    ) -> io::Result<()> {
        let mut drafts = lock();
        let Some(path) = self.path.take() else { return Ok(()) };
        let draft = path.to_path_buf();
        match persist(path, self.place.clone()) {
            Ok(()) => {
                // Another process may take the name of the draft from now on.
                drafts.retain(|entry| entry.path != draft);
                Ok(())
            }
            Err(error) => {
                self.path = Some(error.path);
                Err(error.error)
            }
        }
    }

    fn open(&mut self) -> io::Result<&mut BufWriter<File>> {
        self.file.as_mut().ok_or_else(|| io::Error::other("the draft is closed"))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let mut drafts = lock();
        if let Some(path) = self.path.take() {
            drafts.retain(|entry| entry.path != *path);
            // The buffer is given up, not written.
            if let Some(file) = self.file.take() {
                drop(file.into_parts());
            }
            // Nothing can be done about a file that cannot be removed.
            drop(path);
        }
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

/// The error of a file that cannot be written. It names the place, not the draft.
fn failed(place: &Path, source: io::Error) -> Error {
    Error::Io { file: place.to_path_buf(), source: with_hint_at(place, source) }
}

/// Removes all drafts, before the process ends. Threads that create or rename one wait from then on.
#[cfg_attr(not(unix), expect(dead_code, reason = "other systems have no signals"))]
pub fn remove_all() {
    let drafts = lock();
    for entry in drafts.iter() {
        if let Some(stop) = &entry.stop {
            stop();
        }
        // Nothing can be done about a file that cannot be removed.
        let _ = fs::remove_file(&entry.path);
    }
    std::mem::forget(drafts);
}

fn lock() -> MutexGuard<'static, Vec<Entry>> {
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_completed_gets_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("place");
        let keeps: [fn(Draft) -> bool; 2] = [|draft| draft.keep_if_new().is_ok(), |draft| draft.keep().is_ok()];
        for keep in keeps {
            for fails in [true, false] {
                let mut draft = Draft::create(&place).unwrap();
                if fails {
                    // A file that is open for reading alone takes no bytes, as on a full disk.
                    draft.file = draft.path.as_ref().map(|path| BufWriter::new(File::open(path).unwrap()));
                }
                draft.write_all(b"bytes").unwrap();
                assert_eq!((keep(draft), place.exists()), (!fails, !fails));
                assert_eq!(fs::read_dir(folder.path()).unwrap().count(), usize::from(!fails), "no draft is left");
            }
            fs::remove_file(&place).unwrap();
        }
    }
}
