//! Skin matrices in half the bytes: to the bit where that can be worked out by hand, within the contract everywhere else,
//! and refused where dual quaternions have no room.

use glam::{DAffine3, DMat3, DQuat, DVec3};
use posse::cpu::engine::CpuEngine;
use posse::cpu::simd::InstructionSet;
use posse::gpu::crowd::GpuCrowd;
use posse::gpu::engine::GpuEngine;
use posse::gpu::form::Form;
use posse::{
    Clip, ClipId, Crowd, Curve, Evaluator, Interpolation, Joint, Layer, LayerTime, Library, Outputs, Packing,
    Reference, Skin, SkinFormat, Target, Ticks, Track, Transform, contract,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use crate::support::assert_close::assert_matrix;
use crate::support::build::{curve, degrees, joint, library};
use crate::support::each_engine::{each_engine, fast_engines, gpu_unless_left_out};
use crate::support::scenes::{Scene, scenes};

/// A joint that stands as it is bound, as it was built.
fn standing(rest: Transform) -> (Library, Crowd) {
    let (mut library, skeleton) = library(vec![Joint { rest, ..Joint::default() }]);
    let inverse_bind = vec![DAffine3::IDENTITY];
    library.add_skin(Skin { name: None, skeleton, joints: vec![0], inverse_bind }).unwrap();
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[]).unwrap();
    (library, crowd)
}

/// The words of the skin matrices that each engine but the reference writes.
fn words(library: &Library, crowd: &Crowd, format: SkinFormat) -> Vec<(&'static str, Vec<u32>)> {
    let outputs = Outputs::SKIN.with_skin_format(format);
    let mut all = Vec::new();
    for instructions in InstructionSet::ALL.into_iter().filter(|instructions| instructions.is_here()) {
        let engine = CpuEngine::new(library).unwrap().with_instructions(instructions);
        let mut posed = engine.crowd(crowd, outputs).unwrap();
        engine.pose(&mut posed, Ticks(0));
        all.push((instructions.name(), posed.groups()[0].numbers.skin.iter().map(|word| word.to_bits()).collect()));
    }
    let Some(gpu) = gpu_unless_left_out() else { return all };
    let engine = GpuEngine::new(library, gpu).unwrap();
    let device = &engine.gpu().device;
    let on_gpu = GpuCrowd::new(device, engine.library(), crowd, outputs).unwrap();
    let mut encoder = device.create_command_encoder(&Default::default());
    on_gpu.encode(device, &mut encoder, Ticks(0));
    engine.gpu().queue.submit([encoder.finish()]);
    let chunk = &on_gpu.chunks()[0];
    assert_eq!(chunk.skin().unwrap().size(), (format.bytes() * crowd.len()) as u64);
    let skin = engine.read(chunk, 0..crowd.len()).unwrap().skin;
    all.push(("gpu", skin.iter().map(|word| word.to_bits()).collect()));
    all
}

#[test]
fn twenty_four_bytes_of_halves_by_hand() {
    // A third of a turn about the diagonal takes x to y, y to z, z to x; twice as large, and moved by (1, 2, 3):
    // 0 0 2 1, 2 0 0 2, 0 2 0 3. As f16 1 is 0x3c00, 2 is 0x4000, 3 is 0x4200.
    let rotation = DQuat::from_xyzw(0.5, 0.5, 0.5, 0.5);
    let (library, crowd) =
        standing(Transform { translation: DVec3::new(1.0, 2.0, 3.0), rotation, scale: DVec3::splat(2.0) });
    for (engine, words) in words(&library, &crowd, SkinFormat::HalfMatrix) {
        let expected = [0x0000_0000, 0x3c00_4000, 0x0000_4000, 0x4000_0000, 0x4000_0000, 0x4200_0000];
        assert_eq!(words, expected, "{engine}: {words:x?}");
    }
}

#[test]
fn twenty_four_bytes_of_a_dual_quaternion_by_hand() {
    // A quarter turn about z is (0, 0, sqrt 1/2, sqrt 1/2), in steps of 1 / 32767 23169.8: 23170, or 0x5a82.
    let rotation = degrees(DVec3::Z, 90.0);
    for scale in [2.0, 1e-9, 1e9] {
        let (library, crowd) =
            standing(Transform { translation: DVec3::new(1.0, 2.0, 3.0), rotation, scale: DVec3::splat(scale) });
        for (engine, words) in words(&library, &crowd, SkinFormat::DualQuaternion) {
            assert_eq!(words[..2], [0x0000_0000, 0x5a82_5a82], "{engine}: {words:x?}");
            assert_eq!(words[2..5], [1.0_f32, 2.0, 3.0].map(f32::to_bits), "{engine}: {words:x?}");
            let found = f64::from(f32::from_bits(words[5]));
            assert!((found / scale - 1.0).abs() < 1e-6, "{engine}: {found}");
        }
    }
}

