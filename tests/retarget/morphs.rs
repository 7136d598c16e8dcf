//! Morph weights: by the names of morph targets, and by the expressions of a VRM animation, after the rules of
//! <https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm-1.0/expressions.md>.

use std::sync::Arc;

use glam::DQuat;
use posse::curves::{Interpolation, Target, Track};
use posse::export::gltf::VrmAnimation;
use posse::import::gltf;
use posse::retarget::{DropReason, JointMap, RetargetOptions, RetargetWarning, Retargeting, TrackMethod};
use posse::rig::{Expression, ExpressionOverride, MorphBind};
use posse::{Clip, ClipId, Joint, Library, Reference, Skeleton, demo};

use super::rigs::joint;
use super::written::parts;
use crate::support::build::{curve, pose_at};

const NONE: DQuat = DQuat::IDENTITY;

/// A skeleton of a hip and faces, each with the names of its morph targets. The weights of a face are 0.5 at rest.
fn with_faces(faces: &[(&str, &[&str])]) -> Skeleton {
    let face = |(name, morphs): &(&str, &[&str])| {
        let morph_names = morphs.iter().map(|name| (*name).to_owned()).collect();
        Joint { weights: vec![0.5; morphs.len()], morph_names, ..joint(name, Some(0), NONE, [0.0; 3]) }
    };
    let joints = std::iter::once(joint("hip", None, NONE, [0.0; 3])).chain(faces.iter().map(face));
    Skeleton::new(None, joints.collect(), Vec::new()).unwrap()
}

/// The skeleton without names of morph targets.
fn nameless(skeleton: &Skeleton) -> Skeleton {
    let joints = skeleton.joints().iter().cloned().map(|joint| Joint { morph_names: Arc::default(), ..joint });
    Skeleton::new(None, joints.collect(), Vec::new()).unwrap()
}

/// Retargets a clip of the first skeleton to the second.
fn retarget(source: Skeleton, target: Skeleton, tracks: Vec<Track>) -> (Library, Retargeting) {
    let (library, result) = try_retarget(source, target, tracks);
    (library, result.unwrap())
}

fn try_retarget(
    source: Skeleton,
    target: Skeleton,
    tracks: Vec<Track>,
) -> (Library, Result<Retargeting, posse::Error>) {
    let mut library = Library::new();
    let (source, target) = (library.add_skeleton(source), library.add_skeleton(target));
    let clip = library.add_clip(Clip::new(Some("talk".into()), source, tracks)).unwrap();
    let map = JointMap::by_names(&library, source, target).unwrap();
    let result = library.retarget(&[clip], &map, &RetargetOptions::default());
    (library, result)
}

fn weights(library: &Library, clip: ClipId, time: f64) -> Vec<f64> {
    pose_at(&mut Reference::new(library), library, clip, time).weights
}

#[track_caller]
fn assert_weights(library: &Library, result: &Retargeting, time: f64, right: &[f64]) {
    let found = weights(library, result.clips[0].clip, time);
    let is_right =
        found.len() == right.len() && found.iter().zip(right).all(|(found, right)| (found - right).abs() < 1e-6);
    assert!(is_right, "{found:?} in place of {right:?} at {time}");
}

/// A track of the weights of a joint that rise from 0 to these within a second.
fn rising(joint: usize, to: &[f64]) -> Track {
    let values = [&vec![0.0; to.len()][..], to].concat();
    Track::new(Target::Weights(joint), curve(Interpolation::Linear, to.len(), &[0.0, 1.0], &values))
}

fn sentences(library: &Library, result: &Retargeting) -> Vec<String> {
    result.warnings.iter().map(|warning| warning.describe(library, &result.map)).collect()
}

