//! Times by the clock of the GPU.

use crate::error::Error;
use crate::gpu::{DeviceAndQueue, Scopes, create_buffer, fault_point, read_buffers};

/// Measures compute passes by the clock of the GPU. The device needs the feature `TIMESTAMP_QUERY`.
#[derive(Debug)]
pub struct Stopwatch {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    /// The number of timestamps.
    count: u32,
    seconds_per_tick: f64,
}

impl Stopwatch {
    /// Bytes of a measurement of one pass: two timestamps of 8 bytes.
    pub const BYTES: u64 = 16;

    /// Creates a stopwatch for one pass; `None` if the device has no clock, or no memory for it.
    pub fn new<'a>(gpu: impl Into<DeviceAndQueue<'a>>) -> Option<Self> {
        Self::with_passes(gpu, 1)
    }

    /// Creates a stopwatch for several passes that follow each other, 1 to 4,095: one timestamp at the start of the
    /// first pass, and one at the end of each.
    ///
    /// `None` if the device has no clock, or no memory for it.
    pub fn with_passes<'a>(gpu: impl Into<DeviceAndQueue<'a>>, passes: u32) -> Option<Self> {
        let DeviceAndQueue { device, queue } = gpu.into();
        if !device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return None;
        }
        let count = passes.clamp(1, wgpu::QUERY_SET_MAX_QUERIES - 1) + 1;
        let scopes = Scopes::push(device);
        fault_point(device);
        let queries = device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("posse stopwatch"),
            ty: wgpu::QueryType::Timestamp,
            count,
        });
        let resolved = create_buffer(
            device,
            &wgpu::BufferDescriptor {
                label: Some("posse stopwatch"),
                size: bytes(count),
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            },
        );
        scopes.pop_for_memory().ok()?;
        let seconds_per_tick = f64::from(queue.get_timestamp_period()) * 1e-9;
        Some(Self { queries, resolved, count, seconds_per_tick })
    }

    /// The timestamp writes for the descriptor of the first measured pass.
    pub fn writes(&self) -> wgpu::ComputePassTimestampWrites<'_> {
        self.writes_of(0)
    }

    /// The timestamp writes for the descriptor of measured pass `index`. A pass beyond the last one counts as the last.
    pub fn writes_of(&self, index: u32) -> wgpu::ComputePassTimestampWrites<'_> {
        let index = index.min(self.count - 2);
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: (index == 0).then_some(0),
            end_of_pass_write_index: Some(index + 1),
        }
    }

    /// Submits an encoder that holds the measured passes, waits, and returns the seconds from the start of the first
    /// pass to the end of the last one.
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
        encoder: wgpu::CommandEncoder,
    ) -> Result<f64, Error> {
        Ok(self.submit_passes(gpu, encoder).await?.iter().sum())
    }

    /// Submits an encoder that holds the measured passes, waits, and returns the seconds of each pass, with the
    /// commands before it: from the end of the previous pass to its own end.
    ///
    /// # Errors
    /// The errors of `submit`.
    pub async fn submit_passes<'a>(
        &self,
        gpu: impl Into<DeviceAndQueue<'a>>,
        mut encoder: wgpu::CommandEncoder,
    ) -> Result<Vec<f64>, Error> {
        let resolved = self.resolve(&mut encoder);
        let contents = read_buffers(gpu.into(), encoder, &[(resolved, 0..bytes(self.count))]).await?;
        let seconds = contents.first().and_then(|contents| self.seconds_of_passes(contents));
        seconds.ok_or_else(|| {
            Error::Device("its clock returned no times; update the driver, or measure without a stopwatch".into())
        })
    }

    /// Records the copy of the timestamps to a buffer with the usage `COPY_SRC`, for callers that do not wait: of
    /// [`BYTES`](Self::BYTES) bytes for one pass.
    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder) -> &wgpu::Buffer {
        encoder.resolve_query_set(&self.queries, 0..self.count, &self.resolved, 0);
        &self.resolved
    }

    /// The seconds of all passes, from the contents of that buffer; `None` if their number is wrong.
    pub fn seconds(&self, contents: &[u8]) -> Option<f64> {
        self.seconds_of_passes(contents).map(|seconds| seconds.iter().sum())
    }

    fn seconds_of_passes(&self, contents: &[u8]) -> Option<Vec<f64>> {
        if contents.len() as u64 != bytes(self.count) {
            return None;
        }
        let ticks = bytemuck::pod_collect_to_vec::<u8, u64>(contents);
        Some(ticks.windows(2).map(|pair| pair[1].saturating_sub(pair[0]) as f64 * self.seconds_per_tick).collect())
    }
}

/// Bytes of timestamps.
fn bytes(count: u32) -> u64 {
    8 * u64::from(count)
}
