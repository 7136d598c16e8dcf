//! Arrays of clips at many times, compared with hand-worked cases and with the reference.

/// Errors: requests, moments and engines that do not fit.
mod errors;
/// Frame grids and native frame rates.
mod frames;
/// The same bits, however the moments are divided.
mod independence;
/// Random scenes and the demo library, compared with the reference.
mod reference;

use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::sync::Arc;

use posse::bake::{ArrayKind, ArrayLayout, ArrayRequest, Moment, QuaternionOrder, UpAxis};
use posse::cpu::CpuEngine;
use posse::curves::{Curve, Interpolation, Target, Timeline, Track};
use posse::glam::{DAffine3, DQuat, DVec3};
use posse::{
    Clip, ClipId, Evaluator, Joint, Library, Outputs, Pose, Reference, Skeleton, SkeletonId, Skin, Ticks, Transform,
    demo,
};

/// An arm in the plane of x and y: the upper arm turns about z at half a turn per second, one metre above the ground.
/// The hand is two metres along x from it, and turns back as fast.
fn arm() -> (Library, SkeletonId, ClipId) {
    let joint = |name: &str, parent, translation| {
        let rest = Transform { translation, ..Transform::IDENTITY };
        Joint { name: Some(name.into()), parent, rest, ..Joint::default() }
    };
    let joints = vec![joint("upper", None, DVec3::Y), joint("hand", Some(0), DVec3::new(2.0, 0.0, 0.0))];
    let mut library = Library::new();
    let skeleton = library.add_skeleton(Skeleton::new(Some("arm".into()), joints, vec![]).unwrap());
    let times = Arc::new(Timeline::new((0..=8).map(|key| f64::from(key) / 8.0).collect()).unwrap());
    let turn = |sign: f64| {
        let key = |key: i32| DQuat::from_rotation_z(sign * PI * f64::from(key) / 8.0).to_array();
        let values = (0..=8).flat_map(key).collect::<Vec<f64>>();
        Curve::new(times.clone(), Interpolation::Linear, 4, values).unwrap()
    };
    let tracks = vec![Track::new(Target::Rotation(0), turn(1.0)), Track::new(Target::Rotation(1), turn(-1.0))];
    let clip = library.add_clip(Clip::new(Some("turn".into()), skeleton, tracks)).unwrap();
    (library, skeleton, clip)
}

/// The layout of a request, with all joints of the skeleton as nodes.
fn layout(library: &Library, skeleton: SkeletonId, request: &ArrayRequest) -> ArrayLayout {
    let nodes: Vec<usize> = (0..library.skeleton(skeleton).joints().len()).collect();
    ArrayLayout::new(library, skeleton, &nodes, request).unwrap()
}

/// The arrays of a layout, filled by a function. A number that it does not write stays NaN.
fn fill(layout: &ArrayLayout, moments: usize, fill: impl FnOnce(&mut [&mut [f32]])) -> Vec<Vec<f32>> {
    let array = |array: &posse::bake::ArrayShape| vec![f32::NAN; moments * array.width()];
    let mut arrays: Vec<Vec<f32>> = layout.arrays().iter().map(array).collect();
    let mut slices: Vec<&mut [f32]> = arrays.iter_mut().map(Vec::as_mut_slice).collect();
    fill(&mut slices);
    arrays
}

/// The arrays of a request, from the CPU engine.
fn sample(library: &Library, skeleton: SkeletonId, request: &ArrayRequest, moments: &[Moment]) -> Vec<Vec<f32>> {
    let engine = CpuEngine::with_threads(library, 2).unwrap();
    let layout = layout(library, skeleton, request);
    fill(&layout, moments.len(), |out| layout.sample(&engine, moments, out).unwrap())
}

#[track_caller]
fn assert_near(found: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    let is_near = |(found, expected): (&f32, &f64)| (f64::from(*found) - expected).abs() <= tolerance;
    assert!(found.iter().zip(expected).all(is_near), "{found:?}, expected {expected:?}");
}

