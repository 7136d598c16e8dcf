//! Small uploads that change with each recorded frame, and the uniform of the frame.
//!
//! Each recorded frame has an upload buffer of its own: a write by the queue holds for a whole submission, and a
//! submission may hold several frames. A buffer that is mapped when it is created would do, but in a browser it panics
//! when the device is lost. The buffers are used again when their frames have run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Error;
use crate::gpu::allocation::write;
use crate::gpu::scopes::without_memory;
use crate::gpu::{DeviceAndQueue, Scopes, create_buffer};
use crate::pack::record::Frame;

/// Buffers of one size, each written for one recorded frame and free again when that frame has run.
///
/// A buffer that the queue writes holds one value per submission, but a submission may hold several frames. So each
/// recorded frame has a buffer of its own. As many buffers are created as frames are recorded or under way at a time,
/// two or three in a program that submits each frame.
#[derive(Debug)]
pub struct FrameUploads {
    device: wgpu::Device,
    queue: wgpu::Queue,
    label: &'static str,
    size: u64,
    usage: wgpu::BufferUsages,
    slots: Mutex<Vec<UploadSlot>>,
    /// True if there was no memory for a recorded frame.
    failed: AtomicBool,
}

/// A buffer, and a flag that is true while a recorded frame needs it.
#[derive(Debug)]
struct UploadSlot {
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
        let usage = usage | wgpu::BufferUsages::COPY_DST;
        Self { device, queue, label, size, usage, slots: Mutex::default(), failed: AtomicBool::new(false) }
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

    /// Fails if there was no memory for a frame that was recorded since the last call.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is out of memory.
    pub fn check(&self) -> Result<(), Error> {
        if self.failed.swap(false, Ordering::Relaxed) { Err(without_memory()) } else { Ok(()) }
    }

    /// Lets the next `check` fail: there was no memory for another object of a recorded frame.
    pub fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// A buffer with contents for the frame that the encoder records. The queue uploads them with the next submission.
    ///
    /// Without memory for it, the device refuses the frame when it is submitted. The next frame tries again.
    pub fn write(&self, encoder: &wgpu::CommandEncoder, contents: &[u8]) -> wgpu::Buffer {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let free = slots.iter().position(|slot| !slot.is_used.load(Ordering::Acquire));
        let mut ready = Ok(());
        let index = free.unwrap_or_else(|| {
            let (slot, created) = self.new_slot();
            ready = created;
            slots.push(slot);
            slots.len() - 1
        });
        let UploadSlot { buffer, is_used } = &slots[index];
        is_used.store(true, Ordering::Relaxed);
        let until_done = Use(is_used.clone());
        encoder.on_submitted_work_done(move || drop(until_done));
        if ready.and_then(|()| write(self.gpu(), buffer, 0, contents)).is_err() {
            self.fail();
            // The frame must not run with the contents of another one.
            let UploadSlot { buffer, .. } = slots.swap_remove(index);
            buffer.destroy();
            return buffer;
        }
        buffer.clone()
    }

    /// A buffer that no frame uses, and the error if the device is out of memory.
    fn new_slot(&self) -> (UploadSlot, Result<(), Error>) {
        let scopes = Scopes::push(&self.device);
        let descriptor = wgpu::BufferDescriptor {
            label: Some(self.label),
            size: self.size,
            usage: self.usage,
            mapped_at_creation: false,
        };
        let buffer = create_buffer(&self.device, &descriptor);
        let created = scopes.pop_for_memory();
        (UploadSlot { buffer, is_used: Arc::default() }, created)
    }
}

/// A [`Frame`] on the GPU.
#[derive(Debug)]
pub(super) struct FrameBuffer {
    frame: wgpu::Buffer,
    uploads: FrameUploads,
}

impl FrameBuffer {
    /// Destroys the buffers.
    pub fn destroy(&self) {
        self.frame.destroy();
        self.uploads.destroy();
    }

    /// Creates the buffer without contents.
    pub fn new(gpu: DeviceAndQueue) -> Self {
        let size = size_of::<Frame>() as u64;
        let descriptor = wgpu::BufferDescriptor {
            label: Some("posse frame"),
            size,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        };
        let frame = create_buffer(gpu.device, &descriptor);
        Self { frame, uploads: FrameUploads::new(gpu, "posse frame upload", size, wgpu::BufferUsages::COPY_SRC) }
    }

    /// The buffer, for bind groups.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.frame
    }

    /// The device and the queue of the buffer.
    pub fn gpu(&self) -> DeviceAndQueue<'_> {
        self.uploads.gpu()
    }

    /// Fails if there was no memory for a frame that was recorded since the last call.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is out of memory.
    pub fn check(&self) -> Result<(), Error> {
        self.uploads.check()
    }

    /// Records a write of the frame. Two frames in one submission do not disturb each other.
    pub fn write(&self, encoder: &mut wgpu::CommandEncoder, frame: &Frame) {
        let upload = self.uploads.write(encoder, bytemuck::bytes_of(frame));
        encoder.copy_buffer_to_buffer(&upload, 0, &self.frame, 0, self.frame.size());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::test_support::device;

    #[test]
    fn frames_that_are_never_submitted_keep_no_buffers() {
        let (device, queue) = device(wgpu::Features::empty());
        let gpu = DeviceAndQueue { device: &device, queue: &queue };
        let uploads = FrameUploads::new(gpu, "test", 16, wgpu::BufferUsages::COPY_SRC);
        let encoder = || device.create_command_encoder(&Default::default());
        let count = || uploads.slots.lock().unwrap().len();
        for _ in 0..100 {
            uploads.write(&encoder(), &[7; 16]);
        }
        assert_eq!(count(), 1, "dropped encoders");
        // Frames that are recorded at the same time have a buffer each, and are submitted in any order, or finished and
        // dropped.
        let encoders = [encoder(), encoder(), encoder()];
        let buffers = encoders.each_ref().map(|encoder| uploads.write(encoder, &[7; 16]));
        assert!(buffers[0] != buffers[1] && buffers[1] != buffers[2] && buffers[0] != buffers[2]);
        let [first, second, third] = encoders;
        queue.submit([third.finish()]);
        drop(second.finish());
        queue.submit([first.finish()]);
        device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        for _ in 0..100 {
            let encoder = encoder();
            uploads.write(&encoder, &[7; 16]);
            queue.submit([encoder.finish()]);
            device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        }
        assert_eq!(count(), 3);
    }
}
