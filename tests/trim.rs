//! Clips trimmed to a range of times: within it, poses are those of the whole clip.

use posse::{
    ClipId, CpuEngine, Crowd, Evaluator, KernelForm, Layer, LayerTime, Library, Outputs, PackedLibrary, Playback,
    Reference, Ticks, contract, demo,
};
use proptest::prelude::*;

use crate::support::cases::cases;
use crate::support::each_engine::fast_engines;
use crate::support::scenes::{SceneSpec, scenes};

/// An instance of a clip at each of some times.
fn crowd_at(library: &Library, clip: ClipId, times: impl IntoIterator<Item = f64>) -> Crowd {
    let mut crowd = Crowd::new();
    for time in times {
        crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(time))]).unwrap();
    }
    crowd
}

/// Times in a range, its ends among them.
fn times_in([start, end]: [f64; 2]) -> impl Iterator<Item = f64> {
    (0..=16).map(move |index| start + (end - start) * f64::from(index) / 16.0).map(move |time| time.clamp(start, end))
}

/// Trims the clips of a random scene to random ranges.
fn check(spec: &SceneSpec, ends: [f64; 2]) {
    let whole = spec.scene().library;
    let ends = [ends[0].min(ends[1]), ends[0].max(ends[1])];
    let (mut trimmed, mut crowd) = (whole.clone(), Crowd::new());
    for clip in whole.clip_ids() {
        let range = ends.map(|end| end * whole.clip(clip).duration());
        trimmed.trim_clip(clip, range).unwrap();
        for time in times_in(range) {
            crowd.push(whole.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(time))]).unwrap();
        }
    }
    let expected = Reference::new(&whole).evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap();
    let found = Reference::new(&trimmed).evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap();
    assert_eq!(found.instances, expected.instances, "{ends:?}\n{spec:#?}");
    let packed = || PackedLibrary::new(&trimmed).unwrap();
    fast_engines(&KernelForm::ALL[..usize::from(spec.is_one_in(4))], &packed, &mut |engine| {
        let found = engine.evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap();
        let report = contract::compare(&whole, &crowd, Ticks(0), &expected, &found);
        assert!(report.is_within(), "{}, {ends:?}: {:?}\n{spec:#?}", engine.engine(), report.quantities());
    });
}

#[test]
fn trimmed_clips_of_random_scenes_pose_as_whole_ones_within_their_range() {
    proptest!(cases(64, 0x7419), |(spec in scenes(12, 60), start in 0.0..=1.0_f64, end in 0.0..=1.0_f64)| {
        check(&spec, [start, end]);
    });
}

#[test]
fn a_crowd_plays_a_clip_part_by_part_on_every_engine() {
    const PARTS: usize = 4;
    let whole = demo::library().unwrap();
    let walk = whole.find_clip("walk").unwrap();
    let duration = whole.clip(walk).duration();
    let mut crowd = Crowd::new();
    for instance in 0..5 {
        let play = Playback::looping(Ticks::from_seconds(-0.01 * f64::from(instance)), 1.0);
        crowd.push(whole.clip(walk).skeleton, &[Layer::new(walk, LayerTime::Playing(play))]).unwrap();
    }
    let outputs = Outputs { root_motion: false, ..Outputs::ALL };
    for part in 0..PARTS {
        let range = [part, part + 1].map(|end| duration * end as f64 / PARTS as f64);
        let mut trimmed = whole.clone();
        trimmed.trim_clip(walk, range).unwrap();
        let packed = || PackedLibrary::new(&trimmed).unwrap();
        fast_engines(&KernelForm::ALL, &packed, &mut |engine| {
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
fn an_engine_of_a_trimmed_library_has_that_part_of_the_keys() {
    let mut whole = Library::new();
    demo::add_rig(&mut whole, 64, 6000, 10).unwrap();
    let clip = whole.clip_ids().next().unwrap();
    let size = |library: &Library| CpuEngine::with_threads(library, 1).unwrap().size() as f64;
    let mut trimmed = whole.clone();
    trimmed.trim_clip(clip, [100.0, 110.0]).unwrap();
    // 301 keys of 6,000 are from 100 to 110 s, and one more is left on either side.
    assert_eq!(trimmed.clip(clip).tracks[0].curve.timeline().len(), 303);
    let share = size(&trimmed) / size(&whole);
    assert!(share < 0.055, "{share}");
    let crowd = crowd_at(&whole, clip, times_in([100.0, 110.0]));
    let pose = |library: &Library| Reference::new(library).evaluate(&crowd, Ticks(0), Outputs::SKIN).unwrap().instances;
    assert_eq!(pose(&trimmed), pose(&whole));
    // Outside of the range, other poses are expected: the test would see them.
    let beyond = crowd_at(&whole, clip, [90.0]);
    let at = |library: &Library| Reference::new(library).evaluate(&beyond, Ticks(0), Outputs::SKIN).unwrap().instances;
    assert_ne!(at(&trimmed), at(&whole));
}
