use std::path::Path;
use std::sync::Arc;

use posse::bake::{self, ArrayKind, BakeOptions, FrameGrid, MAX_FRAMES, UpAxis, native_fps, own_fps, stated_fps};
use posse::cpu::CpuEngine;
use posse::curves::{Curve, Interpolation, Target, Timeline, Track};
use posse::import::{self, FileFormat, LoadOptions};
use posse::{Clip, Error, Library, Skeleton};

#[test]
fn the_frames_of_a_clip_lose_nothing_to_key_times_in_f32() {
    for (keys, rate) in [(6450_u64, 30.0), (91, 30.0), (20_000, 120.0), (2, 24.0), (1_000_001, 60.0), (1, 60.0)] {
        let last = f64::from(((keys - 1) as f64 / rate) as f32);
        let grid = FrameGrid::new(rate, last).unwrap();
        assert_eq!(grid.len(), keys, "{rate} Hz");
        assert_eq!(grid.time(keys - 1), last.min((keys - 1) as f64 / rate));
        assert_eq!(grid.time(1), last.min(1.0 / rate));
    }
}

#[test]
fn the_tolerance_of_the_last_frame_is_a_thousandth_or_a_share() {
    let frames = |fps, duration| FrameGrid::new(fps, duration).unwrap().len();
    assert_eq!([frames(10.0, 0.999_91), frames(10.0, 0.999_89)], [11, 10]);
    // 2^-22 of 8,388,608 frames are two frames.
    assert_eq!([frames(1.0, 8_388_607.0), frames(1.0, 4_194.0)], [8_388_609, 4_195]);
    let grid = FrameGrid::new(10.0, 0.999_91).unwrap();
    assert_eq!([grid.time(9), grid.time(10)], [0.9, 0.999_91]);
    assert_eq!(frames(24.0, 0.0), 1);
}

#[test]
fn frames_share_the_times_of_their_velocities() {
    let (library, _, clip) = super::arm();
    let grid = FrameGrid::new(30.0, library.clip(clip).duration() - 0.01).unwrap();
    assert_eq!(grid.len(), 30);
    for frame in 0..30 {
        let moment = grid.moment(clip, frame);
        assert_eq!(moment.time, frame as f64 / 30.0);
        assert_eq!(moment.before, if frame == 0 { 0.0 } else { grid.time(frame - 1) });
        // Behind the last frame, there is a part of a frame left.
        assert_eq!(moment.after, if frame == 29 { 0.99 } else { grid.time(frame + 1) });
    }
}

#[test]
fn velocities_of_a_clamped_frame_reach_back_by_a_whole_frame() {
    let (_, _, clip) = super::arm();
    // The last of 11 frames is at 0.9999 s, not at 1 s: velocities from 0.9 s would span less than a tenth of a second.
    let grid = FrameGrid::new(10.0, 0.9999).unwrap();
    assert_eq!((grid.len(), grid.time(10)), (11, 0.9999));
    let moment = grid.moment(clip, 10);
    assert!((moment.before - 0.8999).abs() < 1e-12, "{}", moment.before);
    assert_eq!([moment.time, moment.after], [0.9999, 0.9999]);
    // The last frame of a clip of a whole number of frames shares the pose of the frame before.
    let grid = FrameGrid::new(10.0, 1.0).unwrap();
    assert_eq!(grid.moment(clip, 10).before, grid.time(9));
    // Both of these frames are later than the duration, which is less than a frame.
    let grid = FrameGrid::new(1.0, 8_388_607.0).unwrap();
    assert_eq!(grid.span(8_388_608), [8_388_606.0, 8_388_607.0]);
    assert_eq!(FrameGrid::new(1e-3, 1e-4).unwrap().span(1), [0.0, 1e-4]);
}

#[test]
fn a_rate_a_duration_and_a_count_out_of_range_are_refused() {
    for (fps, duration) in
        [(0.0, 1.0), (-1.0, 1.0), (f64::NAN, 1.0), (f64::INFINITY, 1.0), (30.0, -1.0), (30.0, f64::NAN)]
    {
        assert!(matches!(FrameGrid::new(fps, duration), Err(Error::Usage(_))), "{fps}, {duration}");
    }
    assert!(matches!(FrameGrid::new(1e300, 1e300), Err(Error::Limit { .. })));
    // The tolerance adds 1,024 frames.
    assert!(FrameGrid::new(1.0, (MAX_FRAMES - 1026) as f64).is_ok());
    assert!(matches!(FrameGrid::new(1.0, MAX_FRAMES as f64), Err(Error::Limit { needed, .. }) if needed > MAX_FRAMES));
}

/// A clip with a track at each of these key times.
fn clip_of(timelines: &[Vec<f64>]) -> Clip {
    let mut library = Library::new();
    let skeleton = library.add_skeleton(Skeleton::new(None, vec![], vec![]).unwrap());
    let track = |times: &Vec<f64>| {
        let timeline = Arc::new(Timeline::new(times.clone()).unwrap());
        let values = vec![0.0; 3 * times.len()];
        Track::new(Target::Translation(0), Curve::new(timeline, Interpolation::Linear, 3, values).unwrap())
    };
    Clip::new(None, skeleton, timelines.iter().map(track).collect())
}

