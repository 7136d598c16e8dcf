// Needs: goals_rigid | goals_general | goals_nothing, hierarchy | hierarchy_uniform
// Needs: joints_in_workgroup | joints_in_storage, matrix, phase, pose_joint, pose_part, sample, search
// Needs: skin_matrix | skin_half | skin_dual_quaternion
//! The common part of the kernels of the pose pass: outputs, the share of a lane, and the stages after the sampling.
//!
//! A workgroup poses one instance or several, each with `lane_count` lanes: at least one per joint, unless the matrices
//! of joints are in storage. Binding 7, the skin matrices, is declared by the file of their format.

/// Translation, rotation and scale of each joint.
@group(0) @binding(5) var<storage, read_write> local_out: array<vec4<f32>>;
/// The rows of the model matrix of each joint.
@group(0) @binding(6) var<storage, read_write> model_out: array<vec4<f32>>;
/// Morph weights, then properties.
@group(0) @binding(8) var<storage, read_write> values_out: array<f32>;
/// The lists of the instances that are due, written by `visible.wgsl` and used only if not all instances are posed. The
/// displacements of instances in a transition and the goals follow them.
@group(0) @binding(9) var<storage, read> lists: array<u32>;

/// The rows of a skin matrix that a lane writes at a time: one, so that neighbouring lanes write neighbouring
/// addresses, or all three if the format needs them.
const SKIN_ROWS: u32 = select(3u, 1u, SKIN_BY_ROW);

/// Search results, `span_count` per instance and sample of a layer.
var<workgroup> spans: array<Span, SPAN_CAPACITY>;

/// The matrix of the joint of a lane, if each joint has a lane of its own. With levels of detail, it is the matrix of
/// the joint that the lane has sampled, until the hierarchy is walked.
var<private> lane_matrix: Rows;

/// The share of an invocation: a lane of an instance.
struct Share {
    /// The index of the instance among the instances of the workgroup.
    index_in_group: u32,
    /// The lane of the instance, below `lane_count`.
    lane: u32,
    /// The index of the instance in the batch. `batch.instance_count` or more if the lane has no instance: beyond the
    /// last, or behind the lanes of `batch.instances_per_group` instances.
    instance: u32,
    /// True if the lane has an instance.
    present: bool,
    /// The number of joints in level order that are sampled. The others are at rest.
    joints: u32,
    /// The index of the first joint matrix of the instance.
    base: u32,
}

/// The lanes per instance.
fn pose_lane_count() -> u32 {
    return select(batch.lane_count, WORKGROUP_SIZE, ONE_INSTANCE);
}

/// The share of an invocation: a lane of the next of all instances, or of the next that is due.
fn pose_share(group: vec3<u32>, invocation: u32) -> Share {
    var share: Share;
    var index = group.y * batch.groups_per_row + group.x;
    share.lane = invocation;
    if !ONE_INSTANCE {
        share.index_in_group = (invocation * batch.lane_inverse) >> 16u;
        share.lane = invocation - share.index_in_group * batch.lane_count;
        index = index * batch.instances_per_group + share.index_in_group;
        index = select(NONE, index, share.index_in_group < batch.instances_per_group);
    }
    if SKINS_ONLY || frame.visible_only == 0u {
        share.instance = index;
        share.joints = NONE;
    } else if index >= lists[0] {
        share.instance = NONE;
        share.joints = 0u;
    } else {
        share.instance = lists[1u + batch.instance_count + index];
        share.joints = lists[1u + share.instance] - 1u;
    }
    share.present = (SKINS_ONLY && ONE_INSTANCE) || share.instance < batch.instance_count;
    share.base = joint_matrix_base(share.index_in_group, share.instance);
    return share;
}

/// A joint by its index. The index counts in level order if not all joints are sampled, so that neighbouring lanes have
/// the sampled joints.
fn pose_joint(index: u32, share: Share) -> u32 {
    if SKINS_ONLY || share.joints >= batch.skeleton.joint_count {
        return index;
    }
    return words[batch.skeleton.levels + index];
}

