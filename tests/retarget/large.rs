//! Skeletons of very many joints: time in proportion to them, and no recursion.

use std::time::{Duration, Instant};

use glam::DQuat;
use posse::curves::{Interpolation, Target, Track};
use posse::retarget::{JointMap, JointPair, MatchedBy, MirrorMap, ReferencePose, RetargetOptions, TrackMethod};
use posse::{Clip, Joint, Library, Skeleton, Transform};

use super::rigs::{angle, model_pose};
use crate::support::build::{curve, degrees};

/// A chain of joints, and a clip that turns all of them and moves the first.
fn chain(library: &mut Library, count: usize, offset: f64) -> (posse::SkeletonId, posse::ClipId) {
    let rest = Transform { translation: glam::DVec3::new(0.0, offset, 0.0), ..Transform::IDENTITY };
    let joint = |index: usize| Joint { parent: index.checked_sub(1), rest, ..Joint::default() };
    let skeleton = Skeleton::new(None, (0..count).map(joint).collect(), Vec::new()).unwrap();
    let skeleton = library.add_skeleton(skeleton);
    let keys = [DQuat::IDENTITY, degrees(glam::DVec3::X, 1.0)].map(|key| key.to_array()).concat();
    let turn = curve(Interpolation::Linear, 4, &[0.0, 1.0], &keys);
    let mut tracks: Vec<Track> = (0..count).map(|joint| Track::new(Target::Rotation(joint), turn.clone())).collect();
    let path = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, 1.0, 0.0, 0.0, 2.0, 0.0]);
    tracks.push(Track::new(Target::Translation(0), path));
    let clip = library.add_clip(Clip::new(None, skeleton, tracks)).unwrap();
    (skeleton, clip)
}

fn retargeted(count: usize) -> Duration {
    let mut library = Library::new();
    let (source, clip) = chain(&mut library, count, 0.01);
    let (target, _) = chain(&mut library, count, 0.02);
    // Most joints have no partner, so that what is between two partners is long.
    let mapped = (0..count).filter(|joint| *joint < count / 4 || joint % 1000 == 0);
    let pairs = mapped.map(|joint| JointPair { source: joint, target: joint, by: MatchedBy::Caller }).collect();
    let map = JointMap { pairs, ..JointMap::new(source, target) };
    let options = RetargetOptions {
        // Not the rest pose, so that joints without a partner hang from the pose of those above.
        target_pose: ReferencePose::Local(library.skeleton(target).joints().iter().map(|joint| joint.rest).collect()),
        ..RetargetOptions::default()
    };
    let mut still = library.clip(clip).clone();
    still.tracks.retain(|track| match track.target {
        Target::Rotation(joint) => joint < count / 4,
        _ => true,
    });
    let clip = library.add_clip(still).unwrap();
    let start = Instant::now();
    let result = library.retarget(&[clip], &map, &options).unwrap();
    assert_eq!(result.clips[0].tracks.len(), count / 4 + 1);
    assert!(result.clips[0].dropped.is_empty());
    start.elapsed()
}

#[test]
fn a_chain_of_100_000_joints_is_retargeted_without_recursion() {
    // A recursion of a few hundred bytes per joint would need tens of megabytes.
    let run = || retargeted(100_000);
    let time = std::thread::Builder::new().stack_size(512 << 10).spawn(run).unwrap().join().unwrap();
    // In proportion to the joints, it takes a second or two; with their square, minutes.
    assert!(time < Duration::from_secs(60), "{time:?}");
}

