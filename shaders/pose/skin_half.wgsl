// Needs: matrix, pack
//! Skin matrices as `f16`: three rows of four per joint.
//!
//! Each skin format is a file of its own kernel, not a branch, so that full matrices cost nothing extra.

/// The rows of the skin matrix of each joint of each skin. The first word of a row holds x and y, the second z and w.
@group(0) @binding(7) var<storage, read_write> skin_out: array<vec2<u32>>;

/// Writes a row of a skin matrix to element `at`.
fn skin_write_row(at: u32, row: vec4<f32>) {
    skin_out[at] = vec2(pack_halves(row.xy), pack_halves(row.zw));
}

/// Writes a skin matrix from element `at` on.
fn skin_write(at: u32, rows: Rows) {
    skin_write_row(at, rows.x);
    skin_write_row(at + 1u, rows.y);
    skin_write_row(at + 2u, rows.z);
}

/// Writes the skin matrix of a rotation, a place with a scale, and an offset before both, from element `at` on.
fn skin_write_uniform(at: u32, rotation: vec4<f32>, place: vec4<f32>, offset: vec3<f32>) {
    skin_write(at, matrix_compose_uniform(rotation, place, offset));
}
