//! Key times that compression removes, and key times that tracks share.

use std::sync::Arc;

use glam::DVec3;
use posse::compress::{CompressedLibrary, ErrorBound, Length};
use posse::curves::{Curve, CurveEasing, Easing, Extrapolation, Interpolation, Target, Timeline, Track};
use posse::{Clip, ClipId, Joint, Library, Reference};
use proptest::prelude::*;

use crate::support::build::{clip, curve, degrees, joint, library, one_track, pose_at};
use crate::support::cases::cases;
use crate::support::displacement::assert_within;
use crate::support::each_engine::compressed_engines;

/// Key times a tenth of a second apart, in seconds.
fn tenths(keys: usize) -> Vec<f64> {
    (0..keys).map(|key| key as f64 / 10.0).collect()
}

/// The key times of the first track of a clip after compression. The error is asserted to be within the bound.
#[track_caller]
fn compressed_key_times(made: &Library, id: ClipId, what: &str) -> Vec<f64> {
    let compressed = CompressedLibrary::new(made, ErrorBound::default()).unwrap();
    assert_within(made, &compressed, ErrorBound::default(), what);
    compressed.library().clip(id).tracks[0].curve.timeline().times().to_vec()
}

#[test]
fn a_piecewise_linear_track_needs_only_its_ends_and_bends() {
    // Rest for 1 s, a line to (2, -1, 4) for 2 s, then rest for 7 s. By hand, the keys are at 0, 1, 3 and 10 s.
    let values: Vec<f64> = (0..=100)
        .flat_map(|key| {
            let way = ((key as f64 - 10.0) / 20.0).clamp(0.0, 1.0);
            [2.0 * way, -way, 4.0 * way]
        })
        .collect();
    let (made, id) = one_track(Target::Translation(0), curve(Interpolation::Linear, 3, &tenths(101), &values));
    assert_eq!(compressed_key_times(&made, id, "rest, line, rest"), [0.0, 1.0, 3.0, 10.0]);
    let compressed = CompressedLibrary::new(&made, ErrorBound::default()).unwrap();
    let report = &compressed.reports()[0];
    assert_eq!((report.float_key_times, report.compressed_key_times), (101, 4));
    // Four times of 8 bytes and five cells of the search table, a record of at most 12 words, a row of at most 8 bytes
    // per key, and a column record of at most 7 words.
    assert!(report.compressed_bytes <= 4 * 8 + 5 * 4 + 12 * 4 + 4 * 8 + 7 * 4, "{report:?}");
    compressed_engines(&compressed, |engine| {
        for (seconds, way) in [(0.5, 0.0), (1.5, 0.25), (2.05, 0.525), (3.0, 1.0), (9.99, 1.0)] {
            let found = pose_at(engine, &made, id, seconds).local[0].translation;
            let off = found.distance(DVec3::new(2.0, -1.0, 4.0) * way);
            assert!(off < 1e-4, "{} at {seconds}: {off}", engine.engine());
        }
    });
}

#[test]
fn a_turn_at_constant_speed_needs_only_its_ends() {
    // 0.9 degrees per key, 108 degrees in total; then back at the same speed.
    let axis = DVec3::new(0.48, -0.6, 0.64);
    let turn = |key: usize| degrees(axis, 0.9 * (120.0 - (key as f64 - 120.0).abs()));
    for signs in [[1.0, 1.0], [1.0, -1.0]] {
        let keys: Vec<f64> = (0..=240).flat_map(|key| (turn(key) * signs[key % 2]).to_array()).collect();
        let (made, id) = one_track(Target::Rotation(0), curve(Interpolation::Linear, 4, &tenths(241), &keys));
        assert_eq!(compressed_key_times(&made, id, "there and back"), [0.0, 12.0, 24.0]);
    }
    // 220 degrees in total, so the shorter arc from end to end is the other one. A gap of nearly half a turn is not
    // wanted either, since its direction would depend on the last digits.
    let keys: Vec<f64> = (0..=110).flat_map(|key| degrees(axis, 2.0 * f64::from(key)).to_array()).collect();
    let (made, id) = one_track(Target::Rotation(0), curve(Interpolation::Linear, 4, &tenths(111), &keys));
    let times = compressed_key_times(&made, id, "more than half around");
    assert!((3..6).contains(&times.len()), "{times:?}");
    assert!(times.windows(2).all(|gap| gap[1] - gap[0] <= 6.0), "{times:?} leave a gap of more than 120 degrees");
}

