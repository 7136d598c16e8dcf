// Needs: blend, phase, pose_common, pose_joint, quat
//! Transitions: the pose of the layers, displaced by what is left of the pose before.
//!
//! `lists` holds, behind the lists of the instances that are due, the offset of a `DisplacementRecord` for each
//! instance, or 0, and then the records, each followed by its numbers.
//!
//! Displacements and goals share that buffer because the pose kernels use all eight storage buffers that a device
//! without requests offers. Kernels with capacity for transitions are other pipelines: crowds without transitions keep
//! theirs.

/// The state of the transition of an instance.
struct Decay {
    /// The kind of the transition, or `DISPLACED_NOT`.
    kind: u32,
    /// The offset in `lists` of the numbers of the displacement.
    numbers: u32,
    /// The factor of an offset.
    offset: f32,
    /// The factor of a speed, in seconds.
    speed: f32,
    /// The share of the pose that comes in, if the one that goes out moves on.
    share: f32,
}

/// The transition of the invocation's instance.
var<private> decay: Decay;

/// Computes the state of the transition of an instance.
fn displace_begin(share: Share) {
    decay = Decay(DISPLACED_NOT, 0u, 0.0, 0.0, 0.0);
    let at = lists[1u + 2u * batch.instance_count + share.instance];
    if at == 0u {
        return;
    }
    let record = DisplacementRecord(
        lists[at],
        lists[at + 1u],
        lists[at + 2u],
        bitcast<f32>(lists[at + 3u]),
        bitcast<f32>(lists[at + 4u]),
    );
    let gone = phase_subtract(vec2(frame.now_low, frame.now_high), vec2(record.start_low, record.start_high));
    let elapsed = (f32(gone.y) * 4294967296.0 + f32(gone.x)) * DISPLACED_TICK;
    let dead = record.kind == DISPLACED_DEAD;
    if gone.y >= 0x80000000u || elapsed > record.seconds || (dead && elapsed == record.seconds) {
        return;
    }
    let exponent = record.rate * elapsed;
    decay.kind = record.kind;
    decay.numbers = at + DISPLACED_HEAD;
    if dead {
        let along = clamp(elapsed / record.seconds, 0.0, 1.0);
        decay.speed = elapsed * displace_slowed(exponent);
        decay.share = along * along * (3.0 - 2.0 * along);
    } else {
        let left = exp(-exponent);
        decay.offset = (1.0 + exponent) * left;
        decay.speed = elapsed * left;
    }
}

/// `(1 - exp(-x)) / x` for 0 and more: a series where the difference would lose digits.
fn displace_slowed(x: f32) -> f32 {
    if x > 0.5 {
        return (1.0 - exp(-x)) / x;
    }
    let tail = 1.0 - x / 5.0 * (1.0 - x / 6.0 * (1.0 - x / 7.0 * (1.0 - x / 8.0)));
    return 1.0 - x / 2.0 * (1.0 - x / 3.0 * (1.0 - x / 4.0 * tail));
}

/// The local transform of a joint, displaced. Joints that are not sampled stay at rest.
fn displace_joint(joint: u32, sampled: bool, local: Local) -> Local {
    if decay.kind == DISPLACED_NOT || !sampled {
        return local;
    }
    let at = decay.numbers + DISPLACED_JOINT * joint;
    var displaced = local;
    displaced.translation = displace_vector(at, local.translation);
    displaced.scale = displace_vector(at + 6u, local.scale);
    let offset = vec4(displace_number(at + 12u), displace_number(at + 13u), displace_number(at + 14u), displace_number(at + 15u));
    let speed = vec3(displace_number(at + 16u), displace_number(at + 17u), displace_number(at + 18u));
    displaced.rotation = displace_rotation(offset, speed, local.rotation);
    return displaced;
}

/// A number of a displacement.
fn displace_number(at: u32) -> f32 {
    return bitcast<f32>(lists[at]);
}

/// A translation or scale, displaced by the offset at `at` and the speed behind it.
fn displace_vector(at: u32, value: vec4<f32>) -> vec4<f32> {
    let offset = vec4(displace_number(at), displace_number(at + 1u), displace_number(at + 2u), 0.0);
    let speed = vec4(displace_number(at + 3u), displace_number(at + 4u), displace_number(at + 5u), 0.0);
    return displace_by(offset, speed, value);
}

/// Numbers, displaced by an offset and a speed.
fn displace_by(offset: vec4<f32>, speed: vec4<f32>, value: vec4<f32>) -> vec4<f32> {
    if decay.kind == DISPLACED_DEAD {
        let out = offset + speed * decay.speed;
        return out + (value - out) * decay.share;
    }
    return value + (offset * decay.offset + speed * decay.speed);
}

/// A rotation, displaced by an offset and a speed.
fn displace_rotation(offset: vec4<f32>, speed: vec3<f32>, value: vec4<f32>) -> vec4<f32> {
    if decay.kind == DISPLACED_DEAD {
        let out = quat_multiply(displace_turn(speed * decay.speed), offset);
        return blend_nlerp(out, value, decay.share);
    }
    let turn = displace_turn(offset.xyz * decay.offset + speed * decay.speed);
    return quat_normalize(quat_multiply(turn, value), value);
}

/// The quaternion of a rotation vector.
fn displace_turn(vector: vec3<f32>) -> vec4<f32> {
    let size = max(max(abs(vector.x), abs(vector.y)), abs(vector.z));
    if size < 1e-18 {
        return vec4(0.5 * vector, 1.0);
    }
    let angle = length(vector);
    // Half the angle in quarter turns, without whole turns.
    let quarters = angle * 0.31830988618;
    let found = quat_sine_cosine(quarters - 4.0 * floor(0.25 * quarters + 0.5));
    return vec4(vector * (found.x / angle), found.y);
}

/// A morph weight or a number of a property in the first component, or a whole rotation of a property, displaced.
fn displace_value(number: u32, turns: bool, value: vec4<f32>) -> vec4<f32> {
    if decay.kind == DISPLACED_NOT {
        return value;
    }
    let at = decay.numbers + DISPLACED_JOINT * batch.skeleton.joint_count + DISPLACED_NUMBER * number;
    if turns {
        let offset = vec4(displace_number(at), displace_number(at + 2u), displace_number(at + 4u), displace_number(at + 6u));
        let speed = vec3(displace_number(at + 1u), displace_number(at + 3u), displace_number(at + 5u));
        return displace_rotation(offset, speed, value);
    }
    return displace_by(vec4(displace_number(at)), vec4(displace_number(at + 1u)), value);
}

/// Displaces written morph weights and properties: `count` of them, from the number `first` on, which is written to
/// `at`.
fn displace_values(first: u32, count: u32, at: u32) {
    if decay.kind == DISPLACED_NOT {
        return;
    }
    for (var number = 0u; number < count; number += 1u) {
        let kind = words[batch.skeleton.value_kinds + first + number];
        let to = at + number;
        if kind == VALUE_ROTATION {
            let value = vec4(values_out[to], values_out[to + 1u], values_out[to + 2u], values_out[to + 3u]);
            let displaced = displace_value(first + number, true, value);
            values_out[to] = displaced.x;
            values_out[to + 1u] = displaced.y;
            values_out[to + 2u] = displaced.z;
            values_out[to + 3u] = displaced.w;
        } else if kind != VALUE_ROTATION_REST {
            values_out[to] = displace_value(first + number, false, vec4(values_out[to], 0.0, 0.0, 0.0)).x;
        }
    }
}
