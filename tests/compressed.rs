//! Compressed libraries: errors, sizes, and bounds that are refused.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use posse::compress::{CompressedLibrary, ErrorBound, Length};
use posse::cpu::CpuEngine;
use posse::curves::{Curve, CurveEasing, Easing, Extrapolation, Interpolation, Target, Timeline, Track};
use posse::import::gltf;
use posse::packed::PackedLibrary;
use posse::root_motion::{RootMotion, RootRotation};
use posse::{Clip, ClipId, Error, Joint, Library, Reference, demo};

use crate::support::assert_close::assert_vector;
use crate::support::build::{clip, curve, degrees, joint, library, one_track, pose_at};
use crate::support::displacement::assert_within;
use crate::support::each_engine::compressed_engines;
use crate::support::skip::collected_or_skip;

/// The bytes of the keys of all clips, in the ordinary packed library and in the compressed one.
fn bytes(compressed: &CompressedLibrary) -> [usize; 2] {
    let sum = |bytes: fn(&posse::compress::ClipReport) -> usize| compressed.reports().iter().map(bytes).sum();
    [sum(|report| report.float_bytes), sum(|report| report.compressed_bytes)]
}

#[test]
fn at_a_ten_thousandth_of_the_size_the_keys_of_the_demo_take_a_quarter() {
    let library = demo::library().unwrap();
    let bound = ErrorBound::new(Length::Share(1e-4));
    let compressed = CompressedLibrary::new(&library, bound).unwrap();
    assert_within(&library, &compressed, bound, "demo");
    let [float, quantized] = bytes(&compressed);
    assert!(4 * quantized <= float, "{quantized} bytes of {float}");
    // The reports give the difference of the two packed libraries, except for keys that clips share.
    let sizes = [PackedLibrary::new(&library), compressed.pack()].map(|packing| packing.unwrap().size());
    let saved_of_tables =
        |report: &posse::compress::ClipReport| report.float_table_bytes - report.compressed_table_bytes;
    let saved_bytes = float - quantized + compressed.reports().iter().map(saved_of_tables).sum::<usize>();
    let saved = (sizes[0] - sizes[1]) as f64 / saved_bytes as f64;
    assert!((0.95..1.05).contains(&saved), "{sizes:?} packed, {saved_bytes} reported");
}

#[test]
fn at_a_ten_thousandth_of_the_size_real_keys_take_a_quarter() {
    let files = [
        "gltf/CesiumMan/CesiumMan.glb",
        "gltf/Fox/Fox.glb",
        "gltf/DancingRabbit/scene.gltf",
        "gltf/RiggedSimple/RiggedSimple.glb",
        "rigs/rig64.glb",
    ];
    for file in files {
        let Some(path) = collected_or_skip(file, "the bytes of compressed keys") else { continue };
        let mut library = Library::new();
        gltf::load(&mut library, path).unwrap();
        let bound = ErrorBound::new(Length::Share(1e-4));
        let compressed = CompressedLibrary::new(&library, bound).unwrap();
        assert_within(&library, &compressed, bound, file);
        let [float, compressed] = bytes(&compressed);
        assert!(4 * compressed <= float, "{file}: {compressed} bytes of {float}");
    }
}

#[test]
fn tighter_bounds_take_more_bits_and_are_met() {
    let library = demo::library().unwrap();
    let mut last = 0;
    for share in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
        let bound = ErrorBound::new(Length::Share(share));
        let compressed = CompressedLibrary::new(&library, bound).unwrap();
        assert_within(&library, &compressed, bound, &format!("{share}"));
        let [_, compressed] = bytes(&compressed);
        assert!(compressed > last, "{compressed} bytes at {share}, {last} at ten times as much");
        last = compressed;
    }
}