#[test]
fn steps_need_the_keys_that_change_something() {
    let values: Vec<f64> = (0..40).flat_map(|key| [f64::from(key / 10), 0.0, 0.0]).collect();
    let (made, id) = one_track(Target::Translation(0), curve(Interpolation::Step, 3, &tenths(40), &values));
    // The last key stays, since a clip lasts as long as its tracks.
    assert_eq!(compressed_key_times(&made, id, "steps"), [0.0, 1.0, 2.0, 3.0, 3.9]);
    let compressed = CompressedLibrary::new(&made, ErrorBound::default()).unwrap();
    compressed_engines(&compressed, |engine| {
        for (seconds, wanted) in [(0.0, 0.0), (0.999, 0.0), (1.0, 1.0), (2.5, 2.0), (3.9, 3.0)] {
            let found = pose_at(engine, &made, id, seconds).local[0].translation;
            assert!(found.distance(DVec3::X * wanted) < 1e-4, "{} at {seconds}: {found}", engine.engine());
        }
    });
}

#[test]
fn a_key_stays_if_any_track_of_its_timeline_needs_it() {
    let timeline = Arc::new(Timeline::new(tenths(101)).unwrap());
    let bent = |at: usize| {
        let values = (0..=100).flat_map(|key: usize| [key.abs_diff(at) as f64, 0.0, 0.0]).collect();
        Curve::new(timeline.clone(), Interpolation::Linear, 3, values).unwrap()
    };
    let (mut made, skeleton) = library(vec![joint(None, [0.0; 3]), joint(Some(0), [1.0, 0.0, 0.0])]);
    let tracks = vec![(Target::Translation(0), bent(20)), (Target::Translation(1), bent(70))];
    let id = clip(&mut made, skeleton, tracks);
    assert_eq!(compressed_key_times(&made, id, "two bends"), [0.0, 2.0, 7.0, 10.0]);
    let compressed = CompressedLibrary::new(&made, ErrorBound::default()).unwrap();
    let tracks = &compressed.library().clip(id).tracks;
    assert!(Arc::ptr_eq(tracks[0].curve.timeline(), tracks[1].curve.timeline()), "they do not share a timeline");
}

#[test]
fn a_track_with_fewer_keys_gets_the_timeline_of_another() {
    // Some exporters drop single keys: here, one track lacks every tenth key of the other.
    let all = tenths(101);
    let some: Vec<f64> = (0..101).filter(|key| key % 10 != 5).map(|key| f64::from(key) / 10.0).collect();
    let values = |times: &[f64], rate: f64| -> Vec<f64> {
        times.iter().flat_map(|time| [(rate * time).sin(), (rate * time).cos(), 0.0]).collect()
    };
    let (mut made, skeleton) = library(vec![joint(None, [0.0; 3]), joint(Some(0), [1.0, 0.0, 0.0])]);
    let linear = |times: &[f64], rate| curve(Interpolation::Linear, 3, times, &values(times, rate));
    let tracks = vec![(Target::Translation(0), linear(&all, 3.0)), (Target::Translation(1), linear(&some, 5.0))];
    let id = clip(&mut made, skeleton, tracks);
    let compressed = CompressedLibrary::new(&made, ErrorBound::default()).unwrap();
    assert_within(&made, &compressed, ErrorBound::default(), "shared");
    let tracks = &compressed.library().clip(id).tracks;
    assert!(Arc::ptr_eq(tracks[0].curve.timeline(), tracks[1].curve.timeline()), "they do not share a timeline");
    assert_eq!(compressed.reports()[0].compressed_key_times, 101);
    // At a time without a key of the second track, its value is halfway between the values of its neighbours.
    let [before, after] = [0.4, 0.6].map(|time: f64| DVec3::new((5.0 * time).sin(), (5.0 * time).cos(), 0.0));
    compressed_engines(&compressed, |engine| {
        let found = pose_at(engine, &made, id, 0.5).local[1].translation;
        let wanted = 0.5 * (before + after);
        assert!(found.distance(wanted) < 1e-4, "{}: {found}, not {wanted}", engine.engine());
    });
}

