//! A crowd on the GPU, and the buffers that its poses are written to.

use crate::error::Error;
use crate::gpu::batch::batches_of;
use crate::gpu::frame::FrameBuffer;
use crate::gpu::scopes::Scopes;
use crate::gpu::{CrowdOptions, GpuBatch, GpuLibrary, LayersOutcome};
use crate::model::{Crowd, Layer, Outputs, Step};
use crate::model::{check_instance, check_layers};
use crate::pack::record::Frame;
use crate::pack::{PackedCrowd, pack_instance};

/// A crowd in GPU buffers, with room for its poses.
///
/// A crowd that merely plays needs nothing from frame to frame but [`encode`](Self::encode).
///
/// # Crowds that change
/// Layers are replaced in place, those of all instances by [`set_layers`](Self::set_layers) or those of one by
/// [`set_instance`](Self::set_instance), within the room that the crowd was made with: what its layers need when it is made,
/// or what [`CrowdOptions::layers`] and [`CrowdOptions::mixing`] say. More than that, other skeletons, and another number of
/// instances are another `GpuCrowd`, which shares the [`GpuLibrary`] and its pipelines.
///
/// Whoever leaves is left out of the lists of [`encode_visible`](Self::encode_visible) or of what is drawn, and given no layers, or
/// events and root motion go on; without layers, an instance stands in its rest pose. Whoever comes takes a slot that was
/// left, of the same skeleton, by `set_instance`, and is listed with a update_interval of 1 the first time: until it is posed, its slot
/// holds the pose, and for a frame the previous one, of who was there before. A crowd whose numbers go up and down is made as
/// large as it gets.
#[derive(Debug)]
pub struct GpuCrowd {
    batches: Vec<GpuBatch>,
    frame: FrameBuffer,
    /// For each instance of the crowd its batch and its slot there.
    slots: Vec<(u32, u32)>,
    outputs: Outputs,
    options: CrowdOptions,
}

impl GpuCrowd {
    /// Uploads a crowd of the library's skeletons and clips, and makes room for its poses. Nothing is submitted.
    ///
    /// # Errors
    /// [`Error::Instance`] where the crowd does not fit the library; [`Error::Skeleton`], [`Error::Skin`] or
    /// [`Error::Track`] where dual quaternions are wanted and something it uses does not scale alike along all axes;
    /// [`Error::Limit`] where one instance's outputs are larger than the device allows; [`Error::Device`] where its memory
    /// does not suffice; [`Error::Usage`] where the library is on another device.
    pub fn new(device: &wgpu::Device, library: &GpuLibrary, crowd: &Crowd, outputs: Outputs) -> Result<Self, Error> {
        Self::with_options(device, library, crowd, outputs, CrowdOptions::default())
    }