#[test]
fn an_absolute_bound_and_a_shell_have_the_units_of_the_rig() {
    // The two joints are 2 apart, so a share of the size is a share of 2.
    let (mut made, skeleton) = library(vec![joint(None, [0.0; 3]), joint(Some(0), [0.0, 2.0, 0.0])]);
    let axis = DVec3::new(0.48, -0.6, 0.64);
    let turns: Vec<f64> = (0..30).flat_map(|key| degrees(axis, f64::from(key * key) / 9.0).to_array()).collect();
    let times: Vec<f64> = (0..30).map(|key| f64::from(key) / 30.0).collect();
    let turned = curve(Interpolation::Linear, 4, &times, &turns);
    clip(&mut made, skeleton, vec![(Target::Rotation(0), turned)]);
    let compress = |bound| CompressedLibrary::new(&made, bound).unwrap();
    let absolute = ErrorBound { error: Length::Units(0.002), shell: Length::Units(0.06) };
    assert_within(&made, &compress(absolute), absolute, "absolute");
    assert_eq!(compress(absolute).reports(), compress(ErrorBound::new(Length::Share(0.001))).reports());
    let far = ErrorBound { shell: Length::Units(20.0), ..absolute };
    assert_within(&made, &compress(far), far, "far");
    assert!(bytes(&compress(far))[1] > bytes(&compress(absolute))[1], "a wider shell needs finer rotations");
}

#[test]
fn numbers_of_few_digits_survive_24_bits_exactly() {
    let values = [0.0, 1.0, -68.0, 0.25, 7.5, 3.0, 1.0, 2.0, 4.0];
    let (made, id) = one_track(Target::Translation(0), curve(Interpolation::Linear, 3, &[0.0, 1.0, 2.0], &values));
    let compressed = CompressedLibrary::with_width(&made, 24).unwrap();
    assert_eq!(compressed.library().clip(id).tracks[0].curve.values(), values);
    assert_eq!(compressed.reports()[0].error, 0.0);
    compressed_engines(&compressed, |engine| {
        let found = pose_at(engine, &made, id, 0.5).local[0].translation;
        assert_vector(found, [0.125, 4.25, -32.5], engine.engine());
    });
}

#[test]
fn keys_of_constant_easing_are_hit_at_their_times() {
    let times: Vec<f64> = (0..61).map(|key| f64::from(key) / 30.0).collect();
    let values: Vec<f64> = (0..61).flat_map(|key| [f64::from(key), f64::from(key * key % 17), 0.0]).collect();
    let eased = curve(Interpolation::Linear, 3, &times, &values);
    let eased = eased.with_easing(CurveEasing::One(Easing::Constant)).unwrap();
    let (made, id) = one_track(Target::Translation(0), eased);
    let compressed = CompressedLibrary::with_width(&made, 24).unwrap();
    compressed_engines(&compressed, |engine| {
        for (&time, value) in times.iter().zip(values.chunks(3)) {
            let found = pose_at(engine, &made, id, time).local[0].translation;
            assert_vector(found, [value[0], value[1], value[2]], &format!("{} at {time}", engine.engine()));
        }
    });
}

#[test]
fn a_fixed_number_of_bits_snaps_nothing_to_the_rest_pose() {
    // Two keys so near to each other that they become one, and nearer to the rest pose than the bound of compression by
    // error.
    let turns = [1e-4, 1e-4 + 5e-9].map(|x: f64| DQuat::from_xyzw(x, 0.0, 0.0, (1.0 - x * x).sqrt()));
    let (made, id) = turning(&turns, Interpolation::Linear);
    let compressed = CompressedLibrary::with_width(&made, 24).unwrap();
    let found = pose_at(&mut Reference::new(compressed.library()), &made, id, 0.0).local[0].rotation;
    assert!((found.x - 1e-4).abs() < 1e-7, "{found}");
}

#[test]
fn the_keys_of_a_clip_that_loops_beyond_them_are_counted_once() {
    let axis = DVec3::new(0.48, -0.6, 0.64);
    let (mut made, skeleton) =
        library((0..8_usize).map(|index| joint(index.checked_sub(1), [0.0, 1.0, 0.0])).collect());
    let timeline = Arc::new(Timeline::new(vec![0.0, 0.4, 1.0]).unwrap());
    let track = |joint: usize| {
        let turns = [0.0, 50.0, 9.0 * joint as f64].map(|angle| degrees(axis, angle).to_array()).concat();
        let curve = Curve::new(timeline.clone(), Interpolation::Linear, 4, turns).unwrap();
        Track::new(Target::Rotation(joint), curve.with_extrapolation(Extrapolation::Clamp, Extrapolation::Loop))
    };
    let tracks = (0..8).map(track).collect();
    made.add_clip(Clip { length: Some(100.0), ..Clip::new(None, skeleton, tracks) }).unwrap();
    let compressed = CompressedLibrary::with_width(&made, 24).unwrap();
    // Three keys of eight rotations of three numbers: at most 24 bits for each number.
    let bytes = compressed.bytes(compressed.reports()[0].clip);
    assert!((1..=3 * 8 * 3 * 3).contains(&bytes.keys), "{bytes:?}");
    // Unrolled key times take at least 8 bytes each.
    assert!(bytes.timelines > 8 * 200, "{bytes:?}");
}

