//! Storage of shared clips: their keys are stored once.

use std::sync::Arc;

use glam::DVec3;
use posse::curves::{Curve, Interpolation, Target, Timeline, Track};
use posse::low_level::record::{ClipRecord, TimelineRecord};
use posse::packed::PackedLibrary;
use posse::{Clip, ClipId, Crowd, Joint, Layer, LayerTime, Library, Outputs, Reference, SkeletonId, Ticks, contract};

use super::{add, joint};
use crate::support::build::{curve, degrees, pose_at};
use crate::support::each_engine::each_engine;

/// A clip that moves and turns each joint, with all tracks but one on the same timeline, and a skeleton with the same
/// names.
fn long_clip(joints: usize, keys: usize) -> (Library, ClipId, SkeletonId) {
    let mut library = Library::new();
    let names: Vec<String> = (0..joints).map(|index| format!("joint {index}")).collect();
    let chain = |name: &dyn Fn(usize) -> usize| -> Vec<Joint> {
        (0..joints).map(|index| joint(&names[name(index)], index.checked_sub(1), [0.0, 1.0, 0.0])).collect()
    };
    let from = add(&mut library, chain(&|index| index), Vec::new());
    let to = add(&mut library, chain(&|index| (5 * index + 3) % joints), Vec::new());
    // The keys are not evenly spaced, so that the timeline needs a search table too.
    let times: Vec<f64> = (0..keys).map(|key| (key * key) as f64 * 1e-3).collect();
    let timeline = Arc::new(Timeline::new(times.clone()).unwrap());
    let mut tracks = Vec::new();
    for index in 0..joints {
        let angle = |key: usize| (index + 3 * key) as f64 * 7.0;
        let turns: Vec<f64> = (0..keys).flat_map(|key| degrees(DVec3::Y, angle(key)).to_array()).collect();
        let turns = Curve::new(timeline.clone(), Interpolation::Linear, 4, turns).unwrap();
        tracks.push(Track::new(Target::Rotation(index), turns));
        let moves: Vec<f64> = (0..3 * keys).map(|number| ((number + index) % 7) as f64).collect();
        let timeline = if index == 0 { Arc::new(Timeline::new(times.clone()).unwrap()) } else { timeline.clone() };
        let moves = Curve::new(timeline, Interpolation::Linear, 3, moves).unwrap();
        tracks.push(Track::new(Target::Translation(index), moves));
        tracks.push(Track::new(Target::Scale(index), curve(Interpolation::Linear, 3, &[0.0], &[1.0, 2.0, 1.0])));
    }
    let clip = library.add_clip(Clip::new(None, from, tracks)).unwrap();
    (library, clip, to)
}

#[test]
fn keys_are_stored_once_for_any_number_of_skeletons() {
    const JOINTS: usize = 16;
    let mut added = Vec::new();
    for keys in [3, 3000] {
        let (mut library, clip, to) = long_clip(JOINTS, keys);
        let before = PackedLibrary::new(&library).unwrap().size();
        let sharing = library.share_clip(clip, to).unwrap();
        assert_eq!(sharing.issues, []);
        let tracks = [clip, sharing.clip].map(|clip| &library.clip(clip).tracks);
        for (own, shared) in tracks[0].iter().zip(tracks[1]) {
            assert!(Arc::ptr_eq(own.curve.timeline(), shared.curve.timeline()));
            assert_eq!(own.curve.values().as_ptr(), shared.curve.values().as_ptr(), "the model stores them once, too");
        }
        added.push(PackedLibrary::new(&library).unwrap().size() - before);
        each_engine(&library, |engine| {
            let mut crowd = Crowd::new();
            for time in [0.0, 0.0005, 0.001, 0.0033, 8.0, 8e3] {
                for clip in [clip, sharing.clip] {
                    crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(time))]).unwrap();
                }
            }
            let evaluate = |engine: &mut dyn posse::Evaluator| engine.evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap();
            let (expected, actual) = (evaluate(&mut Reference::new(&library)), evaluate(engine));
            let report = contract::compare(&library, &crowd, Ticks(0), &expected, &actual);
            assert!(report.is_within(), "{}: {:?}", engine.engine(), report.quantities());
        });
    }
    // A record of the clip, two of timelines, and the channels of each joint in 32 bytes.
    let table = size_of::<ClipRecord>() + 2 * size_of::<TimelineRecord>() + 32 * JOINTS;
    assert_eq!(added, [table; 2]);
}

#[test]
fn a_clip_can_have_curves_of_several_clips() {
    // Each clip has a block of keys. A clip with curves of two clips finds its keys in neither block, and gets its own.
    let mut library = Library::new();
    let names = ["a", "b", "c"].map(|name| joint(name, None, [0.0; 3]));
    let skeleton = add(&mut library, names.to_vec(), Vec::new());
    let timeline = Arc::new(Timeline::new(vec![0.0, 1.0]).unwrap());
    let line = |to: f64| {
        let values = vec![0.0, 0.0, 0.0, to, to, to];
        Curve::new(timeline.clone(), Interpolation::Linear, 3, values).unwrap()
    };
    let curves = [2.0, 4.0, 6.0].map(line);
    let mut clip = |curves: &[(usize, &Curve)]| {
        let track = |&(joint, curve): &(usize, &Curve)| Track::new(Target::Translation(joint), curve.clone());
        library.add_clip(Clip::new(None, skeleton, curves.iter().map(track).collect())).unwrap()
    };
    let [first, second, third] = curves.each_ref();
    let clips = [
        (clip(&[(0, first), (1, second)]), [1.0, 2.0, 0.0]),
        (clip(&[(0, second), (2, third)]), [2.0, 0.0, 3.0]),
        (clip(&[(0, third), (1, first)]), [3.0, 1.0, 0.0]),
        (clip(&[(2, first)]), [0.0, 0.0, 1.0]),
        (clip(&[(0, second), (1, second), (2, second)]), [2.0; 3]),
    ];
    each_engine(&library, |engine| {
        for (clip, expected) in clips {
            let pose = pose_at(engine, &library, clip, 0.5);
            let x: Vec<f64> = pose.local.iter().map(|local| local.translation.x).collect();
            assert_eq!(x, expected, "{clip:?}, {}", engine.engine());
        }
    });
}
