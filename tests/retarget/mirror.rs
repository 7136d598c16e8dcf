//! Mirror images of clips: by hand, by the reflected places of joints, and by two reflections.

use std::path::{Path, PathBuf};

use glam::{DQuat, DVec3};
use posse::curves::{Curve, Interpolation, Target, Track};
use posse::events::Event;
use posse::retarget::{JointMap, MirrorMap, MirrorRemark, Mirroring, RetargetOptions, TrackMethod, mirrored_name};
use posse::rig::Expression;
use posse::root_motion::{RootMotion, RootRotation};
use posse::{Clip, ClipId, Error, Joint, Library, Skeleton, SkeletonId, demo, import};

use super::rigs::{Dice, add, angle, joint, model_pose};
use crate::support::build::{curve, degrees, pose_at};
use crate::support::cases::some_of;
use crate::support::each_engine::each_engine;
use crate::support::skip::collected_folder_or_skip;

const NONE: DQuat = DQuat::IDENTITY;

/// A body of two arms, whose left one is along +X.
fn arms() -> Vec<Joint> {
    vec![
        joint("hips", None, NONE, [0.0, 1.0, 0.0]),
        joint("arm.L", Some(0), NONE, [0.5, 0.0, 0.0]),
        joint("hand.L", Some(1), NONE, [1.0, 0.0, 0.0]),
        joint("arm.R", Some(0), NONE, [-0.5, 0.0, 0.0]),
        joint("hand.R", Some(3), NONE, [-1.0, 0.0, 0.0]),
    ]
}

struct Case {
    library: Library,
    skeleton: SkeletonId,
    clip: ClipId,
}

impl Case {
    fn new(joints: Vec<Joint>, tracks: Vec<(Target, Curve)>) -> Self {
        let mut library = Library::new();
        let skeleton = add(&mut library, joints);
        let tracks = tracks.into_iter().map(|(target, curve)| Track::new(target, curve)).collect();
        let clip = library.add_clip(Clip::new(Some("moves".into()), skeleton, tracks)).unwrap();
        Self { library, skeleton, clip }
    }

    fn mirror(&mut self) -> Mirroring {
        let map = MirrorMap::new(&self.library, self.skeleton).unwrap();
        self.library.mirror(&[self.clip], &map).unwrap()
    }
}

fn curve_of(library: &Library, clip: ClipId, target: Target) -> Option<&Curve> {
    library.clip(clip).tracks.iter().find(|track| track.target == target).map(|track| &track.curve)
}

fn size(library: &Library, skeleton: SkeletonId) -> f64 {
    model_pose(library, skeleton, None).iter().map(|(_, place)| place.length()).fold(0.0, f64::max)
}

/// The largest distance of a joint of one clip from the place of its partner in another one, reflected in the plane
/// through a point, as a share of the size of the rig. Also the largest difference of the directions of bones in
/// degrees.
fn errors(library: &Library, map: &MirrorMap, [one, other]: [ClipId; 2], point: DVec3) -> [f64; 2] {
    let (size, duration) = (size(library, map.skeleton), library.clip(one).duration());
    let (mut worst, mut compared) = ([0.0_f64; 2], [0; 2]);
    for step in -1..=40 {
        let time = duration * f64::from(step) / 39.0;
        let from = model_pose(library, map.skeleton, Some((one, time)));
        let to = model_pose(library, map.skeleton, Some((other, time)));
        let reflect = |way: DVec3| way - 2.0 * way.dot(map.normal) * map.normal;
        for (joint, partner) in map.partners.iter().enumerate() {
            let Some(partner) = *partner else { continue };
            compared[0] += 1;
            worst[0] = worst[0].max(to[joint].1.distance(point + reflect(from[partner].1 - point)) / size);
            let joints = library.skeleton(map.skeleton).joints();
            let (Some(parent), Some(above)) = (joints[joint].parent, joints[partner].parent) else { continue };
            let ways = [to[joint].1 - to[parent].1, reflect(from[partner].1 - from[above].1)];
            if map.partners[parent] == Some(above) && ways.iter().all(|way| way.length() > 0.02 * size) {
                compared[1] += 1;
                worst[1] = worst[1].max(ways[0].angle_between(ways[1]).to_degrees());
            }
        }
    }
    assert!(compared.iter().all(|&count| count > 0), "joints and bones that were compared: {compared:?}");
    worst
}

