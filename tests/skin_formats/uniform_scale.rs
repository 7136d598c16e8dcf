//! Rigs with uniform scales, which can use dual quaternions, and the errors for other rigs.

use glam::{DAffine3, DMat3, DVec3};
use posse::curves::{Curve, Interpolation, Target, Track};
use posse::{
    Clip, ClipId, Crowd, Evaluator, Joint, Layer, LayerTime, Library, Outputs, Reference, Skin, SkinFormat, Ticks,
    Transform, contract,
};

use super::rest_pose_crowd;
use crate::support::assert_close::assert_matrix;
use crate::support::build::{curve, degrees, joint, library};
use crate::support::each_engine::each_engine;

/// A rig of an arm and a hand, with a skin and a clip. All scales are uniform until a test changes them.
struct Rig {
    joints: Vec<Joint>,
    inverse_bind: Vec<DAffine3>,
    tracks: Vec<Track>,
    /// The joints of the skin.
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

/// The answer of each engine to a request for dual quaternions, for a crowd that plays the clip of a changed rig.
fn answers(change: impl FnOnce(&mut Rig)) -> Vec<Result<(), String>> {
    let mut rig = Rig::new();
    change(&mut rig);
    let (library, clip) = rig.library();
    let mut crowd = Crowd::new();
    crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(0.5))]).unwrap();
    let mut answers = Vec::new();
    each_engine(&library, |engine| {
        // The same crowd is posed with full matrices and with halves.
        for format in [SkinFormat::Matrix, SkinFormat::HalfMatrix] {
            engine.evaluate(&crowd, Ticks(0), Outputs::ALL.with_skin_format(format)).unwrap();
        }
        let packed = Outputs::ALL.with_skin_format(SkinFormat::DualQuaternion);
        // Without skin matrices, the skin format does not matter.
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
fn assert_uneven(place: &str, error: &str, change: impl FnOnce(&mut Rig)) {
    let answers = answers(change);
    assert!(answers.len() >= 3, "reference, CPU and GPU");
    for answer in answers {
        let message = answer.expect_err("a refusal");
        assert!(message.starts_with(place), "{message}");
        assert!(message.contains(error) && message.contains("use the skin format `matrix` or `half`"), "{message}");
    }
}

fn scales(interpolation: Interpolation, values: &[[f64; 3]]) -> Curve {
    curve(interpolation, 3, &[0.0, 2.0], values.as_flattened())
}

#[test]
fn a_rig_with_uniform_scales_passes() {
    assert_uniform(|_| {});
    assert_uniform(|rig| rig.joints[0].rest.scale = DVec3::splat(3.0));
    // Rounding errors as in files.
    assert_uniform(|rig| rig.joints[0].rest.scale = DVec3::new(1.0, 1.000_05, 0.999_98));
    let matrix = DAffine3::from_scale_rotation_translation(DVec3::splat(100.0), degrees(DVec3::X, 40.0), DVec3::X);
    assert_uniform(|rig| rig.joints[1].matrix = Some(matrix));
    // A scale of 0 at the end hides the joint.
    let hides = scales(Interpolation::Step, &[[1.0; 3], [0.0; 3]]);
    assert_uniform(|rig| rig.tracks[0] = Track::new(Target::Scale(1), hides));
    // The rounding of scales that hide the joint is small beside its rest scale.
    let hidden = scales(Interpolation::Linear, &[[1e-6, 0.0, 2e-6], [0.0, 3e-6, 0.0]]);
    assert_uniform(|rig| rig.tracks[0] = Track::new(Target::Scale(1), hidden));
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
fn a_joint_without_a_skin_can_have_any_scale() {
    let stretch = scales(Interpolation::Linear, &[[1.0; 3], [1.0, 2.0, 3.0]]);
    assert_uniform(|rig| {
        rig.joints[2].rest.scale = DVec3::new(1.0, -2.0, 3.0);
        rig.tracks.push(Track::new(Target::Scale(2), stretch));
    });
}

#[test]
fn a_rest_pose_that_is_not_uniform_is_refused() {
    let scaled = |scale: DVec3| move |rig: &mut Rig| rig.joints[0].rest.scale = scale;
    assert_uneven("skeleton, joint 0: arm", "is (2, 1, 1), which is not uniform", scaled(DVec3::new(2.0, 1.0, 1.0)));
    assert_uneven("skeleton, joint 0: arm", "not uniform", scaled(DVec3::new(1.0, 1.0, 1.001)));
    assert_uneven("skeleton, joint 0: arm", "not uniform", scaled(DVec3::new(-1.0, 1.0, 1.0)));
    assert_uneven("skeleton, joint 0: arm", "mirrors", scaled(DVec3::splat(-1.0)));
    // The rotated child of a parent with a non-uniform scale is sheared.
    assert_uneven("skeleton, joint 0: arm", "not uniform", |rig| {
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
    for (matrix, error) in
        [(stretched, "is (1, 2, 1), which is not uniform"), (sheared, "shears"), (mirrored, "mirrors")]
    {
        assert_uneven("skeleton, joint 1: hand", error, |rig| rig.joints[1].matrix = Some(matrix));
        assert_uneven("skin sleeve: the inverse bind matrix of its joint 1", error, |rig| rig.inverse_bind[1] = matrix);
    }
}

#[test]
fn clips_that_are_not_uniform_are_refused() {
    let with = |curve: Curve| move |rig: &mut Rig| rig.tracks.push(Track::new(Target::Scale(1), curve));
    let place = "clip grow, track 1: hand";
    let stretches = scales(Interpolation::Linear, &[[1.0; 3], [1.0, 2.0, 1.0]]);
    assert_uneven(place, "at key 1 is (1, 2, 1), which is not uniform", with(stretches));
    let mirrors = scales(Interpolation::Step, &[[1.0; 3], [-1.0; 3]]);
    assert_uneven(place, "at key 1 is (-1, -1, -1), which mirrors", with(mirrors));
    let tangents = [[0.0; 3], [1.0; 3], [0.0; 3], [0.0, 0.0, 1.0], [1.0; 3], [0.0; 3]];
    assert_uneven(place, "tangents after key 0", with(scales(Interpolation::CubicSpline, &tangents)));
    // One of three components; all three, but not equal; and one with a constant value that differs from the rest of
    // the others.
    let number = |end: f64| curve(Interpolation::Linear, 1, &[0.0, 1.0], &[1.0, end]);
    let numbers = |ends: &'static [f64]| {
        move |rig: &mut Rig| {
            let tracks = ends.iter().enumerate();
            rig.tracks.extend(tracks.map(|(n, &end)| Track::component(Target::Scale(1), n, number(end))));
        }
    };
    assert_uneven(place, "driven by curves that are not equal", numbers(&[2.0]));
    assert_uneven(place, "driven by curves that are not equal", numbers(&[2.0, 2.0, 2.1]));
    assert_uneven(place, "not uniform", |rig| {
        let still = curve(Interpolation::Linear, 1, &[0.0, 1.0], &[1.5, 1.5]);
        rig.tracks.push(Track::component(Target::Scale(1), 0, still));
    });
}

#[test]
fn scales_that_count_as_uniform_are_within_the_contract() {
    let rest = Transform {
        translation: DVec3::new(1.0, 2.0, 3.0),
        rotation: degrees(DVec3::new(0.6, 0.0, 0.8), 70.0),
        scale: DVec3::new(1.0, 1.000_06, 0.999_97),
    };
    let (library, crowd) = rest_pose_crowd(rest);
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
fn a_spline_can_make_a_uniform_scale_negative() {
    // From 1 to 1 in one second, with a slope of -12 per second at first. At the middle, it is 1 + 12 (-1/8 - 1/8) =
    // -2, also for the hand.
    let mut rig = Rig::new();
    let spline = [[0.0; 3], [1.0; 3], [-12.0; 3], [12.0; 3], [1.0; 3], [0.0; 3]];
    let spline = curve(Interpolation::CubicSpline, 3, &[0.0, 1.0], spline.as_flattened());
    rig.tracks = vec![Track::new(Target::Scale(0), spline)];
    let (library, clip) = rig.library();
    let mut crowd = Crowd::new();
    crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(0.5))]).unwrap();
    let outputs = Outputs::SKIN.with_skin_format(SkinFormat::DualQuaternion);
    // The hand is 1 m from an arm at (0, 1, 0).
    let linear = DMat3::from_diagonal(DVec3::splat(-2.0));
    let by_hand = DAffine3::from_mat3_translation(linear, DVec3::new(0.0, -1.0, 0.0));
    each_engine(&library, |engine| {
        let hand = engine.evaluate(&crowd, Ticks(0), outputs).unwrap().instances[0].skins[0][1];
        assert_matrix(hand, by_hand, engine.engine());
    });
}

#[test]
fn only_the_clips_of_a_crowd_need_uniform_scales() {
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
