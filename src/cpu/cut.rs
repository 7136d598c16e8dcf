//! A crowd, cut into portions that threads take one after the other.
//!
//! A crowd is divided at three places. The packing sorts the instances by skeleton and by the mixing that they need,
//! into batches. The GPU engine divides a batch again if it exceeds a limit of the device. The CPU engine divides all
//! batches here into chunks, which threads take one after the other; of small batches a thread takes several at once,
//! because their records are in no cache and the other threads wait for the lock meanwhile.
//!
//! A chunk has instances in neighbouring slots. Instances of one clip are neighbours, in the order of their times at
//! tick 0, so that neighbours read the same keys.

use std::slice;
use std::sync::Mutex;

use crate::cpu::crowd::{CpuBatch, CpuCrowd, Parameters};
use crate::cpu::goals::Goals;
use crate::cpu::plan::Plan;
use crate::cpu::portion::{Displacements, Driving, Portion};
use crate::cpu::simd::LARGEST_BLOCK;
use crate::cpu::source::{OutputSlices, Source};
use crate::model::Mixing;
use crate::pack::record::{DriveRecord, GoalRecord, LayerRecord};
use crate::pack::{OutputLayout, PackedBatch, PackedCrowd, PackedDisplacement, PackedLibrary};

/// The fixed work per layer of an instance, as a number of joints.
const JOINTS_PER_LAYER: usize = 16;

/// The least work of a thread, in joints. For less, waking a thread takes longer.
const JOINTS_WORTH_A_THREAD: usize = 2048;

/// The most work of a portion, in joints. The time to take a portion does not count then.
const MOST_JOINTS: usize = 4096;

/// The least work of a portion, in joints.
const LEAST_JOINTS: usize = 512;

/// The number of portions per thread, so that all threads end at almost the same time.
const PORTIONS_PER_THREAD: usize = 16;

/// The portions that each of several threads must have at least to take one ahead.
const PORTIONS_TO_TAKE_AHEAD: usize = 8;

/// Instances of a portion are a multiple of this number, so that kernels can take several at a time.
const MULTIPLE: usize = LARGEST_BLOCK;

/// The work of posing an instance, in joints.
fn instance_work(packed: &PackedBatch, library: &PackedLibrary) -> usize {
    let joints = library.skeletons[packed.skeleton.index()].record.joint_count as usize;
    packed.layer_count * (joints + JOINTS_PER_LAYER)
}

/// The number of threads for some work, in joints: as many as have enough of it, up to `most`.
fn threads(work: usize, most: usize) -> usize {
    most.min(work.div_ceil(JOINTS_WORTH_A_THREAD)).max(1)
}

/// The most work of a portion, in joints, for threads that have this work each.
fn most_work(per_thread: usize) -> usize {
    (per_thread / PORTIONS_PER_THREAD).clamp(LEAST_JOINTS, MOST_JOINTS)
}

/// The work of a crowd, and its batches in series that threads take.
#[derive(Debug, Default)]
pub struct Cuts {
    /// The work of posing all instances, in joints.
    work: usize,
    /// All batches in their order.
    series: Vec<Series>,
}

/// Neighbouring batches that a thread takes at once: small ones with the work of one portion together, or a single one of any size.
#[derive(Debug, Clone, Copy, Default)]
struct Series {
    /// The number of batches.
    batches: usize,
    /// The number of layers of all their instances together.
    layers: usize,
}

