//! Blending of layers: a hand-worked case for every rule, on every engine.

use glam::{DAffine3, DQuat, DVec3};
use posse::cpu::CpuEngine;
use posse::curves::{Curve, Interpolation, Target, Track};
use posse::packed::PackedLibrary;
use posse::rig::Property;
use posse::transitions::{Fade, FadeShape};
use posse::{
    AdditiveReference, Clip, ClipId, Crowd, Error, Evaluator, Joint, Layer, LayerMode, LayerTime, Library, Mask,
    MaskId, Outputs, Playback, Pose, Reference, Skeleton, SkeletonId, Skin, Ticks, Transform, WrapMode, contract,
};

use crate::support::assert_close::{assert_close, assert_rotation, assert_vector};
use crate::support::build::{curve, degrees};
use crate::support::each_engine::{each_engine, fast_engines, gpu_unless_left_out};
use crate::support::gpu_library::gpu_engine;

const FIRST: LayerMode = LayerMode::Additive(AdditiveReference::First);
const REST: LayerMode = LayerMode::Additive(AdditiveReference::Rest);

/// Two joints at (1, 2, 3), the second with a morph weight of 0.5, and two properties: a number and a rotation.
fn rig() -> (Library, SkeletonId) {
    let rest = Transform { translation: DVec3::new(1.0, 2.0, 3.0), ..Transform::IDENTITY };
    let joint =
        |name: &str, parent, weights| Joint { name: Some(name.into()), parent, rest, weights, ..Joint::default() };
    let joints = vec![joint("hip", None, vec![]), joint("knee", Some(0), vec![0.5])];
    let property = |name: &str, rest: &[f64], rotation| Property { name: name.into(), rest: rest.to_vec(), rotation };
    let properties = vec![property("/light", &[4.0], false), property("/turn", &[0.0, 0.0, 0.0, 1.0], true)];
    let mut library = Library::new();
    let skeleton = library.add_skeleton(Skeleton::new(None, joints, properties).unwrap());
    add_skin(&mut library, skeleton, 2);
    (library, skeleton)
}

/// Adds a skin of all joints, whose matrices are those of the joints.
fn add_skin(library: &mut Library, skeleton: SkeletonId, joints: usize) {
    let inverse_bind = vec![DAffine3::IDENTITY; joints];
    library.add_skin(Skin { name: None, skeleton, joints: (0..joints).collect(), inverse_bind }).unwrap();
}

fn steady(width: usize, values: &[f64]) -> Curve {
    curve(Interpolation::Linear, width, &[0.0], values)
}

/// Adds a clip of 1 s with these tracks.
fn add(library: &mut Library, skeleton: SkeletonId, tracks: Vec<(Target, Curve)>) -> ClipId {
    let tracks = tracks.into_iter().map(|(target, curve)| Track::new(target, curve)).collect();
    library.add_clip(Clip::new(None, skeleton, tracks)).unwrap()
}

fn translation_track(to: [f64; 3]) -> (Target, Curve) {
    (Target::Translation(0), steady(3, &to))
}

fn rotation_track(axis: DVec3, angle: f64) -> (Target, Curve) {
    (Target::Rotation(0), steady(4, &degrees(axis, angle).to_array()))
}

fn at(clip: ClipId, weight: f64, mode: LayerMode) -> Layer {
    Layer { weight, mode, ..Layer::new(clip, LayerTime::At(0.0)) }
}

fn blend(clip: ClipId, weight: f64) -> Layer {
    at(clip, weight, LayerMode::Blend)
}

/// Checks the pose of an instance at a tick, on every engine; where skin matrices alone are wanted, which kernels of
/// their own write, they are those of the reference.
fn check(library: &Library, layers: &[Layer], now: Ticks, check: impl Fn(&Pose, &str)) {
    let mut crowd = Crowd::new();
    crowd.push(library.skeleton_ids().next().unwrap(), layers).unwrap();
    each_engine(library, |engine| {
        let poses = engine.evaluate(&crowd, now, Outputs::ALL).unwrap();
        check(&poses.instances[0], engine.engine());
        assert_skins(library, &crowd, now, engine);
    });
}

