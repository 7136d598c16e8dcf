//! The CPU engine: instances shared out among threads.

use std::sync::Mutex;
use std::thread;

use glam::Vec4;

use crate::cpu::plan::Plan;
use crate::cpu::pose::{Place, Scratch, Source, pose};
use crate::cpu::simd::block::LARGEST_BLOCK;
use crate::cpu::simd::{Kernel, Lanes};
use crate::cpu::{InstructionSet, events, layers, motion, quantized};
use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::model::{Crowd, EventList, Library, Mixing, Outputs, Pose, Poses, SkeletonId, Step};
use crate::pack::all_threads;
use crate::pack::record::LayerRecord;
use crate::pack::{OutputLayout, OutputNumbers, PackedCrowd, PackedLibrary};

/// Instances that a thread takes at a time: enough to make taking them cheap, few enough to share them out evenly.
const BLOCK: usize = 64;

/// Bytes of skin matrices that caches do not keep until somebody reads them.
const LARGER_THAN_CACHES: usize = 8 << 20;

/// Joints, of each layer, below which starting a thread takes longer than posing them.
const JOINTS_WORTH_A_THREAD: usize = 16_384;

/// The CPU engine.
///
/// Frame by frame, make a [`crowd`](Self::crowd) once and [`pose`](Self::pose) it: its arrays are used again.
/// [`Evaluator::evaluate`] packs the crowd anew, and copies every pose out in `f64`.
#[derive(Debug)]
pub struct CpuEngine {
    packing: PackedLibrary,
    /// By the slots of the clips' records, in order.
    plans: Vec<(u32, Plan)>,
    threads: usize,
    instructions: InstructionSet,
}

/// A crowd ready for the CPU engine, with room for its poses, which is used again from frame to frame.
#[derive(Debug, Default)]
pub struct CpuCrowd {
    packed: PackedCrowd,
    batches: Vec<CpuBatch>,
    /// For each instance of the crowd its batch and its slot there.
    slots: Vec<(usize, usize)>,
}

/// The poses of all instances of one skeleton that need the same [`Mixing`].
#[derive(Debug)]
pub struct CpuBatch {
    /// The skeleton.
    pub skeleton: SkeletonId,
    /// The crowd's index of each instance, in the order of the numbers.
    pub instances: Vec<usize>,
    /// How many numbers an instance has in each array.
    pub layout: OutputLayout,
    /// The results, instance after instance, laid out as [`pack::outputs`](crate::pack::outputs) says.
    pub numbers: OutputNumbers,
}

impl CpuEngine {
    /// An engine for a library, on all cores. It knows the library as it is now; for what is added later, make another.
    ///
    /// # Errors
    /// As [`PackedLibrary::new`].
    pub fn new(library: &Library) -> Result<Self, Error> {
        Self::with_threads(library, all_threads())
    }

    /// An engine for a library, on so many threads, at least 1.
    ///
    /// # Errors
    /// As [`PackedLibrary::new`].
    pub fn with_threads(library: &Library, threads: usize) -> Result<Self, Error> {
        Ok(Self::with_packing(PackedLibrary::with_threads(library, threads)?, threads))
    }

    /// An engine for a library that is packed already, on so many threads, at least 1.
    pub fn with_packing(mut packing: PackedLibrary, threads: usize) -> Self {
        // A block reads beyond what it is wanted for.
        packing.arrays.values.extend([Vec4::ZERO; LARGEST_BLOCK]);
        packing.arrays.words.extend([0; quantized::WORDS_BEYOND]);
        let plan = |(slot, skeleton): (u32, SkeletonId)| {
            (slot, Plan::new(&packing, &packing.skeletons[skeleton.index()].record, slot))
        };
        let plans = packing.clip_offsets().into_iter().map(plan).collect();
        Self { packing, plans, threads: threads.max(1), instructions: InstructionSet::widest() }
    }

