//! A crowd, cut into portions that threads take one after the other.

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

/// Where each of several threads has at least this many portions, it takes one ahead.
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

/// The work of a crowd, and where it is cut.
#[derive(Debug, Default)]
pub struct Cuts {
    /// The work of posing all instances, in joints.
    work: usize,
    /// All batches in their order.
    series: Vec<Series>,
}

/// Neighbouring batches that a thread takes at once: small ones that are a portion together, or a single one of any size.
#[derive(Debug, Clone, Copy, Default)]
struct Series {
    batches: usize,
    /// The layers of all their instances.
    layers: usize,
}

impl Cuts {
    /// Cuts a crowd for up to `most` threads.
    pub fn new(crowd: &PackedCrowd, library: &PackedLibrary, most: usize) -> Self {
        let work_of = |batch: &PackedBatch| batch.instances.len() * instance_work(batch, library);
        let work = crowd.batches.iter().map(work_of).sum();
        let most = most_work(work / threads(work, most));
        let mut series: Vec<Series> = Vec::new();
        // The work of the last series.
        let mut last = most;
        for batch in &crowd.batches {
            let own = work_of(batch);
            if last + own > most {
                series.push(Series::default());
                last = 0;
            }
            if let Some(series) = series.last_mut() {
                series.batches += 1;
                series.layers += batch.layer_count * batch.instances.len();
            }
            last += own;
        }
        Self { work, series }
    }

    /// The number of threads that pose the crowd, up to `most`.
    pub fn threads(&self, most: usize) -> usize {
        threads(self.work, most)
    }
}

/// What the portions of a crowd have in common.
#[derive(Clone, Copy)]
struct Common<'a> {
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

impl<'a> Common<'a> {
    /// The instances of a portion of a batch.
    fn instances(self, packed: &PackedBatch) -> usize {
        (most_work(self.per_thread) / instance_work(packed, self.library)).next_multiple_of(MULTIPLE).max(MULTIPLE)
    }

    fn portion(self, part: Part<'a>) -> Portion<'a> {
        let Self { library, plans, past_caches, prefetches, parameters, .. } = self;
        let Part { packed, layout, first, layers, to } = part;
        let skeleton = &library.skeletons[packed.skeleton.index()];
        let source = Source { library, skeleton, plans, past_caches, prefetches };
        let layer_count = packed.layer_count;
        let portion_work = self.instances(packed) * instance_work(packed, library);
        // Otherwise, another thread might have none.
        let has_many = self.threads == 1 || self.per_thread >= PORTIONS_TO_TAKE_AHEAD * portion_work;
        let takes_ahead = prefetches && has_many && layout.has_matrices();
        let own = first..first + layers.len() / layer_count;
        let places = packed.instances.start + own.start..packed.instances.start + own.end;
        let values = places.start * parameters.count..places.end * parameters.count;
        let driving = packed.first_drive.map(|first_drive| Driving {
            drives: &self.drives[first_drive + own.start * layer_count..first_drive + own.end * layer_count],
            before: &parameters.before[values.clone()],
            now: &parameters.now[values.clone()],
            parameter_count: parameters.count,
        });
        let goals = (packed.goal_count > 0).then(|| Goals {
            records: &self.goals[packed.first_goal + own.start * packed.goal_count..][..own.len() * packed.goal_count],
            goal_count: packed.goal_count,
            parameters: &parameters.now[values],
            parameter_count: parameters.count,
        });
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
    fn next_part(&mut self, common: Common<'a>) -> Option<Part<'a>> {
        let mut rest = match self.rest.take() {
            Some(rest) => rest,
            None => self.first()?,
        };
        let part = rest.split_off(common.instances(rest.packed));
        self.rest = Some(rest).filter(|rest| !rest.layers.is_empty());
        Some(part)
    }

    /// Splits off the first batch.
    fn first(&mut self) -> Option<Part<'a>> {
        let (packed, posed) = (self.packed.split_off_first()?, self.posed.split_off_first_mut()?);
        let layers = self.layers.split_off_mut(..packed.layer_count * packed.instances.len())?;
        Some(Part { packed, layout: posed.layout, first: 0, layers, to: OutputSlices::new(&mut posed.numbers) })
    }
}

impl Part<'_> {
    /// Splits off the first `instances` instances, or all if there are fewer.
    fn split_off(&mut self, instances: usize) -> Self {
        let count = (instances * self.packed.layer_count).min(self.layers.len());
        let layers = self.layers.split_off_mut(..count).unwrap_or_default();
        let first = self.first;
        self.first += instances;
        Self { layers, first, to: self.to.split_off(&self.layout, instances), ..*self }
    }
}

/// The batches of a crowd that no thread has taken.
pub struct Uncut<'a> {
    common: Common<'a>,
    series: slice::Iter<'a, Series>,
    batches: Batches<'a>,
}