#[test]
fn curves_that_are_not_linear_keep_their_keys() {
    let line: Vec<f64> = (0..=20).flat_map(|key| [f64::from(key), 0.0, 0.0]).collect();
    let times = tenths(21);
    let eased = curve(Interpolation::Linear, 3, &times, &line).with_easing(CurveEasing::One(Easing::QuadIn)).unwrap();
    let spline: Vec<f64> =
        (0..=20).flat_map(|key| [10.0, 0.0, 0.0, f64::from(key), 0.0, 0.0, 10.0, 0.0, 0.0]).collect();
    let spline = curve(Interpolation::CubicSpline, 3, &times, &spline);
    let looped =
        curve(Interpolation::Linear, 3, &times, &line).with_extrapolation(Extrapolation::Loop, Extrapolation::Loop);
    for (what, curve) in [("eased", eased), ("spline", spline), ("looped", looped)] {
        let (mut made, skeleton) = library(vec![Joint::default()]);
        let tracks = vec![Track::new(Target::Translation(0), curve)];
        let id = made.add_clip(Clip { length: Some(5.0), ..Clip::new(None, skeleton, tracks) }).unwrap();
        assert_eq!(compressed_key_times(&made, id, what), times, "{what}");
    }
}

#[test]
fn clips_that_share_a_curve_keep_their_duration() {
    // The own track of the second clip has the first half of the key times of the first clip.
    let timelines =
        [300, 150].map(|keys| Arc::new(Timeline::new((0..keys).map(|key| f64::from(key) / 30.0).collect()).unwrap()));
    let wave = |timeline: &Arc<Timeline>, rate: f64| {
        let values = timeline.times().iter().flat_map(|time| [(rate * time).sin(), (rate * time).cos(), 0.0]).collect();
        Curve::new(timeline.clone(), Interpolation::Linear, 3, values).unwrap()
    };
    let brief = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let (mut made, skeleton) = library(vec![joint(None, [0.0; 3]), joint(Some(0), [1.0, 0.0, 0.0])]);
    for timeline in &timelines {
        clip(
            &mut made,
            skeleton,
            vec![(Target::Translation(0), brief.clone()), (Target::Translation(1), wave(timeline, 3.0))],
        );
    }
    let compressed = CompressedLibrary::new(&made, ErrorBound::default()).unwrap();
    assert_within(&made, &compressed, ErrorBound::default(), "a shared curve");
    let durations = |library: &Library| library.clips().iter().map(Clip::duration).collect::<Vec<_>>();
    assert_eq!(durations(compressed.library()), durations(&made));
}

#[test]
fn a_weight_that_varies_by_its_bound_stays_within_it() {
    // Weights that could round to one number, on the key times of a linear track that needs only its ends.
    let timeline = Arc::new(Timeline::new(tenths(101)).unwrap());
    let on_timeline = |width: usize, key: &dyn Fn(usize) -> [f64; 3]| {
        let values = (0..=100).flat_map(|index| key(index)[..width].to_vec()).collect();
        Curve::new(timeline.clone(), Interpolation::Linear, width, values).unwrap()
    };
    for share in [1e-4, 1e-2] {
        for swing in [0.25, 0.4, 0.45, 0.49, 0.51] {
            // The largest weight is 1. Codes are 1.99 times its share apart.
            let cell = 1.99 * share;
            // The ends differ, since otherwise the weights would be constant.
            let weight = |key: usize| cell * (25.0 + swing * [1.0, -1.0][(key + key / 100) % 2]);
            let weights = on_timeline(2, &|key| [weight(key), 1.0, 0.0]);
            let straight = on_timeline(3, &|key| [key as f64, 0.0, 0.0]);
            let (mut made, skeleton) = library(vec![Joint { weights: vec![0.0; 2], ..Joint::default() }]);
            let tracks = vec![(Target::Weights(0), weights), (Target::Translation(0), straight)];
            let id = clip(&mut made, skeleton, tracks);
            let compressed = CompressedLibrary::new(&made, ErrorBound::new(Length::Share(share))).unwrap();
            for (key, &time) in timeline.times().iter().enumerate() {
                let library = compressed.library();
                let found = pose_at(&mut Reference::new(library), library, id, time).weights[0];
                let wanted = weight(key);
                assert!((found - wanted).abs() <= 1.001 * share, "{share}, {swing}, key {key}: {found}, not {wanted}");
            }
        }
    }
}

/// A run of keys of a track.
#[derive(Debug, Clone)]
struct Run {
    keys: usize,
    /// The step from key to key.
    step: f64,
    /// `true` if the keys jump by multiples of the step instead of adding it up.
    jumps: bool,
}

