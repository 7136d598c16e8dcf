//! Local matrices to model matrices, joint after joint, parents before children: each lane has an instance of its own.
//! `hierarchy.wgsl` is the other way.

/// A lane reads nothing that another one wrote.
fn instance_barrier() {}

/// Takes a joint's local matrix, and leaves its model matrix.
fn hierarchy_add(base: u32, joint: u32, local: Rows) {
    // Of a skeleton that has roots only, no parents are listed.
    var parent = NONE;
    if batch.skeleton.round_count > 0u {
        parent = words[batch.skeleton.ancestors + joint];
    }
    var model = local;
    if parent != NONE {
        model = matrix_multiply(joint_matrix_load(base + parent), local);
    }
    joint_matrix_store(base + joint, model);
}

/// The matrices are model matrices already.
fn hierarchy_walk(base: u32, lane: u32, present: bool) {}
