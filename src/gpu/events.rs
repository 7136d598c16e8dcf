//! The events that a crowd on the GPU reaches, listed there.

use wgpu::BufferUsages as Usages;

use crate::error::Error;
use crate::gpu::buffers::{filled_buffer, largest_binding, upload};
use crate::gpu::frame::FrameBuffer;
use crate::gpu::kernels::{SmallKernel, bind_group, workgroups};
use crate::gpu::scopes::Scopes;
use crate::gpu::shader::EVENTS_WORKGROUP_SIZE;
use crate::gpu::{GpuBatch, GpuCrowd, GpuLibrary, readback};
use crate::model::{EventList, Occurrence, Step, Ticks};
use crate::pack::record::{EventBatch, EventCount, Frame, OccurrenceRecord};

/// Lists the events that a crowd's layers reach in a step of its clock; an [`Occurrence`] is one of them.
///
/// A crowd without it pays nothing. It keeps what it needs of the crowd, and may outlive it.
#[derive(Debug)]
pub struct GpuEvents {
    list: wgpu::Buffer,
    frame: FrameBuffer,
    pipeline: wgpu::ComputePipeline,
    /// One for each of the crowd's batches, with its workgroups.
    batches: Vec<(wgpu::BindGroup, (u32, u32))>,
}

impl GpuEvents {
    /// Makes room for a list of so many events of a crowd of the library. Nothing is submitted.
    ///
    /// # Errors
    /// [`Error::Limit`] where the list does not fit a binding of the device; [`Error::Shader`] and [`Error::Device`] where
    /// the device refuses; [`Error::Usage`] where the library is on another device.
    pub fn new(device: &wgpu::Device, library: &GpuLibrary, crowd: &GpuCrowd, capacity: usize) -> Result<Self, Error> {
        library.check_device(device)?;
        let needed = (capacity as u64).saturating_mul(size_of::<OccurrenceRecord>() as u64).saturating_add(COUNT_BYTES);
        let allowed = largest_binding(device);
        if needed > allowed {
            return Err(Error::Limit { what: "bytes of a list of events".into(), needed, allowed });
        }
        let SmallKernel { pipeline, layout } = library.events_kernel(device)?;
        let scopes = Scopes::push(device);
        // A list of nothing has room for one all the same: a binding holds at least one element.
        let size = needed.max(COUNT_BYTES + size_of::<OccurrenceRecord>() as u64);
        let usage = Usages::STORAGE | Usages::COPY_SRC | Usages::COPY_DST;
        let label = Some("posse events");
        let list = device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false });
        let frame = FrameBuffer::new(device);
        let batch = |batch: &GpuBatch| batch_of(device, library, layout, frame.buffer(), &list, capacity as u32, batch);
        let batches = crowd.batches().iter().map(batch).collect::<Result<_, Error>>();
        scopes.pop()?;
        Ok(Self { list, frame, pipeline: pipeline.clone(), batches: batches? })
    }

    /// Records the list of a step, in the place of the one before.
    ///
    /// It only records: nothing is submitted or waited for. What it uploads, the step, goes through the encoder,
    /// as does the emptying of the list, so that two steps in one submission do not disturb each other; but who wants the
    /// first list must use or copy it before the second step is recorded.
    pub fn encode(&self, device: &wgpu::Device, encoder: &mut wgpu::CommandEncoder, step: Step) {
        self.frame.write(device, encoder, &Frame::new(step));
        encoder.clear_buffer(&self.list, 0, Some(COUNT_BYTES));
        let label = Some("posse events");
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes: None });
        pass.set_pipeline(&self.pipeline);
        for (bind_group, workgroups) in &self.batches {
            pass.set_bind_group(0, bind_group, &[]);
            pass.dispatch_workgroups(workgroups.0, workgroups.1, 1);
        }
    }

    /// The list, for who uses it on the GPU: an [`EventCount`], then as many [`OccurrenceRecord`]s as it says are listed, in no
    /// order, of `u32` all. It has the usages `STORAGE` and `COPY_SRC`.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.list
    }

    /// The list, read back after all that was submitted.
    ///
    /// # Errors
    /// [`Error::Device`] where the device is lost or out of memory.
    pub fn read(&self, device: &wgpu::Device, queue: &wgpu::Queue) -> Result<EventList, Error> {
        // How many first, so that a list with much room costs no more than what is in it.
        let read = |bytes: u64| {
            let encoder = device.create_command_encoder(&Default::default());
            let contents = readback::read(device, queue, encoder, &[(&self.list, 0..bytes)])?;
            Ok::<Vec<u8>, Error>(contents.concat())
        };
        let count: EventCount = bytemuck::pod_read_unaligned(&read(COUNT_BYTES)?);
        let bytes = COUNT_BYTES + u64::from(count.listed) * size_of::<OccurrenceRecord>() as u64;
        Ok(Self::list(&read(bytes.min(self.list.size()))?))
    }

    /// What a copy of the buffer holds, for who reads it back without waiting. Of a copy cut short, what is there.
    pub fn list(bytes: &[u8]) -> EventList {
        let Some((count, occurrences)) = bytes.split_at_checked(size_of::<EventCount>()) else {
            return EventList::default();
        };
        let count: EventCount = bytemuck::pod_read_unaligned(count);
        let occurrences = occurrences.chunks_exact(size_of::<OccurrenceRecord>()).take(count.listed as usize);
        let mut events: Vec<_> = occurrences.map(|bytes| occurrence_of(bytemuck::pod_read_unaligned(bytes))).collect();
        events.sort_unstable();
        let missed = u64::from(count.missed_high) << 32 | u64::from(count.missed_low);
        EventList { events, missed: if count.missed_many == 0 { missed } else { u64::MAX } }
    }
}

/// Bytes before the list.
const COUNT_BYTES: u64 = size_of::<EventCount>() as u64;

fn occurrence_of(record: OccurrenceRecord) -> Occurrence {
    Occurrence {
        tick: Ticks(i64::from(record.tick_high as i32) << 32 | i64::from(record.tick_low)),
        instance: record.instance as usize,
        layer: record.layer as usize,
        event: record.event as usize,
    }
}

/// What a batch of the crowd needs, and its workgroups.
fn batch_of(
    device: &wgpu::Device,
    library: &GpuLibrary,
    layout: &wgpu::BindGroupLayout,
    frame: &wgpu::Buffer,
    list: &wgpu::Buffer,
    capacity: u32,
    batch: &GpuBatch,
) -> Result<(wgpu::BindGroup, (u32, u32)), Error> {
    let instances: Vec<u32> = batch.instances().iter().map(|&instance| instance as u32).collect();
    let (layers, layer_count) = batch.layers();
    let groups = (instances.len() as u32 * layer_count).div_ceil(EVENTS_WORKGROUP_SIZE);
    let groups_per_row = device.limits().max_compute_workgroups_per_dimension;
    let record = EventBatch { instance_count: instances.len() as u32, layer_count, groups_per_row, capacity };
    let instances = upload(device, "posse instances", bytemuck::cast_slice(&instances))?;
    let record = filled_buffer(device, "posse batch", bytemuck::bytes_of(&record), Usages::UNIFORM)?;
    let bound = [&library.words, layers, &instances, frame, &record, list];
    Ok((bind_group(device, layout, &bound), workgroups(groups, groups_per_row)))
}
