use posse::bake::{ArrayKind, ArrayRequest, FrameGrid, Moment};
use posse::cpu::CpuEngine;
use posse::glam::{DAffine3, DMat3, DQuat, DVec3};
use posse::{
    ClipId, Crowd, Evaluator, Layer, LayerTime, Library, Outputs, Pose, Poses, Reference, Skeleton, Ticks, Transform,
    contract, demo,
};
use proptest::test_runner::TestRunner;

use super::{fill, layout};
use crate::support::cases::cases;
use crate::support::scenes::scenes;

/// The poses of the reference, and their crowd.
fn reference(library: &Library, clip: ClipId, times: &[f64]) -> (Crowd, Poses) {
    let mut crowd = Crowd::new();
    for &time in times {
        crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(time))]).unwrap();
    }
    let outputs = Outputs { root_motion: false, ..Outputs::ALL };
    let poses = Reference::new(library).evaluate(&crowd, Ticks(0), outputs).unwrap();
    (crowd, poses)
}

/// The rotations in model space that local rotations give.
fn model_rotations(skeleton: &Skeleton, local: impl Fn(usize) -> DQuat) -> Vec<DQuat> {
    let mut rotations: Vec<DQuat> = Vec::new();
    for (index, joint) in skeleton.joints().iter().enumerate() {
        rotations.push(joint.parent.map_or(local(index), |parent| rotations[parent] * local(index)));
    }
    rotations
}

/// Chunks of N numbers in f64.
fn numbers<const N: usize>(array: &[f32]) -> impl Iterator<Item = [f64; N]> {
    array.as_chunks::<N>().0.iter().map(|numbers| numbers.map(f64::from))
}

/// A matrix by four rows.
fn matrix(rows: [f64; 16]) -> DAffine3 {
    assert_eq!(rows[12..], [0.0, 0.0, 0.0, 1.0]);
    let column = |column: usize| DVec3::new(rows[column], rows[4 + column], rows[8 + column]);
    DAffine3 { matrix3: DMat3::from_cols(column(0), column(1), column(2)), translation: column(3) }
}

/// Compares all arrays of a clip with the reference.
fn check(library: &Library, clip: ClipId, times: &[f64]) {
    let skeleton_id = library.clip(clip).skeleton;
    let skeleton = library.skeleton(skeleton_id);
    let joints: Vec<usize> = (0..skeleton.joints().len()).collect();
    let kinds = ArrayKind::ALL.into_iter().filter(|kind| !kind.is_velocity()).collect();
    let layout = layout(library, skeleton_id, &ArrayRequest { kinds, ..ArrayRequest::of_joints(&joints) });
    let moments: Vec<Moment> = times.iter().map(|&time| Moment::at(clip, time)).collect();
    let engine = CpuEngine::with_threads(library, 1).unwrap();
    let arrays = fill(&layout, times.len(), |out| layout.sample(&engine, &moments, out).unwrap());
    let of = |name: &str, moment: usize| -> &[f32] {
        let index = layout.arrays().iter().position(|array| array.name == name).unwrap();
        let width = layout.arrays()[index].width();
        &arrays[index][moment * width..][..width]
    };
    let skins: Vec<&str> =
        layout.arrays().iter().filter(|array| array.kind == ArrayKind::Skin).map(|array| array.name.as_str()).collect();

    let (crowd, expected) = reference(library, clip, times);
    let pose = |(moment, expected): (usize, &Pose)| {
        let local_pos = numbers::<3>(of("local_pos", moment));
        let local_quat = numbers::<4>(of("local_quat", moment));
        let parts = local_pos.zip(local_quat).zip(numbers::<3>(of("local_scale", moment)));
        let local: Vec<Transform> = parts
            .map(|((translation, rotation), scale)| Transform {
                translation: translation.into(),
                rotation: DQuat::from_array(rotation),
                scale: scale.into(),
            })
            .collect();
        let rotations = model_rotations(skeleton, |joint| local[joint].rotation);
        for (found, expected) in numbers::<4>(of("quat", moment)).zip(&rotations) {
            assert!(DQuat::from_array(found).abs_diff_eq(expected.normalize(), 2e-7), "{found:?}, {expected}");
        }
        let root = [&of("pos", moment)[..3], &of("quat", moment)[..4]].concat();
        assert_eq!(of("root", moment), root);
        // The arrays hold no axes: the axes of the reference stand in for them.
        let positions = numbers::<3>(of("pos", moment)).zip(&expected.model);
        let model = positions.map(|(found, expected)| DAffine3 { translation: found.into(), ..*expected }).collect();
        let matrices = |name: &&str| numbers::<16>(of(name, moment)).map(matrix).collect();
        let wide = |name: &str| of(name, moment).iter().copied().map(f64::from).collect();
        let (weights, properties) = (wide("weights"), wide("properties"));
        Pose { local, model, skins: skins.iter().map(matrices).collect(), weights, properties, root_motion: None }
    };
    let actual = Poses { instances: expected.instances.iter().enumerate().map(pose).collect() };
    let report = contract::compare(library, &crowd, Ticks(0), &expected, &actual);
    assert!(report.is_within(), "{:?}", report.quantities());
    assert!(report.rotation.is_some() && report.position.is_some());
}

