//! Rotations in model space, by which a joint makes up for the rounding of the joints above it.
//!
//! Each joint's keys are rounded from what they would have to be, with the joints above as they have become, for the joint
//! to point where it pointed. What adds up along a chain is then how far joints are displaced, and no longer how far they are
//! turned, and keys need be no finer than their own bones ask for.

use std::sync::Arc;

use glam::DQuat;

use crate::compress::curve::{can_be_quantized, has_unit_keys};
use crate::model::rotation::unit;
use crate::model::{Clip, Curve, Interpolation, Skeleton, Target, Timeline};
use crate::reference::sample;

/// Rotations, which take 32 bytes each, of joints times keys times timelines that are kept of a clip.
const MOST: usize = 1 << 18;

/// The rotations of joints at the key times of those timelines on which rotations lie.
pub struct ErrorCompensation {
    timelines: Vec<Arc<Timeline>>,
    /// For each joint the track that turns it by quaternions.
    tracks: Vec<Option<usize>>,
    /// For each joint whether its keys make up for others.
    corrects: Vec<bool>,
    /// By timeline, joint and key: as they were, by themselves and in model space.
    local: Vec<Vec<Vec<DQuat>>>,
    model: Vec<Vec<Vec<DQuat>>>,
}

impl ErrorCompensation {
    /// The rotations of a clip, of whose tracks these may be changed for this clip alone.
    pub fn new(skeleton: &Skeleton, clip: &Clip, own: &[bool]) -> Self {
        let joints = skeleton.joints();
        let mut tracks = vec![None; joints.len()];
        let mut corrects = vec![false; joints.len()];
        let mut timelines: Vec<Arc<Timeline>> = Vec::new();
        for (index, track) in clip.tracks.iter().enumerate() {
            let Target::Rotation(joint) = track.target else { continue };
            tracks[joint] = Some(index);
            corrects[joint] = own[index] && corrects_others(&track.curve);
            if corrects[joint] && !timelines.iter().any(|timeline| Arc::ptr_eq(timeline, track.curve.timeline())) {
                timelines.push(track.curve.timeline().clone());
            }
        }
        let keys: usize = timelines.iter().map(|timeline| timeline.len()).sum();
        if keys.saturating_mul(joints.len()) > MOST {
            timelines.clear();
            corrects.fill(false);
        }
        let mut bearings = Self { timelines, tracks, corrects, local: Vec::new(), model: Vec::new() };
        for timeline in 0..bearings.timelines.len() {
            let mut local: Vec<Vec<DQuat>> = Vec::with_capacity(joints.len());
            let mut model: Vec<Vec<DQuat>> = Vec::with_capacity(joints.len());
            for (index, joint) in joints.iter().enumerate() {
                let own = match bearings.tracks[index] {
                    Some(track) => bearings.sampled(timeline, &clip.tracks[track].curve),
                    None => {
                        vec![unit(joint.rest.rotation).unwrap_or(DQuat::IDENTITY); bearings.timelines[timeline].len()]
                    }
                };
                model.push(turned(joint.parent.map(|parent| &model[parent][..]), &own));
                local.push(own);
            }
            bearings.local.push(local);
            bearings.model.push(model);
        }
        bearings
    }

    /// For each joint whether its keys make up for others.
    pub fn corrects(&self) -> &[bool] {
        &self.corrects
    }

    /// The track that turns a joint by quaternions.
    pub fn track(&self, joint: usize) -> Option<usize> {
        self.tracks[joint]
    }

    /// A curve's rotations at the key times of a timeline.
    fn sampled(&self, timeline: usize, curve: &Curve) -> Vec<DQuat> {
        let timeline = &self.timelines[timeline];
        if Arc::ptr_eq(timeline, curve.timeline()) && !timeline.has_shared_times() {
            let keys = (0..timeline.len()).map(|key| DQuat::from_slice(curve.value(key)));
            return keys.map(|key| unit(key).unwrap_or(DQuat::IDENTITY)).collect();
        }
        timeline.times().iter().map(|&time| sample::rotation(curve, time)).collect()
    }
}

/// Whether keys can make up for the rounding of others: those between which rotations are slerped or stand still, and whose
/// lengths have no effect.
fn corrects_others(curve: &Curve) -> bool {
    matches!(curve.interpolation(), Interpolation::Linear | Interpolation::Step)
        && can_be_quantized(curve)
        && has_unit_keys(curve)
}

/// Rotations by those of a parent.
fn turned(parent: Option<&[DQuat]>, own: &[DQuat]) -> Vec<DQuat> {
    match parent {
        Some(parent) => parent.iter().zip(own).map(|(parent, own)| *parent * *own).collect(),
        None => own.to_vec(),
    }
}

/// The rotations as they become, joint by joint.
pub struct Corrected<'a> {
    bearings: &'a ErrorCompensation,
    parents: Vec<Option<usize>>,
    /// By joint, timeline and key, in model space.
    model: Vec<Vec<Vec<DQuat>>>,
}

impl<'a> Corrected<'a> {
    /// Before the first joint.
    pub fn new(bearings: &'a ErrorCompensation, skeleton: &Skeleton) -> Self {
        let parents = skeleton.joints().iter().map(|joint| joint.parent).collect();
        Self { bearings, parents, model: Vec::new() }
    }

    /// What the next joint's keys would have to be for it to point where it did; none where they are not to change.
    pub fn keys(&self, curve: &Curve) -> Option<Vec<f64>> {
        let joint = self.model.len();
        let bearings = self.bearings;
        let timeline = bearings.timelines.iter().position(|timeline| Arc::ptr_eq(timeline, curve.timeline()))?;
        let wanted = &bearings.model[timeline][joint];
        let above =
            self.parents[joint].map(|parent| &self.model[parent][timeline]).filter(|_| bearings.corrects[joint])?;
        Some(wanted.iter().zip(above).flat_map(|(wanted, above)| (above.inverse() * *wanted).to_array()).collect())
    }

    /// Takes note of what has become of the next joint: a curve, where it is another than it was.
    pub fn push(&mut self, curve: Option<&Curve>) {
        let joint = self.model.len();
        let bearings = self.bearings;
        let at = |timeline: usize| {
            let above = self.parents[joint].map(|parent| &self.model[parent][timeline][..]);
            match curve {
                Some(curve) => turned(above, &bearings.sampled(timeline, curve)),
                None => turned(above, &bearings.local[timeline][joint]),
            }
        };
        let model = (0..bearings.timelines.len()).map(at).collect();
        self.model.push(model);
    }
}
