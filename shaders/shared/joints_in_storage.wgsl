//! Joint matrices in the storage of the model output: for rigs too large for workgroup memory, and for lanes that have an
//! instance each.

/// Where an instance's matrices begin.
fn joint_matrix_base(slot: u32, instance: u32) -> u32 {
    return instance * batch.skeleton.joint_count;
}

fn joint_matrix_row(joint: u32, row: u32) -> vec4<f32> {
    return model_out[3u * joint + row];
}

fn joint_matrix_load(joint: u32) -> Rows {
    let at = 3u * joint;
    return Rows(model_out[at], model_out[at + 1u], model_out[at + 2u]);
}

fn joint_matrix_store(joint: u32, rows: Rows) {
    let at = 3u * joint;
    model_out[at] = rows.x;
    model_out[at + 1u] = rows.y;
    model_out[at + 2u] = rows.z;
}

/// What was stored before is visible by all lanes after.
fn joint_matrix_barrier() {
    storageBarrier();
}

/// The matrices are where they belong.
fn joint_matrix_write(base: u32, instance: u32, lane: u32) {}
