// Needs: goals_rigid | goals_general, inverse_kinematics, joints_in_workgroup | joints_in_storage, pose_common, quat
//! Goals: chains of joints turn to targets, after the hierarchy. The common part of `goals_rigid.wgsl` and
//! `goals_general.wgsl`.
//!
//! All lanes of an instance compute the same turns, so that none waits for another's. Joints beyond the level of detail
//! of a visible instance take part, at rest: a hand reaches its target at all levels.
//!
//! All matrices are at hand after the hierarchy, so that each lane multiplies the matrices of its joints, without
//! another walk. That is right where the joints that lead to a chain keep a uniform scale, which packing finds out
//! (`rotates_rigidly`). Elsewhere a turn in model space is not what the rules prescribe, and `goals_general.wgsl` turns
//! local rotations and repeats the hierarchy after each goal.

/// A goal of an instance.
struct Goal {
    /// The offset of its chain in the words, or `NONE`.
    chain: u32,
    /// The target.
    point: vec3<f32>,
    /// The weight, from 0 to 1.
    weight: f32,
}

/// A goal of the instance of a lane, from the lists, where `resolve_goals.wgsl` writes it.
fn goals_load(share: Share, index: u32) -> Goal {
    let at = batch.first_goal + GOAL_RESOLVED_WORDS * (share.instance * batch.goal_count + index);
    let point = vec3(bitcast<f32>(lists[at + 1u]), bitcast<f32>(lists[at + 2u]), bitcast<f32>(lists[at + 3u]));
    let weight = bitcast<f32>(lists[at + 4u]);
    return Goal(select(NONE, lists[at], weight > 0.0), point, weight);
}

/// The positions of the joints of a chain in model space.
struct Positions {
    first: vec3<f32>,
    second: vec3<f32>,
    third: vec3<f32>,
}

/// The positions of the joints of a chain, by their model matrices.
fn goals_joints(share: Share, chain: ChainRecord) -> Positions {
    return Positions(
        goals_position(share.base + chain.joint_0),
        goals_position(share.base + chain.joint_1),
        goals_position(share.base + chain.joint_2),
    );
}

/// The turns of the joints of a chain.
fn goals_turns(share: Share, chain: ChainRecord, joints: Positions, goal: Goal) -> Turns {
    let reach = goal.point - joints.first;
    if (chain.kind & CHAIN_TWO_BONE) == 0u {
        return reach_aim(chain, goals_forward(share, chain), reach, goal.weight);
    }
    return reach_two_bones(chain, joints.second - joints.first, joints.third - joints.second, reach, goal.weight);
}

/// The position of a joint in model space.
fn goals_position(joint: u32) -> vec3<f32> {
    return vec3(joint_matrix_row(joint, 0u).w, joint_matrix_row(joint, 1u).w, joint_matrix_row(joint, 2u).w);
}

/// The direction of a chain that aims, in the joint's own space.
fn goals_direction(chain: ChainRecord) -> vec3<f32> {
    return vec3(chain.direction_x, chain.direction_y, chain.direction_z);
}

/// The offset of the local rotation of a joint in the output.
fn goals_rotation_at(share: Share, joint: u32) -> u32 {
    return 3u * (share.instance * batch.skeleton.joint_count + joint) + PART_ROTATION;
}

/// Writes the local rotation of a joint after a turn, whose axis is in the space of its parent.
fn goals_turn_local(share: Share, joint: u32, turn: vec4<f32>) {
    let at = goals_rotation_at(share, joint);
    let before = local_out[at];
    local_out[at] = quat_normalize(quat_multiply(turn, before), before);
}
