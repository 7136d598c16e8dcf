//! Hand-worked cases on every engine.

use glam::{DAffine3, DMat3, DQuat, DVec3};
use posse::curves::{Interpolation, Target, Track};
use posse::rig::Property;
use posse::{Clip, Crowd, Joint, LayerTime, Library, Outputs, Playback, Skeleton, Skin, Ticks, WrapMode};

use crate::support::assert_close::{assert_close, assert_matrix, assert_rotation, assert_vector};
use crate::support::build::{clip, curve, degrees, joint, library, one_track, pose, pose_at};
use crate::support::each_engine::each_engine;

/// Asserts the translations of a joint at some times.
fn translations(interpolation: Interpolation, times: &[f64], values: &[f64], cases: &[(f64, [f64; 3])]) {
    let (library, clip) = one_track(Target::Translation(0), curve(interpolation, 3, times, values));
    each_engine(&library, |engine| {
        for &(time, expected) in cases {
            let what = format!("{} at {time}", engine.engine());
            assert_vector(pose_at(engine, &library, clip, time).local[0].translation, expected, &what);
        }
    });
}

/// Asserts the rotations of a joint at some times. The keys are one second apart.
fn rotations(interpolation: Interpolation, values: &[f64], cases: &[(f64, DQuat)]) {
    let keys = values.len() / (4 * interpolation.elements_per_key());
    let times: Vec<f64> = (0..keys).map(|key| key as f64).collect();
    let (library, clip) = one_track(Target::Rotation(0), curve(interpolation, 4, &times, values));
    each_engine(&library, |engine| {
        for &(time, expected) in cases {
            let what = format!("{} at {time}", engine.engine());
            assert_rotation(pose_at(engine, &library, clip, time).local[0].rotation, expected, &what);
        }
    });
}

fn keys(rotations: &[DQuat]) -> Vec<f64> {
    rotations.iter().flat_map(|rotation| rotation.to_array()).collect()
}

#[test]
fn the_example_of_the_gltf_tutorial_is_interpolated() {
    let cases = [(1.2, [16.0, 2.0, -0.5])];
    translations(Interpolation::Linear, &[0.8, 1.6], &[14.0, 3.0, -2.0, 18.0, 1.0, 1.0], &cases);
}

#[test]
fn times_outside_the_keys_are_clamped_and_hit_keys_give_their_value() {
    let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
    let (first, middle, last) = ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]);
    let cases = [(-9.0, first), (0.0, first), (0.5, first), (1.5, middle), (4.0, last), (9.0, last), (1e9, last)];
    translations(Interpolation::Linear, &[0.5, 1.5, 4.0], &values, &cases);
    translations(Interpolation::Step, &[0.5, 1.5, 4.0], &values, &cases);
}

#[test]
fn a_step_holds_the_previous_key() {
    let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let cases = [(0.999, [1.0, 2.0, 3.0]), (1.0, [4.0, 5.0, 6.0])];
    translations(Interpolation::Step, &[0.0, 1.0], &values, &cases);
}

#[test]
fn a_single_key_is_a_constant() {
    let cases = [(-1.0, [1.0, 2.0, 3.0]), (0.5, [1.0, 2.0, 3.0]), (2.0, [1.0, 2.0, 3.0])];
    translations(Interpolation::Linear, &[0.5], &[1.0, 2.0, 3.0], &cases);
}

#[test]
fn a_cubic_spline_scales_its_tangents_by_the_key_interval() {
    // Keys 2 s apart; t = 1/4. The basis is 27/32, 9/64, 5/32, -3/64, and the tangents count twice:
    // x: 27/32 * 1 + 5/32 * 3 = 21/16;  y: 2 * 9/64 * 4 = 9/8;  z: 2 * -3/64 * 8 = -3/4.
    let values = [
        [9.0, 9.0, 9.0], // in-tangent of the first key: unused
        [1.0, 0.0, 0.0],
        [0.0, 4.0, 0.0],
        [0.0, 0.0, 8.0],
        [3.0, 0.0, 0.0],
        [9.0, 9.0, 9.0], // out-tangent of the last key: unused
    ];
    let cases = [(1.0, [1.0, 0.0, 0.0]), (1.5, [21.0 / 16.0, 9.0 / 8.0, -0.75]), (3.0, [3.0, 0.0, 0.0])];
    translations(Interpolation::CubicSpline, &[1.0, 3.0], values.as_flattened(), &cases);
}