#[test]
fn the_left_arm_does_what_the_right_arm_did() {
    let up = degrees(DVec3::Z, 30.0);
    let ahead = degrees(DVec3::Y, -40.0);
    let keys = [NONE, up, ahead].iter().flat_map(|rotation| rotation.to_array()).collect::<Vec<f64>>();
    let raise = curve(Interpolation::Linear, 4, &[0.0, 0.5, 2.0], &keys);
    let zeros = [0.0; 3];
    let values = [zeros, [2.0, 1.0, 4.0], [1.0, 2.0, 3.0], [5.0, 6.0, 7.0], [3.0, 1.5, 0.0], zeros].concat();
    let way = curve(Interpolation::CubicSpline, 3, &[0.0, 1.0], &values);
    let step = curve(
        Interpolation::Step,
        4,
        &[0.25, 0.75],
        &[NONE, degrees(DVec3::X, 50.0)].map(|step| step.to_array()).concat(),
    );
    let reach = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[1.0, 0.0, 0.0, 1.5, 0.1, 0.2]);
    let mut case = Case::new(
        arms(),
        vec![
            (Target::Rotation(1), raise),
            (Target::Translation(0), way),
            (Target::Rotation(0), step),
            (Target::Translation(2), reach),
        ],
    );
    let events = vec![Event { time: 0.5, function: "left foot".into(), parameters: vec!["left".into()] }];
    case.library.set_events(case.clip, events.clone()).unwrap();
    case.library.set_markers(case.clip, vec![0.0, 1.0]).unwrap();
    let root = RootMotion { joint: 0, translation: [true, false, true], rotation: RootRotation::Yaw };
    case.library.set_root_motion(case.clip, Some(root)).unwrap();
    let result = case.mirror();
    assert_eq!((result.remarks.as_slice(), result.clips[0].dropped.as_slice()), (&[][..], &[][..]));
    assert!(result.clips[0].tracks.iter().all(|track| track.method == TrackMethod::Exact));
    let made = case.library.clip(result.clips[0].clip);
    assert_eq!((made.name.as_deref(), made.duration()), (Some("moves_mirror"), 2.0));
    assert_eq!((&made.events, made.markers.as_slice(), made.root_motion), (&events, &[0.0, 1.0][..], Some(root)));
    let of = |target: Target| curve_of(&case.library, result.clips[0].clip, target).unwrap();
    assert_eq!(made.tracks.len(), 4);
    let near = |found: &[f64], expected: &[f64]| {
        let most = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs()).fold(0.0, f64::max);
        assert!(most < 1e-12, "{found:?} instead of {expected:?}");
    };
    // The right arm is raised: about z by -30 degrees. It goes ahead (+Z) as the left one did: about y by 40 degrees.
    let raised = of(Target::Rotation(3));
    assert_eq!((raised.interpolation(), raised.timeline().times()), (Interpolation::Linear, &[0.0, 0.5, 2.0][..]));
    near(raised.value(0), &NONE.to_array());
    near(raised.value(1), &degrees(DVec3::Z, -30.0).to_array());
    near(raised.value(2), &degrees(DVec3::Y, 40.0).to_array());
    // Values and tangents of the root have the other sign along x.
    let way = of(Target::Translation(0));
    assert_eq!(way.interpolation(), Interpolation::CubicSpline);
    near(
        way.values(),
        &[zeros, [-2.0, 1.0, 4.0], [-1.0, 2.0, 3.0], [-5.0, 6.0, 7.0], [-3.0, 1.5, 0.0], zeros].concat(),
    );
    // A rotation about the normal stays.
    let step = of(Target::Rotation(0));
    assert_eq!((step.interpolation(), step.timeline().times()), (Interpolation::Step, &[0.25, 0.75][..]));
    near(step.value(1), &degrees(DVec3::X, 50.0).to_array());
    near(of(Target::Translation(4)).values(), &[-1.0, 0.0, 0.0, -1.5, 0.1, 0.2]);
}

