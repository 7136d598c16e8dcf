// What a vertex shader does with the skin matrices that posse has written: nothing comes between.

/// The camera. Bevy's view begins with the same matrix.
struct View {
    clip_from_world: mat4x4f,
}

/// Where an instance stands.
struct Place {
    position: vec3f,
    /// The turn about +Y, in radians.
    heading: f32,
    /// The instance of the crowd.
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
/// posse's buffer: for each instance and joint three rows of a matrix, the last of each row the translation.
@group(1) @binding(0) var<storage, read> skin_matrices: array<vec4f>;
/// One an instance, in the order of that buffer.
@group(1) @binding(1) var<storage, read> places: array<Place>;

/// The three rows of a matrix that moves a vertex of an instance: the mean of its joints' by weight.
fn skin_matrix(instance: u32, joints: vec4u, weights: vec4f) -> array<vec4f, 3> {
    let first_row = instance * (arrayLength(&skin_matrices) / arrayLength(&places));
    var rows: array<vec4f, 3>;
    for (var i = 0u; i < 4u; i++) {
        for (var row = 0u; row < 3u; row++) {
            rows[row] += weights[i] * skin_matrices[first_row + 3u * joints[i] + row];
        }
    }
    return rows;
}

/// A row-by-row matrix times a vector: a point where w is 1, a direction where it is 0.
fn transformed(rows: array<vec4f, 3>, vector: vec4f) -> vec3f {
    return vec3f(dot(rows[0], vector), dot(rows[1], vector), dot(rows[2], vector));
}

/// A vector turned as the instance is.
fn turned(vector: vec3f, heading: f32) -> vec3f {
    let c = cos(heading);
    let s = sin(heading);
    return vec3f(c * vector.x + s * vector.z, vector.y, c * vector.z - s * vector.x);
}
