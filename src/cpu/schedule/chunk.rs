//! Chunks of a crowd, which threads take one after the other and pose.
//!
//! A thread locks the queue only to take a chunk, or several small batches whose chunks it then makes without the lock
//! ([`ChunkQueue`], [`ThreadChunks`]). Within a chunk, it poses a group of instances after the other. The keys of the
//! next group are found first, and loaded while the outputs of this one are written; after the last group, the keys of
//! the next chunk, which is therefore taken ahead.

use std::slice;
use std::sync::Mutex;

use crate::cpu::block::outputs::OutputSlices;
use crate::cpu::goals::{Goals, ReachGoals};
use crate::cpu::keys::plan::ClipRuns;
use crate::cpu::keys::source::PackedSource;
use crate::cpu::pose::{self, MixGroup, Scratch, WriteGroup};
use crate::cpu::schedule::crowd::{CpuBatch, CpuCrowd, CrowdParameters};
use crate::cpu::schedule::{BatchSeries, instance_work, most_work};
use crate::cpu::simd::{Fence, Kernel, LARGEST_BLOCK, Lanes, Token, prefetch};
use crate::cpu::stages::decay::Displacements;
use crate::cpu::stages::{drive, root_motion};
use crate::model::{Mixing, Step};
use crate::pack::record::{DriveRecord, GoalRecord, LayerRecord};
use crate::pack::{OutputLayout, PackedBatch, PackedCrowd, PackedDisplacement, PackedLibrary};

/// The chunks that each of several threads must have at least to take one ahead.
const CHUNKS_TO_TAKE_AHEAD: usize = 8;

/// Instances of a chunk are a multiple of this number, so that kernels can take several at a time.
const MULTIPLE: usize = LARGEST_BLOCK;

/// The inputs of all chunks of a crowd.
struct ChunkInputs<'a> {
    library: &'a PackedLibrary,
    plans: &'a [(u32, ClipRuns)],
    drives: &'a [DriveRecord],
    goals: &'a [GoalRecord],
    displacements: &'a [PackedDisplacement],
    parameters: &'a CrowdParameters,
    prefetches: bool,
    past_caches: bool,
    threads: usize,
    /// The work of each thread, in joints.
    per_thread: usize,
}

impl<'a> ChunkInputs<'a> {
    /// The number of instances of a chunk of a batch.
    fn instances(&self, packed: &PackedBatch) -> usize {
        (most_work(self.per_thread) / instance_work(packed, self.library)).next_multiple_of(MULTIPLE).max(MULTIPLE)
    }

    /// The chunk of a part of a batch.
    fn chunk(&self, part: BatchPart<'a>) -> Chunk<'a> {
        let Self { library, plans, past_caches, prefetches, parameters, .. } = *self;
        let BatchPart { packed, layout, most, first, layers, to } = part;
        let skeleton = &library.skeletons[packed.skeleton.index()];
        let source = PackedSource { library, skeleton, plans, past_caches, prefetches };
        let layer_count = packed.layer_count;
        let chunk_work = most * instance_work(packed, library);
        // Otherwise, another thread might have none.
        let has_many = self.threads == 1 || self.per_thread >= CHUNKS_TO_TAKE_AHEAD * chunk_work;
        let takes_ahead = prefetches && has_many && layout.has_matrices();
        let own = first..first + layers.len() / layer_count;
        let places = packed.instances.start + own.start..packed.instances.start + own.end;
        let values = places.start * parameters.count..places.end * parameters.count;
        let driving = packed.first_drive.map(|first_drive| Driving {
            drives: &self.drives[first_drive + own.start * layer_count..first_drive + own.end * layer_count],
            before: &parameters.before[values.clone()],
            now: &parameters.now[values],
            parameter_count: parameters.count,
        });
        let goals = (packed.goal_count > 0).then(|| Goals {
            records: &self.goals[packed.first_goal..][..packed.goal_count * packed.instances.len()],
            goal_count: packed.goal_count,
            parameters: &parameters.now
                [packed.instances.start * parameters.count..packed.instances.end * parameters.count],
            parameter_count: parameters.count,
        });
        let goals = goals.map(|goals| goals.part(own.clone()));
        let displaced = Displacements { indices: &packed.displaced, all: self.displacements }.part(own);
        let plain = packed.mixing == Mixing::None;
        Chunk { source, layout, layers, driving, displaced, goals, layer_count, plain, takes_ahead, to }
    }
}

/// Neighbouring batches, and before them what is left of another one.
#[derive(Default)]
struct BatchQueue<'a> {
    rest: Option<BatchPart<'a>>,
    packed: &'a [PackedBatch],
    posed: &'a mut [CpuBatch],
    /// The layers of all instances of the batches.
    layers: &'a mut [LayerRecord],
}