#[test]
fn each_joint_of_the_walking_human_is_at_the_reflected_place_of_its_partner() {
    let mut library = demo::library().unwrap();
    let clips: Vec<ClipId> = library.clip_ids().collect();
    let map = MirrorMap::new(&library, library.clip(clips[0]).skeleton).unwrap();
    assert_eq!(map.normal, DVec3::X);
    let joints = library.skeleton(map.skeleton).joints();
    let name = |joint: usize| joints[joint].name.as_deref().unwrap();
    for (joint, partner) in map.partners.iter().enumerate() {
        let partner = name(partner.unwrap());
        let expected = match name(joint).rsplit_once('.') {
            Some((part, "L")) => format!("{part}.R"),
            Some((part, "R")) => format!("{part}.L"),
            _ => name(joint).into(),
        };
        assert_eq!(partner, expected, "the partner of {}", name(joint));
    }
    let result = library.mirror(&clips, &map).unwrap();
    assert_eq!(result.remarks, []);
    let mirrors: Vec<ClipId> = result.clips.iter().map(|made| made.clip).collect();
    for (&clip, &mirror) in clips.iter().zip(&mirrors) {
        let [places, _] = errors(&library, &map, [clip, mirror], DVec3::ZERO);
        assert!(places < 1e-6, "{:?}: off by {places}", library.clip(clip).name);
        assert_eq!(library.clip(clip).duration(), library.clip(mirror).duration());
    }
    assert!(result.clips.iter().flat_map(|made| &made.tracks).all(|track| track.method == TrackMethod::Exact));
    // The mirror image of the mirror image has the keys of the original.
    let again = library.mirror(&mirrors, &map).unwrap();
    for (&clip, again) in clips.iter().zip(&again.clips) {
        let (one, other) = (library.clip(clip), library.clip(again.clip));
        assert_eq!(
            (one.tracks.len(), &one.events, one.root_motion),
            (other.tracks.len(), &other.events, other.root_motion)
        );
        for track in &one.tracks {
            let curve = curve_of(&library, again.clip, track.target).unwrap_or_else(|| panic!("{:?}", track.target));
            assert_eq!(curve.timeline().times(), track.curve.timeline().times());
            assert_eq!(curve.interpolation(), track.curve.interpolation());
            let most = curve.values().iter().zip(track.curve.values()).map(|(one, other)| (one - other).abs());
            assert!(most.fold(0.0, f64::max) < 1e-7, "{:?}", track.target);
        }
    }
    let name = |index: usize| library.clip(again.clips[index].clip).name.clone().unwrap();
    assert_eq!(name(0), format!("{}_mirror_mirror", library.clip(clips[0]).name.as_deref().unwrap()));
    // All engines play it.
    let walk = library.find_clip("walk_mirror").unwrap();
    let expected = model_pose(&library, map.skeleton, Some((walk, 0.3)));
    each_engine(&library, |engine| {
        let pose = pose_at(engine, &library, walk, 0.3);
        for (matrix, (_, place)) in pose.model.iter().zip(&expected) {
            assert!(matrix.translation.distance(*place) < 1e-4, "{}", engine.engine());
        }
    });
}

/// The human of the library with joints whose axes are turned at random, and its walk.
fn with_odd_axes(seed: u64) -> (Library, SkeletonId, ClipId) {
    let mut dice = Dice::new(seed);
    let mut library = demo::library().unwrap();
    let (human, walk) = (library.skeleton_ids().next().unwrap(), library.find_clip("walk").unwrap());
    let joints = library.skeleton(human).joints().to_vec();
    let turns: Vec<DQuat> = joints.iter().map(|_| dice.rotation()).collect();
    let turned = joints.iter().zip(&turns).map(|(joint, turn)| {
        let above = joint.parent.map_or(NONE, |parent| turns[parent]).conjugate();
        let mut joint = joint.clone();
        joint.rest.translation = above * joint.rest.translation;
        joint.rest.rotation = above * joint.rest.rotation * *turn;
        joint
    });
    let odd = library.add_skeleton(Skeleton::new(None, turned.collect(), Vec::new()).unwrap());
    let map = JointMap::by_names(&library, human, odd).unwrap();
    let result = library.retarget(&[walk], &map, &RetargetOptions::default()).unwrap();
    (library, odd, result.clips[0].clip)
}

#[test]
fn axes_of_joints_do_not_matter() {
    for seed in 0..some_of(40) {
        let (mut library, odd, walk) = with_odd_axes(seed);
        let map = MirrorMap::new(&library, odd).unwrap();
        let result = library.mirror(&[walk], &map).unwrap();
        let mirror = result.clips[0].clip;
        assert_eq!(result.remarks, []);
        let [places, _] = errors(&library, &map, [walk, mirror], DVec3::ZERO);
        assert!(places < 1e-6, "seed {seed}: off by {places}");
        let again = library.mirror(&[mirror], &map).unwrap().clips[0].clip;
        for track in &library.clip(walk).tracks {
            let curve = curve_of(&library, again, track.target).unwrap();
            let most = curve.values().iter().zip(track.curve.values()).map(|(one, other)| (one - other).abs());
            assert!(most.fold(0.0, f64::max) < 1e-7, "seed {seed}: {:?}", track.target);
        }
    }
}

/// Draws the numbers of a key.
type Draw = Box<dyn FnMut(&mut Dice) -> Vec<f64>>;

