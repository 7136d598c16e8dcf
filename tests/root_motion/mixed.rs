//! Root motion is removed from the pose, and the root motion of several layers is blended like their poses.

use glam::{DQuat, DVec3};
use posse::root_motion::{RootMotion, RootRotation};
use posse::transitions::{Fade, FadeShape};
use posse::{AdditiveReference, Crowd, Layer, LayerMode, LayerTime, Mask, Outputs, Ticks, WrapMode};

use super::{
    ALONG, Cases, YAW, add, check, curving, layer, playing, rig, rotation_track, step, translation_track, walk,
};
use crate::support::assert_close::{assert_rotation, assert_vector};
use crate::support::build::degrees;
use crate::support::each_engine::each_engine;

#[test]
fn root_motion_is_removed_from_the_pose() {
    let (library, clip) = walk();
    check(&library, &[layer(clip, playing(WrapMode::Loop, 1.0))], step(0.0, 2.5), |pose, name| {
        assert_vector(pose.local[0].translation, [0.125, 1.25, 0.0], name);
        assert_vector(pose.model[1].translation, [0.125, 0.75, 0.0], name);
    });
    // It is removed even if the output was not requested.
    let mut crowd = Crowd::new();
    crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(0.5))]).unwrap();
    each_engine(&library, |engine| {
        let outputs = Outputs { local: true, ..Outputs::NONE };
        let pose = engine.evaluate(&crowd, Ticks(0), outputs).unwrap().instances.remove(0);
        assert_eq!(pose.root_motion, None);
        assert_vector(pose.local[0].translation, [0.125, 1.25, 0.0], engine.engine());
    });
    // An eighth of a turn with a lean of 30 degrees after it, and half a metre along z. The lean stays, and the
    // remaining translation is in the rotated frame.
    let (mut library, skeleton) = rig();
    let lean = degrees(DVec3::X, 30.0);
    let tracks = vec![
        translation_track(0, 1.0, [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]),
        rotation_track(1.0, degrees(DVec3::Y, 45.0) * lean, degrees(DVec3::Y, 45.0) * lean),
    ];
    let clip =
        add(&mut library, skeleton, Some(RootMotion { translation: [false, true, true], ..YAW }), tracks.clone());
    let full = add(&mut library, skeleton, Some(RootMotion { rotation: RootRotation::Full, ..ALONG }), tracks);
    let half = 0.5_f64.sqrt();
    check(&library, &[Layer::new(clip, LayerTime::At(0.5))], step(0.0, 1.0), |pose, name| {
        assert_rotation(pose.local[0].rotation, lean, name);
        assert_vector(pose.local[0].translation, [half, 0.0, half], name);
    });
    check(&library, &[Layer::new(full, LayerTime::At(0.5))], step(0.0, 1.0), |pose, name| {
        assert_rotation(pose.local[0].rotation, DQuat::IDENTITY, name);
        let left = (degrees(DVec3::Y, 45.0) * lean).inverse() * DVec3::Y;
        assert_vector(pose.local[0].translation, left.to_array(), name);
    });
}

#[test]
fn a_single_layer_gives_the_same_motion_as_a_masked_one() {
    let (library, clip) = curving();
    let plain = layer(clip, playing(WrapMode::Loop, 0.7));
    let mask = Mask { name: None, skeleton: library.clip(clip).skeleton, weights: vec![1.0; 2] };
    let mut library = library;
    let masked = Layer { mask: Some(library.add_mask(mask).unwrap()), ..plain };
    let mut crowd = Crowd::new();
    let skeleton = library.clip(clip).skeleton;
    let mut mixed = Crowd::new();
    crowd.push(skeleton, &[plain]).unwrap();
    mixed.push(skeleton, &[masked]).unwrap();
    each_engine(&library, |engine| {
        let [one, other] = [&crowd, &mixed]
            .map(|crowd| engine.evaluate_step(crowd, step(0.3, 7.9), Outputs::ALL).unwrap().instances.remove(0));
        for joint in 0..2 {
            assert_vector(one.local[joint].translation, other.local[joint].translation.to_array(), engine.engine());
            assert_rotation(one.local[joint].rotation, other.local[joint].rotation, engine.engine());
        }
        let [one, other] = [one, other].map(|pose| pose.root_motion.unwrap());
        assert_vector(one.translation, other.translation.to_array(), engine.engine());
        assert_rotation(one.rotation, other.rotation, engine.engine());
    });
}

