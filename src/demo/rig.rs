//! Rigs of any size for measurements, and clips that differ only in the key that they begin with.

use std::sync::Arc;

use glam::{DAffine3, DQuat, DVec3};

use crate::demo::human::wave;
use crate::demo::{GOLDEN, PLASTIC, spread};
use crate::error::Error;
use crate::model::{
    Clip, Curve, Interpolation, Joint, Library, Skeleton, SkeletonId, Skin, Target, Timeline, Track, Transform,
};

/// The largest product of joints and keys of a generated rig, which has 1.3 GB of values.
const MAX_KEYS: u64 = 1 << 24;

/// A library of one tree of joints, with one skin of all joints and one looping clip. The clip has linear translations,
/// rotations and scales of every joint, `keys` keys each at 30 per second.
///
/// `depth` is the number of levels, at most the number of joints. With one level per joint, the tree is a chain. With
/// one level, all joints are roots.
///
/// # Errors
/// [`Error::Usage`] if a number is 0 or there are more levels than joints; [`Error::Limit`] if joints times keys exceed
/// 2^24.
pub fn rig(joints: usize, keys: usize, depth: usize) -> Result<Library, Error> {
    let mut library = Library::new();
    add_rig(&mut library, joints, keys, depth)?;
    Ok(library)
}

/// Adds the skeleton, skin and clip of a [`rig`] to a library, for crowds of several skeletons.
///
/// # Errors
/// The same as [`rig`].
pub fn add_rig(library: &mut Library, joints: usize, keys: usize, depth: usize) -> Result<SkeletonId, Error> {
    add_moving_rig(library, joints, keys, depth, RigMotion::default())
}

/// The same as [`add_rig`] with uniform scales, which dual quaternions need.
///
/// # Errors
/// The same as [`rig`].
pub fn add_uniform_rig(library: &mut Library, joints: usize, keys: usize, depth: usize) -> Result<SkeletonId, Error> {
    add_moving_rig(library, joints, keys, depth, RigMotion { uniform_scales: true, ..RigMotion::default() })
}

/// The motion of a rig. The default swings gently and has uneven scales.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RigMotion {
    /// True for the same scale along all axes, false for stretched axes.
    pub uniform_scales: bool,
    /// The angle in radians, from 0 to pi, between each rotation key and the next: rotations go back and forth. Of an
    /// even number of keys, the last two are equal. `None` for one swing in the clip of half a radian to each side.
    pub key_angle: Option<f64>,
}

