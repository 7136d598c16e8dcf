//! What the kernels of the fused pass share: bindings, but for that of skin matrices, and the stages around mixing.
//!
//! A workgroup poses one instance, or several, each with `lane_count` lanes: in the parallel form as many as it has joints, in the
//! serial form one.

/// Indices, key times and records of the library.
@group(0) @binding(0) var<storage, read> words: array<u32>;
/// Keys, rest poses and inverse bind matrices of the library.
@group(0) @binding(1) var<storage, read> values: array<vec4<f32>>;
/// One layer an instance.
@group(0) @binding(2) var<storage, read> layers: array<LayerRecord>;
/// The clock: all that changes from frame to frame.
@group(0) @binding(3) var<uniform> frame: Frame;
/// What the instances share.
@group(0) @binding(4) var<uniform> batch: BatchRecord;
/// For each joint translation, rotation, scale.
@group(0) @binding(5) var<storage, read_write> local_out: array<vec4<f32>>;
/// For each joint the rows of its model matrix.
@group(0) @binding(6) var<storage, read_write> model_out: array<vec4<f32>>;
/// Morph weights, then properties.
@group(0) @binding(8) var<storage, read_write> values_out: array<f32>;
/// Where not all instances are posed, which ones, as `visible.wgsl` leaves them.
@group(0) @binding(9) var<storage, read> due: array<u32>;

/// Search results, `span_count` an instance.
var<workgroup> spans: array<Span, SPAN_CAPACITY>;

/// What a slot of a workgroup poses.
struct Posed {
    /// The instance; beyond the last there is none.
    instance: u32,
    /// How many joints of the level order are sampled. The others are at rest.
    joints: u32,
}

/// What a slot of a workgroup poses: the next of all instances, or of those that are due.
fn pose_instance(group: vec3<u32>, slot: u32) -> Posed {
    let index = (group.y * batch.groups_per_row + group.x) * batch.instances_per_group + slot;
    if frame.visible_only == 0u {
        return Posed(index, NONE);
    }
    if index >= due[0] {
        return Posed(NONE, 0u);
    }
    let instance = due[1u + batch.instance_count + index];
    return Posed(instance, due[1u + instance] - 1u);
}

/// A joint by its index, in the level order where not all joints are sampled, so that those that are have neighbouring lanes.
fn pose_joint(index: u32, posed: Posed) -> u32 {
    if posed.joints >= batch.skeleton.joint_count {
        return index;
    }
    return words[batch.skeleton.levels + index];
}

/// The search result that a channel needs: found before by some lane, or, beyond what workgroup memory holds, now.
fn pose_span(channel_sampler: u32, sampler: Sampler) -> Span {
    let index = sample_timeline(channel_sampler);
    if SPANS_FIT || index < sampler.span_count {
        return spans[sampler.first_span + index];
    }
    return pose_search(sampler.clip, index, sampler.time);
}

/// Writes a joint's local transform, where it is wanted, and hands on its local matrix.
fn pose_store(joint: u32, instance: u32, base: u32, local: Local) {
    if (batch.outputs & OUTPUT_LOCAL) != 0u {
        let at = 3u * (instance * batch.skeleton.joint_count + joint);
        local_out[at] = local.translation;
        local_out[at + 1u] = local.rotation;
        local_out[at + 2u] = local.scale;
    }
    var matrix = NONE;
    if HAS_MATRICES && batch.skeleton.matrices != NONE {
        matrix = words[batch.skeleton.matrices + joint];
    }
    if matrix != NONE {
        hierarchy_add(base, joint, matrix_load(matrix));
    } else {
        hierarchy_add(base, joint, matrix_compose(local.translation.xyz, local.rotation, local.scale.xyz));
    }
}

/// From local matrices to everything that is made of them. All lanes of the workgroup come here.
fn pose_finish(base: u32, instance: u32, lane: u32, present: bool) {
    hierarchy_walk(base, lane, present);
    if present && (batch.outputs & OUTPUT_MODEL) != 0u {
        joint_matrix_write(base, instance, lane);
    }
    if present && (batch.outputs & OUTPUT_SKIN) != 0u {
        pose_skin(instance, base, lane);
    }
}

/// Skin matrices, as the module of their format writes them, `SKIN_ROWS` rows a lane: one where lanes share an instance, so that
/// neighbouring lanes write neighbouring addresses, else all three.
fn pose_skin(instance: u32, base: u32, lane: u32) {
    let rows = 3u * batch.skeleton.skin_joint_count;
    for (var first = SKIN_ROWS * lane; first < rows; first += SKIN_ROWS * batch.lane_count) {
        let matrix = first / 3u;
        let joint = base + words[batch.skeleton.skin_joints + matrix];
        let inverse_bind = matrix_load(batch.skeleton.inverse_binds + 3u * matrix);
        skin_write(instance * rows + first, first % 3u, joint, inverse_bind);
    }
}