/// Asserts that an engine has the skin matrices of the reference if it writes nothing else.
fn assert_skins(library: &Library, crowd: &Crowd, now: Ticks, engine: &mut dyn Evaluator) {
    let expected = Reference::new(library).evaluate(crowd, now, Outputs::SKIN).unwrap();
    let skins = engine.evaluate(crowd, now, Outputs::SKIN).unwrap();
    let report = contract::compare(library, crowd, now, &expected, &skins);
    assert!(report.is_within(), "{}: {:?}", engine.engine(), report.quantities());
}

fn check_x(library: &Library, layers: &[Layer], now: Ticks, x: f64) {
    check(library, layers, now, |pose, name| assert_close(&[pose.local[0].translation.x], &[x], name));
}

#[test]
fn blended_layers_give_the_mean_and_the_rest_pose_fills_missing_weight() {
    let (mut library, skeleton) = rig();
    let [a, b] = [0.0, 8.0].map(|x| add(&mut library, skeleton, vec![translation_track([x, x, x])]));
    let now = Ticks(0);
    check_x(&library, &[blend(a, 1.0)], now, 0.0);
    check_x(&library, &[blend(a, 1.0), blend(b, 3.0)], now, 6.0);
    check_x(&library, &[blend(b, 0.1)], now, 8.0);
    // 0.025 x 8 + 0.075 x 1, over 0.1.
    check_x(&library, &[blend(b, 0.025)], now, 2.75);
    check_x(&library, &[blend(b, 0.02), blend(a, 0.03)], now, (0.02 * 8.0 + 0.05) / 0.1);
    check_x(&library, &[blend(a, 0.0), blend(b, 0.0)], now, 1.0);
    check_x(&library, &[], now, 1.0);
    check_x(&library, &[blend(a, 0.0), blend(b, 2.0)], now, 8.0);
}

/// Rigs that share a workgroup, and one that has its own. Keys are of any length that is stored as it is, and in either
/// hemisphere.
#[test]
fn two_layers_give_the_skins_of_the_reference_for_weights_of_any_size() {
    for joints in [1, 2, 20, 40] {
        let joint = |index: usize| Joint { parent: index.checked_sub(1), ..Joint::default() };
        let mut library = Library::new();
        let skeleton = library.add_skeleton(Skeleton::new(None, (0..joints).map(joint).collect(), vec![]).unwrap());
        add_skin(&mut library, skeleton, joints);
        let turn = |axis, angle, length: f64| steady(4, &(degrees(axis, angle) * length).to_array());
        let [mut first, mut second] = [Vec::new(), Vec::new()];
        for joint in 0..joints {
            let angle = 7.0 * joint as f64 - 40.0;
            first.push((Target::Rotation(joint), turn(DVec3::X, angle, 0.92)));
            // Not every part has a track in both clips.
            if joint % 3 > 0 {
                second.push((Target::Rotation(joint), turn(DVec3::new(1.0, 2.0, 2.0) / 3.0, 300.0 + angle, 1.08)));
            }
            if joint % 2 == 0 {
                first.push((Target::Translation(joint), steady(3, &[0.1, 0.2, 0.3])));
            }
            second.push((Target::Translation(joint), steady(3, &[-0.1, 0.3, 0.2])));
        }
        let clips = [first, second].map(|tracks| add(&mut library, skeleton, tracks));
        let mut crowd = Crowd::new();
        for weights in [
            [1.0, 1.0],
            [0.0, 1.0],
            [1.0, 0.0],
            [0.0, 0.0],
            [0.02, 0.03],
            [0.0, 0.04],
            [0.05, 0.0],
            [1e-30, 0.05],
            [1e-30, 1e-30],
            [3.3e38, 0.0],
            [3.3e38, 1e36],
        ] {
            let layers: Vec<Layer> = clips.iter().zip(weights).map(|(&clip, weight)| blend(clip, weight)).collect();
            crowd.push(skeleton, &layers).unwrap();
        }
        each_engine(&library, |engine| assert_skins(&library, &crowd, Ticks(0), engine));
    }
}

#[test]
fn each_target_is_blended_by_the_layers_that_drive_it() {
    let (mut library, skeleton) = rig();
    let a = add(&mut library, skeleton, vec![translation_track([8.0; 3]), (Target::Weights(1), steady(1, &[1.0]))]);
    let b = add(&mut library, skeleton, vec![(Target::Scale(0), steady(3, &[3.0; 3])), translation_track([0.0; 3])]);
    let c = add(&mut library, skeleton, vec![(Target::Property(0), steady(1, &[10.0]))]);
    check(&library, &[blend(a, 1.0), blend(b, 3.0), blend(c, 0.05)], Ticks(0), |pose, name| {
        assert_vector(pose.local[0].translation, [2.0; 3], name);
        assert_vector(pose.local[0].scale, [3.0; 3], name);
        assert_vector(pose.local[1].translation, [1.0, 2.0, 3.0], name);
        assert_close(&pose.weights, &[1.0], name);
        // Half of 0.1, and half of the rest pose.
        assert_close(&pose.properties, &[7.0, 0.0, 0.0, 0.0, 1.0], name);
    });
}