/// The same as [`add_rig`] with a given motion.
///
/// # Errors
/// The same as [`rig`].
pub fn add_moving_rig(
    library: &mut Library,
    joints: usize,
    keys: usize,
    depth: usize,
    motion: RigMotion,
) -> Result<SkeletonId, Error> {
    if joints == 0 || keys == 0 || depth == 0 || depth > joints {
        let reason = format!(
            "a rig of {joints} joints, {depth} levels and {keys} keys; expected 1 or more each, and levels up to the joints"
        );
        return Err(Error::Usage(reason));
    }
    let needed = (joints as u64).saturating_mul(keys as u64);
    if needed > MAX_KEYS {
        return Err(Error::Limit { what: "joints times keys of a rig".into(), needed, allowed: MAX_KEYS });
    }
    let parents = parents(joints, depth);
    let rest = |joint: usize| {
        let turn = DVec3::new(spread(joint, GOLDEN) - 0.5, 1.0, spread(joint, PLASTIC) - 0.5);
        Transform { translation: 0.1 * turn.normalize(), ..Transform::IDENTITY }
    };
    let joint = |index: usize| Joint {
        name: Some(format!("joint.{index}")),
        parent: parents[index],
        rest: rest(index),
        ..Joint::default()
    };
    let skeleton =
        library.add_skeleton(Skeleton::new(Some("rig".into()), (0..joints).map(joint).collect(), Vec::new())?);

    let mut bind: Vec<DVec3> = Vec::with_capacity(joints);
    for (index, parent) in parents.iter().enumerate() {
        let offset = rest(index).translation;
        bind.push(parent.map_or(offset, |parent| bind[parent] + offset));
    }
    let inverse_bind = bind.iter().map(|position| DAffine3::from_translation(-*position)).collect();
    library.add_skin(Skin { name: Some("rig".into()), skeleton, joints: (0..joints).collect(), inverse_bind })?;

    let timeline = Arc::new(Timeline::new((0..keys).map(|key| key as f64 / 30.0).collect())?);
    let mut tracks = Vec::with_capacity(3 * joints);
    for index in 0..joints {
        let period = (keys - 1).max(1);
        let swing = |key: usize| wave(spread(index, GOLDEN) + (key % period) as f64 / period as f64);
        let angle = |key: usize| match motion.key_angle {
            Some(angle) => angle * (0.5 - (key % period % 2) as f64),
            None => 0.5 * swing(key),
        };
        let axis = DVec3::new(spread(index, PLASTIC) - 0.5, spread(index, GOLDEN) - 0.5, 0.7).normalize();
        let curve = |width: usize, value: &dyn Fn(usize) -> Vec<f64>| {
            let values = (0..keys).flat_map(value).collect();
            Curve::new(timeline.clone(), Interpolation::Linear, width, values)
        };
        let translation = |key: usize| (rest(index).translation * (1.0 + 0.05 * swing(key))).to_array().to_vec();
        let rotation = |key: usize| DQuat::from_axis_angle(axis, angle(key)).to_array().to_vec();
        let scale = |key: usize| {
            let (wide, narrow) = (1.0 + 0.02 * swing(key), 1.0 - 0.02 * swing(key));
            if motion.uniform_scales { vec![wide; 3] } else { vec![wide, narrow, 1.0] }
        };
        tracks.push(Track::new(Target::Translation(index), curve(3, &translation)?));
        tracks.push(Track::new(Target::Rotation(index), curve(4, &rotation)?));
        tracks.push(Track::new(Target::Scale(index), curve(3, &scale)?));
    }
    library.add_clip(Clip::new(Some("swing".into()), skeleton, tracks))?;
    Ok(skeleton)
}

/// The parents of a tree with one root and joints spread evenly over the other levels; all roots with one level.
fn parents(joints: usize, depth: usize) -> Vec<Option<usize>> {
    let level = |joint: usize| if joint == 0 || depth == 1 { 0 } else { 1 + (joint - 1) * (depth - 1) / (joints - 1) };
    let mut starts = vec![0];
    starts.extend((1..joints).filter(|&joint| level(joint) > level(joint - 1)));
    starts.push(joints);
    let parent = |joint: usize| {
        let level = level(joint);
        let above = starts[level.checked_sub(1)?]..starts[level];
        let width = starts[level + 1] - starts[level];
        Some(above.start + (joint - starts[level]) * above.len() / width)
    };
    (0..joints).map(parent).collect()
}