#[test]
fn arrays_of_random_scenes_are_within_the_contract() {
    let mut runner = TestRunner::new(cases(400, 2614));
    let found = runner.run(&scenes(200, 40), |spec| {
        let library = spec.scene().library;
        for clip in library.clip_ids() {
            let end = library.clip(clip).duration();
            check(&library, clip, &[-0.5, 0.0, 0.1 * end, 0.37 * end, 0.5 * end, end, end + 0.5]);
        }
        Ok(())
    });
    found.unwrap_or_else(|error| panic!("{error}\n{runner}"));
}

#[test]
fn arrays_of_the_demo_are_within_the_contract() {
    let library = demo::library().unwrap();
    for clip in library.clip_ids() {
        let grid = FrameGrid::new(17.0, library.clip(clip).duration()).unwrap();
        let times: Vec<f64> = (0..grid.len()).map(|frame| grid.time(frame)).collect();
        check(&library, clip, &times);
    }
}

#[test]
fn velocities_are_the_differences_of_the_reference() {
    let library = demo::library().unwrap();
    let skeleton = &library.skeletons()[0];
    let joints: Vec<usize> = (0..skeleton.joints().len()).collect();
    let kinds = vec![ArrayKind::Linvel, ArrayKind::Angvel];
    let request = ArrayRequest { kinds, ..ArrayRequest::of_joints(&joints) };
    let layout = layout(&library, library.skeleton_ids().next().unwrap(), &request);
    let engine = CpuEngine::new(&library).unwrap();
    for clip in library.clip_ids() {
        let end = library.clip(clip).duration();
        let moments: Vec<Moment> =
            (0..50).map(|part| Moment::new(clip, end * f64::from(part) / 49.0, 1.0 / 60.0, end)).collect();
        let fast = fill(&layout, moments.len(), |out| layout.sample(&engine, &moments, out).unwrap());
        let mut exact = Reference::new(&library);
        let slow = fill(&layout, moments.len(), |out| layout.sample_with(&mut exact, &moments, out).unwrap());
        for (index, moment) in moments.iter().enumerate() {
            let times = [moment.before, moment.time, moment.after];
            let (_, poses) = reference(&library, clip, &times);
            let [before, at, after] = [0, 1, 2].map(|pose| {
                let pose = &poses.instances[pose];
                (pose, model_rotations(skeleton, |joint| pose.local[joint].rotation))
            });
            let length = moment.after - moment.before;
            for &joint in &joints {
                let moved = after.0.model[joint].translation - before.0.model[joint].translation;
                let half = |from: DQuat, to: DQuat| {
                    let rotation = to * from.conjugate();
                    let rotation = if rotation.w < 0.0 { -rotation } else { rotation };
                    rotation.to_scaled_axis()
                };
                let halves = half(before.1[joint], at.1[joint]) + half(at.1[joint], after.1[joint]);
                for arrays in [&fast, &slow] {
                    let at = 3 * (index * joints.len() + joint);
                    let vector = |array: usize| DVec3::from_array(numbers::<3>(&arrays[array][at..]).next().unwrap());
                    // A position is off by up to 2e-6 m per level, a rotation by 2e-6 rad: twice, over 1/60 s at the
                    // ends.
                    let linear = (vector(0) - moved / length).length();
                    let angular = (vector(1) - halves / length).length();
                    assert!(linear < 1e-3 && angular < 1e-3, "{moment:?}, joint {joint}: {linear}, {angular}");
                }
            }
        }
    }
}

#[test]
fn any_engine_gives_the_same_arrays_but_for_rounding() {
    let library = demo::library().unwrap();
    let joints: Vec<usize> = (0..64).rev().collect();
    let request = ArrayRequest { kinds: ArrayKind::ALL.to_vec(), ..ArrayRequest::of_joints(&joints) };
    let layout = layout(&library, library.skeleton_ids().next().unwrap(), &request);
    let clip = library.find_clip("jump").unwrap();
    let grid = FrameGrid::new(30.0, library.clip(clip).duration()).unwrap();
    let moments: Vec<Moment> = (0..grid.len()).map(|frame| grid.moment(clip, frame)).collect();
    let mut engine = CpuEngine::new(&library).unwrap();
    let fast = fill(&layout, moments.len(), |out| layout.sample(&engine, &moments, out).unwrap());
    let packed = fill(&layout, moments.len(), |out| layout.sample_with(&mut engine, &moments, out).unwrap());
    let mut exact = Reference::new(&library);
    let exact = fill(&layout, moments.len(), |out| layout.sample_with(&mut exact, &moments, out).unwrap());
    for other in [packed, exact] {
        for (array, (fast, other)) in layout.arrays().iter().zip(fast.iter().zip(&other)) {
            let largest = fast.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
            let allowed = if array.kind.is_velocity() { 5e-4 } else { 1e-5 };
            assert!(largest <= allowed, "{}: {largest}", array.name);
        }
    }
}
