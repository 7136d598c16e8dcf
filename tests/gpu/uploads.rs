//! The bytes that a playing crowd uploads between two frames, counted from outside. wgpu can write a trace of all its
//! commands, in which every upload is a file. A device that only writes the trace is enough.

use std::path::Path;

use posse::gpu::{GpuCrowd, GpuLibrary};
use posse::low_level::record::{Frame, LayerRecord};
use posse::transitions::{Fade, FadeShape};
use posse::{
    AdditiveReference, Crowd, CrowdOptions, Layer, LayerMode, LayerTime, Library, Mask, MaskId, Outputs, Playback,
    Ticks, WrapMode, demo,
};
use tempfile::TempDir;

use super::{NOW, only_clip};

/// The bytes that were uploaded since the trace began.
pub fn uploaded_bytes(trace: &Path) -> u64 {
    let files = std::fs::read_dir(trace).unwrap().map(|entry| entry.unwrap());
    let uploads = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "bin"));
    uploads.map(|file| file.metadata().unwrap().len()).sum()
}

/// A device that writes all uploads into a folder.
pub fn traced_device(trace: &Path) -> (wgpu::Device, wgpu::Queue) {
    wgpu::Device::noop(&wgpu::DeviceDescriptor {
        trace: wgpu::Trace::Directory(trace.to_path_buf()),
        required_limits: wgpu::Limits::default(),
        ..Default::default()
    })
}

/// The bytes that a crowd uploads when it is made, and in each of the first frames.
fn uploads(library: &Library, crowd: &Crowd) -> (u64, Vec<u64>) {
    let trace = TempDir::new().unwrap();
    let (device, queue) = traced_device(trace.path());
    let on_gpu = GpuLibrary::new((&device, &queue), library).unwrap();
    let before = uploaded_bytes(trace.path());
    let on_gpu = GpuCrowd::new(&on_gpu, crowd, Outputs::ALL).unwrap();
    let mut last = uploaded_bytes(trace.path());
    let beginning = last - before;
    let frame = |frame: i64| {
        let mut encoder = device.create_command_encoder(&Default::default());
        on_gpu.encode(&mut encoder, Ticks(NOW.0 + frame * Ticks::PER_SECOND / 60));
        queue.submit([encoder.finish()]);
        let all = uploaded_bytes(trace.path());
        all - std::mem::replace(&mut last, all)
    };
    (beginning, (0..5).map(frame).collect())
}

/// Instances whose layers blend, override and add, with masks, and with fades that begin, continue and end during the
/// frames.
fn layered(library: &Library, mask: MaskId, instances: usize) -> Crowd {
    let clips: Vec<_> = library.clip_ids().collect();
    let mut crowd = Crowd::new();
    for instance in 0..instances {
        let start = Ticks(NOW.0 - (instance as i64 % 977) * 1000);
        let fade = |later: i64| Fade { start: Ticks(NOW.0 + later), length: Ticks(40_000), shape: FadeShape::Smooth };
        let layer = |index: usize, mode| Layer {
            mode,
            mask: (index == 2).then_some(mask),
            fade_in: (index > 0).then_some(fade(-30_000)),
            fade_out: (index > 1).then_some(fade(10_000)),
            ..Layer::new(clips[index % clips.len()], LayerTime::Playing(Playback::new(WrapMode::Loop, start, 1.0)))
        };
        let layers = [
            layer(0, LayerMode::Blend),
            layer(1, LayerMode::Blend),
            layer(2, LayerMode::Override),
            layer(3, LayerMode::Additive(AdditiveReference::First)),
        ];
        crowd.push(library.clip(clips[0]).skeleton, &layers).unwrap();
    }
    crowd
}

#[test]
fn a_frame_uploads_the_same_few_bytes_for_any_size_of_crowd() {
    let mut library = demo::library().unwrap();
    let skeleton = library.skeleton_ids().next().unwrap();
    let weights = (0..library.skeleton(skeleton).joints().len()).map(|joint| joint as f64 * 0.01).collect();
    let mask = library.add_mask(Mask { name: None, skeleton, weights }).unwrap();
    let mut counts = Vec::new();
    for instances in [10, 10_000] {
        for (crowd, layers) in [(only_clip(&library, instances), 1), (layered(&library, mask, instances), 4)] {
            let (beginning, frames) = uploads(&library, &crowd);
            let records = (instances * layers * size_of::<LayerRecord>()) as u64;
            assert!(
                beginning >= records,
                "the crowd is uploaded once, and its upload is counted: {beginning} of {records} bytes"
            );
            counts.extend(frames);
        }
    }
    assert_eq!(counts, [size_of::<Frame>() as u64; 20], "only the clock is uploaded");
    assert!(counts[0] <= 64);
}

#[test]
fn an_instance_that_changes_uploads_only_its_layers() {
    let library = demo::library().unwrap();
    let clip = library.clip_ids().next().unwrap();
    for instances in [10, 10_000] {
        let trace = TempDir::new().unwrap();
        let (device, queue) = traced_device(trace.path());
        let on_gpu = GpuLibrary::new((&device, &queue), &library).unwrap();
        let crowd = only_clip(&library, instances);
        let options = CrowdOptions { layers: 3, ..CrowdOptions::default() };
        let gpu_crowd = GpuCrowd::with_options(&on_gpu, &crowd, Outputs::ALL, options).unwrap();
        let before = uploaded_bytes(trace.path());
        let layers = [Layer::new(clip, LayerTime::At(0.5)); 2];
        gpu_crowd.set_instance(&on_gpu, instances / 2, &layers).unwrap();
        queue.submit([]);
        assert_eq!(uploaded_bytes(trace.path()) - before, 3 * 120, "the layers of one instance");
        // Layers that are refused upload nothing.
        assert!(gpu_crowd.set_instance(&on_gpu, 1, &[layers[0]; 4]).unwrap_err().refusal().is_some());
        queue.submit([]);
        assert_eq!(uploaded_bytes(trace.path()) - before, 3 * 120);
    }
}