#[test]
fn every_format_gives_the_matrix_back() {
    // Half a turn about an axis between x and z: the quaternion's w is 0, and each of x, y and z is the largest once.
    for axis in [DVec3::new(0.8, 0.0, 0.6), DVec3::new(0.6, 0.8, 0.0), DVec3::new(0.0, 0.6, 0.8)] {
        let rest = Transform {
            translation: DVec3::new(-0.25, 0.5, 1.5),
            rotation: degrees(axis, 180.0),
            scale: DVec3::splat(1.25),
        };
        let (library, crowd) = standing(rest);
        let expected = Reference::new(&library).evaluate(&crowd, Ticks(0), Outputs::SKIN).unwrap();
        // By hand: twice the projection on the axis, less the vector itself.
        let turned = |vector: DVec3| 1.25 * (2.0 * axis.dot(vector) * axis - vector);
        let linear = DMat3::from_cols(turned(DVec3::X), turned(DVec3::Y), turned(DVec3::Z));
        let by_hand = DAffine3::from_mat3_translation(linear, rest.translation);
        assert_matrix(expected.instances[0].skins[0][0], by_hand, "reference");
        for format in SkinFormat::ALL {
            each_engine(&library, |engine| {
                let outputs = Outputs::SKIN.with_skin_format(format);
                let actual = engine.evaluate(&crowd, Ticks(0), outputs).unwrap();
                let report = contract::compare_as(format, &library, &crowd, Ticks(0), &expected, &actual);
                assert!(report.is_within() && report.skin.is_some(), "{} {format:?}: {report:?}", engine.engine());
                let found = actual.instances[0].skins[0][0];
                let off =
                    (found.matrix3 - by_hand.matrix3).to_cols_array().into_iter().fold(0.0, |a: f64, b| a.max(b.abs()));
                assert!(off < 1e-3, "{} {format:?}: {found}", engine.engine());
            });
        }
    }
}

#[test]
fn numbers_beyond_the_largest_half_stay_there() {
    let scale = DVec3::splat(1e6);
    let (library, crowd) =
        standing(Transform { translation: DVec3::new(-7e4, 65519.0, 0.0), scale, ..Transform::IDENTITY });
    for (engine, words) in words(&library, &crowd, SkinFormat::HalfMatrix) {
        let expected = [0x0000_7bff, 0xfbff_0000, 0x7bff_0000, 0x7bff_0000, 0x0000_0000, 0x0000_7bff];
        assert_eq!(words, expected, "{engine}: {words:x?}");
    }
    let outputs = Outputs::SKIN.with_skin_format(SkinFormat::HalfMatrix);
    let expected = Reference::new(&library).evaluate(&crowd, Ticks(0), outputs).unwrap();
    each_engine(&library, |engine| {
        let actual = engine.evaluate(&crowd, Ticks(0), outputs).unwrap();
        let report = contract::compare_as(SkinFormat::HalfMatrix, &library, &crowd, Ticks(0), &expected, &actual);
        assert!(report.is_within(), "{}: {report:?}", engine.engine());
    });
}

#[test]
fn what_has_no_size_has_some_rotation_and_no_nonsense() {
    let (library, crowd) = standing(Transform { scale: DVec3::ZERO, translation: DVec3::X, ..Transform::IDENTITY });
    for (engine, words) in words(&library, &crowd, SkinFormat::DualQuaternion) {
        assert_eq!(words, [0, 0x7fff_0000, 1.0_f32.to_bits(), 0, 0, 0], "{engine}: {words:x?}");
    }
}

/// A rig of an arm and a hand, its skin, and a clip that moves it, all of them uniform until changed.
struct Rig {
    joints: Vec<Joint>,
    inverse_bind: Vec<DAffine3>,
    tracks: Vec<Track>,
    /// Which joints the skin has.
    skinned: Vec<usize>,
}

impl Rig {
    fn new() -> Self {
        let named = |name: &str, joint: Joint| Joint { name: Some(name.into()), ..joint };
        let joints = vec![
            named("arm", joint(None, [0.0, 1.0, 0.0])),
            named("hand", joint(Some(0), [0.0, 1.0, 0.0])),
            named("hat", joint(Some(0), [0.0, 0.5, 0.0])),
        ];
        let turned = DAffine3::from_rotation_z(0.3) * DAffine3::from_scale(DVec3::splat(0.01));
        let scales = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
        Self {
            joints,
            inverse_bind: vec![turned, DAffine3::IDENTITY],
            tracks: vec![Track::new(Target::Scale(0), scales)],
            skinned: vec![0, 1],
        }
    }