/// A copy of a clip that begins `shift` keys later, modulo its number of keys. Its last key repeats its first, as in
/// the clip of a [`rig`](crate::demo::rig()). It has timelines and keys of its own, so that both clips share no memory
/// in a packed library.
///
/// Of its curves, it keeps the interpolation only: easings, events and behaviour beyond the keys are as in a new
/// clip.
///
/// # Errors
/// None in practice. The result passes on the checks of the model.
pub fn shifted_clip(clip: &Clip, shift: usize) -> Result<Clip, Error> {
    let mut timelines: Vec<(&Arc<Timeline>, Arc<Timeline>)> = Vec::new();
    let mut tracks = Vec::with_capacity(clip.tracks.len());
    for track in &clip.tracks {
        let (curve, timeline) = (&track.curve, track.curve.timeline());
        let known = timelines.iter().position(|(known, _)| Arc::ptr_eq(known, timeline));
        let index = match known {
            Some(index) => index,
            None => {
                timelines.push((timeline, Arc::new(Timeline::new(timeline.times().to_vec())?)));
                timelines.len() - 1
            }
        };
        let (keys, numbers) = (timeline.len(), curve.values().len() / timeline.len());
        let period = (keys - 1).max(1);
        let key = |key: usize| &curve.values()[(key + shift) % period * numbers..][..numbers];
        let values = (0..keys).flat_map(|index| key(index).iter().copied()).collect();
        let curve = Curve::new(timelines[index].1.clone(), curve.interpolation(), curve.width(), values)?;
        tracks.push(Track::new(track.target, curve));
    }
    Ok(Clip::new(clip.name.clone(), clip.skeleton, tracks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rig_has_the_requested_joints_levels_and_keys() {
        for (joints, keys, depth) in [(1, 1, 1), (64, 30, 10), (200, 2, 200), (1000, 10, 10), (7, 3, 1), (65, 5, 2)] {
            let library = rig(joints, keys, depth).unwrap();
            let skeleton = &library.skeletons()[0];
            assert_eq!(skeleton.joints().len(), joints);
            assert_eq!(skeleton.depths().into_iter().max(), Some(depth - 1), "{joints} joints on {depth} levels");
            assert_eq!(library.clips()[0].tracks.len(), 3 * joints);
            assert!(library.clips()[0].tracks.iter().all(|track| track.curve.timeline().len() == keys));
        }
    }

    #[test]
    fn rigs_share_a_library() {
        let mut library = rig(3, 2, 2).unwrap();
        let second = add_rig(&mut library, 5, 4, 3).unwrap();
        assert_eq!((library.skeletons().len(), library.skins().len(), library.clips().len()), (2, 2, 2));
        assert_eq!(library.skeleton(second).joints().len(), 5);
        assert_eq!(library.clips()[1].skeleton, second);
    }

    /// Neighbouring keys are 60 degrees apart; the last key repeats the first.
    #[test]
    fn keys_are_as_far_apart_as_requested() {
        let mut library = Library::new();
        let angle = std::f64::consts::FRAC_PI_3;
        let motion = RigMotion { uniform_scales: true, key_angle: Some(angle) };
        add_moving_rig(&mut library, 5, 7, 3, motion).unwrap();
        for track in &library.clips()[0].tracks {
            let values = track.curve.values();
            match track.target {
                Target::Rotation(_) => {
                    let keys: Vec<DQuat> = values.chunks_exact(4).map(DQuat::from_slice).collect();
                    let apart = |pair: &[DQuat]| pair[0].angle_between(pair[1]);
                    assert!(keys.windows(2).all(|pair| (apart(pair) - angle).abs() < 1e-12), "{keys:?}");
                    assert_eq!(keys.first(), keys.last());
                }
                Target::Scale(_) => assert!(values.chunks_exact(3).all(|scale| scale[0] == scale[1])),
                _ => {}
            }
        }
    }

    #[test]
    fn impossible_rigs_are_refused() {
        for (joints, keys, depth) in [(0, 1, 1), (1, 0, 1), (1, 1, 0), (3, 1, 4)] {
            assert!(matches!(rig(joints, keys, depth), Err(Error::Usage(_))));
        }
        assert!(matches!(rig(usize::MAX, usize::MAX, 1), Err(Error::Limit { .. })));
    }
}

#[cfg(test)]
mod shifted_clip_tests {
    use super::*;
    use crate::demo;

    /// The keys of a track of a rig, of which the last repeats the first: A B C A. One key later: B C A B.
    #[test]
    fn a_shifted_clip_begins_at_a_later_key_and_closes_its_loop() {
        let library = demo::rig(2, 4, 2).unwrap();
        let clip = &library.clips()[0];
        let shifted = shifted_clip(clip, 1).unwrap();
        assert_eq!((shifted.tracks.len(), shifted.duration()), (6, clip.duration()));
        for (track, shifted) in clip.tracks.iter().zip(&shifted.tracks) {
            let [keys, later] = [track, shifted].map(|track| {
                track.curve.values().chunks_exact(track.curve.width()).map(<[f64]>::to_vec).collect::<Vec<_>>()
            });
            assert_eq!(keys[0], keys[3]);
            assert_eq!(later, [1, 2, 0, 1].map(|key: usize| keys[key].clone()));
            assert_eq!(track.target, shifted.target);
            assert!(!Arc::ptr_eq(track.curve.timeline(), shifted.curve.timeline()));
        }
        let first = &shifted.tracks[0].curve;
        assert!(shifted.tracks.iter().all(|track| Arc::ptr_eq(track.curve.timeline(), first.timeline())));
        assert_eq!(shifted_clip(&demo::rig(1, 1, 1).unwrap().clips()[0], 7).unwrap().tracks.len(), 3, "one key");
    }
}
