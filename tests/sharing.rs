//! Clips shared with other skeletons by joint name: the driven joints, the reported issues, and the storage of keys.

/// Keys are stored once.
mod storage;

use std::sync::Arc;

use glam::{DAffine3, DVec3};
use posse::binding::{Sharing, SharingIssueKind};
use posse::curves::{Curve, Interpolation, Target, Timeline, Track};
use posse::events::Event;
use posse::import::gltf;
use posse::rig::Property;
use posse::root_motion::{RootMotion, RootRotation};
use posse::{Clip, ClipId, Error, Joint, Library, Skeleton, SkeletonId, Transform, WrapMode};

use crate::support::assert_close::{assert_rotation, assert_vector};
use crate::support::build::{curve, degrees, pose_at};
use crate::support::each_engine::each_engine;
use crate::support::skip::collected_or_skip;

fn joint(name: &str, parent: Option<usize>, translation: [f64; 3]) -> Joint {
    let rest = Transform { translation: DVec3::from(translation), ..Transform::IDENTITY };
    Joint { name: (!name.is_empty()).then(|| name.into()), parent, rest, ..Joint::default() }
}

fn add(library: &mut Library, joints: Vec<Joint>, properties: Vec<Property>) -> SkeletonId {
    library.add_skeleton(Skeleton::new(None, joints, properties).unwrap())
}

fn translation_track(joint: usize, from: [f64; 3], to: [f64; 3]) -> Track {
    Track::new(Target::Translation(joint), curve(Interpolation::Linear, 3, &[0.0, 1.0], &[from, to].concat()))
}

