//! Joint matrices in workgroup memory: for rigs that fit. `joints_in_storage.wgsl` is the alternative.

/// Three rows per joint.
var<workgroup> joint_matrices: array<vec4<f32>, 3u * JOINT_CAPACITY>;

/// The index of the first matrix of an instance.
fn joint_matrix_base(index_in_group: u32, instance: u32) -> u32 {
    return index_in_group * batch.skeleton.joint_count;
}

/// A row of a matrix.
fn joint_matrix_row(joint: u32, row: u32) -> vec4<f32> {
    return joint_matrices[3u * joint + row];
}

/// Loads a matrix.
fn joint_matrix_load(joint: u32) -> Rows {
    let at = 3u * joint;
    return Rows(joint_matrices[at], joint_matrices[at + 1u], joint_matrices[at + 2u]);
}

/// Stores a matrix.
fn joint_matrix_store(joint: u32, rows: Rows) {
    let at = 3u * joint;
    joint_matrices[at] = rows.x;
    joint_matrices[at + 1u] = rows.y;
    joint_matrices[at + 2u] = rows.z;
}

/// Makes the matrices stored so far visible to all lanes.
fn joint_matrix_barrier() {
    workgroupBarrier();
}

/// Copies the matrices of an instance to the output, one row per lane, so that neighbouring lanes write neighbouring addresses.
fn joint_matrix_write(base: u32, instance: u32, lane: u32) {
    let rows = 3u * batch.skeleton.joint_count;
    for (var row = lane; row < rows; row += batch.lane_count) {
        model_out[instance * rows + row] = joint_matrices[3u * base + row];
    }
}
