//! The events of a crowd, listed on the GPU.

use wgpu::BufferUsages as Usages;

use crate::error::Error;
use crate::gpu::frame_uploads::FrameBuffer;
use crate::gpu::kernels::{SideKernel, SidePass};
use crate::gpu::parameters::Drivers;
use crate::gpu::{
    GpuBatch, GpuCrowd, GpuLibrary, Scopes, check_device, create_buffer, create_encoder, filled_buffer,
    largest_binding, read_buffers, upload,
};
use crate::kernels::SIDE_WORKGROUP_SIZE;
use crate::model::{EventList, Occurrence, Step, Ticks};
use crate::pack::record::{EventBatch, EventCount, Frame, OccurrenceRecord};

/// Lists the events that the layers of a crowd reach in a step of the crowd clock, each as an [`Occurrence`].
///
/// A crowd without a `GpuEvents` pays nothing for events. A `GpuEvents` keeps the buffers of its crowd alive, so it may
/// outlive the crowd. After [`GpuCrowd::destroy`], its submissions fail.
///
/// # Examples
/// ```
/// use posse::events::Event;
/// use posse::gpu::{AdapterKind, GpuContext, GpuCrowd, GpuEvents, GpuLibrary};
/// use posse::{Crowd, Layer, LayerTime, Outputs, Playback, Step, Ticks, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let mut library = demo::library()?;
/// let walk = library.find_clip("walk").expect("the demo walks");
/// let mut clip = library.clip(walk).clone();
/// clip.events.push(Event { time: 0.25, function: "step".into(), parameters: Vec::new() });
/// let walk = library.add_clip(clip)?;
/// let mut crowd = Crowd::new();
/// let playing = LayerTime::Playing(Playback::looping(0.0, 1.0));
/// crowd.push(library.clip(walk).skeleton, &[Layer::new(walk, playing)])?;
///
/// let gpu = GpuContext::new(AdapterKind::Any)?;
/// let library = GpuLibrary::new(&gpu, &library)?;
/// let crowd = GpuCrowd::new(&library, &crowd, Outputs::NONE)?;
/// let events = GpuEvents::new(&library, &crowd, 16)?;
/// let mut encoder = gpu.device.create_command_encoder(&Default::default());
/// events.encode(&mut encoder, Step { from: Ticks(0), to: Ticks::from_seconds(0.5) });
/// gpu.queue.submit([encoder.finish()]);
/// assert_eq!(events.read()?.events.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct GpuEvents {
    list: wgpu::Buffer,
    frame: FrameBuffer,
    /// One for each batch of the crowd.
    batches: Vec<EventsBatch>,
}

/// The bindings and the dispatch for a batch of the crowd.
#[derive(Debug)]
struct EventsBatch {
    /// The indices of the instances, and the record of the batch.
    buffers: [wgpu::Buffer; 2],
    /// The pass that drives layers to the step of the list, if some are driven.
    drive: Option<SidePass>,
    /// The pass that lists the events.
    pass: SidePass,
}

/// Bytes before the occurrences of a list.
const COUNT_BYTES: u64 = size_of::<EventCount>() as u64;

