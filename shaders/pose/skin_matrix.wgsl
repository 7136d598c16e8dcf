// Needs: matrix
//! Skin matrices in full: three rows of four `f32` per joint.
//!
//! A lane keeps the matrix of its joint, from the hierarchy to the skin matrix, and writes it whole; matrices in
//! workgroup memory are only for the descendants. Rows at neighbouring addresses, through workgroup memory, were slower
//! (`docs/decisions/gpu-pose-kernel.md`). Where a joint has several skin matrices, or instances have goals, matrices
//! are written from workgroup memory.

/// The rows of the skin matrix of each joint of each skin.
@group(0) @binding(7) var<storage, read_write> skin_out: array<vec4<f32>>;

/// Writes a row of a skin matrix to element `at`.
fn skin_write_row(at: u32, row: vec4<f32>) {
    skin_out[at] = row;
}

/// Writes a skin matrix from element `at` on.
fn skin_write(at: u32, rows: Rows) {
    skin_out[at] = rows.x;
    skin_out[at + 1u] = rows.y;
    skin_out[at + 2u] = rows.z;
}

/// Writes the skin matrix of a rotation, a place with a scale, and an offset before both, from element `at` on.
fn skin_write_uniform(at: u32, rotation: vec4<f32>, place: vec4<f32>, offset: vec3<f32>) {
    skin_write(at, matrix_compose_uniform(rotation, place, offset));
}
