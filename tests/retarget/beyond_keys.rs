//! Clips beyond the first and the last key of a track, and keys of splines that are zero.

use glam::{DQuat, DVec3};
use posse::curves::{Curve, Extrapolation, Interpolation, Target, Track};
use posse::retarget::{JointMap, RetargetOptions, RetargetedClip, RootTranslation, TrackMethod};
use posse::{Clip, ClipId, Library, SkeletonId};

use super::rigs::{add, angle, joint, model_pose};
use crate::support::build::{curve, degrees};

const NONE: DQuat = DQuat::IDENTITY;

/// A clip that was retargeted from one skeleton to another.
struct Case {
    library: Library,
    source: SkeletonId,
    target: SkeletonId,
    clip: ClipId,
    report: RetargetedClip,
}

/// Retargets a clip of these tracks and of this length by names.
fn retarget(
    source: Vec<posse::Joint>,
    target: Vec<posse::Joint>,
    tracks: Vec<(Target, Curve)>,
    length: Option<f64>,
) -> Case {
    let mut library = Library::new();
    let (source, target) = (add(&mut library, source), add(&mut library, target));
    let tracks = tracks.into_iter().map(|(target, curve)| Track::new(target, curve)).collect();
    let clip = library.add_clip(Clip { length, ..Clip::new(Some("moves".into()), source, tracks) }).unwrap();
    let map = JointMap { translation: RootTranslation::Full, ..JointMap::by_names(&library, source, target).unwrap() };
    let report = library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap().clips.remove(0);
    Case { library, source, target, clip, report }
}

#[test]
fn straight_lines_go_on_to_the_ends_of_the_clip() {
    // The joint above the root turns and has no partner, so that the root's track is sampled.
    let source = vec![joint("top", None, NONE, [0.0; 3]), joint("hip", Some(0), NONE, [0.0, 1.0, 0.0])];
    let target = vec![joint("hip", None, NONE, [0.0, 1.0, 0.0])];
    let turn = [NONE, degrees(DVec3::Y, 40.0)].map(|rotation| rotation.to_array()).concat();
    let turn = curve(Interpolation::Linear, 4, &[1.25, 1.75], &turn);
    for interpolation in [Interpolation::Linear, Interpolation::Step] {
        let slide = curve(interpolation, 3, &[1.0, 2.0], &[0.0, 1.0, 0.0, 1.0, 1.5, 0.0]);
        let slide = slide.with_extrapolation(Extrapolation::Linear, Extrapolation::Linear);
        let tracks = vec![(Target::Rotation(0), turn.clone()), (Target::Translation(1), slide)];
        let Case { library, source, target, clip, report } =
            retarget(source.clone(), target.clone(), tracks, Some(3.0));
        assert!(report.tracks.iter().all(|track| matches!(track.method, TrackMethod::Resampled { .. })));
        assert!(report.translation_error() <= 1e-4);
        for time in [0.0, 0.4, 0.9, 1.0, 1.5, 2.0, 2.1, 2.7, 3.0] {
            let from = model_pose(&library, source, Some((clip, time)))[1].1;
            let to = model_pose(&library, target, Some((report.clip, time)))[0].1;
            assert!(from.distance(to) < 1.1e-4, "{interpolation:?} at {time}: {to} instead of {from}");
        }
        // Nothing is sampled beyond the ends, where the clip has no times.
        let mut times = library.clip(report.clip).tracks.iter().map(|track| track.curve.timeline());
        assert!(times.all(|times| times.first() >= 0.0 && times.last() <= 3.0));
    }
}

#[test]
fn a_key_of_zeros_is_the_identity_before_and_after() {
    let turn = |angle: f64| degrees(DVec3::new(1.0, 2.0, 3.0).normalize(), angle);
    let zero = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    let tangent = |number: f64| DQuat::from_xyzw(0.3, -0.2, number, 0.1);
    let spline = |values: [DQuat; 3]| {
        let elements = values.map(|value| [tangent(0.5), value, tangent(-0.4)].map(|element| element.to_array()));
        curve(Interpolation::CubicSpline, 4, &[0.5, 1.0, 2.0], &elements.concat().concat())
    };
    let rig = |rest: DQuat| vec![joint("hip", None, rest, [0.0, 1.0, 0.0])];
    let (up, out) = (turn(50.0), degrees(DVec3::X, 130.0));
    for values in [[up, zero, out], [zero, up, out], [up, out, zero], [zero, zero, up]] {
        let tracks = || vec![(Target::Rotation(0), spline(values))];
        let Case { library, source, target, clip, report } =
            retarget(rig(turn(20.0)), rig(turn(-70.0)), tracks(), None);
        assert!(matches!(report.tracks[0].method, TrackMethod::Resampled { .. }), "{values:?}");
        assert!(report.rotation_error() <= 1e-4, "{values:?}: {}", report.rotation_error());
        let rest = [source, target].map(|skeleton| model_pose(&library, skeleton, None)[0].0);
        for time in [0.0, 0.5, 0.6, 0.9, 0.999, 1.0, 1.001, 1.4, 1.9, 1.999, 2.0, 3.0] {
            let from = model_pose(&library, source, Some((clip, time)))[0].0;
            let to = model_pose(&library, target, Some((report.clip, time)))[0].0;
            let error = angle(to, from * rest[0].conjugate() * rest[1]);
            assert!(error < 1.1e-4, "{values:?} at {time}: {error}");
        }
        assert_eq!(library.clip(report.clip).duration(), 2.0);

        // Where keys need no change, they stay.
        let Case { library, clip, report, .. } = retarget(rig(turn(20.0)), rig(turn(20.0)), tracks(), None);
        assert_eq!(report.tracks[0].method, TrackMethod::Exact);
        assert_eq!(library.clip(report.clip).tracks, library.clip(clip).tracks);
    }
}

#[test]
fn a_clip_without_its_longest_track_keeps_its_duration_and_has_no_times_before_zero() {
    let rig = |rest: DQuat| vec![joint("hip", None, rest, [0.0, 1.0, 0.0])];
    let turns = [20.0, 60.0, 100.0].map(|angle| degrees(DVec3::X, angle).to_array()).concat();
    let turn = || (Target::Rotation(0), curve(Interpolation::Linear, 4, &[-2.0, 0.0, 1.0], &turns));
    // Scales are dropped.
    let scale = (Target::Scale(0), curve(Interpolation::Step, 3, &[0.0, 3.0], &[1.0; 6]));
    let rest = degrees(DVec3::Z, 90.0);
    for (tracks, duration, length, before) in
        [(vec![turn()], 1.0, None, [20.0, 40.0]), (vec![turn(), scale], 3.0, Some(3.0), [60.0, 60.0])]
    {
        let Case { library, target, report, .. } = retarget(rig(NONE), rig(rest), tracks, None);
        assert_eq!(report.tracks[0].method, TrackMethod::Exact);
        let made = library.clip(report.clip);
        assert_eq!((made.duration(), made.length), (duration, length));
        assert_eq!(made.tracks[0].curve.timeline().times(), [-2.0, 0.0, 1.0]);
        let expected = [(-2.0, before[0]), (-1.0, before[1]), (0.0, 60.0), (0.5, 80.0), (1.0, 100.0), (4.0, 100.0)];
        for (time, expected) in expected {
            let found = model_pose(&library, target, Some((report.clip, time)))[0].0;
            let error = angle(found, degrees(DVec3::X, expected) * rest);
            assert!(error < 1e-12, "{length:?} at {time}: {error}");
        }
    }
}
