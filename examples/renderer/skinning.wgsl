// Skinning in a vertex shader, from the buffer of skin matrices that posse writes. There is no copy between.

/// The camera. The view of Bevy begins with the same matrix.
struct View {
    clip_from_world: mat4x4f,
}

/// The placement of an instance.
struct Placement {
    position: vec3f,
    /// The rotation about +Y, in radians.
    heading: f32,
    /// The index of the instance in the crowd.
    instance: u32,
}

/// A vertex of the mesh, in the bind pose.
struct Vertex {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) joints: vec4u,
    @location(3) weights: vec4f,
    @location(4) parts: vec4f,
}

@group(0) @binding(0) var<uniform> view: View;
/// The buffer of posse: three rows of a matrix per joint of each instance. The last number of a row is the translation.
@group(1) @binding(0) var<storage, read> skin_matrices: array<vec4f>;
/// One placement per instance, in the order of that buffer.
@group(1) @binding(1) var<storage, read> placements: array<Placement>;

/// The three rows of the matrix that moves a vertex of an instance: the weighted mean of the matrices of its joints.
fn skin_matrix(instance: u32, joints: vec4u, weights: vec4f) -> array<vec4f, 3> {
    let first_row = instance * (arrayLength(&skin_matrices) / arrayLength(&placements));
    var rows: array<vec4f, 3>;
    for (var i = 0u; i < 4u; i++) {
        for (var row = 0u; row < 3u; row++) {
            rows[row] += weights[i] * skin_matrices[first_row + 3u * joints[i] + row];
        }
    }
    return rows;
}

/// A matrix in rows times a vector. With w = 1 the vector is a point, with w = 0 a direction.
fn transformed(rows: array<vec4f, 3>, vector: vec4f) -> vec3f {
    return vec3f(dot(rows[0], vector), dot(rows[1], vector), dot(rows[2], vector));
}

/// A vector rotated by the heading of the instance.
fn turned(vector: vec3f, heading: f32) -> vec3f {
    let c = cos(heading);
    let s = sin(heading);
    return vec3f(c * vector.x + s * vector.z, vector.y, c * vector.z - s * vector.x);
}