/// The ancestor of a joint in a round, of the four whose ancestors are the bytes of a word.
fn pose_ancestor_byte(four: u32, round: u32) -> u32 {
    return extractBits(four, 8u * (round % 4u), 8u);
}

/// The clip time of a layer, from its record, where `play.wgsl` has written it.
fn pose_time(layer: LayerRecord) -> Time {
    return Time(layer.time_high, layer.time_low);
}

/// The search result of a layer whose clip has one timeline, from its record, where `play.wgsl` has written it.
fn pose_span_of_layer(layer: LayerRecord) -> Span {
    return Span(layer.span_rows.x, layer.span_rows.y, layer.span_part.x, layer.span_part.y);
}

/// The search result of a channel: from the sampler, from workgroup memory, or from a new search if it found no room
/// there.
fn pose_span(channel_sampler: u32, sampler: Sampler) -> Span {
    if SPANS_IN_LAYERS {
        return sampler.span;
    }
    let index = sample_timeline(channel_sampler);
    if SPANS_FIT || index < sampler.span_count {
        return spans[sampler.first_span + index];
    }
    return pose_search(sampler.clip, index, sampler.time);
}

/// Writes the local transform of a joint, if it is requested, and passes it to the hierarchy.
fn pose_store(joint: u32, share: Share, local: Local) {
    if !SKINS_ONLY && (batch.outputs & OUTPUT_LOCAL) != 0u {
        let at = 3u * (share.instance * batch.skeleton.joint_count + joint);
        local_out[at] = local.translation;
        local_out[at + 1u] = local.rotation;
        local_out[at + 2u] = local.scale;
    }
    hierarchy_add(share.base, joint, local.translation, local.rotation, local.scale);
}

/// Turns local transforms into the requested outputs. All lanes of the workgroup must call it.
fn pose_finish(share: Share) {
    hierarchy_walk(share.base, share.lane, share.present);
    goals_reach(share);
    if !share.present {
        return;
    }
    if JOINTS_IN_LANES {
        pose_finish_lane(share);
        return;
    }
    if (batch.outputs & OUTPUT_MODEL) != 0u {
        joint_matrix_write(share.base, share.instance, share.lane);
    }
    if (batch.outputs & OUTPUT_SKIN) != 0u {
        pose_skin(share);
    }
}

/// Writes the requested outputs of the joint of a lane, without a wait for other lanes. That is faster than rows at
/// neighbouring addresses.
fn pose_finish_lane(share: Share) {
    if share.lane >= batch.skeleton.joint_count {
        return;
    }
    if !SKINS_ONLY && (batch.outputs & OUTPUT_MODEL) != 0u {
        let at = 3u * (share.instance * batch.skeleton.joint_count + share.lane);
        model_out[at] = lane_matrix.x;
        model_out[at + 1u] = lane_matrix.y;
        model_out[at + 2u] = lane_matrix.z;
    }
    if SKINS_ONLY || (batch.outputs & OUTPUT_SKIN) != 0u {
        let matrix = words[batch.skeleton.skin_matrices + share.lane];
        if matrix != NONE {
            let at = 3u * (share.instance * batch.skeleton.skin_joint_count + matrix);
            hierarchy_skin(at, matrix);
        }
    }
}

/// Writes skin matrices, in the format of the file that defines `skin_write` and `skin_write_row`. Each lane writes
/// `SKIN_ROWS` rows at a time.
fn pose_skin(share: Share) {
    let rows = 3u * batch.skeleton.skin_joint_count;
    for (var first = SKIN_ROWS * share.lane; first < rows; first += SKIN_ROWS * pose_lane_count()) {
        let matrix = first / 3u;
        let joint = share.base + words[batch.skeleton.skin_joints + matrix];
        let inverse_bind = matrix_load(batch.skeleton.inverse_binds + 3u * matrix);
        let at = share.instance * rows + first;
        if SKIN_BY_ROW {
            skin_write_row(at, matrix_row(joint_matrix_row(joint, first % 3u), inverse_bind));
        } else {
            skin_write(at, matrix_multiply(joint_matrix_load(joint), inverse_bind));
        }
    }
}
