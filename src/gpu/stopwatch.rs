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
            size: 16,
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
        encoder.resolve_query_set(&self.queries, 0..2, &self.resolved, 0);
        let bytes = readback::read(device, queue, encoder, &[(&self.resolved, 0..self.resolved.size())])?;
        let ticks: Vec<u64> = bytes.iter().flat_map(|bytes| bytemuck::pod_collect_to_vec(bytes)).collect();
        match ticks[..] {
            [begin, end] => Ok(end.saturating_sub(begin) as f64 * self.seconds_per_tick),
            _ => Err(Error::Device("the clock gave no answer".into())),
        }
    }
}