#[test]
fn a_part_that_no_layer_drives_stays_at_rest_beside_parts_with_full_weight() {
    let (mut library, skeleton) = rig();
    let turned = degrees(DVec3::X, 40.0);
    let driven =
        [translation_track([8.0; 3]), rotation_track(DVec3::X, 40.0), (Target::Scale(0), steady(3, &[3.0; 3]))];
    for left_out in 0..driven.len() {
        let mut tracks = driven.to_vec();
        tracks.remove(left_out);
        let [a, b] = [tracks.clone(), tracks].map(|tracks| add(&mut library, skeleton, tracks));
        check(&library, &[blend(a, 0.5), blend(b, 0.5)], Ticks(0), |pose, name| {
            let name = format!("{name} without track {left_out}");
            let local = pose.local[0];
            assert_vector(local.translation, if left_out == 0 { [1.0, 2.0, 3.0] } else { [8.0; 3] }, &name);
            assert_rotation(local.rotation, if left_out == 1 { DQuat::IDENTITY } else { turned }, &name);
            assert_vector(local.scale, if left_out == 2 { [1.0; 3] } else { [3.0; 3] }, &name);
        });
    }
}

#[test]
fn rotations_are_summed_in_the_hemisphere_of_the_first() {
    let (mut library, skeleton) = rig();
    let near = |sign: f64, angle: f64| (Target::Rotation(0), steady(4, &(degrees(DVec3::Y, angle) * sign).to_array()));
    let [a, b] = [near(1.0, 30.0), near(-1.0, 90.0)].map(|track| add(&mut library, skeleton, vec![track]));
    let half = (Target::Rotation(0), steady(4, &[0.0, 1.0, 0.0, 0.0]));
    let [none, half] = [near(1.0, 0.0), half].map(|track| add(&mut library, skeleton, vec![track]));
    let [ahead, back] = [1.0, -1.0].map(|x| (Target::Rotation(0), steady(4, &[x, 0.0, 0.0, 0.0])));
    let [ahead, back] = [ahead, back].map(|track| add(&mut library, skeleton, vec![track]));
    let turn = |layers: &[Layer], expected: DQuat| {
        check(&library, layers, Ticks(0), |pose, name| assert_rotation(pose.local[0].rotation, expected, name));
    };
    turn(&[blend(a, 1.0), blend(b, 1.0)], degrees(DVec3::Y, 60.0));
    // The quaternion of a half turn is at a right angle to the identity, so it is not negated.
    turn(&[blend(none, 1.0), blend(half, 1.0)], degrees(DVec3::Y, 90.0));
    // Half turns that cancel out leave the first, however small its weight is.
    for least in [1e-7, 1e-30] {
        turn(&[blend(none, least), blend(ahead, 1.0), blend(back, 1.0)], DQuat::IDENTITY);
    }
    let sum = degrees(DVec3::Y, 30.0) * 1.0 + degrees(DVec3::Y, 90.0) * 3.0;
    turn(&[blend(a, 1.0), blend(b, 3.0)], sum.normalize());
    // The rest pose fills the missing weight in the hemisphere of the first layer with a weight, with any stored sign.
    let filled = degrees(DVec3::Y, 90.0) * 0.05 + DQuat::IDENTITY * 0.05;
    turn(&[blend(a, 0.0), blend(b, 0.05)], filled.normalize());
}

