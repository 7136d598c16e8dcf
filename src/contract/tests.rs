use std::sync::Arc;

use glam::DMat3;

use super::*;
use crate::evaluator::Evaluator;
use crate::model::{
    Clip, Curve, CurveEasing, Easing, Interpolation, Joint, Layer, LayerTime, Property, RootMotion, RootRotation,
    Skeleton, Skin, SkinFormat, Target, Ticks, Timeline, Track, Transform,
};

/// An arm of two joints of a metre each, half a second into its clip. The first joint turns by some degrees in a
/// second. The arm has a skin, a weight and a property.
struct Scene {
    library: Library,
    crowd: Crowd,
    poses: Poses,
}

impl Scene {
    fn new(degrees: f64) -> Self {
        let turned = DQuat::from_rotation_z(degrees.to_radians()).to_array();
        Self::interpolated(Interpolation::Linear, [DQuat::IDENTITY.to_array(), turned].concat())
    }

    fn interpolated(interpolation: Interpolation, rotations: Vec<f64>) -> Self {
        Self::eased(interpolation, rotations, CurveEasing::None, 0.5)
    }

    fn eased(interpolation: Interpolation, rotations: Vec<f64>, easing: CurveEasing, time: f64) -> Self {
        let rest = Transform { translation: DVec3::X, ..Transform::IDENTITY };
        let root = Joint { rest, weights: vec![0.5], ..Joint::default() };
        let tip = Joint { parent: Some(0), rest, ..Joint::default() };
        let property = Property { name: "glow".into(), rest: vec![4.0, 2.0], rotation: false };
        let mut library = Library::new();
        let skeleton = library.add_skeleton(Skeleton::new(None, vec![root, tip], vec![property]).unwrap());
        let inverse_bind = vec![DAffine3::from_translation(-DVec3::X), DAffine3::from_translation(-2.0 * DVec3::X)];
        library.add_skin(Skin { name: None, skeleton, joints: vec![0, 1], inverse_bind }).unwrap();
        let timeline = Arc::new(Timeline::new(vec![0.0, 1.0]).unwrap());
        let curve = Curve::new(timeline, interpolation, 4, rotations).unwrap().with_easing(easing).unwrap();
        let tracks = vec![Track::new(Target::Rotation(0), curve)];
        // A root that moves nothing, so that there is a motion to compare.
        let root_motion = Some(RootMotion { joint: 0, translation: [false; 3], rotation: RootRotation::None });
        let clip = library.add_clip(Clip { root_motion, ..Clip::new(None, skeleton, tracks) }).unwrap();
        let mut crowd = Crowd::new();
        crowd.push(skeleton, &[Layer::new(clip, LayerTime::At(time))]).unwrap();
        let poses = Reference::new(&library).evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap();
        Self { library, crowd, poses }
    }

    fn report(&self, change: impl FnOnce(&mut Pose)) -> Report {
        let mut actual = self.poses.clone();
        change(&mut actual.instances[0]);
        compare(&self.library, &self.crowd, Ticks(0), &self.poses, &actual)
    }

    /// Asserts that 0.9 of a bound passes and 1.1 of it does not.
    fn assert_bound(&self, bound: f64, change: impl Fn(&mut Pose, f64)) {
        let near = self.report(|pose| change(pose, 0.9 * bound));
        assert!(near.is_within(), "{near:?}");
        let beyond = self.report(|pose| change(pose, 1.1 * bound));
        assert!(!beyond.is_within(), "{beyond:?}");
    }
}

#[test]
fn equal_poses_have_no_error() {
    let report = Scene::new(80.0).report(|_| {});
    assert!(report.is_within());
    for (name, worst) in report.quantities() {
        assert_eq!(worst.map(|worst| worst.error), Some(0.0), "{name}");
    }
}

#[test]
fn local_bounds_are_those_of_the_contract() {
    let turn = |pose: &mut Pose, angle| pose.local[0].rotation *= DQuat::from_rotation_y(angle);
    Scene::new(80.0).assert_bound(2e-6, turn);
    Scene::new(100.0).assert_bound(2e-5, turn);
    let scene = Scene::new(80.0);
    scene.assert_bound(2e-6, |pose, error| pose.local[1].translation.y += error);
    scene.assert_bound(2e-6 * 3.0_f64.sqrt(), |pose, error| pose.local[1].scale.y += error);
    scene.assert_bound(2e-6 * 0.5, |pose, error| pose.weights[0] += error);
    scene.assert_bound(2e-6 * 4.0, |pose, error| pose.properties[1] -= error);
}

