//! Stage 5, for a whole clip: from its tracks to the values of each joint, morph weight and property; and stages 7 and
//! 8, from local transforms to model matrices and skin matrices.
//!
//! Colours stay as computed: a caller that needs bytes rounds them last. Quaternions of properties are not normalised,
//! as in Cocos Creator; quaternions of joints are.

use std::collections::HashMap;

use glam::{DAffine3, DQuat, DVec3};

use crate::model::rotation::{self, unit};
use crate::model::{Clip, Library, Skeleton, Skin, Target, Track, Transform};
use crate::reference::sample;

/// The values of all joints, morph weights and properties of a skeleton.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// Local transforms, one per joint. Their rotations have unit length.
    pub local: Vec<Transform>,
    /// Morph weights of each joint.
    pub weights: Vec<Vec<f64>>,
    /// Numbers of each property. Rotations have unit length.
    pub properties: Vec<Vec<f64>>,
}

/// The joints, morph weights and properties of a skeleton that a clip animates.
#[derive(Debug, Clone, PartialEq)]
pub struct Animated {
    /// Parts of the local transform, one set per joint.
    pub local: Vec<AnimatedParts>,
    /// Morph weights of each joint.
    pub weights: Vec<Vec<bool>>,
    /// Numbers of each property.
    pub properties: Vec<Vec<bool>>,
}

/// The parts of a joint's local transform that a clip animates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnimatedParts {
    /// `true` if the clip has a track for the translation.
    pub translation: bool,
    /// `true` if the clip has a track for the rotation, as a quaternion or as angles.
    pub rotation: bool,
    /// `true` if the clip has a track for the scale.
    pub scale: bool,
}

impl Values {
    /// The rest pose.
    pub fn at_rest(skeleton: &Skeleton) -> Self {
        let mut local: Vec<Transform> = skeleton.joints().iter().map(|joint| joint.rest).collect();
        for transform in &mut local {
            transform.rotation = unit(transform.rotation).unwrap_or(DQuat::IDENTITY);
        }
        let mut properties: Vec<Vec<f64>> = Vec::new();
        for property in skeleton.properties() {
            let unit = if property.rotation { unit(DQuat::from_slice(&property.rest)) } else { None };
            properties.push(unit.map_or_else(|| property.rest.clone(), |unit| unit.to_array().to_vec()));
        }
        let weights = skeleton.joints().iter().map(|joint| joint.weights.clone()).collect();
        Self { local, weights, properties }
    }

    /// The values of a clip at a time of the clip in seconds, and the rest pose for targets without a track.
    ///
    /// The part of the root joint that moves the instance is removed: `local' = part^-1 local`, for the translation and
    /// the rotation if they have tracks.
    pub fn of_clip(library: &Library, clip: &Clip, time: f64) -> Self {
        let skeleton = library.skeleton(clip.skeleton);
        let mut values = Self::sampled(library, clip, time);
        if let Some(root) = clip.root_motion {
            let animated = Animated::by_clip(skeleton, clip).local[root.joint];
            let local = &mut values.local[root.joint];
            let part = root.part(local, root.up(skeleton));
            let back = part.rotation.conjugate();
            if animated.translation {
                local.translation = back * (local.translation - part.translation);
            }
            if animated.rotation {
                local.rotation = back * local.rotation;
            }
        }
        values
    }

    /// The same with the full transform of the root joint.
    pub(crate) fn sampled(library: &Library, clip: &Clip, time: f64) -> Self {
        let skeleton = library.skeleton(clip.skeleton);
        let mut values = Self::at_rest(skeleton);
        let mut euler_angles = HashMap::new();
        for track in &clip.tracks {
            values.drive(library, skeleton, track, time, &mut euler_angles);
        }
        for (joint, angles) in euler_angles {
            values.local[joint].rotation = rotation::from_euler_angles(angles);
        }
        values
    }

    /// Writes the value of a track. Angles are collected in `euler_angles`, since a joint may have one track per axis.
    fn drive(
        &mut self,
        library: &Library,
        skeleton: &Skeleton,
        track: &Track,
        time: f64,
        euler_angles: &mut HashMap<usize, DVec3>,
    ) {
        let numbers: &mut [f64] = match track.target {
            Target::Rotation(joint) => {
                self.local[joint].rotation = sample::rotation(&track.curve, time);
                return;
            }
            Target::Property(property) if track.target.is_rotation(skeleton) => {
                self.properties[property] = sample::rotation(&track.curve, time).to_array().to_vec();
                return;
            }
            Target::Translation(joint) => self.local[joint].translation.as_mut(),
            Target::Scale(joint) => self.local[joint].scale.as_mut(),
            Target::EulerAngles(joint) => {
                let rest = || rotation::to_euler_angles(skeleton.joints()[joint].rest.rotation);
                euler_angles.entry(joint).or_insert_with(rest).as_mut()
            }
            Target::Weights(joint) => &mut self.weights[joint],
            Target::Property(property) => &mut self.properties[property],
        };
        let value = sample::value(library, &track.curve, time);
        match track.component {
            Some(component) => numbers[component] = value[0],
            None => numbers.copy_from_slice(&value),
        }
    }
}

impl Animated {
    /// The targets of a clip's tracks.
    pub fn by_clip(skeleton: &Skeleton, clip: &Clip) -> Self {
        let joints = skeleton.joints();
        let mut animated = Self {
            local: vec![AnimatedParts::default(); joints.len()],
            weights: joints.iter().map(|joint| vec![false; joint.weights.len()]).collect(),
            properties: skeleton.properties().iter().map(|property| vec![false; property.rest.len()]).collect(),
        };
        for track in &clip.tracks {
            match (track.target, track.component) {
                (Target::Translation(joint), _) => animated.local[joint].translation = true,
                (Target::Rotation(joint) | Target::EulerAngles(joint), _) => animated.local[joint].rotation = true,
                (Target::Scale(joint), _) => animated.local[joint].scale = true,
                (Target::Weights(joint), Some(weight)) => animated.weights[joint][weight] = true,
                (Target::Weights(joint), None) => animated.weights[joint].fill(true),
                (Target::Property(property), Some(number)) => animated.properties[property][number] = true,
                (Target::Property(property), None) => animated.properties[property].fill(true),
            }
        }
        animated
    }
}

/// The model matrix of each joint: the model matrix of its parent times its local matrix (glTF 2.0, section 3.5.3).
pub fn model_matrices(skeleton: &Skeleton, local: &[Transform]) -> Vec<DAffine3> {
    let mut model: Vec<DAffine3> = Vec::with_capacity(local.len());
    for (joint, transform) in skeleton.joints().iter().zip(local) {
        let matrix = joint.matrix.unwrap_or_else(|| transform.to_affine());
        model.push(joint.parent.map_or(matrix, |parent| model[parent] * matrix));
    }
    model
}

/// The skin matrix of each joint of a skin: its model matrix times its inverse bind matrix (glTF 2.0, section 3.7.3).
pub fn skin_matrices(skin: &Skin, model: &[DAffine3]) -> Vec<DAffine3> {
    skin.joints.iter().zip(&skin.inverse_bind).map(|(&joint, inverse_bind)| model[joint] * *inverse_bind).collect()
}
