//! Waits for submitted work: the times by the clock of the host follow the work, also on a device without a clock.

use std::time::Duration;

use posse::gpu::GpuEngine;
use posse::measure::{self, Measurement, Workload};
use posse::{Library, Outputs, demo};

use super::{engine, engine_on, gpu_with_limits, only_clip};
use crate::support::skip::report_skipped;

/// Seconds of a frame that are many times the cost of its submission.
const LONG: f64 = 4e-3;
/// The largest crowd. Hardware that poses it faster than [`LONG`] is measured with it.
const MAX_INSTANCES: usize = 1 << 18;
/// The attempts. Other tests run at the same time, and disturb some.
const ATTEMPTS: usize = 6;

fn measured(engine: &GpuEngine, library: &Library, instances: usize) -> Measurement {
    let crowd = only_clip(library, instances);
    let workload = Workload { library, crowd: &crowd, outputs: Outputs::SKIN };
    measure::gpu(engine, &workload, Duration::from_millis(50)).unwrap()
}

#[test]
fn twice_the_work_takes_twice_the_time_on_a_device_without_a_clock() {
    let library = demo::rig(16, 20, 6).unwrap();
    let engine = engine_on(gpu_with_limits(wgpu::Limits::default()), &library);
    // The 5th percentile: other work on the machine only adds to times.
    let seconds = |instances| {
        let measured = measured(&engine, &library, instances);
        assert!(measured.device.is_none(), "the device has no clock");
        measured.wall.p5
    };
    let mut instances = 1 << 10;
    while instances < MAX_INSTANCES && seconds(instances) < LONG {
        instances *= 2;
    }
    let mut ratios = Vec::new();
    for _ in 0..ATTEMPTS {
        let (once, twice) = (seconds(instances), seconds(2 * instances));
        let ratio = twice / once;
        if (1.5..=2.7).contains(&ratio) {
            return;
        }
        ratios.push(ratio);
    }
    panic!("{instances} instances, then twice as many, take the times 1 to {ratios:.2?}");
}

/// On an adapter without gaps between frames, as a software renderer, a frame takes its time however it is submitted,
/// and its passes take that time together. Hardware idles between frames, so that bounds are wide.
#[test]
fn frames_take_their_time_alone_back_to_back_and_pass_by_pass() {
    let library = demo::rig(16, 20, 6).unwrap();
    let engine = engine(&library);
    let mut shares = Vec::new();
    for _ in 0..ATTEMPTS {
        let Measurement { device, back_to_back, passes, kernels, .. } = measured(&engine, &library, 1 << 14);
        let Some(device) = device else {
            return report_skipped("frames in one submission, which need a clock of the GPU");
        };
        let (names, times): (Vec<_>, Vec<_>) = passes.into_iter().unzip();
        assert_eq!((names, kernels.len()), (vec!["play_layers", "pose"], 1));
        let back_to_back = back_to_back.unwrap();
        assert!(back_to_back.frames >= 5 && back_to_back.p95 <= back_to_back.p99.unwrap(), "{back_to_back:?}");
        assert!(times[0].p5 < times[1].p5, "poses take longer than playing layers: {times:?}");
        let together: f64 = times.iter().map(|times| times.p5).sum();
        let found = [back_to_back.p5 / device.p5, together / device.p5];
        if found.iter().all(|share| (0.4..2.5).contains(share)) {
            return;
        }
        shares.push(found);
    }
    panic!("frames back to back, and all passes, take {shares:.2?} of the time of a frame alone");
}

#[test]
fn the_clock_of_the_host_covers_what_the_clock_of_the_gpu_does() {
    let library = demo::rig(16, 20, 6).unwrap();
    let engine = engine(&library);
    let mut shares = Vec::new();
    for _ in 0..ATTEMPTS {
        let Measurement { wall, device, .. } = measured(&engine, &library, 1 << 14);
        let Some(device) = device else {
            return report_skipped("waits compared with the clock of the GPU, which this device lacks");
        };
        // The frames of both are not the same.
        let share = wall.p5 / device.p5;
        if share >= 0.8 {
            return;
        }
        shares.push(share);
    }
    panic!("frames take {shares:.2?} of their time by the clock of the GPU");
}
