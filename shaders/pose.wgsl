//! The fused pass: from ticks to skin matrices without a stop in memory.
//!
//! A workgroup poses one instance, or several small ones, each with `lane_count` lanes. Its stages are the crate's: phase,
//! search, sample, hierarchy, skin.

/// Indices, key times and records of the library.
@group(0) @binding(0) var<storage, read> words: array<u32>;
/// Keys, rest poses and inverse bind matrices of the library.
@group(0) @binding(1) var<storage, read> values: array<vec4<f32>>;
/// One layer an instance.
@group(0) @binding(2) var<storage, read> layers: array<Layer>;
/// The clock: all that changes from frame to frame.
@group(0) @binding(3) var<uniform> frame: Frame;
/// What the instances share.
@group(0) @binding(4) var<uniform> batch: Batch;
/// For each joint translation, rotation, scale.
@group(0) @binding(5) var<storage, read_write> local_out: array<vec4<f32>>;
/// For each joint the rows of its model matrix.
@group(0) @binding(6) var<storage, read_write> model_out: array<vec4<f32>>;
/// For each joint of each skin the rows of its skin matrix.
@group(0) @binding(7) var<storage, read_write> skin_out: array<vec4<f32>>;
/// Morph weights, then properties.
@group(0) @binding(8) var<storage, read_write> values_out: array<f32>;

/// Search results, `span_count` an instance.
var<workgroup> spans: array<Span, SPAN_CAPACITY>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn pose(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) invocation: u32) {
    let slot = invocation / batch.lane_count;
    let lane = invocation % batch.lane_count;
    let group_index = group.y * batch.groups_per_row + group.x;
    let instance = group_index * (WORKGROUP_SIZE / batch.lane_count) + slot;
    let present = instance < batch.instance_count;
    let base = joint_matrix_base(slot, instance);

    var clip: Clip;
    var time: Time;
    if present {
        let layer = layers[instance];
        clip = clip_load(layer.clip);
        time = phase_of_layer(layer, clip, frame);
        let span_count = min(clip.timeline_count, batch.span_count);
        for (var index = lane; index < span_count; index += batch.lane_count) {
            spans[slot * batch.span_count + index] = pose_search(clip, index, time);
        }
    }
    workgroupBarrier();

    if present {
        pose_joints(clip, time, slot, instance, base, lane);
        pose_values(clip, time, slot, instance, lane);
    }
    joint_matrix_barrier();
    hierarchy_walk(base, lane, present);

    if present && (batch.outputs & OUTPUT_MODEL) != 0u {
        joint_matrix_write(base, instance, lane);
    }
    if present && (batch.outputs & OUTPUT_SKIN) != 0u {
        pose_skin(instance, base, lane);
    }
}

/// Finds the keys of one of the clip's timelines.
fn pose_search(clip: Clip, index: u32, time: Time) -> Span {
    return search_timeline(timeline_load(clip.timelines + index * TIMELINE_WORDS), time);
}

/// The search result that a sampler needs: found before by some lane, or, beyond what workgroup memory holds, now.
fn pose_span(sampler: u32, clip: Clip, time: Time, slot: u32) -> Span {
    let index = sample_timeline(sampler);
    if index < batch.span_count {
        return spans[slot * batch.span_count + index];
    }
    return pose_search(clip, index, time);
}

/// Samples all joints, and leaves their local matrices.
fn pose_joints(clip: Clip, time: Time, slot: u32, instance: u32, base: u32, lane: u32) {
    let joint_count = batch.skeleton.joint_count;
    for (var joint = lane; joint < joint_count; joint += batch.lane_count) {
        let translation = pose_part(0u, joint, clip, time, slot);
        let rotation = pose_part(1u, joint, clip, time, slot);
        let scale = pose_part(2u, joint, clip, time, slot);
        if (batch.outputs & OUTPUT_LOCAL) != 0u {
            let at = 3u * (instance * joint_count + joint);
            local_out[at] = translation;
            local_out[at + 1u] = rotation;
            local_out[at + 2u] = scale;
        }
        var matrix = NONE;
        if batch.skeleton.matrices != NONE {
            matrix = words[batch.skeleton.matrices + joint];
        }
        if matrix != NONE {
            joint_matrix_store(base + joint, matrix_load(matrix));
        } else {
            joint_matrix_store(base + joint, matrix_compose(translation.xyz, rotation, scale.xyz));
        }
    }
}

