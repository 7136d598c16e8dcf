//! Root motion of whole crowds: in the buffers of a batch, over many loops, and from files.

use glam::{DAffine3, DQuat};
use posse::root_motion::{RootMotion, RootRotation};
use posse::{Crowd, Evaluator, Library, Outputs, Playback, Pose, Reference, Step, Ticks, WrapMode, contract};

use super::{YAW, curving, layer, playing, step};
use crate::support::assert_close::{assert_close, assert_rotation, assert_vector};
use crate::support::each_engine::each_engine;
use crate::support::gpu_library::gpu_engine;
use crate::support::skip::collected_or_skip;

#[test]
fn a_buffer_holds_the_root_motion_of_a_batch() {
    let (library, clip) = curving();
    let mut crowd = Crowd::new();
    for instance in 0..150 {
        let playback = Playback::looping(f64::from(instance) / 8.0, 1.0);
        crowd.push(library.clip(clip).skeleton, &[layer(clip, playback)]).unwrap();
    }
    let mut engine = gpu_engine(&library).unwrap();
    let outputs = Outputs { root_motion: true, ..Outputs::NONE };
    let with_motion = posse::gpu::GpuCrowd::new(engine.library(), &crowd, outputs).unwrap();
    assert_eq!(with_motion.batches()[0].root_motion().unwrap().size(), 150 * 32);
    let without_motion = posse::gpu::GpuCrowd::new(engine.library(), &crowd, Outputs::SKIN).unwrap();
    assert!(without_motion.batches()[0].root_motion().is_none());
    // The last instance is beyond the first two workgroups. It begins at 0.375 of the way and ends at (1, 0, 0.625).
    let poses = posse::Evaluator::evaluate_step(&mut engine, &crowd, step(0.0, 2.0), outputs).unwrap();
    let last = poses.instances[149].root_motion.unwrap();
    assert_close(&[last.rotation.w], &[0.0], "two quarter turns");
    assert_close(&[last.translation.length()], &[1.0625_f64.sqrt()], "one to the side, a quarter ahead");
}

#[test]
fn large_crowds_of_turning_loops_are_within_the_contract() {
    let (library, clip) = curving();
    let mut crowd = Crowd::new();
    let mut numbers = crate::support::scenes::Numbers::new(19);
    for _ in 0..500 {
        let wrap = WrapMode::ALL[numbers.below(WrapMode::ALL.len())];
        let start = Ticks(numbers.ticks_below(1 << 24) - (1 << 23));
        let mut playback = Playback::new(wrap, start, numbers.within(-3.0, 3.0));
        if numbers.below(3) == 0 {
            playback.repeat_count = Some(numbers.within(0.0, 9.0));
        }
        if numbers.below(3) == 0 {
            playback.range = Some([numbers.within(0.0, 0.4), numbers.within(0.6, 1.0)]);
        }
        crowd.push(library.clip(clip).skeleton, &[layer(clip, playback)]).unwrap();
    }
    let outputs = Outputs { root_motion: true, ..Outputs::NONE };
    for span in [0.01, 3.0, -7.0, 1000.0, 123_456.0] {
        let step = step(0.3, 0.3 + span);
        let mut expected = None;
        each_engine(&library, |engine| {
            let poses = engine.evaluate_step(&crowd, step, outputs).unwrap();
            let expected = expected.get_or_insert_with(|| poses.clone());
            let report = contract::compare(&library, &crowd, step, expected, &poses);
            assert!(report.motion.is_some() && report.is_within(), "{}, {span} s: {report:?}", engine.engine());
            // An error of a millimetre in a step of seconds is outside the contract.
            let mut wrong = poses.clone();
            wrong.instances[7].root_motion.as_mut().unwrap().translation.x += 1e-3;
            let report = contract::compare(&library, &crowd, step, expected, &wrong);
            assert!(span.abs() > 10.0 || !report.is_within(), "{span} s: {report:?}");
        });
    }
}

