// Needs: joints_in_workgroup | joints_in_storage, matrix, pose_common
//! Local matrices to model matrices, in place.
//!
//! The lanes of an instance share its joints. In each round, the matrix of a joint is multiplied by the matrix of its
//! ancestor 1, 2, 4, ... levels up, which already covers that many levels. The number of rounds is the number of bits
//! of the depth; after them, each matrix reaches the root. Strips of joints are processed from the last to the first.
//! An ancestor comes before its descendants, so that it still has the matrix of the previous round when it is read. If
//! each joint has a lane, there is one strip, and a lane keeps its matrix.

/// Stores the local matrix of a joint. If each joint has a lane, the lane keeps it, too.
fn hierarchy_add(base: u32, joint: u32, local: Rows) {
    joint_matrix_store(base + joint, local);
    if LANE_PER_JOINT {
        lane_matrix = local;
    }
}

/// Turns the local matrices from `base` on into model matrices. All lanes of the workgroup must call it.
fn hierarchy_walk(base: u32, lane: u32, present: bool) {
    joint_matrix_barrier();
    if LANE_PER_JOINT {
        hierarchy_walk_of_lane(base, lane, present && lane < batch.skeleton.joint_count);
        return;
    }
    let joint_count = batch.skeleton.joint_count;
    let lane_count = pose_lane_count();
    let strip_count = (joint_count + lane_count - 1u) / lane_count;
    for (var round = 0u; round < batch.skeleton.round_count; round += 1u) {
        let ancestors = batch.skeleton.ancestors + round * joint_count;
        for (var strip = strip_count; strip > 0u; strip -= 1u) {
            let joint = (strip - 1u) * lane_count + lane;
            var ancestor = NONE;
            if present && joint < joint_count {
                ancestor = words[ancestors + joint];
            }
            var product: Rows;
            if ancestor != NONE {
                product = matrix_multiply(joint_matrix_load(base + ancestor), joint_matrix_load(base + joint));
            }
            joint_matrix_barrier();
            if ancestor != NONE {
                joint_matrix_store(base + joint, product);
            }
            joint_matrix_barrier();
        }
    }
}

/// Turns the local matrix of one joint per lane into its model matrix, `lane_matrix`. If `JOINTS_IN_LANES`, workgroup
/// memory keeps the matrices before the last round. All lanes of the workgroup must call it; those that are not
/// `present` have no joint.
fn hierarchy_walk_of_lane(base: u32, joint: u32, present: bool) {
    // With levels of detail, a lane may have sampled another joint.
    if present && frame.visible_only != 0u {
        lane_matrix = joint_matrix_load(base + joint);
    }
    var ancestor = hierarchy_ancestor(joint, 0u, present && batch.skeleton.round_count > 0u);
    for (var round = 0u; round < batch.skeleton.round_count; round += 1u) {
        if ancestor != NONE {
            lane_matrix = matrix_multiply(joint_matrix_load(base + ancestor), lane_matrix);
        }
        let last = round + 1u == batch.skeleton.round_count;
        if JOINTS_IN_LANES && last {
            break;
        }
        // Loaded before the barriers, so that no lane waits for it behind them.
        let next = hierarchy_ancestor(joint, round + 1u, present && !last);
        joint_matrix_barrier();
        if ancestor != NONE {
            joint_matrix_store(base + joint, lane_matrix);
        }
        joint_matrix_barrier();
        ancestor = next;
    }
}

/// The ancestor of a joint 2^round levels up, or `NONE`.
fn hierarchy_ancestor(joint: u32, round: u32, present: bool) -> u32 {
    if !present {
        return NONE;
    }
    return words[batch.skeleton.ancestors + round * batch.skeleton.joint_count + joint];
}
