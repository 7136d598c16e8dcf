//! Loading glTF files, beside the `gltf` crate's parsing of the same bytes, which reads no keys. `cargo bench --bench load`
//!
//! Files come from `POSSE_BENCH_FILES`, separated by commas, or from the collected files beside the checkout. Both sides
//! take turns, so that other jobs of the machine slow both; a ratio is the median of the rounds' ratios.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use posse::Library;
use posse::import::gltf::from_slice;

const ROUNDS: usize = 61;
/// What a round of one side lasts at least: less than another job's turn of the machine, which would else slow one side alone.
const ROUND: Duration = Duration::from_millis(1);

fn main() {
    // `cargo test --benches` only asks whether it runs.
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
        let beside = beside(&peer.document, file.parent().unwrap_or(Path::new("")));
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

/// A file's times in microseconds.
struct Row {
    /// Loading it into a library, keys and all, with the reading of buffers that lie beside it.
    posse: f64,
    /// The `gltf` crate's parsing alone, then with the reading of those buffers, each with posse's ratio to it.
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
    let of = |value: &dyn Fn(&[f64; 3]) -> f64| median(rounds.iter().map(value).collect());
    Row {
        posse: of(&|times| times[0]),
        peers: [1, 2].map(|peer| (of(&|times| times[peer]), of(&|times| times[0] / times[peer]))),
    }
}

/// The files that a document has buffers in.
fn beside(document: &gltf::Document, folder: &Path) -> Vec<PathBuf> {
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

/// The files to load, the largest last.
fn files() -> Vec<PathBuf> {
    if let Ok(files) = std::env::var("POSSE_BENCH_FILES") {
        return files.split(',').map(PathBuf::from).collect();
    }
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let mut folders = vec![shared.join("gltf"), shared.join("rigs")];
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
