//! Skin matrices in full: three rows of four `f32` per joint.

/// The rows of the skin matrix of each joint of each skin.
@group(0) @binding(7) var<storage, read_write> skin_out: array<vec4<f32>>;

/// Writes `SKIN_ROWS` rows of a skin matrix, the product of the model matrix of `joint` and an inverse bind matrix, from element
/// `at` on. `first` is the first row.
fn skin_write(at: u32, first: u32, joint: u32, inverse_bind: Rows) {
    for (var row = 0u; row < SKIN_ROWS; row += 1u) {
        skin_out[at + row] = matrix_row(joint_matrix_row(joint, first + row), inverse_bind);
    }
}
