//! The rules of retargeting on random pairs of rigs: rotations in model space, and the place of the root.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use posse::curves::{Curve, Interpolation, Target, Timeline, Track};
use posse::retarget::{CarriedJoints, JointMap, ReferencePose, RetargetOptions, RootTranslation, TrackMethod};
use posse::{Clip, ClipId, Joint, Library, SkeletonId, Transform};

use super::rigs::{Dice, add, angle, joint, model_pose};
use crate::support::cases::some_of;

/// The joints that both rigs can have: name and parent.
const JOINTS: [(&str, &str); 12] = [
    ("hips", ""),
    ("spine", "hips"),
    ("chest", "spine"),
    ("neck", "chest"),
    ("head", "neck"),
    ("arm.L", "chest"),
    ("elbow.L", "arm.L"),
    ("arm.R", "chest"),
    ("elbow.R", "arm.R"),
    ("leg.L", "hips"),
    ("leg.R", "hips"),
    ("foot.R", "leg.R"),
];

/// A rig with some of the joints at random, and with others between them.
fn rig(dice: &mut Dice) -> Vec<Joint> {
    let mut joints: Vec<Joint> = Vec::new();
    if dice.unit() < 0.5 {
        joints.push(joint("armature", None, dice.rotation(), [0.1, 0.2, 0.3]));
    }
    let top = joints.len().checked_sub(1);
    // A joint whose parent is missing hangs from the next one above.
    let mut place = std::collections::HashMap::from([("", top)]);
    let mut names = JOINTS.to_vec();
    // Siblings stand in another order in each rig.
    if dice.unit() < 0.5 {
        names[5..9].rotate_left(2);
    }
    for (index, (name, above)) in names.into_iter().enumerate() {
        let mut parent = place[above];
        if index > 0 && dice.unit() < 0.2 {
            place.insert(name, parent);
            continue;
        }
        if dice.unit() < 0.3 {
            let extra = format!("extra {}", dice.below(1 << 30));
            joints.push(joint(&extra, parent, dice.rotation(), dice.vector().to_array()));
            parent = Some(joints.len() - 1);
        }
        joints.push(joint(name, parent, dice.rotation(), (dice.vector() + DVec3::Y).to_array()));
        place.insert(name, Some(joints.len() - 1));
    }
    joints
}

const KINDS: [Interpolation; 3] = [Interpolation::Step, Interpolation::Linear, Interpolation::CubicSpline];

fn rotations(dice: &mut Dice, timeline: Arc<Timeline>, interpolation: Interpolation) -> Curve {
    let mut before = dice.rotation();
    let mut values = Vec::new();
    for _ in 0..timeline.len() {
        before = (before * DQuat::from_scaled_axis(dice.vector() * 2.0)).normalize();
        let mut element = |is_value: bool| {
            let tangent = dice.rotation() * 0.3;
            values.extend(if is_value { before } else { tangent }.to_array());
        };
        match interpolation {
            Interpolation::CubicSpline => [false, true, false].into_iter().for_each(&mut element),
            _ => element(true),
        }
    }
    Curve::new(timeline, interpolation, 4, values).unwrap()
}

fn translations(dice: &mut Dice, timeline: Arc<Timeline>, interpolation: Interpolation) -> Curve {
    let count = 3 * timeline.len() * interpolation.elements_per_key();
    let values = (0..count).map(|_| dice.unit() * 2.0 - 1.0).collect();
    Curve::new(timeline, interpolation, 3, values).unwrap()
}

/// A clip of a rig. `kind` is the interpolation of all tracks; without it, each has its own.
fn clip(dice: &mut Dice, joints: &[Joint], skeleton: SkeletonId, kind: Option<Interpolation>) -> Clip {
    let timelines: Vec<Arc<Timeline>> = [vec![0.0, 0.5, 0.75, 1.5], vec![0.25, 0.5, 1.25], vec![0.5]]
        .into_iter()
        .map(|times| Arc::new(Timeline::new(times).unwrap()))
        .collect();
    let mut tracks = Vec::new();
    for (index, joint) in joints.iter().enumerate() {
        let (timeline, moves) = (timelines[dice.below(3)].clone(), dice.unit());
        let kind = kind.unwrap_or_else(|| KINDS[dice.below(3)]);
        let name = joint.name.as_deref().unwrap();
        if moves < 0.7 {
            tracks.push(Track::new(Target::Rotation(index), rotations(dice, timeline.clone(), kind)));
        }
        if name == "hips" || moves < 0.1 {
            tracks.push(Track::new(Target::Translation(index), translations(dice, timeline, kind)));
        }
    }
    Clip::new(Some("moves".into()), skeleton, tracks)
}

/// The times at which poses are compared: keys, beside keys, between keys, and beyond them.
fn times() -> impl Iterator<Item = f64> {
    (-2..36).map(|step| f64::from(step) / 20.0).chain([0.2499, 0.4999, 0.5001, 0.7499, 1.2499])
}

struct Case {
    library: Library,
    map: JointMap,
    options: RetargetOptions,
    source: ClipId,
}

