//! Loading glTF files, beside the `gltf` crate's parsing of the same bytes, which reads no keys. `cargo bench --bench load`
//!
//! Files come from `POSSE_BENCH_FILES`, separated by commas, or from a folder of collected files beside the checkout.

use std::path::{Path, PathBuf};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use posse::Library;
use posse::import::gltf::from_slice;

fn files() -> Vec<PathBuf> {
    match std::env::var("POSSE_BENCH_FILES") {
        Ok(files) => files.split(',').map(PathBuf::from).collect(),
        Err(_) => {
            let collection = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/gltf");
            let names = ["CesiumMan/CesiumMan.glb", "Fox/Fox.glb", "InterpolationTest/InterpolationTest.glb"];
            names.into_iter().map(|name| collection.join(name)).filter(|file| file.exists()).collect()
        }
    }
}

fn load(criterion: &mut Criterion) {
    let files = files();
    if files.is_empty() {
        eprintln!("SKIPPED: no files to load; name some in POSSE_BENCH_FILES");
    }
    let mut group = criterion.benchmark_group("load");
    for file in files {
        let bytes = std::fs::read(&file).expect("a file");
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        group.bench_function(BenchmarkId::new("posse", &name), |bencher| {
            bencher.iter(|| from_slice(&mut Library::new(), &file, &bytes, file.parent()).expect("a library"));
        });
        group.bench_function(BenchmarkId::new("gltf crate, JSON alone", &name), |bencher| {
            bencher.iter(|| gltf::Gltf::from_slice_without_validation(&bytes).expect("a document"));
        });
    }
}

criterion_group!(benches, load);
criterion_main!(benches);
