//! Error compensation: rounds the rotation of a joint against the already rounded rotations of its ancestors.
//!
//! A rounded ancestor turns all joints below it. The keys of a joint are therefore not rounded from their own values, but from
//! the values that would restore the joint's original rotation in model space below the rounded ancestors. Rotation errors
//! then do not add up along a chain. Only displacements add up, so that the keys of a joint need no more precision than its own
//! bones ask for.

use std::sync::Arc;

use glam::DQuat;

use crate::compress::curve::{can_be_quantized, has_unit_keys};
use crate::model::rotation::unit;
use crate::model::{Clip, Curve, Interpolation, Skeleton, Target, Timeline};
use crate::reference::sample;

/// The most rotations that are kept per clip, joints times keys of all timelines. A rotation takes 32 bytes. Larger clips are
/// not compensated.
const MOST_ROTATIONS: usize = 1 << 18;

/// The original rotations of all joints of a clip, at the key times of the timelines with rotations that can compensate.
pub struct ErrorCompensation {
    timelines: Vec<Arc<Timeline>>,
    /// For each joint the track of its quaternions.
    tracks: Vec<Option<usize>>,
    /// For each joint, `true` if its keys compensate the errors of its ancestors.
    compensates: Vec<bool>,
    /// Local rotations, by timeline, joint and key.
    local: Vec<Vec<Vec<DQuat>>>,
    /// Rotations in model space, by timeline, joint and key.
    model: Vec<Vec<Vec<DQuat>>>,
}

impl ErrorCompensation {
    /// The rotations of a clip. `may_change` tells for each track if its curve may be changed, which is false if another track
    /// uses it too.
    pub fn new(skeleton: &Skeleton, clip: &Clip, may_change: &[bool]) -> Self {
        let joints = skeleton.joints();
        let mut tracks = vec![None; joints.len()];
        let mut compensates = vec![false; joints.len()];
        let mut timelines: Vec<Arc<Timeline>> = Vec::new();
        for (index, track) in clip.tracks.iter().enumerate() {
            let Target::Rotation(joint) = track.target else { continue };
            tracks[joint] = Some(index);
            compensates[joint] = may_change[index] && can_compensate(&track.curve);
            if compensates[joint] && !timelines.iter().any(|timeline| Arc::ptr_eq(timeline, track.curve.timeline())) {
                timelines.push(track.curve.timeline().clone());
            }
        }
        let keys: usize = timelines.iter().map(|timeline| timeline.len()).sum();
        if keys.saturating_mul(joints.len()) > MOST_ROTATIONS {
            timelines.clear();
            compensates.fill(false);
        }
        let (mut local, mut model) = (Vec::new(), Vec::new());
        for timeline in &timelines {
            let mut local_rotations: Vec<Vec<DQuat>> = Vec::with_capacity(joints.len());
            let mut model_rotations: Vec<Vec<DQuat>> = Vec::with_capacity(joints.len());
            for (joint, track) in joints.iter().zip(&tracks) {
                let rotations = match *track {
                    Some(track) => sample_rotations(timeline, &clip.tracks[track].curve),
                    None => vec![unit(joint.rest.rotation).unwrap_or(DQuat::IDENTITY); timeline.len()],
                };
                let parent = joint.parent.map(|parent| &model_rotations[parent][..]);
                model_rotations.push(in_model_space(parent, &rotations));
                local_rotations.push(rotations);
            }
            local.push(local_rotations);
            model.push(model_rotations);
        }
        Self { timelines, tracks, compensates, local, model }
    }

    /// For each joint, `true` if its keys compensate the errors of its ancestors.
    pub fn compensates(&self) -> &[bool] {
        &self.compensates
    }

    /// The track of a joint's quaternions.
    pub fn track(&self, joint: usize) -> Option<usize> {
        self.tracks[joint]
    }
}

/// Samples the rotations of a curve at the key times of a timeline.
fn sample_rotations(timeline: &Arc<Timeline>, curve: &Curve) -> Vec<DQuat> {
    if Arc::ptr_eq(timeline, curve.timeline()) && !timeline.has_shared_times() {
        let keys = (0..timeline.len()).map(|key| DQuat::from_slice(curve.value(key)));
        return keys.map(|key| unit(key).unwrap_or(DQuat::IDENTITY)).collect();
    }
    timeline.times().iter().map(|&time| sample::rotation(curve, time)).collect()
}

/// Returns true for curves with keys that can compensate: quaternions that are slerped or stepped, with lengths that have no
/// effect.
fn can_compensate(curve: &Curve) -> bool {
    matches!(curve.interpolation(), Interpolation::Linear | Interpolation::Step)
        && can_be_quantized(curve)
        && has_unit_keys(curve)
}

/// Turns local rotations by the model-space rotations of the parent, key by key.
fn in_model_space(parent: Option<&[DQuat]>, local: &[DQuat]) -> Vec<DQuat> {
    match parent {
        Some(parent) => parent.iter().zip(local).map(|(parent, local)| *parent * *local).collect(),
        None => local.to_vec(),
    }
}

/// The rotations of a clip after rounding, filled joint by joint, parents before children.
pub struct RoundedRotations<'a> {
    compensation: &'a ErrorCompensation,
    parents: Vec<Option<usize>>,
    /// Rotations in model space, by joint, timeline and key.
    model: Vec<Vec<Vec<DQuat>>>,
}

impl<'a> RoundedRotations<'a> {
    /// No rotations yet: the next joint is the first.
    pub fn new(compensation: &'a ErrorCompensation, skeleton: &Skeleton) -> Self {
        let parents = skeleton.joints().iter().map(|joint| joint.parent).collect();
        Self { compensation, parents, model: Vec::new() }
    }

    /// The keys that would give the next joint its original rotation in model space, below its rounded ancestors. Four numbers
    /// per key. `None` if its keys do not compensate.
    pub fn compensated_keys(&self, curve: &Curve) -> Option<Vec<f64>> {
        let joint = self.model.len();
        let compensation = self.compensation;
        let timeline = compensation.timelines.iter().position(|timeline| Arc::ptr_eq(timeline, curve.timeline()))?;
        let original = &compensation.model[timeline][joint];
        let parent = self.parents[joint]
            .map(|parent| &self.model[parent][timeline])
            .filter(|_| compensation.compensates[joint])?;
        let keys = original.iter().zip(parent).map(|(original, parent)| (parent.inverse() * *original).to_array());
        Some(keys.flatten().collect())
    }

    /// Adds the next joint, with its rounded curve. `None` keeps its original rotations.
    pub fn push(&mut self, curve: Option<&Curve>) {
        let joint = self.model.len();
        let compensation = self.compensation;
        let on_timeline = |timeline: usize| {
            let parent = self.parents[joint].map(|parent| &self.model[parent][timeline][..]);
            match curve {
                Some(curve) => in_model_space(parent, &sample_rotations(&compensation.timelines[timeline], curve)),
                None => in_model_space(parent, &compensation.local[timeline][joint]),
            }
        };
        let model = (0..compensation.timelines.len()).map(on_timeline).collect();
        self.model.push(model);
    }
}