    fn library(self) -> (Library, ClipId) {
        let (mut library, skeleton) = library(self.joints);
        let (name, joints) = (Some("sleeve".into()), self.skinned);
        library.add_skin(Skin { name, skeleton, joints, inverse_bind: self.inverse_bind }).unwrap();
        let clip = library.add_clip(Clip::new(Some("grow".into()), skeleton, self.tracks)).unwrap();
        (library, clip)
    }
}

/// What each engine says to dual quaternions of a crowd that plays a rig's clip.
fn answers(change: impl FnOnce(&mut Rig)) -> Vec<Result<(), String>> {
    let mut rig = Rig::new();
    change(&mut rig);
    let (library, clip) = rig.library();
    let mut crowd = Crowd::new();
    crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(0.5))]).unwrap();
    let mut answers = Vec::new();
    each_engine(&library, |engine| {
        // The same crowd in full, and as halves, is no trouble.
        for format in [SkinFormat::Matrix, SkinFormat::HalfMatrix] {
            engine.evaluate(&crowd, Ticks(0), Outputs::ALL.with_skin_format(format)).unwrap();
        }
        let packed = Outputs::ALL.with_skin_format(SkinFormat::DualQuaternion);
        // Whoever wants no skin matrices does not care.
        engine.evaluate(&crowd, Ticks(0), Outputs { skin: false, ..packed }).unwrap();
        let answer = engine.evaluate(&crowd, Ticks(0), packed);
        answers.push(answer.map(drop).map_err(|error| error.to_string()));
    });
    answers
}

#[track_caller]
fn assert_uniform(change: impl FnOnce(&mut Rig)) {
    for answer in answers(change) {
        assert_eq!(answer, Ok(()));
    }
}

#[track_caller]
fn assert_uneven(place: &str, fault: &str, change: impl FnOnce(&mut Rig)) {
    let answers = answers(change);
    assert!(answers.len() >= 3, "reference, CPU and GPU");
    for answer in answers {
        let message = answer.expect_err("a refusal");
        assert!(message.starts_with(place), "{message}");
        assert!(
            message.contains(fault) && message.contains("ask for skin matrices as `matrix` or `half`"),
            "{message}"
        );
    }
}

fn scales(interpolation: Interpolation, values: &[[f64; 3]]) -> Curve {
    curve(interpolation, 3, &[0.0, 2.0], values.as_flattened())
}

#[test]
fn a_rig_that_scales_alike_along_all_axes_passes() {
    assert_uniform(|_| {});
    assert_uniform(|rig| rig.joints[0].rest.scale = DVec3::splat(3.0));
    // What files have of rounding.
    assert_uniform(|rig| rig.joints[0].rest.scale = DVec3::new(1.0, 1.000_05, 0.999_98));
    let matrix = DAffine3::from_scale_rotation_translation(DVec3::splat(100.0), degrees(DVec3::X, 40.0), DVec3::X);
    assert_uniform(|rig| rig.joints[1].matrix = Some(matrix));
    // Hidden at the end.
    let hides = scales(Interpolation::Step, &[[1.0; 3], [0.0; 3]]);
    assert_uniform(|rig| rig.tracks[0] = Track::new(Target::Scale(1), hides));
    let spline = [[0.0; 3], [1.0; 3], [2.0; 3], [-1.0; 3], [3.0; 3], [0.0, 5.0, 0.0]];
    assert_uniform(|rig| rig.tracks[0] = Track::new(Target::Scale(1), scales(Interpolation::CubicSpline, &spline)));
    let number = || curve(Interpolation::Linear, 1, &[0.0, 1.0], &[1.0, 2.0]);
    let numbers =
        |rig: &mut Rig| rig.tracks = [0, 1, 2].map(|n| Track::component(Target::Scale(1), n, number())).into();
    assert_uniform(numbers);
    let still = curve(Interpolation::Linear, 1, &[0.0, 1.0], &[1.0, 1.0]);
    assert_uniform(|rig| rig.tracks[0] = Track::component(Target::Scale(1), 2, still));
}

#[test]
fn a_joint_that_no_skin_hangs_on_may_have_any_scale() {
    let stretch = scales(Interpolation::Linear, &[[1.0; 3], [1.0, 2.0, 3.0]]);
    assert_uniform(|rig| {
        rig.joints[2].rest.scale = DVec3::new(1.0, -2.0, 3.0);
        rig.tracks.push(Track::new(Target::Scale(2), stretch));
    });
}