#[test]
fn an_arm_that_turns_has_the_velocities_of_a_circle() {
    let (library, skeleton, clip) = arm();
    let kinds = vec![ArrayKind::Pos, ArrayKind::Quat, ArrayKind::Linvel, ArrayKind::Angvel, ArrayKind::Root];
    let request = ArrayRequest { kinds, ..ArrayRequest::of_joints(&[0, 1]) };
    let step = 1e-2;
    let moments = [0.25, 0.5, 0.0].map(|time| Moment::new(clip, time, step, 1.0));
    let arrays = sample(&library, skeleton, &request, &moments);
    let (c, pi) = (2.0 * FRAC_1_SQRT_2, PI);
    // At a quarter second, the hand is 45 degrees up; at half a second, straight above; at first, to the side.
    let pos = [[0.0, 1.0, 0.0], [c, 1.0 + c, 0.0], [0.0, 1.0, 0.0], [0.0, 3.0, 0.0], [0.0, 1.0, 0.0], [2.0, 1.0, 0.0]];
    assert_near(&arrays[0], pos.as_flattened(), 1e-6);
    // The turns of upper arm and hand cancel out.
    let turned = |angle: f64| [0.0, 0.0, (angle / 2.0).sin(), (angle / 2.0).cos()];
    let still = turned(0.0);
    let quat = [turned(pi / 4.0), still, turned(pi / 2.0), still, still, still];
    assert_near(&arrays[1], quat.as_flattened(), 1e-6);
    // The speed of a chord is 2 m x sin(a) / (a / pi), with `a` the angle of one step. The one-sided first one leans by
    // a / 2.
    let angle = pi * step;
    let speed = 2.0 * angle.sin() / step;
    let [x, y] = [2.0 * (angle.cos() - 1.0) / step, 2.0 * angle.sin() / step];
    let still = [0.0; 3];
    let tilted = speed * FRAC_1_SQRT_2;
    let linvel = [still, [-tilted, tilted, 0.0], still, [-speed, 0.0, 0.0], still, [x, y, 0.0]];
    assert_near(&arrays[2], linvel.as_flattened(), 5e-5);
    let turning = [0.0, 0.0, pi];
    let angvel = [turning, still, turning, still, turning, still];
    assert_near(&arrays[3], angvel.as_flattened(), 5e-5);
    assert_near(&arrays[4][..7], &[&pos[0][..], &turned(pi / 4.0)].concat(), 1e-6);
}

#[test]
fn up_z_and_scale_turn_and_scale_model_space() {
    let (library, skeleton, clip) = arm();
    use ArrayKind::*;
    let kinds = vec![Pos, Quat, Linvel, Angvel, LocalPos, LocalQuat, LocalScale];
    let quaternions = QuaternionOrder::Wxyz;
    let request = ArrayRequest { kinds, up: UpAxis::Z, scale: 100.0, quaternions, ..ArrayRequest::of_joints(&[1, 0]) };
    let moment = Moment::new(clip, 0.5, 1e-2, 1.0);
    let arrays = sample(&library, skeleton, &request, &[moment]);
    let (pi, r) = (PI, FRAC_1_SQRT_2);
    // Centimetres, z up: the hand is straight above the upper arm.
    assert_near(&arrays[0], &[0.0, 0.0, 300.0, 0.0, 0.0, 100.0], 1e-4);
    // The hand is turned by 90 degrees about x only; the upper arm by 90 degrees about z first.
    assert_near(&arrays[1], &[r, r, 0.0, 0.0, 0.5, 0.5, -0.5, 0.5], 1e-6);
    assert_near(&arrays[2], &[-100.0 * 2.0 * (pi * 1e-2).sin() / 1e-2, 0.0, 0.0, 0.0, 0.0, 0.0], 5e-3);
    // The model's z is the negative y of the results.
    assert_near(&arrays[3], &[0.0, 0.0, 0.0, 0.0, -pi, 0.0], 5e-5);
    // The hand is no root: it is scaled, not turned.
    assert_near(&arrays[4], &[200.0, 0.0, 0.0, 0.0, 0.0, 100.0], 1e-4);
    assert_near(&arrays[5], &[r, 0.0, 0.0, -r, 0.5, 0.5, -0.5, 0.5], 1e-6);
    assert_near(&arrays[6], &[1.0; 6], 0.0);
}

#[test]
fn six_numbers_of_a_rotation_are_the_directions_of_two_axes() {
    let (library, skeleton, clip) = arm();
    let kinds = vec![ArrayKind::Rot6d, ArrayKind::LocalRot6d];
    let request = ArrayRequest { kinds, quaternions: QuaternionOrder::Wxyz, ..ArrayRequest::of_joints(&[0, 1]) };
    let moment = Moment::at(clip, 0.25);
    let r = FRAC_1_SQRT_2;
    // The upper arm is turned by 45 degrees about z, the hand back by as much.
    let arrays = sample(&library, skeleton, &request, &[moment]);
    let (upper, back) = ([r, r, 0.0, -r, r, 0.0], [r, -r, 0.0, r, r, 0.0]);
    assert_near(&arrays[0], &[upper, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]].concat(), 1e-6);
    assert_near(&arrays[1], &[upper, back].concat(), 1e-6);
    // With z up, the axes of roots and of model space are turned: (x, y, z) becomes (x, -z, y).
    let arrays = sample(&library, skeleton, &ArrayRequest { up: UpAxis::Z, ..request }, &[moment]);
    let upper = [r, 0.0, r, -r, 0.0, r];
    assert_near(&arrays[0], &[upper, [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]].concat(), 1e-6);
    assert_near(&arrays[1], &[upper, back].concat(), 1e-6);
}

