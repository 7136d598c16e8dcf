//! Times of all engines on the built-in crowd: skin matrices of one layer. `cargo bench --bench engines`

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a bench fails by a panic")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use posse::cpu::CpuEngine;
use posse::gpu::{AdapterKind, GpuContext, GpuCrowd, GpuEngine};
use posse::{Evaluator, Outputs, Reference, Ticks, demo};

fn engines(criterion: &mut Criterion) {
    let library = demo::library().expect("the built-in library");
    let mut group = criterion.benchmark_group("engines");
    for instances in [100, 1000] {
        let crowd = demo::crowd(&library, instances).expect("the built-in crowd");
        let joints: usize = (0..instances).map(|index| library.skeleton(crowd.skeleton(index)).joints().len()).sum();
        group.throughput(Throughput::Elements(joints as u64));
        let mut now = Ticks(0);
        let mut next = move || {
            now.0 += Ticks::PER_SECOND / 60;
            now
        };

        for (name, threads) in [("cpu, one thread", 1), ("cpu, two threads", 2)] {
            let engine = CpuEngine::with_threads(&library, threads).expect("a packed library");
            let mut posed = engine.crowd(&crowd, Outputs::SKIN).expect("a crowd");
            group.bench_function(BenchmarkId::new(name, instances), |bencher| {
                bencher.iter(|| engine.pose(&mut posed, next()));
            });
        }
        group.bench_function(BenchmarkId::new("reference", instances), |bencher| {
            let mut engine = Reference::new(&library);
            bencher.iter(|| engine.evaluate(&crowd, next(), Outputs::SKIN).expect("poses"));
        });
        match GpuContext::new(AdapterKind::Any) {
            Err(error) => eprintln!("without the gpu engine: {error}"),
            Ok(gpu) => {
                let (device, queue) = (gpu.device.clone(), gpu.queue.clone());
                let engine = GpuEngine::new(gpu, &library).expect("a library on the GPU");
                let posed = GpuCrowd::new(engine.library(), &crowd, Outputs::SKIN).expect("a crowd");
                group.bench_function(BenchmarkId::new("gpu", instances), |bencher| {
                    bencher.iter(|| {
                        let mut encoder = device.create_command_encoder(&Default::default());
                        posed.encode(&mut encoder, next());
                        queue.submit([encoder.finish()]);
                        engine.wait().expect("a device");
                    });
                });
            }
        }
    }
}

criterion_group!(benches, engines);
criterion_main!(benches);
