//! Changes of characters.

use bevy::asset::AssetId;
use bevy::prelude::*;
use posse::ik::Goal;
use posse::parameters::Parameter;
use posse::{Crowd, Error, Layer, Library, SkeletonId, Ticks};

use crate::character::LayerTransition;
use crate::rig::CrowdRig;

/// A change that the render world has not seen.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub rig: AssetId<CrowdRig>,
    pub entity: Entity,
    pub slot: u32,
    pub layers: Vec<Layer>,
    pub parameters: Vec<f32>,
    pub goals: Vec<Goal>,
    /// The transition to the layers; `None` for a jump.
    pub transition: Option<LayerTransition>,
    /// True if the slot had no character, or another one.
    pub is_new: bool,
}

impl Change {
    /// A new character as an instance of a crowd of its own. Layers, goals and parameters that the library cannot use
    /// are left out, also of the change.
    pub fn alone(&mut self, rig: &CrowdRig) -> Crowd {
        let entity = self.entity;
        let report = |error: Error| error!("character {entity}: {error}");
        let mut alone = Crowd::new();
        if let Err(error) = self.check(&rig.library, rig.skeleton) {
            report(error);
            self.goals.clear();
            if self.check(&rig.library, rig.skeleton).is_err() {
                self.layers.clear();
            }
        }
        if let Err(error) = self.parameters() {
            report(error);
            self.parameters.clear();
        }
        let outcome = alone.push(rig.skeleton, &[]).and_then(|_| self.apply(&rig.library, &mut alone, 0, Ticks(0)));
        if let Err(error) = outcome {
            report(error);
        }
        alone
    }

    /// Changes a character that plays already. An error leaves it as it is.
    pub fn apply_alone(&self, rig: &CrowdRig, alone: &mut Crowd, now: Ticks) -> Result<(), Error> {
        if alone.layers(0) != self.layers || alone.goals(0) != self.goals {
            self.check(&rig.library, rig.skeleton)?;
        }
        self.apply(&rig.library, alone, 0, now).map(|_| ())
    }

    /// One character that the library cannot play would keep all of its crowd from the device.
    fn check(&self, library: &Library, skeleton: SkeletonId) -> Result<(), Error> {
        let mut alone = Crowd::new();
        alone.push(skeleton, &self.layers)?;
        alone.set_goals(0, self.goals.as_slice())?;
        alone.check(library)
    }

    /// The parameters, as constants.
    fn parameters(&self) -> Result<Vec<Parameter>, Error> {
        let most = Crowd::MAX_PARAMETERS;
        if self.parameters.len() > most {
            return Err(Error::Usage(format!(
                "there are {} parameters; expected at most {most}",
                self.parameters.len()
            )));
        }
        self.parameters.iter().map(|&value| Parameter::constant(f64::from(value))).collect()
    }

    /// Changes an instance of a crowd. Returns true if its layers are others than before.
    pub fn apply(&self, library: &Library, crowd: &mut Crowd, instance: usize, now: Ticks) -> Result<bool, Error> {
        let parameters = self.parameters()?;
        let is_other = self.is_new || crowd.layers(instance) != self.layers;
        if is_other {
            match self.transition.filter(|_| !self.is_new) {
                Some(transition) => crowd.begin_transition(library, &transition.begin(instance, &self.layers, now))?,
                None => crowd.set(instance, crowd.skeleton(instance), &self.layers)?,
            }
        }
        crowd.set_parameters(instance, parameters)?;
        if crowd.goals(instance) != self.goals {
            crowd.set_goals(instance, self.goals.as_slice())?;
        }
        Ok(is_other)
    }
}
