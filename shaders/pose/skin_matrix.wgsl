//! Skin matrices in full: a joint is three rows of four `f32`.

/// For each joint of each skin the rows of its skin matrix.
@group(0) @binding(7) var<storage, read_write> skin_out: array<vec4<f32>>;

/// Writes `SKIN_ROWS` rows of a skin matrix to their place among all: of a model matrix times an inverse bind matrix.
fn skin_write(at: u32, first: u32, joint: u32, inverse_bind: Rows) {
    for (var row = 0u; row < SKIN_ROWS; row += 1u) {
        skin_out[at + row] = matrix_row(joint_matrix_row(joint, first + row), inverse_bind);
    }
}