/// A symmetric tree with axes at random, joints in the plane and pairs, and a clip that moves, turns and scales all of
/// them; and the number of pairs.
fn symmetric(dice: &mut Dice) -> (Vec<Joint>, Vec<(Target, Curve)>, usize) {
    const KINDS: [Interpolation; 3] = [Interpolation::Step, Interpolation::Linear, Interpolation::CubicSpline];
    let reflect = |place: DVec3| place * DVec3::new(-1.0, 1.0, 1.0);
    // Places in model space, and rotations in model space.
    let mut joints: Vec<(String, Option<usize>, DVec3, DQuat)> =
        vec![("root".into(), None, DVec3::ZERO, dice.rotation())];
    let mut partner = vec![0];
    for index in 1..8 {
        let parent = dice.below(joints.len());
        let place = joints[parent].2 + dice.vector() + DVec3::Y;
        if partner[parent] == parent && dice.unit() < 0.4 {
            joints.push((format!("middle {index}"), Some(parent), place * DVec3::new(0.0, 1.0, 1.0), dice.rotation()));
            partner.push(joints.len() - 1);
            continue;
        }
        let count = joints.len();
        let place = place + DVec3::X;
        joints.push((format!("leg{index}.L"), Some(parent), place, dice.rotation()));
        joints.push((format!("leg{index}.R"), Some(partner[parent]), reflect(place), dice.rotation()));
        partner.extend([count + 1, count]);
    }
    let nodes = joints.iter().map(|(name, parent, place, rotation)| {
        let (above, origin) =
            parent.map_or((NONE, DVec3::ZERO), |parent| (joints[parent].3.conjugate(), joints[parent].2));
        joint(name, *parent, above * *rotation, (above * (*place - origin)).to_array())
    });
    let nodes: Vec<Joint> = nodes.collect();
    let mut tracks = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let times = [vec![0.0, 0.5, 0.75, 1.5], vec![0.25, 1.25], vec![0.5]][dice.below(3)].clone();
        let kind = KINDS[dice.below(3)];
        let mut numbers = |width: usize, mut value: Draw| {
            let mut values = Vec::new();
            for _ in &times {
                let tangent = |dice: &mut Dice| (0..width).map(|_| dice.unit() - 0.5).collect::<Vec<f64>>();
                if kind == Interpolation::CubicSpline {
                    values.extend(tangent(dice));
                }
                values.extend(value(dice));
                if kind == Interpolation::CubicSpline {
                    values.extend(tangent(dice));
                }
            }
            curve(kind, width, &times, &values)
        };
        let rest = node.rest.translation;
        let rotation = numbers(4, Box::new(|dice| dice.rotation().to_array().to_vec()));
        let translation = numbers(3, Box::new(move |dice| (rest + dice.vector()).to_array().to_vec()));
        tracks.push((Target::Rotation(index), rotation));
        tracks.push((Target::Translation(index), translation));
        if dice.unit() < 0.3 {
            let values: Vec<f64> = times.iter().flat_map(|_| [0.5 + dice.unit(); 3]).collect();
            tracks.push((Target::Scale(index), curve(Interpolation::Linear, 3, &times, &values)));
        }
    }
    let pairs = joints.len() - 8;
    (nodes, tracks, pairs)
}

#[test]
fn every_track_of_every_symmetric_rig_is_mirrored_exactly() {
    for seed in 0..some_of(200) {
        let mut dice = Dice::new(seed);
        let (joints, tracks, pairs) = symmetric(&mut dice);
        // Without names, places tell the same.
        let nameless = seed % 2 == 1;
        let joints =
            joints.into_iter().map(|joint| Joint { name: joint.name.filter(|_| !nameless), ..joint }).collect();
        let count = tracks.len();
        let mut case = Case::new(joints, tracks);
        let map = MirrorMap::new(&case.library, case.skeleton).unwrap();
        let found =
            map.partners.iter().enumerate().filter(|(joint, partner)| partner.is_some_and(|partner| partner > *joint));
        assert_eq!((found.count(), map.normal), (pairs, DVec3::X), "seed {seed}");
        let result = case.library.mirror(&[case.clip], &map).unwrap();
        assert!(result.clips[0].tracks.iter().all(|track| track.method == TrackMethod::Exact), "seed {seed}");
        assert_eq!((result.clips[0].tracks.len(), result.clips[0].dropped.len()), (count, 0), "seed {seed}");
        let [places, _] = errors(&case.library, &map, [case.clip, result.clips[0].clip], DVec3::ZERO);
        assert!(places < 1e-6, "seed {seed}: off by {places}");
    }
}

#[test]
fn a_scale_of_one_axis_goes_to_the_axis_of_the_partner() {
    // The right hand is turned by a quarter about z: what is x of the left hand is y, but for the sign.
    let mut joints = arms();
    joints[4].rest.rotation = degrees(DVec3::Z, 90.0);
    let scale = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[1.0, 1.0, 1.0, 2.0, 3.0, 4.0]);
    let mut case = Case::new(joints.clone(), vec![(Target::Scale(2), scale.clone())]);
    let result = case.mirror();
    let made = curve_of(&case.library, result.clips[0].clip, Target::Scale(4)).unwrap();
    assert!(DVec3::from_slice(made.value(1)).distance(DVec3::new(3.0, 2.0, 4.0)) < 1e-12, "{made:?}");
    // Oblique axes have no such scale.
    joints[4].rest.rotation = degrees(DVec3::Z, 30.0);
    let mut case = Case::new(joints, vec![(Target::Scale(2), scale)]);
    let result = case.mirror();
    assert_eq!(result.clips[0].dropped.len(), 1);
    let map = MirrorMap::new(&case.library, case.skeleton).unwrap();
    let text = map.describe_dropped(&case.library, &result.clips[0].dropped[0]);
    assert_eq!(text, "the scale of hand.L is left out: its axes are not axes of the partner");
}