/// A joint's translation, rotation or scale: part 0, 1 or 2.
fn pose_part(part: u32, joint: u32, clip: Clip, time: Time, slot: u32) -> vec4<f32> {
    let index = part * batch.skeleton.joint_count + joint;
    let channel = channel_load(clip.channels + CHANNEL_WORDS * index);
    let mode = sample_mode(channel.sampler);
    if mode == MODE_REST {
        return values[batch.skeleton.rest + index];
    }
    if mode == MODE_CONSTANT {
        return values[channel.values];
    }
    if mode >= MODE_SPLIT {
        let numbers = pose_numbers(channel, mode & ~MODE_EULER, clip, time, slot);
        if (mode & MODE_EULER) != 0u {
            return quat_from_euler_angles(numbers.xyz);
        }
        return numbers;
    }
    let span = pose_span(channel.sampler, clip, time, slot);
    if part == 1u {
        return sample_rotation(channel.values, mode, span);
    }
    return sample_numbers(channel.values, mode, span);
}

/// Three numbers that are sampled together, or each by a channel of its own.
fn pose_numbers(channel: Channel, mode: u32, clip: Clip, time: Time, slot: u32) -> vec4<f32> {
    if mode != MODE_SPLIT {
        return sample_numbers(channel.values, mode, pose_span(channel.sampler, clip, time, slot));
    }
    var numbers = vec4(0.0);
    for (var component = 0u; component < 3u; component += 1u) {
        let single = channel_load(channel.values + CHANNEL_WORDS * component);
        let single_mode = sample_mode(single.sampler);
        if single_mode == MODE_CONSTANT {
            numbers[component] = values[single.values].x;
        } else {
            let span = pose_span(single.sampler, clip, time, slot);
            numbers[component] = sample_numbers(single.values, single_mode, span).x;
        }
    }
    return numbers;
}

/// Samples the morph weights and properties that are wanted.
fn pose_values(clip: Clip, time: Time, slot: u32, instance: u32, lane: u32) {
    let first_channel = select(0u, clip.weight_channel_count, batch.first_value > 0u);
    let end = batch.first_value + batch.value_count;
    let weights_only = end <= batch.skeleton.weight_count;
    let channel_count = select(clip.value_channel_count, clip.weight_channel_count, weights_only);
    for (var index = first_channel + lane; index < channel_count; index += batch.lane_count) {
        let channel = value_channel_load(clip.value_channels + VALUE_CHANNEL_WORDS * index);
        let mode = sample_mode(channel.sampler);
        var span: Span;
        if mode != MODE_CONSTANT {
            span = pose_span(channel.sampler, clip, time, slot);
        }
        let at = instance * batch.value_count + channel.output - batch.first_value;
        if mode == MODE_CUSTOM {
            custom_write(channel.shape, channel.values + span.row, span, at);
            continue;
        }
        var sampled: vec4<f32>;
        if (channel.shape & SHAPE_ROTATION) != 0u {
            sampled = sample_rotation(channel.values, mode, span);
        } else {
            sampled = sample_numbers(channel.values, mode, span);
        }
        let count = channel.shape & (SHAPE_ROTATION - 1u);
        for (var number = 0u; number < count; number += 1u) {
            values_out[at + number] = sampled[number];
        }
    }
}

/// Model matrices times inverse bind matrices, one row a lane.
fn pose_skin(instance: u32, base: u32, lane: u32) {
    let rows = 3u * batch.skeleton.skin_joint_count;
    for (var row = lane; row < rows; row += batch.lane_count) {
        let matrix = row / 3u;
        let joint = words[batch.skeleton.skin_joints + matrix];
        let model = joint_matrix_row(base + joint, row % 3u);
        skin_out[instance * rows + row] = matrix_row(model, matrix_load(batch.skeleton.inverse_binds + 3u * matrix));
    }
}
