// Needs: joints_in_workgroup | joints_in_storage, matrix, pose_common, skin_matrix | skin_half | skin_dual_quaternion
//! Local matrices to model matrices, in place, and these to skin matrices. `hierarchy_uniform.wgsl` is the alternative.
//!
//! The lanes of an instance share its joints. In each round, the matrix of a joint is multiplied by the matrix of its
//! ancestor 1, 2, 4, ... levels up, which already covers that many levels. The number of rounds is the number of bits
//! of the depth; after them, each matrix reaches the root. Kernels that are compiled for skins alone know the number,
//! so that they have no loop. Strips of joints are processed from the last to the first.
//! An ancestor comes before its descendants, so that it still has the matrix of the previous round when it is read. If
//! each joint has a lane, there is one strip, and a lane keeps its matrix.

/// Stores the local matrix of a joint. If each joint has a lane, the lane keeps it, too.
fn hierarchy_add(base: u32, joint: u32, translation: vec4<f32>, rotation: vec4<f32>, scale: vec4<f32>) {
    var matrix = NONE;
    if HAS_MATRICES && batch.skeleton.matrices != NONE {
        matrix = words[batch.skeleton.matrices + joint];
    }
    var local: Rows;
    if matrix != NONE {
        local = matrix_load(matrix);
    } else {
        local = matrix_compose(translation.xyz, rotation, scale.xyz);
    }
    joint_matrix_store(base + joint, local);
    if LANE_PER_JOINT {
        lane_matrix = local;
    }
}

/// Writes a skin matrix of the joint of a lane from element `at` on, by the index of its inverse bind matrix.
fn hierarchy_skin(at: u32, matrix: u32) {
    skin_write(at, matrix_multiply(lane_matrix, matrix_load(batch.skeleton.inverse_binds + 3u * matrix)));
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
        for (var strip = strip_count; strip > 0u; strip -= 1u) {
            let joint = (strip - 1u) * lane_count + lane;
            var ancestor = NONE;
            if present && joint < joint_count {
                ancestor = hierarchy_ancestor(joint, round);
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
/// memory keeps the matrices before the last round. All lanes of the workgroup must call it; lanes that are not
/// `present` have no joint.
fn hierarchy_walk_of_lane(base: u32, joint: u32, present: bool) {
    // The ancestors of all rounds, so that no lane waits for them between barriers: of 256 joints, at most eight.
    var ancestors = vec2(NONE);
    if present {
        // With levels of detail, a lane may have sampled another joint.
        if !SKINS_ONLY && frame.visible_only != 0u {
            lane_matrix = joint_matrix_load(base + joint);
        }
        let at = batch.skeleton.ancestors + joint;
        let round_count = select(batch.skeleton.round_count, ROUNDS, SKINS_ONLY);
        if round_count > 0u {
            ancestors.x = words[at];
        }
        if round_count > 4u {
            ancestors.y = words[at + batch.skeleton.joint_count];
        }
    }
    hierarchy_multiply(base, ancestors, 0u);
    if SKINS_ONLY {
        hierarchy_next(base, joint, ancestors, 1u);
        hierarchy_next(base, joint, ancestors, 2u);
        hierarchy_next(base, joint, ancestors, 3u);
        hierarchy_next(base, joint, ancestors, 4u);
        hierarchy_next(base, joint, ancestors, 5u);
        hierarchy_next(base, joint, ancestors, 6u);
        hierarchy_next(base, joint, ancestors, 7u);
        return;
    }
    for (var round = 1u; round < batch.skeleton.round_count; round += 1u) {
        hierarchy_next(base, joint, ancestors, round);
    }
    if !JOINTS_IN_LANES {
        hierarchy_pass_on(base, joint, ancestors, batch.skeleton.round_count - 1u);
    }
}

/// A round after the first one, if the skeleton has it.
fn hierarchy_next(base: u32, joint: u32, ancestors: vec2<u32>, round: u32) {
    if !SKINS_ONLY || round < ROUNDS {
        hierarchy_pass_on(base, joint, ancestors, round - 1u);
        hierarchy_multiply(base, ancestors, round);
    }
}

/// Multiplies the matrix of a lane by the matrix of its ancestor in a round.
fn hierarchy_multiply(base: u32, ancestors: vec2<u32>, round: u32) {
    let ancestor = hierarchy_of_lane(ancestors, round);
    if ancestor != NO_ANCESTOR {
        lane_matrix = matrix_multiply(joint_matrix_load(base + ancestor), lane_matrix);
    }
}

/// Stores the matrix of a lane, if a round has changed it, for the next round.
fn hierarchy_pass_on(base: u32, joint: u32, ancestors: vec2<u32>, round: u32) {
    joint_matrix_barrier();
    if hierarchy_of_lane(ancestors, round) != NO_ANCESTOR {
        joint_matrix_store(base + joint, lane_matrix);
    }
    joint_matrix_barrier();
}

/// The ancestor of a lane's joint in a round, of all rounds, or `NO_ANCESTOR`.
fn hierarchy_of_lane(ancestors: vec2<u32>, round: u32) -> u32 {
    return pose_ancestor_byte(select(ancestors.x, ancestors.y, round >= 4u), round);
}

/// The ancestor of a joint 2^round levels up, or `NONE`.
fn hierarchy_ancestor(joint: u32, round: u32) -> u32 {
    let joint_count = batch.skeleton.joint_count;
    if !LANE_PER_JOINT {
        return words[batch.skeleton.ancestors + round * joint_count + joint];
    }
    let found = pose_ancestor_byte(words[batch.skeleton.ancestors + round / 4u * joint_count + joint], round);
    return select(found, NONE, found == NO_ANCESTOR);
}