#[test]
fn single_numbers_of_a_translation_are_mirrored() {
    let line = |from: f64, to: f64| curve(Interpolation::Linear, 1, &[0.0, 1.0], &[from, to]);
    let component = |joint: usize, component: usize, curve: Curve| Track {
        target: Target::Translation(joint),
        component: Some(component),
        curve,
    };
    for (turn, method) in [(NONE, "exact"), (degrees(DVec3::Z, 30.0), "sampled")] {
        let mut joints = arms();
        joints[3].rest.rotation = turn;
        joints[4].rest.translation = turn.conjugate() * joints[4].rest.translation;
        let mut library = Library::new();
        let skeleton = add(&mut library, joints);
        let tracks = vec![component(2, 0, line(1.0, 2.0)), component(2, 2, line(0.0, 0.5))];
        let clip = library.add_clip(Clip::new(None, skeleton, tracks)).unwrap();
        let map = MirrorMap::new(&library, skeleton).unwrap();
        let result = library.mirror(&[clip], &map).unwrap();
        let is_exact = result.clips[0].tracks.iter().all(|track| track.method == TrackMethod::Exact);
        assert_eq!(is_exact, method == "exact");
        let [places, _] = errors(&library, &map, [clip, result.clips[0].clip], DVec3::ZERO);
        assert!(places < 1e-6, "{method}: off by {places}");
    }
}

#[test]
fn what_has_no_partner_is_mirrored_in_itself_and_named() {
    let mut joints = arms();
    joints.push(joint("sword", Some(2), NONE, [0.2, 0.0, 0.0]));
    let swing = |angle: f64| {
        let keys = [NONE, degrees(DVec3::Z, angle)].map(|key| key.to_array()).concat();
        curve(Interpolation::Linear, 4, &[0.0, 1.0], &keys)
    };
    let mut case = Case::new(joints, vec![(Target::Rotation(5), swing(30.0)), (Target::Rotation(1), swing(10.0))]);
    let result = case.mirror();
    assert_eq!(result.remarks, [MirrorRemark::Alone { joints: vec![5] }]);
    let map = MirrorMap::new(&case.library, case.skeleton).unwrap();
    let text = map.describe(&case.library, &result.remarks[0]);
    assert!(text.ends_with("are mirrored in themselves: sword"), "{text}");
    let made = curve_of(&case.library, result.clips[0].clip, Target::Rotation(5)).unwrap();
    assert!(angle(DQuat::from_slice(made.value(1)), degrees(DVec3::Z, -30.0)) < 1e-12);
    // Without any pair, all is mirrored across x.
    let chain = vec![joint("a", None, NONE, [0.0; 3]), joint("b", Some(0), NONE, [0.0, 1.0, 0.0])];
    let mut case = Case::new(chain, vec![(Target::Rotation(1), swing(30.0))]);
    let result = case.mirror();
    assert_eq!(result.remarks, [MirrorRemark::NoPairs]);
    let made = curve_of(&case.library, result.clips[0].clip, Target::Rotation(1)).unwrap();
    assert!(angle(DQuat::from_slice(made.value(1)), degrees(DVec3::Z, -30.0)) < 1e-12);
}

#[test]
fn a_joint_without_a_partner_above_one_with_a_partner_stays_at_rest_and_is_named() {
    let mut joints = arms();
    // Only the left arm hangs from a mount; at rest it is where it was without.
    joints.insert(1, joint("mount", Some(0), NONE, [0.3, 0.0, 0.0]));
    joints[2] = joint("arm.L", Some(1), NONE, [0.2, 0.0, 0.0]);
    joints[3].parent = Some(2);
    joints[5].parent = Some(4);
    let keys = [NONE, degrees(DVec3::Z, 30.0)].map(|key| key.to_array()).concat();
    let swing = curve(Interpolation::Linear, 4, &[0.0, 1.0], &keys);
    let mut case = Case::new(joints, vec![(Target::Rotation(1), swing)]);
    let result = case.mirror();
    assert_eq!(result.remarks, [MirrorRemark::Still { joints: vec![1] }]);
    let map = MirrorMap::new(&case.library, case.skeleton).unwrap();
    let text = map.describe(&case.library, &result.remarks[0]);
    assert!(text.ends_with("stay at rest: mount"), "{text}");
    assert!(curve_of(&case.library, result.clips[0].clip, Target::Rotation(1)).is_none());
    // The right arm rotates as the mount did.
    let pose = model_pose(&case.library, case.skeleton, Some((result.clips[0].clip, 1.0)));
    assert!(angle(pose[4].0, degrees(DVec3::Z, -30.0)) < 1e-3);
}