/// Neighbouring instances of a batch.
struct BatchPart<'a> {
    packed: &'a PackedBatch,
    layout: OutputLayout,
    /// The most instances of a chunk.
    most: usize,
    /// The slot of the first instance.
    first: usize,
    layers: &'a mut [LayerRecord],
    to: OutputSlices<'a>,
}

impl<'a> BatchQueue<'a> {
    /// Splits off the first batches. Nothing may be left of another one before them.
    fn split_off(&mut self, series: BatchSeries) -> Self {
        Self {
            rest: None,
            packed: self.packed.split_off(..series.batches).unwrap_or_default(),
            posed: self.posed.split_off_mut(..series.batches).unwrap_or_default(),
            layers: self.layers.split_off_mut(..series.layers).unwrap_or_default(),
        }
    }

    /// Splits off the instances of the next chunk.
    fn next_part(&mut self, inputs: &ChunkInputs<'a>) -> Option<BatchPart<'a>> {
        let mut rest = match self.rest.take() {
            Some(rest) => rest,
            None => self.first(inputs)?,
        };
        let part = rest.split_chunk();
        self.rest = Some(rest).filter(|rest| !rest.layers.is_empty());
        Some(part)
    }

    /// Splits off the first batch.
    fn first(&mut self, inputs: &ChunkInputs<'a>) -> Option<BatchPart<'a>> {
        let (packed, posed) = (self.packed.split_off_first()?, self.posed.split_off_first_mut()?);
        let layers = self.layers.split_off_mut(..packed.layer_count * packed.instances.len())?;
        Some(BatchPart {
            packed,
            layout: posed.layout,
            most: inputs.instances(packed),
            first: 0,
            layers,
            to: OutputSlices::new(&mut posed.numbers),
        })
    }
}

impl BatchPart<'_> {
    /// Splits off the instances of a chunk, or all if there are fewer.
    fn split_chunk(&mut self) -> Self {
        let count = (self.most * self.packed.layer_count).min(self.layers.len());
        let layers = self.layers.split_off_mut(..count).unwrap_or_default();
        let first = self.first;
        self.first += self.most;
        Self { layers, first, to: self.to.split_off(&self.layout, self.most), ..*self }
    }
}

/// A crowd whose instances threads pose, chunk by chunk.
pub struct ChunkQueue<'a> {
    inputs: ChunkInputs<'a>,
    untaken: Mutex<Untaken<'a>>,
}

/// The batches that no thread has taken.
struct Untaken<'a> {
    series: slice::Iter<'a, BatchSeries>,
    batches: BatchQueue<'a>,
}

impl<'a> ChunkQueue<'a> {
    /// All instances of a crowd, for a number of threads.
    pub fn new(
        crowd: &'a mut CpuCrowd,
        library: &'a PackedLibrary,
        plans: &'a [(u32, ClipRuns)],
        threads: usize,
    ) -> Self {
        let CpuCrowd { packed, batches: posed, schedule, prefetches, past_caches, parameters, .. } = crowd;
        let PackedCrowd { layers, drives, goals, displacements, batches: packed, .. } = packed;
        let inputs = ChunkInputs {
            library,
            plans,
            drives,
            goals,
            displacements,
            parameters,
            prefetches: *prefetches,
            past_caches: *past_caches,
            threads,
            per_thread: schedule.work / threads,
        };
        let batches = BatchQueue { rest: None, packed, posed, layers };
        Self { inputs, untaken: Mutex::new(Untaken { series: schedule.series.iter(), batches }) }
    }