    /// The same engine with the kernels of an instruction set; the portable ones where the machine has no such.
    pub fn with_instructions(self, instructions: InstructionSet) -> Self {
        let instructions = if instructions.is_available() { instructions } else { InstructionSet::Portable };
        Self { instructions, ..self }
    }

    /// Packs a crowd, and makes room for its poses.
    ///
    /// # Errors
    /// [`Error::Instance`] where the crowd does not fit the library; [`Error::Skeleton`], [`Error::Skin`] or
    /// [`Error::Track`] where dual quaternions are wanted and something it uses does not scale alike along all axes.
    pub fn crowd(&self, crowd: &Crowd, outputs: Outputs) -> Result<CpuCrowd, Error> {
        let packed = PackedCrowd::new(&self.packing, crowd)?;
        self.packing.check_outputs(crowd, outputs)?;
        let batch = |batch: &crate::pack::PackedBatch| {
            let layout = OutputLayout::new(&self.packing.skeletons[batch.skeleton.index()].record, outputs);
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
        Ok(CpuCrowd { packed, batches, slots })
    }

    /// The pose of one instance, of those outputs that the crowd was made for.
    ///
    /// # Panics
    /// Where the crowd has no such instance.
    pub fn read(&self, crowd: &CpuCrowd, instance: usize, outputs: Outputs) -> Pose {
        let (batch, slot) = crowd.slots[instance];
        let batch = &crowd.batches[batch];
        batch.numbers.pose(&self.packing.skeletons[batch.skeleton.index()], &batch.layout, slot, outputs)
    }

    /// The pose of one instance of a crowd at a tick or the end of a step, whoever poses the others: for what hangs on a
    /// joint, or for a game's rules, beside a crowd that is on the GPU.
    ///
    /// # Errors
    /// [`Error::Instance`] where there is no such instance, or it does not fit the library; as [`crowd`](Self::crowd).
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
        let mut alone = Crowd::new();
        alone.push(crowd.skeleton(instance), crowd.layers(instance))?;
        let mut posed = self.crowd(&alone, outputs)?;
        self.pose(&mut posed, step);
        Ok(self.read(&posed, 0, outputs))
    }

    /// The events that a crowd's layers reach in a step of its clock; [`Occurrence`](crate::Occurrence) says what that is.
    /// There is room for so many, which the first instances take; the others are counted.
    pub fn events(&self, crowd: &CpuCrowd, step: Step, capacity: usize) -> EventList {
        let mut list = EventList::default();
        let words = &self.packing.arrays.words;
        for (instance, &(batch, slot)) in crowd.slots.iter().enumerate() {
            let batch = &crowd.packed.batches[batch];
            let layers = &crowd.packed.layers[batch.first_layer + slot * batch.layer_count..][..batch.layer_count];
            for (number, layer) in layers.iter().enumerate() {
                let clip = self.packing.arrays.record(layer.clip);
                events::of_layer(words, &clip, layer, step, (instance, number), capacity, &mut list);
            }
        }
        list.events.sort_unstable();
        list
    }

    /// Poses all instances of a crowd at a time of its clock, or at the end of a step of it.
    pub fn pose(&self, crowd: &mut CpuCrowd, step: impl Into<Step>) {
        let step: Step = step.into();
        for (packed, batch) in crowd.packed.batches.iter().zip(&mut crowd.batches) {
            let source = Source {
                packing: &self.packing,
                skeleton: &self.packing.skeletons[batch.skeleton.index()],
                plans: &self.plans,
                past_caches: size_of_val(batch.numbers.skin.as_slice()) > LARGER_THAN_CACHES,
            };
            let layout = batch.layout;
            let count = packed.layer_count;
            let layers = &crowd.packed.layers[packed.first_layer..][..count * packed.instances.len()];
            let blocks = Mutex::new(blocks(layers, count, &layout, &mut batch.numbers));
            let plain = packed.mixing == Mixing::None;
            let posing = Posing { source, layout: &layout, layer_count: count, plain, step, blocks: &blocks };
            let work = || self.instructions.run(posing);
            let joints = packed.instances.len() * source.skeleton.record.joint_count as usize * count;
            let threads = self.threads.min(joints.div_ceil(JOINTS_WORTH_A_THREAD));
            thread::scope(|scope| {
                for _ in 1..threads {
                    scope.spawn(work);
                }
                work();
            });
        }
    }
}

