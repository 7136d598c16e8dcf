// Needs: ease
//! Quaternions xyzw, by multiplications and additions: the accuracy that WGSL promises for `sin` and `acos` is too low
//! for a pose.
//!
//! Slerp halves the arc, and a series gives the weights (D. Eberly, "A Fast and Accurate Algorithm for Computing
//! SLERP", 2011). Keys that are near each other need half of the series; a wave skips a side that none of its lanes
//! takes.

/// The least squared length, and the inverse of the largest one, of a quaternion that needs no scaling before its
/// normalisation.
const QUAT_PLAIN_SQUARE: f32 = 1e-12;

/// Spherical interpolation between quaternions of unit length, up to the rounding of a file, that are at most a right
/// angle apart (a rotation of half a turn). The result has unit length.
///
/// The arc is halved first, `middle = (from + to) / (2 cos half)`, so that each half spans at most 45 degrees, for
/// which the series needs few terms; with `HAS_SHORT_ARCS`, a short arc is not halved, and needs fewer. D. Eberly, "A
/// Fast and Accurate Algorithm for Computing SLERP", 2011. An eased fraction may leave 0 to 1: its whole arcs are
/// walked step by step.
fn quat_slerp(start: vec4<f32>, end: vec4<f32>, fraction: f32) -> vec4<f32> {
    let sum = quat_slerp_sum(start, end, fraction);
    if HAS_BEYOND_GLTF && (fraction < 0.0 || fraction >= 1.0) {
        return quat_normalize(sum, start);
    }
    return quat_unit(sum);
}

/// The same without normalisation.
fn quat_slerp_sum(start: vec4<f32>, end: vec4<f32>, fraction: f32) -> vec4<f32> {
    let weights = quat_slerp_weights(min(dot(start, end), 1.0), fraction);
    return start * weights.x + end * weights.y;
}

/// Spherical interpolation between quaternions of any length in one hemisphere, without normalisation. It is linear for
/// nearly equal quaternions, as in Cocos Creator.
fn quat_slerp_as_is(start: vec4<f32>, end: vec4<f32>, fraction: f32) -> vec4<f32> {
    let cosine = dot(start, end);
    if 1.0 - cosine <= QUAT_MIN_ARC {
        return start + (end - start) * clamp(fraction, -QUAT_MAX_ARCS, QUAT_MAX_ARCS + 1.0);
    }
    let weights = quat_slerp_weights(cosine, fraction);
    return start * weights.x + end * weights.y;
}

/// The weights of two quaternions, from the cosine of the angle between them, which is at most a right angle.
fn quat_slerp_weights(cosine: f32, fraction: f32) -> vec2<f32> {
    var part = fraction;
    var arcs = 0.0;
    if HAS_BEYOND_GLTF {
        // Only an eased fraction leaves the arc.
        let along = clamp(fraction, -QUAT_MAX_ARCS, QUAT_MAX_ARCS + 1.0);
        arcs = floor(along);
        part = along - arcs;
    }
    var weights: vec2<f32>;
    if HAS_SHORT_ARCS && cosine > QUAT_SHORT_ARC {
        // Nearly all keys are so near each other that a wave skips the other side.
        weights = vec2(quat_short_sine_ratio(1.0 - part, cosine), quat_short_sine_ratio(part, cosine));
    } else {
        let half_cosine = sqrt(0.5 + 0.5 * cosine);
        let from_end = part > 0.5;
        let doubled = 2.0 * select(part, 1.0 - part, from_end);
        let middle_weight = quat_sine_ratio(doubled, half_cosine) / (2.0 * half_cosine);
        let near_weight = quat_sine_ratio(1.0 - doubled, half_cosine) + middle_weight;
        weights = select(vec2(near_weight, middle_weight), vec2(middle_weight, near_weight), from_end);
    }
    if HAS_BEYOND_GLTF && arcs != 0.0 {
        return quat_arcs(weights, cosine, arcs);
    }
    return weights;
}

/// Moves the weights of two quaternions along their arc by `arcs` whole arcs; a negative number moves them back. Each
/// step is `sin(a + 1) = 2 cos(1) sin(a) - sin(a - 1)`, in units of the arc.
fn quat_arcs(weights: vec2<f32>, cosine: f32, arcs: f32) -> vec2<f32> {
    var found = weights;
    for (var arc = 0.0; arc < arcs; arc += 1.0) {
        found = vec2(-found.y, found.x + 2.0 * cosine * found.y);
    }
    for (var arc = 0.0; arc > arcs; arc -= 1.0) {
        found = vec2(found.y + 2.0 * cosine * found.x, -found.x);
    }
    return found;
}

/// `sin(t a) / sin(a)` from `cos(a)`, for `t` from 0 to 1 and `a` up to 45 degrees. The error is at most 1e-8.
///
/// With `x = cos(a) - 1` it is `t (1 + (t t - 1)/(1 3) x (1 + (t t - 4)/(2 5) x (1 + ...)))`, eight terms.
fn quat_sine_ratio(t: f32, cosine: f32) -> f32 {
    let x = cosine - 1.0;
    let s = t * t;
    var sum = 1.0 + (s - QUAT_SINE_SQUARES[7]) * (x / QUAT_SINE_DIVISORS[7]);
    sum = 1.0 + (s - QUAT_SINE_SQUARES[6]) * (x / QUAT_SINE_DIVISORS[6]) * sum;
    sum = 1.0 + (s - QUAT_SINE_SQUARES[5]) * (x / QUAT_SINE_DIVISORS[5]) * sum;
    sum = 1.0 + (s - QUAT_SINE_SQUARES[4]) * (x / QUAT_SINE_DIVISORS[4]) * sum;
    return quat_sine_sum(t, x, sum);
}