#[test]
fn an_override_replaces_the_layers_below_by_its_weight() {
    let (mut library, skeleton) = rig();
    let a = add(&mut library, skeleton, vec![translation_track([4.0; 3]), rotation_track(DVec3::X, 0.0)]);
    let b = add(&mut library, skeleton, vec![translation_track([8.0; 3]), rotation_track(DVec3::X, 80.0)]);
    let over = |weight| at(b, weight, LayerMode::Override);
    check_x(&library, &[blend(a, 1.0), over(0.25)], Ticks(0), 5.0);
    check_x(&library, &[over(0.25), blend(a, 1.0)], Ticks(0), 5.0);
    check_x(&library, &[blend(a, 1.0), over(7.0)], Ticks(0), 8.0);
    check_x(&library, &[over(0.5)], Ticks(0), 4.5);
    check_x(&library, &[blend(a, 1.0), over(0.0)], Ticks(0), 4.0);
    check_x(&library, &[over(0.5), over(0.5)], Ticks(0), 6.25);
    let between = (DQuat::IDENTITY * 0.75 + degrees(DVec3::X, 80.0) * 0.25).normalize();
    check(&library, &[blend(a, 1.0), over(0.25)], Ticks(0), |pose, name| {
        assert_rotation(pose.local[0].rotation, between, name);
    });
}

#[test]
fn an_additive_layer_adds_its_difference_from_the_first_or_the_rest_pose() {
    let (mut library, skeleton) = rig();
    let line = |target, width, from: &[f64], to: &[f64]| {
        (target, curve(Interpolation::Linear, width, &[0.0, 1.0], &[from, to].concat()))
    };
    let base = add(&mut library, skeleton, vec![translation_track([10.0; 3]), rotation_track(DVec3::Y, 90.0)]);
    let quarter = degrees(DVec3::X, 90.0).to_array();
    let added = add(
        &mut library,
        skeleton,
        vec![
            line(Target::Translation(0), 3, &[2.0; 3], &[6.0; 3]),
            line(Target::Rotation(0), 4, &degrees(DVec3::X, 30.0).to_array(), &quarter),
            line(Target::Scale(0), 3, &[2.0, 1e-7, 2.0], &[6.0, 1.0, 2.0]),
            line(Target::Weights(1), 1, &[0.25], &[0.75]),
            line(Target::Property(0), 1, &[1.0], &[3.0]),
            line(Target::Property(1), 4, &[0.0, 0.0, 0.0, 1.0], &quarter),
        ],
    );
    let layer = |weight, mode| Layer { weight, mode, ..Layer::new(added, LayerTime::At(1.0)) };
    let half = |delta: DQuat, weight: f64| (DQuat::IDENTITY * (1.0 - weight) + delta * weight).normalize();
    check(&library, &[blend(base, 1.0), layer(0.5, FIRST)], Ticks(0), |pose, name| {
        assert_vector(pose.local[0].translation, [12.0; 3], name);
        // 1 + 0.5 (3 - 1). A reference scale near 0 counts as 1.
        assert_vector(pose.local[0].scale, [2.0, 1.0, 1.0], name);
        let turned = degrees(DVec3::Y, 90.0) * half(degrees(DVec3::X, 60.0), 0.5);
        assert_rotation(pose.local[0].rotation, turned, name);
        assert_close(&pose.weights, &[0.75], name);
        assert_close(&pose.properties[..1], &[5.0], name);
        let property = DQuat::from_slice(&pose.properties[1..]);
        assert_rotation(property, half(degrees(DVec3::X, 90.0), 0.5), name);
    });
    check(&library, &[blend(base, 1.0), layer(1.0, REST)], Ticks(0), |pose, name| {
        assert_vector(pose.local[0].translation, [15.0, 14.0, 13.0], name);
        assert_vector(pose.local[0].scale, [6.0, 1.0, 2.0], name);
        assert_rotation(pose.local[0].rotation, degrees(DVec3::Y, 90.0) * degrees(DVec3::X, 90.0), name);
        assert_close(&pose.weights, &[0.75], name);
        assert_close(&pose.properties[..1], &[3.0], name);
    });
    // The weight is not limited to 1.
    check(&library, &[layer(2.0, FIRST)], Ticks(0), |pose, name| {
        assert_vector(pose.local[0].translation, [9.0, 10.0, 11.0], name);
        assert_vector(pose.local[0].scale, [5.0, 1.0, 1.0], name);
        assert_rotation(pose.local[0].rotation, half(degrees(DVec3::X, 60.0), 2.0), name);
    });
}