#[test]
fn rotations_follow_the_arc_at_constant_speed() {
    let values = keys(&[DQuat::IDENTITY, degrees(DVec3::Y, 90.0)]);
    let cases = [(1.0 / 3.0, degrees(DVec3::Y, 30.0)), (0.9, degrees(DVec3::Y, 81.0)), (1.0, degrees(DVec3::Y, 90.0))];
    rotations(Interpolation::Linear, &values, &cases);
}

#[test]
fn rotations_take_the_shorter_arc() {
    let values = keys(&[degrees(DVec3::X, 10.0), -degrees(DVec3::X, 50.0)]);
    rotations(Interpolation::Linear, &values, &[(0.25, degrees(DVec3::X, 20.0))]);
    // From 10 to 290 degrees, the shorter arc is 80 degrees backwards.
    let values = keys(&[degrees(DVec3::X, 10.0), degrees(DVec3::X, 290.0)]);
    rotations(Interpolation::Linear, &values, &[(0.25, degrees(DVec3::X, -10.0))]);
}

#[test]
fn a_half_turn_is_interpolated_without_loss() {
    // A little less than half a turn, so that the direction is certain.
    let values = keys(&[DQuat::IDENTITY, degrees(DVec3::Z, 179.9)]);
    let cases = [(0.25, degrees(DVec3::Z, 44.975)), (0.5, degrees(DVec3::Z, 89.95))];
    rotations(Interpolation::Linear, &values, &cases);
}

#[test]
fn stored_rotations_need_not_be_of_unit_length() {
    let values = keys(&[DQuat::IDENTITY * 3.0, degrees(DVec3::Y, 90.0) * 0.5]);
    rotations(Interpolation::Linear, &values, &[(1.0 / 3.0, degrees(DVec3::Y, 30.0)), (0.0, DQuat::IDENTITY)]);
    rotations(Interpolation::Step, &values, &[(0.5, DQuat::IDENTITY), (2.0, degrees(DVec3::Y, 90.0))]);
}

#[test]
fn a_rotation_that_hardly_moves_stays_of_unit_length() {
    let values = keys(&[degrees(DVec3::Y, 20.0), degrees(DVec3::Y, 20.0 + 1e-9)]);
    rotations(Interpolation::Linear, &values, &[(0.5, degrees(DVec3::Y, 20.0))]);
}

#[test]
fn a_cubic_rotation_is_normalised() {
    // Without tangents, the middle of two unit quaternions is their mean: the bisecting rotation after normalisation.
    let (zero, a, b) = ([0.0; 4], degrees(DVec3::Z, 0.0).to_array(), degrees(DVec3::Z, 100.0).to_array());
    let values = [zero, a, zero, zero, b, zero];
    rotations(Interpolation::CubicSpline, values.as_flattened(), &[(0.5, degrees(DVec3::Z, 50.0))]);
    // With an out-tangent d at t = 1/2, the sum gets d / 8: here (0, 0, 1/4, 1), normalised.
    let values = [zero, a, [0.0, 0.0, 2.0, 0.0], zero, a, zero];
    let expected = DQuat::from_xyzw(0.0, 0.0, 0.25, 1.0).normalize();
    rotations(Interpolation::CubicSpline, values.as_flattened(), &[(0.5, expected)]);
}

#[test]
fn a_cubic_rotation_through_zero_keeps_the_previous_key() {
    let (zero, q) = ([0.0; 4], degrees(DVec3::Z, 90.0));
    let values = [zero, q.to_array(), zero, zero, (-q).to_array(), zero];
    rotations(Interpolation::CubicSpline, values.as_flattened(), &[(0.5, q)]);
}

#[test]
fn scale_is_applied_before_rotation_and_translation_down_the_hierarchy() {
    let mut joints =
        vec![joint(None, [1.0, 0.0, 0.0]), joint(Some(0), [1.0, 0.0, 0.0]), joint(Some(1), [0.0, 1.0, 0.0])];
    joints[0].rest.scale = DVec3::new(2.0, 1.0, 1.0);
    joints[1].rest.rotation = degrees(DVec3::Z, 90.0);
    let (library, skeleton) = library(joints);
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[]).unwrap();
    each_engine(&library, |engine| {
        let poses = engine.evaluate(&crowd, Ticks::default(), Outputs::ALL).unwrap();
        let model = &poses.instances[0].model;
        let at: Vec<f64> = model.iter().flat_map(|matrix| matrix.translation.to_array()).collect();
        // 1; 1 + 2 * 1; the last offset, turned to -x, is scaled too: 3 - 2.
        assert_close(&at, &[1.0, 0.0, 0.0, 3.0, 0.0, 0.0, 1.0, 0.0, 0.0], engine.engine());
        // The last joint's x axis, turned to y, keeps its length; its y axis, turned to -x, is doubled.
        let axes = DMat3::from_cols(DVec3::Y, DVec3::NEG_X * 2.0, DVec3::Z);
        assert_matrix(model[2], DAffine3::from_mat3_translation(axes, DVec3::X), engine.engine());
    });
}

