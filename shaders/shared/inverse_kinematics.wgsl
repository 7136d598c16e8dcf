// Needs: quat
//! Inverse kinematics: the turns in model space by which joints reach a target.
//!
//! Angles have no part in it: a turn is made of the cosine and the sine of half its angle, which vectors give without
//! inverse functions.

/// The turns of the joints of a chain in model space, each with all below it. The second comes first, then the first,
/// then the third.
struct Turns {
    first: vec4<f32>,
    second: vec4<f32>,
    third: vec4<f32>,
    /// False if nothing is done.
    acts: bool,
}

/// No turns.
const REACH_NOTHING: Turns = Turns(REACH_NO_TURN, REACH_NO_TURN, REACH_NO_TURN, false);
const REACH_NO_TURN: vec4<f32> = vec4<f32>(0.0, 0.0, 0.0, 1.0);
/// The least square of a length by which vectors are divided.
const REACH_MIN_SQUARE: f32 = 1e-30;

/// The turns that bring the end of two bones to a target, in part by a weight from 0 to 1. `upper` and `lower` are the
/// bones, `goal` leads from the first joint to the target.
fn reach_two_bones(
    chain: ChainRecord,
    upper: vec3<f32>,
    lower: vec3<f32>,
    goal: vec3<f32>,
    weight: f32,
) -> Turns {
    let one = reach_direction(upper);
    let two = reach_direction(lower);
    let far = reach_direction(goal);
    let whole = 1.0 / max(one.w + two.w, REACH_MIN_LENGTH);
    let p = one.w * whole;
    let q = two.w * whole;
    let has_pole = (chain.kind & CHAIN_POLE) != 0u;
    let pole = vec3(chain.direction_x, chain.direction_y, chain.direction_z);
    var normal = reach_normal(one.xyz, two.xyz);
    if has_pole && normal.w <= 0.0 {
        normal = reach_normal(one.xyz, pole);
    }
    if !(min(p, q) > REACH_MIN_SHARE && far.w * whole > 0.0 && normal.w > 0.0) {
        return REACH_NOTHING;
    }

    // Half the angle between the bones, by the lengths of the triangle: no difference of large squares.
    let apart = abs(p - q);
    let room = 1.0 - apart - REACH_MARGIN;
    let to_straight = min(max(1.0 - far.w * whole, REACH_MARGIN), room);
    let to_folded = min(max(far.w * whole - apart, REACH_MARGIN), room);
    let reach = 1.0 - to_straight;
    let wanted = sqrt(vec2(to_folded * (reach + apart), to_straight * (1.0 + reach)) * (0.25 / (p * q)));
    let found = reach_half_angle(dot(one.xyz, two.xyz), dot(normal.xyz, cross(one.xyz, two.xyz)));
    let bend = reach_shorter(
        vec4(normal.xyz * (wanted.y * found.x - wanted.x * found.y), wanted.x * found.x + wanted.y * found.y),
    );

    let end = reach_direction(one.xyz * p + reach_rotate(bend, two.xyz) * q).xyz;
    var swing = vec4(normal.xyz, 0.0);
    if !reach_opposite(end, far.xyz) {
        swing = reach_shortest(end, far.xyz);
    }
    if has_pole {
        swing = reach_shorter(quat_multiply(reach_pole_turn(reach_rotate(swing, one.xyz), pole, far.xyz), swing));
    }
    var turns = Turns(reach_part(swing, weight), reach_part(bend, weight), REACH_NO_TURN, true);
    if (chain.kind & CHAIN_HOLD) != 0u {
        turns.third = quat_conjugate(quat_multiply(turns.first, turns.second));
    }
    turns.acts = reach_is_rotation(turns.first) && reach_is_rotation(turns.second);
    return turns;
}

/// The turn of a joint that aims, in part by a weight from 0 to 1. `forward` is its direction in model space, `goal`
/// leads from it to the target.
fn reach_aim(chain: ChainRecord, forward: vec3<f32>, goal: vec3<f32>, weight: f32) -> Turns {
    let from_here = reach_direction(forward);
    let far = reach_direction(goal);
    if !(from_here.w > 0.0 && far.w > 0.0) || reach_opposite(from_here.xyz, far.xyz) {
        return REACH_NOTHING;
    }
    var turn = reach_shortest(from_here.xyz, far.xyz);
    let square = dot(turn.xyz, turn.xyz);
    let inverse = reach_inverse_root(square);
    // The tangents of the halves: the cosine of a small limit is 1.
    if square * inverse * chain.limit_cosine > turn.w * chain.limit_sine {
        // The same axis with half the limit.
        turn = vec4(turn.xyz * (chain.limit_sine * inverse), chain.limit_cosine);
    }
    turn = reach_part(turn, weight);
    return Turns(turn, REACH_NO_TURN, REACH_NO_TURN, reach_is_rotation(turn));
}

