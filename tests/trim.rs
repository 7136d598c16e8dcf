//! Clips trimmed to a range of times: within it, poses are the poses of the whole clip.

use std::cell::Cell;

use posse::compress::CompressedLibrary;
use posse::cpu::CpuEngine;
use posse::packed::PackedLibrary;
use posse::{
    Clip, ClipId, Crowd, Evaluator, Layer, LayerTime, Library, Outputs, Playback, Reference, SkinFormat, Ticks,
    contract, demo,
};
use proptest::prelude::*;

use crate::support::cases::cases;
use crate::support::each_engine::{cpu_engines, fast_engines};
use crate::support::scenes::{Numbers, Scene, SceneSpec, scenes};

/// Adds an instance of a clip at each of some times.
fn push_at(crowd: &mut Crowd, library: &Library, clip: ClipId, times: impl IntoIterator<Item = f64>) {
    for time in times {
        crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(time))]).unwrap();
    }
}

/// Times in a range, its ends among them.
fn times_in([start, end]: [f64; 2]) -> impl Iterator<Item = f64> {
    (0..=16).map(move |index| start + (end - start) * f64::from(index) / 16.0).map(move |time| time.clamp(start, end))
}

/// A range of times of a clip. Half of its ends are at key times, or at the floating-point number before or after.
fn range_of(numbers: &mut Numbers, clip: &Clip) -> [f64; 2] {
    let duration = clip.duration();
    let mut end = || {
        let track = clip.tracks.get(numbers.below(2 * clip.tracks.len().max(1)));
        let Some(times) = track.map(|track| track.curve.timeline().times()) else {
            return numbers.within(0.0, duration);
        };
        let time = times[numbers.below(times.len())];
        [time.next_down(), time, time.next_up()][numbers.below(3)]
    };
    let ends = [end(), end()].map(|end| end.clamp(0.0, duration));
    [ends[0].min(ends[1]), ends[0].max(ends[1])]
}

/// Two packed libraries with clips trimmed to random ranges, or whole, and compressed or not. They have room for each
/// other.
pub fn two_parts(spec: &SceneSpec, library: &Library) -> [PackedLibrary; 2] {
    let mut numbers = Numbers::new(spec.seed);
    let mut part = || {
        let range = |(id, clip): (ClipId, &Clip)| {
            let is_whole = numbers.below(4) == 0;
            (id, if is_whole { [0.0, clip.duration()] } else { range_of(&mut numbers, clip) })
        };
        let ranges: Vec<_> = library.clip_ids().zip(library.clips()).map(range).collect();
        let mut part = library.clone();
        part.trim_clips(&ranges).unwrap();
        let compressed = (numbers.below(2) == 0).then(|| CompressedLibrary::with_width(&part, 16).unwrap());
        compressed.map_or_else(|| PackedLibrary::new(&part), |compressed| compressed.pack()).unwrap()
    };
    let (mut first, mut second) = (part(), part());
    first.reserve_for(&second).unwrap();
    second.reserve_for(&first).unwrap();
    [first, second]
}

/// The number of keys of a library.
fn key_count(library: &Library) -> usize {
    library.clips().iter().flat_map(|clip| &clip.tracks).map(|track| track.curve.timeline().len()).sum()
}

/// Trims the clips of a library to random ranges, and returns the share of the keys that are left.
fn check(spec: &SceneSpec, whole: &Library, outputs: Outputs) -> f64 {
    let mut numbers = Numbers::new(spec.seed);
    let ranges: Vec<_> = whole.clip_ids().map(|clip| (clip, range_of(&mut numbers, whole.clip(clip)))).collect();
    let (mut trimmed, mut crowd) = (whole.clone(), Crowd::new());
    trimmed.trim_clips(&ranges).unwrap();
    for &(clip, range) in &ranges {
        push_at(&mut crowd, whole, clip, times_in(range));
    }
    let expected = Reference::new(whole).evaluate(&crowd, Ticks(0), outputs).unwrap();
    let found = Reference::new(&trimmed).evaluate(&crowd, Ticks(0), outputs).unwrap();
    assert_eq!(found.instances, expected.instances, "{ranges:?}\n{spec:#?}");
    let packed = || PackedLibrary::new(&trimmed).unwrap();
    // The GPU engine runs a quarter of the scenes, since a software renderer takes longer to compile kernels than to
    // run them.
    let engines = if spec.is_one_in(4) { fast_engines } else { cpu_engines };
    engines(&packed, &mut |engine| {
        let found = engine.evaluate(&crowd, Ticks(0), outputs).unwrap();
        let report = contract::compare_as(outputs.skin_format, whole, &crowd, Ticks(0), &expected, &found);
        assert!(report.is_within(), "{}, {ranges:?}: {:?}\n{spec:#?}", engine.engine(), report.quantities());
    });
    key_count(&trimmed) as f64 / key_count(whole).max(1) as f64
}