#[test]
fn a_skin_matrix_is_the_model_matrix_times_the_inverse_bind_matrix() {
    let (mut library, skeleton) = library(vec![joint(None, [0.0, 1.0, 0.0]), joint(Some(0), [0.0, 2.0, 0.0])]);
    // Two skins; the second has its joints in the opposite order.
    let inverse_bind = |y: f64| DAffine3::from_translation(DVec3::new(0.0, -y, 0.0));
    for (joints, bind) in [(vec![0, 1], [1.0, 3.0]), (vec![1, 0], [3.0, 1.0])] {
        let inverse_bind = bind.map(inverse_bind).to_vec();
        library.add_skin(Skin { name: None, skeleton, joints, inverse_bind }).unwrap();
    }
    let turn = curve(Interpolation::Step, 4, &[0.0], &degrees(DVec3::Z, 90.0).to_array());
    let clip = clip(&mut library, skeleton, vec![(Target::Rotation(1), turn)]);
    // About the point (0, 3, 0).
    let turned =
        DAffine3::from_mat3_translation(DMat3::from_cols(DVec3::Y, DVec3::NEG_X, DVec3::Z), DVec3::new(3.0, 3.0, 0.0));
    each_engine(&library, |engine| {
        let skins = pose_at(engine, &library, clip, 0.0).skins;
        assert_matrix(skins[0][0], DAffine3::IDENTITY, engine.engine());
        assert_matrix(skins[0][1], turned, engine.engine());
        assert_matrix(skins[1][0], turned, engine.engine());
        assert_matrix(skins[1][1], DAffine3::IDENTITY, engine.engine());
    });
}

#[test]
fn morph_weights_are_driven_together_and_one_by_one() {
    let joints = [2, 0, 3].map(|count| Joint { weights: vec![0.25; count], ..Joint::default() });
    let (mut library, skeleton) = library(joints.to_vec());
    let pair = curve(Interpolation::Linear, 2, &[0.0, 1.0], &[0.0, 1.0, 1.0, -1.0]);
    let single = curve(Interpolation::Linear, 1, &[0.0, 2.0], &[0.0, 1.0]);
    let tracks = vec![Track::new(Target::Weights(0), pair), Track::component(Target::Weights(2), 1, single)];
    let clip = library.add_clip(Clip::new(None, skeleton, tracks)).unwrap();
    each_engine(&library, |engine| {
        let weights = pose_at(engine, &library, clip, 0.5).weights;
        assert_close(&weights, &[0.5, 0.0, 0.25, 0.25, 0.25], engine.engine());
    });
}

#[test]
fn properties_are_driven_as_numbers_or_as_rotations() {
    let property = |name: &str, rest: &[f64], rotation| Property { name: name.into(), rest: rest.to_vec(), rotation };
    let properties = vec![
        property("still", &[7.0, 8.0], false),
        property("colour", &[0.0; 3], false),
        property("turn", &[0.0, 0.0, 0.0, 1.0], true),
    ];
    let mut library = Library::new();
    let skeleton = library.add_skeleton(Skeleton::new(None, vec![Joint::default()], properties).unwrap());
    let colour = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    let turn = curve(Interpolation::Linear, 4, &[0.0, 1.0], &keys(&[DQuat::IDENTITY, degrees(DVec3::X, 90.0)]));
    let tracks = vec![(Target::Property(1), colour), (Target::Property(2), turn)];
    let clip = clip(&mut library, skeleton, tracks);
    each_engine(&library, |engine| {
        let properties = pose_at(engine, &library, clip, 1.0 / 3.0).properties;
        assert_close(&properties[..5], &[7.0, 8.0, 2.0 / 3.0, 0.0, 1.0 / 3.0], engine.engine());
        assert_rotation(DQuat::from_slice(&properties[5..]), degrees(DVec3::X, 30.0), engine.engine());
    });
}

