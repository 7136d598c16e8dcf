//! Small uploads that change with each recorded frame.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::gpu::buffers::write;
use crate::gpu::{DeviceAndQueue, Scopes};

/// Buffers of one size, each written for one recorded frame and free again when that frame has run.
///
/// A buffer that the queue writes holds one value per submission, but a submission may hold several frames. So each recorded frame
/// has a buffer of its own. As many buffers are created as frames are recorded or under way at a time, two or three in a program
/// that submits each frame.
#[derive(Debug)]
pub(crate) struct FrameUploads {
    device: wgpu::Device,
    queue: wgpu::Queue,
    label: &'static str,
    size: u64,
    usage: wgpu::BufferUsages,
    slots: Mutex<Vec<Slot>>,
}

/// A buffer, and a flag that is true while a recorded frame needs it.
#[derive(Debug)]
struct Slot {
    buffer: wgpu::Buffer,
    is_used: Arc<AtomicBool>,
}

/// The use of a slot by a recorded frame. It ends when the frame has run, or when its encoder is dropped.
struct Use(Arc<AtomicBool>);

impl Drop for Use {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl FrameUploads {
    /// No buffers yet. Each will have `size` bytes and this usage.
    pub fn new(gpu: DeviceAndQueue, label: &'static str, size: u64, usage: wgpu::BufferUsages) -> Self {
        let (device, queue) = (gpu.device.clone(), gpu.queue.clone());
        Self { device, queue, label, size, usage: usage | wgpu::BufferUsages::COPY_DST, slots: Mutex::default() }
    }

    /// The device and the queue of the buffers.
    pub fn gpu(&self) -> DeviceAndQueue<'_> {
        DeviceAndQueue { device: &self.device, queue: &self.queue }
    }

    /// Destroys the buffers.
    pub fn destroy(&self) {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.iter().for_each(|slot| slot.buffer.destroy());
    }

    /// A buffer with contents for the frame that the encoder records. The queue uploads them with the next submission.
    pub fn write(&self, encoder: &wgpu::CommandEncoder, contents: &[u8]) -> wgpu::Buffer {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let free = slots.iter().position(|slot| !slot.is_used.load(Ordering::Acquire));
        let index = free.unwrap_or_else(|| {
            // Without memory, the copy of the buffer is refused when the frame is submitted.
            let scopes = Scopes::push(&self.device);
            let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(self.label),
                size: self.size,
                usage: self.usage,
                mapped_at_creation: false,
            });
            scopes.discard();
            slots.push(Slot { buffer, is_used: Arc::default() });
            slots.len() - 1
        });
        let Slot { buffer, is_used } = &slots[index];
        is_used.store(true, Ordering::Relaxed);
        let until_done = Use(is_used.clone());
        encoder.on_submitted_work_done(move || drop(until_done));
        write(self.gpu(), buffer, 0, contents);
        buffer.clone()
    }
}