/// Adds a clip on four joints: the hips are scaled from 1 to 3, the spine turns by 90 degrees about z, the arm moves
/// from the origin to (2, 4, 0), and the tail moves back and forth for 5 s.
fn dance(library: &mut Library) -> ClipId {
    let joints = vec![
        joint("hips", None, [0.0, 1.0, 0.0]),
        joint("spine", Some(0), [0.0, 1.0, 0.0]),
        joint("tail", Some(0), [0.0, 0.0, -1.0]),
        joint("arm", Some(1), [1.0, 0.0, 0.0]),
    ];
    let skeleton = add(library, joints, Vec::new());
    let timeline = Arc::new(Timeline::new(vec![0.0, 1.0]).unwrap());
    let shared = |width, values: Vec<f64>| Curve::new(timeline.clone(), Interpolation::Linear, width, values).unwrap();
    let turn = [degrees(DVec3::Z, 0.0), degrees(DVec3::Z, 90.0)].map(|q| q.to_array()).concat();
    let tail = curve(Interpolation::Linear, 3, &[0.0, 2.0, 5.0], &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    let tracks = vec![
        Track::new(Target::Scale(0), shared(3, vec![1.0, 1.0, 1.0, 3.0, 3.0, 3.0])),
        Track::new(Target::Rotation(1), shared(4, turn)),
        Track::new(Target::Translation(2), tail),
        Track::new(Target::Translation(3), shared(3, vec![0.0, 0.0, 0.0, 2.0, 4.0, 0.0])),
    ];
    let events = vec![Event { time: 0.5, function: "step".into(), parameters: Vec::new() }];
    let (speed, wrap) = (2.0, WrapMode::PingPong);
    library.add_clip(Clip { speed, wrap, events, ..Clip::new(Some("dance".into()), skeleton, tracks) }).unwrap()
}

/// Adds a skeleton with another order, another hierarchy, other rest poses, and no tail. The arm is a child of the
/// hips, and comes before the spine.
fn other(library: &mut Library) -> SkeletonId {
    let mut joints = vec![
        joint("rig", None, [5.0, 0.0, 0.0]),
        joint("hips", Some(0), [0.0, 2.0, 0.0]),
        joint("arm", Some(1), [7.0, 7.0, 7.0]),
        joint("spine", Some(1), [0.0, 3.0, 0.0]),
    ];
    joints[3].rest.rotation = degrees(DVec3::X, 30.0);
    add(library, joints, Vec::new())
}

#[test]
fn joints_of_the_same_name_move_in_any_order_and_hierarchy() {
    let mut library = Library::new();
    let dance = dance(&mut library);
    let other = other(&mut library);
    let Sharing { clip, tracks, issues, root } = library.share_clip(dance, other).unwrap();
    assert_eq!(
        tracks,
        [Some(Target::Scale(1)), Some(Target::Rotation(3)), None, Some(Target::Translation(2))],
        "each track, in the clip's order"
    );
    assert_eq!(root, None);
    let [issue] = issues.as_slice() else { panic!("{issues:?}") };
    assert_eq!((issue.track, issue.kind, issue.name.as_deref()), (2, SharingIssueKind::NoJoint, Some("tail")));
    assert_eq!(issue.to_string(), "translation of joint \"tail\": there is no joint of that name; nothing is driven");
    each_engine(&library, |engine| {
        let name = engine.engine();
        let pose = pose_at(engine, &library, clip, 0.5);
        assert_vector(pose.local[1].scale, [2.0; 3], name);
        assert_vector(pose.local[2].translation, [1.0, 2.0, 0.0], name);
        assert_rotation(pose.local[3].rotation, degrees(DVec3::Z, 45.0), name);
        assert_vector(pose.local[3].translation, [0.0, 3.0, 0.0], name);
        // From the rig at (5, 0, 0), the hips are 2 above. From there, the arm and the spine are twice as far.
        assert_vector(pose.model[2].translation, [7.0, 6.0, 0.0], name);
        assert_vector(pose.model[3].translation, [5.0, 8.0, 0.0], name);
        // The original clip is unchanged: hips at (0, 1, 0), the spine 2 above, the arm at 2 x (1, 2, 0), turned by 45
        // degrees.
        let pose = pose_at(engine, &library, dance, 0.5);
        let half = 0.5_f64.sqrt();
        assert_vector(
            pose.model[3].translation,
            [2.0 * (half - 2.0 * half), 3.0 + 2.0 * (half + 2.0 * half), 0.0],
            name,
        );
        assert_vector(pose.local[2].translation, [0.25; 3], name);
    });
}

#[test]
fn a_shared_clip_plays_like_its_original() {
    let mut library = Library::new();
    let dance = dance(&mut library);
    let other = other(&mut library);
    let shared = library.share_clip(dance, other).unwrap().clip;
    let [from, to] = [dance, shared].map(|clip| library.clip(clip));
    assert_eq!((to.name.as_deref(), to.speed, to.wrap), (Some("dance"), 2.0, WrapMode::PingPong));
    assert_eq!(to.events, from.events);
    assert_eq!(to.duration(), 5.0, "although the longest track is left out");
    let whole = library.share_clip(dance, from.skeleton).unwrap();
    assert_eq!((library.clip(whole.clip).length, whole.issues.len()), (None, 0), "nothing is left out");
    assert_eq!(library.clip(whole.clip), library.clip(dance));
}

#[test]
fn a_root_joint_is_shared_by_name_or_its_loss_is_reported() {
    let mut library = Library::new();
    let dance = dance(&mut library);
    let other = other(&mut library);
    let root = |joint| RootMotion { joint, translation: [true, false, true], rotation: RootRotation::Yaw };
    library.set_root_motion(dance, Some(root(3))).unwrap();
    let arm = library.share_clip(dance, other).unwrap();
    assert_eq!((library.clip(arm.clip).root_motion, arm.root), (Some(root(2)), None));
    library.set_root_motion(dance, Some(root(2))).unwrap();
    let tail = library.share_clip(dance, other).unwrap();
    assert_eq!((library.clip(tail.clip).root_motion, tail.root), (None, Some(SharingIssueKind::NoJoint)));
}

#[test]
fn the_path_decides_between_joints_of_the_same_name() {
    let mut library = Library::new();
    let hands = |order: [&str; 2]| {
        vec![
            joint("root", None, [0.0; 3]),
            joint(order[0], Some(0), [0.0; 3]),
            joint(order[1], Some(0), [0.0; 3]),
            joint("hand", Some(1), [0.0; 3]),
            joint("hand", Some(2), [0.0; 3]),
            joint("toe", Some(0), [0.0; 3]),
            joint("toe", Some(0), [0.0; 3]),
        ]
    };
    let from = add(&mut library, hands(["left", "right"]), Vec::new());
    let tracks = [3, 4, 5, 6].map(|joint| translation_track(joint, [0.0; 3], [joint as f64, 0.0, 0.0]));
    let clip = library.add_clip(Clip::new(None, from, tracks.to_vec())).unwrap();

    let swapped = add(&mut library, hands(["right", "left"]), Vec::new());
    let sharing = library.share_clip(clip, swapped).unwrap();
    let expected = [4, 3, 5, 6].map(|joint| Some(Target::Translation(joint)));
    assert_eq!(sharing.tracks, expected, "left to left, and the first toe to the first");
    assert!(sharing.issues.iter().all(|issue| issue.kind == SharingIssueKind::SeveralJoints), "{sharing:?}");
    assert_eq!(sharing.issues.len(), 4);
    each_engine(&library, |engine| {
        let pose = pose_at(engine, &library, sharing.clip, 1.0);
        let x: Vec<f64> = [4, 3, 5, 6].map(|joint: usize| pose.local[joint].translation.x).to_vec();
        assert_eq!(x, [3.0, 4.0, 5.0, 6.0], "{}", engine.engine());
    });

    // There is a single hand and a single toe, and nothing tells which of the joints of that name they are.
    let one = vec![joint("hand", None, [0.0; 3]), joint("root", None, [0.0; 3]), joint("toe", Some(1), [0.0; 3])];
    let one = add(&mut library, one, Vec::new());
    let sharing = library.share_clip(clip, one).unwrap();
    assert_eq!(sharing.tracks, [None, None, Some(Target::Translation(2)), None]);
    let kinds: Vec<_> = sharing.issues.iter().map(|issue| issue.kind).collect();
    use SharingIssueKind::{NoPath, SeveralJoints};
    assert_eq!(kinds, [NoPath, NoPath, SeveralJoints, NoPath]);
}

fn property(name: &str, width: usize, rotation: bool) -> Property {
    let rest = if rotation { vec![0.0, 0.0, 0.0, 1.0] } else { vec![0.0; width] };
    Property { name: name.into(), rest, rotation }
}

/// A joint with this number of morph weights.
fn face(name: &str, weights: usize) -> Joint {
    Joint { weights: vec![0.0; weights], ..joint(name, None, [0.0; 3]) }
}

/// Adds a clip of joints, morph weights and properties, some of which [`other_face`] lacks.
fn face_clip(library: &mut Library) -> ClipId {
    let joints = vec![joint("", None, [0.0; 3]), face("box", 2), face("face", 2), face("mouth", 2), face("eye", 2)];
    let properties = vec![property("/light", 1, false), property("/turn", 4, true), property("/gone", 1, false)];
    let skeleton = add(library, joints, properties);
    let line = |width: usize| {
        let values: Vec<f64> = (0..2 * width).map(|number| number as f64 + 0.5).collect();
        curve(Interpolation::Linear, width, &[0.0, 1.0], &values)
    };
    let tracks = vec![
        translation_track(0, [0.0; 3], [1.0; 3]),
        translation_track(1, [0.0; 3], [1.0; 3]),
        Track::new(Target::Weights(1), line(2)),
        Track::new(Target::Weights(2), line(2)),
        Track::component(Target::Weights(3), 1, line(1)),
        Track::new(Target::Weights(4), line(2)),
        Track::new(Target::Property(0), line(1)),
        Track::new(Target::Property(1), line(4)),
        Track::new(Target::Property(2), line(1)),
    ];
    library.add_clip(Clip::new(None, skeleton, tracks)).unwrap()
}

/// Adds a skeleton that cannot be driven by all tracks of [`face_clip`].
fn other_face(library: &mut Library) -> SkeletonId {
    let mut joints = vec![face("mouth", 3), face("face", 3), face("box", 2), joint("", None, [0.0; 3]), face("eye", 2)];
    joints[2].matrix = Some(DAffine3::from_scale(DVec3::splat(2.0)));
    // The property "/gone" has another width here, so it is another property.
    let properties = vec![property("/gone", 2, false), property("/turn", 4, true), property("/light", 1, false)];
    add(library, joints, properties)
}

#[test]
fn targets_that_cannot_be_driven_are_reported() {
    let mut library = Library::new();
    let clip = face_clip(&mut library);
    let to = other_face(&mut library);
    let sharing = library.share_clip(clip, to).unwrap();
    let driven = [
        None,
        None,
        Some(Target::Weights(2)),
        None,
        None,
        Some(Target::Weights(4)),
        Some(Target::Property(2)),
        Some(Target::Property(1)),
        None,
    ];
    assert_eq!(sharing.tracks, driven);
    use SharingIssueKind::{Matrix, NoProperty, Unnamed, Weights};
    let counts = Weights { from: 2, to: 3 };
    let kinds: Vec<_> = sharing.issues.iter().map(|issue| (issue.track, issue.kind)).collect();
    assert_eq!(kinds, [(0, Unnamed), (1, Matrix), (3, counts), (4, counts), (8, NoProperty)]);
    let messages: Vec<String> = sharing.issues.iter().map(ToString::to_string).collect();
    let expected = [
        "translation of joint 0: it has no name; nothing is driven",
        "translation of joint \"box\": it is given by a matrix, which cannot be animated; nothing is driven",
        "weights of joint \"face\": it has 3 morph weights, not 2; nothing is driven",
        "weights of joint \"mouth\": it has 3 morph weights, not 2; nothing is driven",
        "property \"/gone\": there is no property of that name and kind; nothing is driven",
    ];
    assert_eq!(messages, expected);
    each_engine(&library, |engine| {
        let pose = pose_at(engine, &library, sharing.clip, 0.5);
        assert_eq!(pose.weights, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.5, 2.5, 1.5, 2.5], "{}", engine.engine());
        assert_eq!(
            (pose.properties[0], pose.properties[1], pose.properties[6]),
            (0.0, 0.0, 1.0),
            "{}",
            engine.engine()
        );
    });
}