    /// Takes the next chunk of a large batch, or several small batches.
    ///
    /// It reads nothing of small batches: their records may be far away in memory, and threads wait for each other
    /// here.
    fn take(&self) -> Option<BatchQueue<'a>> {
        // A poisoned lock means that another thread has panicked, which the pool reports.
        let mut untaken = self.untaken.lock().ok()?;
        if untaken.batches.rest.is_none() {
            let series = *untaken.series.next()?;
            if series.batches > 1 {
                return Some(untaken.batches.split_off(series));
            }
        }
        Some(BatchQueue { rest: untaken.batches.next_part(&self.inputs), ..BatchQueue::default() })
    }
}

/// The chunks that a thread takes until none are left.
struct ThreadChunks<'a, 'b> {
    all: &'b ChunkQueue<'a>,
    /// The batches and the part that it has taken.
    own: BatchQueue<'a>,
}

impl<'a, 'b> ThreadChunks<'a, 'b> {
    /// Chunks that no other thread takes.
    fn new(all: &'b ChunkQueue<'a>) -> Self {
        Self { all, own: BatchQueue::default() }
    }
}

impl<'a> Iterator for ThreadChunks<'a, '_> {
    type Item = Chunk<'a>;

    fn next(&mut self) -> Option<Chunk<'a>> {
        loop {
            if let Some(part) = self.own.next_part(&self.all.inputs) {
                return Some(self.all.inputs.chunk(part));
            }
            self.own = self.all.take()?;
        }
    }
}

/// Instances in neighbouring slots of one batch. Instances of one clip are neighbours.
struct Chunk<'a> {
    /// The inputs of the stages.
    source: PackedSource<'a>,
    /// The numbers per instance in each output.
    layout: OutputLayout,
    /// The layers of all instances, `layer_count` per instance.
    layers: &'a mut [LayerRecord],
    /// The drivers of the layers, and the values of the parameters; without drivers, the layers are ready.
    driving: Option<Driving<'a>>,
    /// The transitions of the instances; empty if none is in one.
    displaced: Displacements<'a>,
    /// The goals of the instances; `None` if none has one.
    goals: Option<Goals<'a>>,
    layer_count: usize,
    /// If set, each instance has one layer that needs no mixing.
    plain: bool,
    /// If set, the next chunk is taken before this one is posed, so that its keys can be loaded meanwhile.
    takes_ahead: bool,
    /// The outputs of all instances.
    to: OutputSlices<'a>,
}

/// The drivers of the layers of a chunk, and the values of their parameters.
struct Driving<'a> {
    /// One per layer, instance after instance.
    drives: &'a [DriveRecord],
    /// The values in the frame before, instance after instance.
    before: &'a [f32],
    /// The values in this frame.
    now: &'a [f32],
    /// The number of values per instance.
    parameter_count: usize,
}

impl Driving<'_> {
    /// Sets the times and weights of the layers of all instances.
    fn drive(&self, library: &PackedLibrary, step: Step, layers: &mut [LayerRecord], layer_count: usize) {
        let arrays = &library.arrays;
        let instances = self.drives.chunks(layer_count).zip(layers.chunks_mut(layer_count));
        for (instance, (drives, layers)) in instances.enumerate() {
            let own = instance * self.parameter_count..(instance + 1) * self.parameter_count;
            // A step that goes nowhere begins with the present values.
            let before = if step.from == step.to { self.now } else { self.before };
            drive::drive(arrays, step, &before[own.clone()], &self.now[own], drives, layers);
        }
    }
}

/// The work of a thread in a frame: it poses chunks until none are left.
#[derive(Clone, Copy)]
pub struct PoseChunks<'a, 'b> {
    /// The crowd.
    pub queue: &'b ChunkQueue<'a>,
    /// The step at the end of which instances are posed.
    pub step: Step,
    /// The memory of threads that pose no frame at present.
    pub scratch: &'b Mutex<Vec<Scratch>>,
}

