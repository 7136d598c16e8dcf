//! Results back to the host.

use std::ops::Range;

use crate::error::Error;
use crate::gpu::scopes::Scopes;

/// Copies whole buffers, or a range of bytes of each, to the host, after all that the encoder holds already, which it submits.
///
/// # Errors
/// [`Error::Device`] where the device is lost or out of memory.
pub fn read(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    mut encoder: wgpu::CommandEncoder,
    buffers: &[(&wgpu::Buffer, Range<u64>)],
) -> Result<Vec<Vec<u8>>, Error> {
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
        Err(error) => Err(Error::Device(format!("the result cannot be read: {error}"))),
    };
    copies.iter().map(view).collect()
}

/// Waits until all that was submitted has run.
///
/// # Errors
/// [`Error::Device`] where the device is lost.
pub fn wait(device: &wgpu::Device) -> Result<(), Error> {
    let scopes = Scopes::push(device);
    // A lost device takes all else in silence, a poll as well: that it is lost shows in a buffer that cannot be mapped.
    let probe = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("posse probe"),
        size: 4,
        usage: wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    scopes.pop()?;
    map(device, &[probe])
}

/// Maps buffers, once all that was submitted has run.
fn map(device: &wgpu::Device, buffers: &[wgpu::Buffer]) -> Result<(), Error> {
    let scopes = Scopes::push(device);
    let (sender, receiver) = std::sync::mpsc::channel();
    for buffer in buffers {
        let sender = sender.clone();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            // The receiver is gone only where an earlier buffer failed, and that is reported.
            let _ = sender.send(result);
        });
    }
    drop(sender);
    let polled = device.poll(wgpu::PollType::wait_indefinitely());
    scopes.pop()?;
    polled.map_err(|error| Error::Device(format!("it did not finish: {error}")))?;
    for result in receiver {
        result.map_err(|error| Error::Device(format!("the result cannot be read: {error}")))?;
    }
    Ok(())
}
