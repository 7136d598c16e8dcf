//! The reference engine: every pose in `f64`, straight from the model, one file per stage.
//!
//! It is written to be read beside the glTF 2.0 specification, not to be fast. It reads the [`Library`] and never a
//! packed one, so that an error of the packing shows as a difference.

pub(crate) mod blend;
pub(crate) mod drive;
pub(crate) mod ease;
mod events;
pub(crate) mod instance;
pub(crate) mod inverse_kinematics;
pub(crate) mod layers;
mod passes;
pub(crate) mod phase;
pub(crate) mod player_events;
pub(crate) mod root_motion;
pub(crate) mod sample;
pub(crate) mod search;
pub(crate) mod transition;
pub(crate) mod values;

use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::model::{Crowd, EventList, Library, Outputs, Pose, Poses, Step, uniform_scale};
use crate::reference::instance::Instance;
use crate::reference::values::Values;

/// The `f64` engine. The other engines must agree with it within [`contract`](crate::contract).
///
/// # Examples
///
/// ```
/// use posse::{Evaluator, Outputs, Reference, Ticks, demo};
///
/// let library = demo::library()?;
/// let crowd = demo::crowd(&library, 3)?;
/// let mut reference = Reference::new(&library);
/// let poses = reference.evaluate(&crowd, Ticks::from_seconds(1.5), Outputs::ALL)?;
/// assert_eq!(poses.instances.len(), 3);
///
/// // One local transform and one model matrix per joint.
/// let joints = library.skeleton(crowd.skeleton(0)).joints().len();
/// assert_eq!(poses.instances[0].local.len(), joints);
/// assert_eq!(poses.instances[0].model.len(), joints);
/// # Ok::<(), posse::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Reference<'a> {
    library: &'a Library,
}

impl<'a> Reference<'a> {
    /// Makes an engine for the crowds of a library.
    pub fn new(library: &'a Library) -> Self {
        Self { library }
    }

    /// The pose of one instance at the end of a step. The crowd must have been checked.
    pub(crate) fn pose(&self, instance: &Instance, step: Step, outputs: Outputs) -> Pose {
        let skeleton = instance.skeleton();
        let Values { local, weights, properties } = instance.posed_values(step.to);
        let model = if outputs.model || outputs.skin { values::model_matrices(skeleton, &local) } else { Vec::new() };
        let mut pose = Pose::default();
        if outputs.skin {
            let skins = self.library.skins_of(instance.skeleton);
            pose.skins = skins.map(|(_, skin)| values::skin_matrices(skin, &model)).collect();
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
            pose.root_motion = root_motion::of_instance(instance, step);
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
        let pose_of = |instance| self.pose(&Instance::new(self.library, crowd, instance), step, outputs);
        Ok(Poses { instances: (0..crowd.len()).map(pose_of).collect() })
    }

    fn evaluate_events(&mut self, crowd: &Crowd, step: Step, capacity: usize) -> Result<EventList, Error> {
        crowd.check(self.library)?;
        Ok(events::of_crowd(self.library, crowd, step, capacity))
    }
}
