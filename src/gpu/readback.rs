//! Reads of GPU buffers on the host.

use std::ops::Range;

use futures_channel::oneshot;

use crate::error::Error;
use crate::gpu::{DeviceAndQueue, Scopes};

/// Copies a range of bytes of each buffer to the host. It first submits the encoder with all its commands.
///
/// # Errors
/// [`Error::Device`] if the device is lost or out of memory.
pub(crate) async fn read_buffers(
    gpu: DeviceAndQueue<'_>,
    mut encoder: wgpu::CommandEncoder,
    buffers: &[(&wgpu::Buffer, Range<u64>)],
) -> Result<Vec<Vec<u8>>, Error> {
    let DeviceAndQueue { device, queue } = gpu;
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
    scopes.pop().await?;
    map(device, &copies).await?;
    let view = |copy: &wgpu::Buffer| match copy.get_mapped_range(..) {
        Ok(view) => {
            let bytes = view.to_vec();
            drop(view);
            // A browser frees a dropped buffer only when it collects garbage.
            copy.destroy();
            Ok(bytes)
        }
        Err(error) => Err(cannot_be_read(error)),
    };
    copies.iter().map(view).collect()
}

/// Waits until all submitted work has run.
///
/// # Errors
/// [`Error::Device`] if the device is lost.
pub(crate) async fn wait_for_device(device: &wgpu::Device) -> Result<(), Error> {
    let scopes = Scopes::push(device);
    // A lost device reports nothing, not even to a poll. The failed mapping of a buffer shows the loss.
    let probe = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("posse probe"),
        size: 4,
        usage: wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    scopes.pop().await?;
    map(device, &[probe]).await
}

/// Fails if the device is lost. Objects can be created on a lost device: it does not report them.
///
/// # Errors
/// [`Error::Device`] if the device is lost.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) async fn check_device(device: &wgpu::Device) -> Result<(), Error> {
    // A buffer that is mapped when it is created shows the loss without a wait for submitted work.
    let probe = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("posse probe"),
        size: 4,
        usage: wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: true,
    });
    match probe.get_mapped_range_mut(..) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::Device(format!("it is lost: {error}; open a new device"))),
    }
}

/// Fails if the device is lost. Objects can be created on a lost device: it does not report them.
///
/// # Errors
/// [`Error::Device`] if the device is lost.
#[cfg(target_arch = "wasm32")]
pub(crate) async fn check_device(device: &wgpu::Device) -> Result<(), Error> {
    // In a browser, a buffer that is mapped when it is created panics if the device is lost.
    wait_for_device(device).await
}

/// Maps buffers after all submitted work has run.
async fn map(device: &wgpu::Device, buffers: &[wgpu::Buffer]) -> Result<(), Error> {
    let scopes = Scopes::push(device);
    let mut mappings = Vec::with_capacity(buffers.len());
    for buffer in buffers {
        let (sender, receiver) = oneshot::channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            // The receiver is gone only if an earlier buffer failed. That failure is reported.
            let _ = sender.send(result);
        });
        mappings.push(receiver);
    }
    // A browser polls its devices itself, and maps the buffers after this task has returned to it.
    let polled = device.poll(wgpu::PollType::wait_indefinitely());
    scopes.pop().await?;
    polled.map_err(|error| Error::Device(format!("it did not finish: {error}; submit less work at a time")))?;
    for mapping in mappings {
        match mapping.await {
            Ok(result) => result.map_err(cannot_be_read)?,
            Err(oneshot::Canceled) => return Err(cannot_be_read("it was given up")),
        }
    }
    Ok(())
}

fn cannot_be_read(reason: impl std::fmt::Display) -> Error {
    Error::Device(format!("the result cannot be read: {reason}; the device may be lost"))
}