#[test]
fn masks_apply_to_joints_and_their_morph_weights_but_not_to_properties() {
    let (mut library, skeleton) = rig();
    let both = |x: f64| {
        vec![
            translation_track([x; 3]),
            (Target::Translation(1), steady(3, &[x; 3])),
            (Target::Weights(1), steady(1, &[x])),
            (Target::Property(0), steady(1, &[x])),
        ]
    };
    let [a, b] = [both(0.0), both(8.0)].map(|tracks| add(&mut library, skeleton, tracks));
    let (mask, unknown) =
        Mask::named(None, library.skeletons(), skeleton, &[("knee", 0.5), ("tail", 1.0)], false).unwrap();
    assert_eq!((&mask.weights[..], unknown), (&[0.0, 0.5][..], vec!["tail"]));
    let mask = Some(library.add_mask(mask).unwrap());
    let over = Layer { mask, ..at(b, 1.0, LayerMode::Override) };
    check(&library, &[blend(a, 1.0), over], Ticks(0), |pose, name| {
        assert_vector(pose.local[0].translation, [0.0; 3], name);
        assert_vector(pose.local[1].translation, [4.0; 3], name);
        assert_close(&pose.weights, &[4.0], name);
        assert_close(&pose.properties[..1], &[8.0], name);
    });
    // Two blended layers. The second has half of its weight at the knee, and none at the hip.
    check(&library, &[blend(a, 1.0), Layer { mask, ..blend(b, 1.0) }], Ticks(0), |pose, name| {
        assert_vector(pose.local[0].translation, [0.0; 3], name);
        assert_vector(pose.local[1].translation, [8.0 / 3.0; 3], name);
        assert_close(&pose.properties[..1], &[4.0], name);
    });
}

#[test]
fn fades_use_the_clock_of_the_crowd() {
    let (mut library, skeleton) = rig();
    let [a, b] = [0.0, 8.0].map(|x| add(&mut library, skeleton, vec![translation_track([x; 3])]));
    let seconds = Ticks::from_seconds;
    let fade = |start: f64, length: f64, shape| Some(Fade { start: seconds(start), length: seconds(length), shape });
    let layers = [
        Layer { fade_out: fade(1.0, 2.0, FadeShape::Linear), ..blend(a, 1.0) },
        Layer { fade_in: fade(1.0, 2.0, FadeShape::Linear), ..blend(b, 1.0) },
    ];
    for (time, x) in [(0.0, 0.0), (1.0, 0.0), (1.5, 2.0), (2.0, 4.0), (3.0, 8.0), (1e6, 8.0)] {
        check_x(&library, &layers, seconds(time), x);
    }
    let smooth = Layer { fade_in: fade(0.0, 1.0, FadeShape::Smooth), ..at(b, 1.0, LayerMode::Override) };
    for (time, weight) in [(0.25, 0.15625), (0.5, 0.5), (2.0, 1.0)] {
        check_x(&library, &[blend(a, 1.0), smooth], seconds(time), 8.0 * weight);
    }
    let at_once = Layer { fade_in: fade(1.0, 0.0, FadeShape::Linear), ..at(b, 1.0, LayerMode::Override) };
    check_x(&library, &[blend(a, 1.0), at_once], Ticks(seconds(1.0).0 - 1), 0.0);
    check_x(&library, &[blend(a, 1.0), at_once], seconds(1.0), 8.0);
    // Both a fade in and a fade out count.
    let both = Layer { fade_out: fade(1.5, 2.0, FadeShape::Linear), ..smooth };
    check_x(&library, &[blend(a, 1.0), both], seconds(2.5), 4.0);
}

#[test]
fn each_layer_plays_in_its_own_mode_and_rate() {
    let (mut library, skeleton) = rig();
    let line = |target| vec![(target, curve(Interpolation::Linear, 3, &[0.0, 2.0], &[0.0, 0.0, 0.0, 2.0, 2.0, 2.0]))];
    let a = add(&mut library, skeleton, line(Target::Translation(0)));
    let b = add(&mut library, skeleton, line(Target::Translation(1)));
    let play = |clip, wrap, rate| Layer::new(clip, LayerTime::Playing(Playback::new(wrap, Ticks(0), rate)));
    let layers = [play(a, WrapMode::Loop, 1.0), play(b, WrapMode::PingPong, 2.0)];
    check(&library, &layers, Ticks::from_seconds(2.5), |pose, name| {
        assert_vector(pose.local[0].translation, [0.5; 3], name);
        assert_vector(pose.local[1].translation, [1.0; 3], name);
    });
}