/// `sin(t a) / sin(a)` from `cos(a)` above `QUAT_SHORT_ARC`, for `t` from 0 to 1, by the first three terms of the
/// series of `quat_sine_ratio`.
///
/// The fourth term is at most 8.1e-8, at 19 degrees, and the ones after it 2e-9. It is nearly the same share of both
/// weights: an error of the length by 1.6e-7, which a division by the length removes. The rest turns the result by
/// 1.7e-8 rad; the contract allows 2e-6.
fn quat_short_sine_ratio(t: f32, cosine: f32) -> f32 {
    let x = cosine - 1.0;
    let s = t * t;
    // Each factor `(s - n n) (x / d)` as `s (x / d) - n n (x / d)`: all but one product is the same for both ends.
    let third = x / QUAT_SINE_DIVISORS[2];
    let second = x / QUAT_SINE_DIVISORS[1];
    let first = x / QUAT_SINE_DIVISORS[0];
    let sum = 1.0 + (s * second - QUAT_SINE_SQUARES[1] * second) * (s * third + (1.0 - QUAT_SINE_SQUARES[2] * third));
    return t + t * (s * first - first) * sum;
}

/// The first four terms of the series of `quat_sine_ratio`. `rest` multiplies the fourth: the nested sum of the later
/// terms.
fn quat_sine_sum(t: f32, x: f32, rest: f32) -> f32 {
    let s = t * t;
    var sum = 1.0 + (s - QUAT_SINE_SQUARES[3]) * (x / QUAT_SINE_DIVISORS[3]) * rest;
    sum = 1.0 + (s - QUAT_SINE_SQUARES[2]) * (x / QUAT_SINE_DIVISORS[2]) * sum;
    sum = 1.0 + (s - QUAT_SINE_SQUARES[1]) * (x / QUAT_SINE_DIVISORS[1]) * sum;
    return t + t * (s - QUAT_SINE_SQUARES[0]) * (x / QUAT_SINE_DIVISORS[0]) * sum;
}

/// Normalises a quaternion whose squared length neither overflows nor vanishes. The built-in root may be off by two
/// units in the last place; one step of Newton's method corrects it.
fn quat_unit(q: vec4<f32>) -> vec4<f32> {
    let square = dot(q, q);
    let near = inverseSqrt(square);
    return q * (near * (1.5 - 0.5 * (square * near * near)));
}

/// Normalises any quaternion. A quaternion of zero length gives the fallback, and a fallback of zero length the
/// identity.
fn quat_normalize(q: vec4<f32>, fallback: vec4<f32>) -> vec4<f32> {
    let square = dot(q, q);
    if square > QUAT_PLAIN_SQUARE && square * QUAT_PLAIN_SQUARE < 1.0 {
        return quat_unit(q);
    }
    var found = q;
    if !quat_has_length(found) {
        found = fallback;
    }
    if !quat_has_length(found) {
        return vec4(0.0, 0.0, 0.0, 1.0);
    }
    // Divided by the largest component first, so that no square overflows or vanishes.
    let size = abs(found);
    let scaled = found / max(max(size.x, size.y), max(size.z, size.w));
    return quat_unit(scaled);
}

/// Returns `true` if the length of a quaternion is large enough for a division.
fn quat_has_length(q: vec4<f32>) -> bool {
    let size = abs(q);
    return max(max(size.x, size.y), max(size.z, size.w)) > QUAT_MIN_NUMBER;
}

/// The product of two quaternions, which rotates first by the right one, then by the left one.
fn quat_multiply(left: vec4<f32>, right: vec4<f32>) -> vec4<f32> {
    // Term by term, so that each but the first is a product and a sum at once.
    let crossed = cross(left.xyz, right.xyz);
    return vec4(left.w * right.xyz + (right.w * left.xyz + crossed), left.w * right.w - dot(left.xyz, right.xyz));
}

/// The inverse of a rotation of unit length.
fn quat_conjugate(q: vec4<f32>) -> vec4<f32> {
    return q * vec4(-1.0, -1.0, -1.0, 1.0);
}

/// A vector rotated by a quaternion of unit length; the fourth number is 0.
fn quat_rotate(q: vec4<f32>, vector: vec4<f32>) -> vec4<f32> {
    let turned = q.w * vector.xyz + cross(q.xyz, vector.xyz);
    return vec4(vector.xyz + 2.0 * cross(q.xyz, turned), 0.0);
}

/// The rotation by angles in degrees about x, then z, then y, all axes of the parent: Cocos Creator's order.
fn quat_from_euler_angles(degrees: vec3<f32>) -> vec4<f32> {
    // Whole turns of the half angle are removed first, which is exact. The rest is in quarter turns.
    let quarters = (degrees - 720.0 * floor(degrees / 720.0 + 0.5)) / 180.0;
    let x = quat_sine_cosine(quarters.x);
    let y = quat_sine_cosine(quarters.y);
    let z = quat_sine_cosine(quarters.z);
    let turned = vec4(
        x.x * y.y * z.y + x.y * y.x * z.x,
        x.y * y.x * z.y + x.x * y.y * z.x,
        x.y * y.y * z.x - x.x * y.x * z.y,
        x.y * y.y * z.y - x.x * y.x * z.x,
    );
    return quat_unit(turned);
}

/// Sine and cosine of an angle in quarter turns, -2 to 2.
fn quat_sine_cosine(quarters: f32) -> vec2<f32> {
    let size = abs(quarters);
    let sine = ease_sine(min(size, 2.0 - size));
    return vec2(select(sine, -sine, quarters < 0.0), ease_sine(1.0 - size));
}