/// The part of a turn whose w is 0 or more.
fn reach_part(turn: vec4<f32>, weight: f32) -> vec4<f32> {
    if weight >= 1.0 {
        return turn;
    }
    return quat_slerp(REACH_NO_TURN, turn, weight);
}

/// The same rotation, the shorter way.
fn reach_shorter(turn: vec4<f32>) -> vec4<f32> {
    return select(turn, -turn, turn.w < 0.0);
}

/// False for numbers that are none, which come of positions beyond the range of an `f32`.
fn reach_is_rotation(turn: vec4<f32>) -> bool {
    return dot(turn, turn) > 0.5;
}

/// The turn about the direction of the goal that brings the first bone to the side of the pole.
fn reach_pole_turn(upper: vec3<f32>, pole: vec3<f32>, goal: vec3<f32>) -> vec4<f32> {
    let start = upper - goal * dot(upper, goal);
    let end = pole - goal * dot(pole, goal);
    if min(dot(start, start), dot(end, end)) <= REACH_MIN_SHARE * REACH_MIN_SHARE {
        return REACH_NO_TURN;
    }
    let half = reach_half_angle(dot(start, end), dot(goal, cross(start, end)));
    return vec4(goal * half.y, half.x);
}

/// The unit normal of the plane of two unit vectors; the last number is 0 or less if they are nearly parallel.
fn reach_normal(one: vec3<f32>, other: vec3<f32>) -> vec4<f32> {
    let across = cross(one, other);
    let square = dot(across, across);
    return vec4(across * reach_inverse_root(square), square - REACH_MIN_SHARE * REACH_MIN_SHARE);
}

/// Returns `true` if two unit vectors are opposite.
fn reach_opposite(one: vec3<f32>, other: vec3<f32>) -> bool {
    return dot(one + other, one + other) <= REACH_OPPOSITE * REACH_OPPOSITE;
}

/// The shortest rotation from a unit vector to another, which is not opposite.
fn reach_shortest(start: vec3<f32>, end: vec3<f32>) -> vec4<f32> {
    // The sum of unit vectors is across their difference. Of nearly opposite ones it is mostly rounding, and what lies
    // along the difference would turn the start past the end.
    let apart = start - end;
    let sum = start + end;
    let across = sum - apart * (dot(sum, apart) / max(dot(apart, apart), 1.0));
    let middle = across * reach_inverse_root(dot(across, across));
    return vec4(cross(start, middle), dot(start, middle));
}

/// Cosine and sine of half an angle from above -180 to 180 degrees, from numbers in proportion to its cosine and sine.
fn reach_half_angle(cosine: f32, sine: f32) -> vec2<f32> {
    // The sum of two numbers of one sign. It is in proportion to the cosine of the half up to a right angle, then to
    // its sine.
    let sum = sqrt(cosine * cosine + sine * sine) + abs(cosine);
    let half = select(vec2(abs(sine), select(sum, -sum, sine < 0.0)), vec2(sum, sine), cosine > 0.0);
    return half * reach_inverse_root(dot(half, half));
}

/// A vector at length 1, and its length. Its square may be beyond the range of an `f32`. A zero vector stays 0.
fn reach_direction(vector: vec3<f32>) -> vec4<f32> {
    let size = max(max(max(abs(vector.x), abs(vector.y)), abs(vector.z)), REACH_MIN_LENGTH);
    // A device may divide by numbers above 2^126 as by infinity.
    let nearer = select(1.0, 0.0625, size > 1e37);
    let scaled = (vector * nearer) / (size * nearer);
    let square = dot(scaled, scaled);
    let inverse = reach_inverse_root(square);
    return vec4(scaled * inverse, size * (square * inverse));
}

/// The inverse of a square root. One step of Newton's method corrects the built-in one, which may be off by two units
/// in the last place.
fn reach_inverse_root(square: f32) -> f32 {
    let near = inverseSqrt(max(square, REACH_MIN_SQUARE));
    return near * (1.5 - 0.5 * (square * near) * near);
}

/// A vector turned by a quaternion of unit length.
fn reach_rotate(turn: vec4<f32>, vector: vec3<f32>) -> vec3<f32> {
    return quat_rotate(turn, vec4(vector, 0.0)).xyz;
}