#[test]
fn instances_of_few_and_of_many_layers_share_a_crowd() {
    let (mut library, skeleton) = rig();
    let clips: Vec<ClipId> =
        (0..8).map(|x| add(&mut library, skeleton, vec![translation_track([f64::from(x); 3])])).collect();
    let mut crowd = Crowd::new();
    for instance in 0..300 {
        let layers: Vec<Layer> = clips[..instance % 9].iter().map(|&clip| blend(clip, 1.0)).collect();
        crowd.push(skeleton, &layers).unwrap();
    }
    each_engine(&library, |engine| {
        let poses = engine.evaluate(&crowd, Ticks(0), Outputs { local: true, ..Outputs::NONE }).unwrap();
        for (instance, pose) in poses.instances.iter().enumerate() {
            let x = [1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5][instance % 9];
            assert_close(&[pose.local[0].translation.x], &[x], &format!("{} {instance}", engine.engine()));
        }
    });
}

#[test]
fn invalid_layers_and_masks_are_refused() {
    let (mut library, skeleton) = rig();
    let clip = add(&mut library, skeleton, vec![translation_track([0.0; 3])]);
    let error = |layer: Layer| match Crowd::new().push(skeleton, &[layer]) {
        Err(Error::Instance { instance: 0, reason }) => reason,
        other => panic!("{other:?}"),
    };
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(error(blend(clip, weight)).contains("weight"));
    }
    let negative = Fade { start: Ticks(0), length: Ticks(-1), shape: FadeShape::Linear };
    assert!(error(Layer { fade_in: Some(negative), ..blend(clip, 1.0) }).contains("negative"));
    assert!(matches!(Crowd::new().push(skeleton, &[blend(clip, 1.0); 9]), Err(Error::Limit { needed: 9, .. })));

    let other = library.add_skeleton(Skeleton::new(None, vec![Joint::default()], Vec::new()).unwrap());
    let mask = |skeleton, weights: &[f64]| Mask { name: None, skeleton, weights: weights.to_vec() };
    assert!(library.add_mask(mask(skeleton, &[1.0])).is_err() && library.add_mask(mask(other, &[-1.0])).is_err());
    let theirs: MaskId = library.add_mask(mask(other, &[1.0])).unwrap();
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[Layer { mask: Some(theirs), ..blend(clip, 1.0) }]).unwrap();
    each_engine(&library, |engine| {
        let error = engine.evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap_err().to_string();
        assert!(
            error.contains("mask 0 is for skeleton 1, but the instance uses skeleton 0"),
            "{}: {error}",
            engine.engine()
        );
    });
}

#[test]
fn additions_to_a_library_need_a_new_engine() {
    let (mut library, skeleton) = rig();
    add(&mut library, skeleton, vec![translation_track([0.0; 3])]);
    let packing = PackedLibrary::new(&library).unwrap();
    let clip = add(&mut library, skeleton, vec![translation_track([1.0; 3])]);
    let later = library.add_skeleton(Skeleton::new(None, Vec::new(), Vec::new()).unwrap());
    let weights = vec![1.0; 2];
    let mask = Some(library.add_mask(Mask { name: None, skeleton, weights }).unwrap());
    let advice = "if it was added after the engine was made, make the engine again";
    let instances = [
        (skeleton, vec![blend(clip, 1.0)], "clip 1; the library has 1"),
        (later, vec![], "skeleton 1; the library has 1"),
        (skeleton, vec![Layer { mask, ..blend(library.clip_ids().next().unwrap(), 1.0) }], "mask 0; the library has 0"),
    ];
    for (skeleton, layers, what) in instances {
        let mut crowd = Crowd::new();
        crowd.push(skeleton, &layers).unwrap();
        fast_engines(&|| packing.clone(), &mut |engine| {
            let error = engine.evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap_err().to_string();
            let expected = format!("instance 0: there is no {what}, numbered from 0; {advice}");
            assert_eq!(error, expected, "{}", engine.engine());
        });
        // Engines that are made again know the additions.
        each_engine(&library, |engine| assert!(engine.evaluate(&crowd, Ticks(0), Outputs::ALL).is_ok()));
    }
}