#[test]
fn a_chain_of_sampled_tracks_takes_time_in_proportion_and_adds_no_errors_up() {
    const MAPPED: usize = 200;
    let mut library = Library::new();
    let mut add_chain = |count: usize| {
        let rest = Transform { translation: glam::DVec3::new(0.0, 0.01, 0.0), ..Transform::IDENTITY };
        let joint = |index: usize| Joint { parent: index.checked_sub(1), rest, ..Joint::default() };
        library.add_skeleton(Skeleton::new(None, (0..count).map(joint).collect(), Vec::new()).unwrap())
    };
    let (source, target) = (add_chain(2 * MAPPED), add_chain(MAPPED));
    // Of two joints that rotate about two axes, only the lower one has a partner: no track of the target is exact.
    let turn = |joint: usize| {
        let axis = if joint.is_multiple_of(2) { glam::DVec3::X } else { glam::DVec3::Y };
        let keys = [DQuat::IDENTITY, degrees(axis, 20.0)].map(|key| key.to_array()).concat();
        Track::new(Target::Rotation(joint), curve(Interpolation::Linear, 4, &[0.0, 1.0], &keys))
    };
    let clip = Clip::new(None, source, (0..2 * MAPPED).map(turn).collect());
    let clip = library.add_clip(clip).unwrap();
    let pair = |joint: usize| JointPair { source: 2 * joint + 1, target: joint, by: MatchedBy::Caller };
    let map = JointMap { pairs: (0..MAPPED).map(pair).collect(), ..JointMap::new(source, target) };
    let start = Instant::now();
    let result = library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap();
    let time = start.elapsed();
    let tracks = &result.clips[0].tracks;
    let is_sampled = |track: &posse::retarget::RetargetedTrack| {
        matches!((track.target, track.method), (Target::Rotation(_), TrackMethod::Resampled { .. }))
    };
    assert_eq!(tracks.iter().filter(|track| is_sampled(track)).count(), MAPPED);
    for at in [0.0, 0.13, 0.5, 0.77, 1.0] {
        let [wanted, found] = [(source, clip), (target, result.clips[0].clip)]
            .map(|(of, clip)| model_pose(&library, of, Some((clip, at))));
        for joint in [0, 1, MAPPED / 2, MAPPED - 1] {
            let error = angle(found[joint].0, wanted[2 * joint + 1].0);
            assert!(error < 5e-4, "joint {joint} at {at}: {error}");
        }
    }
    // If each sample went through all joints above, it would take minutes.
    assert!(time < Duration::from_secs(20), "{time:?}");
}

#[test]
fn a_mirror_map_of_200_000_joints_with_two_names_takes_time_in_proportion() {
    const OF_A_SIDE: usize = 100_000;
    let joint = |name: &str, parent: Option<usize>, x: f64| {
        let rest = Transform { translation: glam::DVec3::new(x, 0.0, 0.0), ..Transform::IDENTITY };
        Joint { name: Some(name.into()), parent, rest, ..Joint::default() }
    };
    let mut joints = vec![joint("core", None, 0.0), joint("wing.L", Some(0), 1.0), joint("wing.R", Some(0), -1.0)];
    joints.extend((0..OF_A_SIDE).map(|_| joint("L", Some(0), 1.0)));
    joints.extend((0..OF_A_SIDE).map(|_| joint("R", Some(0), -1.0)));
    let mut library = Library::new();
    let skeleton = library.add_skeleton(Skeleton::new(None, joints, Vec::new()).unwrap());
    let start = Instant::now();
    let map = MirrorMap::new(&library, skeleton).unwrap();
    let time = start.elapsed();
    assert_eq!(map.partners[..3], [Some(0), Some(2), Some(1)]);
    assert!(map.partners[3..].iter().all(Option::is_none));
    // With the square of the joints, it takes minutes.
    assert!(time < Duration::from_secs(20), "{time:?}");
}

#[test]
fn mirror_images_of_20_000_clips_of_one_name_take_time_in_proportion() {
    const COUNT: usize = 20_000;
    let mut library = Library::new();
    let (skeleton, _) = chain(&mut library, 1, 1.0);
    let clip = |name: &str| Clip::new(Some(name.into()), skeleton, Vec::new());
    library.add_clip(clip("walk_mirror2")).unwrap();
    let clips: Vec<_> = (0..COUNT).map(|_| library.add_clip(clip("walk")).unwrap()).collect();
    let map = MirrorMap::new(&library, skeleton).unwrap();
    let start = Instant::now();
    let made = library.mirror(&clips, &map).unwrap().clips;
    let time = start.elapsed();
    let name = |index: usize| library.clip(made[index].clip).name.as_deref().unwrap();
    assert_eq!([name(0), name(1), name(2)], ["walk_mirror", "walk_mirror3", "walk_mirror4"]);
    assert_eq!(name(COUNT - 1), format!("walk_mirror{}", COUNT + 1));
    // With the square of the clips, it takes minutes, and with their cube days.
    assert!(time < Duration::from_secs(20), "{time:?}");
}
