//! The oracle: every pose in `f64`, straight from the model, one page a stage.
//!
//! It is written to be read beside the glTF 2.0 specification, not to be fast. It reads the [`Library`] and never a
//! packing of it, so that a fault of the packing shows.

pub mod ease;
pub mod events;
pub mod extrapolate;
pub mod hierarchy;
pub mod phase;
pub mod sample;
pub mod search;
pub mod skin;

use std::collections::BTreeMap;

use glam::{DQuat, DVec3};

use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::model::crowd::{Crowd, Layer};
use crate::model::id::SkeletonId;
use crate::model::library::{Library, is_rotation};
use crate::model::outputs::Outputs;
use crate::model::poses::{Pose, Poses};
use crate::model::rotation::{self, unit};
use crate::model::skeleton::Skeleton;
use crate::model::ticks::Ticks;
use crate::model::track::{Target, Track};
use crate::model::transform::Transform;

/// The `f64` engine that the others are held to.
#[derive(Debug, Clone, Copy)]
pub struct Reference<'a> {
    library: &'a Library,
}

impl<'a> Reference<'a> {
    /// An engine for the crowds of this library.
    pub fn new(library: &'a Library) -> Self {
        Self { library }
    }

    /// The pose of one instance of a crowd that was checked.
    pub(crate) fn pose(&self, skeleton_id: SkeletonId, layers: &[Layer], now: Ticks, outputs: Outputs) -> Pose {
        let skeleton = self.library.skeleton(skeleton_id);
        let mut values = Values::at_rest(skeleton);
        for layer in layers {
            let clip = self.library.clip(layer.clip);
            let time = phase::clip_time(layer.time, now, clip);
            for track in &clip.tracks {
                values.drive(self.library, skeleton, track, time);
            }
        }
        let model = if outputs.model || outputs.skin { hierarchy::model(skeleton, &values.local) } else { Vec::new() };
        let mut pose = Pose::default();
        if outputs.skin {
            let skins = self.library.skins_of(skeleton_id);
            pose.skins = skins.map(|(_, skin)| skin::matrices(skin, &model)).collect();
        }
        if outputs.local {
            pose.local = values.local;
        }
        if outputs.model {
            pose.model = model;
        }
        if outputs.weights {
            pose.weights = values.weights.concat();
        }
        if outputs.properties {
            pose.properties = values.properties.concat();
        }
        pose
    }
}

impl Evaluator for Reference<'_> {
    fn engine(&self) -> &'static str {
        "reference"
    }

    fn adapter(&self) -> String {
        "f64".into()
    }

    fn evaluate(&mut self, crowd: &Crowd, now: Ticks, outputs: Outputs) -> Result<Poses, Error> {
        crowd.check(self.library)?;
        let pose = |instance| self.pose(crowd.skeleton(instance), crowd.layers(instance), now, outputs);
        Ok(Poses { instances: (0..crowd.len()).map(pose).collect() })
    }
}

/// What tracks drive, by joint and by property.
struct Values {
    local: Vec<Transform>,
    weights: Vec<Vec<f64>>,
    properties: Vec<Vec<f64>>,
    /// By joint, where they are driven.
    euler_angles: BTreeMap<usize, DVec3>,
}

impl Values {
    fn at_rest(skeleton: &Skeleton) -> Self {
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
        Self { local, weights, properties, euler_angles: BTreeMap::new() }
    }

    fn drive(&mut self, library: &Library, skeleton: &Skeleton, track: &Track, time: f64) {
        if is_rotation(skeleton, track.target) {
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
                self.euler_angles.entry(joint).or_insert_with(rest).as_mut()
            }
            Target::Weights(joint) => &mut self.weights[joint],
            Target::Property(property) => &mut self.properties[property],
            Target::Rotation(_) => unreachable!("rotations were driven above"),
        };
        match track.component {
            Some(component) => numbers[component] = value[0],
            None => numbers.copy_from_slice(&value),
        }
        if let Target::EulerAngles(joint) = track.target {
            self.local[joint].rotation = rotation::from_euler_angles(self.euler_angles[&joint]);
        }
    }
}
