use posse::gpu::{GpuBatch, GpuCrowd, GpuEngine, GpuLibrary};
use posse::low_level::record::Frame;
use posse::{Crowd, Layer, LayerTime, Library, Outputs, Playback, Poses, Ticks, WrapMode, demo};

use super::{NOW, assert_right, engine, only_clip, play};
use crate::support::each_engine::read_mapped;

const LATER: Ticks = Ticks(NOW.0 + 777_777);

fn gpu_crowd(engine: &GpuEngine, crowd: &Crowd) -> GpuCrowd {
    GpuCrowd::new(engine.library(), crowd, Outputs::ALL).unwrap()
}

fn read(engine: &GpuEngine, gpu_crowd: &GpuCrowd, crowd: &Crowd) -> Poses {
    let read = |instance| engine.read_instance(gpu_crowd, instance, Outputs::ALL).unwrap();
    Poses { instances: (0..crowd.len()).map(read).collect() }
}

/// A mappable buffer to copy another buffer into.
fn mappable_buffer(device: &wgpu::Device, buffer: &wgpu::Buffer) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: buffer.size(),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    })
}

#[test]
fn a_playing_crowd_needs_only_its_clock() {
    // The crowd is not changed between the frames. The only input of a frame is its tick.
    let library = demo::rig(20, 30, 4).unwrap();
    let crowd = only_clip(&library, 9);
    let engine = engine(&library);
    let on_gpu = gpu_crowd(&engine, &crowd);
    let frames = [NOW, LATER, NOW].map(|now| {
        let poses = play(&engine, &on_gpu, crowd.len(), now, Outputs::ALL);
        assert_right(&library, &crowd, now, Outputs::ALL, &poses);
        poses
    });
    assert_ne!(frames[0], frames[1]);
    assert_eq!(frames[0], frames[2], "a frame does not depend on earlier frames");
}

#[test]
fn two_frames_in_one_submission_do_not_disturb_each_other() {
    let library = demo::rig(20, 30, 4).unwrap();
    let crowd = only_clip(&library, 9);
    let engine = engine(&library);
    let on_gpu = gpu_crowd(&engine, &crowd);
    let device = &engine.gpu().device;
    let model = on_gpu.batches()[0].model().unwrap();
    let copy = mappable_buffer(device, model);
    let mut encoder = device.create_command_encoder(&Default::default());
    on_gpu.encode(&mut encoder, NOW);
    encoder.copy_buffer_to_buffer(model, 0, &copy, 0, model.size());
    on_gpu.encode(&mut encoder, LATER);
    engine.gpu().queue.submit([encoder.finish()]);

    let first: Vec<f32> = bytemuck::pod_collect_to_vec(&read_mapped(device, &copy));
    let numbers = |poses: &Poses| -> Vec<f32> {
        let matrices = poses.instances.iter().flat_map(|pose| &pose.model);
        let rows = matrices.flat_map(|matrix| {
            let (m, t) = (matrix.matrix3.transpose(), matrix.translation);
            [m.x_axis.extend(t.x), m.y_axis.extend(t.y), m.z_axis.extend(t.z)]
        });
        rows.flat_map(|row| row.as_vec4().to_array()).collect()
    };
    let second = read(&engine, &on_gpu, &crowd);
    assert_right(&library, &crowd, LATER, Outputs::ALL, &second);
    assert_eq!(first, numbers(&play(&engine, &on_gpu, crowd.len(), NOW, Outputs::ALL)));
    assert_ne!(first, numbers(&second));
}

