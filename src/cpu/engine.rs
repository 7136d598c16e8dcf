//! The CPU engine: it divides the instances of a crowd between threads.

use std::sync::Mutex;

use crate::cpu::keys::plan::ClipRuns;
use crate::cpu::keys::prefetch;
use crate::cpu::keys::source::PackedSource;
use crate::cpu::pose::Scratch;
use crate::cpu::schedule::Schedule;
use crate::cpu::schedule::chunk::{ChunkQueue, PoseChunks};
use crate::cpu::schedule::crowd::{CpuBatch, CpuCrowd, CrowdParameters};
use crate::cpu::schedule::pool::Pool;
use crate::cpu::simd::{InstructionSet, LARGEST_BLOCK};
use crate::cpu::stages::events::{self, Follower, InstanceLayer};
use crate::cpu::stages::quantized;
use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::model::{Crowd, EventList, Library, Outputs, Pose, Poses, SkeletonId, Step, Ticks, no_such};
use crate::pack::record::{DRIVE_KNOTS, DRIVE_MIN_WEIGHT, DRIVE_POINT, DRIVE_SYNCED, LayerRecord};
use crate::pack::{
    CrowdOptions, OutputLayout, OutputNumbers, PackedCrowd, PackedLibrary, Sizes, VALUES_BEHIND_KEYS, all_threads,
    parameter_count,
};
use crate::pieces::{self, Group};

/// The CPU engine: evaluates crowds on all cores, with the widest SIMD registers of the machine.
///
/// To evaluate frames, make a [`CpuCrowd`] once by [`crowd`](Self::crowd) and [`pose`](Self::pose) it per frame: its
/// arrays are reused. [`Evaluator::evaluate`] packs the crowd on every call, and returns all poses in `f64`.
///
/// # Examples
/// ```
/// use posse::cpu::CpuEngine;
/// use posse::{Crowd, Layer, LayerTime, Outputs, Ticks, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let walk = library.find_clip("walk").expect("the demo library has a clip `walk`");
/// let mut crowd = Crowd::new();
/// crowd.push(library.clip(walk).skeleton, &[Layer::new(walk, LayerTime::At(0.5))])?;
///
/// let engine = CpuEngine::new(&library)?;
/// let mut posed = engine.crowd(&crowd, Outputs::ALL)?;
/// engine.pose(&mut posed, Ticks(0));
/// let pose = engine.read(&posed, 0, Outputs::ALL);
/// assert_eq!(pose.local.len(), 64);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CpuEngine {
    library: PackedLibrary,
    /// The plans of the clips, sorted by the offsets of the clips' records.
    plans: Box<[(u32, ClipRuns)]>,
    /// The number of libraries that the engine has replaced.
    replacements: u64,
    pool: Pool,
    instructions: InstructionSet,
    /// The memory of threads that pose no frame at present.
    scratch: Mutex<Vec<Scratch>>,
}

impl CpuEngine {
    /// An engine for a library, on all cores. Clips that are added to the library later need a new engine.
    ///
    /// # Errors
    /// The errors of [`PackedLibrary::new`].
    pub fn new(library: &Library) -> Result<Self, Error> {
        Self::with_threads(library, all_threads())
    }

    /// An engine for a library with `threads` threads. 0 counts as 1.
    ///
    /// # Errors
    /// The errors of [`PackedLibrary::new`].
    pub fn with_threads(library: &Library, threads: usize) -> Result<Self, Error> {
        Ok(Self::from_packed(PackedLibrary::with_threads(library, threads)?, threads))
    }

    /// An engine for a packed library with `threads` threads. 0 counts as 1.
    ///
    /// On Linux, an array of 4 MiB or more is copied to memory in huge pages. Until that is done, it takes its memory
    /// twice.
    pub fn from_packed(mut library: PackedLibrary, threads: usize) -> Self {
        let plans = finish(&mut library);
        let instructions = InstructionSet::widest();
        let (pool, scratch) = (Pool::new(threads), Mutex::default());
        Self { library, plans, replacements: 0, pool, instructions, scratch }
    }

    /// Takes another library in place of the engine's, for example with the next part of a long clip. Crowds of the
    /// engine stay as they are.
    ///
    /// # Errors
    /// [`Error::Usage`] if the libraries differ in what crowds rely on, or only the other one has scales that dual
    /// quaternions cannot hold ([`PackedLibrary::reserve_for`]).
    pub fn replace_library(&mut self, library: PackedLibrary) -> Result<(), Error> {
        self.library = self.library.replaced_by(library)?;
        self.plans = finish(&mut self.library);
        self.replacements += 1;
        // The memory of threads has what they decoded of the old keys.
        self.scratch = Mutex::default();
        Ok(())
    }

