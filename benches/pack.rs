//! Times to pack a large library, and to give an engine the next part of a long clip.
//! `cargo bench --bench pack [-- CLIPS JOINTS KEYS]`

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use posse::cpu::CpuEngine;
use posse::curves::{Curve, Interpolation, Target, Timeline, Track};
use posse::packed::PackedLibrary;
use posse::{Clip, Crowd, Error, Joint, Layer, LayerTime, Library, Outputs, Playback, Skeleton, Ticks, WrapMode};

const ROUNDS: usize = 9;
const THREADS: [usize; 3] = [1, 2, 4];

fn main() -> Result<(), Error> {
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
    replace_parts()
}

/// Prints the times of the steps from one part of a long clip to the next: ten seconds of ten minutes, with half a
/// second more.
fn replace_parts() -> Result<(), Error> {
    let library = library(1, 64, 10 * 60 * 30)?;
    let clip = library.clip_ids().next().ok_or_else(|| Error::Usage("the library has no clip".into()))?;
    let part = |index: usize| {
        let start = 10.0 * index as f64;
        let mut part = library.clone();
        part.trim_clips(&[(clip, [start, start + 10.5])]).map(|()| part)
    };
    let mut crowd = Crowd::new();
    for instance in 0..10_000 {
        let play = Playback::new(WrapMode::Loop, Ticks(-instance), 1.0);
        crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::Playing(play))])?;
    }
    let outputs = Outputs { model: true, ..Outputs::NONE };
    let first = PackedLibrary::with_threads(&part(0)?, 1)?;
    let (size, whole) = (first.size(), PackedLibrary::new(&library)?.size());
    let mut engine = CpuEngine::from_packed(first, 1);
    let mut posed = engine.crowd(&crowd, outputs)?;
    const STEPS: [&str; 6] = [
        "trim the clip",
        "pack the part",
        "take the part",
        "the first frame of 10,000 instances with it",
        "the next frame",
        "(for comparison: make a crowd of 10,000 instances)",
    ];
    let mut times = [const { Vec::new() }; STEPS.len()];
    for index in 0..60 {
        let mut start = Instant::now();
        let mut step = 0;
        let mut end_step = || {
            times[step].push(1e3 * start.elapsed().as_secs_f64());
            (step, start) = (step + 1, Instant::now());
        };
        let part = part(index)?;
        end_step();
        let packed = PackedLibrary::with_threads(&part, 1)?;
        end_step();
        engine.replace_library(packed)?;
        end_step();
        let now = 10.0 * index as f64 + 0.2;
        engine.pose(&mut posed, Ticks::from_seconds(now));
        end_step();
        engine.pose(&mut posed, Ticks::from_seconds(now + 0.02));
        end_step();
        black_box(engine.crowd(&crowd, outputs)?);
        end_step();
    }
    println!("64 joints x 18,000 keys, {} kB packed; parts of {} kB", whole / 1000, size / 1000);
    for (times, step) in times.iter().zip(STEPS) {
        println!("{step}: {:.3} ms", median(times));
    }
    Ok(())
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A library of clips that move every joint in translation and rotation, with `f32` values as in a file.
fn library(clips: usize, joints: usize, keys: usize) -> Result<Library, Error> {
    let joint = |joint: usize| Joint { parent: joint.checked_sub(1), ..Joint::default() };
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
