//! How long the GPU takes for poses, by its own clock, without waiting for it.

use std::sync::mpsc::{Receiver, channel};

use posse::GpuContext;
use posse::low_level::Stopwatch;

/// Measures the passes of frames, one at a time: while an answer is under way, frames go by unmeasured.
pub struct Timer {
    stopwatch: Stopwatch,
    copy: wgpu::Buffer,
    /// Whether the copy can be read, once that is known.
    answer: Option<Receiver<bool>>,
    seconds: Option<f64>,
}

impl Timer {
    /// A timer; `None` where the device has no clock.
    pub fn new(gpu: &GpuContext) -> Option<Self> {
        let copy = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("pose times"),
            size: Stopwatch::BYTES,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Some(Self { stopwatch: Stopwatch::new(gpu)?, copy, answer: None, seconds: None })
    }

    /// What a pass needs, to be measured; `None` while an answer is under way.
    pub fn writes(&self) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        self.answer.is_none().then(|| self.stopwatch.writes())
    }

    /// Records that the answer of a measured pass is to be read.
    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        if self.answer.is_none() {
            let resolved = self.stopwatch.resolve(encoder);
            encoder.copy_buffer_to_buffer(resolved, 0, &self.copy, 0, Stopwatch::BYTES);
        }
    }

    /// Asks for the answer, once the encoder was submitted, or takes it, if it has come.
    pub fn read(&mut self) {
        let Some(answer) = &self.answer else {
            let (sender, receiver) = channel();
            self.copy.map_async(wgpu::MapMode::Read, .., move |result| {
                // Nobody listens once the window is closed.
                let _ = sender.send(result.is_ok());
            });
            self.answer = Some(receiver);
            return;
        };
        let Ok(readable) = answer.try_recv() else { return };
        self.answer = None;
        if readable {
            self.seconds = self.copy.get_mapped_range(..).ok().and_then(|bytes| self.stopwatch.seconds(&bytes));
            self.copy.unmap();
        }
    }

    /// Seconds of the last pass that was measured.
    pub fn seconds(&self) -> Option<f64> {
        self.seconds
    }
}
