//! The library on the device of the caller: load, make a crowd of a thousand, encode, submit, read one joint
//! back.
//!
//! `cargo run --release --example headless -- FILE.glb` poses the file's first clip; without a file, the built-in rig.

use posse::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let library = match std::env::args().nth(1) {
        None => posse::demo::library()?,
        Some(file) => Library::open(file)?,
    };
    let clip = library.clip_ids().next().ok_or("the file has no clip")?;
    let skeleton = library.clip(clip).skeleton;
    let mut crowd = Crowd::new();
    for instance in 0..1000 {
        crowd.push(skeleton, &[clip.looping().phase(f64::from(instance) * 0.004)])?;
    }

    // A game engine already has these.
    let instance = wgpu::Instance::default();
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
    let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))?;

    // Once: upload the library and the crowd. The crowd has buffers for the model matrices.
    let gpu_library = GpuLibrary::new((&device, &queue), &library)?;
    let gpu_crowd = GpuCrowd::new(&gpu_library, &crowd, Outputs { model: true, ..Outputs::NONE })?;

    // Per frame: record the poses into the encoder of the frame, and submit it.
    let mut encoder = device.create_command_encoder(&Default::default());
    gpu_crowd.encode(&mut encoder, Ticks::from_seconds(12.5));

    // A renderer binds the buffer. This example copies the last joint of instance 500 out of it.
    let (batch, slot) = gpu_crowd.find(500);
    let joint = library.skeleton(skeleton).joints().len() - 1;
    let model = batch.model().ok_or("no model matrices")?;
    let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
    let copy =
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size: 48, usage, mapped_at_creation: false });
    encoder.copy_buffer_to_buffer(model, (4 * batch.layout().model * slot + 48 * joint) as u64, &copy, 0, 48);
    queue.submit([encoder.finish()]);
    // A failure shows when the bytes are read.
    copy.map_async(wgpu::MapMode::Read, .., drop);
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let rows: Vec<f32> = bytemuck::pod_collect_to_vec(&copy.get_mapped_range(..)?);
    println!("joint {joint} of instance 500 is at ({}, {}, {})", rows[3], rows[7], rows[11]);
    Ok(())
}
