//! The CPU engine: it divides the instances of a crowd between threads.

use std::sync::Mutex;

use glam::Vec4;

use crate::cpu::crowd::{CpuBatch, CpuCrowd};
use crate::cpu::plan::Plan;
use crate::cpu::pool::Pool;
use crate::cpu::portion::{self, Posing};
use crate::cpu::prefetch;
use crate::cpu::simd::{InstructionSet, LARGEST_BLOCK};
use crate::cpu::source::{Scratch, Source};
use crate::cpu::stages::events::{self, InstanceLayer};
use crate::cpu::stages::quantized;
use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::model::{Crowd, EventList, Library, Outputs, Pose, Poses, SkeletonId, Step, no_such};
use crate::pack::all_threads;
use crate::pack::{OutputLayout, OutputNumbers, PackedCrowd, PackedLibrary};

/// The CPU engine: evaluates crowds on all cores, with the widest SIMD registers of the machine.
///
/// To evaluate frames, make a [`CpuCrowd`] once by [`crowd`](Self::crowd) and [`pose`](Self::pose) it per frame: its arrays are
/// reused. [`Evaluator::evaluate`] packs the crowd on every call, and returns all poses in `f64`.
///
/// # Examples
/// ```
/// use posse::{CpuEngine, Crowd, Layer, LayerTime, Outputs, Ticks, demo};
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
    plans: Vec<(u32, Plan)>,
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
    pub fn from_packed(mut library: PackedLibrary, threads: usize) -> Self {
        // A block reads beyond the end of its run.
        library.arrays.values.extend([Vec4::ZERO; LARGEST_BLOCK]);
        library.arrays.words.extend([0; quantized::WORDS_BEYOND]);
        let plan = |(clip, skeleton): (u32, SkeletonId)| {
            (clip, Plan::new(&library, &library.skeletons[skeleton.index()].record, clip))
        };
        let plans = library.clip_offsets().into_iter().map(plan).collect();
        let instructions = InstructionSet::widest();
        Self { library, plans, pool: Pool::new(threads), instructions, scratch: Mutex::default() }
    }

    /// The same engine with the kernels of an instruction set. If the machine does not have it, with the portable kernels.
    pub fn with_instructions(self, instructions: InstructionSet) -> Self {
        let instructions = if instructions.is_available() { instructions } else { InstructionSet::Portable };
        Self { instructions, ..self }
    }

    /// The number of bytes that the engine keeps for its library: the packed arrays, and a plan per clip, which says how the joints
    /// are sampled together. Compressed keys need the larger plans.
    pub fn size(&self) -> usize {
        self.library.size() + self.plans.iter().map(|(_, plan)| size_of::<u32>() + plan.size()).sum::<usize>()
    }

    /// The packed library.
    pub(crate) fn library(&self) -> &PackedLibrary {
        &self.library
    }

    /// The number of threads, at least 1.
    pub(crate) fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// The instruction set of the kernels.
    pub(crate) fn instructions(&self) -> InstructionSet {
        self.instructions
    }

    /// The inputs of the stages, for a skeleton.
    ///
    /// # Errors
    /// [`Error::Usage`] if the library has no such skeleton.
    pub(super) fn source(&self, skeleton: SkeletonId) -> Result<Source<'_>, Error> {
        let skeletons = &self.library.skeletons;
        let missing = || Error::Usage(no_such("skeleton", skeleton.index(), "library of the engine", skeletons.len()));
        let skeleton = skeletons.get(skeleton.index()).ok_or_else(missing)?;
        Ok(Source { library: &self.library, skeleton, plans: &self.plans, past_caches: false, prefetches: false })
    }

    /// Packs a crowd and makes room for its poses.
    ///
    /// # Errors
    /// * [`Error::Instance`] if the crowd does not fit the library.
    /// * [`Error::Skeleton`], [`Error::Skin`] or [`Error::Track`] if dual quaternions are requested, and the crowd uses a skeleton,
    ///   skin or track with a non-uniform scale.
    pub fn crowd(&self, crowd: &Crowd, outputs: Outputs) -> Result<CpuCrowd, Error> {
        let packed = PackedCrowd::new(&self.library, crowd)?;
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
        let prefetches = prefetch::pays(&self.plans, &packed.layers);
        Ok(CpuCrowd { packed, batches, slots, prefetches })
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
    /// It serves single instances of a crowd that another engine poses, for example a joint that carries an object while the
    /// crowd is on the GPU.
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
        let mut single = Crowd::new();
        single.push(crowd.skeleton(instance), crowd.layers(instance))?;
        let mut posed = self.crowd(&single, outputs)?;
        self.pose(&mut posed, step);
        Ok(self.read(&posed, 0, outputs))
    }

    /// The events that the layers of a crowd reach in a step, as [`Occurrence`](crate::Occurrence) defines it.
    ///
    /// The list holds at most `capacity` events, of the first instances. The others are counted in [`EventList::missed`].
    pub fn events(&self, crowd: &CpuCrowd, step: Step, capacity: usize) -> EventList {
        let mut list = EventList::default();
        let words = &self.library.arrays.words;
        for (instance, &(batch, slot)) in crowd.slots.iter().enumerate() {
            let batch = &crowd.packed.batches[batch];
            let layers = &crowd.packed.layers[batch.first_layer + slot * batch.layer_count..][..batch.layer_count];
            for (index, record) in layers.iter().enumerate() {
                let clip = &self.library.arrays.record(record.clip);
                events::append(words, InstanceLayer { record, clip, instance, index }, step, capacity, &mut list);
            }
        }
        list.events.sort_unstable();
        list
    }

    /// Poses all instances of a crowd at a tick or at the end of a step. Root motion is that of the step.
    pub fn pose(&self, crowd: &mut CpuCrowd, step: impl Into<Step>) {
        let step = step.into();
        let threads = portion::threads(crowd, &self.library, self.threads());
        let portions = Mutex::new(portion::portions(crowd, &self.library, &self.plans, threads));
        let posing = Posing { portions: &portions, step, scratch: &self.scratch };
        self.pool.run(threads, || self.instructions.run(posing));
    }
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
        let mut posed = self.crowd(crowd, outputs)?;
        self.pose(&mut posed, step);
        Ok(Poses { instances: (0..crowd.len()).map(|instance| self.read(&posed, instance, outputs)).collect() })
    }

    fn evaluate_events(&mut self, crowd: &Crowd, step: Step, capacity: usize) -> Result<EventList, Error> {
        Ok(self.events(&self.crowd(crowd, Outputs::NONE)?, step, capacity))
    }
}