impl Cuts {
    /// Cuts a crowd for up to `most_threads` threads.
    pub fn new(crowd: &PackedCrowd, library: &PackedLibrary, most_threads: usize) -> Self {
        let work_of = |batch: &PackedBatch| batch.instances.len() * instance_work(batch, library);
        let work = crowd.batches.iter().map(work_of).sum();
        let most = most_work(work / threads(work, most_threads));
        let mut all: Vec<Series> = Vec::new();
        let mut last_work = 0;
        for batch in &crowd.batches {
            let own_work = work_of(batch);
            if all.is_empty() || last_work + own_work > most {
                all.push(Series::default());
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

/// The inputs of all portions of a crowd.
struct Inputs<'a> {
    library: &'a PackedLibrary,
    plans: &'a [(u32, Plan)],
    drives: &'a [DriveRecord],
    goals: &'a [GoalRecord],
    displacements: &'a [PackedDisplacement],
    parameters: &'a Parameters,
    prefetches: bool,
    past_caches: bool,
    threads: usize,
    /// The work of each thread, in joints.
    per_thread: usize,
}

impl<'a> Inputs<'a> {
    /// The number of instances of a portion of a batch.
    fn instances(&self, packed: &PackedBatch) -> usize {
        (most_work(self.per_thread) / instance_work(packed, self.library)).next_multiple_of(MULTIPLE).max(MULTIPLE)
    }

    /// The portion of a part of a batch.
    fn portion(&self, part: Part<'a>) -> Portion<'a> {
        let Self { library, plans, past_caches, prefetches, parameters, .. } = *self;
        let Part { packed, layout, most, first, layers, to } = part;
        let skeleton = &library.skeletons[packed.skeleton.index()];
        let source = Source { library, skeleton, plans, past_caches, prefetches };
        let layer_count = packed.layer_count;
        let portion_work = most * instance_work(packed, library);
        // Otherwise, another thread might have none.
        let has_many = self.threads == 1 || self.per_thread >= PORTIONS_TO_TAKE_AHEAD * portion_work;
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
        Portion { source, layout, layers, driving, displaced, goals, layer_count, plain, takes_ahead, to }
    }
}

/// Neighbouring batches, and before them what is left of another one.
#[derive(Default)]
struct Batches<'a> {
    rest: Option<Part<'a>>,
    packed: &'a [PackedBatch],
    posed: &'a mut [CpuBatch],
    /// The layers of all instances of the batches.
    layers: &'a mut [LayerRecord],
}

/// Neighbouring instances of a batch.
struct Part<'a> {
    packed: &'a PackedBatch,
    layout: OutputLayout,
    /// The most instances of a portion.
    most: usize,
    /// The slot of the first instance.
    first: usize,
    layers: &'a mut [LayerRecord],
    to: OutputSlices<'a>,
}

impl<'a> Batches<'a> {
    /// Splits off the first batches. Nothing may be left of another one before them.
    fn split_off(&mut self, series: Series) -> Self {
        Self {
            rest: None,
            packed: self.packed.split_off(..series.batches).unwrap_or_default(),
            posed: self.posed.split_off_mut(..series.batches).unwrap_or_default(),
            layers: self.layers.split_off_mut(..series.layers).unwrap_or_default(),
        }
    }

    /// Splits off the instances of the next portion.
    fn next_part(&mut self, inputs: &Inputs<'a>) -> Option<Part<'a>> {
        let mut rest = match self.rest.take() {
            Some(rest) => rest,
            None => self.first(inputs)?,
        };
        let part = rest.split_portion();
        self.rest = Some(rest).filter(|rest| !rest.layers.is_empty());
        Some(part)
    }

    /// Splits off the first batch.
    fn first(&mut self, inputs: &Inputs<'a>) -> Option<Part<'a>> {
        let (packed, posed) = (self.packed.split_off_first()?, self.posed.split_off_first_mut()?);
        let layers = self.layers.split_off_mut(..packed.layer_count * packed.instances.len())?;
        Some(Part {
            packed,
            layout: posed.layout,
            most: inputs.instances(packed),
            first: 0,
            layers,
            to: OutputSlices::new(&mut posed.numbers),
        })
    }
}

impl Part<'_> {
    /// Splits off the instances of a portion, or all if there are fewer.
    fn split_portion(&mut self) -> Self {
        let count = (self.most * self.packed.layer_count).min(self.layers.len());
        let layers = self.layers.split_off_mut(..count).unwrap_or_default();
        let first = self.first;
        self.first += self.most;
        Self { layers, first, to: self.to.split_off(&self.layout, self.most), ..*self }
    }
}

/// A crowd whose instances threads pose, portion by portion.
pub struct Cutting<'a> {
    inputs: Inputs<'a>,
    untaken: Mutex<Untaken<'a>>,
}

/// The batches that no thread has taken.
struct Untaken<'a> {
    series: slice::Iter<'a, Series>,
    batches: Batches<'a>,
}

impl<'a> Cutting<'a> {
    /// All instances of a crowd, for a number of threads.
    pub fn new(crowd: &'a mut CpuCrowd, library: &'a PackedLibrary, plans: &'a [(u32, Plan)], threads: usize) -> Self {
        let CpuCrowd { packed, batches: posed, cuts, prefetches, past_caches, parameters, .. } = crowd;
        let PackedCrowd { layers, drives, goals, displacements, batches: packed, .. } = packed;
        let inputs = Inputs {
            library,
            plans,
            drives,
            goals,
            displacements,
            parameters,
            prefetches: *prefetches,
            past_caches: *past_caches,
            threads,
            per_thread: cuts.work / threads,
        };
        let batches = Batches { rest: None, packed, posed, layers };
        Self { inputs, untaken: Mutex::new(Untaken { series: cuts.series.iter(), batches }) }
    }