#[test]
fn root_motion_moves_a_fox_as_its_file_does() {
    let Some(file) = collected_or_skip("gltf/Fox/Fox.glb", "root motion of a collected file") else { return };
    let mut whole = Library::new();
    let asset = posse::import::gltf::load(&mut whole, &file).unwrap();
    let skeleton = whole.skeleton(asset.skeleton);
    // The joint that the clips move. Its parent is rotated, so that +Z is up.
    let joint = skeleton.find_joint("b_Hip_01").unwrap();
    let ground = RootMotion::on_ground(skeleton, joint).unwrap();
    assert_eq!((ground.translation, ground.rotation), ([true, true, false], RootRotation::Yaw));
    assert!(whole.clips().iter().all(|clip| ground.is_moved_by(&clip.tracks)));
    let above = RootMotion { joint: skeleton.joints()[joint].parent.unwrap(), ..ground };
    assert!(!whole.clips().iter().any(|clip| above.is_moved_by(&clip.tracks)));
    let outputs = Outputs { local: true, root_motion: true, ..Outputs::NONE };
    for root in [
        ground,
        RootMotion { joint, ..YAW },
        RootMotion { joint, translation: [true; 3], rotation: RootRotation::Full },
    ] {
        let mut parted = whole.clone();
        for clip in whole.clip_ids() {
            parted.set_root_motion(clip, Some(root)).unwrap();
        }
        // Both times are within one loop, so the poses of the file at these times give the whole motion.
        let mut crowd = Crowd::new();
        for clip in whole.clip_ids() {
            crowd.push(asset.skeleton, &[layer(clip, playing(WrapMode::Loop, 1.0))]).unwrap();
        }
        let evaluate = |library: &Library, step: Step| {
            let mut answers = Vec::new();
            each_engine(library, |engine| answers.push(engine.evaluate_step(&crowd, step, outputs).unwrap().instances));
            answers
        };
        let (from, to) = (0.1, 0.6);
        let [before, after] = [from, to].map(|time| evaluate(&whole, step(time, time)));
        let [left_before, left_after] = [step(from, from), step(from, to)].map(|step| evaluate(&parted, step));
        for engine in 0..before.len() {
            for clip in 0..crowd.len() {
                let local = |poses: &[Vec<Pose>]| poses[engine][clip].local[joint].to_affine();
                let find_removed = |all: &[Vec<Pose>], left: &[Vec<Pose>]| local(all) * local(left).inverse();
                let way = find_removed(&before, &left_before).inverse() * find_removed(&after, &left_after);
                let motion = left_after[engine][clip].root_motion.unwrap();
                let found = DAffine3::from_rotation_translation(motion.rotation, motion.translation);
                // The expected motion comes from single-precision poses about 30 units from their parent.
                assert!(found.abs_diff_eq(way, 5e-5), "engine {engine}, clip {clip}: {found}, {way}");
                if root.rotation == RootRotation::Full {
                    let left = left_after[engine][clip].local[joint];
                    assert_vector(left.translation, [0.0; 3], "all is taken out");
                    assert_rotation(left.rotation, DQuat::IDENTITY, "all is taken out");
                }
            }
        }
    }
}

#[test]
fn files_made_with_z_up_keep_their_height() {
    for (file, joint) in [("Fox", "b_Hip_01"), ("CesiumMan", "Skeleton_torso_joint_1")] {
        let path = collected_or_skip(&format!("gltf/{file}/{file}.glb"), "root motion over the ground of a file");
        let Some(path) = path else { continue };
        let mut whole = Library::new();
        let asset = posse::import::gltf::load(&mut whole, &path).unwrap();
        let skeleton = whole.skeleton(asset.skeleton);
        let joint = skeleton.find_joint(joint).unwrap();
        let ground = RootMotion::on_ground(skeleton, joint).unwrap();
        assert_eq!(ground.translation, [true, true, false], "{file}");
        let space = ground.space(skeleton);
        let mut parted = whole.clone();
        for clip in whole.clip_ids() {
            parted.set_root_motion(clip, Some(ground)).unwrap();
        }
        let mut crowd = Crowd::new();
        for clip in whole.clip_ids() {
            crowd.push(asset.skeleton, &[layer(clip, playing(WrapMode::Loop, 1.0))]).unwrap();
        }
        let evaluate =
            |library: &Library| Reference::new(library).evaluate_step(&crowd, step(0.1, 0.4), Outputs::ALL).unwrap();
        for (all, left) in evaluate(&whole).instances.iter().zip(&evaluate(&parted).instances) {
            // Rounding in the file leaves a slope of a few millionths of the distance of the joint from its parent.
            let near = 1e-5 * all.local[joint].translation.length();
            assert!((all.model[joint].translation.y - left.model[joint].translation.y).abs() < near, "{file}");
            let moved = left.root_motion.unwrap().in_space(&space);
            assert!(moved.translation.y.abs() < near, "{file}: {moved:?}");
        }
    }
}
