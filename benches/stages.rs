//! The cost of each stage: the same crowd, posed up to a stage, on one thread with each instruction set, and on the
//! GPU, by its own clock if it has one. `cargo bench --bench stages`
//!
//! No engine runs a stage separately. The cost of a stage is the difference to the case before it.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a bench fails by a panic")]

use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use posse::cpu::{CpuEngine, InstructionSet};
use posse::gpu::{AdapterKind, GpuContext, GpuCrowd, GpuEngine};
use posse::low_level::Stopwatch;
use posse::{Crowd, Layer, LayerTime, Library, Outputs, Playback, Ticks, WrapMode, demo};

/// Joints, keys per track, and levels of the rig.
const RIG: (usize, usize, usize) = (64, 60, 10);
/// The number of instances. Their matrices fit the cache of a core, so that kernels are measured and not memory.
const INSTANCES: usize = 256;
/// The number of instances on a hardware GPU, on which fewer take less time than a submission.
const INSTANCES_ON_HARDWARE: usize = 65_536;

/// The cases in the order of the pipeline: the last stage, the layers per instance, and the outputs.
fn cases() -> [(&'static str, usize, Outputs); 6] {
    let local = Outputs { local: true, ..Outputs::NONE };
    let model = Outputs { model: true, ..Outputs::NONE };
    [
        ("sample", 1, local),
        ("hierarchy", 1, model),
        ("skin", 1, Outputs::SKIN),
        ("blend 2, skin", 2, Outputs::SKIN),
        ("blend 4, skin", 4, Outputs::SKIN),
        ("blend 8, skin", 8, Outputs::SKIN),
    ]
}

/// Instances of one rig. Each layer of each instance has its own time.
fn crowd(library: &Library, instances: usize, layers: usize) -> Crowd {
    let clip = library.clip_ids().next().expect("a clip");
    let mut crowd = Crowd::new();
    for instance in 0..instances {
        let layer = |layer: usize| {
            let start = Ticks(-((instance * layers + layer) as i64) * 9973);
            Layer::new(clip, LayerTime::Playing(Playback::new(WrapMode::Loop, start, 1.0)))
        };
        crowd.push(library.clip(clip).skeleton, &(0..layers).map(layer).collect::<Vec<_>>()).expect("an instance");
    }
    crowd
}

fn stages(criterion: &mut Criterion) {
    let mut library = Library::new();
    demo::add_rig(&mut library, RIG.0, RIG.1, RIG.2).expect("a rig");
    let mut now = Ticks(0);
    let mut next = || {
        now.0 += Ticks::PER_SECOND / 60;
        now
    };
    let mut group = criterion.benchmark_group("stages");
    group.throughput(Throughput::Elements((INSTANCES * RIG.0) as u64));
    for instructions in InstructionSet::ALL.into_iter().filter(|instructions| instructions.is_available()) {
        let engine = CpuEngine::with_threads(&library, 1).expect("a packed library").with_instructions(instructions);
        for (stage, layers, outputs) in cases() {
            let mut posed = engine.crowd(&crowd(&library, INSTANCES, layers), outputs).expect("a crowd");
            group.bench_function(BenchmarkId::new(instructions.name(), stage), |bencher| {
                bencher.iter(|| engine.pose(&mut posed, next()));
            });
        }
    }
    let gpu = match GpuContext::new(AdapterKind::Any) {
        Err(error) => return eprintln!("without the gpu engine: {error}"),
        Ok(gpu) => gpu,
    };
    let instances = if gpu.is_hardware() { INSTANCES_ON_HARDWARE } else { INSTANCES };
    group.throughput(Throughput::Elements((instances * RIG.0) as u64));
    let (device, stopwatch) = (gpu.device.clone(), Stopwatch::new(&gpu));
    let engine = GpuEngine::new(gpu, &library).expect("a library on the GPU");
    for (stage, layers, outputs) in cases() {
        let posed = GpuCrowd::new(engine.library(), &crowd(&library, instances, layers), outputs).expect("a crowd");
        let mut pose = || {
            let start = Instant::now();
            let mut encoder = device.create_command_encoder(&Default::default());
            posed.encode_timed(&mut encoder, next(), stopwatch.as_ref().map(Stopwatch::writes));
            if let Some(stopwatch) = &stopwatch {
                return Duration::from_secs_f64(stopwatch.submit(engine.gpu(), encoder).expect("a device"));
            }
            engine.gpu().queue.submit([encoder.finish()]);
            engine.wait().expect("a device");
            start.elapsed()
        };
        group.bench_function(BenchmarkId::new("gpu", stage), |bencher| {
            bencher.iter_custom(|times| (0..times).map(|_| pose()).sum());
        });
    }
}

criterion_group!(benches, stages);
criterion_main!(benches);