#[test]
fn sampled_rotations_without_a_partner_are_mirrored_in_themselves() {
    let mut joints = arms();
    joints.push(joint("sword", Some(2), NONE, [0.2, 0.0, 0.0]));
    let turned = degrees(DVec3::Z, 50.0).to_array();
    let zeros = [0.0; 4];
    let angles = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, 0.0, 0.0, 30.0, 40.0, 50.0]);
    let spline =
        curve(Interpolation::CubicSpline, 4, &[0.0, 1.0], &[zeros, zeros, zeros, zeros, turned, zeros].concat());
    let component = |component: usize, to: f64| Track {
        target: Target::EulerAngles(5),
        component: Some(component),
        curve: curve(Interpolation::Linear, 1, &[0.0, 1.0], &[0.0, to]),
    };
    let cases = [
        vec![Track::new(Target::EulerAngles(5), angles)],
        vec![component(1, 30.0), component(2, 50.0)],
        vec![Track::new(Target::Rotation(5), spline)],
    ];
    for tracks in cases {
        let mut library = Library::new();
        let skeleton = add(&mut library, joints.clone());
        let clip = library.add_clip(Clip::new(None, skeleton, tracks)).unwrap();
        let map = MirrorMap::new(&library, skeleton).unwrap();
        let result = library.mirror(&[clip], &map).unwrap();
        assert_eq!(result.remarks, [MirrorRemark::Alone { joints: vec![5] }]);
        assert_eq!(result.clips[0].dropped, []);
        for time in [0.3, 0.5, 0.9, 1.0] {
            let [one, other] =
                [clip, result.clips[0].clip].map(|clip| model_pose(&library, skeleton, Some((clip, time)))[5].0);
            let reflected = DQuat::from_xyzw(one.x, -one.y, -one.z, one.w);
            assert!(angle(one, NONE) > 0.1 && angle(reflected, other) < 1e-3, "at {time} s: {one} {other}");
        }
    }
}

#[test]
fn a_figure_that_rests_with_one_arm_up_has_mirrored_directions() {
    // The left arm hangs by 90 degrees at rest; the rest rotation of the joint itself is none.
    let mut joints = arms();
    joints[2].rest.translation = DVec3::new(0.0, -1.0, 0.0);
    let keys = [NONE, degrees(DVec3::Z, 90.0)].map(|key| key.to_array()).concat();
    let raise = curve(Interpolation::Linear, 4, &[0.0, 1.0], &keys);
    let mut case = Case::new(joints, vec![(Target::Rotation(1), raise)]);
    let result = case.mirror();
    let MirrorRemark::Asymmetric { joints, degrees: most } = &result.remarks[0] else { panic!("{:?}", result.remarks) };
    assert!(joints == &[1, 3] && (most - 90.0).abs() < 1e-9, "{joints:?} {most}");
    let map = MirrorMap::new(&case.library, case.skeleton).unwrap();
    let [_, directions] = errors(&case.library, &map, [case.clip, result.clips[0].clip], DVec3::ZERO);
    assert!(directions < 1e-6, "off by {directions} degrees");
    let again = case.library.mirror(&[result.clips[0].clip], &map).unwrap().clips[0].clip;
    let pose = |clip| model_pose(&case.library, case.skeleton, Some((clip, 0.4)));
    assert!(pose(again).iter().zip(pose(case.clip)).all(|(one, other)| angle(one.0, other.0) < 1e-9));
}

#[test]
fn a_figure_far_from_the_origin_has_the_partners_of_one_at_the_origin() {
    let keys = [NONE, degrees(DVec3::Z, 20.0)].map(|key| key.to_array()).concat();
    for place in [[0.0, 95.0, 0.0], [500.0, 95.0, 800.0]] {
        // The knob is clearly beside the plane, and the tip of one wing clearly lower, but not as shares of 950.
        let joints = vec![
            joint("core", None, NONE, place),
            joint("wing.L", Some(0), NONE, [50.0, 0.0, 0.0]),
            joint("tip.L", Some(1), NONE, [100.0, 0.0, 0.0]),
            joint("wing.R", Some(0), NONE, [-50.0, 0.0, 0.0]),
            joint("tip.R", Some(3), NONE, [-100.0, -10.0, 0.0]),
            joint("knob", Some(0), NONE, [20.0, 0.0, 0.0]),
        ];
        let mut case =
            Case::new(joints, vec![(Target::Rotation(1), curve(Interpolation::Linear, 4, &[0.0, 1.0], &keys))]);
        let map = MirrorMap::new(&case.library, case.skeleton).unwrap();
        assert_eq!(map.normal, DVec3::X);
        assert_eq!(map.partners, [Some(0), Some(3), Some(4), Some(1), Some(2), None], "at {place:?}");
        let remarks = case.mirror().remarks;
        let [MirrorRemark::Asymmetric { joints, degrees: most }] = remarks.as_slice() else {
            panic!("at {place:?}: {remarks:?}")
        };
        let expected = 0.1_f64.atan().to_degrees();
        assert!(joints == &[1, 3] && (most - expected).abs() < 1e-6, "at {place:?}: {joints:?} {most}");
    }
}