#[test]
fn weights_go_to_the_morph_targets_of_their_names() {
    let source = with_faces(&[("Face", &["jawOpen", "smile"])]);
    let tracks = || vec![rising(1, &[0.8, 0.2])];
    let (library, result) = retarget(source.clone(), with_faces(&[("Face", &["smile", "jawOpen"])]), tracks());
    assert_weights(&library, &result, 1.0, &[0.2, 0.8]);
    assert_weights(&library, &result, 0.5, &[0.1, 0.4]);
    assert_eq!(result.clips[0].tracks[0].method, TrackMethod::Exact);
    assert_eq!((result.clips[0].dropped.as_slice(), sentences(&library, &result)), (&[][..], Vec::new()));
    // Other names are left out or keep their rest weights.
    let (library, result) = retarget(source.clone(), with_faces(&[("Face", &["brow", "smile"])]), tracks());
    assert_weights(&library, &result, 1.0, &[0.5, 0.2]);
    let saying = "morph targets of Face without a partner of the same name: jawOpen of the source, and brow of the target, \
                  which keep their rest weights";
    assert_eq!(sentences(&library, &result), [saying]);
    // Without names on one side, the order counts, if the numbers are equal.
    let named = with_faces(&[("Face", &["smile", "jawOpen"])]);
    for (from, to) in [(nameless(&source), named.clone()), (source.clone(), nameless(&named))] {
        let (library, result) = retarget(from, to, tracks());
        assert_weights(&library, &result, 1.0, &[0.8, 0.2]);
        assert!(result.warnings.is_empty());
    }
    let three = nameless(&with_faces(&[("Face", &["", "", ""])]));
    let (library, result) = retarget(source.clone(), three, tracks());
    assert_weights(&library, &result, 1.0, &[0.5; 3]);
    assert_eq!(result.clips[0].dropped[0].reason, DropReason::Weights);
    let saying = "the morph weights of Face are left out: it has 2, its partner Face has 3, and not both name them";
    assert_eq!(sentences(&library, &result), [saying]);
    // A target without morph targets is none that a warning could help.
    let (_, result) = retarget(source, with_faces(&[]), tracks());
    assert!(result.clips[0].dropped[0].reason == DropReason::Weights && result.warnings.is_empty());
}

#[test]
fn faces_of_other_names_are_found_by_their_morph_targets() {
    // The eyes of the source have one name in common with the head of the target, its mouth has two.
    let source = with_faces(&[("Eyes", &["blink"]), ("Mouth", &["jawOpen", "smile"])]);
    let target = with_faces(&[("Head", &["smile", "blink", "jawOpen"]), ("Teeth", &["jawOpen"]), ("Hat", &["bend"])]);
    let (library, result) = retarget(source.clone(), target, vec![rising(1, &[1.0]), rising(2, &[0.8, 0.2])]);
    assert_weights(&library, &result, 1.0, &[0.2, 0.5, 0.8, 0.8, 0.5]);
    // The blink of the eyes is lost. That others of the head stay at rest is no loss.
    assert!(matches!(result.warnings[..], [RetargetWarning::Morphs { joint: 1 }]), "{:?}", result.warnings);
    // A single weight goes alone.
    let one = Track::component(Target::Weights(2), 1, curve(Interpolation::Step, 1, &[0.0], &[0.75]));
    let (library, result) = retarget(source, with_faces(&[("Head", &["jawOpen", "smile"])]), vec![one]);
    assert_weights(&library, &result, 0.0, &[0.5, 0.75]);
}

/// A driver of a source: its expression, the times in seconds, and the weights at these.
type Driver<'a> = (&'a str, &'a [f64], &'a [f64]);

/// A clip whose joints drive expressions, as in a VRM animation, for a face of three morph targets with expressions.
fn expressions(drivers: &[Driver], of_target: Vec<Expression>) -> (Library, Retargeting) {
    let (library, result) = try_expressions(drivers, of_target);
    (library, result.unwrap())
}

fn try_expressions(drivers: &[Driver], of_target: Vec<Expression>) -> (Library, Result<Retargeting, posse::Error>) {
    let joints = std::iter::once(joint("hip", None, NONE, [0.0; 3]));
    let joints = joints.chain(drivers.iter().map(|(name, ..)| joint(&format!("{name} node"), None, NONE, [0.0; 3])));
    let source = Skeleton::new(None, joints.collect(), Vec::new()).unwrap();
    let drives = |(index, (name, ..)): (usize, &Driver)| Expression {
        name: (*name).into(),
        driver: Some(index + 1),
        ..Expression::default()
    };
    let source = source.with_expressions(drivers.iter().enumerate().map(drives).collect()).unwrap();
    let track = |(index, (_, times, weights)): (usize, &Driver)| {
        let values: Vec<f64> = weights.iter().flat_map(|&weight| [weight, 3.0, -3.0]).collect();
        Track::new(Target::Translation(index + 1), curve(Interpolation::Linear, 3, times, &values))
    };
    let target = with_faces(&[("Face", &["a", "b", "c"])]).with_expressions(of_target).unwrap();
    try_retarget(source, target, drivers.iter().enumerate().map(track).collect())
}