/// The work of a thread: blocks of instances, as long as there are some.
struct Posing<'a, 'b, Blocks> {
    source: Source<'a>,
    layout: &'a OutputLayout,
    layer_count: usize,
    plain: bool,
    step: Step,
    blocks: &'b Mutex<Blocks>,
}

impl<Blocks> Clone for Posing<'_, '_, Blocks> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Blocks> Copy for Posing<'_, '_, Blocks> {}

impl<'a, Blocks: Iterator<Item = (&'a [LayerRecord], Place<'a>)>> Kernel for Posing<'a, '_, Blocks> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { source, layout, layer_count, plain, step, blocks } = self;
        let mut scratch = Scratch::default();
        scratch.resize(source.skeleton.record.joint_count as usize);
        // A poisoned lock means that another thread has panicked, which the scope reports.
        while let Some((layers, to)) = blocks.lock().ok().and_then(|mut blocks| blocks.next()) {
            let slots = instances(layout, to, layers.len() / layer_count);
            for (layers, to) in layers.chunks(layer_count).zip(slots) {
                motion::write(source, layers, step, &mut scratch, to.root_motion);
                if plain {
                    pose::<L>(source, &layers[0], step.to.0, layout, &mut scratch, to);
                } else {
                    layers::pose::<L>(source, layers, step.to.0, layout, &mut scratch, to);
                }
            }
        }
        L::fence();
    }
}

impl CpuCrowd {
    /// The poses, skeleton after skeleton.
    pub fn batches(&self) -> &[CpuBatch] {
        &self.batches
    }
}

/// Layers, so many an instance, in blocks of instances, each with its part of the outputs.
fn blocks<'a>(
    layers: &'a [LayerRecord],
    count: usize,
    layout: &OutputLayout,
    numbers: &'a mut OutputNumbers,
) -> impl Iterator<Item = (&'a [LayerRecord], Place<'a>)> {
    let whole = Place {
        local: &mut numbers.local,
        model: &mut numbers.model,
        skin: &mut numbers.skin,
        values: &mut numbers.values,
        root_motion: &mut numbers.root_motion,
    };
    layers.chunks(BLOCK * count).zip(parts(layout, whole, BLOCK))
}

/// The parts of a block's instances.
fn instances<'a>(layout: &OutputLayout, block: Place<'a>, count: usize) -> impl Iterator<Item = Place<'a>> {
    parts(layout, block, 1).take(count)
}

/// Outputs in parts of so many instances, without an end: outputs that are not wanted have only empty parts.
fn parts<'a>(layout: &OutputLayout, whole: Place<'a>, instances: usize) -> impl Iterator<Item = Place<'a>> {
    let [local, model, skin, values, root_motion] = layout.strides().map(|stride| stride * instances);
    let mut rest = whole;
    std::iter::from_fn(move || {
        Some(Place {
            local: first(&mut rest.local, local),
            model: first(&mut rest.model, model),
            skin: first(&mut rest.skin, skin),
            values: first(&mut rest.values, values),
            root_motion: first(&mut rest.root_motion, root_motion),
        })
    })
}

/// Splits off the first of some numbers, as many as there are.
#[inline(always)]
fn first<'a>(rest: &mut &'a mut [f32], count: usize) -> &'a mut [f32] {
    rest.split_off_mut(..count.min(rest.len())).unwrap_or_default()
}

impl Evaluator for CpuEngine {
    fn engine(&self) -> &'static str {
        "cpu"
    }

    fn adapter(&self) -> String {
        let plural = if self.threads == 1 { "" } else { "s" };
        format!("{} thread{plural}, {} {}", self.threads, std::env::consts::ARCH, self.instructions.name())
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
