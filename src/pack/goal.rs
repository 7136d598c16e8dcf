//! Packing of goals: a record per goal of an instance.

use crate::model::{Goal, GoalTarget, GoalWeight};
use crate::pack::PackedLibrary;
use crate::pack::record::{GOAL_TARGET, GOAL_WEIGHT, GoalRecord, NONE};

/// A goal that does nothing.
const NO_GOAL: GoalRecord = GoalRecord { chain: NONE, parameters: 0, x: 0, y: 0, z: 0, weight: 0 };

/// Appends the goals of a checked instance, filled up to `count`.
pub(crate) fn pack_goals(packed: &PackedLibrary, goals: &[Goal], count: usize, records: &mut Vec<GoalRecord>) {
    let filled = goals.iter().map(|goal| pack_goal(packed, goal).unwrap_or(NO_GOAL));
    records.extend(filled.chain(std::iter::repeat(NO_GOAL)).take(count));
}

/// The record of a goal; `None` if the library does not have its chain.
fn pack_goal(packed: &PackedLibrary, goal: &Goal) -> Option<GoalRecord> {
    let chain = packed.chains.get(goal.chain.index())?.offset;
    let (by_parameters, [x, y, z]) = match goal.target {
        GoalTarget::Point(point) => (0, point.map(|number| (number as f32).to_bits())),
        GoalTarget::Parameters(indices) => (GOAL_TARGET, indices.map(|index| index as u32)),
    };
    let (by_parameter, weight) = match goal.weight {
        GoalWeight::Fixed(weight) => (0, (weight as f32).to_bits()),
        GoalWeight::Parameter(index) => (GOAL_WEIGHT, index as u32),
    };
    Some(GoalRecord { chain, parameters: by_parameters | by_parameter, x, y, z, weight })
}