#[test]
fn a_clip_of_another_skeleton_is_named_with_both() {
    let mut library = Library::new();
    let mut character = |name: Option<&str>| {
        let skeleton = Skeleton::new(name.map(str::to_owned), vec![Joint::default()], Vec::new()).unwrap();
        let skeleton = library.add_skeleton(skeleton);
        let clip = |name: &str| Clip::new(Some(name.into()), skeleton, Vec::new());
        (skeleton, ["walk", "run"].map(|name| library.add_clip(clip(name)).unwrap()))
    };
    let [(fox, of_fox), (man, of_man), (nameless, _)] = [Some("fox"), Some("man"), None].map(&mut character);
    assert_eq!(library.find_clip("run"), Some(of_fox[1]));
    assert_eq!([fox, man].map(|skeleton| library.find_clip_of(skeleton, "run")), [Some(of_fox[1]), Some(of_man[1])]);
    assert_eq!(library.find_clip_of(man, "swim"), None);
    let assert_refused = |skeleton, clip, saying: &str| {
        let mut crowd = Crowd::new();
        crowd.push(skeleton, &[blend(clip, 1.0)]).unwrap();
        each_engine(&library, |engine| {
            let error = engine.evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap_err().to_string();
            let expected = format!("instance 0: clip {saying}");
            assert_eq!(error, expected, "{}", engine.engine());
        });
    };
    let moves = "animates skeleton";
    assert_refused(
        fox,
        of_man[1],
        &format!("3 (\"run\") {moves} 1 (\"man\"), but the instance uses skeleton 0 (\"fox\")"),
    );
    assert_refused(nameless, of_fox[0], &format!("0 (\"walk\") {moves} 0 (\"fox\"), but the instance uses skeleton 2"));
}

#[test]
fn one_instance_of_a_crowd_is_evaluated_without_the_others() {
    let (mut library, skeleton) = rig();
    let [a, b] = [0.0, 8.0]
        .map(|x| add(&mut library, skeleton, vec![translation_track([x; 3]), rotation_track(DVec3::Z, 10.0 * x)]));
    let mut crowd = Crowd::new();
    for instance in 0..10 {
        crowd.push(skeleton, &[blend(a, 1.0), blend(b, f64::from(instance))]).unwrap();
    }
    let mut engine = CpuEngine::new(&library).unwrap();
    let all = engine.evaluate(&crowd, Ticks(7), Outputs::ALL).unwrap();
    for (instance, pose) in all.instances.iter().enumerate() {
        assert_eq!(&engine.query(&crowd, instance, Ticks(7), Outputs::ALL).unwrap(), pose);
    }
    assert!(matches!(engine.query(&crowd, 10, Ticks(7), Outputs::ALL), Err(Error::Instance { instance: 10, .. })));
}

#[test]
fn an_instance_gets_other_layers_and_the_others_keep_theirs() {
    let (mut library, skeleton) = rig();
    let clips = [0.0, 8.0].map(|x| add(&mut library, skeleton, vec![translation_track([x; 3])]));
    let alone = library.add_skeleton(Skeleton::new(None, vec![Joint::default()], Vec::new()).unwrap());
    let theirs = add(&mut library, alone, vec![translation_track([5.0; 3])]);
    let mut crowd = Crowd::new();
    for _ in 0..4 {
        crowd.push(skeleton, &[blend(clips[1], 1.0)]).unwrap();
    }
    // More layers, none, and layers of another skeleton.
    crowd.set(1, skeleton, &[blend(clips[0], 1.0), blend(clips[1], 3.0)]).unwrap();
    crowd.set(2, skeleton, &[]).unwrap();
    crowd.set(3, alone, &[blend(theirs, 1.0)]).unwrap();
    let before = crowd.clone();
    let refused = crowd.set(4, skeleton, &[]).unwrap_err();
    assert_eq!(refused.to_string(), "instance 4: there is no instance 4; the crowd has 4, numbered from 0");
    assert!(matches!(crowd.set(1, skeleton, &[blend(clips[0], 1.0); 9]), Err(Error::Limit { needed: 9, .. })));
    assert!(matches!(crowd.set(1, alone, &[blend(theirs, -1.0)]), Err(Error::Instance { instance: 1, .. })));
    assert_eq!(crowd, before, "refused layers change nothing");
    each_engine(&library, |engine| {
        let poses = engine.evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap();
        let x: Vec<f64> = poses.instances.iter().map(|pose| pose.local[0].translation.x).collect();
        assert_close(&x, &[8.0, 6.0, 1.0, 5.0], engine.engine());
    });
}

