//! The oracle: every pose in `f64`, straight from the model, one page a stage.
//!
//! It is written to be read beside the glTF 2.0 specification, not to be fast. It reads the [`Library`] and never a
//! packing of it, so that a fault of the packing shows.

pub mod blend;
pub mod ease;
pub mod events;
pub mod extrapolate;
pub mod hierarchy;
pub mod layers;
pub mod occurrences;
pub mod passes;
pub mod phase;
pub mod root_motion;
pub mod sample;
pub mod search;
pub mod skin;
pub mod values;

use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::model::{Crowd, EventList, Layer, Library, Outputs, Pose, Poses, SkeletonId, Step, uniform_scale};
use crate::reference::values::Values;

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
    pub(crate) fn pose(&self, skeleton_id: SkeletonId, layers: &[Layer], step: Step, outputs: Outputs) -> Pose {
        let skeleton = self.library.skeleton(skeleton_id);
        let Values { local, weights, properties } = layers::values(self.library, skeleton, layers, step.to);
        let model = if outputs.model || outputs.skin { hierarchy::model(skeleton, &local) } else { Vec::new() };
        let mut pose = Pose::default();
        if outputs.skin {
            let skins = self.library.skins_of(skeleton_id);
            pose.skins = skins.map(|(_, skin)| skin::matrices(skin, &model)).collect();
        }
        if outputs.local {
            pose.local = local;
        }
        if outputs.model {
            pose.model = model;
        }
        if outputs.weights {
            pose.weights = weights.concat();
        }
        if outputs.properties {
            pose.properties = properties.concat();
        }
        if outputs.root_motion {
            pose.root_motion = root_motion::of_instance(self.library, layers, step);
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

    fn evaluate_step(&mut self, crowd: &Crowd, step: Step, outputs: Outputs) -> Result<Poses, Error> {
        crowd.check(self.library)?;
        if outputs.is_uniform_only() {
            uniform_scale::check_crowd(self.library, crowd)?;
        }
        let pose = |instance| self.pose(crowd.skeleton(instance), crowd.layers(instance), step, outputs);
        Ok(Poses { instances: (0..crowd.len()).map(pose).collect() })
    }

    fn evaluate_events(&mut self, crowd: &Crowd, step: Step, capacity: usize) -> Result<EventList, Error> {
        crowd.check(self.library)?;
        Ok(occurrences::of_crowd(self.library, crowd, step, capacity))
    }
}