#[test]
fn names_of_mirror_images_are_new() {
    assert_eq!(mirrored_name("walk", |_| false), "walk_mirror");
    assert_eq!(mirrored_name("walk", |name| ["walk_mirror", "walk_mirror2"].contains(&name)), "walk_mirror3");
    let mut case = Case::new(arms(), Vec::new());
    let names = [case.mirror(), case.mirror()].map(|made| case.library.clip(made.clips[0].clip).name.clone().unwrap());
    assert_eq!(names, ["moves_mirror", "moves_mirror2"]);
}

#[test]
fn maps_that_do_not_fit_are_refused() {
    let mut case = Case::new(arms(), Vec::new());
    let other = add(&mut case.library, arms());
    let map = MirrorMap::new(&case.library, case.skeleton).unwrap();
    let before = case.library.clone();
    let mut refused = |map: &MirrorMap| match case.library.mirror(&[case.clip], map) {
        Err(Error::Usage(message)) => message,
        other => panic!("{other:?}"),
    };
    let of_other = MirrorMap { skeleton: other, ..map.clone() };
    assert_eq!(refused(&of_other), "clip 0 animates skeleton 0, but the mirror map is for skeleton 1");
    let few = MirrorMap { partners: vec![Some(0)], ..map.clone() };
    assert_eq!(refused(&few), "mirror map: it has 1 partners, but the skeleton has 5 joints; give one per joint");
    for partner in [Some(2), Some(9)] {
        let mut one_way = map.clone();
        one_way.partners[1] = partner;
        assert_eq!(
            refused(&one_way),
            "mirror map: joint \"arm.L\" is not the partner of its partner; partners are mutual"
        );
    }
    for normal in [DVec3::ZERO, DVec3::NAN, DVec3::X * 2.0] {
        assert!(refused(&MirrorMap { normal, ..map.clone() }).starts_with("mirror map: the normal of its plane is"));
    }
    assert_eq!(case.library, before);
}

/// The files of a collected folder, and of the folders in it.
fn files(folder: &str) -> Vec<PathBuf> {
    let Some(folder) = collected_folder_or_skip(folder, "mirror images of collected files") else { return Vec::new() };
    let entries = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    };
    let mut files = entries(&folder);
    files.extend(files.clone().iter().flat_map(|file| entries(file)));
    files.retain(|file| {
        file.extension().is_some_and(|extension| ["bvh", "glb", "gltf"].iter().any(|known| extension == *known))
    });
    files.sort();
    files
}

#[test]
fn the_mirror_image_of_the_mirror_image_of_a_file_is_the_file() {
    let files = ["rigs", "gltf", "cases/retarget"].map(files).concat();
    let (least, mut compared) = (files.len().div_ceil(4), 0);
    for path in files {
        let name = path.display();
        let mut library = Library::new();
        let loaded = match path.extension().and_then(|extension| extension.to_str()) {
            Some("bvh") => import::bvh::load(&mut library, &path).map(|asset| (asset.skeleton, vec![asset.clip])),
            _ => import::gltf::load(&mut library, &path).map(|asset| (asset.skeleton, asset.clips)),
        };
        // Some of the collected files are bad on purpose.
        let Ok((skeleton, clips)) = loaded else { continue };
        let map = MirrorMap::new(&library, skeleton).unwrap();
        let once = library.mirror(&clips, &map).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mirrors: Vec<ClipId> = once.clips.iter().map(|made| made.clip).collect();
        let twice = library.mirror(&mirrors, &map).unwrap_or_else(|error| panic!("{name}: {error}"));
        let size = size(&library, skeleton).max(1e-9);
        let is_whole = !once
            .remarks
            .iter()
            .any(|remark| matches!(remark, MirrorRemark::Alone { .. } | MirrorRemark::Still { .. }));
        let mut is_compared = false;
        for (once, twice) in once.clips.iter().zip(&twice.clips) {
            let duration = library.clip(once.source).duration();
            assert_eq!([once.clip, twice.clip].map(|clip| library.clip(clip).duration()), [duration; 2], "{name}");
            if !is_whole || !once.dropped.is_empty() {
                continue;
            }
            is_compared = true;
            for step in 0..=10 {
                let time = duration * f64::from(step) / 10.0;
                let [one, other] =
                    [once.source, twice.clip].map(|clip| model_pose(&library, skeleton, Some((clip, time))));
                let distance = |(one, other): (&(DQuat, DVec3), &(DQuat, DVec3))| one.1.distance(other.1) / size;
                let most = one.iter().zip(&other).map(distance).fold(0.0, f64::max);
                assert!(most < 1e-3, "{name} at {time} s: off by {most}");
            }
        }
        compared += usize::from(is_compared);
    }
    // The others are bad, have no clips, or have joints without partners.
    assert!(compared >= least, "only {compared} files were compared; expected {least} or more");
}

