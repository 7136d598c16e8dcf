//! Times by the clock of the GPU.

use crate::error::Error;
use crate::gpu::{DeviceAndQueue, Scopes, create_buffer, fault_point, read_buffers};

/// Measures a compute pass by the clock of the GPU. The device needs the feature `TIMESTAMP_QUERY`.
#[derive(Debug)]
pub struct Stopwatch {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    seconds_per_tick: f64,
}

impl Stopwatch {
    /// Bytes of a measurement: two times of 8 bytes.
    pub const BYTES: u64 = 16;

    /// Creates a stopwatch; `None` if the device has no clock, or no memory for it.
    pub fn new<'a>(gpu: impl Into<DeviceAndQueue<'a>>) -> Option<Self> {
        let DeviceAndQueue { device, queue } = gpu.into();
        if !device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return None;
        }
        let scopes = Scopes::push(device);
        fault_point(device);
        let queries = device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("posse stopwatch"),
            ty: wgpu::QueryType::Timestamp,
            count: 2,
        });
        let resolved = create_buffer(
            device,
            &wgpu::BufferDescriptor {
                label: Some("posse stopwatch"),
                size: Self::BYTES,
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            },
        );
        scopes.pop_for_memory().ok()?;
        Some(Self { queries, resolved, seconds_per_tick: f64::from(queue.get_timestamp_period()) * 1e-9 })
    }

    /// The timestamp writes for the descriptor of the measured pass.
    pub fn writes(&self) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        }
    }

    /// Submits an encoder that holds the measured pass, waits, and returns the seconds of the pass.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn submit<'a>(&self, gpu: impl Into<DeviceAndQueue<'a>>, encoder: wgpu::CommandEncoder) -> Result<f64, Error> {
        pollster::block_on(self.submit_async(gpu, encoder))
    }

    /// As `submit`, for a browser.
    ///
    /// # Errors
    /// The errors of `submit`.
    pub async fn submit_async<'a>(
        &self,
        gpu: impl Into<DeviceAndQueue<'a>>,
        mut encoder: wgpu::CommandEncoder,
    ) -> Result<f64, Error> {
        let resolved = self.resolve(&mut encoder);
        let bytes = read_buffers(gpu.into(), encoder, &[(resolved, 0..Self::BYTES)]).await?;
        let seconds = bytes.first().and_then(|bytes| self.seconds(bytes));
        seconds.ok_or_else(|| {
            Error::Device("its clock returned no times; update the driver, or measure without a stopwatch".into())
        })
    }

    /// Records the copy of the measurement to a buffer of [`BYTES`](Self::BYTES) bytes with the usage `COPY_SRC`, for
    /// callers that do not wait.
    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder) -> &wgpu::Buffer {
        encoder.resolve_query_set(&self.queries, 0..2, &self.resolved, 0);
        &self.resolved
    }

    /// The seconds of the pass, from the contents of that buffer; `None` if their number is not [`BYTES`](Self::BYTES).
    pub fn seconds(&self, bytes: &[u8]) -> Option<f64> {
        match bytemuck::pod_collect_to_vec::<u8, u64>(bytes)[..] {
            [begin, end] => Some(end.saturating_sub(begin) as f64 * self.seconds_per_tick),
            _ => None,
        }
    }
}
