//! Local matrices to model matrices, in place.
//!
//! In each round a joint's matrix takes in that of its ancestor 1, 2, 4, ... levels up, which by then holds as many levels
//! itself: after as many rounds as the depth has bits, each has met its root. Strips of joints go from the last to the
//! first: an ancestor comes before its descendants, so it still has the last round's matrix when it is read.
//!
//! The lanes of an instance share its joints. `hierarchy_serial.wgsl` is the other way.

/// What a lane left in workgroup memory before is visible by all after.
fn instance_barrier() {
    workgroupBarrier();
}

/// Takes a joint's local matrix.
fn hierarchy_add(base: u32, joint: u32, local: Rows) {
    joint_matrix_store(base + joint, local);
}

/// Makes model matrices of the local ones that start at `base`. All lanes of the workgroup take part.
fn hierarchy_walk(base: u32, lane: u32, present: bool) {
    joint_matrix_barrier();
    let joint_count = batch.skeleton.joint_count;
    let strip_count = (joint_count + batch.lane_count - 1u) / batch.lane_count;
    for (var round = 0u; round < batch.skeleton.round_count; round += 1u) {
        let ancestors = batch.skeleton.ancestors + round * joint_count;
        for (var strip = strip_count; strip > 0u; strip -= 1u) {
            let joint = (strip - 1u) * batch.lane_count + lane;
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
