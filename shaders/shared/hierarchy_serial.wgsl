//! Local matrices to model matrices, joint after joint, parents before children.
//!
//! The serial form: each lane has an instance of its own. `hierarchy.wgsl` is the alternative.

/// False: the joints below one joint can be walked again alone.
const HIERARCHY_IS_WHOLE: bool = false;

/// Does nothing: no lane reads memory that another lane wrote.
fn instance_barrier() {}

fn instance_matrix_barrier() {}

fn instance_storage_barrier() {}

/// Stores the model matrix of a joint, from its local matrix.
fn hierarchy_add(base: u32, joint: u32, local: Rows) {
    // A skeleton that has only roots has no list of parents.
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

/// Does nothing: the matrices are model matrices already.
fn hierarchy_walk(base: u32, lane: u32, present: bool) {}
