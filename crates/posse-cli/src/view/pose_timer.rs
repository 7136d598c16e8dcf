//! The time that the GPU needs for poses, measured by its own clock.

use std::sync::mpsc::{Receiver, channel};

use posse::GpuContext;
use posse::low_level::Stopwatch;

/// Measures compute passes, one at a time, without waiting for the GPU. Passes that begin before the previous result has arrived
/// are not measured.
pub struct PoseTimer {
    stopwatch: Stopwatch,
    copy: wgpu::Buffer,
    /// The outcome of mapping the copy; `None` if no result is pending.
    pending: Option<Receiver<bool>>,
    seconds: Option<f64>,
}

impl PoseTimer {
    /// Creates a timer; `None` if the device has no clock.
    pub fn new(gpu: &GpuContext) -> Option<Self> {
        let copy = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("pose times"),
            size: Stopwatch::BYTES,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Some(Self { stopwatch: Stopwatch::new(gpu)?, copy, pending: None, seconds: None })
    }

    /// The timestamp writes that measure a pass; `None` while a result is pending.
    pub fn writes(&self) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        self.pending.is_none().then(|| self.stopwatch.writes())
    }

    /// Records the copy of the timestamps of a measured pass.
    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        if self.pending.is_none() {
            let resolved = self.stopwatch.resolve(encoder);
            encoder.copy_buffer_to_buffer(resolved, 0, &self.copy, 0, Stopwatch::BYTES);
        }
    }

    /// Requests the result after the encoder was submitted, or stores a result that has arrived.
    pub fn read(&mut self) {
        let Some(pending) = &self.pending else {
            let (sender, receiver) = channel();
            self.copy.map_async(wgpu::MapMode::Read, .., move |result| {
                // The receiver is gone after the window has closed.
                let _ = sender.send(result.is_ok());
            });
            self.pending = Some(receiver);
            return;
        };
        let Ok(mapped) = pending.try_recv() else { return };
        self.pending = None;
        if mapped {
            self.seconds = self.copy.get_mapped_range(..).ok().and_then(|bytes| self.stopwatch.seconds(&bytes));
            self.copy.unmap();
        }
    }

    /// The seconds of the last measured pass; `None` before the first result.
    pub fn seconds(&self) -> Option<f64> {
        self.seconds
    }
}
