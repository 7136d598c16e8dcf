//! Goals of all other skeletons: their turns change local rotations, from which the hierarchy makes all matrices anew. The local
//! transforms are in their output, requested or not.

/// The goals of the instance of a lane act on its local rotations. All lanes of the workgroup must call it.
fn goals_reach(share: Share) {
    instance_storage_barrier();
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
        instance_matrix_barrier();
        instance_storage_barrier();
        if turns.acts && share.lane == 0u {
            // The local rotations of all follow from the model rotations before the turns.
            let parents = array(
                goals_rotation(share, chain, chain.parent_0),
                goals_rotation(share, chain, chain.parent_1),
                goals_rotation(share, chain, chain.parent_2),
            );
            goals_turn(share, chain.joint_0, parents[0], turns.first);
            if (chain.kind & CHAIN_TWO_BONE) != 0u {
                goals_turn(share, chain.joint_1, parents[1], turns.second);
            }
            if (chain.kind & CHAIN_HOLD) != 0u {
                goals_turn(share, chain.joint_2, parents[2], turns.third);
            }
        }
        instance_storage_barrier();
        if turns.acts {
            let start = select(chain.joint_0, share.lane, HIERARCHY_IS_WHOLE);
            let end = select(chain.joint_end, batch.skeleton.joint_count, HIERARCHY_IS_WHOLE);
            for (var joint = start; joint < end; joint += pose_lane_count()) {
                let at = 3u * (share.instance * batch.skeleton.joint_count + joint);
                pose_add(joint, share, local_out[at], local_out[at + 1u], local_out[at + 2u]);
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

/// The model rotation of a joint, the product of the local rotations down to it; the identity for `NONE`.
fn goals_rotation(share: Share, chain: ChainRecord, joint: u32) -> vec4<f32> {
    var rotation = REACH_NO_TURN;
    var next = joint;
    while next != NONE {
        var local = local_out[goals_rotation_at(share, next)];
        var matrix = NONE;
        if HAS_MATRICES && chain.matrix_rotations != NONE {
            matrix = words[chain.matrix_rotations + next];
        }
        if matrix != NONE {
            local = values[matrix];
        }
        rotation = quat_multiply(local, rotation);
        // A skeleton that has only roots has no list of parents.
        if batch.skeleton.round_count == 0u {
            break;
        }
        next = words[batch.skeleton.ancestors + next];
    }
    return quat_unit(rotation);
}
