//! A crowd of the CPU engine, and its batches of poses.

use crate::cpu::schedule::Schedule;
use crate::cpu::stages::drive;
use crate::model::{Crowd, Outputs, SkeletonId, Step};
use crate::pack::record::LayerRecord;
use crate::pack::{Arrays, OutputLayout, OutputNumbers, PackedBatch, PackedCrowd};

/// Size in bytes of the transforms and matrices of all batches above which they are written past the caches. The caches
/// would not keep them until they are read.
const LARGER_THAN_CACHES: usize = 6 << 20;

/// A packed crowd and its poses. [`CpuEngine::crowd`](crate::cpu::CpuEngine::crowd) makes it, and
/// [`CpuEngine::pose`](crate::cpu::CpuEngine::pose) fills it frame by frame.
/// [`CpuEngine::read`](crate::cpu::CpuEngine::read) returns the pose of one instance, [`batches`](Self::batches) the
/// arrays of all. [`set_instance`](Self::set_instance), [`set_layers`](Self::set_layers),
/// [`set_goals`](Self::set_goals) and [`transition`](Self::transition) change the crowd in place.
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
/// for instance in 0..10 {
///     let time = LayerTime::At(0.1 * f64::from(instance));
///     crowd.push(library.clip(walk).skeleton, &[Layer::new(walk, time)])?;
/// }
/// let engine = CpuEngine::new(&library)?;
/// let mut posed = engine.crowd(&crowd, Outputs::ALL)?;
/// engine.pose(&mut posed, Ticks(0));
/// let instances: usize = posed.batches().iter().map(|batch| batch.instances.len()).sum();
/// assert_eq!(instances, 10);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct CpuCrowd {
    pub(in crate::cpu) packed: PackedCrowd,
    pub(in crate::cpu) batches: Vec<CpuBatch>,
    /// For each instance of the crowd its batch and its slot in the batch.
    pub(in crate::cpu) slots: Vec<(usize, usize)>,
    /// The outputs that are computed.
    pub(in crate::cpu) outputs: Outputs,
    /// If set, keys are loaded into the caches ahead of time.
    pub(in crate::cpu) prefetches: bool,
    /// The number of libraries that the engine had replaced when `prefetches` was found.
    pub(in crate::cpu) replacements: u64,
    /// If set, transforms and matrices are written past the caches.
    pub(in crate::cpu) past_caches: bool,
    /// How the crowd is divided between threads.
    pub(in crate::cpu) schedule: Schedule,
    pub(in crate::cpu) parameters: CrowdParameters,
}

/// The values of the parameters of all instances, in the packed order.
#[derive(Debug, Default)]
pub(in crate::cpu) struct CrowdParameters {
    /// The number of values per instance.
    pub count: usize,
    /// The values of the frame before.
    pub before: Vec<f32>,
    /// The values of the next frame.
    pub now: Vec<f32>,
}

/// The poses of instances of one skeleton that need the same [`Mixing`](crate::Mixing).
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
/// let engine = CpuEngine::new(&library)?;
/// let mut posed = engine.crowd(&crowd, Outputs::ALL)?;
/// engine.pose(&mut posed, Ticks(0));
///
/// // Model matrices: 12 numbers per joint, instance after instance.
/// let batch = &posed.batches()[0];
/// assert_eq!(batch.instances, [0]);
/// assert_eq!(batch.layout.model, 12 * 64);
/// assert_eq!(batch.numbers.model.len(), batch.layout.model * batch.instances.len());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CpuBatch {
    /// The skeleton of all instances of the batch.
    pub skeleton: SkeletonId,
    /// The index in the crowd of each instance, in the order of the slots. Instances that play the same clip have
    /// neighbouring slots.
    pub instances: Vec<usize>,
    /// The number of numbers per instance in each array.
    pub layout: OutputLayout,
    /// The results, instance after instance. [`OutputLayout`] describes the layout.
    pub numbers: OutputNumbers,
}

impl CrowdParameters {
    /// Room for `count` parameters of each instance.
    pub fn new(count: usize, instances: usize) -> Self {
        let values = vec![0.0; count * instances];
        Self { count, before: values.clone(), now: values }
    }
}