#[test]
fn a_joint_given_by_a_matrix_keeps_its_shear() {
    let shear = DAffine3::from_cols_array(&[1.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 3.0]);
    let sheared = Joint { matrix: Some(shear), ..Joint::default() };
    let (library, skeleton) = library(vec![sheared, joint(Some(0), [0.0, 2.0, 0.0])]);
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[]).unwrap();
    each_engine(&library, |engine| {
        let poses = engine.evaluate(&crowd, Ticks::default(), Outputs::ALL).unwrap();
        assert_matrix(poses.instances[0].model[0], shear, engine.engine());
        assert_vector(poses.instances[0].model[1].translation, [1.0, 2.0, 3.0], engine.engine());
    });
}

#[test]
fn a_playing_layer_loops_forwards_and_backwards() {
    let (library, clip) = one_track(
        Target::Translation(0),
        curve(Interpolation::Linear, 3, &[0.0, 2.0], &[0.0, 0.0, 0.0, 2.0, 4.0, -2.0]),
    );
    let start = Ticks::from_seconds(10.0);
    let cases =
        [(10.5, 1.0, 0.5), (12.5, 1.0, 0.5), (10.5, 2.0, 1.0), (10.5, -1.0, 1.5), (9.5, 1.0, 1.5), (99.0, 0.0, 0.0)];
    each_engine(&library, |engine| {
        for (now, rate, time) in cases {
            let layer = LayerTime::Playing(Playback::new(WrapMode::Loop, start, rate));
            let moved = pose(engine, &library, clip, layer, Ticks::from_seconds(now)).local[0].translation;
            assert_vector(moved, [time, 2.0 * time, -time], &format!("{} at {now}, rate {rate}", engine.engine()));
        }
    });
}

#[test]
fn a_month_of_playing_leaves_the_phase_exact() {
    let (library, clip) = one_track(
        Target::Translation(0),
        curve(Interpolation::Linear, 3, &[0.0, 3.0], &[0.0, 0.0, 0.0, 3.0, 0.0, 0.0]),
    );
    let month = 30 * 24 * 60 * 60; // a multiple of the 3 s of the clip
    let now = Ticks(month * Ticks::PER_SECOND + Ticks::PER_SECOND / 4);
    each_engine(&library, |engine| {
        for (rate, time) in [(1.0, 0.25), (-1.0, 2.75), (0.5, 0.125)] {
            let layer = LayerTime::Playing(Playback::looping(0.0, rate));
            let moved = pose(engine, &library, clip, layer, now).local[0].translation;
            assert!((moved.x - time).abs() < 1e-5, "{} at rate {rate}: {moved}, expected {time}", engine.engine());
        }
    });
}

#[test]
fn only_requested_outputs_are_filled() {
    let (mut library, skeleton) = library(vec![Joint { weights: vec![0.5], ..Joint::default() }]);
    let inverse_bind = vec![DAffine3::IDENTITY];
    library.add_skin(Skin { name: None, skeleton, joints: vec![0], inverse_bind }).unwrap();
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[]).unwrap();
    each_engine(&library, |engine| {
        let pose = engine.evaluate(&crowd, Ticks(0), Outputs::SKIN).unwrap().instances.remove(0);
        assert_eq!(pose.skins.len(), 1, "{}", engine.engine());
        assert!(pose.local.is_empty() && pose.model.is_empty() && pose.weights.is_empty(), "{}", engine.engine());
        let nothing = engine.evaluate(&crowd, Ticks(0), Outputs::NONE).unwrap().instances.remove(0);
        assert_eq!(nothing, posse::Pose::default(), "{}", engine.engine());
    });
}

#[test]
fn a_crowd_of_another_library_is_refused() {
    let (library, _) = library(vec![Joint::default()]);
    let (other, clip) = one_track(Target::Scale(0), curve(Interpolation::Step, 3, &[0.0], &[1.0; 3]));
    let mut crowd = Crowd::new();
    let layer = posse::Layer::new(clip, LayerTime::At(0.0));
    crowd.push(other.clip(clip).skeleton, &[layer]).unwrap();
    each_engine(&library, |engine| {
        let answer = engine.evaluate(&crowd, Ticks(0), Outputs::ALL);
        assert!(matches!(answer, Err(posse::Error::Instance { instance: 0, .. })), "{}", engine.engine());
    });
}
