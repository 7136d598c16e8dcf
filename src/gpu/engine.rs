//! The GPU engine as an [`Evaluator`]: a device of its own, poses read back.

use std::ops::Range;

use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::gpu::{GpuBatch, GpuContext, GpuCrowd, GpuEvents, GpuLibrary, KernelForm, readback};
use crate::model::{Crowd, EventList, Library, Outputs, Pose, Poses, Step};
use crate::pack::{OutputNumbers, PackedLibrary};

/// The GPU engine with a device of its own. A renderer uses [`GpuLibrary`] and [`GpuCrowd`] with its device instead.
#[derive(Debug)]
pub struct GpuEngine {
    gpu: GpuContext,
    library: GpuLibrary,
}

impl GpuEngine {
    /// An engine for a library, on this device. It knows the library as it is now; for what is added later, make another.
    ///
    /// # Errors
    /// As [`PackedLibrary::new`] and [`GpuLibrary::new`].
    pub fn new(library: &Library, gpu: GpuContext) -> Result<Self, Error> {
        Self::with_form(KernelForm::of(&gpu.device), library, gpu)
    }

    /// As [`new`](Self::new), its kernels in this form, whatever suits the device.
    ///
    /// # Errors
    /// As those of [`new`](Self::new).
    pub fn with_form(form: KernelForm, library: &Library, gpu: GpuContext) -> Result<Self, Error> {
        let library = GpuLibrary::with_form(form, &gpu.device, PackedLibrary::new(library)?)?;
        Ok(Self::with_library(gpu, library))
    }

    /// An engine for a library that is on this device already.
    pub fn with_library(gpu: GpuContext, library: GpuLibrary) -> Self {
        Self { gpu, library }
    }

    /// The device.
    pub fn gpu(&self) -> &GpuContext {
        &self.gpu
    }

    /// The library on the device.
    pub fn library(&self) -> &GpuLibrary {
        &self.library
    }

    /// What some instances of a batch hold, by their slots there, read back after all that was submitted.
    ///
    /// # Errors
    /// [`Error::Device`] where the device is lost or out of memory.
    pub fn read(&self, batch: &GpuBatch, instances: Range<usize>) -> Result<OutputNumbers, Error> {
        let encoder = self.gpu.device.create_command_encoder(&Default::default());
        let buffers = [batch.local(), batch.model(), batch.skin(), batch.values(), batch.root_motion()];
        let strides = batch.layout().strides();
        let bytes = |stride: usize| 4 * (stride * instances.start) as u64..4 * (stride * instances.end) as u64;
        let wanted = buffers.into_iter().zip(strides).filter_map(|(buffer, stride)| Some((buffer?, bytes(stride))));
        let wanted: Vec<_> = wanted.collect();
        let mut contents = readback::read(&self.gpu.device, &self.gpu.queue, encoder, &wanted)?.into_iter();
        let mut numbers = |buffer: Option<&wgpu::Buffer>| match buffer.and_then(|_| contents.next()) {
            Some(bytes) => bytemuck::pod_collect_to_vec(&bytes),
            None => Vec::new(),
        };
        let [local, model, skin, values, root_motion] = buffers.map(&mut numbers);
        Ok(OutputNumbers { local, model, skin, values, root_motion })
    }

    /// The pose of one instance, of those outputs that the crowd was made for, read back after all that was submitted.
    ///
    /// # Errors
    /// [`Error::Device`] where the device is lost or out of memory.
    ///
    /// # Panics
    /// Where the crowd has no such instance.
    pub fn read_instance(&self, crowd: &GpuCrowd, instance: usize, outputs: Outputs) -> Result<Pose, Error> {
        let (batch, slot) = crowd.find(instance);
        let numbers = self.read(batch, slot..slot + 1)?;
        let skeleton = &self.library.packing.skeletons[batch.skeleton().index()];
        Ok(numbers.pose(skeleton, batch.layout(), 0, outputs))
    }

    /// Waits until all that was submitted has run.
    ///
    /// # Errors
    /// [`Error::Device`] where the device is lost.
    pub fn wait(&self) -> Result<(), Error> {
        readback::wait(&self.gpu.device)
    }
}

impl Evaluator for GpuEngine {
    fn engine(&self) -> &'static str {
        "gpu"
    }

    fn adapter(&self) -> String {
        self.gpu.name()
    }

    fn evaluate_step(&mut self, crowd: &Crowd, step: Step, outputs: Outputs) -> Result<Poses, Error> {
        let device = &self.gpu.device;
        let gpu_crowd = GpuCrowd::new(device, &self.library, crowd, outputs)?;
        let mut encoder = device.create_command_encoder(&Default::default());
        gpu_crowd.encode(device, &mut encoder, step);
        self.gpu.queue.submit([encoder.finish()]);
        let mut instances = vec![Pose::default(); crowd.len()];
        for batch in gpu_crowd.batches() {
            let numbers = self.read(batch, 0..batch.instances().len())?;
            let skeleton = &self.library.packing.skeletons[batch.skeleton().index()];
            for (slot, &instance) in batch.instances().iter().enumerate() {
                instances[instance] = numbers.pose(skeleton, batch.layout(), slot, outputs);
            }
        }
        Ok(Poses { instances })
    }

    fn evaluate_events(&mut self, crowd: &Crowd, step: Step, capacity: usize) -> Result<EventList, Error> {
        let GpuContext { device, queue, .. } = &self.gpu;
        let gpu_crowd = GpuCrowd::new(device, &self.library, crowd, Outputs::NONE)?;
        let events = GpuEvents::new(device, &self.library, &gpu_crowd, capacity)?;
        let mut encoder = device.create_command_encoder(&Default::default());
        events.encode(device, &mut encoder, step);
        queue.submit([encoder.finish()]);
        events.read(device, queue)
    }
}
