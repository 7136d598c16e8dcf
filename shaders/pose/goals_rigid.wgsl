// Needs: goals, inverse_kinematics, joints_in_workgroup | joints_in_storage, matrix, pose_common, quat
//! Goals of skeletons whose joints that lead to a chain keep a uniform scale: a turn in model space moves all below a
//! joint as a rigid body. Each joint has one motion, by the number of joints of the chain that turn it.

/// The goals of the instance of a lane act on its model matrices. All lanes of the workgroup must call it.
fn goals_reach(share: Share) {
    let writes_local = (batch.outputs & OUTPUT_LOCAL) != 0u;
    if writes_local {
        storageBarrier();
    }
    for (var index = 0u; index < batch.goal_count; index += 1u) {
        var turns = REACH_NOTHING;
        var chain: ChainRecord;
        var motions: Motions;
        if share.present {
            let goal = goals_load(share, index);
            if goal.chain != NONE {
                chain = chain_load(goal.chain);
                let joints = goals_joints(share, chain);
                turns = goals_turns(share, chain, joints, goal);
                motions = goals_motions(joints, turns);
            }
        }
        if writes_local && turns.acts && share.lane == 0u {
            goals_turn(share, chain.joint_0, chain.parent_0, turns.first);
            if (chain.kind & CHAIN_TWO_BONE) != 0u {
                goals_turn(share, chain.joint_1, chain.parent_1, turns.second);
            }
            if (chain.kind & CHAIN_HOLD) != 0u {
                goals_turn(share, chain.joint_2, chain.parent_2, turns.third);
            }
        }
        joint_matrix_barrier();
        if turns.acts {
            goals_move(share, chain, motions);
        }
        joint_matrix_barrier();
    }
}

/// A motion in model space: a turn about a point, which then goes to another point.
struct Motion {
    turn: vec4<f32>,
    pivot: vec3<f32>,
    to: vec3<f32>,
}

/// The motions of the joints that one, two and three joints of a chain turn.
struct Motions {
    one: Motion,
    two: Motion,
    three: Motion,
}

/// The motions of a chain, from the positions of its joints before.
fn goals_motions(joints: Positions, turns: Turns) -> Motions {
    let both = quat_multiply(turns.first, turns.second);
    let second_to = joints.first + reach_rotate(turns.first, joints.second - joints.first);
    let third_to = second_to + reach_rotate(both, joints.third - joints.second);
    // A third joint that turns keeps its model rotation.
    return Motions(
        Motion(turns.first, joints.first, joints.first),
        Motion(both, joints.second, second_to),
        Motion(REACH_NO_TURN, joints.third, third_to),
    );
}

/// Moves all joints that a chain turns. They do not come before its first joint.
fn goals_move(share: Share, chain: ChainRecord, motions: Motions) {
    let lane_count = pose_lane_count();
    // The first joint of the lane that is not before the first of the chain.
    let start = share.lane + lane_count * ((max(chain.joint_0, share.lane) - share.lane) / lane_count);
    for (var joint = start; joint < chain.joint_end; joint += lane_count) {
        let word = words[chain.turned_by + joint / CHAIN_JOINTS_PER_WORD];
        let turned_by = extractBits(word, 2u * (joint % CHAIN_JOINTS_PER_WORD), 2u);
        if turned_by != 0u {
            var motion = motions.one;
            if turned_by == 2u {
                motion = motions.two;
            }
            if turned_by == 3u {
                motion = motions.three;
            }
            let model = joint_matrix_load(share.base + joint);
            let pivot = motion.pivot;
            let about = Rows(
                vec4(model.x.xyz, model.x.w - pivot.x),
                vec4(model.y.xyz, model.y.w - pivot.y),
                vec4(model.z.xyz, model.z.w - pivot.z),
            );
            let turned = matrix_multiply(matrix_compose(motion.to, motion.turn, vec3(1.0)), about);
            joint_matrix_store(share.base + joint, turned);
        }
    }
}

/// Writes the local rotation of a joint after a turn in model space. `parent` is its parent, before the turn, or
/// `NONE`.
fn goals_turn(share: Share, joint: u32, parent: u32, turn: vec4<f32>) {
    var axis = turn.xyz;
    if parent != NONE {
        // The inverse of a rotation with a uniform scale is its transpose, but for the scale.
        let above = joint_matrix_load(share.base + parent);
        let inverse = reach_inverse_root(dot(above.x.xyz, above.x.xyz));
        axis = (above.x.xyz * turn.x + above.y.xyz * turn.y + above.z.xyz * turn.z) * inverse;
    }
    goals_turn_local(share, joint, vec4(axis, turn.w));
}

/// The direction of a chain that aims, in model space.
fn goals_forward(share: Share, chain: ChainRecord) -> vec3<f32> {
    let model = joint_matrix_load(share.base + chain.joint_0);
    let direction = goals_direction(chain);
    return vec3(dot(model.x.xyz, direction), dot(model.y.xyz, direction), dot(model.z.xyz, direction));
}
