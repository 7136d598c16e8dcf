//! What clips give: a value for each joint's parts, each morph weight and each property.

use std::collections::HashMap;

use glam::{DQuat, DVec3};

use crate::model::rotation::{self, unit};
use crate::model::{Clip, Library, Skeleton, Target, Track, Transform};
use crate::reference::sample;

/// Values of everything that a skeleton has.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// By joint, rotations of unit length.
    pub local: Vec<Transform>,
    /// By joint.
    pub weights: Vec<Vec<f64>>,
    /// By property, rotations of unit length.
    pub properties: Vec<Vec<f64>>,
}

/// What of a skeleton a clip animates.
#[derive(Debug, Clone, PartialEq)]
pub struct Animated {
    /// Translation, rotation and scale, by joint.
    pub local: Vec<[bool; 3]>,
    /// By joint.
    pub weights: Vec<Vec<bool>>,
    /// By property.
    pub properties: Vec<Vec<bool>>,
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

    /// What a clip gives at a time of its own, and the rest pose where it has no track. What its root joint moves the
    /// instance by is taken out: `local' = part^-1 local`, for what it has tracks for.
    pub fn of_clip(library: &Library, clip: &Clip, time: f64) -> Self {
        let skeleton = library.skeleton(clip.skeleton);
        let mut values = Self::sampled(library, clip, time);
        if let Some(root) = clip.root_motion {
            let [moved, turned, _] = Animated::by_clip(skeleton, clip).local[root.joint];
            let local = &mut values.local[root.joint];
            let part = root.part(local, root.up(skeleton));
            let back = part.rotation.conjugate();
            if moved {
                local.translation = back * (local.translation - part.translation);
            }
            if turned {
                local.rotation = back * local.rotation;
            }
        }
        values
    }

    /// The same, with all that the root joint does.
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

    fn drive(
        &mut self,
        library: &Library,
        skeleton: &Skeleton,
        track: &Track,
        time: f64,
        euler_angles: &mut HashMap<usize, DVec3>,
    ) {
        if track.target.is_rotation(skeleton) {
            let rotation = sample::rotation(&track.curve, time);
            match track.target {
                Target::Property(property) => self.properties[property] = rotation.to_array().to_vec(),
                Target::Rotation(joint) => self.local[joint].rotation = rotation,
                _ => unreachable!("no other target is a rotation"),
            }
            return;
        }
        let value = sample::value(library, &track.curve, time);
        let numbers: &mut [f64] = match track.target {
            Target::Translation(joint) => self.local[joint].translation.as_mut(),
            Target::Scale(joint) => self.local[joint].scale.as_mut(),
            Target::EulerAngles(joint) => {
                let rest = || rotation::to_euler_angles(skeleton.joints()[joint].rest.rotation);
                euler_angles.entry(joint).or_insert_with(rest).as_mut()
            }
            Target::Weights(joint) => &mut self.weights[joint],
            Target::Property(property) => &mut self.properties[property],
            Target::Rotation(_) => unreachable!("rotations were driven above"),
        };
        match track.component {
            Some(component) => numbers[component] = value[0],
            None => numbers.copy_from_slice(&value),
        }
    }
}

impl Animated {
    /// What a clip animates.
    pub fn by_clip(skeleton: &Skeleton, clip: &Clip) -> Self {
        let joints = skeleton.joints();
        let mut animated = Self {
            local: vec![[false; 3]; joints.len()],
            weights: joints.iter().map(|joint| vec![false; joint.weights.len()]).collect(),
            properties: skeleton.properties().iter().map(|property| vec![false; property.rest.len()]).collect(),
        };
        for track in &clip.tracks {
            match (track.target, track.component) {
                (Target::Translation(joint), _) => animated.local[joint][0] = true,
                (Target::Rotation(joint) | Target::EulerAngles(joint), _) => animated.local[joint][1] = true,
                (Target::Scale(joint), _) => animated.local[joint][2] = true,
                (Target::Weights(joint), Some(weight)) => animated.weights[joint][weight] = true,
                (Target::Weights(joint), None) => animated.weights[joint].fill(true),
                (Target::Property(property), Some(number)) => animated.properties[property][number] = true,
                (Target::Property(property), None) => animated.properties[property].fill(true),
            }
        }
        animated
    }
}
