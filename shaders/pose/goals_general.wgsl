// Needs: goals, hierarchy, inverse_kinematics, joints_in_workgroup | joints_in_storage, pose_common, quat, value
//! Goals of all other skeletons: their turns change local rotations, from which the hierarchy makes all matrices anew.
//! The local transforms are in their output, requested or not.

/// The goals of the instance of a lane act on its local rotations. All lanes of the workgroup must call it.
fn goals_reach(share: Share) {
    storageBarrier();
    for (var index = 0u; index < batch.goal_count; index += 1u) {
        var turns = REACH_NOTHING;
        var chain: ChainRecord;
        if share.present {
            let goal = goals_load(share, index);
            if goal.chain != NONE {
                chain = chain_load(goal.chain);
                turns = goals_turns(share, chain, goals_joints(share, chain), goal);
            }
        }
        joint_matrix_barrier();
        storageBarrier();
        if turns.acts && share.lane == 0u {
            // The local rotations of all follow from the model rotations before the turns.
            let parents = goals_parents(share, chain);
            goals_turn(share, chain.joint_0, parents.first, turns.first);
            if (chain.kind & CHAIN_TWO_BONE) != 0u {
                goals_turn(share, chain.joint_1, parents.second, turns.second);
            }
            if (chain.kind & CHAIN_HOLD) != 0u {
                goals_turn(share, chain.joint_2, parents.third, turns.third);
            }
        }
        storageBarrier();
        if turns.acts {
            for (var joint = share.lane; joint < batch.skeleton.joint_count; joint += pose_lane_count()) {
                let at = 3u * (share.instance * batch.skeleton.joint_count + joint);
                hierarchy_add(share.base, joint, local_out[at], local_out[at + 1u], local_out[at + 2u]);
            }
        }
        hierarchy_walk(share.base, share.lane, turns.acts);
    }
}

/// Writes the local rotation of a joint after a turn in model space, by the model rotation of its parent before.
fn goals_turn(share: Share, joint: u32, parent: vec4<f32>, turn: vec4<f32>) {
    goals_turn_local(share, joint, vec4(reach_rotate(quat_conjugate(parent), turn.xyz), turn.w));
}

/// The direction of a chain that aims, in model space.
fn goals_forward(share: Share, chain: ChainRecord) -> vec3<f32> {
    return reach_rotate(goals_rotation(share, chain, chain.joint_0), goals_direction(chain));
}

/// The model rotation of a joint, the product of the local rotations down to it.
fn goals_rotation(share: Share, chain: ChainRecord, joint: u32) -> vec4<f32> {
    var rotation = REACH_NO_TURN;
    for (var next = joint; next != NONE; next = goals_parent(next)) {
        rotation = quat_multiply(goals_local_rotation(share, chain, next), rotation);
    }
    return quat_unit(rotation);
}

/// The model rotations of the parents of the joints of a chain; the identity where there is none.
struct Parents {
    first: vec4<f32>,
    second: vec4<f32>,
    third: vec4<f32>,
}

/// The parents of the joints of a chain that turn. They lie on one branch, so that one walk to the root meets all.
fn goals_parents(share: Share, chain: ChainRecord) -> Parents {
    var lowest = chain.parent_0;
    if (chain.kind & CHAIN_TWO_BONE) != 0u {
        lowest = chain.parent_1;
    }
    if (chain.kind & CHAIN_HOLD) != 0u {
        lowest = chain.parent_2;
    }
    var parents = Parents(REACH_NO_TURN, REACH_NO_TURN, REACH_NO_TURN);
    var has_second = false;
    var has_first = false;
    for (var next = lowest; next != NONE; next = goals_parent(next)) {
        let local = goals_local_rotation(share, chain, next);
        has_second = has_second || next == chain.parent_1;
        has_first = has_first || next == chain.parent_0;
        parents.third = quat_multiply(local, parents.third);
        if has_second {
            parents.second = quat_multiply(local, parents.second);
        }
        if has_first {
            parents.first = quat_multiply(local, parents.first);
        }
    }
    return Parents(quat_unit(parents.first), quat_unit(parents.second), quat_unit(parents.third));
}

/// The local rotation of a joint that leads to a chain; the one nearest to its matrix, if it has one.
fn goals_local_rotation(share: Share, chain: ChainRecord, joint: u32) -> vec4<f32> {
    if HAS_MATRICES && chain.matrix_rotations != NONE {
        let matrix = words[chain.matrix_rotations + joint];
        if matrix != NONE {
            return value_load(matrix);
        }
    }
    return local_out[goals_rotation_at(share, joint)];
}

/// The parent of a joint, or `NONE`.
fn goals_parent(joint: u32) -> u32 {
    // A skeleton that has only roots has no list of parents.
    if batch.skeleton.round_count == 0u {
        return NONE;
    }
    return hierarchy_ancestor(joint, 0u);
}