impl GpuEvents {
    /// Makes room for a list of `capacity` events of a crowd. Nothing is submitted.
    ///
    /// # Errors
    /// * [`Error::Limit`] if the list does not fit a binding of the device.
    /// * [`Error::Shader`] and [`Error::Device`] if the device refuses the kernel or a buffer.
    /// * [`Error::Usage`] if the crowd is on another device.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(library: &GpuLibrary, crowd: &GpuCrowd, capacity: usize) -> Result<Self, Error> {
        pollster::block_on(Self::new_async(library, crowd, capacity))
    }

    /// As `new`, for a browser.
    ///
    /// # Errors
    /// The errors of `new`.
    pub async fn new_async(library: &GpuLibrary, crowd: &GpuCrowd, capacity: usize) -> Result<Self, Error> {
        let gpu = library.gpu();
        let device = gpu.device;
        if device != crowd.gpu().device {
            let reason = "the crowd is on another device than the library; make both on one device";
            return Err(Error::Usage(reason.into()));
        }
        let needed = (capacity as u64).saturating_mul(size_of::<OccurrenceRecord>() as u64).saturating_add(COUNT_BYTES);
        let allowed = largest_binding(device);
        if needed > allowed {
            return Err(Error::Limit {
                what: "bytes of a list of events (ask for a smaller capacity)".into(),
                needed,
                allowed,
            });
        }
        // Kernels of batches without driven layers, and of those with some.
        let mut kernels = [None, None];
        for batch in crowd.batches() {
            let is_driven = batch.drivers.is_some();
            kernels[usize::from(is_driven)] = Some(library.events_kernel(is_driven).await?);
        }
        let drive_kernel = if kernels[1].is_some() { Some(library.drive_kernel().await?) } else { None };
        let scopes = Scopes::push(device);
        // A binding holds at least one element.
        let size = needed.max(COUNT_BYTES + size_of::<OccurrenceRecord>() as u64);
        let usage = Usages::STORAGE | Usages::COPY_SRC | Usages::COPY_DST;
        let label = Some("posse events");
        let list = create_buffer(device, &wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false });
        let frame = FrameBuffer::new(gpu);
        let builder = EventsBuilder { library, drive_kernel, frame: frame.buffer(), list: &list, capacity };
        let build = |batch: &GpuBatch| Some(builder.build(batch, kernels[usize::from(batch.drivers.is_some())]?));
        let batches = crowd.batches().iter().filter_map(build).collect();
        scopes.pop().await?;
        check_device(device).await?;
        Ok(Self { batches, list, frame })
    }

    /// Records the list of a step. It replaces the list of the previous step.
    ///
    /// It only records: it does not submit or wait. Two steps in one submission do not disturb each other. To keep the
    /// first list, use or copy it before the second step is recorded. Without memory for the upload, the device refuses
    /// the step when it is submitted.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder, step: Step) {
        self.frame.write(encoder, &Frame::new(step));
        encoder.clear_buffer(&self.list, 0, Some(COUNT_BYTES));
        let label = Some("posse events");
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes: None });
        for drive in self.batches.iter().filter_map(|batch| batch.drive.as_ref()) {
            drive.record(&mut pass);
        }
        for batch in &self.batches {
            batch.pass.record(&mut pass);
        }
    }

    /// Frees all memory, after all submitted work. A browser frees the buffers of a dropped list only when it collects
    /// garbage. A later submission with the list fails.
    pub fn destroy(&self) {
        self.list.destroy();
        self.frame.destroy();
        self.batches.iter().flat_map(|batch| &batch.buffers).for_each(wgpu::Buffer::destroy);
    }

    /// The list, for use on the GPU: an [`EventCount`], then as many [`OccurrenceRecord`]s as it counts as listed, in
    /// no order. All fields are `u32`. The buffer has the usages `STORAGE` and `COPY_SRC`.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.list
    }

    /// Reads the list back, after all submitted work.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost or out of memory.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn read(&self) -> Result<EventList, Error> {
        pollster::block_on(self.read_async())
    }

    /// As `read`, for a browser.
    ///
    /// # Errors
    /// The errors of `read`.
    pub async fn read_async(&self) -> Result<EventList, Error> {
        // The count first, so that a list with much room costs no more than its contents.
        let count: EventCount = bytemuck::pod_read_unaligned(&self.read_bytes(COUNT_BYTES).await?);
        let bytes = COUNT_BYTES + u64::from(count.listed) * size_of::<OccurrenceRecord>() as u64;
        Ok(Self::list(&self.read_bytes(bytes.min(self.list.size())).await?))
    }

    /// Fails if there was no memory for a list that was recorded since the last call.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is out of memory.
    pub(super) fn check_frames(&self) -> Result<(), Error> {
        self.frame.check()
    }

    /// The first bytes of the list.
    async fn read_bytes(&self, count: u64) -> Result<Vec<u8>, Error> {
        let gpu = self.frame.gpu();
        let encoder = create_encoder(gpu.device)?;
        Ok(read_buffers(gpu, encoder, &[(&self.list, 0..count)]).await?.concat())
    }

    /// The list in a copy of [`buffer`](Self::buffer), for callers that read back without waiting. A copy that is cut
    /// short gives the events that it holds.
    pub fn list(bytes: &[u8]) -> EventList {
        let Some((count, occurrences)) = bytes.split_at_checked(size_of::<EventCount>()) else {
            return EventList::default();
        };
        let count: EventCount = bytemuck::pod_read_unaligned(count);
        let occurrences = occurrences.chunks_exact(size_of::<OccurrenceRecord>()).take(count.listed as usize);
        let mut events: Vec<_> = occurrences.map(|bytes| occurrence(bytemuck::pod_read_unaligned(bytes))).collect();
        events.sort_unstable();
        let missed = u64::from(count.missed_high) << 32 | u64::from(count.missed_low);
        EventList { events, missed: if count.missed_many == 0 { missed } else { u64::MAX } }
    }
}

fn occurrence(record: OccurrenceRecord) -> Occurrence {
    Occurrence {
        tick: Ticks(i64::from(record.tick_high as i32) << 32 | i64::from(record.tick_low)),
        instance: record.instance as usize,
        layer: record.layer as usize,
        event: record.event as usize,
    }
}

/// The crowd and list for which the parts of batches are created.
struct EventsBuilder<'a> {
    library: &'a GpuLibrary,
    drive_kernel: Option<&'a SideKernel>,
    frame: &'a wgpu::Buffer,
    list: &'a wgpu::Buffer,
    capacity: usize,
}

impl EventsBuilder<'_> {
    /// Creates the bindings and the dispatch for a batch.
    fn build(&self, batch: &GpuBatch, kernel: &SideKernel) -> EventsBatch {
        let &Self { library, drive_kernel, frame, list, capacity } = self;
        let gpu = library.gpu();
        let device = gpu.device;
        let instances: Vec<u32> = batch.instances().iter().map(|&instance| instance as u32).collect();
        let record = EventBatch {
            instance_count: instances.len() as u32,
            layer_count: batch.layer_count,
            groups_per_row: device.limits().max_compute_workgroups_per_dimension,
            capacity: capacity as u32,
        };
        let groups = (record.instance_count * record.layer_count).div_ceil(SIDE_WORKGROUP_SIZE);
        let instances = upload(gpu, "posse instances", bytemuck::cast_slice(&instances));
        let record = filled_buffer(gpu, "posse batch", bytemuck::bytes_of(&record), Usages::UNIFORM);
        let drivers = batch.drivers.as_ref().map(|(drivers, _)| drivers);
        // Without drivers, the kernel reads none: bind any buffer.
        let drives = drivers.map_or(&library.words, |drivers| &drivers.drives);
        let bound = [&library.words, &batch.layers, &instances, frame, &record, list, drives];
        let parameters = batch.parameters.as_ref();
        let drive = |(drivers, kernel): (&Drivers, _)| drivers.pass(library, kernel, parameters, &batch.layers, frame);
        EventsBatch {
            drive: drivers.zip(drive_kernel).map(drive),
            pass: kernel.pass(device, &bound, groups),
            buffers: [instances, record],
        }
    }
}
