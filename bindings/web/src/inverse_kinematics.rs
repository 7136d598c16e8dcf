//! Inverse kinematics: the chains that a page adds to a library, and the goals of instances.

use std::f64::consts::PI;

use posse::ik::{Chain, ChainKind, Goal, GoalTarget, GoalWeight};
use posse::{Skeleton, SkeletonId};
use wasm_bindgen::prelude::*;

use crate::fields::{Fields, each, flag, number, numbers, unexpected, whole};
use crate::js::{self, Result, check_index};
use crate::library::Library;
use crate::names::{Scope, joint};

/// The joints of a chain, and how they turn: `ChainOptions` of `types.d.ts`.
fn kind(skeleton: &Skeleton, value: &JsValue) -> Result<ChainKind> {
    let joint_of = |place: &str, value: &JsValue| joint(skeleton, place, value);
    let error = || JsError::new("chain: expected either joints, with pole and hold, or aim, with forward and limit");
    let fields = Fields::new("chain".into(), value, &["joints", "pole", "hold", "aim", "forward", "limit"])?;
    let has = |name: &str| fields.get(name).is_some();
    match (has("joints"), has("aim")) {
        (true, false) if !has("forward") && !has("limit") => {
            let joints = fields.required("joints", |place, value| each(place, value, joint_of))?;
            let Ok(joints) = joints.try_into() else {
                return Err(JsError::new("chain.joints: expected three joints"));
            };
            let (pole, hold) = (fields.read("pole", numbers)?, fields.read("hold", flag)?.unwrap_or(false));
            Ok(ChainKind::TwoBone { joints, pole, hold })
        }
        (false, true) if !has("pole") && !has("hold") => Ok(ChainKind::Aim {
            joint: fields.required("aim", joint_of)?,
            forward: fields.required("forward", numbers)?,
            limit: fields.read("limit", number)?.unwrap_or(PI),
        }),
        _ => Err(error()),
    }
}

/// A goal: `GoalOptions` of `types.d.ts`.
pub fn goal(scope: Scope, place: &str, value: &JsValue) -> Result<Goal> {
    let library = scope.library;
    let fields = Fields::new(place.to_owned(), value, &["chain", "target", "weight"])?;
    let index = fields.required("chain", whole)?;
    check_index("chain", index, library.chains().len())?;
    let Some(chain) = library.chain_ids().nth(index) else {
        return Err(fields.missing("chain"));
    };
    let target = fields.required("target", |place, value| target(scope, place, value))?;
    let weight = fields.read("weight", |place, value| match value.as_f64() {
        Some(_) => Ok(GoalWeight::Fixed(number(place, value)?)),
        None => Ok(GoalWeight::Parameter(scope.parameter_of(place, value)?)),
    })?;
    Ok(Goal { chain, target, weight: weight.unwrap_or(GoalWeight::Fixed(1.0)) })
}

/// A point, or the parameters that are its coordinates.
fn target(scope: Scope, place: &str, value: &JsValue) -> Result<GoalTarget> {
    if js::list(value).is_some() {
        return Ok(GoalTarget::Point(numbers(place, value)?));
    }
    let fields = Fields::new(place.to_owned(), value, &["parameters"])?;
    let names = fields
        .required("parameters", |place, value| each(place, value, |place, value| scope.parameter(place, value)))?;
    let names = names.try_into();
    names.map(GoalTarget::Parameters).map_err(|_| unexpected(place, value, "the names of three parameters"))
}

#[wasm_bindgen]
impl Library {
    /// Adds a chain of joints that inverse kinematics turns. Returns its number.
    pub fn chain(&self, skeleton: f64, chain: &JsValue) -> Result<usize> {
        self.shared.change(|source| {
            let skeleton: SkeletonId = source.skeleton(skeleton)?;
            let kind = kind(source.library.skeleton(skeleton), chain)?;
            source.library.add_chain(Chain { name: None, skeleton, kind })?;
            Ok(source.library.chains().len() - 1)
        })
    }
}
