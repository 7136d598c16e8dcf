//! Libraries made of bytes: a few joints, and clips whose keys move them.

use std::sync::Arc;

use arbitrary::{Result, Unstructured};
use glam::{DQuat, DVec3};
use posse::curves::{Curve, CurveEasing, Easing, Extrapolation, Interpolation, Target, Timeline, Track};
use posse::{Clip, Joint, Library, Skeleton, SkeletonId, Skin, Transform};

use crate::numbers;

/// The most repetitions of a curve after its keys.
const MAX_PASSES: f64 = 2.0;
/// The most keys of a timeline.
const MAX_KEYS: usize = 5;

/// A library of one skeleton of up to three joints, and a clip or two.
pub fn library(bytes: &mut Unstructured) -> Result<Library> {
    let mut library = Library::new();
    let joints = joints(bytes, 3)?;
    let skeleton = Skeleton::new(None, joints.clone(), Vec::new()).expect("parents come before children");
    let skeleton = library.add_skeleton(skeleton);
    let skin = Skin {
        name: None,
        skeleton,
        joints: (0..joints.len()).collect(),
        inverse_bind: joints.iter().map(|joint| joint.rest.to_affine().inverse()).collect(),
    };
    library.add_skin(skin).expect("the joints belong to the skeleton");
    let mut timelines = Vec::new();
    let clips = if bytes.ratio(1, 4)? { 2 } else { 1 };
    for _ in 0..clips {
        let clip = clip(bytes, &joints, skeleton, &mut timelines)?;
        // A loop over a long clip may have too many keys.
        let _ = library.add_clip(clip);
    }
    Ok(library)
}

/// Up to so many joints, parents before children, at rest without rotations and scales.
pub fn joints(bytes: &mut Unstructured, most: usize) -> Result<Vec<Joint>> {
    let count = bytes.int_in_range(1..=most)?;
    let mut joints = Vec::new();
    for index in 0..count {
        let parent = if index == 0 || bytes.ratio(1, 8)? { None } else { Some(bytes.choose_index(index)?) };
        let translation = DVec3::new(numbers::small(bytes)?, numbers::small(bytes)?, numbers::small(bytes)?);
        let rest = Transform { translation: translation / 64.0, ..Transform::IDENTITY };
        let weights = vec![0.5; if bytes.ratio(1, 4)? { bytes.int_in_range(1..=3)? } else { 0 }];
        joints.push(Joint { name: Some(format!("joint {index}")), parent, rest, weights, ..Joint::default() });
    }
    Ok(joints)
}

/// A clip that moves some of these joints. Its tracks share some of the timelines, to which new ones are added.
pub fn clip(
    bytes: &mut Unstructured,
    joints: &[Joint],
    skeleton: SkeletonId,
    timelines: &mut Vec<Arc<Timeline>>,
) -> Result<Clip> {
    let mut tracks = Vec::new();
    let mut longest = f64::INFINITY;
    for (joint, entry) in joints.iter().enumerate().filter(|(_, joint)| joint.matrix.is_none()) {
        let weights = entry.weights.len();
        let targets = [
            (Target::Translation(joint), 3),
            (Target::Rotation(joint), 4),
            (Target::Scale(joint), 3),
            (Target::Weights(joint), weights),
        ];
        for (target, width) in targets {
            if width > 0 && bytes.ratio(1, 2)? {
                let curve = curve(bytes, timelines, target, width)?;
                if curve.extrapolation() != [Extrapolation::Clamp; 2] {
                    // Few passes of each loop, because a library has a key per key and pass.
                    let timeline = curve.timeline();
                    let span = timeline.last() - timeline.first();
                    longest = longest.min(timeline.last().max(0.0) + MAX_PASSES * span.max(0.1));
                }
                tracks.push(Track::new(target, curve));
            }
        }
    }
    let mut clip = Clip::new(None, skeleton, tracks);
    if longest.is_finite() {
        clip.length = Some((numbers::small(bytes)?.abs() / 16.0 + 1.0).min(longest));
    }
    Ok(clip)
}

fn curve(bytes: &mut Unstructured, shared: &mut Vec<Arc<Timeline>>, target: Target, width: usize) -> Result<Curve> {
    if shared.is_empty() || bytes.ratio(1, 3)? {
        let times = numbers::times(bytes, MAX_KEYS)?;
        shared.push(Arc::new(Timeline::new(times).expect("the times increase")));
    }
    let timeline = Arc::clone(bytes.choose(shared)?);
    let interpolation = *bytes.choose(&[
        Interpolation::Linear,
        Interpolation::Linear,
        Interpolation::Step,
        Interpolation::CubicSpline,
    ])?;
    let (mut values, mut last) = (Vec::new(), [0.0; 4]);
    let turns = matches!(target, Target::Rotation(_));
    for _ in 0..timeline.len() {
        for part in 0..interpolation.elements_per_key() {
            let is_value = interpolation.elements_per_key() == 1 || part == 1;
            let mut element = [0.0; 4];
            for (number, last) in element.iter_mut().zip(&mut last).take(width) {
                let step = f64::from(bytes.arbitrary::<i8>()?) / 64.0;
                *number = if is_value { *last + step } else { step };
                if is_value {
                    *last = *number;
                }
            }
            if turns && is_value {
                let rotation = DQuat::from_array(element);
                let length = rotation.length();
                element = if length > 0.0 { (rotation / length).to_array() } else { [0.0, 0.0, 0.0, 1.0] };
            }
            values.extend(&element[..width]);
        }
    }
    let mut curve = Curve::new(timeline, interpolation, width, values).expect("as many numbers as the keys need");
    if bytes.ratio(1, 8)? {
        let easing = Easing::from_id(bytes.int_in_range(0..=43)?).unwrap_or(Easing::Bezier([0.3, 0.0, 0.6, 1.0]));
        curve = curve.with_easing(CurveEasing::One(easing)).expect("easings with names are valid");
    }
    if bytes.ratio(1, 8)? {
        let all = [Extrapolation::Clamp, Extrapolation::Linear, Extrapolation::Loop, Extrapolation::PingPong];
        let (before, after) = (*bytes.choose(&all)?, *bytes.choose(&all)?);
        curve = curve.with_extrapolation(before, after);
    }
    Ok(curve)
}