#[test]
fn tracks_that_move_within_the_bound_become_constant() {
    let noise = |key: usize| 1e-7 * (key % 3) as f64;
    let times: Vec<f64> = (0..60).map(|key| f64::from(key) / 30.0).collect();
    let values: Vec<f64> = (0..60).flat_map(|key| [1.0 + noise(key), 1.0, 1.0 - noise(key)]).collect();
    let (made, id) = one_track(Target::Scale(0), curve(Interpolation::Linear, 3, &times, &values));
    let compressed = CompressedLibrary::new(&made, ErrorBound::default()).unwrap();
    assert!(compressed.library().clip(id).tracks[0].curve.is_constant());
    let report = &compressed.reports()[0];
    assert_eq!((report.constant_tracks, report.float_tracks), (1, 0));
    // The value of the rest pose, which takes no bytes.
    assert_eq!(report.compressed_bytes, 0);
    assert!(report.error > 0.0 && report.error <= 1e-4, "{report:?}");

    let doubled: Vec<f64> = values.iter().map(|number| 2.0 * number).collect();
    let (made, id) = one_track(Target::Scale(0), curve(Interpolation::Linear, 3, &times, &doubled));
    let compressed = CompressedLibrary::new(&made, ErrorBound::default()).unwrap();
    assert!(compressed.library().clip(id).tracks[0].curve.is_constant());
    // A single value of 16 bytes.
    assert_eq!(compressed.reports()[0].compressed_bytes, 16);
}

/// The bytes of a clip that ACL (Animation Compression Library) needs at the same error, with its tables: 0.01 % of the
/// size, at a shell of 3 %.
const ACL: [(&str, usize, usize); 4] = [
    ("gltf/CesiumMan/CesiumMan.glb", 0, 4815),
    ("gltf/Fox/Fox.glb", 0, 6181),
    ("rigs/rig64.glb", 0, 45098),
    ("rigs/rig64.glb", 2, 16521),
];

#[test]
fn real_clips_take_fewer_bytes_than_with_acl() {
    for (file, clip, acl) in ACL {
        let Some(path) = collected_or_skip(file, "the bytes of a clip, compared with ACL") else { continue };
        let mut library = Library::new();
        gltf::load(&mut library, path).unwrap();
        let compressed = CompressedLibrary::new(&library, ErrorBound::new(Length::Share(1e-4))).unwrap();
        let report = &compressed.reports()[clip];
        let bytes = report.compressed_bytes + report.compressed_table_bytes;
        println!("{file}, clip {clip}: {bytes} bytes, {acl} with ACL; {:?}", compressed.bytes(report.clip));
        assert!(100 * bytes <= 95 * acl, "{file}, clip {clip}: {bytes} bytes, {acl} with ACL");
        assert_eq!(bytes, compressed.bytes(report.clip).total());
        let resident = resident_bytes(&library, report.clip);
        println!("{file}, clip {clip}: {resident} bytes in the CPU engine");
        assert!(resident < acl, "{file}, clip {clip}: {resident} bytes in the CPU engine, {acl} with ACL");
    }
}

/// The bytes that the CPU engine keeps for a clip, compressed at 0.01 %: the bytes of a library with its skeleton and
/// the clip, less the bytes of one with the skeleton alone.
fn resident_bytes(library: &Library, clip: ClipId) -> usize {
    let mut clip = library.clip(clip).clone();
    let mut one = Library::new();
    clip.skeleton = one.add_skeleton(library.skeleton(clip.skeleton).clone());
    let skeleton = CpuEngine::with_threads(&one, 1).unwrap().size();
    one.add_clip(clip).unwrap();
    let compressed = CompressedLibrary::new(&one, ErrorBound::new(Length::Share(1e-4))).unwrap();
    CpuEngine::from_packed(compressed.pack().unwrap(), 1).size() - skeleton
}