    /// As [`new`](Self::new), for a crowd that is made for more.
    ///
    /// # Errors
    /// As those of [`new`](Self::new).
    pub fn with_options(
        device: &wgpu::Device,
        library: &GpuLibrary,
        crowd: &Crowd,
        outputs: Outputs,
        options: CrowdOptions,
    ) -> Result<Self, Error> {
        library.check_device(device)?;
        let (layers, mixing) = options.room();
        let packed = PackedCrowd::with_room(&library.packing, crowd, layers, mixing)?;
        library.packing.check_outputs(crowd, outputs)?;
        let scopes = Scopes::push(device);
        let frame = FrameBuffer::new(device);
        let slots = vec![(0, 0); packed.len()];
        let mut on_gpu = Self { batches: Vec::new(), frame, slots, outputs, options };
        let mut failure = None;
        for batch in &packed.batches {
            match batches_of(device, library, &packed, batch, outputs, (on_gpu.frame.buffer(), options)) {
                Ok(batches) => on_gpu.batches.extend(batches),
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        scopes.pop()?;
        if let Some(error) = failure {
            return Err(error);
        }
        for (batch, number) in on_gpu.batches.iter().zip(0..) {
            for (&instance, slot) in batch.instances().iter().zip(0..) {
                on_gpu.slots[instance] = (number, slot);
            }
        }
        Ok(on_gpu)
    }

    /// Replaces the layers of all instances, before what is submitted next: other clips, weights or times need no new crowd.
    ///
    /// An instance may be mixed as it was in the crowd that this one was made of, or as [`CrowdOptions`] say, and have as many
    /// layers as any of its skeleton had that was mixed so, or as the options say; or less. Where anything does not fit, nothing
    /// is replaced, and the outcome says what stands in the way.
    ///
    /// # Errors
    /// [`Error::Instance`] where the crowd does not fit the library; those of dual quaternions as in [`new`](Self::new).
    pub fn set_layers(&self, queue: &wgpu::Queue, library: &GpuLibrary, crowd: &Crowd) -> Result<LayersOutcome, Error> {
        for instance in 0..crowd.len() {
            check_instance(&library.packing, instance, crowd.skeleton(instance), crowd.layers(instance))?;
        }
        library.packing.check_outputs(crowd, self.outputs)?;
        if crowd.len() != self.slots.len() {
            return Ok(LayersOutcome::OtherInstances);
        }
        for instance in 0..crowd.len() {
            let (batch, _) = self.find(instance);
            if crowd.skeleton(instance) != batch.skeleton() {
                return Ok(LayersOutcome::OtherInstances);
            }
            if let Some(refusal) = batch.refusal(instance, crowd.layers(instance)) {
                return Ok(refusal);
            }
        }
        let mut records = Vec::new();
        for batch in &self.batches {
            let (buffer, count) = batch.layers();
            records.clear();
            for &instance in batch.instances() {
                let layers = crowd.layers(instance);
                pack_instance(&library.packing, batch.skeleton(), layers, count as usize, &mut records);
            }
            queue.write_buffer(buffer, 0, bytemuck::cast_slice(&records));
        }
        Ok(LayersOutcome::Replaced)
    }

    /// Replaces the layers of one instance, before what is submitted next; the others play on. What is uploaded are the
    /// records of its layers, 104 bytes for each that there is room for. The room is that of [`set_layers`](Self::set_layers).
    ///
    /// # Errors
    /// [`Error::Instance`] where there is no such instance, its layers do not fit the library or a number in them is not
    /// usable, and [`Error::Limit`] where they are too many, as [`Crowd::push`] has it; those of dual quaternions as in
    /// [`new`](Self::new).
    pub fn set_instance(
        &self,
        queue: &wgpu::Queue,
        library: &GpuLibrary,
        instance: usize,
        layers: &[Layer],
    ) -> Result<LayersOutcome, Error> {
        if instance >= self.slots.len() {
            let reason = format!("the crowd has {} instances", self.slots.len());
            return Err(Error::Instance { instance, reason });
        }
        let (batch, slot) = self.find(instance);
        check_layers(instance, layers)?;
        check_instance(&library.packing, instance, batch.skeleton(), layers)?;
        library.packing.check_instance_outputs(batch.skeleton(), layers, self.outputs)?;
        if let Some(refusal) = batch.refusal(instance, layers) {
            return Ok(refusal);
        }
        let (buffer, count) = batch.layers();
        let mut records = Vec::with_capacity(count as usize);
        pack_instance(&library.packing, batch.skeleton(), layers, count as usize, &mut records);
        let bytes: &[u8] = bytemuck::cast_slice(&records);
        queue.write_buffer(buffer, (slot * bytes.len()) as u64, bytes);
        Ok(LayersOutcome::Replaced)
    }

    /// Records the poses of all instances at a time of the crowd's clock, or at the end of a step of it.
    ///
    /// It only records: nothing is submitted or waited for. What it uploads, the 32 bytes of a [`Frame`], goes through the
    /// encoder, so that two frames in one submission do not disturb each other.
    pub fn encode(&self, device: &wgpu::Device, encoder: &mut wgpu::CommandEncoder, step: impl Into<Step>) {
        self.encode_timed(device, encoder, step, None);
    }

    /// As [`encode`](Self::encode), with the pass's begin and end written to a query set.
    pub fn encode_timed(
        &self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        step: impl Into<Step>,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites>,
    ) {
        self.record(device, encoder, Frame::new(step.into()), timestamp_writes);
    }

    /// As [`encode`](Self::encode), of those instances only that are listed in [`GpuBatch::visible`] and due. The others keep what
    /// their slots in the outputs held.
    ///
    /// Who is listed, the GPU decides: nothing depends on the list before the recorded work runs. A listed instance is due
    /// where its slot and `frame_number`, which counts frames and wraps, add up to a multiple of the entry's update_interval. Listed
    /// several times, it is posed once, as the due entry with the most joints says. A crowd that was made without lists poses
    /// all instances.
    pub fn encode_visible(
        &self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        step: impl Into<Step>,
        frame_number: u32,
    ) {
        let step = step.into();
        let frame = if self.options.visible { Frame::visible(step, frame_number) } else { Frame::new(step) };
        self.record(device, encoder, frame, None);
    }

    fn record(
        &self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        frame: Frame,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites>,
    ) {
        self.frame.write(device, encoder, &frame);
        let step = frame.step();
        let cut = step.from == step.to;
        if !cut {
            self.keep_skins(encoder);
        }
        let visible_only = frame.visible_only == 1;
        let lists = || self.batches.iter().filter_map(|batch| batch.visible.as_ref()).filter(|_| visible_only);
        lists().for_each(|visible| visible.clear(encoder));
        let label = Some("posse pose");
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes });
        lists().for_each(|visible| visible.collect(&mut pass));
        for batch in &self.batches {
            batch.record(&mut pass, visible_only);
        }
        drop(pass);
        if cut {
            self.keep_skins(encoder);
        }
    }

    /// Records that the present skin matrices become the previous ones.
    fn keep_skins(&self, encoder: &mut wgpu::CommandEncoder) {
        for batch in &self.batches {
            if let (Some(skin), Some(previous)) = (batch.skin(), batch.previous_skin()) {
                encoder.copy_buffer_to_buffer(skin, 0, previous, 0, skin.size());
            }
        }
    }

    /// The batches, skeleton after skeleton, those of least mixing first.
    pub fn batches(&self) -> &[GpuBatch] {
        &self.batches
    }

    /// The batch of an instance, and its slot in the batch's buffers.
    ///
    /// # Panics
    /// Where the crowd has no such instance.
    pub fn find(&self, instance: usize) -> (&GpuBatch, usize) {
        let (batch, slot) = self.slots[instance];
        (&self.batches[batch as usize], slot as usize)
    }
}