/// Compares each mapped joint with the rule, and returns the largest error of exact tracks and of all.
fn check(seed: u64, mut case: Case) -> [f64; 2] {
    let result = case.library.retarget(&[case.source], &case.map, &case.options).unwrap();
    let Case { library, map, options, source } = &case;
    let made = &result.clips[0];
    let reference = match options.reference {
        ReferencePose::Rest => model_pose(library, map.source, None),
        ReferencePose::Clip { clip, time } => model_pose(library, map.source, Some((clip, time))),
        ReferencePose::Local(_) => unreachable!("no case has such a pose"),
    };
    let rest = model_pose(library, map.target, None);
    let size = rest.iter().map(|(_, place)| place.length()).fold(0.0, f64::max);
    let target = library.skeleton(map.target).joints();
    let exact = |joint: usize| {
        let is_exact = |joint: usize| {
            let of_joint = |target| target == Target::Rotation(joint) || target == Target::Translation(joint);
            made.tracks.iter().filter(|track| of_joint(track.target)).all(|track| match track.method {
                TrackMethod::Exact | TrackMethod::Constant => true,
                TrackMethod::Resampled { error, .. } => error == 0.0,
            })
        };
        std::iter::successors(Some(joint), |&joint| target[joint].parent).all(is_exact)
    };
    let mut worst = [0.0_f64; 2];
    for time in times() {
        let from = model_pose(library, map.source, Some((*source, time)));
        let to = model_pose(library, map.target, Some((made.clip, time)));
        for pair in &map.pairs {
            let expected = from[pair.source].0 * reference[pair.source].0.conjugate() * rest[pair.target].0;
            let error = angle(to[pair.target].0, expected);
            worst[1] = worst[1].max(error);
            if exact(pair.target) {
                worst[0] = worst[0].max(error);
            }
        }
        let root = result.map.root.unwrap();
        let partner = map.target_of(root).unwrap();
        let expected = rest[partner].1 + result.scale * (from[root].1 - reference[root].1);
        let error = to[partner].1.distance(expected) / size;
        worst[1] = worst[1].max(error);
        if exact(partner) {
            worst[0] = worst[0].max(error);
        }
        let pose = |joint: usize| {
            let Transform { translation, scale, .. } = library.skeleton(map.target).joints()[joint].rest;
            (translation, scale)
        };
        for joint in (0..target.len()).filter(|&joint| joint != partner) {
            let moved =
                library.clip(made.clip).tracks.iter().any(|track| {
                    track.target == Target::Translation(joint) || matches!(track.target, Target::Scale(_))
                });
            assert!(!moved, "seed {seed}: joint {joint} leaves {:?}", pose(joint));
        }
    }
    worst
}

fn case(seed: u64, kind: Option<Interpolation>) -> Case {
    let mut dice = Dice::new(seed);
    let (from, to) = (rig(&mut dice), rig(&mut dice));
    let mut library = Library::new();
    let (source, target) = (add(&mut library, from.clone()), add(&mut library, to));
    let moves = clip(&mut dice, &from, source, kind);
    let id = library.add_clip(moves).unwrap();
    let mut map = JointMap::by_names(&library, source, target).unwrap();
    map.translation =
        [RootTranslation::Scaled(None), RootTranslation::Scaled(Some(0.7)), RootTranslation::Full][dice.below(3)];
    let mut options = RetargetOptions { translations: CarriedJoints::Root, ..RetargetOptions::default() };
    if dice.unit() < 0.3 {
        options.reference = ReferencePose::Clip { clip: id, time: 0.6 };
    }
    Case { library, map, options, source: id }
}

#[test]
fn mapped_joints_turn_and_the_root_moves_as_the_rules_say() {
    let (mut exact, mut all) = (0.0_f64, 0.0_f64);
    for seed in 0..some_of(400) {
        let kind = [Some(KINDS[0]), Some(KINDS[1]), Some(KINDS[2]), None][seed as usize % 4];
        let [of_exact, of_all] = check(seed, case(seed, kind));
        assert!(of_exact < 1e-6, "seed {seed}: exact tracks are off by {of_exact}");
        assert!(of_all < 1.05e-4, "seed {seed}: off by {of_all}");
        exact = exact.max(of_exact);
        all = all.max(of_all);
    }
    assert!(all > 1e-6, "some tracks were resampled, with errors: {exact} {all}");
}

#[test]
fn steps_stay_steps_whatever_lies_between_the_joints() {
    for seed in 1000..1000 + some_of(80) {
        let case = case(seed, Some(Interpolation::Step));
        let (mut library, map, source) = (case.library.clone(), case.map.clone(), case.source);
        assert!(check(seed, case)[1] < 1e-6, "seed {seed}");
        let result = library.retarget(&[source], &map, &RetargetOptions::default()).unwrap();
        for track in &library.clip(result.clips[0].clip).tracks {
            assert_eq!(track.curve.interpolation(), Interpolation::Step);
        }
    }
}

#[test]
fn a_smaller_bound_gives_more_keys_and_a_smaller_error() {
    let mut all = [0, 0];
    for seed in 2000..2020 {
        let Case { mut library, map, mut options, source } = case(seed, Some(Interpolation::Linear));
        let mut before = [0, 0];
        for (step, bound) in [1e-2, 1e-4].into_iter().enumerate() {
            options.rotation_bound = bound;
            let result = library.retarget(&[source], &map, &options).unwrap();
            let keys = result.clips[0].tracks.iter().map(|track| match track.method {
                TrackMethod::Resampled { keys, .. } if matches!(track.target, Target::Rotation(_)) => keys,
                _ => 0,
            });
            before[step] = keys.sum();
            assert!(result.clips[0].rotation_error() <= bound, "seed {seed}");
        }
        assert!(before[1] >= before[0], "seed {seed}: {before:?}");
        all = [all[0] + before[0], all[1] + before[1]];
    }
    // An arc is off by about the square of its length: ten times as many keys for a hundredth of the bound, where there
    // is a bend.
    assert!(all[0] > 0 && all[1] > 3 * all[0], "{all:?}");
}