    /// Takes the next portion of a large batch, or several small batches.
    ///
    /// It reads nothing of small batches: their records may be far away in memory, and threads wait for each other here.
    fn take(&self) -> Option<Batches<'a>> {
        // A poisoned lock means that another thread has panicked, which the pool reports.
        let mut untaken = self.untaken.lock().ok()?;
        if untaken.batches.rest.is_none() {
            let series = *untaken.series.next()?;
            if series.batches > 1 {
                return Some(untaken.batches.split_off(series));
            }
        }
        Some(Batches { rest: untaken.batches.next_part(&self.inputs), ..Batches::default() })
    }
}

/// The portions that a thread takes until none are left.
pub struct Portions<'a, 'b> {
    all: &'b Cutting<'a>,
    /// The batches and the part that it has taken.
    own: Batches<'a>,
}

impl<'a, 'b> Portions<'a, 'b> {
    /// Portions that no other thread takes.
    pub fn new(all: &'b Cutting<'a>) -> Self {
        Self { all, own: Batches::default() }
    }
}

impl<'a> Iterator for Portions<'a, '_> {
    type Item = Portion<'a>;

    fn next(&mut self) -> Option<Portion<'a>> {
        loop {
            if let Some(part) = self.own.next_part(&self.all.inputs) {
                return Some(self.all.inputs.portion(part));
            }
            self.own = self.all.take()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::cpu::CpuEngine;
    use crate::demo;
    use crate::model::{ClipId, Crowd, Layer, LayerTime, Library, Outputs};

    /// Rigs of several sizes with this many instances each. Those of every third rig have two layers.
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

    /// A portion: its skeleton, its instances, and whether its thread had it when it asked.
    type Taken = (usize, Range<usize>, bool);

    /// The portions of threads that take them in turn, until each finds none.
    fn taken(counts: &[usize], threads: usize) -> Vec<Taken> {
        let (library, crowd) = crowd(counts);
        let engine = CpuEngine::with_threads(&library, threads).unwrap();
        let mut posed = engine.crowd(&crowd, Outputs::SKIN).unwrap();
        let address = |numbers: &[f32]| numbers.as_ptr() as usize;
        let starts: Vec<(usize, usize)> =
            posed.batches.iter().map(|batch| (batch.skeleton.index(), address(&batch.numbers.skin))).collect();
        let cutting = Cutting::new(&mut posed, engine.library(), &[], threads);
        let mut all: Vec<Portions> = (0..threads).map(|_| Portions::new(&cutting)).collect();
        let mut found = Vec::new();
        let mut without_any = 0;
        for turn in 0.. {
            let portions = &mut all[turn % threads];
            let is_own = !portions.own.packed.is_empty();
            match portions.next() {
                Some(portion) => {
                    let count = portion.layers.len() / portion.layer_count;
                    assert_eq!(portion.to.skin.len(), count * portion.layout.skin);
                    let start = |&&(_, start): &&(usize, usize)| start <= address(portion.to.skin);
                    let (skeleton, start) = starts.iter().filter(start).max_by_key(|(_, start)| start).unwrap();
                    let record = &engine.library().skeletons[*skeleton].record;
                    assert_eq!(*record, portion.source.skeleton.record);
                    let first = (address(portion.to.skin) - start) / (size_of::<f32>() * portion.layout.skin);
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
    fn every_instance_is_in_one_portion() {
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