#[test]
fn root_motion_is_the_place_and_the_heading_on_the_ground() {
    // At rest, the hips lie on their back.
    let at_rest = DQuat::from_rotation_x(PI / 2.0);
    let rest = Transform { translation: DVec3::Y, rotation: at_rest, ..Transform::IDENTITY };
    let mut library = Library::new();
    let hips = Joint { rest, ..Joint::default() };
    let skeleton = library.add_skeleton(Skeleton::new(None, vec![hips], vec![]).unwrap());
    let curve = |width, values: &[f64]| {
        let times = Arc::new(Timeline::new(vec![0.0]).unwrap());
        Curve::new(times, Interpolation::Linear, width, values.to_vec()).unwrap()
    };
    // From there, they lean by 0.3 rad, and then head 60 degrees to the left.
    let turned = DQuat::from_rotation_y(PI / 3.0) * DQuat::from_rotation_x(0.3) * at_rest;
    let tracks = vec![
        Track::new(Target::Translation(0), curve(3, &[3.0, 5.0, 4.0])),
        Track::new(Target::Rotation(0), curve(4, &turned.to_array())),
    ];
    let clip = library.add_clip(Clip::new(None, skeleton, tracks)).unwrap();
    let request = ArrayRequest { kinds: vec![ArrayKind::RootMotion], ..ArrayRequest::of_joints(&[0]) };
    let (sin, cos) = (PI / 6.0).sin_cos();
    let arrays = sample(&library, skeleton, &request, &[Moment::at(clip, 0.0)]);
    assert_near(&arrays[0], &[3.0, 0.0, 4.0, 0.0, sin, 0.0, cos], 1e-6);
    let (up, quaternions) = (UpAxis::Z, QuaternionOrder::Wxyz);
    let request = ArrayRequest { up, quaternions, scale: 2.0, ..request };
    let arrays = sample(&library, skeleton, &request, &[Moment::at(clip, 0.0)]);
    assert_near(&arrays[0], &[6.0, -8.0, 0.0, cos, 0.0, 0.0, sin], 1e-6);
}

#[test]
fn poses_of_an_instance_are_those_of_the_crowd() {
    let library = demo::library().unwrap();
    let crowd = demo::crowd(&library, 3).unwrap();
    let (skeleton, joints) = (crowd.skeleton(2), [5, 0]);
    let layout =
        layout(&library, skeleton, &ArrayRequest { kinds: vec![ArrayKind::Pos], ..ArrayRequest::of_joints(&joints) });
    let clip = library.clip_ids().next().unwrap();
    let times = [0.25, 1.5, -3.0];
    let moments = times.map(|time| Moment::at(clip, time));
    let engine = CpuEngine::with_threads(&library, 1).unwrap();
    let mut pose = |time: f64| engine.query(&crowd, 2, Ticks::from_seconds(time), layout.outputs());
    let arrays = fill(&layout, 3, |out| layout.sample_poses(&mut pose, &moments, out).unwrap());
    let mut reference = Reference::new(&library);
    let outputs = Outputs { model: true, ..Outputs::NONE };
    let places = times.map(|time| {
        let poses = reference.evaluate(&crowd, Ticks::from_seconds(time), outputs).unwrap();
        joints.map(|joint| poses.instances[2].model[joint].translation.to_array())
    });
    assert_near(&arrays[0], places.as_flattened().as_flattened(), 1e-5);
    // A pose without the outputs of the layout.
    let mut empty = |_: f64| -> Result<Pose, posse::Error> { Ok(Pose::default()) };
    fill(&layout, 3, |out| {
        let error = layout.sample_poses(&mut empty, &moments, out).unwrap_err().to_string();
        assert!(error.contains("other outputs than the arrays need"), "{error}");
    });
}

#[test]
fn parents_are_the_nearest_joints_that_are_written() {
    // A chain 0-1-2-3 and a branch 4 from 1; joint 5 is a second root.
    let joint = |parent| Joint { parent, ..Joint::default() };
    let joints = [None, Some(0), Some(1), Some(2), Some(1), None].map(joint).to_vec();
    let mut library = Library::new();
    let skeleton = library.add_skeleton(Skeleton::new(None, joints, vec![]).unwrap());
    let parents = |joints: &[usize]| layout(&library, skeleton, &ArrayRequest::of_joints(joints)).parents().to_vec();
    assert_eq!(parents(&[0, 1, 2, 3, 4, 5]), [None, Some(0), Some(1), Some(2), Some(1), None]);
    assert_eq!(parents(&[3, 4, 0, 5]), [Some(2), Some(2), None, None]);
    assert_eq!(parents(&[3, 4, 2]), [Some(2), None, None]);
}

