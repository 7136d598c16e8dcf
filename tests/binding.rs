//! Binding of clips with named targets to a skeleton: the bound tracks, and the issues that are reported for the
//! others.

use std::sync::Arc;

use glam::DVec3;
use posse::binding::{
    BindingIssueKind, BoundTrack, PropertyTracks, TargetPath, UnboundClip, UnboundCurves, UnboundTrack, ValueKind,
};
use posse::curves::{Curve, Interpolation, Target, Timeline};
use posse::events::Event;
use posse::{Joint, Library, Skeleton, SkeletonId, WrapMode};

use crate::support::assert_close::{assert_close, assert_rotation, assert_vector};
use crate::support::build::{degrees, pose_at};
use crate::support::each_engine::each_engine;

/// A target from `/path` and from `property`, `component.property` or `property[element]`.
fn target(path: &str, property: &str) -> TargetPath {
    let path = path.split('/').filter(|name| !name.is_empty()).map(String::from).collect();
    let (component, property) = match property.rsplit_once('.') {
        Some((component, property)) => (Some(component.into()), property),
        None => (None, property),
    };
    let (property, element) = match property.split_once('[') {
        Some((property, element)) => (property, element.trim_end_matches(']').parse().ok()),
        None => (property, None),
    };
    TargetPath { path, component, property: property.into(), element }
}

fn line(interpolation: Interpolation, width: usize, values: &[f64]) -> Curve {
    let timeline = Arc::new(Timeline::snapping(vec![0.0, 1.0], 1e-6).unwrap());
    Curve::new(timeline, interpolation, width, values.to_vec()).unwrap()
}

fn track(path: &str, property: &str, kind: ValueKind, values: &[f64]) -> UnboundTrack {
    let interpolation = if kind == ValueKind::Quat { Interpolation::Slerp } else { Interpolation::Linear };
    let curves = UnboundCurves::Whole(line(interpolation, kind.width(), values));
    UnboundTrack { target: target(path, property), kind, curves }
}

fn clip(tracks: Vec<UnboundTrack>) -> UnboundClip {
    let events = vec![Event { time: 0.5, function: "step".into(), parameters: Vec::new() }];
    UnboundClip { name: Some("clip".into()), duration: 2.0, speed: 0.5, wrap: WrapMode::PingPong, events, tracks }
}

/// Adds a skeleton of joints, each with its name and parent.
fn tree(library: &mut Library, joints: &[(&str, Option<usize>)]) -> SkeletonId {
    let joint = |&(name, parent): &(&str, Option<usize>)| Joint { name: Some(name.into()), parent, ..Joint::default() };
    library.add_skeleton(Skeleton::new(None, joints.iter().map(joint).collect(), Vec::new()).unwrap())
}

