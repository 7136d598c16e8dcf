//! Times to pack a large library. `cargo bench --bench pack [-- CLIPS JOINTS KEYS]`

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use posse::{Clip, Curve, Interpolation, Joint, Library, PackedLibrary, Skeleton, Target, Timeline, Track, Transform};

const ROUNDS: usize = 9;
const THREADS: [usize; 3] = [1, 2, 4];

fn main() -> Result<(), posse::Error> {
    // `cargo test --benches` runs this without `--bench`; then nothing is measured.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let sizes: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let [clips, joints, keys] = sizes.try_into().unwrap_or([200, 100, 300]);
    let library = library(clips, joints, keys)?;
    let size = PackedLibrary::new(&library)?.size();
    println!("{clips} clips x {joints} joints x {keys} keys, {} MB packed", size / 1_000_000);
    // The numbers of threads alternate, so that other jobs of the machine slow all of them equally.
    let mut times = [const { Vec::new() }; THREADS.len()];
    for _ in 0..ROUNDS {
        for (times, threads) in times.iter_mut().zip(THREADS) {
            let start = Instant::now();
            black_box(PackedLibrary::with_threads(&library, threads)?);
            times.push(1e3 * start.elapsed().as_secs_f64());
        }
    }
    let [one, ..] = times.each_ref().map(|times| median(times));
    for (times, threads) in times.iter().zip(THREADS) {
        let time = median(times);
        println!("{threads} threads: {time:8.2} ms, {:.2} x as fast as one", one / time);
    }
    Ok(())
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A library of clips that move every joint in translation and rotation, with `f32` values as in a file.
fn library(clips: usize, joints: usize, keys: usize) -> Result<Library, posse::Error> {
    let joint = |joint: usize| Joint {
        name: None,
        parent: joint.checked_sub(1),
        rest: Transform::IDENTITY,
        matrix: None,
        weights: Vec::new(),
    };
    let mut library = Library::new();
    let skeleton = library.add_skeleton(Skeleton::new(None, (0..joints).map(joint).collect(), Vec::new())?);
    for clip in 0..clips {
        let timeline = Arc::new(Timeline::new((0..keys).map(|key| key as f64 / 30.0).collect())?);
        // Rotations about z; translations along a circle.
        let curve = |joint: usize, width: usize| {
            let mut values = vec![0.0; keys * width];
            for (key, value) in values.chunks_exact_mut(width).enumerate() {
                (value[width - 2], value[width - 1]) = (0.01 * (key + joint + clip) as f32).sin_cos();
            }
            Curve::from_f32(timeline.clone(), Interpolation::Linear, width, values)
        };
        let mut tracks = Vec::new();
        for joint in 0..joints {
            tracks.push(Track::new(Target::Translation(joint), curve(joint, 3)?));
            tracks.push(Track::new(Target::Rotation(joint), curve(joint, 4)?));
        }
        library.add_clip(Clip::new(None, skeleton, tracks))?;
    }
    Ok(library)
}
