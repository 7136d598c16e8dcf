//! Functions for vertex shaders that read skin matrices of rotation, translation and uniform scale.
//!
//! Bind the matrices as `array<vec2<u32>>`, three per joint. Read the joints of a vertex, sum them by weight, and move
//! the vertex (Kavan, Collins, Zara and O'Sullivan, "Skinning with dual quaternions", 2007; the scale is blended
//! separately).

/// A movement: `real` is its rotation, `dual` is half the product of its translation and `real`.
struct DualQuaternion {
    real: vec4<f32>,
    dual: vec4<f32>,
    scale: f32,
}

/// The movement of a joint, from its three elements.
fn dual_quaternion(first: vec2<u32>, second: vec2<u32>, third: vec2<u32>) -> DualQuaternion {
    let position = vec4(bitcast<vec2<f32>>(second), bitcast<vec2<f32>>(third));
    let real = normalize(vec4(unpack2x16snorm(first.x), unpack2x16snorm(first.y)));
    let t = position.xyz;
    let dual = 0.5 * vec4(t * real.w + cross(t, real.xyz), -dot(t, real.xyz));
    return DualQuaternion(real, dual, position.w);
}

/// Adds a joint to a sum, by its weight. The first sum is all zeros. A quaternion and its negative are the same
/// rotation; the one in the hemisphere of the sum is added.
fn dual_quaternion_add(sum: DualQuaternion, joint: DualQuaternion, weight: f32) -> DualQuaternion {
    let signed = select(weight, -weight, dot(sum.real, joint.real) < 0.0);
    return DualQuaternion(
        sum.real + signed * joint.real,
        sum.dual + signed * joint.dual,
        sum.scale + weight * joint.scale,
    );
}

/// A point moved by a sum of joints whose weights sum to 1.
fn dual_quaternion_point(sum: DualQuaternion, point: vec3<f32>) -> vec3<f32> {
    let length = length(sum.real);
    let real = sum.real / length;
    let dual = sum.dual / length;
    let moved = 2.0 * (real.w * dual.xyz - dual.w * real.xyz + cross(real.xyz, dual.xyz));
    return dual_quaternion_turn(real, sum.scale * point) + moved;
}

/// A direction, such as a normal, rotated by a sum of joints. It keeps its length.
fn dual_quaternion_direction(sum: DualQuaternion, direction: vec3<f32>) -> vec3<f32> {
    return dual_quaternion_turn(normalize(sum.real), direction);
}

/// A vector rotated by a quaternion of unit length.
fn dual_quaternion_turn(q: vec4<f32>, vector: vec3<f32>) -> vec3<f32> {
    return vector + 2.0 * cross(q.xyz, cross(q.xyz, vector) + q.w * vector);
}