#[test]
fn a_clip_without_length_does_not_move() {
    let (mut library, skeleton, _) = arm();
    let times = Arc::new(Timeline::new(vec![0.0]).unwrap());
    let curve = Curve::new(times, Interpolation::Linear, 3, vec![5.0, 0.0, 0.0]).unwrap();
    let clip = Clip::new(None, skeleton, vec![Track::new(Target::Translation(0), curve)]);
    let clip = library.add_clip(clip).unwrap();
    let kinds = vec![ArrayKind::Pos, ArrayKind::Linvel, ArrayKind::Angvel];
    let request = ArrayRequest { kinds, ..ArrayRequest::of_joints(&[0]) };
    let grid = posse::bake::FrameGrid::new(60.0, 0.0).unwrap();
    let arrays = sample(&library, skeleton, &request, &[grid.moment(clip, 0)]);
    assert_eq!(arrays, [[5.0, 0.0, 0.0], [0.0; 3], [0.0; 3]]);
}

#[test]
fn a_fast_spin_has_the_sum_of_its_halves() {
    let (mut library, skeleton, _) = arm();
    let times = Arc::new(Timeline::new((0..=4).map(|key| f64::from(key) / 10.0).collect()).unwrap());
    // 1000 degrees per second about z: 200 degrees from the moment before to the one after.
    let half = |key: i32| (f64::from(key) * 50.0).to_radians();
    let values = (0..=4).flat_map(|key| [0.0, 0.0, half(key).sin(), half(key).cos()]).collect();
    let curve = Curve::new(times, Interpolation::Linear, 4, values).unwrap();
    let clip = library.add_clip(Clip::new(None, skeleton, vec![Track::new(Target::Rotation(0), curve)])).unwrap();
    let request = ArrayRequest { kinds: vec![ArrayKind::Angvel], ..ArrayRequest::of_joints(&[0]) };
    let moments = [0.1, 0.2, 0.0].map(|time| Moment::new(clip, time, 0.1, 0.4));
    let arrays = sample(&library, skeleton, &request, &moments);
    let spin = [0.0, 0.0, 1000_f64.to_radians()];
    assert_near(&arrays[0], [spin; 3].as_flattened(), 1e-4);
}

#[test]
fn skin_matrices_weights_and_properties_have_their_order_and_space() {
    let skin_of = |skeleton, offset| Skin {
        name: None,
        skeleton,
        joints: vec![1],
        inverse_bind: vec![DAffine3::from_translation(offset)],
    };
    let weighted = |parent, weights: &[f64]| Joint { parent, weights: weights.to_vec(), ..Joint::default() };
    let moved = Transform { translation: DVec3::new(1.0, 2.0, 3.0), ..Transform::IDENTITY };
    let joints =
        vec![weighted(None, &[0.5]), Joint { rest: moved, ..weighted(Some(0), &[]) }, weighted(Some(0), &[0.25, 0.75])];
    let property = posse::rig::Property { name: "colour".into(), rest: vec![0.1, 0.2], rotation: false };
    let mut library = Library::new();
    let skeleton = library.add_skeleton(Skeleton::new(None, joints, vec![property]).unwrap());
    library.add_skin(skin_of(skeleton, DVec3::ZERO)).unwrap();
    library.add_skin(skin_of(skeleton, DVec3::Z)).unwrap();
    let clip = library.add_clip(Clip::new(None, skeleton, vec![])).unwrap();
    let kinds = vec![ArrayKind::Skin, ArrayKind::Properties, ArrayKind::Weights];
    let request = ArrayRequest { kinds, up: UpAxis::Z, scale: 2.0, ..ArrayRequest::of_joints(&[]) };
    // The file has the nodes in the order 2, 0, 1.
    let layout = ArrayLayout::new(&library, skeleton, &[2, 0, 1], &request).unwrap();
    let names: Vec<(&str, &[usize])> =
        layout.arrays().iter().map(|array| (array.name.as_str(), array.shape.as_slice())).collect();
    let expected = [("skin_0", &[1, 4, 4][..]), ("skin_1", &[1, 4, 4]), ("properties", &[2]), ("weights", &[3])];
    assert_eq!(names, expected);
    let engine = CpuEngine::new(&library).unwrap();
    let arrays = fill(&layout, 1, |out| layout.sample(&engine, &[Moment::at(clip, 0.0)], out).unwrap());
    // (1, 2, 3) becomes 2 x (1, -3, 2), and the axes are turned and scaled, too.
    let matrix = |height: f32| [2., 0., 0., 2., 0., 0., -2., height, 0., 2., 0., 4., 0., 0., 0., 1.];
    assert_eq!(arrays[0], matrix(-6.0));
    assert_eq!(arrays[1], matrix(-8.0));
    assert_eq!(arrays[2], [0.1, 0.2]);
    assert_eq!(arrays[3], [0.25, 0.75, 0.5]);
}
