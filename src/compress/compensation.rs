//! Error compensation: rounds the keys of a joint against the already rounded keys of its ancestors.
//!
//! A rounded ancestor turns and moves all joints below it. The keys of a joint are therefore not rounded from their own
//! values, but from the values that would restore the joint's original rotation and place in model space below the
//! rounded ancestors. Rotation errors then do not add up along a chain, so that the keys of a joint need no more
//! precision than its own bones ask for. If the translations of its joints are animated too, their places do not add up
//! either, and its rotations need no more precision than its shell asks for.

use std::sync::Arc;

use glam::{DAffine3, DQuat, DVec3};

use crate::compress::curve::{can_be_quantized, has_unit_keys};
use crate::model::{Clip, Curve, Interpolation, Library, Skeleton, Target, Timeline, Transform};
use crate::reference::sample;
use crate::reference::values::Values;

/// The most local transforms that are kept per clip, joints times keys of all timelines. Each takes 80 bytes, and 128
/// in model space before and after rounding: 336 bytes, so that a clip takes up to 88 MB. Larger clips are not
/// compensated.
const MAX_TRANSFORMS: usize = 1 << 18;

/// The errors that the keys of a joint compensate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compensation {
    /// None.
    Nothing,
    /// Rotations of its ancestors.
    Rotations,
    /// Rotations of its ancestors, and its place.
    RotationsAndPlaces,
}

/// The tracks of a joint whose keys may compensate errors.
#[derive(Debug, Clone, Copy, Default)]
pub struct JointTracks {
    /// The track of the whole translation.
    pub translation: Option<usize>,
    /// The track of the quaternions.
    pub rotation: Option<usize>,
    /// The track of the whole scale. It compensates nothing.
    pub scale: Option<usize>,
    /// `true` if the rotation compensates errors of the ancestors.
    pub turns: bool,
    /// `true` if the translation compensates errors of the ancestors.
    pub places: bool,
}

/// The transforms of all joints at a moment.
#[derive(Debug, Clone, Copy)]
struct Model {
    /// The product of the rotations of a joint and its ancestors.
    rotation: DQuat,
    /// The model matrix.
    matrix: DAffine3,
}

/// The original transforms of all joints of a clip, at the key times of the timelines with curves that can compensate.
pub struct ErrorCompensation {
    timelines: Vec<Arc<Timeline>>,
    joints: Vec<JointTracks>,
    /// Local transforms, by timeline, key and joint.
    local: Vec<Vec<Vec<Transform>>>,
    /// Transforms in model space, by timeline, joint and key.
    model: Vec<Vec<Vec<Model>>>,
}

impl ErrorCompensation {
    /// The transforms of a clip. `may_change` tells for each track if its curve may be changed, which is false if
    /// another track uses it too.
    pub fn new(library: &Library, clip: &Clip, may_change: &[bool], compensation: Compensation) -> Self {
        let skeleton = library.skeleton(clip.skeleton);
        let joint_count = skeleton.joints().len();
        let mut joints = vec![JointTracks::default(); joint_count];
        let mut timelines: Vec<Arc<Timeline>> = Vec::new();
        for (index, track) in clip.tracks.iter().enumerate().filter(|(_, track)| track.component.is_none()) {
            let may_change = may_change[index] && can_compensate(&track.curve);
            let compensates = match track.target {
                Target::Translation(joint) => {
                    joints[joint].translation = Some(index);
                    joints[joint].places = may_change && compensation == Compensation::RotationsAndPlaces;
                    joints[joint].places
                }
                Target::Rotation(joint) => {
                    joints[joint].rotation = Some(index);
                    joints[joint].turns =
                        may_change && compensation != Compensation::Nothing && has_unit_keys(&track.curve);
                    joints[joint].turns
                }
                Target::Scale(joint) => {
                    joints[joint].scale = Some(index);
                    false
                }
                _ => false,
            };
            if compensates && !timelines.iter().any(|timeline| Arc::ptr_eq(timeline, track.curve.timeline())) {
                timelines.push(track.curve.timeline().clone());
            }
        }
        let keys: usize = timelines.iter().map(|timeline| timeline.len()).sum();
        if keys.saturating_mul(joint_count) > MAX_TRANSFORMS {
            timelines.clear();
            joints.iter_mut().for_each(|joint| (joint.turns, joint.places) = (false, false));
        }
        let poses = |timeline: &Arc<Timeline>| -> Vec<Vec<Transform>> {
            let pose = |&time: &f64| Values::sampled(library, clip, time).local;
            timeline.times().iter().map(pose).collect()
        };
        let local: Vec<_> = timelines.iter().map(poses).collect();
        let models = |poses: &Vec<Vec<Transform>>| {
            let mut models: Vec<Vec<Model>> = Vec::with_capacity(joint_count);
            for joint in 0..joint_count {
                let parent = skeleton.joints()[joint].parent.map(|parent| &models[parent][..]);
                let model = poses.iter().enumerate().map(|(key, pose)| {
                    in_model_space(skeleton, joint, parent.map(|parent| &parent[key]), &pose[joint])
                });
                let model = model.collect();
                models.push(model);
            }
            models
        };
        let model = local.iter().map(models).collect();
        Self { timelines, joints, local, model }
    }

