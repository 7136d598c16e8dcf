//! The schedule of a crowd: which instances a thread takes at once.
//!
//! Work is counted in joints: the joints of all layers of an instance, and a fixed number per layer. Waking a thread
//! takes as long as some thousand joints, so that a small crowd has few threads. A thread takes a chunk of neighbouring
//! instances of one batch, poses it, and takes the next one, until none are left. Chunks are small enough that all
//! threads end at almost the same time, and large enough that taking one does not count. Batches with less work than a
//! chunk are taken several at once.
//!
//! [`crowd`] has the crowd and its poses, [`chunk`] takes chunks and poses them, and [`pool`] has the threads.

pub mod chunk;
pub mod crowd;
pub mod pool;

use crate::pack::{PackedBatch, PackedCrowd, PackedLibrary};

/// The fixed work per layer of an instance, as a number of joints.
const JOINTS_PER_LAYER: usize = 16;

/// The least work of a thread, in joints. For less, waking a thread takes longer.
const JOINTS_WORTH_A_THREAD: usize = 2048;

/// The most work of a chunk, in joints. The time to take a chunk does not count then.
const MAX_CHUNK_JOINTS: usize = 4096;

/// The least work of a chunk, in joints.
const MIN_CHUNK_JOINTS: usize = 512;

/// The number of chunks per thread, so that all threads end at almost the same time.
const CHUNKS_PER_THREAD: usize = 16;

/// The work of posing an instance, in joints.
fn instance_work(packed: &PackedBatch, library: &PackedLibrary) -> usize {
    let joints = library.skeletons[packed.skeleton.index()].record.joint_count as usize;
    packed.layer_count * (joints + JOINTS_PER_LAYER)
}

/// The number of threads for some work, in joints: as many as have enough of it, up to `most`.
fn threads(work: usize, most: usize) -> usize {
    most.min(work.div_ceil(JOINTS_WORTH_A_THREAD)).max(1)
}

/// The most work of a chunk, in joints, for threads that have this work each.
fn most_work(per_thread: usize) -> usize {
    (per_thread / CHUNKS_PER_THREAD).clamp(MIN_CHUNK_JOINTS, MAX_CHUNK_JOINTS)
}

/// The work of a crowd, and its batches in series that threads take.
#[derive(Debug, Default)]
pub struct Schedule {
    /// The work of posing all instances, in joints.
    work: usize,
    /// All batches in their order.
    series: Vec<BatchSeries>,
}

/// Neighbouring batches that a thread takes at once: small ones with the work of one chunk together, or a single one of
/// any size.
#[derive(Debug, Clone, Copy, Default)]
struct BatchSeries {
    /// The number of batches.
    batches: usize,
    /// The number of layers of all their instances together.
    layers: usize,
}

impl Schedule {
    /// The schedule of a crowd for up to `most_threads` threads.
    pub fn new(crowd: &PackedCrowd, library: &PackedLibrary, most_threads: usize) -> Self {
        let work_of = |batch: &PackedBatch| batch.instances.len() * instance_work(batch, library);
        let work = crowd.batches.iter().map(work_of).sum();
        let most = most_work(work / threads(work, most_threads));
        let mut all: Vec<BatchSeries> = Vec::new();
        let mut last_work = 0;
        for batch in &crowd.batches {
            let own_work = work_of(batch);
            if all.is_empty() || last_work + own_work > most {
                all.push(BatchSeries::default());
                last_work = 0;
            }
            if let Some(last) = all.last_mut() {
                last.batches += 1;
                last.layers += batch.layer_count * batch.instances.len();
            }
            last_work += own_work;
        }
        Self { work, series: all }
    }

    /// The number of threads that pose the crowd, up to `most`.
    pub fn threads(&self, most: usize) -> usize {
        threads(self.work, most)
    }
}