#[test]
fn real_morph_weights_take_less_than_half() {
    for file in ["gltf/AnimatedMorphCube/AnimatedMorphCube.glb", "gltf/MorphStressTest/MorphStressTest.glb"] {
        let Some(path) = collected_or_skip(file, "the bytes of compressed morph weights") else { continue };
        let mut library = Library::new();
        gltf::load(&mut library, path).unwrap();
        let compressed = CompressedLibrary::new(&library, ErrorBound::new(Length::Share(1e-4))).unwrap();
        for report in compressed.reports() {
            let [float, bytes] = [
                report.float_bytes + report.float_table_bytes,
                report.compressed_bytes + report.compressed_table_bytes,
            ];
            assert!(2 * bytes < float, "{file}: {bytes} bytes of {float}");
        }
    }
}

/// A clip of one joint with these rotations at its keys.
fn turning(turns: &[DQuat], interpolation: Interpolation) -> (Library, ClipId) {
    let times: Vec<f64> = (0..turns.len()).map(|key| key as f64).collect();
    let keys: Vec<f64> = turns.iter().flat_map(|turn| turn.to_array()).collect();
    one_track(Target::Rotation(0), curve(interpolation, 4, &times, &keys))
}

#[test]
fn rotations_of_every_kind_are_within_the_bound() {
    // Rotations about one axis through all angles, so that every component passes 0; half turns, whose direction
    // rounding must not change; keys of either sign; keys of other lengths.
    let axis = DVec3::new(0.48, -0.6, 0.64);
    let spin: Vec<DQuat> = (0..100).map(|key| degrees(axis, 7.0 * f64::from(key))).collect();
    let halves: Vec<DQuat> = (0..40u8).map(|key| degrees(DVec3::X, 180.0 * f64::from(key))).collect();
    let signs: Vec<DQuat> =
        (0..40u8).map(|key| degrees(axis, f64::from(key)) * [1.0, -1.0][key as usize % 2]).collect();
    let lengths: Vec<DQuat> =
        (0..40u8).map(|key| degrees(axis, f64::from(key)) * (0.95 + 0.001 * f64::from(key))).collect();
    for (what, turns) in [("spin", spin), ("halves", halves), ("signs", signs), ("lengths", lengths)] {
        for interpolation in [Interpolation::Linear, Interpolation::Step] {
            let (made, id) = turning(&turns, interpolation);
            let compressed = CompressedLibrary::new(&made, ErrorBound::default()).unwrap();
            assert_within(&made, &compressed, ErrorBound::default(), what);
            let truth = Reference::new(compressed.library());
            compressed_engines(&compressed, |engine| {
                for seconds in [0.0, 0.25, 10.5, 20.75, 39.0] {
                    let wanted = pose_at(&mut truth.clone(), &made, id, seconds).local[0].rotation;
                    let found = pose_at(engine, &made, id, seconds).local[0].rotation;
                    // By the chord: near 1, the arc cosine of an f32 length is off by 1e-3.
                    let cosine = wanted.dot(found);
                    let chord = 2.0 * (wanted - found * cosine.signum()).length();
                    let apart = if cosine.abs() < 0.9 { 2.0 * cosine.abs().acos() } else { chord };
                    assert!(apart < 2e-6, "{what} at {seconds}, {}: {apart} rad", engine.engine());
                }
            });
        }
    }
}

