//! Functions for vertex shaders that read skin matrices of `f16`. Bind the matrices as `array<vec2<u32>>`, three per
//! joint.

/// The rows of a skin matrix, from the three elements of a joint.
fn half_matrix(x: vec2<u32>, y: vec2<u32>, z: vec2<u32>) -> mat3x4<f32> {
    return mat3x4(half_row(x), half_row(y), half_row(z));
}

/// A point moved by a matrix in rows: `vec4(point, 1.0) * rows`. The rows of several joints may be summed by weight
/// before.
fn half_matrix_point(rows: mat3x4<f32>, point: vec3<f32>) -> vec3<f32> {
    return vec4(point, 1.0) * rows;
}

/// A row from its two words.
fn half_row(row: vec2<u32>) -> vec4<f32> {
    return vec4(unpack2x16float(row.x), unpack2x16float(row.y));
}