#[test]
fn spatial_bounds_grow_with_levels_size_and_wide_rotations() {
    // At 45 degrees, the tip is at (1 + cos, sin): 1.848 m from the origin, and the shell is 3 % of that.
    let scene = Scene::new(90.0);
    let size = 1.03 * (2.0 + 2.0_f64.sqrt()).sqrt();
    scene.assert_bound(2e-6 * size, |pose, error| pose.model[0].translation.z += error);
    scene.assert_bound(2.0 * 2e-6 * size, |pose, error| pose.model[1].translation.z += error);
    scene.assert_bound(2.0 * 2e-6 * 2.06, |pose, error| pose.skins[0][1].translation.z += error);
    // A wide turn of the first joint may move the second, a metre away, by another 18 micrometres.
    let wide = Scene::new(91.0);
    let reach = wide.poses.instances[0].model[1].translation.length();
    wide.assert_bound(2.0 * 2e-6 * 1.03 * reach + 18e-6, |pose, error| pose.model[1].translation.z += error);
}

#[test]
fn a_wrong_turn_of_a_model_matrix_shows() {
    let turn = |pose: &mut Pose| pose.model[1].matrix3 *= DMat3::from_rotation_x(0.01);
    assert!(!Scene::new(80.0).report(turn).is_within());
}

#[test]
fn a_rotation_and_its_negative_agree() {
    let report = Scene::new(80.0).report(|pose| pose.local[0].rotation = -pose.local[0].rotation);
    assert_eq!(report.rotation.map(|worst| worst.error), Some(0.0));
}

#[test]
fn a_short_spline_has_a_wider_bound() {
    // Half-way between almost opposite quaternions without tangents: the sum is short.
    let (zero, a) = ([0.0; 4], DQuat::IDENTITY);
    let b = -DQuat::from_rotation_z(0.02);
    let values = [zero, a.to_array(), zero, zero, b.to_array(), zero].concat();
    // Half of 2 sin(0.01 / 2), and the key gap is narrow.
    let length = 0.005_f64.sin();
    let scene = Scene::interpolated(Interpolation::CubicSpline, values);
    scene.assert_bound(2e-6 / length, |pose, error| pose.local[0].rotation *= DQuat::from_rotation_y(error));
}

#[test]
fn the_bound_of_an_easing_grows_with_its_steepness() {
    let turn = |pose: &mut Pose, angle| pose.local[0].rotation *= DQuat::from_rotation_y(angle);
    let rotations = || [DQuat::IDENTITY.to_array(), DQuat::from_rotation_z(1.5).to_array()].concat();
    let eased = |easing, time| Scene::eased(Interpolation::Linear, rotations(), CurveEasing::One(easing), time);
    // sqrt(k (2 - k)) rises by almost 1000 where it starts.
    let steep = |k: f64| (k * (2.0 - k)).sqrt();
    let off = 2.0_f64.powi(-22);
    eased(Easing::CircOut, 5e-7).assert_bound(2e-6 + 1.5 * (steep(5e-7) - steep(5e-7 - off)), turn);
    eased(Easing::Constant, 0.5).assert_bound(2e-6, turn);
    // 3 (y1 + y2) / 8 + 1 / 8 of the arc, and a slope of 3 / 4 (1 + y2 - y1) over 3 / 4 (1 + x2 - x1).
    eased(Easing::Bezier([0.5, 4.0, 0.5, 5.0]), 0.5).assert_bound(3.5 * 2e-6 + 1.5 * 2.0 * off, turn);
}

#[test]
fn missing_numbers_and_nan_are_infinite_errors() {
    let scene = Scene::new(80.0);
    let changes: [fn(&mut Pose); 11] = [
        |pose| pose.local[1].rotation.w = f64::NAN,
        |pose| pose.local[1].rotation = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        |pose| pose.local[1].translation.x = f64::INFINITY,
        |pose| pose.model[1].translation.x = f64::NAN,
        |pose| pose.skins[0][1].matrix3.x_axis.x = f64::NAN,
        |pose| pose.weights[0] = f64::NAN,
        |pose| pose.properties[0] = f64::NAN,
        |pose| pose.local.clear(),
        |pose| pose.skins.clear(),
        |pose| pose.root_motion = None,
        |pose| pose.root_motion.as_mut().unwrap().translation.y = f64::NAN,
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let report = scene.report(change);
        let infinite = |(_, worst): &(_, Option<Worst>)| worst.is_some_and(|worst| worst.error == f64::INFINITY);
        assert!(!report.is_within() && report.quantities().iter().any(infinite), "change {index}: {report:?}");
    }
    let nothing = compare(&scene.library, &scene.crowd, Ticks(0), &scene.poses, &Poses::default());
    assert!(!nothing.is_within());
}

#[test]
fn merging_keeps_the_worse() {
    let scene = Scene::new(80.0);
    let mut report = scene.report(|pose| pose.weights[0] += 1e-7);
    let other = scene.report(|pose| pose.weights[0] += 5e-7);
    report.merge(&other);
    assert_eq!(report.weight, other.weight);
    report.merge(&Report::default());
    assert_eq!(report.weight, other.weight);
}

