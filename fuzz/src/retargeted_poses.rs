//! The poses of retargeted clips: joints with exact tracks turn as their partners do.

use glam::DQuat;
use posse::curves::{Curve, Extrapolation, Interpolation, Target};
use posse::low_level::reference::value;
use posse::retarget::{JointMap, JointPair, ReferencePose, RetargetOptions, RetargetedClip, Retargeting, TrackMethod};
use posse::{
    Clip, ClipId, Crowd, Evaluator, Layer, LayerTime, Library, Outputs, Reference, Skeleton, SkeletonId, Ticks,
};

/// The largest angle in radians by which a joint whose tracks are all exact may miss its place.
const EXACT: f64 = 1e-6;

/// The dot product of neighbouring keys, and the length of a spline as a share of its numbers, up to which rounding
/// decides on a rotation. Rounding changes them by 1e-15 or so.
const UNDETERMINED: f64 = 1e-9;

/// Asserts that all poses of retargeted clips are finite, and that joints with exact tracks turn as their partners do,
/// unless rounding decides on the rotation or rest poses are aligned.
pub fn check(library: &Library, options: &RetargetOptions, made: &Retargeting) {
    // Root motion takes a part of a rotation out of the pose. A retargeted clip may have lost it.
    let whole = without_root_motion(library);
    for clip in &made.clips {
        for time in times(library.clip(clip.clip)) {
            rotations_of_clip(library, clip.source, time);
            rotations_of_clip(library, clip.clip, time);
        }
        if !options.align {
            check_clip(&whole, options, &made.map, clip);
        }
    }
}

/// A copy of a library of skeletons and clips whose clips move the joints alone.
fn without_root_motion(library: &Library) -> Library {
    let mut copy = Library::new();
    for skeleton in library.skeletons() {
        copy.add_skeleton(skeleton.clone());
    }
    for clip in library.clips() {
        copy.add_clip(Clip { root_motion: None, ..clip.clone() }).expect("a clip that is in a library");
    }
    copy
}

/// Asserts that joints with exact tracks turn as their partners do.
fn check_clip(library: &Library, options: &RetargetOptions, map: &JointMap, clip: &RetargetedClip) {
    let [source, target] = [map.source, map.target].map(|id| library.skeleton(id));
    let reference = match &options.reference {
        ReferencePose::Clip { clip, time } => rotations_of_clip(library, *clip, *time),
        _ => rotations(library, map.source, &[]),
    };
    let rest = rotations(library, map.target, &[]);
    let exact: Vec<_> = map.pairs.iter().filter(|pair| is_exact(target, clip, pair.target)).collect();
    let [from_clip, to_clip] = [clip.source, clip.clip].map(|id| library.clip(id));
    for time in times(to_clip) {
        // A clip that lost the longest of its tracks has its duration as a length. Its time is then clamped, and keys
        // before 0 are never reached.
        let within = to_clip.keep(time);
        let from = rotations_of_clip(library, clip.source, within);
        let to = rotations_of_clip(library, clip.clip, time);
        let is_determined = |pair: &&&JointPair| {
            lineage(source, pair.source).all(|joint| is_determined(library, from_clip, joint, within))
        };
        for pair in exact.iter().filter(is_determined) {
            let expected = from[pair.source] * reference[pair.source].conjugate() * rest[pair.target];
            let between = expected.conjugate() * to[pair.target];
            let angle = 2.0 * between.xyz().length().atan2(between.w.abs());
            assert!(angle <= EXACT, "{pair:?} at {time} s: off by {angle}");
        }
    }
}

/// Returns `false` if rounding decides on the rotation of a joint at a time: between keys half a turn apart, where both
/// ways are as long, and where a spline passes through zero.
fn is_determined(library: &Library, clip: &Clip, joint: usize, time: f64) -> bool {
    let Some(track) = clip.tracks.iter().find(|track| track.target == Target::Rotation(joint)) else { return true };
    // Beyond its keys, a rotation does not go on in a straight line.
    let [before, after] = track.curve.extrapolation().map(|extrapolation| match extrapolation {
        Extrapolation::Linear => Extrapolation::Clamp,
        other => other,
    });
    let curve = track.curve.clone().with_extrapolation(before, after);
    // The number of the key before, and the part of the way to the next one.
    let numbers = (0..curve.timeline().len()).map(|key| key as f64).collect();
    let count = Curve::new(curve.timeline().clone(), Interpolation::Linear, 1, numbers).expect("a number per key");
    let place = value(library, &count.with_extrapolation(before, after), time)[0];
    let key = place as usize;
    let is_key = key as f64 == place;
    match curve.interpolation() {
        Interpolation::Linear if !is_key => {
            let [one, other] = [key, key + 1].map(|key| DQuat::from_slice(curve.value(key)));
            one.dot(other).abs() > UNDETERMINED
        }
        Interpolation::CubicSpline if !is_key => {
            let largest = curve.values().iter().fold(1.0, |largest: f64, number| largest.max(number.abs()));
            DQuat::from_slice(&value(library, &curve, time)).length() > UNDETERMINED * largest
        }
        _ => true,
    }
}

/// The rotations in model space of a clip at a time.
fn rotations_of_clip(library: &Library, clip: ClipId, time: f64) -> Vec<DQuat> {
    let skeleton = library.clip(clip).skeleton;
    rotations(library, skeleton, &[Layer::new(clip, LayerTime::At(time))])
}

/// The times at which a clip is posed: its first keys, and between them.
fn times(clip: &Clip) -> Vec<f64> {
    let mut times = vec![-1.0, 0.0, 0.3, 1.7, 40.0];
    for track in &clip.tracks {
        let keys = track.curve.timeline().times();
        times.extend(keys.iter().take(4));
        times.extend(keys.windows(2).take(3).map(|pair| 0.6 * pair[0] + 0.4 * pair[1]));
    }
    times.truncate(32);
    times
}

/// Returns `true` if the tracks of a joint, and of all joints above it, are exact.
fn is_exact(target: &Skeleton, clip: &RetargetedClip, joint: usize) -> bool {
    let is_sampled = |joint: usize| {
        let mut of_joint = clip.tracks.iter().filter(|track| track.target == Target::Rotation(joint));
        of_joint.any(|track| matches!(track.method, TrackMethod::Resampled { .. }))
    };
    lineage(target, joint).all(|joint| !is_sampled(joint))
}

/// A joint and all joints above it.
fn lineage(skeleton: &Skeleton, joint: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(joint), |&joint| skeleton.joints()[joint].parent)
}

/// The rotations in model space of layers of a skeleton, as products of the local ones. All numbers of the pose are
/// finite.
fn rotations(library: &Library, skeleton: SkeletonId, layers: &[Layer]) -> Vec<DQuat> {
    let mut crowd = Crowd::new();
    crowd.push(skeleton, layers).expect("the clip is one of the skeleton");
    let poses = Reference::new(library).evaluate(&crowd, Ticks(0), Outputs::ALL).expect("a valid crowd");
    let pose = &poses.instances[0];
    assert!(pose.local.iter().all(|local| local.translation.is_finite() && local.rotation.is_finite()), "{pose:?}");
    assert!(pose.model.iter().all(|matrix| matrix.is_finite()), "{pose:?}");
    let mut model: Vec<DQuat> = Vec::new();
    for (joint, local) in library.skeleton(skeleton).joints().iter().zip(&pose.local) {
        let own = local.rotation;
        model.push(joint.parent.map_or(own, |parent| model[parent] * own));
    }
    model
}
