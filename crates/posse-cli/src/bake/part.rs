//! The files of a share: clips of all workers, in the order of the list.
//!
//! Parquet has one file per share, in the order of the list. A worker keeps its finished clip, in memory or in a file
//! without a name, until all earlier files are done. At most one clip per worker waits.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use posse::Error;

use crate::bake::facts::Facts;
use crate::bake::format::packed::CopiedClip;
use crate::bake::format::{ClipHead, ClipWriter, PartWriter};
use crate::bake::job::Job;
use crate::bake::spool::Spool;
use crate::draft::Draft;

/// The time after which a waiting worker looks if the bake has stopped.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The writer of a share, and the order of its files.
///
/// Workers begin files in the order of the list, and a worker keeps at most one clip that waits for earlier ones. The
/// worker of the earliest file never waits.
pub struct ShareWriter<'a> {
    writer: Mutex<Box<dyn PartWriter + 'a>>,
    turns: Mutex<FinishedFiles>,
    changed: Condvar,
}

/// The files that are done.
#[derive(Default)]
struct FinishedFiles {
    /// The first file that is not done.
    next: usize,
    /// Files after it that are done.
    done: BTreeSet<usize>,
}

impl<'a> ShareWriter<'a> {
    /// A share without clips.
    pub fn new(writer: Box<dyn PartWriter + 'a>) -> Self {
        Self { writer: Mutex::new(writer), turns: Mutex::default(), changed: Condvar::new() }
    }

    /// The turn of a file, by its index among the files of the share.
    pub fn turn(&self, file: usize) -> Turn<'_, 'a> {
        Turn { part: self, file, written: Cell::default() }
    }

    /// Declares the arrays of a share without clips.
    pub fn declare(&mut self, head: &ClipHead) -> Result<(), Error> {
        self.writer.get_mut().unwrap_or_else(PoisonError::into_inner).declare(head)
    }

    /// Completes the files.
    pub fn finish(self) -> Result<(), Error> {
        self.writer.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
    }

    fn turns(&self) -> MutexGuard<'_, FinishedFiles> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The turn of a file. It ends when this value is dropped, whatever becomes of the file.
pub struct Turn<'p, 'w> {
    part: &'p ShareWriter<'w>,
    file: usize,
    /// The name of the file of the share that has the last clip.
    written: Cell<String>,
}

impl Turn<'_, '_> {
    /// The name of the file of the share to which the last clip has gone. It is returned once.
    pub fn take_part(&self) -> String {
        self.written.take()
    }

    /// Adds a clip of merged files when all earlier files are done. Returns the name of the file that has it.
    pub fn add_copy(&self, job: &Job, clip: &CopiedClip) -> Result<String, Error> {
        self.wait(job)?;
        self.part.writer.lock().unwrap_or_else(PoisonError::into_inner).add_copy(clip)
    }

    /// Waits until all earlier files are done. Fails if the bake stops.
    fn wait(&self, job: &Job) -> Result<(), Error> {
        let mut turns = self.part.turns();
        while turns.next < self.file {
            if job.is_stopped() {
                return Err(Error::Usage("the bake has stopped".into()));
            }
            let waited = self.part.changed.wait_timeout(turns, LOOK_EVERY);
            turns = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(())
    }
}

impl Drop for Turn<'_, '_> {
    fn drop(&mut self) {
        let mut turns = self.part.turns();
        turns.done.insert(self.file);
        while let Some(next) = Some(turns.next).filter(|next| turns.done.contains(next)) {
            turns.done.remove(&next);
            turns.next += 1;
        }
        self.part.changed.notify_all();
    }
}

/// A clip that goes to the files of its share when it is complete.
pub struct PartClip<'a, 'w> {
    job: &'a Job<'a>,
    turn: &'a Turn<'a, 'w>,
    head: ClipHead<'a>,
    spool: Spool,
}

impl<'a, 'w> PartClip<'a, 'w> {
    /// A clip without frames. A large clip takes room in `folder` while it waits.
    pub fn new(job: &'a Job<'a>, turn: &'a Turn<'a, 'w>, head: ClipHead<'a>, folder: &Path) -> Self {
        let spool = Spool::new(head.layout, folder);
        Self { job, turn, head, spool }
    }
}

impl ClipWriter for PartClip<'_, '_> {
    fn append(&mut self, times: &[f64], arrays: &[Vec<f32>]) -> Result<(), Error> {
        self.spool.append(times, arrays)
    }

    fn finish(mut self: Box<Self>, facts: &Facts) -> Result<Option<Draft>, Error> {
        self.spool.rewind()?;
        self.turn.wait(self.job)?;
        let mut writer = self.turn.part.writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.turn.written.set(writer.add(&self.head, &mut self.spool, facts)?);
        Ok(None)
    }
}