    /// The same engine with the kernels of an instruction set. If the machine does not have it, with the portable
    /// kernels.
    pub fn with_instructions(self, instructions: InstructionSet) -> Self {
        let instructions = if instructions.is_available() { instructions } else { InstructionSet::Portable };
        // The memory of threads has what they decoded for the registers of the old instruction set.
        Self { instructions, scratch: Mutex::default(), ..self }
    }

    /// The number of bytes that the engine keeps for its library: the packed arrays; names, joints and places that only
    /// the host reads; and a plan per clip and per rest pose, which says how the joints are sampled together.
    ///
    /// Crowds, interpolators of the caller and the memory of the threads come on top. Until the engine is dropped, a
    /// thread keeps the following:
    /// * The parts and matrices of a group of instances: 16 in AVX-512, 8 in AVX2 and NEON, 4 in portable kernels. For
    ///   a skeleton of 1,024 joints, they take about 1.6 MB in AVX-512, half of it in AVX2; beyond, each joint takes
    ///   0.8 kB in AVX-512. What the thread computes for a single instance adds about 0.3 kB per joint.
    /// * What it decoded of up to eight clips with compressed keys: up to 152 bytes per column, of which a joint has up
    ///   to three, and 16 bytes per key and column, up to 512 KiB per clip or 32 keys, if these take more. Each run of
    ///   joints is padded to 16.
    pub fn size(&self) -> usize {
        self.library.size()
            + self.library.host_size()
            + size_of_val(&*self.plans)
            + self.plans.iter().map(|(_, plan)| plan.heap_bytes()).sum::<usize>()
    }

    /// The packed library.
    pub(crate) fn library(&self) -> &PackedLibrary {
        &self.library
    }

    /// The number of threads, at least 1.
    pub(crate) fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// Returns `true` if keys are worth loading into the caches ahead of time for these layers.
    pub(super) fn pays_prefetch(&self, layers: &[LayerRecord]) -> bool {
        prefetch::pays(&self.plans, layers)
    }

    /// The instruction set of the kernels.
    pub(crate) fn instructions(&self) -> InstructionSet {
        self.instructions
    }