fn expression(name: &str, binds: &[(usize, f64)]) -> Expression {
    let binds = binds.iter().map(|&(index, weight)| MorphBind { joint: 1, index, weight }).collect();
    Expression { name: name.into(), binds, ..Expression::default() }
}

#[test]
fn keys_of_one_expression_stay_keys() {
    let of_target = vec![expression("aa", &[(1, 0.5), (1, 0.25)]), expression("angry", &[(0, 1.0)])];
    let (library, result) = expressions(&[("aa", &[0.0, 0.5, 2.0], &[0.0, 1.0, 0.25])], of_target);
    let made = &library.clip(result.clips[0].clip).tracks[0];
    assert_eq!((made.target, made.curve.timeline().times()), (Target::Weights(1), &[0.0, 0.5, 2.0][..]));
    // Two binds of one morph target add up. The target of an expression that the clip does not drive stays at rest.
    assert_eq!(made.curve.values(), [0.5, 0.0, 0.5, 0.5, 0.75, 0.5, 0.5, 0.1875, 0.5]);
    assert_eq!((result.clips[0].tracks[0].method, result.clips[0].dropped.len()), (TrackMethod::Exact, 0));
    assert!(result.warnings.is_empty());
}

#[test]
fn expressions_add_up_and_binary_ones_are_on_or_off() {
    let blink = Expression { is_binary: true, ..expression("Blink", &[(1, 0.25), (2, 1.0)]) };
    let of_target = vec![expression("aa", &[(1, 0.5)]), blink];
    // The weight of `aa` rises to 1 within two seconds, the weight of `blink` to 0.8 within one: it is on from 0.625 s.
    let drivers: [Driver; 2] = [("aa", &[0.0, 2.0], &[0.0, 1.0]), ("blink", &[0.0, 1.0], &[0.0, 0.8])];
    let (library, result) = expressions(&drivers, of_target);
    assert_eq!(result.clips[0].dropped, []);
    for (time, b, c) in
        [(0.0, 0.0, 0.0), (0.6, 0.15, 0.0), (0.62499, 0.1562475, 0.0), (0.62501, 0.4062525, 1.0), (2.0, 0.75, 1.0)]
    {
        assert_weights(&library, &result, time, &[0.5, b, c]);
    }
    let method = result.clips[0].tracks[0].method;
    // A jump is two keys, so that few are enough.
    assert!(matches!(method, TrackMethod::Resampled { keys: 5, error } if error < 1e-4), "{method:?}");
}

/// Each of the 12000 key times would ask for 3000 expressions.
#[test]
fn a_morph_target_of_too_many_expressions_is_refused() {
    let names: Vec<String> = (0..3000).map(|index| format!("e{index}")).collect();
    let times = |index: usize| [0.0, 0.25, 0.5, 0.75].map(|key| 1e-3 * (index as f64 + key));
    let times: Vec<[f64; 4]> = (0..3000).map(times).collect();
    let drivers: Vec<Driver> =
        names.iter().zip(&times).map(|(name, times)| (name.as_str(), &times[..], &[0.0, 1.0, 0.0, 1.0][..])).collect();
    let of_target = names.iter().map(|name| expression(name, &[(0, 1.0)])).collect();
    let error = try_expressions(&drivers, of_target).1.unwrap_err().to_string();
    assert!(error.starts_with("clip talk, morph weights: ") && error.contains("need more than"), "{error}");
}

#[test]
fn weights_beyond_0_and_1_are_clamped() {
    let (library, result) = expressions(&[("aa", &[0.0, 2.0], &[-1.0, 3.0])], vec![expression("aa", &[(0, 1.0)])]);
    for (time, right) in [(0.0, 0.0), (0.4, 0.0), (0.75, 0.5), (1.5, 1.0), (2.0, 1.0)] {
        let found = weights(&library, result.clips[0].clip, time)[0];
        assert!((found - right).abs() < 2e-4, "{found} in place of {right} at {time}");
    }
}

