//! The rate at which BVH files are read, compared with a plain loop that only parses the numbers, with the same number
//! parser. `cargo bench --bench bvh`
//!
//! The file is made in memory: a figure of 24 joints that moves smoothly, six decimals per number, as motion capture is
//! exported. `POSSE_BENCH_MEGABYTES` is its size, 60 by default. The sides alternate, so that other jobs of the machine
//! slow all of them. A ratio is the median of the ratios of the rounds.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a bench fails by a panic")]

use std::fmt::Write;
use std::hint::black_box;
use std::io::BufReader;
use std::path::Path;
use std::time::Instant;

use posse::Library;
use posse::import::bvh::{Keys, Reader, from_slice};

const ROUNDS: usize = 21;
const JOINTS: usize = 24;
/// The frames that the reader of parts reads at a time.
const PART: usize = 1024;

/// A way to read the file.
struct Side {
    name: &'static str,
    run: fn(&File),
}

/// A file in memory.
struct File {
    text: Vec<u8>,
    /// The first byte of the first frame.
    motion: usize,
}

const SIDES: [Side; 4] = [
    Side { name: "plain loop, numbers summed", run: |file| _ = black_box(sum(file)) },
    Side { name: "plain loop, numbers stored", run: |file| drop(black_box(store(file))) },
    Side { name: "import::bvh::from_slice", run: |file| drop(black_box(whole(file))) },
    Side { name: "import::bvh::Reader, 1,024 frames at a time", run: in_parts },
];

fn main() {
    // `cargo test --benches` runs this without `--bench`; then nothing is measured.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let megabytes = std::env::var("POSSE_BENCH_MEGABYTES").ok().and_then(|size| size.parse().ok()).unwrap_or(60.0);
    let file = file((1e6 * megabytes) as usize);
    let rounds: Vec<[f64; SIDES.len()]> = (0..ROUNDS)
        .map(|_| {
            SIDES.map(|side| {
                let start = Instant::now();
                (side.run)(&file);
                start.elapsed().as_secs_f64()
            })
        })
        .collect();
    let size = file.text.len() as f64 / 1e6;
    println!("{size:.0} MB, medians of {ROUNDS} rounds in turn; x: the rate divided by the rate of the loop\n");
    println!("{:44} {:>8} {:>8} {:>8} {:>8}", "", "MB/s", "best", "x summed", "x stored");
    for (index, side) in SIDES.iter().enumerate() {
        let median_of = |value: &dyn Fn(&[f64]) -> f64| median(rounds.iter().map(|round| value(round)).collect());
        let best = rounds.iter().map(|round| size / round[index]).fold(0.0, f64::max);
        println!(
            "{:44} {:8.0} {best:8.0} {:8.2} {:8.2}",
            side.name,
            median_of(&|round| size / round[index]),
            median_of(&|round| round[0] / round[index]),
            median_of(&|round| round[1] / round[index]),
        );
    }
}

fn sum(file: &File) -> f64 {
    let mut sum = 0.0;
    parse(file, |number| sum += number);
    sum
}

fn store(file: &File) -> Vec<f64> {
    let mut numbers = Vec::new();
    parse(file, |number| numbers.push(number));
    numbers
}

/// Passes each number of the motion to a function.
fn parse(file: &File, mut number: impl FnMut(f64)) {
    let mut rest = file.text[file.motion..].trim_ascii_start();
    while !rest.is_empty() {
        let (value, length) = fast_float2::parse_partial::<f64, _>(rest).expect("a number");
        number(value);
        rest = rest[length..].trim_ascii_start();
    }
}

fn whole(file: &File) -> Library {
    let mut library = Library::new();
    from_slice(&mut library, Path::new("a.bvh"), &file.text).expect("a BVH file");
    library
}

fn in_parts(file: &File) {
    let input = BufReader::with_capacity(1 << 20, file.text.as_slice());
    let mut reader = Reader::new(Path::new("a.bvh"), input).expect("a BVH file");
    let mut keys = Keys::new();
    while reader.read(PART, &mut keys).expect("frames") > 0 {
        keys.drop_front(black_box(&keys).len());
    }
}

/// A file of about this number of bytes.
fn file(bytes: usize) -> File {
    let columns = 3 * JOINTS + 3;
    let mut motion = String::new();
    let mut frames = 0;
    while motion.len() < bytes {
        for column in 0..columns {
            let (time, place) = (f64::from(frames) / 120.0, column as f64);
            let rest = 60.0 * (1.7 * place).sin();
            let swing = 25.0 * (time * (2.0 + 0.05 * place) + place).sin() + 0.3 * (31.0 * time + 7.0 * place).sin();
            let _ = write!(motion, "{:.6} ", rest + swing);
        }
        motion.push('\n');
        frames += 1;
    }
    let mut text = String::from("HIERARCHY\n");
    for joint in 0..JOINTS {
        let (kind, positions) = if joint == 0 { ("ROOT", "6 Xposition Yposition Zposition") } else { ("JOINT", "3") };
        let _ = writeln!(
            text,
            "{kind} joint{joint}\n{{\nOFFSET 0 10 0\nCHANNELS {positions} Zrotation Xrotation Yrotation"
        );
    }
    let _ = writeln!(text, "End Site\n{{\nOFFSET 0 5 0\n}}\n{}MOTION", "}\n".repeat(JOINTS));
    let _ = writeln!(text, "Frames: {frames}\nFrame Time: 0.008333");
    let head = text.len();
    text.push_str(&motion);
    File { text: text.into_bytes(), motion: head }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