/// A face with named morph targets, whose weights are 0.5 at rest.
fn named_face(names: &[&str]) -> Vec<Joint> {
    let morph_names = names.iter().map(|name| (*name).to_owned()).collect();
    vec![Joint { weights: vec![0.5; names.len()], morph_names, ..joint("face", None, [0.0; 3]) }]
}

#[test]
fn morph_weights_are_shared_by_the_names_of_morph_targets() {
    let mut library = Library::new();
    let skeleton = add(&mut library, named_face(&["jawOpen", "smile"]), Vec::new());
    let talk = curve(Interpolation::Linear, 2, &[0.0, 1.0], &[0.0, 0.0, 0.8, 0.25]);
    let clip = library.add_clip(Clip::new(None, skeleton, vec![Track::new(Target::Weights(0), talk)])).unwrap();
    let cases: [(&[&str], &[f64], &[&str]); 5] = [
        (&["jawOpen", "smile"], &[0.8, 0.25], &[]),
        (&["smile", "jawOpen"], &[0.25, 0.8], &[]),
        (&["smile", "brow", "jawOpen"], &[0.25, 0.5, 0.8], &[]),
        (
            &["blink", "smile", "brow"],
            &[0.5, 0.25, 0.5],
            &[
                "weights of joint \"face\": morph targets without a partner of the same name: jawOpen of the clip, and blink, \
               brow of the rig, which keep their rest weights; the others are driven",
            ],
        ),
        (
            &["JawOpen"],
            &[0.5],
            &[
                "weights of joint \"face\": morph targets without a partner of the same name: jawOpen, smile of the clip, and \
               JawOpen of the rig, which keep their rest weights; nothing is driven",
            ],
        ),
    ];
    for (names, right, issues) in cases {
        let to = add(&mut library, named_face(names), Vec::new());
        let sharing = library.share_clip(clip, to).unwrap();
        let found: Vec<String> = sharing.issues.iter().map(ToString::to_string).collect();
        assert_eq!(found, issues, "{names:?}");
        assert_eq!(sharing.tracks, [(names[0] != "JawOpen").then_some(Target::Weights(0))]);
        each_engine(&library, |engine| {
            let found = pose_at(engine, &library, sharing.clip, 1.0).weights;
            let is_right = found.iter().zip(right).all(|(found, right)| (found - right).abs() < 1e-6);
            assert!(is_right && found.len() == right.len(), "{found:?} on {}, {names:?}", engine.engine());
        });
    }
}

