//! Reads of GPU buffers on the host.
//!
//! What a device refused, and what it computed, is known only later, and a browser does not allow a thread to wait. A
//! function that needs such an answer is written once, as an `async` function; a twin that blocks runs it with
//! `pollster`.

use std::ops::Range;
#[cfg(not(target_arch = "wasm32"))]
use std::thread;
use std::time::Duration;
#[cfg(not(target_arch = "wasm32"))]
use std::time::Instant;

use futures_channel::oneshot;

use crate::error::Error;
use crate::gpu::{DeviceAndQueue, Scopes, create_buffer, create_encoder, fault_point};

/// The longest wait for a device. Drivers of hardware give up earlier, and lose the device; a software renderer may
/// work for minutes.
const PATIENCE: Duration = Duration::from_secs(600);

/// Submits the commands of an encoder.
///
/// # Errors
/// [`Error::Device`] if the device is lost or out of memory.
pub(crate) async fn submit(gpu: DeviceAndQueue<'_>, encoder: wgpu::CommandEncoder) -> Result<(), Error> {
    let scopes = Scopes::push(gpu.device);
    fault_point(gpu.device);
    gpu.queue.submit([encoder.finish()]);
    match scopes.pop().await {
        Ok(()) => Ok(()),
        Err(error) => {
            // The loss explains what else was reported.
            check_device(gpu.device).await?;
            Err(error)
        }
    }
}

/// Copies a range of bytes of each buffer to the host, through one buffer that is mapped, or several where the device
/// allows none of that size. It first submits the encoder with all its commands.
///
/// # Errors
/// [`Error::Device`] if the device is lost or out of memory.
pub async fn read_buffers(
    gpu: DeviceAndQueue<'_>,
    mut encoder: wgpu::CommandEncoder,
    buffers: &[(&wgpu::Buffer, Range<u64>)],
) -> Result<Vec<Vec<u8>>, Error> {
    let DeviceAndQueue { device, queue } = gpu;
    let scopes = Scopes::push(device);
    let sizes = buffers.iter().map(|(_, range)| range.end - range.start);
    let (copy_sizes, places) = copy_places(device.limits().max_buffer_size, sizes);
    let copy = |&size: &u64| {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let label = Some("posse readback");
        create_buffer(device, &wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false })
    };
    let copies: Vec<wgpu::Buffer> = copy_sizes.iter().map(copy).collect();
    for ((buffer, range), place) in buffers.iter().zip(&places) {
        let size = range.end - range.start;
        encoder.copy_buffer_to_buffer(buffer, range.start, &copies[place.copy], place.offset, size);
    }
    fault_point(device);
    queue.submit([encoder.finish()]);
    scopes.pop().await?;
    map(device, &copies, PATIENCE).await?;
    let mut contents = Vec::with_capacity(places.len());
    let mut unread = buffers.iter().zip(&places).peekable();
    for (index, copy) in copies.iter().enumerate() {
        let view = copy.get_mapped_range(..).map_err(cannot_be_read)?;
        while let Some(((_, range), place)) = unread.next_if(|(_, place)| place.copy == index) {
            let start = place.offset as usize;
            contents.push(view[start..start + (range.end - range.start) as usize].to_vec());
        }
        drop(view);
        // A browser frees a dropped buffer only when it collects garbage.
        copy.destroy();
    }
    Ok(contents)
}

/// The place of a range of bytes among the copies that are mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CopyPlace {
    /// The index of the copy.
    copy: usize,
    /// The first byte in it.
    offset: u64,
}

/// The sizes of the copies for ranges of these sizes, in order, and the place of each range. A copy takes as many
/// ranges as fit into `largest` bytes, at least one.
fn copy_places(largest: u64, ranges: impl Iterator<Item = u64>) -> (Vec<u64>, Vec<CopyPlace>) {
    let (mut sizes, mut places): (Vec<u64>, Vec<CopyPlace>) = Default::default();
    for range in ranges {
        let offset = sizes.last().copied().filter(|used| used.saturating_add(range) <= largest);
        match sizes.last_mut().filter(|_| offset.is_some()) {
            Some(size) => *size += range,
            None => sizes.push(range),
        }
        places.push(CopyPlace { copy: sizes.len() - 1, offset: offset.unwrap_or(0) });
    }
    (sizes, places)
}