#[test]
fn expressions_weaken_or_block_lip_sync_and_blinking() {
    let happy = |effect: ExpressionOverride| Expression {
        override_mouth: effect,
        override_blink: ExpressionOverride::Block,
        ..expression("happy", &[(2, 1.0)])
    };
    let of_target = |effect| vec![happy(effect), expression("aa", &[(0, 1.0)]), expression("blink", &[(1, 1.0)])];
    let drivers: [Driver; 3] =
        [("happy", &[0.0, 1.0, 2.0], &[0.0, 0.0, 0.5]), ("aa", &[0.0], &[0.8]), ("blink", &[0.0], &[1.0])];
    // From 1 s on, `happy` rises to 0.5. It blocks `blink` from then on, and weakens `aa` by its weight or blocks it.
    for (effect, aa) in
        [(ExpressionOverride::Blend, 0.6), (ExpressionOverride::Block, 0.0), (ExpressionOverride::None, 0.8)]
    {
        let (library, result) = expressions(&drivers, of_target(effect));
        assert_weights(&library, &result, 0.5, &[0.8, 1.0, 0.0]);
        assert_weights(&library, &result, 1.5, &[aa, 0.0, 0.25]);
    }
    // A binary expression is either on or off, and an expression of the same group has no effect.
    let group = Expression { override_mouth: ExpressionOverride::Block, ..expression("oh", &[(1, 1.0)]) };
    let lips = Expression { is_binary: true, ..expression("aa", &[(0, 1.0)]) };
    let of_target = vec![happy(ExpressionOverride::Blend), lips, group];
    let drivers: [Driver; 3] =
        [("happy", &[0.0, 1.0, 2.0], &[0.0, 0.0, 0.5]), ("aa", &[0.0], &[0.8]), ("oh", &[0.0], &[0.4])];
    let (library, result) = expressions(&drivers, of_target);
    assert_weights(&library, &result, 0.5, &[1.0, 0.4, 0.0]);
    assert_weights(&library, &result, 1.5, &[0.0, 0.3, 0.25]);
    // What is on above a half alone weakens from there on.
    let binary = Expression { is_binary: true, ..happy(ExpressionOverride::Blend) };
    let drivers: [Driver; 2] = [("happy", &[0.0, 1.0], &[0.0, 1.0]), ("aa", &[0.0], &[0.8])];
    let (library, result) = expressions(&drivers, vec![binary, expression("aa", &[(0, 1.0)])]);
    assert_weights(&library, &result, 0.49, &[0.8, 0.5, 0.0]);
    assert_weights(&library, &result, 0.51, &[0.0, 0.5, 1.0]);
}

#[test]
fn expressions_without_a_partner_are_the_reason() {
    let drivers: [Driver; 2] = [("aa", &[0.0, 1.0], &[0.0, 1.0]), ("wink", &[0.0, 1.0], &[0.0, 1.0])];
    let (library, result) = expressions(&drivers, vec![expression("aa", &[(0, 1.0)]), expression("wink", &[])]);
    assert_eq!(result.clips[0].dropped.len(), 1);
    assert_eq!(result.clips[0].dropped[0].reason, DropReason::Expression);
    assert_eq!(
        sentences(&library, &result),
        ["expressions that move no morph weights of the target are left out: wink"]
    );
}

#[test]
fn an_animation_gives_its_expressions_to_another_one() {
    let animation = |driver: &str| {
        let joints = ["hip", driver].map(|name| joint(name, None, NONE, [0.0; 3])).to_vec();
        let aa = Expression { name: "aa".into(), driver: Some(1), ..Expression::default() };
        Skeleton::new(None, joints, Vec::new()).unwrap().with_expressions(vec![aa]).unwrap()
    };
    let keys = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let track = Track::new(Target::Translation(1), keys);
    let (library, result) = retarget(animation("from"), animation("to"), vec![track.clone()]);
    assert_eq!(library.clip(result.clips[0].clip).tracks, [track]);
    assert_eq!(result.clips[0].dropped, []);
}