#[test]
fn frames_of_a_crowd_in_all_modes_upload_only_the_clock() {
    // `encode` gets no queue, so everything that reaches the device is in the encoder: the record of the frame, and
    // nothing per instance.
    assert_eq!(size_of::<Frame>(), 32);
    let library = demo::rig(20, 30, 4).unwrap();
    let (skeleton, clip) = (library.skeleton_ids().next().unwrap(), library.clip_ids().next().unwrap());
    let mut crowd = Crowd::new();
    for (wrap, index) in WrapMode::ALL.into_iter().cycle().zip(0..70) {
        let playback = Playback::new(wrap, Ticks(NOW.0 + index * 54_321), 0.04 * (index - 35) as f64);
        crowd.push(skeleton, &[Layer::new(clip, LayerTime::Playing(playback))]).unwrap();
    }
    let engine = engine(&library);
    let on_gpu = gpu_crowd(&engine, &crowd);
    let device = &engine.gpu().device;
    let month = Ticks(NOW.0 + 30 * 86_400 * Ticks::PER_SECOND);
    let frames = [LATER, month, NOW];
    let buffers =
        |batch: &GpuBatch| [batch.local(), batch.model(), batch.skin(), batch.values()].map(Option::<&_>::cloned);
    let outputs: Vec<wgpu::Buffer> = on_gpu.batches().iter().flat_map(buffers).flatten().collect();
    let copies: Vec<Vec<wgpu::Buffer>> =
        frames.map(|_| outputs.iter().map(|output| mappable_buffer(device, output)).collect()).into();
    let mut encoder = device.create_command_encoder(&Default::default());
    for (now, copies) in frames.into_iter().zip(&copies) {
        on_gpu.encode(&mut encoder, now);
        for (output, copy) in outputs.iter().zip(copies) {
            encoder.copy_buffer_to_buffer(output, 0, copy, 0, output.size());
        }
    }
    engine.gpu().queue.submit([encoder.finish()]);

    for (now, copies) in frames.into_iter().zip(&copies) {
        let poses = play(&engine, &on_gpu, crowd.len(), now, Outputs::ALL);
        assert_right(&library, &crowd, now, Outputs::ALL, &poses);
        // A frame that is alone in its submission gives the same bytes.
        let mut encoder = device.create_command_encoder(&Default::default());
        let alone: Vec<wgpu::Buffer> = outputs.iter().map(|output| mappable_buffer(device, output)).collect();
        for (output, copy) in outputs.iter().zip(&alone) {
            encoder.copy_buffer_to_buffer(output, 0, copy, 0, output.size());
        }
        engine.gpu().queue.submit([encoder.finish()]);
        for (together, alone) in copies.iter().zip(&alone) {
            assert_eq!(read_mapped(device, together), read_mapped(device, alone), "at {now:?}");
        }
    }
}

#[test]
fn two_crowds_of_one_library_share_a_submission() {
    let library = demo::rig(20, 30, 4).unwrap();
    let crowds = [only_clip(&library, 9), only_clip(&library, 70)];
    let engine = engine(&library);
    let on_gpu = crowds.each_ref().map(|crowd| gpu_crowd(&engine, crowd));
    let device = &engine.gpu().device;
    let mut encoder = device.create_command_encoder(&Default::default());
    on_gpu[0].encode(&mut encoder, NOW);
    on_gpu[1].encode(&mut encoder, LATER);
    engine.gpu().queue.submit([encoder.finish()]);
    for ((crowd, on_gpu), now) in crowds.iter().zip(&on_gpu).zip([NOW, LATER]) {
        assert_right(&library, crowd, now, Outputs::ALL, &read(&engine, on_gpu, crowd));
    }
}

#[test]
fn two_libraries_share_a_device() {
    let libraries: [Library; 2] = [demo::rig(20, 30, 4).unwrap(), demo::rig(300, 7, 9).unwrap()];
    // Both engines use the same device.
    let engines = libraries.each_ref().map(engine);
    assert_eq!(engines[0].gpu().device, engines[1].gpu().device);
    let crowds = libraries.each_ref().map(|library| only_clip(library, 5));
    let on_gpu = [0, 1].map(|at: usize| gpu_crowd(&engines[at], &crowds[at]));
    let device = &engines[0].gpu().device;
    let mut encoder = device.create_command_encoder(&Default::default());
    on_gpu.iter().for_each(|crowd| crowd.encode(&mut encoder, NOW));
    engines[0].gpu().queue.submit([encoder.finish()]);
    for at in [0, 1] {
        assert_right(&libraries[at], &crowds[at], NOW, Outputs::ALL, &read(&engines[at], &on_gpu[at], &crowds[at]));
    }
}

#[test]
fn a_crowd_outlives_the_handle_of_its_library() {
    // As in a renderer, there is no engine: the crowd keeps everything that it needs.
    let library = demo::rig(5, 3, 2).unwrap();
    let crowd = only_clip(&library, 4);
    let engine = engine(&library);
    let uploaded = GpuLibrary::new(engine.gpu(), &library).unwrap();
    let on_gpu = GpuCrowd::new(&uploaded, &crowd, Outputs::ALL).unwrap();
    drop(uploaded);
    assert_right(&library, &crowd, NOW, Outputs::ALL, &play(&engine, &on_gpu, 4, NOW, Outputs::ALL));
}
