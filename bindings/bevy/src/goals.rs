//! Goals of characters: inverse kinematics.

use std::sync::Arc;

use bevy::prelude::*;
use posse::ik::{Goal, GoalTarget, GoalWeight};
use posse::{Library, SkeletonId};

use crate::clip_layer::missing;

/// Goals of a character: targets for chains of its joints, such as the ground for feet. They act in order, each on the
/// pose that the one before left. Sockets follow the joints as the goals have moved them.
///
/// The chains stand in the rig's library, by name: [`CrowdRig::edit`](crate::CrowdRig::edit) adds them to a rig
/// from a file.
///
/// # Examples
/// ```
/// use bevy::prelude::*;
/// use bevy_posse::posse::Error;
/// use bevy_posse::posse::ik::{Chain, ChainKind, GoalTarget};
/// use bevy_posse::{ChainGoal, ChainGoals, CrowdRig};
///
/// /// Gives the characters of a rig an arm that can reach.
/// fn add_arm(rig: &mut CrowdRig) -> Result<(), Error> {
///     let skeleton = rig.skeleton();
///     rig.edit(|library| {
///         let joint = |name| {
///             let found = library.skeleton(skeleton).find_joint(name);
///             found.ok_or_else(|| Error::Usage(format!("there is no joint {name}")))
///         };
///         let joints = [joint("upper_arm.R")?, joint("lower_arm.R")?, joint("hand.R")?];
///         let kind = ChainKind::TwoBone { joints, pole: None, hold: false };
///         library.add_chain(Chain { name: Some("arm".into()), skeleton, kind })?;
///         Ok(())
///     })
/// }
///
/// /// Lets a character reach for a point one metre high.
/// fn reach(mut character: EntityCommands) {
///     character.insert(ChainGoals(vec![ChainGoal::new("arm", GoalTarget::Point([-0.2, 1.0, 0.4]))]));
/// }
/// # let _ = (add_arm, reach);
/// ```
#[derive(Component, Debug, Clone, Default, PartialEq)]
pub struct ChainGoals(pub Vec<ChainGoal>);

/// A goal of a character: as [`posse::ik::Goal`], but with the name of the chain.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainGoal {
    /// The name of the chain.
    pub chain: Arc<str>,
    /// The target in the space of the character. One that follows from parameters moves with `Posse::parameters`.
    pub target: GoalTarget,
    /// The weight, from 0 to 1; 1 by default.
    pub weight: GoalWeight,
}

impl ChainGoal {
    /// A goal with weight 1.
    pub fn new(chain: impl Into<Arc<str>>, target: GoalTarget) -> Self {
        Self { chain: chain.into(), target, weight: GoalWeight::Fixed(1.0) }
    }

    /// The goal of the library with this name, or a message that lists the names that there are.
    fn resolve(&self, library: &Library, skeleton: SkeletonId) -> Result<Goal, String> {
        let of_skeleton = || library.chain_ids().zip(library.chains()).filter(|(_, chain)| chain.skeleton == skeleton);
        let found = of_skeleton().find(|(_, chain)| chain.name.as_deref() == Some(&self.chain));
        let (chain, _) = found
            .ok_or_else(|| missing("chain", &self.chain, of_skeleton().map(|(_, chain)| chain.name.as_deref())))?;
        let &Self { target, weight, .. } = self;
        Ok(Goal { chain, target, weight })
    }
}

impl ChainGoals {
    /// The goals of the library with these names. Those without a chain are left out, with a message.
    pub(crate) fn resolve(&self, library: &Library, skeleton: SkeletonId, entity: Entity) -> Vec<Goal> {
        let resolve = |goal: &ChainGoal| match goal.resolve(library, skeleton) {
            Ok(goal) => Some(goal),
            Err(error) => {
                error!("goals of character {entity}: {error}");
                None
            }
        };
        self.0.iter().filter_map(resolve).collect()
    }
}
