//! For a vertex shader: skin matrices in full. Bind them as `array<vec4<f32>>`, three a joint.

/// The rows of a skin matrix, from the three elements of a joint.
fn full_matrix(x: vec4<f32>, y: vec4<f32>, z: vec4<f32>) -> mat3x4<f32> {
    return mat3x4(x, y, z);
}

/// Where a point goes, by rows: `vec4(point, 1.0) * rows`. Rows of several joints may be summed by weight before.
fn full_matrix_point(rows: mat3x4<f32>, point: vec3<f32>) -> vec3<f32> {
    return vec4(point, 1.0) * rows;
}