#[test]
fn poses_without_root_motion_are_within_the_bound() {
    // Root motion that is removed rotates the rest of the pose about the origin, 20 away from a rig of size 1. Near a
    // half turn about x, a small change decides which rotation about y is removed.
    let times: Vec<f64> = (0..60).map(|key| f64::from(key) / 30.0).collect();
    let axis = DVec3::new(0.48, -0.6, 0.64);
    let turns = |turn: fn(f64, DVec3) -> DQuat| -> Vec<f64> {
        (0..60).flat_map(|key| turn(f64::from(key), axis).to_array()).collect()
    };
    let far = turns(|key, axis| degrees(axis, key * key / 9.0));
    let over = turns(|key, axis| degrees(DVec3::X, 5.9 * key) * degrees(axis, 0.3 * key));
    for (rotation, turns) in [(RootRotation::Full, far), (RootRotation::Yaw, over)] {
        let (mut made, skeleton) = library(vec![joint(None, [0.0; 3]), joint(Some(0), [0.0, 1.0, 0.0])]);
        let place = Track::new(Target::Translation(0), curve(Interpolation::Linear, 3, &[0.0], &[20.0, 0.0, 0.0]));
        let turned = Track::new(Target::Rotation(0), curve(Interpolation::Linear, 4, &times, &turns));
        let root_motion = Some(RootMotion { joint: 0, translation: [false; 3], rotation });
        made.add_clip(Clip { root_motion, ..Clip::new(None, skeleton, vec![place, turned]) }).unwrap();
        let compressed = CompressedLibrary::new(&made, ErrorBound::default()).unwrap();
        assert_within(&made, &compressed, ErrorBound::default(), &format!("{rotation:?}"));
        assert_eq!(compressed.reports()[0].float_tracks, 0, "{rotation:?}");
    }
}

#[test]
fn clips_that_share_keys_share_compressed_keys() {
    let mut library = demo::library().unwrap();
    let skeleton = library.clips()[0].skeleton;
    let before = CompressedLibrary::new(&library, ErrorBound::default()).unwrap().pack().unwrap().size();
    library.share_clip(library.find_clip("walk").unwrap(), skeleton).unwrap();
    let bound = ErrorBound::default();
    let compressed = CompressedLibrary::new(&library, bound).unwrap();
    assert_within(&library, &compressed, bound, "shared");
    let after = compressed.pack().unwrap().size();
    let walk = &compressed.reports()[library.find_clip("walk").unwrap().index()];
    assert!(
        after - before < walk.compressed_bytes,
        "{before} and {after} bytes, {} of the clip's keys",
        walk.compressed_bytes
    );
}

#[test]
fn curves_that_cannot_be_quantized_stay_unchanged() {
    let (mut made, skeleton) = library(vec![Joint::default()]);
    let line = posse::curves::Extrapolation::Linear;
    let times: Vec<f64> = (0..9).map(|key| 0.5 + f64::from(key) / 8.0).collect();
    let values: Vec<f64> = (0..27).map(|number| f64::from(number) * 0.37).collect();
    let lines: Curve = curve(Interpolation::Linear, 3, &times, &values).with_extrapolation(line, line);
    let tracks = vec![Track::new(Target::Translation(0), lines)];
    let id = made.add_clip(Clip { length: Some(9.0), ..Clip::new(None, skeleton, tracks) }).unwrap();
    let compressed = CompressedLibrary::new(&made, ErrorBound::default()).unwrap();
    assert_eq!(compressed.library(), &made);
    let report = &compressed.reports()[id.index()];
    assert_eq!((report.float_tracks, report.ratio(), report.error), (1, 1.0, 0.0));
}

#[test]
fn invalid_bounds_are_refused() {
    let library = demo::library().unwrap();
    for error in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for bound in [
            ErrorBound::new(Length::Units(error)),
            ErrorBound::new(Length::Share(error)),
            ErrorBound { shell: Length::Units(error), ..ErrorBound::default() },
        ] {
            assert!(matches!(CompressedLibrary::new(&library, bound), Err(Error::Usage(_))), "{bound:?}");
        }
    }
    for bits in [0, 25, u32::MAX] {
        assert!(matches!(CompressedLibrary::with_width(&library, bits), Err(Error::Usage(_))), "{bits}");
    }
    for (text, length) in
        [("0.01%", Length::Share(1e-4)), (" 3 % ", Length::Share(0.03)), ("0.001", Length::Units(0.001))]
    {
        assert_eq!(text.parse(), Ok(length), "{text}");
    }
    for text in ["", "%", "0", "-1", "nan%", "inf", "1e999", "1 mm", "0%"] {
        let error = text.parse::<Length>().unwrap_err();
        assert!(error.contains("0.01%"), "{text}: {error}");
    }
}