#[test]
fn a_smile_of_a_file_stays_a_smile_in_a_file_of_another_order() {
    let folder = collected_or_skip("cases/gltf/morph-names", "files with morph targets in other orders");
    let Some(folder) = folder else { return };
    let mut library = Library::new();
    let [talk, swapped] =
        ["src.gltf", "dst-swapped.gltf"].map(|file| gltf::load(&mut library, folder.join(file)).unwrap());
    let sharing = library.share_clip(talk.clips[0], swapped.skeleton).unwrap();
    assert!(sharing.issues.is_empty(), "{:?}", sharing.issues);
    each_engine(&library, |engine| {
        // The smile comes first there.
        let found = pose_at(engine, &library, sharing.clip, 1.0).weights;
        assert!((found[0] - 0.1).abs() < 1e-6 && (found[1] - 0.8).abs() < 1e-6, "{found:?} on {}", engine.engine());
    });
}

#[test]
fn a_clip_without_common_joints_gives_the_rest_pose() {
    let mut library = Library::new();
    let dance = dance(&mut library);
    let stranger = add(&mut library, vec![joint("wheel", None, [1.0, 2.0, 3.0])], Vec::new());
    let sharing = library.share_clip(dance, stranger).unwrap();
    assert_eq!((sharing.tracks, sharing.issues.len()), (vec![None; 4], 4));
    each_engine(&library, |engine| {
        let pose = pose_at(engine, &library, sharing.clip, 0.5);
        assert_vector(pose.model[0].translation, [1.0, 2.0, 3.0], engine.engine());
    });
}