#[test]
fn a_chain_of_joints_is_compared_in_linear_time() {
    // In quadratic time, this would take minutes.
    let rest = Transform { translation: DVec3::Y * 1e-3, ..Transform::IDENTITY };
    let joint = |index: usize| Joint { parent: index.checked_sub(1), rest, ..Joint::default() };
    let mut library = Library::new();
    let skeleton = Skeleton::new(None, (0..100_000).map(joint).collect(), Vec::new()).unwrap();
    let skeleton = library.add_skeleton(skeleton);
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[]).unwrap();
    let poses = Reference::new(&library).evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap();
    let start = std::time::Instant::now();
    assert!(compare(&library, &crowd, Ticks(0), &poses, &poses).is_within());
    assert!(start.elapsed().as_secs() < 10);
}

/// The report for a change of the skin matrix of a scene's tip, in a format.
fn change_tip(format: SkinFormat, change: impl Fn(DAffine3) -> DAffine3) -> Report {
    let scene = Scene::new(80.0);
    let mut actual = scene.poses.clone();
    let matrix = &mut actual.instances[0].skins[0][1];
    *matrix = change(*matrix);
    compare_as(format, &scene.library, &scene.crowd, Ticks(0), &scene.poses, &actual)
}

#[test]
fn halves_may_be_off_by_half_a_step_of_each_number() {
    // All numbers are larger by a share of 2^-11, so that the errors add up at the vertices, which lie along x.
    let grown = |share: f64| {
        move |matrix: DAffine3| {
            let larger = |number: f64| number + share / 2048.0 * number.abs();
            DAffine3::from_cols_array(&matrix.to_cols_array().map(larger))
        }
    };
    assert!(change_tip(SkinFormat::HalfMatrix, grown(0.9)).is_within());
    assert!(!change_tip(SkinFormat::HalfMatrix, grown(1.1)).is_within());
    assert!(!change_tip(SkinFormat::Matrix, grown(0.9)).is_within());
    assert!(!change_tip(SkinFormat::DualQuaternion, grown(0.9)).is_within());
}

#[test]
fn dual_quaternions_may_be_turned_by_a_step_of_their_numbers() {
    // The vertices lie across the axis z.
    let turned = |share: f64| {
        move |matrix: DAffine3| DAffine3 {
            matrix3: DMat3::from_rotation_z(share * 2.0 / 32767.0) * matrix.matrix3,
            ..matrix
        }
    };
    assert!(change_tip(SkinFormat::DualQuaternion, turned(0.9)).is_within());
    // The bound of the f32 matrix, a tenth of that, is added.
    assert!(!change_tip(SkinFormat::DualQuaternion, turned(1.2)).is_within());
    assert!(!change_tip(SkinFormat::Matrix, turned(0.9)).is_within());
    // The translation is an f32, so that the format does not widen its bound.
    let moved = |matrix: DAffine3| DAffine3 { translation: matrix.translation + 5e-4 * DVec3::X, ..matrix };
    assert!(!change_tip(SkinFormat::DualQuaternion, moved).is_within());
    assert!(change_tip(SkinFormat::HalfMatrix, moved).is_within());
}

/// The bound of a morph weight that goes from 0 to 1 between two times, at a time.
fn bound_of_weight(times: [f64; 2], time: f64, interpolation: Interpolation) -> f64 {
    let mut library = Library::new();
    let joint = Joint { weights: vec![0.0], ..Joint::default() };
    let skeleton = library.add_skeleton(Skeleton::new(None, vec![joint], Vec::new()).unwrap());
    let curve = Curve::new(Arc::new(Timeline::new(times.to_vec()).unwrap()), interpolation, 1, vec![0.0, 1.0]).unwrap();
    let clip = library.add_clip(Clip::new(None, skeleton, vec![Track::new(Target::Weights(0), curve)])).unwrap();
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[Layer::new(clip, LayerTime::At(time))]).unwrap();
    let poses = Reference::new(&library).evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap();
    compare(&library, &crowd, Ticks(0), &poses, &poses).weight.unwrap().allowed
}

#[test]
fn keys_that_are_as_close_as_times_are_rounded_widen_the_bounds() {
    let near = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-3, "{found} is not {expected}");
    let (linear, step) = (Interpolation::Linear, Interpolation::Step);
    near(bound_of_weight([0.0, 1.0], 0.3, linear), 2e-6);
    // A time of one second is rounded by 2^-48, here 2^-8 of the interval.
    let gap = 2.0_f64.powi(-40);
    near(bound_of_weight([1.0, 1.0 + gap], 1.0 + 0.5 * gap, linear), 2e-6 + 2.0_f64.powi(-8));
    near(bound_of_weight([1.0, 1.0 + gap], 1.0 + 0.5 * gap, step), 2e-6);
    // The time may be rounded to the next key.
    near(bound_of_weight([1.0, 1.0 + gap], 1.0 + (1.0 - 2.0_f64.powi(-10)) * gap, step), 1.0);
    // A GPU may take both keys for 0.
    near(bound_of_weight([9e-41, 2.8e-40], 2e-40, linear), 1.1e-40 / 1.9e-40);
}