impl CpuCrowd {
    /// Returns `true` if the transforms and matrices of all batches are larger than the caches.
    pub(in crate::cpu) fn exceeds_caches(batches: &[CpuBatch]) -> bool {
        let numbers = batches.iter().map(|batch| &batch.numbers);
        let arrays = numbers.flat_map(|numbers| [&numbers.local, &numbers.model, &numbers.skin]);
        arrays.map(|array| size_of_val(&**array)).sum::<usize>() > LARGER_THAN_CACHES
    }

    /// Sets the parameters of all instances to their values at both ends of a step.
    pub(in crate::cpu) fn set_all_parameters(&mut self, crowd: &Crowd, step: Step) {
        if self.parameters.count == 0 {
            return;
        }
        for now in [step.from, step.to] {
            // The values of the frame before are the values that were set last.
            std::mem::swap(&mut self.parameters.before, &mut self.parameters.now);
            for instance in 0..crowd.len() {
                self.set_parameters(instance, &crowd.parameter_values(instance, now).0);
            }
        }
    }

    /// The layers of an instance with their drivers at work; `None` if none is driven.
    pub(in crate::cpu) fn drive(
        &self,
        arrays: &Arrays,
        batch: &PackedBatch,
        slot: usize,
        step: Step,
    ) -> Option<Vec<LayerRecord>> {
        let drives = self.packed.drives_of(batch, slot);
        if drives.is_empty() {
            return None;
        }
        let count = self.parameters.count;
        let own = (batch.instances.start + slot) * count..(batch.instances.start + slot + 1) * count;
        let [before, now] = [&self.parameters.before[own.clone()], &self.parameters.now[own]];
        let mut layers = self.packed.layers_of(batch, slot).to_vec();
        drive::drive(arrays, step, before, now, drives, &mut layers);
        Some(layers)
    }

    /// Sets the parameters of an instance for the next frame. Targets and weights of goals can follow from them, too.
    /// Values beyond the capacity for parameters have no effect: the number that layers and goals of the crowd refer to
    /// or that an instance began with, or [`CrowdOptions::parameters`](crate::CrowdOptions::parameters).
    ///
    /// # Panics
    /// If the crowd has no such instance.
    pub fn set_parameters(&mut self, instance: usize, values: &[f32]) {
        let (batch, slot) = self.slots[instance];
        let place = self.packed.batches[batch].instances.start + slot;
        let count = self.parameters.count;
        let to = &mut self.parameters.now[place * count..(place + 1) * count];
        to.iter_mut().zip(values).for_each(|(to, value)| *to = *value);
    }

    /// The batches with their poses, skeleton after skeleton.
    pub fn batches(&self) -> &[CpuBatch] {
        &self.batches
    }
}

#[cfg(test)]
mod tests {
    use crate::cpu::CpuEngine;
    use crate::demo;
    use crate::model::{Crowd, Layer, LayerTime, Library, Outputs};

    #[test]
    fn batches_that_exceed_the_caches_together_are_written_past_them() {
        let mut library = Library::new();
        for _ in 0..2 {
            demo::add_rig(&mut library, 64, 2, 2).unwrap();
        }
        let engine = CpuEngine::with_threads(&library, 1).unwrap();
        let local = Outputs { local: true, ..Outputs::NONE };
        let model = Outputs { model: true, ..Outputs::NONE };
        // 3,072 bytes per instance and output.
        for (per_batch, goes_past) in [(1000, false), (1100, true)] {
            let mut crowd = Crowd::new();
            for clip in library.clip_ids() {
                for _ in 0..per_batch {
                    let layer = Layer::new(clip, LayerTime::At(0.0));
                    crowd.push(library.clip(clip).skeleton, &[layer]).unwrap();
                }
            }
            for outputs in [Outputs::SKIN, local, model] {
                let posed = engine.crowd(&crowd, outputs).unwrap();
                assert_eq!((posed.batches.len(), posed.past_caches), (2, goes_past), "{outputs:?}");
            }
            assert!(engine.crowd(&crowd, Outputs { skin: true, ..local }).unwrap().past_caches);
            assert!(!engine.crowd(&crowd, Outputs { root_motion: true, ..Outputs::NONE }).unwrap().past_caches);
        }
    }
}
