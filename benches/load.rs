//! Times to load glTF files, compared with parsing the same bytes by the `gltf` crate, which reads no keys.
//! `cargo bench --bench load`
//!
//! Files come from `POSSE_BENCH_FILES`, separated by commas, or are the collected files of the tests. The two sides
//! alternate, so that other jobs of the machine slow both. A ratio is the median of the ratios of the rounds.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a bench fails by a panic")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use posse::Library;
use posse::import::gltf::from_slice;

#[path = "../tests/support/collected.rs"]
mod collected;

const ROUNDS: usize = 61;
/// The shortest duration of a round of one side. It is less than a time slice of another job, which would slow one side
/// only.
const ROUND: Duration = Duration::from_millis(1);

fn main() {
    // `cargo test --benches` runs this without `--bench`; then nothing is measured.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let files = files();
    if files.is_empty() {
        eprintln!("SKIPPED: no files to load; name some in POSSE_BENCH_FILES");
        return;
    }
    println!("microseconds, medians of {ROUNDS} rounds in turn; x: posse to the gltf crate\n");
    println!("{:44} {:>9} {:>9} {:>6} {:>14} {:>6}", "file", "posse", "its JSON", "x", "+ files beside", "x");
    let mut worst = [(0.0, String::new()), (0.0, String::new())];
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = std::fs::read(&file).expect("a file");
        let Ok(peer) = gltf::Gltf::from_slice_without_validation(&bytes) else {
            println!("{name:44} the gltf crate cannot parse it");
            continue;
        };
        let beside = external_buffers(&peer.document, file.parent().unwrap_or(Path::new("")));
        let row = measure(&file, &bytes, &beside);
        let mut line = format!("{name:44} {:9.1}", row.posse);
        for ((peer, ratio), worst) in row.peers.into_iter().zip(&mut worst) {
            let _ = write!(line, " {peer:9.1} {ratio:6.2}");
            if ratio > worst.0 {
                *worst = (ratio, name.clone());
            }
        }
        println!("{line}");
    }
    let [(alone, slowest_alone), (beside, slowest_beside)] = worst;
    println!(
        "\nworst: {alone:.2} x its JSON alone ({slowest_alone}), {beside:.2} x with the files beside ({slowest_beside})"
    );
}

/// The times of a file in microseconds.
struct Row {
    /// Loading the file into a library with all keys, including reading external buffers.
    posse: f64,
    /// Parsing by the `gltf` crate alone, then with reading the external buffers. Each with the ratio of posse's time
    /// to it.
    peers: [(f64, f64); 2],
}

fn measure(file: &Path, bytes: &[u8], beside: &[PathBuf]) -> Row {
    let parse = || drop(black_box(gltf::Gltf::from_slice_without_validation(bytes).expect("a document")));
    let sides: [&dyn Fn(); 3] = [
        &|| drop(black_box(from_slice(&mut Library::new(), file, bytes, file.parent()).expect("a library"))),
        &parse,
        &|| {
            parse();
            beside.iter().for_each(|buffer| drop(black_box(std::fs::read(buffer).expect("a buffer"))));
        },
    ];
    let repeats = sides.map(|side| {
        let start = Instant::now();
        let mut repeats = 0;
        while start.elapsed() < ROUND {
            side();
            repeats += 1;
        }
        repeats
    });
    let rounds: Vec<[f64; 3]> = (0..ROUNDS)
        .map(|_| {
            let mut times = [0.0; 3];
            for ((time, side), repeats) in times.iter_mut().zip(sides).zip(repeats) {
                let start = Instant::now();
                (0..repeats).for_each(|_| side());
                *time = 1e6 * start.elapsed().as_secs_f64() / f64::from(repeats);
            }
            times
        })
        .collect();
    let median_of = |value: &dyn Fn(&[f64; 3]) -> f64| median(rounds.iter().map(value).collect());
    Row {
        posse: median_of(&|times| times[0]),
        peers: [1, 2].map(|peer| (median_of(&|times| times[peer]), median_of(&|times| times[0] / times[peer]))),
    }
}

/// The external files that hold buffers of a document.
fn external_buffers(document: &gltf::Document, folder: &Path) -> Vec<PathBuf> {
    let uri = |buffer: gltf::Buffer| match buffer.source() {
        gltf::buffer::Source::Uri(uri) if !uri.starts_with("data:") => Some(folder.join(uri)),
        _ => None,
    };
    document.buffers().filter_map(uri).collect()
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// The files to load, in the order of their size, smallest first.
fn files() -> Vec<PathBuf> {
    if let Ok(files) = std::env::var("POSSE_BENCH_FILES") {
        return files.split(',').map(PathBuf::from).collect();
    }
    let mut folders: Vec<PathBuf> = ["gltf", "rigs"].into_iter().filter_map(collected::collected).collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.extension() {
                Some(extension) if extension == "glb" || extension == "gltf" => files.push(path),
                _ if path.is_dir() => folders.push(path),
                _ => {}
            }
        }
    }
    files.sort_by_key(|file| (file.metadata().map_or(0, |metadata| metadata.len()), file.clone()));
    files
}
