//! For a vertex shader: skin matrices that were written as rotation, translation and uniform scale. Bind them as
//! `array<vec2<u32>>`, three a joint; read a vertex's joints, sum them by weight, and move the vertex (Kavan, Collins, Zara
//! and O'Sullivan, "Skinning with dual quaternions", 2007, with a scale beside).

/// A movement: `real` is its rotation, `dual` half the product of its translation and `real`.
struct DualQuaternion {
    real: vec4<f32>,
    dual: vec4<f32>,
    scale: f32,
}

/// That of a joint, from its three elements.
fn dual_quaternion(first: vec2<u32>, second: vec2<u32>, third: vec2<u32>) -> DualQuaternion {
    let place = vec4(bitcast<vec2<f32>>(second), bitcast<vec2<f32>>(third));
    let real = normalize(vec4(unpack2x16snorm(first.x), unpack2x16snorm(first.y)));
    let t = place.xyz;
    let dual = 0.5 * vec4(t * real.w + cross(t, real.xyz), -dot(t, real.xyz));
    return DualQuaternion(real, dual, place.w);
}

/// A sum and one more joint by its weight. Begin with zeros. Of a quaternion and its negative, which are the same rotation,
/// the one is taken that is on the sum's side.
fn dual_quaternion_add(sum: DualQuaternion, joint: DualQuaternion, weight: f32) -> DualQuaternion {
    let signed = select(weight, -weight, dot(sum.real, joint.real) < 0.0);
    return DualQuaternion(
        sum.real + signed * joint.real,
        sum.dual + signed * joint.dual,
        sum.scale + weight * joint.scale,
    );
}

/// Where a sum of joints, whose weights are 1 together, takes a point.
fn dual_quaternion_point(sum: DualQuaternion, point: vec3<f32>) -> vec3<f32> {
    let length = length(sum.real);
    let real = sum.real / length;
    let dual = sum.dual / length;
    let moved = 2.0 * (real.w * dual.xyz - dual.w * real.xyz + cross(real.xyz, dual.xyz));
    return dual_quaternion_turn(real, sum.scale * point) + moved;
}

/// Where it takes a direction, a normal for example, which has its length after.
fn dual_quaternion_direction(sum: DualQuaternion, direction: vec3<f32>) -> vec3<f32> {
    return dual_quaternion_turn(normalize(sum.real), direction);
}

fn dual_quaternion_turn(q: vec4<f32>, vector: vec3<f32>) -> vec3<f32> {
    return vector + 2.0 * cross(q.xyz, cross(q.xyz, vector) + q.w * vector);
}