/// Waits until all submitted work has run.
///
/// # Errors
/// [`Error::Device`] if the device is lost.
pub(crate) async fn wait_for_device(gpu: DeviceAndQueue<'_>) -> Result<(), Error> {
    let DeviceAndQueue { device, queue } = gpu;
    let mut encoder = create_encoder(device)?;
    let scopes = Scopes::push(device);
    // A browser maps a buffer at once if no submitted work uses it, so the queue writes the probe after all other work.
    // A lost device reports nothing, not even to a poll: the failed mapping shows the loss.
    let probe = create_probe(device, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST, false);
    encoder.clear_buffer(&probe, 0, None);
    fault_point(device);
    queue.submit([encoder.finish()]);
    scopes.pop().await?;
    map(device, &[probe], PATIENCE).await
}

/// Fails if the device is lost. Objects can be created on a lost device: it does not report them.
///
/// # Errors
/// [`Error::Device`] if the device is lost.
#[cfg(not(target_arch = "wasm32"))]
pub async fn check_device(device: &wgpu::Device) -> Result<(), Error> {
    // A buffer that is mapped when it is created shows the loss without a wait for submitted work.
    let scopes = Scopes::push(device);
    let probe = create_probe(device, wgpu::BufferUsages::COPY_DST, true);
    scopes.pop_for_memory()?;
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
pub async fn check_device(device: &wgpu::Device) -> Result<(), Error> {
    // In a browser, a buffer that is mapped when it is created panics if the device is lost. An unused one is mapped
    // without a wait for submitted work.
    let scopes = Scopes::push(device);
    let probe = create_probe(device, wgpu::BufferUsages::MAP_READ, false);
    scopes.pop().await?;
    map(device, &[probe], PATIENCE).await
}

/// A small buffer whose mapping shows whether the device is lost.
fn create_probe(device: &wgpu::Device, usage: wgpu::BufferUsages, mapped_at_creation: bool) -> wgpu::Buffer {
    create_buffer(device, &wgpu::BufferDescriptor { label: Some("posse probe"), size: 4, usage, mapped_at_creation })
}

/// Maps buffers after all submitted work has run, if it runs within `patience`.
async fn map(device: &wgpu::Device, buffers: &[wgpu::Buffer], patience: Duration) -> Result<(), Error> {
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
    let polled = device.poll(wgpu::PollType::Wait { submission_index: None, timeout: Some(patience) });
    scopes.pop().await?;
    polled.map_err(|error| {
        let seconds = patience.as_secs();
        Error::Device(format!(
            "it did not finish within {seconds} s ({error}); submit less work at a time, or open a new device"
        ))
    })?;
    for mapping in mappings {
        match answer(mapping, patience).await {
            Ok(result) => result.map_err(cannot_be_read)?,
            Err(oneshot::Canceled) => return Err(cannot_be_read("it was given up")),
        }
    }
    Ok(())
}

/// The answer to a request for a mapping, if it comes within `patience`. All work has run, but another thread that
/// polls the device or submits to it may have taken the answer, and passes it on a moment later.
#[cfg(not(target_arch = "wasm32"))]
async fn answer<T>(mut mapping: oneshot::Receiver<T>, patience: Duration) -> Result<T, oneshot::Canceled> {
    let start = Instant::now();
    loop {
        match mapping.try_recv()? {
            Some(answer) => return Ok(answer),
            None if start.elapsed() >= patience => return Err(oneshot::Canceled),
            None => thread::sleep(Duration::from_micros(50)),
        }
    }
}

/// The answer to a request for a mapping, when the browser gives it.
#[cfg(target_arch = "wasm32")]
async fn answer<T>(mapping: oneshot::Receiver<T>, _patience: Duration) -> Result<T, oneshot::Canceled> {
    mapping.await
}

fn cannot_be_read(reason: impl std::fmt::Display) -> Error {
    Error::Device(format!("the result cannot be read: {reason}; the device may be lost"))
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests {
    use super::*;
    use crate::gpu::{AdapterKind, GpuContext};

    #[test]
    fn ranges_share_a_copy_until_it_is_full() {
        let place = |copy, offset| CopyPlace { copy, offset };
        let (sizes, places) = copy_places(64, [48, 16, 4, 100, 8].into_iter());
        assert_eq!(sizes, [64, 4, 100, 8]);
        assert_eq!(places, [place(0, 0), place(0, 48), place(1, 0), place(2, 0), place(3, 0)]);
        assert_eq!(copy_places(64, std::iter::empty()), (vec![], vec![]));
    }

    #[test]
    fn ranges_of_several_buffers_come_back_in_order() {
        let gpu = GpuContext::new(AdapterKind::Any).unwrap_or_else(|error| panic!("{error}"));
        let usage = wgpu::BufferUsages::COPY_SRC;
        let numbers = |first: u32| (first..first + 8).flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
        let buffers = [10, 20].map(|first| crate::gpu::filled_buffer((&gpu).into(), "test", &numbers(first), usage));
        let encoder = gpu.device.create_command_encoder(&Default::default());
        let wanted = [(&buffers[1], 4..12), (&buffers[0], 0..4), (&buffers[1], 28..32)];
        let found = pollster::block_on(read_buffers((&gpu).into(), encoder, &wanted)).unwrap();
        let found: Vec<Vec<u32>> = found.iter().map(|bytes| bytemuck::pod_collect_to_vec(bytes)).collect();
        assert_eq!(found, [vec![21, 22], vec![10], vec![27]]);
    }

    #[test]
    fn a_device_that_does_not_finish_is_an_error_and_works_again_later() {
        let gpu = GpuContext::new(AdapterKind::Any).unwrap_or_else(|error| panic!("{error}"));
        let device = &gpu.device;
        let usage = wgpu::BufferUsages::COPY_DST;
        let size = 64 << 20;
        let memory =
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
        let mut encoder = device.create_command_encoder(&Default::default());
        for _ in 0..50 {
            encoder.clear_buffer(&memory, 0, None);
        }
        gpu.queue.submit([encoder.finish()]);
        let probe = create_probe(device, wgpu::BufferUsages::MAP_READ, false);
        let error = pollster::block_on(map(device, &[probe], Duration::ZERO)).unwrap_err().to_string();
        assert!(error.contains("did not finish within 0 s") && error.contains("submit less work"), "{error}");
        pollster::block_on(wait_for_device((&gpu).into())).unwrap();
    }

    #[test]
    fn a_mapping_without_an_answer_is_an_error() {
        let (sender, receiver) = oneshot::channel::<()>();
        assert!(pollster::block_on(answer(receiver, Duration::from_millis(20))).is_err(), "no call back");
        drop(sender);
        let patience = Duration::from_secs(60);
        let (sender, receiver) = oneshot::channel();
        sender.send(7).unwrap();
        assert_eq!(pollster::block_on(answer(receiver, Duration::ZERO)), Ok(7));
        let (sender, receiver) = oneshot::channel::<()>();
        drop(sender);
        assert!(pollster::block_on(answer(receiver, patience)).is_err());
        let (sender, receiver) = oneshot::channel();
        let other = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            sender.send(8)
        });
        assert_eq!(pollster::block_on(answer(receiver, patience)), Ok(8), "another thread calls back late");
        other.join().unwrap().unwrap();
    }

    #[test]
    fn threads_read_from_one_device_at_the_same_time() {
        let gpu = GpuContext::new(AdapterKind::Any).unwrap_or_else(|error| panic!("{error}"));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        gpu.queue.submit([]);
                        pollster::block_on(wait_for_device((&gpu).into())).unwrap();
                    }
                });
            }
        });
    }
}