/// The runs of a track.
#[derive(Debug, Clone)]
struct TrackRuns {
    runs: Vec<Run>,
    /// The keys that the track lacks, as bits.
    lacking: u64,
    stepped: bool,
}

/// The number at each key, if runs follow one another.
fn follow(runs: &[Run], keys: usize) -> Vec<f64> {
    let mut numbers = vec![0.0];
    for &Run { keys: count, step, jumps } in runs.iter().cycle() {
        for key in 0..count {
            let last = numbers[numbers.len() - 1];
            numbers.push(if jumps { step * (key % 3) as f64 } else { last + step });
            if numbers.len() >= keys {
                return numbers;
            }
        }
    }
    numbers
}

/// Tracks of runs, one per joint of a chain, on key times over four seconds or on some of these key times.
fn runs() -> impl Strategy<Value = Vec<TrackRuns>> {
    let step = prop_oneof![Just(0.0), Just(1e-5), -0.1..0.1];
    let run = (1..12_usize, step, any::<bool>()).prop_map(|(keys, step, jumps)| Run { keys, step, jumps });
    let lacking = prop_oneof![Just(0), any::<u64>()];
    let track = (prop::collection::vec(run, 1..6), lacking, any::<bool>())
        .prop_map(|(runs, lacking, stepped)| TrackRuns { runs, lacking, stepped });
    prop::collection::vec(track, 1..6)
}

proptest! {
    #![proptest_config(cases(96, 2026))]

    #[test]
    fn tracks_without_redundant_keys_stay_within_the_bound(tracks in runs(), share in prop_oneof![Just(1e-4), Just(1e-2)]) {
        const KEYS: usize = 41;
        let mut joints: Vec<Joint> = (0..tracks.len())
            .map(|index| joint(index.checked_sub(1), [0.0, index.min(1) as f64, 0.0]))
            .collect();
        joints[0].weights = vec![0.0; 2];
        let (mut made, skeleton) = library(joints);
        let mut moves: Vec<(Target, Curve)> = Vec::new();
        for (index, TrackRuns { runs, lacking, stepped }) in tracks.iter().enumerate() {
            // Every track has the first and the last key.
            let kept: Vec<usize> =
                (0..KEYS).filter(|key| key % (KEYS - 1) == 0 || lacking >> key & 1 == 0).collect();
            let times: Vec<f64> = kept.iter().map(|&key| tenths(KEYS)[key]).collect();
            let numbers = follow(runs, KEYS);
            let mode = if *stepped { Interpolation::Step } else { Interpolation::Linear };
            let turns: Vec<f64> = kept.iter().flat_map(|&key| degrees(DVec3::X, 90.0 * numbers[key]).to_array()).collect();
            let places: Vec<f64> = kept.iter().flat_map(|&key| [numbers[key], 1.0, 0.5 * numbers[key]]).collect();
            let weights: Vec<f64> = kept.iter().flat_map(|&key| [numbers[key], 1.0 - numbers[key]]).collect();
            moves.push((Target::Rotation(index), curve(mode, 4, &times, &turns)));
            moves.push((Target::Translation(index), curve(mode, 3, &times, &places)));
            if index == 0 {
                moves.push((Target::Weights(0), curve(mode, 2, &times, &weights)));
            }
        }
        let id = clip(&mut made, skeleton, moves);
        let bound = ErrorBound::new(Length::Share(share));
        let compressed = CompressedLibrary::new(&made, bound).unwrap();
        assert_within(&made, &compressed, bound, "runs");

        let [before, after] = [&made, compressed.library()].map(|library| library.clip(id).clone());
        let place = before.tracks.iter().position(|track| matches!(track.target, Target::Weights(_))).unwrap();
        let largest = before.tracks[place].curve.values().iter().fold(0.0, |most: f64, number| most.max(number.abs()));
        for time in (0..=400).map(|hundredth| f64::from(hundredth) / 100.0) {
            let [wanted, found] =
                [&made, compressed.library()].map(|library| pose_at(&mut Reference::new(library), library, id, time).weights);
            for (wanted, found) in wanted.iter().zip(&found) {
                let off = (wanted - found).abs();
                prop_assert!(off <= 1.001 * share * largest, "a weight at {time}: {off} of {}", share * largest);
            }
        }
        prop_assert!(compressed.reports()[0].compressed_bytes <= compressed.reports()[0].float_bytes);
        prop_assert_eq!(before.duration(), after.duration());
    }
}