#[test]
fn a_rest_pose_that_is_not_uniform_is_refused() {
    let scaled = |scale: DVec3| move |rig: &mut Rig| rig.joints[0].rest.scale = scale;
    assert_uneven(
        "skeleton, joint 0: arm",
        "is (2, 1, 1), not alike along all axes",
        scaled(DVec3::new(2.0, 1.0, 1.0)),
    );
    assert_uneven("skeleton, joint 0: arm", "not alike", scaled(DVec3::new(1.0, 1.0, 1.001)));
    assert_uneven("skeleton, joint 0: arm", "not alike", scaled(DVec3::new(-1.0, 1.0, 1.0)));
    assert_uneven("skeleton, joint 0: arm", "mirrors", scaled(DVec3::splat(-1.0)));
    // The turned child of a stretched parent is sheared.
    assert_uneven("skeleton, joint 0: arm", "not alike", |rig| {
        rig.joints[0].rest.scale = DVec3::new(1.0, 3.0, 1.0);
        rig.joints[1].rest.rotation = degrees(DVec3::Z, 45.0);
        rig.skinned = vec![1];
        rig.inverse_bind.truncate(1);
    });
}

#[test]
fn matrices_that_are_not_uniform_are_refused() {
    let matrix =
        |columns: [[f64; 3]; 3]| DAffine3 { matrix3: DMat3::from_cols_array_2d(&columns), translation: DVec3::X };
    let stretched = matrix([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]]);
    let sheared = matrix([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]);
    let mirrored = matrix([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]);
    for (matrix, fault) in [(stretched, "is (1, 2, 1), not alike"), (sheared, "shears"), (mirrored, "mirrors")] {
        assert_uneven("skeleton, joint 1: hand", fault, |rig| rig.joints[1].matrix = Some(matrix));
        assert_uneven("skin sleeve: the inverse bind matrix of its joint 1", fault, |rig| rig.inverse_bind[1] = matrix);
    }
}

#[test]
fn clips_that_are_not_uniform_are_refused() {
    let with = |curve: Curve| move |rig: &mut Rig| rig.tracks.push(Track::new(Target::Scale(1), curve));
    let place = "clip grow, track 1: hand";
    let stretches = scales(Interpolation::Linear, &[[1.0; 3], [1.0, 2.0, 1.0]]);
    assert_uneven(place, "at key 1 is (1, 2, 1), not alike along all axes", with(stretches));
    let mirrors = scales(Interpolation::Step, &[[1.0; 3], [-1.0; 3]]);
    assert_uneven(place, "at key 1 is (-1, -1, -1), which mirrors", with(mirrors));
    let tangents = [[0.0; 3], [1.0; 3], [0.0; 3], [0.0, 0.0, 1.0], [1.0; 3], [0.0; 3]];
    assert_uneven(place, "tangents after key 0", with(scales(Interpolation::CubicSpline, &tangents)));
    // One of three numbers, all of them, but not alike, and two that stand still elsewhere than the third at rest.
    let number = |end: f64| curve(Interpolation::Linear, 1, &[0.0, 1.0], &[1.0, end]);
    let numbers = |ends: &'static [f64]| {
        move |rig: &mut Rig| {
            let tracks = ends.iter().enumerate();
            rig.tracks.extend(tracks.map(|(n, &end)| Track::component(Target::Scale(1), n, number(end))));
        }
    };
    assert_uneven(place, "driven by curves that are not alike", numbers(&[2.0]));
    assert_uneven(place, "driven by curves that are not alike", numbers(&[2.0, 2.0, 2.1]));
    assert_uneven(place, "not alike along all axes", |rig| {
        let still = curve(Interpolation::Linear, 1, &[0.0, 1.0], &[1.5, 1.5]);
        rig.tracks.push(Track::component(Target::Scale(1), 0, still));
    });
}

#[test]
fn what_counts_as_uniform_is_within_the_contract() {
    let rest = Transform {
        translation: DVec3::new(1.0, 2.0, 3.0),
        rotation: degrees(DVec3::new(0.6, 0.0, 0.8), 70.0),
        scale: DVec3::new(1.0, 1.000_06, 0.999_97),
    };
    let (library, crowd) = standing(rest);
    let outputs = Outputs::SKIN.with_skin_format(SkinFormat::DualQuaternion);
    let expected = Reference::new(&library).evaluate(&crowd, Ticks(0), outputs).unwrap();
    each_engine(&library, |engine| {
        let actual = engine.evaluate(&crowd, Ticks(0), outputs).unwrap();
        let format = SkinFormat::DualQuaternion;
        let report = contract::compare_as(format, &library, &crowd, Ticks(0), &expected, &actual);
        assert!(report.is_within(), "{}: {report:?}", engine.engine());
    });
}