#[test]
fn node_properties_move_joints_and_the_rest_are_properties() {
    let mut library = Library::new();
    let skeleton = tree(&mut library, &[("Root", None), ("Spline", Some(0)), ("Leg", Some(1)), ("Body", Some(0))]);
    let turn = degrees(DVec3::X, 90.0).to_array();
    let quarter: Vec<f64> = [0.0, 0.0, 0.0, 1.0].into_iter().chain(turn).collect();
    let tracks = vec![
        track("/Spline/Leg", "position", ValueKind::Vec3, &[0.0, 0.0, 0.0, 1.0, 2.0, 3.0]),
        track("Spline//Leg/", "rotation", ValueKind::Quat, &quarter),
        track("/", "scale", ValueKind::Vec3, &[1.0, 1.0, 1.0, 3.0, 3.0, 3.0]),
        track("/Root/Body", "eulerAngles", ValueKind::Vec3, &[0.0, 0.0, 0.0, 0.0, 90.0, 0.0]),
        track("/Body", "cc.Sprite.color", ValueKind::Color, &[0.0, 0.0, 0.0, 255.0, 255.0, 0.0, 0.0, 255.0]),
        track("", "opacity", ValueKind::Number, &[0.0, 1.0]),
        track("/Body", "position[1]", ValueKind::Number, &[0.0, 4.0]),
    ];
    let binding = library.bind(skeleton, &clip(tracks), PropertyTracks::Bound).unwrap();
    assert_eq!(binding.issues, []);
    let joint = |target| BoundTrack { joint: Some(target), property: None };
    let slot = |property| BoundTrack { joint: None, property: Some(property) };
    let expected = [
        joint(Target::Translation(2)),
        joint(Target::Rotation(2)),
        joint(Target::Scale(0)),
        joint(Target::EulerAngles(3)),
        slot(0),
        slot(1),
        joint(Target::Translation(3)),
    ];
    assert_eq!(binding.tracks, expected);
    let names: Vec<&str> = library.skeleton(skeleton).properties().iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["/Body:cc.Sprite.color", "/:opacity"]);
    let bound = library.clip(binding.clip);
    assert_eq!((bound.duration(), bound.speed, bound.wrap, bound.events.len()), (2.0, 0.5, WrapMode::PingPong, 1));
    each_engine(&library, |engine| {
        let pose = pose_at(engine, &library, binding.clip, 0.5);
        assert_vector(pose.local[2].translation, [0.5, 1.0, 1.5], engine.engine());
        assert_rotation(pose.local[2].rotation, degrees(DVec3::X, 45.0), engine.engine());
        assert_vector(pose.local[0].scale, [2.0; 3], engine.engine());
        assert_rotation(pose.local[3].rotation, degrees(DVec3::Y, 45.0), engine.engine());
        assert_vector(pose.local[3].translation, [0.0, 2.0, 0.0], engine.engine());
        assert_close(&pose.properties, &[127.5, 0.0, 0.0, 255.0, 0.5], engine.engine());
    });
}

#[test]
fn tracks_that_cannot_be_bound_are_reported() {
    let mut library = Library::new();
    let skeleton = tree(&mut library, &[("a", None), ("b", Some(0)), ("b", Some(0)), ("c", Some(2))]);
    let vector = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    let empty = UnboundTrack { target: target("/a", "opacity"), kind: ValueKind::Number, curves: UnboundCurves::Empty };
    let tracks = vec![
        track("/a/b", "position", ValueKind::Vec3, &vector),
        track("/a/b/c", "scale", ValueKind::Vec3, &vector),
        track("/b", "position", ValueKind::Vec3, &vector),
        track("/a", "scale", ValueKind::Vec4, &[0.0; 8]),
        track("/missing", "cc.Sprite.alpha", ValueKind::Number, &[0.0, 1.0]),
        empty,
    ];
    let binding = library.bind(skeleton, &clip(tracks), PropertyTracks::Bound).unwrap();
    let kinds: Vec<(usize, BindingIssueKind)> =
        binding.issues.iter().map(|issue| (issue.track, issue.kind.clone())).collect();
    let b = || BindingIssueKind::Ambiguous { name: "b".into() };
    let missing = |name: &str| BindingIssueKind::NoNode { name: name.into() };
    for expected in
        [(0, b()), (1, missing("c")), (0, BindingIssueKind::Twice { by: 2 }), (2, b()), (3, BindingIssueKind::Value)]
    {
        assert!(kinds.contains(&expected), "{expected:?} in {kinds:?}");
    }
    assert!(kinds.contains(&(4, missing("missing"))) && kinds.contains(&(5, BindingIssueKind::Empty)));
    assert_eq!(kinds.len(), 7, "{kinds:?}");
    assert_eq!(binding.tracks[0], BoundTrack::default());
    assert_eq!(binding.tracks[2].joint, Some(Target::Translation(1)));
    assert_eq!((binding.tracks[3].joint, binding.tracks[3].property), (None, Some(0)), "a property only");
    let messages: Vec<String> = binding.issues.iter().map(ToString::to_string).collect();
    assert!(
        messages.contains(&"/missing:cc.Sprite.alpha: there is no node \"missing\"; nothing is driven".into()),
        "{messages:?}"
    );
}