#[test]
fn trimmed_clips_of_random_scenes_pose_as_whole_ones_within_their_range() {
    let (scenes_checked, left) = (Cell::new(0.0), Cell::new(0.0));
    proptest!(cases(64, 0x7419), |(spec in scenes(12, 60))| {
        // Dual quaternions must not refuse a part of scales that they take whole.
        let (library, outputs) = if spec.is_one_in(3) {
            (spec.scene().uniform().library, Outputs::ALL.with_skin_format(SkinFormat::DualQuaternion))
        } else {
            (spec.scene().library, Outputs::ALL)
        };
        left.set(left.get() + check(&spec, &library, outputs));
        scenes_checked.set(scenes_checked.get() + 1.0);
    });
    let share = left.get() / scenes_checked.get();
    assert!((0.1..0.9).contains(&share), "{share} of the keys are left");
}

#[test]
fn a_crowd_plays_a_clip_part_by_part_on_every_engine() {
    const PARTS: usize = 4;
    let whole = demo::library().unwrap();
    let walk = whole.find_clip("walk").unwrap();
    let duration = whole.clip(walk).duration();
    let mut crowd = Crowd::new();
    for instance in 0..5 {
        let play = Playback::looping(-0.01 * f64::from(instance), 1.0);
        crowd.push(whole.clip(walk).skeleton, &[Layer::new(walk, LayerTime::Playing(play))]).unwrap();
    }
    let outputs = Outputs { root_motion: false, ..Outputs::ALL };
    for part in 0..PARTS {
        let range = [part, part + 1].map(|end| duration * end as f64 / PARTS as f64);
        let mut trimmed = whole.clone();
        trimmed.trim_clips(&[(walk, range)]).unwrap();
        assert!(key_count(&trimmed) < key_count(&whole));
        let packed = || PackedLibrary::new(&trimmed).unwrap();
        fast_engines(&packed, &mut |engine| {
            // The instance that started first is 0.04 s ahead.
            for now in [range[0], 0.5 * (range[0] + range[1]), range[1] - 0.045] {
                let now = Ticks::from_seconds(now);
                let expected = Reference::new(&whole).evaluate(&crowd, now, outputs).unwrap();
                let found = engine.evaluate(&crowd, now, outputs).unwrap();
                let report = contract::compare(&whole, &crowd, now, &expected, &found);
                assert!(report.is_within(), "{} in part {part}: {:?}", engine.engine(), report.quantities());
            }
        });
    }
}

#[test]
fn an_engine_poses_a_crowd_by_the_library_that_took_the_place_of_its_own() {
    proptest!(cases(64, 0x51a9), |(spec in scenes(12, 60), threads in 1..3_usize)| {
        let Scene { library, crowd, step } = spec.scene();
        let [first, second] = two_parts(&spec, &library);
        let mut engine = CpuEngine::from_packed(first, threads);
        let other = CpuEngine::from_packed(second.clone(), threads);
        let mut crowds = [&engine, &other].map(|engine| engine.crowd(&crowd, Outputs::ALL).unwrap());
        engine.pose(&mut crowds[0], step);
        other.pose(&mut crowds[1], step);
        engine.replace_library(second).unwrap();
        engine.pose(&mut crowds[0], step);
        other.pose(&mut crowds[1], step);
        for instance in 0..crowd.len() {
            let [found, expected] = crowds.each_ref().map(|crowd| other.read(crowd, instance, Outputs::ALL));
            assert_eq!(found, expected, "instance {instance}\n{spec:#?}");
        }
        assert_eq!(engine.events(&crowds[0], step, 1000), other.events(&crowds[1], step, 1000));
        assert_eq!(engine.size(), other.size());
    });
}

#[test]
fn an_engine_of_a_trimmed_library_has_that_part_of_the_keys() {
    let mut whole = Library::new();
    demo::add_rig(&mut whole, 64, 6000, 10).unwrap();
    let clip = whole.clip_ids().next().unwrap();
    let size = |library: &Library| CpuEngine::with_threads(library, 1).unwrap().size() as f64;
    let mut trimmed = whole.clone();
    trimmed.trim_clips(&[(clip, [100.0, 110.0])]).unwrap();
    // 301 keys of 6,000 are from 100 to 110 s, and one more is left on either side.
    assert_eq!(trimmed.clip(clip).tracks[0].curve.timeline().len(), 303);
    let share = size(&trimmed) / size(&whole);
    assert!(share < 0.055, "{share}");
    let pose = |library: &Library, times: &[f64]| {
        let mut crowd = Crowd::new();
        push_at(&mut crowd, &whole, clip, times.iter().copied());
        Reference::new(library).evaluate(&crowd, Ticks(0), Outputs::SKIN).unwrap().instances
    };
    let times: Vec<f64> = times_in([100.0, 110.0]).collect();
    assert_eq!(pose(&trimmed, &times), pose(&whole, &times));
    // Outside of the range, other poses are expected: the test would see them.
    assert_ne!(pose(&trimmed, &[90.0]), pose(&whole, &[90.0]));
}