    /// The inputs of the stages, for a skeleton.
    ///
    /// # Errors
    /// [`Error::Usage`] if the library has no such skeleton.
    pub(super) fn source(&self, skeleton: SkeletonId) -> Result<PackedSource<'_>, Error> {
        let skeletons = &self.library.skeletons;
        let missing = || Error::Usage(no_such("skeleton", skeleton.index(), "library of the engine", skeletons.len()));
        let skeleton = skeletons.get(skeleton.index()).ok_or_else(missing)?;
        Ok(PackedSource { library: &self.library, skeleton, plans: &self.plans, past_caches: false, prefetches: false })
    }

    /// Packs a crowd and allocates its poses. Its parameters begin with their values at tick 0
    /// ([`CpuCrowd::set_parameters`]). Instances have their layers and transitions at all times: before the start of a
    /// transition, they are as at its start. [`Evaluator::evaluate_step`] shows the layers that go out then.
    ///
    /// # Errors
    /// * [`Error::Instance`] if the crowd does not fit the library.
    /// * [`Error::Skeleton`], [`Error::Skin`] or [`Error::Track`] if dual quaternions are requested, and the crowd uses
    ///   a skeleton, skin or track with a non-uniform scale.
    pub fn crowd(&self, crowd: &Crowd, outputs: Outputs) -> Result<CpuCrowd, Error> {
        self.crowd_with_options(crowd, outputs, CrowdOptions::NONE)
    }

    /// As [`crowd`](Self::crowd), with capacity for other layers, goals and parameters: see [`CpuCrowd::set_instance`].
    ///
    /// # Errors
    /// The errors of [`crowd`](Self::crowd).
    pub fn crowd_with_options(
        &self,
        crowd: &Crowd,
        outputs: Outputs,
        options: CrowdOptions,
    ) -> Result<CpuCrowd, Error> {
        let packed = PackedCrowd::by_keys(&self.library, crowd, options.capacity())?;
        self.library.check_outputs(crowd, outputs)?;
        let batch = |batch: &crate::pack::PackedBatch| {
            let layout = OutputLayout::new(&self.library.skeletons[batch.skeleton.index()].record, outputs);
            let mut numbers = OutputNumbers::default();
            numbers.resize(&layout, batch.instances.len());
            let instances = packed.order[batch.instances.clone()].to_vec();
            CpuBatch { skeleton: batch.skeleton, instances, layout, numbers }
        };
        let batches: Vec<CpuBatch> = packed.batches.iter().map(batch).collect();
        let mut slots = vec![(0, 0); packed.len()];
        for (number, batch) in batches.iter().enumerate() {
            for (slot, &instance) in batch.instances.iter().enumerate() {
                slots[instance] = (number, slot);
            }
        }
        let prefetches = self.pays_prefetch(&packed.layers);
        let past_caches = CpuCrowd::exceeds_caches(&batches);
        let schedule = Schedule::new(&packed, &self.library, self.threads());
        let parameters = CrowdParameters::new(parameter_count(crowd, &options), packed.len());
        let replacements = self.replacements;
        let mut posed =
            CpuCrowd { packed, batches, slots, outputs, prefetches, replacements, past_caches, schedule, parameters };
        posed.set_all_parameters(crowd, Ticks(0).into());
        Ok(posed)
    }

    /// Reads the pose of one instance. Outputs that the crowd was not made for stay empty.
    ///
    /// # Panics
    /// If the crowd has no such instance.
    pub fn read(&self, crowd: &CpuCrowd, instance: usize, outputs: Outputs) -> Pose {
        let (batch, slot) = crowd.slots[instance];
        let batch = &crowd.batches[batch];
        batch.numbers.pose(&self.library.skeletons[batch.skeleton.index()], &batch.layout, slot, outputs)
    }

    /// Evaluates the pose of one instance of a crowd at a tick or at the end of a step.
    ///
    /// It serves single instances of a crowd that another engine poses, for example a joint that carries an object
    /// while the crowd is on the GPU.
    ///
    /// # Errors
    /// * [`Error::Instance`] if the crowd has no such instance, or the instance does not fit the library.
    /// * The errors of [`crowd`](Self::crowd).
    pub fn query(
        &self,
        crowd: &Crowd,
        instance: usize,
        step: impl Into<Step>,
        outputs: Outputs,
    ) -> Result<Pose, Error> {
        if instance >= crowd.len() {
            let reason = format!("the crowd has {} instances", crowd.len());
            return Err(Error::Instance { instance, reason });
        }
        let poses = self.evaluate_crowd(&crowd.only(instance), step.into(), outputs)?;
        Ok(poses.instances.into_iter().next().unwrap_or_default())
    }

    /// The events that the layers of a crowd reach in a step, as [`Occurrence`](crate::events::Occurrence) defines it.
    ///
    /// The list holds at most `capacity` events, of the first instances. The others are counted in
    /// [`EventList::missed`].
    pub fn events(&self, crowd: &CpuCrowd, step: Step, capacity: usize) -> EventList {
        let mut list = EventList::default();
        let words = &self.library.arrays.words;
        for (instance, &(batch, slot)) in crowd.slots.iter().enumerate() {
            let batch = &crowd.packed.batches[batch];
            let layers = crowd.packed.layers_of(batch, slot);
            let drives = crowd.packed.drives_of(batch, slot);
            let driven = crowd.drive(&self.library.arrays, batch, slot, step);
            for (index, record) in driven.as_deref().unwrap_or(layers).iter().enumerate() {
                let has_driven_weight =
                    drives.get(index).is_some_and(|drive| drive.kind & (DRIVE_KNOTS | DRIVE_POINT) != 0);
                if has_driven_weight && record.weight <= DRIVE_MIN_WEIGHT {
                    continue;
                }
                let clip = &self.library.arrays.record(record.clip);
                let layer = InstanceLayer { record, clip, instance, index };
                match drives.get(index).filter(|drive| drive.kind & DRIVE_SYNCED != 0) {
                    Some(drive) => {
                        let leader = &layers[drive.source as usize];
                        events::append_follower(words, Follower { layer, leader, drive }, step, capacity, &mut list);
                    }
                    None => events::append(words, layer, step, capacity, &mut list),
                }
            }
        }
        list.events.sort_unstable();
        list
    }

    /// Poses a crowd whose transitions begin before the step.
    fn poses(&self, crowd: &Crowd, step: Step, outputs: Outputs) -> Result<Vec<Pose>, Error> {
        let mut posed = self.crowd(crowd, outputs)?;
        posed.set_all_parameters(crowd, step);
        self.pose_step(&mut posed, step);
        Ok((0..crowd.len()).map(|instance| self.read(&posed, instance, outputs)).collect())
    }

    /// Poses a crowd as it is at the end of a step, with transitions that begin within the step.
    fn evaluate_crowd(&self, crowd: &Crowd, step: Step, outputs: Outputs) -> Result<Poses, Error> {
        let mut instances = self.poses(&crowd.at(step.to), step, outputs)?;
        if outputs.root_motion {
            let several = pieces::of_cut_movements(crowd, step);
            let all = several.concat();
            let mut motions = vec![None; all.len()];
            let outputs = Outputs { root_motion: true, ..Outputs::NONE };
            for Group { step, positions, crowd } in pieces::groups(crowd, &all)? {
                for (pose, position) in self.poses(&crowd, step, outputs)?.into_iter().zip(positions) {
                    motions[position] = pose.root_motion;
                }
            }
            pieces::join_motions(&several, &motions, &mut instances);
        }
        Ok(Poses { instances })
    }

    /// The events of a crowd whose transitions begin before the step.
    fn events_of(&self, crowd: &Crowd, step: Step, capacity: usize) -> Result<EventList, Error> {
        let mut posed = self.crowd(crowd, Outputs::NONE)?;
        posed.set_all_parameters(crowd, step);
        Ok(self.events(&posed, step, capacity))
    }

    /// Poses all instances of a crowd at a tick or at the end of a step. Root motion is the motion of the step.
    ///
    /// A layer whose time is a parameter moves from the value that the parameter had in the frame before to the present
    /// one.
    pub fn pose(&self, crowd: &mut CpuCrowd, step: impl Into<Step>) {
        self.pose_step(crowd, step.into());
    }

    /// Not generic, so that the kernels are compiled here alone, rather than once more where `pose` is called.
    fn pose_step(&self, crowd: &mut CpuCrowd, step: Step) {
        if crowd.replacements != self.replacements {
            crowd.prefetches = self.pays_prefetch(&crowd.packed.layers);
            crowd.replacements = self.replacements;
        }
        let threads = crowd.schedule.threads(self.threads());
        let queue = ChunkQueue::new(crowd, &self.library, &self.plans, threads);
        let work = PoseChunks { queue: &queue, step, scratch: &self.scratch };
        self.pool.run(threads, || self.instructions.run(work));
        let CrowdParameters { before, now, .. } = &mut crowd.parameters;
        before.copy_from_slice(now);
    }
}