#[test]
fn an_engine_is_used_from_two_threads_in_turn() {
    let (mut library, skeleton) = rig();
    let clip = add(&mut library, skeleton, vec![translation_track([8.0; 3])]);
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[blend(clip, 1.0)]).unwrap();
    let mut engines: Vec<Box<dyn Evaluator + Send>> = vec![Box::new(CpuEngine::new(&library).unwrap())];
    if gpu_unless_left_out().is_some() {
        engines.push(Box::new(gpu_engine(&library).unwrap()));
    }
    for mut engine in engines {
        for _ in 0..2 {
            let crowd = &crowd;
            engine = std::thread::scope(|scope| {
                let ask = move || {
                    let poses = engine.evaluate(crowd, Ticks(0), Outputs::ALL).unwrap();
                    assert_vector(poses.instances[0].local[0].translation, [8.0; 3], engine.engine());
                    engine
                };
                scope.spawn(ask).join().unwrap()
            });
        }
    }
}

#[test]
fn a_cross_fade_is_smooth_and_can_be_interrupted() {
    let (mut library, skeleton) = rig();
    let [a, b, c] = [0.0, 8.0, -4.0].map(|x| add(&mut library, skeleton, vec![translation_track([x; 3])]));
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[a.at(0.0)]).unwrap();
    let check = |crowd: &Crowd, cases: &[(f64, f64)]| {
        for &(seconds, x) in cases {
            each_engine(&library, |engine| {
                let poses = engine.evaluate(crowd, Ticks::from_seconds(seconds), Outputs::ALL).unwrap();
                let name = format!("{} at {seconds} s", engine.engine());
                assert_close(&[poses.instances[0].local[0].translation.x], &[x], &name);
            });
        }
    };
    crowd.cross_fade(0, b.at(0.0), 2.0..3.0).unwrap();
    // The weights of a quarter of the way are k k (3 - 2 k) = 5/32 and 27/32.
    check(&crowd, &[(1.5, 0.0), (2.0, 0.0), (2.25, 8.0 * 5.0 / 32.0), (2.5, 4.0), (3.0, 8.0), (9.0, 8.0)]);
    let mut interrupted = crowd.clone();
    interrupted.cross_fade(0, c.at(0.0), 2.5..3.5).unwrap();
    // At 2.75 s, a has 5/32, b 27/32 x 27/32 and c 5/32. At 3 s, b and c have a half each.
    let b_weight = 27.0 / 32.0 * 27.0 / 32.0;
    let x = (8.0 * b_weight - 4.0 * 5.0 / 32.0) / (b_weight + 10.0 / 32.0);
    check(&interrupted, &[(2.5, 4.0), (2.75, x), (3.0, 2.0), (3.5, -4.0)]);
    assert_eq!(interrupted.layers(0).len(), 3);
    // After the first fade, its old layer is dropped.
    crowd.cross_fade(0, c.at(0.0), 4.0..5.0).unwrap();
    assert_eq!(crowd.layers(0).iter().map(|layer| layer.clip).collect::<Vec<_>>(), [b, c]);
    check(&crowd, &[(4.0, 8.0), (4.5, 2.0), (5.0, -4.0)]);
    // Many changes in turn need room for two layers.
    for change in 1..20 {
        let start = 5.0 * f64::from(change);
        crowd.cross_fade(0, [a, b][change as usize % 2].at(0.0), start..start + 1.0).unwrap();
        assert_eq!(crowd.layers(0).len(), 2);
    }
}

#[test]
fn a_cross_fade_that_cannot_be_leaves_the_crowd() {
    let (mut library, skeleton) = rig();
    let clip = add(&mut library, skeleton, vec![translation_track([8.0; 3])]);
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[clip.looping(); Crowd::MAX_LAYERS]).unwrap();
    crowd.push(skeleton, &[clip.looping()]).unwrap();
    let before = crowd.clone();
    let into = clip.looping();
    for (instance, into, seconds, message) in [
        (2, into, 0.0..1.0, "there is no instance 2"),
        (1, Layer { mode: LayerMode::Override, ..into }, 0.0..1.0, "a layer that blends"),
        (1, into, 1.0..0.5, "from 1 s to 0.5 s"),
        (1, into, 0.0..f64::NAN, "not finite"),
        (1, into.weight(-1.0), 0.0..1.0, "the weight -1"),
        (0, into, 0.0..1.0, "layers of instance 0"),
    ] {
        let error = crowd.cross_fade(instance, into, seconds).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert_eq!(crowd, before);
    }
}