#[test]
fn a_spline_may_take_a_scale_below_nothing() {
    // From 1 to 1 in a second, downwards at 12 a second at first: half-way 1 + 12 (-1/8 - 1/8) = -2, and the tip with it.
    let mut rig = Rig::new();
    let spline = [[0.0; 3], [1.0; 3], [-12.0; 3], [12.0; 3], [1.0; 3], [0.0; 3]];
    let spline = curve(Interpolation::CubicSpline, 3, &[0.0, 1.0], spline.as_flattened());
    rig.tracks = vec![Track::new(Target::Scale(0), spline)];
    let (library, clip) = rig.library();
    let mut crowd = Crowd::new();
    crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(0.5))]).unwrap();
    let outputs = Outputs::SKIN.with_skin_format(SkinFormat::DualQuaternion);
    // The hand, a metre from an arm that is at (0, 1, 0).
    let linear = DMat3::from_diagonal(DVec3::splat(-2.0));
    let by_hand = DAffine3::from_mat3_translation(linear, DVec3::new(0.0, -1.0, 0.0));
    each_engine(&library, |engine| {
        let hand = engine.evaluate(&crowd, Ticks(0), outputs).unwrap().instances[0].skins[0][1];
        assert_matrix(hand, by_hand, engine.engine());
    });
}

#[test]
fn only_what_a_crowd_uses_has_to_be_uniform() {
    let (mut library, clip) = Rig::new().library();
    let skeleton = library.clip(clip).skeleton;
    let stretches = Track::new(Target::Scale(0), scales(Interpolation::Linear, &[[1.0; 3], [1.0, 2.0, 1.0]]));
    let other = library.add_clip(Clip::new(Some("stretch".into()), skeleton, vec![stretches])).unwrap();
    let outputs = Outputs::SKIN.with_skin_format(SkinFormat::DualQuaternion);
    let layer = |clip| Layer::new(clip, LayerTime::At(0.0));
    let (mut without, mut with) = (Crowd::new(), Crowd::new());
    without.push(skeleton, &[layer(clip)]).unwrap();
    with.push(skeleton, &[layer(clip)]).unwrap();
    with.push(skeleton, &[layer(clip), layer(other)]).unwrap();
    each_engine(&library, |engine| {
        assert!(engine.evaluate(&without, Ticks(0), outputs).is_ok());
        let message = engine.evaluate(&with, Ticks(0), outputs).unwrap_err().to_string();
        assert!(message.starts_with("clip stretch, track 0: arm"), "{message}");
    });
}

/// Holds every fast engine to the reference in a format. Compact keys of any scene are held to a reference of their own
/// elsewhere.
fn check(scene: &Scene, format: SkinFormat) {
    let Scene { library, crowd, step } = scene;
    let outputs = Outputs::ALL.with_skin_format(format);
    let expected = Reference::new(library).evaluate_step(crowd, *step, outputs).unwrap();
    fast_engines(&Form::ALL, &|| Packing::new(library).unwrap(), &mut |engine| {
        let actual = engine.evaluate_step(crowd, *step, outputs).unwrap();
        let report = contract::compare_as(format, library, crowd, *step, &expected, &actual);
        assert!(report.is_within(), "{} {format:?}: {:?}", engine.engine(), report.quantities());
    });
}

fn config(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(2027), failure_persistence: None, ..Config::default() }
}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn small_scenes(spec in scenes(12, 20)) {
        check(&spec.scene(), SkinFormat::HalfMatrix);
        check(&spec.scene().uniform(), SkinFormat::DualQuaternion);
    }
}

proptest! {
    #![proptest_config(config(3))]

    #[test]
    fn large_scenes(spec in scenes(700, 100)) {
        check(&spec.scene(), SkinFormat::HalfMatrix);
        check(&spec.scene().uniform(), SkinFormat::DualQuaternion);
    }
}

#[test]
fn formats_are_as_large_as_they_say() {
    assert_eq!(SkinFormat::ALL.map(SkinFormat::bytes), [48, 24, 24]);
    assert_eq!(Outputs::SKIN.skin_format, SkinFormat::Matrix);
    let (library, crowd) = standing(Transform::IDENTITY);
    for format in SkinFormat::ALL {
        for (engine, words) in words(&library, &crowd, format) {
            assert_eq!(4 * words.len(), format.bytes(), "{engine}");
        }
    }
}
