//! The common part of the kernels of the pose pass: outputs, the share of a lane, and the stages after the sampling.
//!
//! A workgroup poses one instance or several, each with `lane_count` lanes: in the parallel form about one per joint, in the
//! serial form one. Binding 7, the skin matrices, is declared by the file of their format.

/// Translation, rotation and scale of each joint.
@group(0) @binding(5) var<storage, read_write> local_out: array<vec4<f32>>;
/// The rows of the model matrix of each joint.
@group(0) @binding(6) var<storage, read_write> model_out: array<vec4<f32>>;
/// Morph weights, then properties.
@group(0) @binding(8) var<storage, read_write> values_out: array<f32>;
/// The lists of the instances that are due, written by `visible.wgsl` and used only if not all instances are posed. The
/// displacements of instances in a transition and the goals follow them.
@group(0) @binding(9) var<storage, read> lists: array<u32>;

/// Search results, `span_count` per instance and sample of a layer.
var<workgroup> spans: array<Span, SPAN_CAPACITY>;

/// The share of an invocation: a lane of an instance.
struct Share {
    /// The index of the instance among those of the workgroup, below `batch.instances_per_group`.
    index_in_group: u32,
    /// The lane of the instance, below `lane_count`.
    lane: u32,
    /// The index of the instance in the batch. `batch.instance_count` or more if the lane has no instance.
    instance: u32,
    /// True if the lane has an instance.
    present: bool,
    /// The number of joints in level order that are sampled. The others are at rest.
    joints: u32,
    /// The index of the first joint matrix of the instance.
    base: u32,
}

/// True if each joint of an instance has a lane of its own.
const LANE_PER_JOINT: bool = ONE_INSTANCE && JOINT_CAPACITY > 0u;

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
        share.index_in_group = invocation / batch.lane_count;
        share.lane = invocation % batch.lane_count;
        index = index * batch.instances_per_group + share.index_in_group;
    }
    if frame.visible_only == 0u {
        share.instance = index;
        share.joints = NONE;
    } else if index >= lists[0] {
        share.instance = NONE;
        share.joints = 0u;
    } else {
        share.instance = lists[1u + batch.instance_count + index];
        share.joints = lists[1u + share.instance] - 1u;
    }
    share.present = share.instance < batch.instance_count;
    share.base = joint_matrix_base(share.index_in_group, share.instance);
    return share;
}

/// A joint by its index. The index counts in level order if not all joints are sampled, so that neighbouring lanes have the
/// sampled joints.
fn pose_joint(index: u32, share: Share) -> u32 {
    if share.joints >= batch.skeleton.joint_count {
        return index;
    }
    return words[batch.skeleton.levels + index];
}

/// The search result of a channel: from workgroup memory, or from a new search if it found no room there.
fn pose_span(channel_sampler: u32, sampler: Sampler) -> Span {
    let index = sample_timeline(channel_sampler);
    if SPANS_FIT || index < sampler.span_count {
        return spans[sampler.first_span + index];
    }
    return pose_search(sampler.clip, index, sampler.time);
}

/// Writes the local transform of a joint, if it is requested, and passes its local matrix to the hierarchy.
fn pose_store(joint: u32, share: Share, local: Local) {
    if (batch.outputs & OUTPUT_LOCAL) != 0u {
        let at = 3u * (share.instance * batch.skeleton.joint_count + joint);
        local_out[at] = local.translation;
        local_out[at + 1u] = local.rotation;
        local_out[at + 2u] = local.scale;
    }
    pose_add(joint, share, local.translation, local.rotation, local.scale);
}

/// Passes the local matrix of a joint to the hierarchy.
fn pose_add(joint: u32, share: Share, translation: vec4<f32>, rotation: vec4<f32>, scale: vec4<f32>) {
    var matrix = NONE;
    if HAS_MATRICES && batch.skeleton.matrices != NONE {
        matrix = words[batch.skeleton.matrices + joint];
    }
    if matrix != NONE {
        hierarchy_add(share.base, joint, matrix_load(matrix));
    } else {
        hierarchy_add(share.base, joint, matrix_compose(translation.xyz, rotation, scale.xyz));
    }
}

/// Turns local matrices into the requested outputs. All lanes of the workgroup must call it.
fn pose_finish(share: Share) {
    hierarchy_walk(share.base, share.lane, share.present);
    goals_reach(share);
    if share.present && (batch.outputs & OUTPUT_MODEL) != 0u {
        joint_matrix_write(share.base, share.instance, share.lane);
    }
    if share.present && (batch.outputs & OUTPUT_SKIN) != 0u {
        pose_skin(share);
    }
}

/// Writes skin matrices, in the format of the file that defines `skin_write`. Each lane writes `SKIN_ROWS` rows at a time: one if
/// lanes share an instance, so that neighbouring lanes write neighbouring addresses, otherwise all three.
fn pose_skin(share: Share) {
    let rows = 3u * batch.skeleton.skin_joint_count;
    for (var first = SKIN_ROWS * share.lane; first < rows; first += SKIN_ROWS * pose_lane_count()) {
        let matrix = first / 3u;
        let joint = share.base + words[batch.skeleton.skin_joints + matrix];
        let inverse_bind = matrix_load(batch.skeleton.inverse_binds + 3u * matrix);
        skin_write(share.instance * rows + first, first % 3u, joint, inverse_bind);
    }
}