#[test]
fn missing_clips_and_skeletons_are_refused() {
    let (mut library, mut fuller) = (Library::new(), Library::new());
    dance(&mut fuller);
    let dance_too = dance(&mut fuller);
    let dance = dance(&mut library);
    let far = fuller.clip(dance_too).skeleton;
    let before = library.clone();
    for (clip, skeleton, what) in
        [(dance_too, library.clip(dance).skeleton, "no clip 1"), (dance, far, "no skeleton 1")]
    {
        match library.share_clip(clip, skeleton) {
            Err(Error::Usage(message)) => assert!(message.contains(what), "{message}"),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(library, before);
}

#[test]
fn collected_files_share_their_clips() {
    let mut library = Library::new();
    let mut load = |name: &str| {
        let file = collected_or_skip(&format!("gltf/{name}/{name}.glb"), "clips shared between collected files");
        file.map(|file| gltf::load(&mut library, file).unwrap())
    };
    let Some(walker) = load("CesiumMan") else { return };
    // The walker's 19 joints have the same names in the second file; the figure has 9 of these.
    let others = [(load("CesiumMan-meshopt"), 19), (load("RiggedFigure"), 9)];
    for (asset, turned) in others {
        let Some(asset) = asset else { continue };
        let sharing = library.share_clip(walker.clips[0], asset.skeleton).unwrap();
        let tracks = &library.clip(walker.clips[0]).tracks;
        let pairs = tracks.iter().zip(&sharing.tracks).filter_map(|(track, target)| match (track.target, *target) {
            (Target::Rotation(from), Some(Target::Rotation(to))) => Some((from, to)),
            _ => None,
        });
        let pairs: Vec<(usize, usize)> = pairs.collect();
        assert_eq!(pairs.len(), turned, "{sharing:?}");
        assert_eq!(sharing.issues.len(), sharing.tracks.iter().filter(|target| target.is_none()).count());
        let name = |skeleton: SkeletonId, joint: usize| &library.skeleton(skeleton).joints()[joint].name;
        assert!(pairs.iter().all(|&(from, to)| name(walker.skeleton, from) == name(asset.skeleton, to)));
        each_engine(&library, |engine| {
            let [own, shared] = [walker.clips[0], sharing.clip].map(|clip| pose_at(engine, &library, clip, 0.7));
            for &(from, to) in &pairs {
                assert_rotation(shared.local[to].rotation, own.local[from].rotation, engine.engine());
            }
        });
    }
}
