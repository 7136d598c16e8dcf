//! The GPU engine as an [`Evaluator`], which reads poses back.

use std::ops::Range;

use crate::error::Error;
#[cfg(not(target_arch = "wasm32"))]
use crate::evaluator::Evaluator;
use crate::gpu::{
    GpuBatch, GpuContext, GpuCrowd, GpuEvents, GpuLibrary, create_encoder, read_buffers, submit, wait_for_device,
};
use crate::model::{Crowd, EventList, Library, Outputs, Pose, Poses, Step};
use crate::pack::{Aligned, OutputNumbers, PackedLibrary};
use crate::pieces::{self, Group};

/// The GPU engine with a device of its own. A renderer uses [`GpuLibrary`] and [`GpuCrowd`] with its device instead.
///
/// # Examples
/// ```
/// use posse::gpu::{AdapterKind, GpuContext, GpuEngine};
/// use posse::{Evaluator, Outputs, Ticks, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let crowd = demo::crowd(&library, 5)?;
/// let mut engine = GpuEngine::new(GpuContext::new(AdapterKind::Any)?, &library)?;
/// let poses = engine.evaluate(&crowd, Ticks(0), Outputs::ALL)?;
/// assert_eq!(poses.instances.len(), 5);
/// assert_eq!(poses.instances[0].model.len(), 64);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct GpuEngine {
    gpu: GpuContext,
    library: GpuLibrary,
}