/// Finishes the arrays of a library, and returns the plans of its clips, sorted by the offsets of the clips' records.
fn finish(library: &mut PackedLibrary) -> Box<[(u32, ClipRuns)]> {
    const { assert!(LARGEST_BLOCK <= VALUES_BEHIND_KEYS) };
    // A block reads beyond the end of its run.
    library.finish(Sizes { values: LARGEST_BLOCK, words: quantized::WORDS_BEYOND });
    let plan = |(clip, skeleton): (u32, SkeletonId)| {
        (clip, ClipRuns::new(library, &library.skeletons[skeleton.index()].record, clip))
    };
    library.clip_offsets().into_iter().map(plan).collect()
}

impl Evaluator for CpuEngine {
    fn engine(&self) -> &'static str {
        "cpu"
    }

    fn adapter(&self) -> String {
        let plural = if self.threads() == 1 { "" } else { "s" };
        format!("{} thread{plural}, {} {}", self.threads(), std::env::consts::ARCH, self.instructions.name())
    }

    fn evaluate_step(&mut self, crowd: &Crowd, step: Step, outputs: Outputs) -> Result<Poses, Error> {
        self.evaluate_crowd(crowd, step, outputs)
    }

    fn evaluate_events(&mut self, crowd: &Crowd, step: Step, capacity: usize) -> Result<EventList, Error> {
        let Some(all) = pieces::of_cut_events(crowd, step) else {
            return self.events_of(&crowd.at(step.to), step, capacity);
        };
        let mut list = EventList::default();
        for group in pieces::groups(crowd, &all)? {
            group.add_events(self.events_of(&group.crowd, group.step, capacity)?, &all, &mut list, capacity);
        }
        list.events.sort_unstable();
        Ok(list)
    }
}