#[test]
fn the_native_rate_is_that_of_all_keys() {
    let even =
        |fps: f64, keys: usize| -> Vec<f64> { (0..keys).map(|key| f64::from((key as f64 / fps) as f32)).collect() };
    let fps = |timelines: &[Vec<f64>]| native_fps(&clip_of(timelines));
    for rate in [24.0, 30.0, 60.0, 120.0] {
        for keys in [2, 3, 77, 6450, 100_000] {
            assert_eq!(fps(&[even(rate, keys)]), Some(rate), "{keys} keys");
        }
    }
    assert!((fps(&[even(29.97, 500)]).unwrap() - 29.97).abs() < 1e-5);
    assert_eq!(fps(&[even(30.0, 50), vec![0.0], even(30.0, 20)]), Some(30.0));
    assert_eq!(fps(&[even(30.0, 50), even(60.0, 50)]), None);
    assert_eq!(fps(&[vec![0.0, 0.1, 0.2, 0.31]]), None);
    assert_eq!([fps(&[]), fps(&[vec![1.0]])], [None, None]);
    // The gaps may differ by a thousandth of their mean.
    assert!(fps(&[vec![0.0, 0.1, 0.2001, 0.3]]).is_some() && fps(&[vec![0.0, 0.1, 0.2002, 0.3]]).is_none());
}

#[test]
fn the_own_rate_is_that_of_samples_before_that_of_the_file() {
    let every = |seconds: f64| -> Vec<f64> { (0..5).map(|key| f64::from(key) * seconds).collect() };
    let fps = |times: Vec<f64>, of_file| own_fps(&clip_of(&[times]), of_file);
    assert_eq!(fps(every(1.0 / 60.0), Some(30.0)), Some(60.0));
    assert_eq!(fps(every(1.0 / 60.0), None), Some(60.0));
    // Keys that were set by hand.
    assert_eq!([fps(every(0.5), Some(24.0)), fps(every(0.5), None)], [Some(24.0), None]);
    assert_eq!(fps(vec![0.0, 0.1, 0.5], Some(24.0)), Some(24.0));
}

#[test]
fn a_clip_becomes_arrays_in_one_call() {
    let text = b"HIERARCHY\nROOT hip\n{\nOFFSET 0 1 0\nCHANNELS 1 Xrotation\nJOINT knee\n{\nOFFSET 0 -0.5 0\nCHANNELS 0\n}\n}\n\
                 MOTION\nFrames: 3\nFrame Time: 0.5\n0\n90\n180\n";
    let mut library = Library::new();
    let asset = import::from_slice(&mut library, Path::new("leg.bvh"), text, &LoadOptions::default()).unwrap();
    assert_eq!((asset.format, asset.frame_rate, &asset.joints[..]), (FileFormat::Bvh, Some(2.0), &[0, 1][..]));
    assert_eq!(stated_fps(&library, &asset), [Some(2.0)]);
    let engine = CpuEngine::new(&library).unwrap();
    let baked = bake::clip(&library, &engine, asset.clips[0], &BakeOptions::default()).unwrap();
    assert_eq!((baked.fps, baked.frames), (2.0, 3));
    let positions = baked.array(ArrayKind::Pos).unwrap();
    assert_eq!(positions.shape, [3, 2, 3]);
    // The knee hangs down, points back, and points up: a rotation about x by 90 degrees takes -y to -z.
    let expected =
        [[0.0, 1.0, 0.0], [0.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, -0.5], [0.0, 1.0, 0.0], [0.0, 1.5, 0.0]];
    for (found, expected) in positions.data.iter().zip(expected.as_flattened()) {
        assert!((found - expected).abs() < 1e-6, "{:?}", positions.data);
    }
    assert_eq!(baked.array(ArrayKind::Quat).unwrap().shape, [3, 2, 4]);
    assert_eq!(baked.array(ArrayKind::Linvel), None);

    // Other rates, joints and axes: the knee at a quarter of a turn in centimetres, +Z up.
    let options = BakeOptions {
        fps: Some(4.0),
        arrays: vec![ArrayKind::Pos],
        joints: Some(vec![1]),
        up: UpAxis::Z,
        scale: 100.0,
        ..BakeOptions::default()
    };
    let baked = bake::clip(&library, &engine, asset.clips[0], &options).unwrap();
    let positions = baked.array(ArrayKind::Pos).unwrap();
    assert_eq!(positions.shape, [5, 1, 3]);
    let knee = &positions.data[6..9];
    for (found, expected) in knee.iter().zip([0.0, 50.0, 100.0]) {
        assert!((found - expected).abs() < 1e-4, "{knee:?}");
    }
}

#[test]
fn a_clip_that_cannot_become_arrays_says_why() {
    let (library, _, clip) = super::arm();
    let engine = CpuEngine::new(&library).unwrap();
    let error = |options: BakeOptions| bake::clip(&library, &engine, clip, &options).unwrap_err().to_string();
    let defaults = BakeOptions::default;
    assert!(error(BakeOptions { fps: Some(0.0), ..defaults() }).contains("expected a finite number above 0"));
    assert!(error(BakeOptions { fps: Some(1e12), ..defaults() }).contains("frames of"));
    assert!(error(BakeOptions { fps: Some(4e9), ..defaults() }).contains("numbers of a baked clip"));
    assert!(error(BakeOptions { arrays: vec![ArrayKind::Contact], ..defaults() }).contains("FootContacts"));
    assert!(error(BakeOptions { joints: Some(vec![77]), ..defaults() }).contains("77"));
}

#[test]
fn files_without_joints_are_no_assets() {
    for (name, text, saying) in [
        ("walk.anim", r#"{ "__type__": "cc.AnimationClip" }"#, "walk.anim is a Cocos clip, which has no nodes"),
        ("crowd.json", r#"{ "files": [], "instances": [] }"#, "crowd.json is a crowd file"),
        ("walk.c3d", "\u{2}\u{50}", "it is C3D, which is not read"),
    ] {
        let error = import::from_slice(&mut Library::new(), Path::new(name), text.as_bytes(), &LoadOptions::default());
        let error = error.unwrap_err().to_string();
        assert!(error.contains(saying), "{error}");
    }
    assert!(matches!(import::load(&mut Library::new(), "no such file.bvh"), Err(Error::Io { .. })));
}
