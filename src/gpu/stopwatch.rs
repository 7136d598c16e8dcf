//! The GPU's own clock.

use crate::error::Error;
use crate::gpu::readback;

/// Measures a compute pass by the GPU's own clock, where the device has the feature `TIMESTAMP_QUERY`.
#[derive(Debug)]
pub struct Stopwatch {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    seconds_per_tick: f64,
}

impl Stopwatch {
    /// Bytes of what was measured: two times of 8 bytes.
    pub const BYTES: u64 = 16;

    /// A stopwatch; `None` where the device has no clock.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Option<Self> {
        if !device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return None;
        }
        let queries = device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("posse stopwatch"),
            ty: wgpu::QueryType::Timestamp,
            count: 2,
        });
        let resolved = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("posse stopwatch"),
            size: Self::BYTES,
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        Some(Self { queries, resolved, seconds_per_tick: f64::from(queue.get_timestamp_period()) * 1e-9 })
    }

    /// What a pass needs, to be measured.
    pub fn writes(&self) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        }
    }

    /// Submits an encoder that holds the measured pass, waits, and gives the pass's seconds.
    ///
    /// # Errors
    /// [`Error::Device`] where the device is lost.
    pub fn submit(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        mut encoder: wgpu::CommandEncoder,
    ) -> Result<f64, Error> {
        let resolved = self.resolve(&mut encoder);
        let bytes = readback::read(device, queue, encoder, &[(resolved, 0..Self::BYTES)])?;
        let seconds = bytes.first().and_then(|bytes| self.seconds(bytes));
        seconds.ok_or_else(|| Error::Device("the clock gave no answer".into()))
    }

    /// Records that what was measured goes into a buffer, of [`BYTES`](Self::BYTES) and with the usage `COPY_SRC`: for who does
    /// not wait for it.
    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder) -> &wgpu::Buffer {
        encoder.resolve_query_set(&self.queries, 0..2, &self.resolved, 0);
        &self.resolved
    }

    /// The pass's seconds, by what that buffer held; `None` where these are not so many bytes.
    pub fn seconds(&self, bytes: &[u8]) -> Option<f64> {
        match bytemuck::pod_collect_to_vec::<u8, u64>(bytes)[..] {
            [begin, end] => Some(end.saturating_sub(begin) as f64 * self.seconds_per_tick),
            _ => None,
        }
    }
}
