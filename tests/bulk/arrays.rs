//! Arrays of clips at many times, compared with hand-worked cases and with the reference.

use std::f64::consts::FRAC_1_SQRT_2;
use std::sync::Arc;

use posse::bake::{ArrayKind, ArrayLayout, ArrayRequest, FrameGrid, Moment, QuaternionOrder, UpAxis};
use posse::glam::{DQuat, DVec3};
use posse::{
    Clip, ClipId, CpuEngine, Curve, Interpolation, Joint, Library, Skeleton, SkeletonId, Target, Timeline, Track,
    Transform,
};

/// An arm in the plane of x and y: the upper arm turns about z at half a turn per second, one metre above the ground. The hand is
/// two metres along x from it, and turns back as fast.
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
        let key = |key: i32| DQuat::from_rotation_z(sign * std::f64::consts::PI * f64::from(key) / 8.0).to_array();
        let values = (0..=8).flat_map(key).collect::<Vec<f64>>();
        Curve::new(times.clone(), Interpolation::Linear, 4, values).unwrap()
    };
    let tracks = vec![Track::new(Target::Rotation(0), turn(1.0)), Track::new(Target::Rotation(1), turn(-1.0))];
    let clip = library.add_clip(Clip::new(Some("turn".into()), skeleton, tracks)).unwrap();
    (library, skeleton, clip)
}

/// The arrays of a request.
fn sample(library: &Library, skeleton: SkeletonId, request: &ArrayRequest, moments: &[Moment]) -> Vec<Vec<f32>> {
    let nodes: Vec<usize> = (0..library.skeleton(skeleton).joints().len()).collect();
    let layout = ArrayLayout::new(library, skeleton, &nodes, request).unwrap();
    let mut arrays: Vec<Vec<f32>> =
        layout.arrays().iter().map(|array| vec![f32::NAN; moments.len() * array.width()]).collect();
    let mut slices: Vec<&mut [f32]> = arrays.iter_mut().map(Vec::as_mut_slice).collect();
    layout.sample(&CpuEngine::with_threads(library, 2).unwrap(), moments, &mut slices).unwrap();
    arrays
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
    let [c, pi] = [2.0 * FRAC_1_SQRT_2, std::f64::consts::PI];
    // At a quarter second, the hand is 45 degrees up; at half a second, straight above; at first, to the side.
    let pos = [[0.0, 1.0, 0.0], [c, 1.0 + c, 0.0], [0.0, 1.0, 0.0], [0.0, 3.0, 0.0], [0.0, 1.0, 0.0], [2.0, 1.0, 0.0]];
    assert_near(&arrays[0], pos.as_flattened(), 1e-6);
    // The turns of upper arm and hand cancel out.
    let turned = |angle: f64| [0.0, 0.0, (angle / 2.0).sin(), (angle / 2.0).cos()];
    let still = turned(0.0);
    let quat = [turned(pi / 4.0), still, turned(pi / 2.0), still, still, still];
    assert_near(&arrays[1], quat.as_flattened(), 1e-6);
    // The speed of a chord is 2 m x sin(a) / (a / pi), with `a` the angle of one step. The one-sided first one leans by a / 2.
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
    let (pi, r) = (std::f64::consts::PI, FRAC_1_SQRT_2);
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
fn the_frames_of_a_clip_lose_nothing_to_key_times_in_f32() {
    // The rule is compared with 6,450 keys at 30 Hz, each rounded to an f32.
    for (keys, rate) in [(6450_u64, 30.0), (91, 30.0), (20_000, 120.0), (2, 24.0), (1_000_001, 60.0)] {
        let last = f64::from(((keys - 1) as f64 / rate) as f32);
        let grid = FrameGrid::new(rate, last).unwrap();
        assert_eq!(grid.len(), keys, "{rate} Hz");
        assert_eq!(grid.time(keys - 1), last.min((keys - 1) as f64 / rate));
        assert_eq!(grid.time(1), 1.0 / rate);
    }
}
