//! Goals: from parameters to targets and weights, as in `shaders/resolve_goals.wgsl`.

use glam::Vec4;

use crate::pack::record::{GOAL_TARGET, GOAL_WEIGHT, GoalRecord};

/// The target of a goal, and its weight from 0 to 1.
pub fn resolve(goal: &GoalRecord, parameters: &[f32]) -> Vec4 {
    let number = |bits: u32, by_parameter: u32| {
        if goal.parameters & by_parameter == 0 { f32::from_bits(bits) } else { value(parameters, bits) }
    };
    let [x, y, z] = [goal.x, goal.y, goal.z].map(|bits| number(bits, GOAL_TARGET));
    Vec4::new(x, y, z, number(goal.weight, GOAL_WEIGHT).clamp(0.0, 1.0))
}

/// The value of a parameter. One that the instance does not have is 0, and so is NaN; infinity is the largest number.
fn value(parameters: &[f32], index: u32) -> f32 {
    let found = parameters.get(index as usize).copied().filter(|value| !value.is_nan());
    found.unwrap_or(0.0).clamp(f32::MIN, f32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_parameters_become_targets_and_weights() {
        let point = GoalRecord {
            x: 1.0_f32.to_bits(),
            y: 0,
            z: (-2.0_f32).to_bits(),
            weight: 0.5_f32.to_bits(),
            ..GoalRecord::default()
        };
        assert_eq!(resolve(&point, &[7.0]), Vec4::new(1.0, 0.0, -2.0, 0.5));
        let by_parameters = GoalRecord { parameters: GOAL_TARGET | GOAL_WEIGHT, x: 2, y: 0, z: 9, weight: 1, ..point };
        assert_eq!(resolve(&by_parameters, &[f32::INFINITY, 1.5, -3.0]), Vec4::new(-3.0, f32::MAX, 0.0, 1.0));
        assert_eq!(resolve(&by_parameters, &[1.0, f32::NAN, -3.0]).w, 0.0);
    }
}
