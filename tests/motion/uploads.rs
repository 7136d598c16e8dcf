use posse::gpu::GpuCrowd;
use posse::low_level::record::Frame;
use posse::transitions::NewTransition;
use posse::{CrowdOptions, Layer, LayerTime, Outputs};
use tempfile::TempDir;

use super::on_gpu::{driven, record_writer};
use super::{step, ticks};
use crate::gpu::uploads::{traced_device, uploaded_bytes};

#[test]
fn a_frame_with_parameters_from_a_kernel_uploads_the_clock_alone() {
    for instances in [10, 2000] {
        let (library, skeleton, mut crowd) = driven(instances);
        let trace = TempDir::new().unwrap();
        let (device, queue) = traced_device(trace.path());
        let on_gpu = posse::gpu::GpuLibrary::new((&device, &queue), &library).unwrap();
        let options = CrowdOptions { transitions: 3, ..CrowdOptions::NONE };
        let gpu_crowd = GpuCrowd::with_options(&on_gpu, &crowd, Outputs::ALL, options).unwrap();
        let frame = |number: i64| {
            let before = uploaded_bytes(trace.path());
            let mut encoder = device.create_command_encoder(&Default::default());
            record_writer(&device, &mut encoder, gpu_crowd.batches()[0].parameters().unwrap());
            gpu_crowd.encode(&mut encoder, step(0.01 * number as f64, 0.01 * (number + 1) as f64));
            queue.submit([encoder.finish()]);
            uploaded_bytes(trace.path()) - before
        };
        queue.submit([]);
        assert_eq!([0, 1, 2].map(frame), [size_of::<Frame>() as u64; 3], "{instances} instances");
        // A transition is uploaded once: 3 layers with drivers, the head and the numbers of the displacement, and its
        // offset.
        let before = uploaded_bytes(trace.path());
        let layers = [Layer::new(library.clip_ids().next().unwrap(), LayerTime::At(0.5))];
        let new = NewTransition::new(7, &layers, ticks(0.04));
        gpu_crowd.transition(&on_gpu, &library, &mut crowd, &new).unwrap();
        queue.submit([]);
        let numbers = 20 * library.skeleton(skeleton).joints().len() as u64 + 2 * (1 + 5);
        assert_eq!(uploaded_bytes(trace.path()) - before, 3 * (120 + 100) + 4 * (5 + numbers) + 4);
        assert_eq!([4, 5].map(frame), [size_of::<Frame>() as u64; 2]);
    }
}
