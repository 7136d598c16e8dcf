//! Unfinished files: files under temporary names, which a signal removes before it ends the process.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The unfinished files of the process. While the list is locked, no signal ends the process.
static FILES: Mutex<Vec<Entry>> = Mutex::new(Vec::new());
/// The number of the next temporary name.
static NEXT: AtomicU64 = AtomicU64::new(0);
/// The largest number of temporary names that are tried. An earlier process with the same number may have left some.
const ATTEMPTS: u64 = 1000;

/// A file in the list.
struct Entry {
    path: PathBuf,
    /// Ends the program that writes the file, if it is another one.
    #[cfg_attr(not(unix), expect(dead_code, reason = "other systems have no signals"))]
    stop: Option<Box<dyn Fn() + Send>>,
}

/// A file under a temporary name. It is removed on drop, or by a signal that ends the process, unless it was renamed.
#[derive(Debug)]
pub struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    /// Creates a file that does not exist.
    pub fn create(path: PathBuf) -> io::Result<(Self, File)> {
        let mut files = lock();
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        files.push(Entry { path: path.clone(), stop: None });
        Ok((Self { path }, file))
    }

    /// Creates a file in the folder of another one. The name is short, so that it is valid wherever the other name is.
    pub fn create_beside(target: &Path) -> io::Result<(Self, File)> {
        let mut last = ErrorKind::AlreadyExists.into();
        for _ in 0..ATTEMPTS {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!(".posse-{}-{number}.part", std::process::id());
            match Self::create(target.with_file_name(name)) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => last = error,
                result => return result,
            }
        }
        Err(last)
    }

    /// Starts a program that writes a file. `file` returns the path, and a function that ends the program, which runs before a signal
    /// removes the file. No signal ends this process while the program starts.
    pub fn of_program<T, E, S: Fn() + Send + 'static>(
        start: impl FnOnce() -> Result<T, E>,
        file: impl FnOnce(&T) -> (PathBuf, S),
    ) -> Result<(T, Self), E> {
        let mut files = lock();
        let program = start()?;
        let (path, stop) = file(&program);
        files.push(Entry { path: path.clone(), stop: Some(Box::new(stop)) });
        Ok((program, Self { path }))
    }

    /// The temporary path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name. It replaces a file of that name.
    pub fn rename(self, target: &Path) -> io::Result<()> {
        let mut files = lock();
        fs::rename(&self.path, target)?;
        // Another process may take the temporary name from now on.
        files.retain(|entry| entry.path != self.path);
        drop(files);
        mem::forget(self);
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut files = lock();
        // The file no longer exists if it was renamed.
        let _ = fs::remove_file(&self.path);
        if let Some(index) = files.iter().position(|entry| entry.path == self.path) {
            files.swap_remove(index);
        }
    }
}

/// Calls a function during which no signal ends the process.
pub fn without_signals<T>(work: impl FnOnce() -> T) -> T {
    let _files = lock();
    work()
}

/// Removes all unfinished files, before the process ends. Threads that create or rename a file wait from then on.
#[cfg_attr(not(unix), expect(dead_code, reason = "other systems have no signals"))]
pub fn remove_all() {
    let files = lock();
    for entry in files.iter() {
        if let Some(stop) = &entry.stop {
            stop();
        }
        // Nothing can be done about a file that cannot be removed.
        let _ = fs::remove_file(&entry.path);
    }
    mem::forget(files);
}

fn lock() -> MutexGuard<'static, Vec<Entry>> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}
