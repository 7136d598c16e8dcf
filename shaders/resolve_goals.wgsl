// Needs: nothing
//! Goals: from parameters to targets and weights, one invocation per goal.
//!
//! The kernel runs before the pose pass, and writes the goals behind the lists that the kernels that pose read.

/// Indices, key times and records of the library. The loaders of records read them.
@group(0) @binding(0) var<storage, read> words: array<u32>;
/// The goals, `goals_per_instance` per instance.
@group(0) @binding(1) var<storage, read> goals: array<GoalRecord>;
/// The parameters: the bits of `parameter_count` numbers per instance. As integers, because a device may flush small
/// numbers.
@group(0) @binding(2) var<storage, read> parameters: array<u32>;
/// The record that all instances of the batch share.
@group(0) @binding(3) var<uniform> batch: GoalBatch;
/// The lists of the batch.
@group(0) @binding(4) var<storage, read_write> lists: array<u32>;

/// Resolves one goal per invocation.
@compute @workgroup_size(WORKGROUP_SIZE)
fn resolve_goals(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) invocation: u32) {
    let index = (group.y * batch.groups_per_row + group.x) * WORKGROUP_SIZE + invocation;
    if index >= batch.goal_count {
        return;
    }
    let instance = index / batch.goals_per_instance;
    let goal = goals[index];
    let at = batch.first_goal + GOAL_RESOLVED_WORDS * index;
    let by_target = (goal.parameters & GOAL_TARGET) != 0u;
    lists[at] = goal.chain;
    lists[at + 1u] = resolve_number(instance, goal.x, by_target);
    lists[at + 2u] = resolve_number(instance, goal.y, by_target);
    lists[at + 3u] = resolve_number(instance, goal.z, by_target);
    let weight = resolve_number(instance, goal.weight, (goal.parameters & GOAL_WEIGHT) != 0u);
    lists[at + 4u] = bitcast<u32>(clamp(bitcast<f32>(weight), 0.0, 1.0));
}

/// The bits of a number, or of the parameter with this index: 0 for one that there is no room for and for one that is
/// not a number, the largest number for infinity.
fn resolve_number(instance: u32, bits: u32, by_parameter: bool) -> u32 {
    if !by_parameter {
        return bits;
    }
    if bits >= batch.parameter_count {
        return 0u;
    }
    let found = parameters[instance * batch.parameter_count + bits];
    let size = found & 0x7fffffffu;
    return select((found & 0x80000000u) | min(size, 0x7f7fffffu), 0u, size > 0x7f800000u);
}