impl Kernel for PoseChunks<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, token: Token<L>) {
        let Self { queue, step, scratch: idle } = self;
        let taken = idle.lock().ok().and_then(|mut idle| idle.pop());
        let mut scratch = taken.unwrap_or_else(Scratch::new);
        // A crowd can be read after a panic, which unwinds past the end of this function.
        let fence = Fence;
        let mut chunks = ThreadChunks::new(queue);
        let mut next = chunks.next();
        let mut first_is_found = false;
        while let Some(chunk) = next {
            next = if chunk.takes_ahead { chunks.next() } else { None };
            let following = next.as_ref().map(|next| next.first_layers(L::BLOCK)).unwrap_or_default();
            pose_chunk(token, chunk, first_is_found, following, step, &mut scratch);
            first_is_found = !following.is_empty();
            next = next.or_else(|| chunks.next());
        }
        drop(fence);
        if let Ok(mut idle) = idle.lock() {
            idle.push(scratch);
        }
    }
}

impl Chunk<'_> {
    /// The layers of the first `count` instances, if their keys can be found at once.
    fn first_layers(&self, count: usize) -> &[LayerRecord] {
        if self.plain && self.driving.is_none() { &self.layers[..count.min(self.layers.len())] } else { &[] }
    }
}

/// Poses the instances of a chunk, a group at a time. While the outputs of a group are written, the keys of the next
/// one are loaded; after the last one, the keys of the layers that are `following` in another chunk. If
/// `first_is_found` is set, the keys of the first group were found with the chunk before.
#[inline(always)]
fn pose_chunk<L: Lanes>(
    token: Token<L>,
    chunk: Chunk,
    mut first_is_found: bool,
    following: &[LayerRecord],
    step: Step,
    scratch: &mut Scratch,
) {
    let Chunk { source, layout, layers, driving, displaced, goals, layer_count, plain, to, .. } = chunk;
    scratch.resize(source.skeleton.record.joint_count as usize, L::BLOCK);
    if let Some(driving) = driving {
        driving.drive(source.library, step, layers, layer_count);
    }
    let mut groups = layers.chunks(layer_count * L::BLOCK).zip(to.chunks(&layout, L::BLOCK)).enumerate().peekable();
    let mut sampled = None;
    loop {
        let next = match groups.peek() {
            Some((_, (layers, _))) if plain => *layers,
            // Groups that are mixed find their keys themselves.
            Some(_) => &[],
            None => following,
        };
        scratch.prefetcher.clear();
        if !first_is_found {
            scratch.found.find::<L>(source, next, step.to.0);
            if source.prefetches && sampled.is_some() && layout.has_matrices() {
                scratch.prefetcher.add_group(source, next, &scratch.found, &scratch.decoded);
            }
        }
        first_is_found = false;
        if let Some((instances, to)) = sampled {
            L::call(token, WriteGroup { source, instances, layout: &layout, scratch, to });
        }
        let Some((group, (layers, mut to))) = groups.next() else { break };
        // The records of the next group are read when this one is sampled.
        if let Some((_, (later, _))) = groups.peek() {
            prefetch(later);
        }
        if layout.root_motion > 0 {
            let motions = to.root_motion.chunks_mut(layout.root_motion);
            for (layers, to) in layers.chunks(layer_count).zip(motions) {
                root_motion::write(source.library, &source.skeleton.record, layers, step, &mut scratch.spans, to);
            }
        }
        if plain {
            pose::sample(token, source, layers, &layout, scratch, &mut to);
        } else {
            let (now, layout, to) = (step.to.0, &layout, &mut to);
            L::call(token, MixGroup { source, layers, layer_count, now, layout, scratch, to });
        }
        if !displaced.indices.is_empty() {
            let displaced = displaced.part(group * L::BLOCK..(group + 1) * L::BLOCK);
            pose::displace(source, displaced, step.to.0, &layout, scratch, &mut to);
        }
        if let Some(goals) = goals.filter(|_| layout.has_joints()) {
            let own = goals.part(group * L::BLOCK..(group + 1) * L::BLOCK);
            let instances = layers.len() / layer_count;
            let Scratch { reach: memory, parts, .. } = scratch;
            L::call(token, ReachGoals { source, goals: own, instances, memory, parts });
        }
        sampled = Some((layers.len() / layer_count, to));
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::cpu::CpuEngine;
    use crate::demo;
    use crate::model::{ClipId, Crowd, Layer, LayerTime, Library, Outputs};

    /// Rigs of several sizes with this many instances each. Instances of every third rig have two layers.
    fn crowd(counts: &[usize]) -> (Library, Crowd) {
        let (mut library, mut crowd) = (Library::new(), Crowd::new());
        for (rig, &count) in counts.iter().enumerate() {
            demo::add_rig(&mut library, 5 + 3 * (rig % 20), 3, 2).unwrap();
            let clip = ClipId(rig);
            let layers = vec![Layer::new(clip, LayerTime::At(0.01)); 1 + usize::from(rig % 3 == 0)];
            for _ in 0..count {
                crowd.push(library.clip(clip).skeleton, &layers).unwrap();
            }
        }
        (library, crowd)
    }

    /// A chunk: its skeleton, its instances, and whether its thread had it when it asked.
    type Taken = (usize, Range<usize>, bool);

    /// The chunks of threads that take them in turn, until each finds none.
    fn taken(counts: &[usize], threads: usize) -> Vec<Taken> {
        let (library, crowd) = crowd(counts);
        let engine = CpuEngine::with_threads(&library, threads).unwrap();
        let mut posed = engine.crowd(&crowd, Outputs::SKIN).unwrap();
        let address = |numbers: &[f32]| numbers.as_ptr() as usize;
        let starts: Vec<(usize, usize)> =
            posed.batches.iter().map(|batch| (batch.skeleton.index(), address(&batch.numbers.skin))).collect();
        let queue = ChunkQueue::new(&mut posed, engine.library(), &[], threads);
        let mut all: Vec<ThreadChunks> = (0..threads).map(|_| ThreadChunks::new(&queue)).collect();
        let mut found = Vec::new();
        let mut without_any = 0;
        for turn in 0.. {
            let chunks = &mut all[turn % threads];
            let is_own = !chunks.own.packed.is_empty();
            match chunks.next() {
                Some(chunk) => {
                    let count = chunk.layers.len() / chunk.layer_count;
                    assert_eq!(chunk.to.skin.len(), count * chunk.layout.skin);
                    let start = |&&(_, start): &&(usize, usize)| start <= address(chunk.to.skin);
                    let (skeleton, start) = starts.iter().filter(start).max_by_key(|(_, start)| start).unwrap();
                    let record = &engine.library().skeletons[*skeleton].record;
                    assert_eq!(*record, chunk.source.skeleton.record);
                    let first = (address(chunk.to.skin) - start) / (size_of::<f32>() * chunk.layout.skin);
                    found.push((*skeleton, first..first + count, is_own));
                    without_any = 0;
                }
                None => without_any += 1,
            }
            if without_any == threads {
                break;
            }
        }
        found
    }

    #[test]
    fn every_instance_is_in_one_chunk() {
        let mixed: Vec<usize> = (0..60).map(|rig| [1, 0, 3, 700, 17, 2][rig % 6]).collect();
        for counts in [vec![1000], vec![1; 200], vec![0, 5, 0], mixed, vec![]] {
            for threads in [1, 2, 5] {
                let mut instances: Vec<Vec<usize>> = vec![Vec::new(); counts.len()];
                for (skeleton, own, _) in taken(&counts, threads) {
                    instances[skeleton].extend(own);
                }
                for (instances, &count) in instances.iter_mut().zip(&counts) {
                    instances.sort_unstable();
                    assert!(instances.iter().copied().eq(0..count), "{threads} threads: {instances:?}");
                }
            }
        }
    }

    #[test]
    fn a_thread_takes_several_small_batches_and_cuts_large_ones() {
        let small = taken(&[1; 200], 2);
        assert_eq!(small.len(), 200);
        // Up to 512 joints at a time.
        let takes = small.iter().filter(|(_, _, is_own)| !is_own).count();
        assert!((20..40).contains(&takes), "{takes}");
        // 700 instances at a time would leave the other thread without work.
        let large = taken(&[1, 700, 1], 2);
        assert!(large.len() > 20 && large.iter().all(|(_, instances, is_own)| instances.len() <= 32 && !is_own));
    }
}