#[test]
fn root_motion_is_blended_like_poses() {
    let (mut library, skeleton) = rig();
    let line = |z| vec![translation_track(0, 1.0, [0.0, 1.0, 0.0], [0.0, 1.0, z])];
    let turning = |angle| vec![rotation_track(1.0, DQuat::IDENTITY, degrees(DVec3::Y, angle))];
    let [slow, fast] = [2.0, 6.0].map(|z| add(&mut library, skeleton, Some(ALONG), line(z)));
    let rootless = add(&mut library, skeleton, None, line(100.0));
    let [left, right] = [80.0, -40.0].map(|angle| add(&mut library, skeleton, Some(YAW), turning(angle)));
    let weights = |weights: [f64; 2]| Mask { name: None, skeleton, weights: weights.to_vec() };
    let [half, knee] = [[0.5, 1.0], [0.0, 1.0]].map(|each| library.add_mask(weights(each)).unwrap());
    let once = |clip, weight| Layer { weight, ..layer(clip, playing(WrapMode::Loop, 1.0)) };
    let mut cases = Cases::default();
    let mut z = |layers: &[Layer], z: f64| {
        cases.add(layers, step(0.0, 1.0), [0.0, 0.0, z], DQuat::IDENTITY);
    };
    let mode = |mode, layer| Layer { mode, ..layer };
    let masked = |mask, layer| Layer { mask: Some(mask), ..layer };
    z(&[once(slow, 1.0), once(fast, 3.0)], 5.0);
    z(&[once(rootless, 7.0), once(slow, 0.5)], 2.0);
    // A quarter of the weight that would replace the rest pose.
    z(&[once(slow, 0.025)], 0.5);
    z(&[once(slow, 0.0)], 0.0);
    z(&[once(slow, 1.0), masked(half, once(fast, 2.0))], 4.0);
    z(&[once(slow, 1.0), masked(knee, once(fast, 2.0))], 2.0);
    z(&[once(slow, 1.0), mode(LayerMode::Override, once(fast, 0.25))], 3.0);
    z(&[mode(LayerMode::Override, once(fast, 5.0)), once(slow, 1.0)], 6.0);
    z(&[mode(LayerMode::Override, once(fast, 0.5))], 3.0);
    for reference in [AdditiveReference::First, AdditiveReference::Rest] {
        z(&[once(slow, 1.0), mode(LayerMode::Additive(reference), once(fast, 1.0))], 2.0);
        z(&[mode(LayerMode::Additive(reference), once(fast, 1.0))], 0.0);
    }
    // A layer that stands still is blended with zero motion.
    z(&[once(fast, 1.0), Layer::new(slow, LayerTime::At(0.5))], 3.0);
    // Fades have their weight at the end of the step.
    let fade = |start: f64| Fade {
        start: Ticks::from_seconds(start),
        length: Ticks::from_seconds(2.0),
        shape: FadeShape::Linear,
    };
    z(&[once(slow, 1.0), Layer { fade_in: Some(fade(0.0)), ..once(fast, 2.0) }], 4.0);
    z(&[once(slow, 1.0), Layer { fade_out: Some(fade(-1.0)), ..once(fast, 2.0) }], 2.0);
    let between = (DQuat::IDENTITY * 0.0 + degrees(DVec3::Y, 80.0) * 1.0 + degrees(DVec3::Y, -40.0) * 3.0).normalize();
    cases.add(&[once(left, 1.0), once(right, 3.0)], step(0.0, 1.0), [0.0; 3], between);
    let over = [once(left, 1.0), mode(LayerMode::Override, once(right, 0.5))];
    cases.add(&over, step(0.0, 1.0), [0.0; 3], degrees(DVec3::Y, 20.0));
    cases.check(&library);
    // No layer has a root joint.
    for layers in [&[once(rootless, 1.0)][..], &[]] {
        check(&library, layers, step(0.0, 1.0), |pose, name| assert_eq!(pose.root_motion, None, "{name}"));
    }
    let unweighed = [once(rootless, 1.0), once(slow, 0.0)];
    check(&library, &unweighed, step(0.0, 1.0), |pose, _| assert!(pose.root_motion.is_some()));
}

#[test]
fn an_additive_layer_is_compared_without_root_motion() {
    let (mut library, skeleton) = rig();
    let tracks = vec![translation_track(0, 1.0, [1.0, 2.0, 3.0], [5.0, 4.0, 9.0])];
    let clip = add(&mut library, skeleton, Some(ALONG), tracks);
    let y = |reference, y: f64| {
        let mode = LayerMode::Additive(reference);
        let layers = [Layer { mode, ..Layer::new(clip, LayerTime::At(0.5)) }];
        check(&library, &layers, step(0.0, 1.0), |pose, name| {
            assert_vector(pose.local[0].translation, [0.0, y, 0.0], name);
        });
    };
    // (0, 3, 0) minus (0, 2, 0), or minus the rest pose at (0, 1, 0), added to the rest pose.
    y(AdditiveReference::First, 2.0);
    y(AdditiveReference::Rest, 3.0);
}
