// Needs: matrix, pose_common
//! Joint matrices in workgroup memory: for rigs that fit. `joints_in_storage.wgsl` is the alternative.

/// Three rows per joint. A device checks the index of a joint once for all of its rows.
var<workgroup> joint_matrices: array<array<vec4<f32>, 3>, JOINT_CAPACITY>;

/// The index of the first matrix of an instance.
fn joint_matrix_base(index_in_group: u32, instance: u32) -> u32 {
    return index_in_group * batch.lane_count;
}

/// A row of a matrix.
fn joint_matrix_row(joint: u32, row: u32) -> vec4<f32> {
    return joint_matrices[joint][row];
}

/// Loads a matrix.
fn joint_matrix_load(joint: u32) -> Rows {
    return Rows(joint_matrices[joint][0], joint_matrices[joint][1], joint_matrices[joint][2]);
}

/// Stores a matrix.
fn joint_matrix_store(joint: u32, rows: Rows) {
    joint_matrices[joint][0] = rows.x;
    joint_matrices[joint][1] = rows.y;
    joint_matrices[joint][2] = rows.z;
}

/// Makes the matrices stored so far visible to all lanes.
fn joint_matrix_barrier() {
    workgroupBarrier();
}

/// Copies the matrices of an instance to the output, one row per lane, so that neighbouring lanes write neighbouring
/// addresses.
fn joint_matrix_write(base: u32, instance: u32, lane: u32) {
    let rows = 3u * batch.skeleton.joint_count;
    for (var row = lane; row < rows; row += pose_lane_count()) {
        model_out[instance * rows + row] = joint_matrices[base + row / 3u][row % 3u];
    }
}
