use posse::gpu::{GpuCrowd, GpuEngine, GpuEvents, GpuLibrary};
use posse::{Outputs, demo};

use super::{assert_device_error, only_clip, own_gpu};

#[test]
fn objects_of_two_devices_are_refused_before_wgpu_panics() {
    let library = demo::rig(5, 3, 2).unwrap();
    let [one, other] = [0, 1].map(|_| own_gpu(wgpu::Limits::default()));
    let on_gpu = |gpu| GpuLibrary::new(gpu, &library).unwrap();
    let (here, there) = (on_gpu(&one), on_gpu(&other));
    let crowd = GpuCrowd::new(&here, &only_clip(&library, 4), Outputs::ALL).unwrap();
    GpuEvents::new(&here, &crowd, 10).unwrap();
    let refused = [GpuEvents::new(&there, &crowd, 10).map(|_| ()), GpuEngine::with_library(one, there).map(|_| ())];
    for result in refused {
        let error = result.unwrap_err().to_string();
        assert!(error.contains("is on another device"), "{error}");
    }
}

#[test]
fn reading_beyond_a_batch_fails() {
    let library = demo::rig(5, 3, 2).unwrap();
    let crowd = only_clip(&library, 4);
    let engine = super::engine(&library);
    let on_gpu = GpuCrowd::new(engine.library(), &crowd, Outputs::ALL).unwrap();
    let batch = &on_gpu.batches()[0];
    assert_device_error(engine.read(batch, 3..5), "reading beyond the end");
    assert_eq!(engine.read(batch, 2..2).unwrap(), Default::default());
}
