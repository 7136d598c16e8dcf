// Needs: matrix
//! Joint matrices in the storage of the model output: for rigs that are too large for workgroup memory.
//! `joints_in_workgroup.wgsl` is the alternative.

/// The index of the first matrix of an instance.
fn joint_matrix_base(index_in_group: u32, instance: u32) -> u32 {
    return instance * batch.skeleton.joint_count;
}

/// A row of a matrix.
fn joint_matrix_row(joint: u32, row: u32) -> vec4<f32> {
    return model_out[3u * joint + row];
}

/// Loads a matrix.
fn joint_matrix_load(joint: u32) -> Rows {
    let at = 3u * joint;
    return Rows(model_out[at], model_out[at + 1u], model_out[at + 2u]);
}

/// Stores a matrix.
fn joint_matrix_store(joint: u32, rows: Rows) {
    let at = 3u * joint;
    model_out[at] = rows.x;
    model_out[at + 1u] = rows.y;
    model_out[at + 2u] = rows.z;
}

/// Makes the matrices stored so far visible to all lanes.
fn joint_matrix_barrier() {
    storageBarrier();
}

/// Does nothing: the matrices are in the output already.
fn joint_matrix_write(base: u32, instance: u32, lane: u32) {}
