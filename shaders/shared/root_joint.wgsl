// Needs: quat
//! The parts of a clip's root joint that move its instance, and arithmetic of rigid movements.

/// A rigid movement: a rotation, then a translation. The fourth number of the translation is 0.
struct Rigid {
    translation: vec4<f32>,
    rotation: vec4<f32>,
}

/// No movement.
const ROOT_STILL: Rigid = Rigid(vec4(0.0), vec4(0.0, 0.0, 0.0, 1.0));

/// Returns `true` if the joint is the root joint of a clip, whose record is at `root_offset`; `NONE` is no root.
fn root_is(root_offset: u32, joint: u32) -> bool {
    return root_offset != NONE && words[root_offset] == joint;
}

/// The part of a root's translation that moves the instance.
fn root_translation(root: Root, translation: vec4<f32>) -> vec4<f32> {
    let axes = vec4(root.moves & ROOT_X, root.moves & ROOT_Y, root.moves & ROOT_Z, 0u) != vec4(0u);
    return select(vec4(0.0), translation, axes);
}

/// The part of a root's rotation, of unit length, that turns the instance.
fn root_rotation(root: Root, rotation: vec4<f32>) -> vec4<f32> {
    if (root.moves & ROOT_FULL) != 0u {
        return rotation;
    }
    if (root.moves & ROOT_YAW) == 0u {
        return ROOT_STILL.rotation;
    }
    let up = vec3(root.up_x, root.up_y, root.up_z);
    return quat_normalize(vec4(dot(rotation.xyz, up) * up, rotation.w), ROOT_STILL.rotation);
}

/// The remainder of a translation, rotation or scale of a root joint, without the movement of the instance. `rotation`
/// is the sampled rotation of the joint.
fn root_take_out(root: Root, part: u32, sampled: vec4<f32>, rotation: vec4<f32>) -> vec4<f32> {
    if part == PART_SCALE {
        return sampled;
    }
    let back = quat_conjugate(root_rotation(root, rotation));
    if part == PART_ROTATION {
        return quat_multiply(back, sampled);
    }
    return quat_rotate(back, sampled - root_translation(root, sampled));
}

/// The product of movements: first the right one, then the left one.
fn root_multiply(left: Rigid, right: Rigid) -> Rigid {
    let rotation = quat_normalize(quat_multiply(left.rotation, right.rotation), ROOT_STILL.rotation);
    return Rigid(left.translation + quat_rotate(left.rotation, right.translation), rotation);
}

/// The inverse of a movement.
fn root_inverse(way: Rigid) -> Rigid {
    let rotation = quat_conjugate(way.rotation);
    return Rigid(quat_rotate(rotation, -way.translation), rotation);
}

/// The movement from `start` to `end`. Translations are subtracted first, so that no digits are lost far from the
/// origin.
fn root_way(start: Rigid, end: Rigid) -> Rigid {
    let back = quat_conjugate(start.rotation);
    let rotation = quat_normalize(quat_multiply(back, end.rotation), ROOT_STILL.rotation);
    return Rigid(quat_rotate(back, end.translation - start.translation), rotation);
}

/// A movement `times` times; negative numbers undo it.
fn root_power(way: Rigid, times: i32) -> Rigid {
    var result = ROOT_STILL;
    var square = way;
    if times < 0 {
        square = root_inverse(way);
    }
    var left = u32(abs(times));
    while left > 0u {
        if (left & 1u) == 1u {
            result = root_multiply(result, square);
        }
        square = root_multiply(square, square);
        left >>= 1u;
    }
    return result;
}
