//! Inverse kinematics: the chains that a page adds to a library, and the goals of instances.

use std::f64::consts::PI;

use posse::{Chain, ChainKind, Goal, GoalTarget, GoalWeight, Skeleton, SkeletonId};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::js::{Result, check_index, options};
use crate::library::Library;
use crate::names::{JointChoice, ParameterName, Scope, find_parameter};

/// The options of a chain: `ChainOptions` of `types.d.ts`. It has `joints` or `aim`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChainOptions {
    joints: Option<[JointChoice; 3]>,
    pole: Option<[f64; 3]>,
    hold: Option<bool>,
    aim: Option<JointChoice>,
    forward: Option<[f64; 3]>,
    limit: Option<f64>,
}

impl ChainOptions {
    fn kind(&self, skeleton: &Skeleton) -> Result<ChainKind> {
        let two_bones = (&self.joints, self.pole.is_some() || self.hold.is_some());
        let aims = (&self.aim, self.forward.is_some() || self.limit.is_some());
        match (two_bones, aims) {
            ((Some([first, middle, last]), _), (None, false)) => {
                let joints = [first.find(skeleton)?, middle.find(skeleton)?, last.find(skeleton)?];
                Ok(ChainKind::TwoBone { joints, pole: self.pole, hold: self.hold.unwrap_or(false) })
            }
            ((None, false), (Some(joint), _)) => {
                let Some(forward) = self.forward else {
                    return Err(JsError::new(
                        "chain.forward: expected the direction of the joint that turns to the target",
                    ));
                };
                Ok(ChainKind::Aim { joint: joint.find(skeleton)?, forward, limit: self.limit.unwrap_or(PI) })
            }
            _ => Err(JsError::new("chain: expected either joints, with pole and hold, or aim, with forward and limit")),
        }
    }
}

/// The options of a goal: `GoalOptions` of `types.d.ts`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoalOptions {
    chain: usize,
    target: Target,
    #[serde(default)]
    weight: Weight,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a point [x, y, z], or { parameters: [x, y, z] } with three names")]
enum Target {
    Point([f64; 3]),
    Parameters(TargetParameters),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TargetParameters {
    parameters: [String; 3],
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number from 0 to 1, or { parameter } with a name")]
enum Weight {
    Fixed(f64),
    Parameter(ParameterName),
}

impl Default for Weight {
    fn default() -> Self {
        Self::Fixed(1.0)
    }
}

impl GoalOptions {
    /// The goal.
    pub fn goal(&self, scope: Scope) -> Result<Goal> {
        let Scope { library, parameters } = scope;
        check_index("chain", self.chain, library.chains().len())?;
        let Some(chain) = library.chain_ids().nth(self.chain) else {
            return Err(JsError::new("there is no such chain"));
        };
        let target = match &self.target {
            Target::Point(point) => GoalTarget::Point(*point),
            Target::Parameters(TargetParameters { parameters: [x, y, z] }) => GoalTarget::Parameters([
                find_parameter(parameters, x)?,
                find_parameter(parameters, y)?,
                find_parameter(parameters, z)?,
            ]),
        };
        let weight = match &self.weight {
            Weight::Fixed(weight) => GoalWeight::Fixed(*weight),
            Weight::Parameter(ParameterName { parameter }) => {
                GoalWeight::Parameter(find_parameter(parameters, parameter)?)
            }
        };
        Ok(Goal { chain, target, weight })
    }
}

#[wasm_bindgen]
impl Library {
    /// Adds a chain of joints that inverse kinematics turns. Returns its number.
    pub fn chain(&self, skeleton: f64, chain: &JsValue) -> Result<usize> {
        let choices: ChainOptions = options("chain", chain)?;
        self.shared.change(|source| {
            let skeleton: SkeletonId = source.skeleton(skeleton)?;
            let kind = choices.kind(source.library.skeleton(skeleton))?;
            source.library.add_chain(Chain { name: None, skeleton, kind })?;
            Ok(source.library.chains().len() - 1)
        })
    }
}
