// Needs: pose_common, quat, skin_matrix | skin_half | skin_dual_quaternion, value
//! Local transforms to skin matrices, for joints with one scale along all axes, a lane per joint and no other output.
//! `hierarchy.wgsl` is the alternative, and has the rounds.
//!
//! The rounds multiply rotations first: the rotation of a joint in model space is a product of rotations alone. With
//! the rotation of its parent, the translation of a joint becomes an offset along the axes of the model. What is left
//! of the hierarchy scales and adds offsets: four numbers and four operations per round. A round of both takes 20
//! operations; one of matrices takes 36, and one of rotations with translations and scales 39.

/// The place in `joint_vectors` that a joint without an ancestor finds: nobody's, or the place of the last of 256
/// joints, which is nobody's ancestor. `NO_ANCESTOR` is no less than it, from any base.
const HIERARCHY_NO_JOINT: u32 = min(JOINT_CAPACITY, NO_ANCESTOR);
/// The places of a half of `joint_vectors`.
const HIERARCHY_PLACES: u32 = HIERARCHY_NO_JOINT + 1u;

/// A vector per joint, twice: a step reads the half that it has written, and the next step writes the other one, so
/// that there is one wait per step. At `HIERARCHY_NO_JOINT` is the identity, both as a rotation and as an offset with a
/// scale.
var<workgroup> joint_vectors: array<array<vec4<f32>, HIERARCHY_PLACES>, 2>;

/// The rotation of the joint of a lane.
var<private> lane_rotation: vec4<f32>;
/// Its translation, then its offset, and its scale.
var<private> lane_place: vec4<f32>;
/// Its ancestors, a byte per round.
var<private> lane_ancestors: vec2<u32>;

/// Keeps the local transform of the joint of a lane.
fn hierarchy_add(base: u32, joint: u32, translation: vec4<f32>, rotation: vec4<f32>, scale: vec4<f32>) {
    lane_rotation = rotation;
    lane_place = vec4(translation.xyz, scale.x);
    let at = batch.skeleton.ancestors + joint;
    if ROUNDS > 0u {
        lane_ancestors.x = words[at];
    }
    if ROUNDS > 4u {
        lane_ancestors.y = words[at + batch.skeleton.joint_count];
    }
}

/// Turns local transforms into model transforms. All lanes of the workgroup must call it.
fn hierarchy_walk(base: u32, lane: u32, present: bool) {
    if base + lane == 0u {
        joint_vectors[0][HIERARCHY_NO_JOINT] = vec4(0.0, 0.0, 0.0, 1.0);
        joint_vectors[1][HIERARCHY_NO_JOINT] = vec4(0.0, 0.0, 0.0, 1.0);
    }
    hierarchy_turn(base, lane, 0u);
    hierarchy_turn(base, lane, 1u);
    hierarchy_turn(base, lane, 2u);
    hierarchy_turn(base, lane, 3u);
    hierarchy_turn(base, lane, 4u);
    hierarchy_turn(base, lane, 5u);
    hierarchy_turn(base, lane, 6u);
    hierarchy_turn(base, lane, 7u);
    if ROUNDS > 0u {
        let parent = hierarchy_pass_on(base, lane, ROUNDS, 0u, lane_rotation);
        lane_place = vec4(quat_rotate(parent, lane_place).xyz, lane_place.w);
    }
    hierarchy_move(base, lane, 0u);
    hierarchy_move(base, lane, 1u);
    hierarchy_move(base, lane, 2u);
    hierarchy_move(base, lane, 3u);
    hierarchy_move(base, lane, 4u);
    hierarchy_move(base, lane, 5u);
    hierarchy_move(base, lane, 6u);
    hierarchy_move(base, lane, 7u);
}

/// Multiplies the rotation of a lane by the rotation of its ancestor in a round, if the skeleton has it.
fn hierarchy_turn(base: u32, lane: u32, round: u32) {
    if round < ROUNDS {
        lane_rotation = quat_multiply(hierarchy_pass_on(base, lane, round, round, lane_rotation), lane_rotation);
    }
}

/// Scales the place of a lane by the scale of its ancestor in a round, and adds the ancestor's place, if the skeleton
/// has the round.
fn hierarchy_move(base: u32, lane: u32, round: u32) {
    if round < ROUNDS {
        let above = hierarchy_pass_on(base, lane, ROUNDS + 1u + round, round, lane_place);
        lane_place = vec4(above.xyz + above.w * lane_place.xyz, above.w * lane_place.w);
    }
}

/// Passes a vector of each lane on to its descendants, and returns the vector of its ancestor in a round. `step` counts
/// the calls.
fn hierarchy_pass_on(base: u32, lane: u32, step: u32, round: u32, vector: vec4<f32>) -> vec4<f32> {
    let half = step % 2u;
    if WORKGROUP_SIZE <= NO_ANCESTOR || lane < HIERARCHY_NO_JOINT {
        joint_vectors[half][base + lane] = vector;
    }
    workgroupBarrier();
    let ancestor = pose_ancestor_byte(select(lane_ancestors.x, lane_ancestors.y, round >= 4u), round);
    return joint_vectors[half][min(base + ancestor, HIERARCHY_NO_JOINT)];
}

/// Writes a skin matrix of the joint of a lane from element `at` on, by the index of its inverse bind matrix.
fn hierarchy_skin(at: u32, matrix: u32) {
    let bind = batch.skeleton.uniform_binds + 2u * matrix;
    let offset = value_load(bind + 1u);
    let place = vec4(lane_place.xyz, lane_place.w * offset.w);
    skin_write_uniform(at, quat_multiply(lane_rotation, value_load(bind)), place, offset.xyz);
}
