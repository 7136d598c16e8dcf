//! Reads of GPU buffers on the host.

use std::ops::Range;

use crate::error::Error;
use crate::gpu::{DeviceAndQueue, Scopes};

/// Copies a range of bytes of each buffer to the host. It first submits the encoder with all its commands.
///
/// # Errors
/// [`Error::Device`] if the device is lost or out of memory.
pub(crate) fn read_buffers<'a>(
    gpu: impl Into<DeviceAndQueue<'a>>,
    mut encoder: wgpu::CommandEncoder,
    buffers: &[(&wgpu::Buffer, Range<u64>)],
) -> Result<Vec<Vec<u8>>, Error> {
    let DeviceAndQueue { device, queue } = gpu.into();
    let scopes = Scopes::push(device);
    let copies: Vec<wgpu::Buffer> = buffers
        .iter()
        .map(|(buffer, range)| {
            let copy = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("posse readback"),
                size: range.end - range.start,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            encoder.copy_buffer_to_buffer(buffer, range.start, &copy, 0, copy.size());
            copy
        })
        .collect();
    queue.submit([encoder.finish()]);
    scopes.pop()?;
    map(device, &copies)?;
    let view = |copy: &wgpu::Buffer| match copy.get_mapped_range(..) {
        Ok(view) => Ok(view.to_vec()),
        Err(error) => Err(Error::Device(format!("the result cannot be read: {error}; the device may be lost"))),
    };
    copies.iter().map(view).collect()
}

/// Waits until all submitted work has run.
///
/// # Errors
/// [`Error::Device`] if the device is lost.
pub(crate) fn wait_for_device(device: &wgpu::Device) -> Result<(), Error> {
    let scopes = Scopes::push(device);
    // A lost device reports nothing, not even to a poll. The failed mapping of a buffer shows the loss.
    let probe = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("posse probe"),
        size: 4,
        usage: wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    scopes.pop()?;
    map(device, &[probe])
}

/// Maps buffers after all submitted work has run.
fn map(device: &wgpu::Device, buffers: &[wgpu::Buffer]) -> Result<(), Error> {
    let scopes = Scopes::push(device);
    let (sender, receiver) = std::sync::mpsc::channel();
    for buffer in buffers {
        let sender = sender.clone();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            // The receiver is gone only if an earlier buffer failed. That failure is reported.
            let _ = sender.send(result);
        });
    }
    drop(sender);
    let polled = device.poll(wgpu::PollType::wait_indefinitely());
    scopes.pop()?;
    polled.map_err(|error| Error::Device(format!("it did not finish: {error}; submit less work at a time")))?;
    for result in receiver {
        result.map_err(|error| Error::Device(format!("the result cannot be read: {error}; the device may be lost")))?;
    }
    Ok(())
}
