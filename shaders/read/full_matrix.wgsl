//! Functions for vertex shaders that read skin matrices in full. Bind the matrices as `array<vec4<f32>>`, three per
//! joint.

/// The rows of a skin matrix, from the three elements of a joint.
fn full_matrix(x: vec4<f32>, y: vec4<f32>, z: vec4<f32>) -> mat3x4<f32> {
    return mat3x4(x, y, z);
}

/// A point moved by a matrix in rows: `vec4(point, 1.0) * rows`. The rows of several joints may be summed by weight
/// before.
fn full_matrix_point(rows: mat3x4<f32>, point: vec3<f32>) -> vec3<f32> {
    return vec4(point, 1.0) * rows;
}