impl<'a> Uncut<'a> {
    /// All batches of a crowd, for a number of threads.
    pub fn new(crowd: &'a mut CpuCrowd, library: &'a PackedLibrary, plans: &'a [(u32, Plan)], threads: usize) -> Self {
        let CpuCrowd { packed, batches: posed, cuts, prefetches, past_caches, parameters, .. } = crowd;
        let PackedCrowd { layers, drives, goals, displacements, batches: packed, .. } = packed;
        let common = Common {
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
        Self { common, series: cuts.series.iter(), batches: Batches { rest: None, packed, posed, layers } }
    }

    /// Takes the next portion of a large batch, or several small batches.
    ///
    /// Of small batches, it reads nothing: their records may be far away in memory, and threads wait for each other here.
    fn take(&mut self) -> Option<Batches<'a>> {
        if self.batches.rest.is_none() {
            let series = self.series.next()?;
            if series.batches > 1 {
                return Some(self.batches.split_off(*series));
            }
        }
        Some(Batches { rest: self.batches.next_part(self.common), ..Batches::default() })
    }
}

/// The portions that a thread takes, until no thread has left any.
pub struct Portions<'a, 'b> {
    common: Common<'a>,
    all: &'b Mutex<Uncut<'a>>,
    /// What it has taken.
    own: Batches<'a>,
}

impl<'a, 'b> Portions<'a, 'b> {
    /// Portions of the batches that no thread has taken; none if another thread has panicked.
    pub fn new(all: &'b Mutex<Uncut<'a>>) -> Option<Self> {
        let common = all.lock().ok()?.common;
        Some(Self { common, all, own: Batches::default() })
    }
}

impl<'a> Iterator for Portions<'a, '_> {
    type Item = Portion<'a>;

    fn next(&mut self) -> Option<Portion<'a>> {
        loop {
            if let Some(part) = self.own.next_part(self.common) {
                return Some(self.common.portion(part));
            }
            // A poisoned lock means that another thread has panicked, which the pool reports.
            self.own = self.all.lock().ok()?.take()?;
        }
    }
}

#[cfg(test)]
mod tests {
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

    /// The skeleton and the number of instances of each portion, and whether a thread took it together with the one before. Threads take
    /// portions in turn.
    fn taken(counts: &[usize], threads: usize) -> Vec<(usize, usize, bool)> {
        let (library, crowd) = crowd(counts);
        let engine = CpuEngine::with_threads(&library, threads).unwrap();
        let mut posed = engine.crowd(&crowd, Outputs::SKIN).unwrap();
        let uncut = Mutex::new(Uncut::new(&mut posed, engine.library(), &[], threads));
        let mut all: Vec<Portions> = (0..threads).map(|_| Portions::new(&uncut).unwrap()).collect();
        let mut found = Vec::new();
        while let Some(portions) = all.iter_mut().max_by_key(|portions| portions.own.packed.len()) {
            let is_own = !portions.own.packed.is_empty() || portions.own.rest.is_some();
            let Some(portion) = portions.next() else { break };
            let skeletons = &engine.library().skeletons;
            let skeleton = skeletons.iter().position(|skeleton| std::ptr::eq(skeleton, portion.source.skeleton));
            let instances = portion.layers.len() / portion.layer_count;
            assert_eq!(portion.to.skin.len(), instances * portion.layout.skin);
            assert_eq!(portion.layout.skin, 12 * portion.source.skeleton.record.skin_joint_count as usize);
            found.push((skeleton.unwrap(), instances, is_own));
        }
        found
    }

    #[test]
    fn every_instance_is_in_one_portion() {
        let mixed: Vec<usize> = (0..60).map(|rig| [1, 0, 3, 700, 17, 2][rig % 6]).collect();
        for counts in [vec![1000], vec![1; 200], vec![0, 5, 0], mixed, vec![]] {
            for threads in [1, 2, 5] {
                let mut sums = vec![0; counts.len()];
                taken(&counts, threads).into_iter().for_each(|(skeleton, instances, _)| sums[skeleton] += instances);
                assert_eq!(sums, counts, "{threads} threads");
            }
        }
    }

    #[test]
    fn a_thread_takes_several_small_batches_and_cuts_large_ones() {
        // Of 512 joints or more each.
        let small = taken(&[1; 200], 2);
        assert_eq!(small.len(), 200);
        let takes = small.iter().filter(|(_, _, is_own)| !is_own).count();
        assert!((20..40).contains(&takes), "{takes}");
        // 700 instances at a time would leave the other thread without work.
        let large = taken(&[1, 700, 1], 2);
        assert!(large.len() > 20 && large.iter().all(|&(_, instances, is_own)| instances <= 32 && !is_own));
    }
}