    /// The tracks of each joint.
    pub fn joints(&self) -> &[JointTracks] {
        &self.joints
    }
}

/// Returns `true` for curves with keys that can compensate: interpolated linearly or stepped.
fn can_compensate(curve: &Curve) -> bool {
    matches!(curve.interpolation(), Interpolation::Linear | Interpolation::Step) && can_be_quantized(curve)
}

/// The transform of a joint in model space.
fn in_model_space(skeleton: &Skeleton, joint: usize, parent: Option<&Model>, local: &Transform) -> Model {
    let matrix = skeleton.joints()[joint].matrix.unwrap_or_else(|| local.to_affine());
    match parent {
        Some(parent) => Model { rotation: parent.rotation * local.rotation, matrix: parent.matrix * matrix },
        None => Model { rotation: local.rotation, matrix },
    }
}

/// The transforms of a clip after rounding, filled joint by joint, parents before children.
pub struct RoundedTransforms<'a> {
    compensation: &'a ErrorCompensation,
    skeleton: &'a Skeleton,
    /// Transforms in model space, by joint, timeline and key.
    model: Vec<Vec<Vec<Model>>>,
}

/// The rounded curves of a joint. `None` keeps the original values.
#[derive(Clone, Copy, Default)]
pub struct RoundedCurves<'a> {
    /// The translation.
    pub translation: Option<&'a Curve>,
    /// The rotation.
    pub rotation: Option<&'a Curve>,
    /// The scale.
    pub scale: Option<&'a Curve>,
}

impl<'a> RoundedTransforms<'a> {
    /// No transforms yet: the next joint is the first.
    pub fn new(compensation: &'a ErrorCompensation, skeleton: &'a Skeleton) -> Self {
        Self { compensation, skeleton, model: Vec::new() }
    }

    /// The keys that would give the next joint its original rotation in model space, below its rounded ancestors. Four
    /// numbers per key. `None` if its keys do not compensate.
    pub fn compensated_rotations(&self, curve: &Curve) -> Option<Vec<f64>> {
        if !self.compensation.joints[self.model.len()].turns {
            return None;
        }
        let keys = self.originals_and_parents(curve)?;
        let keys = keys.map(|(original, parent)| (parent.rotation.inverse() * original.rotation).to_array());
        Some(keys.flatten().collect())
    }

    /// The keys that would give the next joint its original place in model space. Three numbers per key. `None` if its
    /// keys do not compensate, or if a parent of no size cannot place it.
    pub fn compensated_translations(&self, curve: &Curve) -> Option<Vec<f64>> {
        if !self.compensation.joints[self.model.len()].places {
            return None;
        }
        let keys = self.originals_and_parents(curve)?;
        let keys = keys.map(|(original, parent)| parent.matrix.inverse().transform_point3(original.matrix.translation));
        let keys: Vec<DVec3> = keys.collect();
        keys.iter().all(|key| key.is_finite()).then(|| keys.iter().flat_map(DVec3::to_array).collect())
    }

    /// The original transforms of the next joint at the keys of a curve, with the rounded ones of its parent.
    fn originals_and_parents(&self, curve: &Curve) -> Option<impl Iterator<Item = (&Model, &Model)>> {
        let joint = self.model.len();
        let compensation = self.compensation;
        let timeline = compensation.timelines.iter().position(|timeline| Arc::ptr_eq(timeline, curve.timeline()))?;
        let parent = self.skeleton.joints()[joint].parent?;
        Some(compensation.model[timeline][joint].iter().zip(&self.model[parent][timeline]))
    }

    /// Adds the next joint, with its rounded curves.
    pub fn push(&mut self, library: &Library, curves: RoundedCurves) {
        let joint = self.model.len();
        let compensation = self.compensation;
        let on_timeline = |timeline: usize| -> Vec<Model> {
            let parent = self.skeleton.joints()[joint].parent.map(|parent| &self.model[parent][timeline][..]);
            let keys = compensation.timelines[timeline].times().iter().zip(&compensation.local[timeline]);
            let model = keys.enumerate().map(|(key, (&time, original))| {
                let mut local = original[joint];
                if let Some(curve) = curves.translation {
                    local.translation = DVec3::from_slice(&sample::value(library, curve, time));
                }
                if let Some(curve) = curves.rotation {
                    local.rotation = sample::rotation(curve, time);
                }
                if let Some(curve) = curves.scale {
                    local.scale = DVec3::from_slice(&sample::value(library, curve, time));
                }
                in_model_space(self.skeleton, joint, parent.map(|parent| &parent[key]), &local)
            });
            model.collect()
        };
        let model = (0..compensation.timelines.len()).map(on_timeline).collect();
        self.model.push(model);
    }
}