impl GpuEngine {
    /// Creates an engine for a library, on a device. It keeps the library in its present state; after an addition, make
    /// a new engine.
    ///
    /// # Errors
    /// The errors of [`PackedLibrary::new`] and [`GpuLibrary::new`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(gpu: GpuContext, library: &Library) -> Result<Self, Error> {
        pollster::block_on(Self::new_async(gpu, library))
    }

    /// As `new`, for a browser.
    ///
    /// # Errors
    /// The errors of `new`.
    pub async fn new_async(gpu: GpuContext, library: &Library) -> Result<Self, Error> {
        let library = GpuLibrary::new_async(&gpu, library).await?;
        Self::with_library(gpu, library)
    }

    /// Creates an engine for a library that is on the device already.
    ///
    /// # Errors
    /// [`Error::Usage`] if the library is on another device: wgpu panics if objects of two devices are used together.
    /// It compares device numbers only, so that devices of two wgpu instances may seem equal.
    pub fn with_library(gpu: GpuContext, library: GpuLibrary) -> Result<Self, Error> {
        if gpu.device != *library.gpu().device {
            let reason = "the library is on another device; make the engine with the device of the library";
            return Err(Error::Usage(reason.into()));
        }
        Ok(Self { gpu, library })
    }

    /// The device.
    pub fn gpu(&self) -> &GpuContext {
        &self.gpu
    }

    /// The library on the device.
    pub fn library(&self) -> &GpuLibrary {
        &self.library
    }

    /// Takes another library in place of the engine's, as [`GpuLibrary::replace`].
    ///
    /// # Errors
    /// The errors of [`GpuLibrary::replace`].
    pub fn replace_library(&mut self, packed: PackedLibrary) -> Result<(), Error> {
        self.library.replace(packed)
    }

    /// Reads back the outputs of some instances of a batch, by their slots, after all submitted work.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost or out of memory.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn read(&self, batch: &GpuBatch, instances: Range<usize>) -> Result<OutputNumbers, Error> {
        pollster::block_on(self.read_async(batch, instances))
    }

    /// As `read`, for a browser.
    ///
    /// # Errors
    /// The errors of `read`.
    pub async fn read_async(&self, batch: &GpuBatch, instances: Range<usize>) -> Result<OutputNumbers, Error> {
        let encoder = create_encoder(&self.gpu.device)?;
        let layout = batch.layout();
        let bytes = |stride: usize| 4 * (stride * instances.start) as u64..4 * (stride * instances.end) as u64;
        let requested = [
            (batch.local(), layout.local),
            (batch.model(), layout.model),
            (batch.skin(), layout.skin),
            (batch.values(), layout.values),
            (batch.root_motion(), layout.root_motion),
        ];
        let requested = requested.into_iter().filter_map(|(buffer, stride)| Some((buffer?, bytes(stride))));
        let requested: Vec<_> = requested.collect();
        let mut contents = read_buffers((&self.gpu).into(), encoder, &requested).await?.into_iter();
        let mut numbers = |buffer: Option<&wgpu::Buffer>| {
            let bytes = buffer.and_then(|_| contents.next()).unwrap_or_default();
            let mut numbers = Aligned::default();
            numbers.resize(bytes.len() / size_of::<f32>(), 0.0);
            bytemuck::cast_slice_mut(&mut numbers).copy_from_slice(&bytes);
            numbers
        };
        // The fields in the order of the requests.
        Ok(OutputNumbers {
            local: numbers(batch.local()),
            model: numbers(batch.model()),
            skin: numbers(batch.skin()),
            values: numbers(batch.values()),
            root_motion: numbers(batch.root_motion()),
        })
    }

    /// Reads back the pose of one instance, in the outputs that the crowd was made for, after all submitted work.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost or out of memory.
    ///
    /// # Panics
    /// If the crowd has no such instance.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn read_instance(&self, crowd: &GpuCrowd, instance: usize, outputs: Outputs) -> Result<Pose, Error> {
        pollster::block_on(self.read_instance_async(crowd, instance, outputs))
    }

    /// As `read_instance`, for a browser.
    ///
    /// # Errors
    /// The errors of `read_instance`.
    ///
    /// # Panics
    /// If the crowd has no such instance.
    pub async fn read_instance_async(
        &self,
        crowd: &GpuCrowd,
        instance: usize,
        outputs: Outputs,
    ) -> Result<Pose, Error> {
        let (batch, slot) = crowd.find(instance);
        let numbers = self.read_async(batch, slot..slot + 1).await?;
        Ok(self.library.pose(batch, &numbers, 0, outputs))
    }

    /// Waits until all submitted work has run.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost, or if the work takes more than 10 minutes.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait(&self) -> Result<(), Error> {
        pollster::block_on(self.wait_async())
    }

    /// As `wait`, for a browser.
    ///
    /// # Errors
    /// The errors of `wait`.
    pub async fn wait_async(&self) -> Result<(), Error> {
        wait_for_device((&self.gpu).into()).await
    }

    /// The poses of a crowd at the end of a step, as [`Evaluator::evaluate_step`] for a browser.
    ///
    /// # Errors
    /// The errors of `GpuCrowd::new`, and [`Error::Device`] if the device is lost or out of memory.
    pub async fn evaluate_step_async(&self, crowd: &Crowd, step: Step, outputs: Outputs) -> Result<Poses, Error> {
        let shown = crowd.at(step.to);
        let mut instances = self.poses(&shown, step, outputs).await?;
        if outputs.root_motion {
            self.move_in_pieces(crowd, step, &mut instances).await?;
        }
        Ok(Poses { instances })
    }

    /// The poses of a crowd at the end of a step.
    async fn poses(&self, crowd: &Crowd, step: Step, outputs: Outputs) -> Result<Vec<Pose>, Error> {
        let gpu_crowd = GpuCrowd::new_async(&self.library, crowd, outputs).await?;
        gpu_crowd.set_step_parameters(crowd, step)?;
        let mut encoder = create_encoder(&self.gpu.device)?;
        gpu_crowd.encode(&mut encoder, step);
        gpu_crowd.check_frames()?;
        submit((&self.gpu).into(), encoder).await?;
        let mut instances = vec![Pose::default(); crowd.len()];
        for batch in gpu_crowd.batches() {
            let numbers = self.read_async(batch, 0..batch.instances().len()).await?;
            for (slot, &instance) in batch.instances().iter().enumerate() {
                instances[instance] = self.library.pose(batch, &numbers, slot, outputs);
            }
        }
        gpu_crowd.destroy();
        Ok(instances)
    }

    /// Replaces the root motions of instances with a transition that starts in the step by the root motions of its
    /// pieces, one after the other.
    async fn move_in_pieces(&self, crowd: &Crowd, step: Step, instances: &mut [Pose]) -> Result<(), Error> {
        let several = pieces::of_cut_movements(crowd, step);
        let all = several.concat();
        let mut motions = vec![None; all.len()];
        let outputs = Outputs { root_motion: true, ..Outputs::NONE };
        for Group { step, positions, crowd } in pieces::groups(crowd, &all)? {
            for (pose, position) in self.poses(&crowd, step, outputs).await?.into_iter().zip(positions) {
                motions[position] = pose.root_motion;
            }
        }
        pieces::join_motions(&several, &motions, instances);
        Ok(())
    }

    /// The events that a crowd reaches in a step, as [`Evaluator::evaluate_events`] for a browser.
    ///
    /// # Errors
    /// The errors of `GpuEvents::new`, and [`Error::Device`] if the device is lost or out of memory.
    pub async fn evaluate_events_async(&self, crowd: &Crowd, step: Step, capacity: usize) -> Result<EventList, Error> {
        let Some(all) = pieces::of_cut_events(crowd, step) else {
            return self.events(&crowd.at(step.to), step, capacity).await;
        };
        let mut list = EventList::default();
        for group in pieces::groups(crowd, &all)? {
            group.add_events(self.events(&group.crowd, group.step, capacity).await?, &all, &mut list, capacity);
        }
        list.events.sort_unstable();
        Ok(list)
    }

    /// The events that the layers of a crowd reach in a step.
    async fn events(&self, crowd: &Crowd, step: Step, capacity: usize) -> Result<EventList, Error> {
        let gpu_crowd = GpuCrowd::new_async(&self.library, crowd, Outputs::NONE).await?;
        gpu_crowd.set_step_parameters(crowd, step)?;
        let events = GpuEvents::new_async(&self.library, &gpu_crowd, capacity).await?;
        let mut encoder = create_encoder(&self.gpu.device)?;
        events.encode(&mut encoder, step);
        events.check_frames()?;
        submit((&self.gpu).into(), encoder).await?;
        let list = events.read_async().await?;
        events.destroy();
        gpu_crowd.destroy();
        Ok(list)
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Evaluator for GpuEngine {
    fn engine(&self) -> &'static str {
        "gpu"
    }

    fn adapter(&self) -> String {
        self.gpu.name()
    }

    fn evaluate_step(&mut self, crowd: &Crowd, step: Step, outputs: Outputs) -> Result<Poses, Error> {
        pollster::block_on(self.evaluate_step_async(crowd, step, outputs))
    }

    fn evaluate_events(&mut self, crowd: &Crowd, step: Step, capacity: usize) -> Result<EventList, Error> {
        pollster::block_on(self.evaluate_events_async(crowd, step, capacity))
    }
}