#[test]
fn a_vrm_animation_has_the_expressions_of_morph_weights() {
    // The built-in human with a face of two morph targets, of which `aa` moves the first by a half.
    let mut joints = demo::library().unwrap().skeletons()[0].joints().to_vec();
    let face = joints.len();
    joints.push(Joint { weights: vec![0.0; 2], ..joint("Face", None, NONE, [0.0; 3]) });
    let expression = |name: &str, index, weight| Expression {
        name: name.into(),
        binds: vec![MorphBind { joint: face, index, weight }],
        ..Expression::default()
    };
    let expressions = vec![expression("aa", 0, 0.5), expression("tongue", 1, 1.0), expression("sad", 0, 0.0)];
    let model = Skeleton::new(None, joints, Vec::new()).unwrap().with_expressions(expressions).unwrap();
    let mut library = Library::new();
    let skeleton = library.add_skeleton(model);
    let morphs = curve(Interpolation::Linear, 2, &[0.0, 1.0], &[0.0, 0.0, 0.5, 0.25]);
    let talk = Clip::new(Some("talk".into()), skeleton, vec![Track::new(Target::Weights(face), morphs)]);
    let talk = library.add_clip(talk).unwrap();
    let (document, notes) = VrmAnimation::document(&library, talk, 4.0).unwrap();
    assert_eq!(notes, [""; 0]);
    let glb = document.to_glb().unwrap();
    let extension = &parts(&glb).0["extensions"]["VRMC_vrm_animation"];
    let groups = extension["expressions"].as_object().unwrap();
    let names = |group: &str| groups[group].as_object().unwrap().keys().cloned().collect::<Vec<String>>();
    assert_eq!((groups.len(), names("preset"), names("custom")), (2, vec!["aa".into()], vec!["tongue".into()]));
    // What is read moves the face of the model as before.
    let asset = gltf::from_slice(&mut library, "talk.vrma".as_ref(), &glb, None).unwrap();
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
    let drivers = library.skeleton(asset.skeleton).expressions().iter();
    let drivers: Vec<_> = drivers.map(|expression| (expression.name.as_str(), expression.driver.unwrap())).collect();
    for (name, middle) in [("aa", 0.5), ("tongue", 0.125)] {
        let driver = drivers.iter().find(|(other, _)| *other == name).unwrap().1;
        let tracks = &library.clip(asset.clips[0]).tracks;
        let track = tracks.iter().find(|track| track.target == Target::Translation(driver)).unwrap();
        assert_eq!(track.curve.timeline().len(), 5);
        let found = track.curve.value(2);
        assert!((found[0] - middle).abs() < 1e-6 && found[1..] == [0.0, 0.0], "{name}: {found:?}");
    }
    let map = JointMap::by_names(&library, asset.skeleton, skeleton).unwrap();
    let result = library.retarget(&asset.clips, &map, &RetargetOptions::default()).unwrap();
    for time in [0.0, 0.25, 0.6, 1.0] {
        let [before, after] = [talk, result.clips[0].clip].map(|clip| weights(&library, clip, time));
        let is_near = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-5;
        assert!(before.len() == after.len() && before.iter().zip(&after).all(is_near), "{before:?} {after:?}");
    }
}

#[test]
fn a_skeleton_refuses_expressions_and_names_that_do_not_fit() {
    let refused = |skeleton: Result<Skeleton, posse::Error>, saying: &str| {
        let error = skeleton.unwrap_err().to_string();
        assert!(error.contains(saying), "{error}");
    };
    let face = || with_faces(&[("Face", &["a", "b", "c"])]);
    refused(face().with_expressions(vec![expression("aa", &[(3, 1.0)])]), "expression aa moves its morph weight 3");
    refused(face().with_expressions(vec![expression("aa", &[(0, f64::NAN)])]), "it has 3, which take finite numbers");
    let driven = Expression { name: "aa".into(), driver: Some(2), ..Expression::default() };
    refused(face().with_expressions(vec![driven]), "there is no joint 2");
    let joint = Joint { weights: vec![0.0], morph_names: vec!["a".into(), "b".into()].into(), ..Joint::default() };
    refused(Skeleton::new(None, vec![joint], Vec::new()), "2 names of morph targets for 1 morph weights");
}
