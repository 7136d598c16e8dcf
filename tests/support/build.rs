//! Builders of small libraries.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use posse::curves::{Curve, Interpolation, Target, Timeline, Track};
use posse::{
    Clip, ClipId, Crowd, Evaluator, Joint, Layer, LayerTime, Library, Outputs, Pose, Skeleton, SkeletonId, Ticks,
    Transform,
};

/// A joint at an offset from its parent.
pub fn joint(parent: Option<usize>, translation: [f64; 3]) -> Joint {
    let rest = Transform { translation: DVec3::from(translation), ..Transform::IDENTITY };
    Joint { parent, rest, ..Joint::default() }
}

/// A curve with these times and values.
pub fn curve(interpolation: Interpolation, width: usize, times: &[f64], values: &[f64]) -> Curve {
    let timeline = Arc::new(Timeline::new(times.to_vec()).unwrap());
    Curve::new(timeline, interpolation, width, values.to_vec()).unwrap()
}

/// A library of one skeleton.
pub fn library(joints: Vec<Joint>) -> (Library, SkeletonId) {
    let mut library = Library::new();
    let skeleton = library.add_skeleton(Skeleton::new(None, joints, Vec::new()).unwrap());
    (library, skeleton)
}

/// Adds a clip with these tracks to a library.
pub fn clip(library: &mut Library, skeleton: SkeletonId, tracks: Vec<(Target, Curve)>) -> ClipId {
    let tracks = tracks.into_iter().map(|(target, curve)| Track::new(target, curve)).collect();
    library.add_clip(Clip::new(None, skeleton, tracks)).unwrap()
}

/// A library of one joint at rest, and a clip of one track on it.
pub fn one_track(target: Target, curve: Curve) -> (Library, ClipId) {
    let (mut library, skeleton) = library(vec![Joint::default()]);
    let clip = clip(&mut library, skeleton, vec![(target, curve)]);
    (library, clip)
}

/// All outputs of one instance that plays one clip.
pub fn pose(engine: &mut dyn Evaluator, library: &Library, clip: ClipId, time: LayerTime, now: Ticks) -> Pose {
    let mut crowd = Crowd::new();
    crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, time)]).unwrap();
    engine.evaluate(&crowd, now, Outputs::ALL).unwrap().instances.remove(0)
}

/// All outputs of one instance at a clip time, in seconds.
pub fn pose_at(engine: &mut dyn Evaluator, library: &Library, clip: ClipId, seconds: f64) -> Pose {
    pose(engine, library, clip, LayerTime::At(seconds), Ticks::default())
}

/// A rotation about an axis, in degrees.
pub fn degrees(axis: DVec3, angle: f64) -> DQuat {
    DQuat::from_axis_angle(axis, angle.to_radians())
}