#[test]
fn a_clip_is_bound_to_many_skeletons_and_shares_their_properties() {
    let mut library = Library::new();
    let small = tree(&mut library, &[("Head", None)]);
    let large = tree(&mut library, &[("Body", None), ("Other", None), ("Head", None)]);
    let head = || track("/Head", "position", ValueKind::Vec3, &[0.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
    let glow = |values: &[f64]| track("/Head", "cc.Light.glow", ValueKind::Number, values);
    let first = clip(vec![head(), glow(&[1.0, 2.0])]);
    let [a, b] = [small, large].map(|skeleton| library.bind(skeleton, &first, PropertyTracks::Bound).unwrap());
    let second = library.bind(large, &clip(vec![glow(&[5.0, 7.0])]), PropertyTracks::Bound).unwrap();
    assert_eq!(library.skeleton(large).properties().len(), 1, "one property for both clips");
    assert_eq!(second.tracks[0].property, Some(0));
    each_engine(&library, |engine| {
        for (binding, joint) in [(&a, 0), (&b, 2)] {
            let pose = pose_at(engine, &library, binding.clip, 0.5);
            assert_vector(pose.local[joint].translation, [1.0, 0.0, 0.0], engine.engine());
            assert_close(&pose.properties, &[1.5], engine.engine());
        }
        assert_close(&pose_at(engine, &library, second.clip, 0.5).properties, &[6.0], engine.engine());
    });
}

#[test]
fn every_track_has_a_slot_if_all_slots_are_requested() {
    let mut library = Library::new();
    let skeleton = library.add_skeleton(Skeleton::new(None, Vec::new(), Vec::new()).unwrap());
    let channels =
        vec![Some(line(Interpolation::Linear, 1, &[0.0, 2.0])), None, Some(line(Interpolation::Step, 1, &[3.0, 4.0]))];
    let split = UnboundTrack {
        target: target("/Arm", "position"),
        kind: ValueKind::Vec3,
        curves: UnboundCurves::Channels(channels),
    };
    let tracks = vec![split, track("/Arm", "position", ValueKind::Vec3, &[1.0, 1.0, 1.0, 3.0, 3.0, 3.0])];
    let binding = library.bind(skeleton, &clip(tracks), PropertyTracks::All).unwrap();
    assert_eq!(binding.tracks.iter().map(|track| track.property).collect::<Vec<_>>(), [Some(0), Some(1)]);
    each_engine(&library, |engine| {
        let properties = pose_at(engine, &library, binding.clip, 0.5).properties;
        assert_close(&properties, &[1.0, 0.0, 3.0, 2.0, 2.0, 2.0], engine.engine());
    });
}

#[test]
fn a_rotation_of_any_length_but_zero_turns_a_joint() {
    let mut library = Library::new();
    let skeleton = tree(&mut library, &[("a", None), ("b", Some(0))]);
    let tracks = vec![
        track("/a", "rotation", ValueKind::Quat, &[0.0, 0.0, 0.0, 1e-200, 0.0, 1e-200, 0.0, 0.0]),
        track("/a/b", "rotation", ValueKind::Quat, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
    ];
    let binding = library.bind(skeleton, &clip(tracks), PropertyTracks::Bound).unwrap();
    assert_eq!(binding.tracks[0], BoundTrack { joint: Some(Target::Rotation(0)), property: None });
    assert_eq!(binding.tracks[1], BoundTrack { joint: None, property: Some(0) });
    assert_eq!(binding.issues.iter().map(|issue| &issue.kind).collect::<Vec<_>>(), [&BindingIssueKind::Value]);
    each_engine(&library, |engine| {
        let pose = pose_at(engine, &library, binding.clip, 1.0);
        assert_rotation(pose.local[0].rotation, degrees(DVec3::Y, 180.0), engine.engine());
    });
}