#[test]
fn names_of_morph_targets_exchange_left_and_right() {
    let face = |names: &[&str]| {
        let morph_names = names.iter().map(|name| (*name).to_owned()).collect();
        let face =
            Joint { weights: vec![0.0; names.len()], morph_names, ..joint("face", Some(0), NONE, [0.0, 0.6, 0.0]) };
        arms().into_iter().chain([face]).collect::<Vec<Joint>>()
    };
    let cases: [(&[&str], [f64; 3]); 7] = [
        (&["eyeBlinkLeft", "jawOpen", "eyeBlinkRight"], [0.75, 0.5, 0.25]),
        (&["blink_R", "blink_L", "jawOpen"], [0.5, 0.25, 0.75]),
        // Without a counterpart, and without names, weights stay where they are.
        (&["eyeBlinkLeft", "jawOpen", "browRight"], [0.25, 0.5, 0.75]),
        (&["", "", ""], [0.25, 0.5, 0.75]),
        // A morph target without a name does not keep the others from their exchange.
        (&["blink_L", "", "blink_R"], [0.75, 0.5, 0.25]),
        // Two names of the left, of which the first has a counterpart.
        (&["blink_L", "blink.L", "blink_R"], [0.75, 0.5, 0.25]),
        (&["blink_L", "blink_L", "blink_R"], [0.75, 0.5, 0.25]),
    ];
    for (names, right) in cases {
        let keys = curve(Interpolation::Step, 3, &[0.0], &[0.25, 0.5, 0.75]);
        let mut case = Case::new(face(names), vec![(Target::Weights(5), keys)]);
        let result = case.mirror();
        let made = curve_of(&case.library, result.clips[0].clip, Target::Weights(5)).unwrap();
        assert_eq!(made.value(0), right, "{names:?}");
        assert!(result.clips[0].dropped.is_empty());
    }
}

#[test]
fn eyes_exchange_morph_targets_that_have_another_order() {
    let eye = |name: &str, x: f64, names: [&str; 2]| {
        let morph_names = names.iter().map(|name| (*name).to_owned()).collect();
        Joint { weights: vec![0.0; 2], morph_names, ..joint(name, Some(0), NONE, [x, 0.6, 0.0]) }
    };
    let eyes = [eye("leftEye", 0.1, ["wideLeft", "blinkLeft"]), eye("rightEye", -0.1, ["blinkRight", "wideRight"])];
    let keys = curve(Interpolation::Step, 2, &[0.0], &[0.25, 0.75]);
    // A track of a single weight goes to the partner of that weight.
    let one = Track::component(Target::Weights(6), 0, curve(Interpolation::Step, 1, &[0.0], &[0.5]));
    let mut case = Case::new(arms().into_iter().chain(eyes).collect(), vec![(Target::Weights(5), keys)]);
    let blink = case.library.add_clip(Clip::new(Some("blinks".into()), case.skeleton, vec![one])).unwrap();
    let result = case.mirror();
    let made = curve_of(&case.library, result.clips[0].clip, Target::Weights(6)).unwrap();
    assert_eq!(made.values(), [0.75, 0.25]);
    let map = MirrorMap::new(&case.library, case.skeleton).unwrap();
    let result = case.library.mirror(&[blink], &map).unwrap();
    let [track] = &case.library.clip(result.clips[0].clip).tracks[..] else { panic!("one track") };
    assert_eq!((track.target, track.component, track.curve.values()), (Target::Weights(5), Some(1), &[0.5][..]));
}

/// The translation along x of a joint that drives an expression is a weight, of which a mirror image has the same.
#[test]
fn expressions_exchange_left_and_right_and_keep_their_weights() {
    let drivers = ["blinkLeft", "blinkRight", "aa"];
    let joints = arms().into_iter().chain(drivers.iter().map(|name| joint(name, Some(0), NONE, [0.0; 3])));
    let expressions = drivers.iter().zip(5..).map(|(name, joint)| Expression {
        name: (*name).into(),
        driver: Some(joint),
        ..Expression::default()
    });
    let skeleton = Skeleton::new(None, joints.collect(), Vec::new()).unwrap();
    let skeleton = skeleton.with_expressions(expressions.collect()).unwrap();
    let mut library = Library::new();
    let skeleton = library.add_skeleton(skeleton);
    let keys = |weight: f64| curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, 0.0, 0.0, weight, 0.0, 0.0]);
    let tracks = [(5, 0.75), (7, 0.5)].map(|(joint, weight)| Track::new(Target::Translation(joint), keys(weight)));
    let clip = library.add_clip(Clip::new(Some("talks".into()), skeleton, tracks.to_vec())).unwrap();
    let map = MirrorMap::new(&library, skeleton).unwrap();
    let result = library.mirror(&[clip], &map).unwrap();
    let made = result.clips[0].clip;
    for (joint, weight) in [(6, 0.75), (7, 0.5)] {
        assert_eq!(curve_of(&library, made, Target::Translation(joint)), Some(&keys(weight)), "{joint}");
    }
    assert_eq!(library.clip(made).tracks.len(), 2);
    assert!(result.clips[0].dropped.is_empty());
}
