// Needs: displace | displace_nothing, phase, pose_common, pose_joint, pose_part, sample, search
//! The pose pass for instances of one layer that needs no mixing: from ticks to skin matrices.
//!
//! Its stages: phase, search, sample, hierarchy, skin. `play.wgsl` does the phase, and the search of clips with one
//! timeline.

/// Poses an instance by its lanes.
@compute @workgroup_size(WORKGROUP_SIZE)
fn pose(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) invocation: u32) {
    // The lanes of a workgroup end together, so that none of them keeps a pose of zeros.
    if SKINS_ONLY && ONE_INSTANCE && group.y * batch.groups_per_row + group.x >= batch.instance_count {
        return;
    }
    let share = pose_share(group, invocation);
    var sampler = Sampler(0u, share.index_in_group * batch.span_count, batch.span_count, Time(0.0, 0.0), Span());
    if share.present {
        displace_begin(share);
        let layer = layers[share.instance];
        let clip = clip_load(layer.clip);
        sampler.clip = layer.clip;
        let span_count = min(clip.timeline_count, batch.span_count);
        sampler.time = pose_time(layer);
        if SPANS_IN_LAYERS {
            sampler.span = pose_span_of_layer(layer);
        } else {
            pose_search_all(sampler, span_count, share.lane);
        }
    }
    if !SPANS_IN_LAYERS {
        workgroupBarrier();
    }

    if share.present {
        pose_joints(sampler, share);
        pose_values(sampler, share);
    }
    pose_finish(share);
}

/// Searches the first `span_count` timelines of a clip, by the lanes of an instance.
fn pose_search_all(sampler: Sampler, span_count: u32, lane: u32) {
    for (var index = lane; index < span_count; index += pose_lane_count()) {
        spans[sampler.first_span + index] = pose_search(sampler.clip, index, sampler.time);
    }
}

/// Samples all joints, or the requested number of joints. The others are sampled from the clip without tracks, which is
/// the rest pose.
fn pose_joints(whole: Sampler, share: Share) {
    if LANE_PER_JOINT {
        if share.lane < batch.skeleton.joint_count {
            pose_one_joint(share.lane, whole, share);
        }
        return;
    }
    for (var index = share.lane; index < batch.skeleton.joint_count; index += pose_lane_count()) {
        pose_one_joint(index, whole, share);
    }
}

/// Samples a joint by its index.
fn pose_one_joint(index: u32, whole: Sampler, share: Share) {
    let joint = pose_joint(index, share);
    let sampled = SKINS_ONLY || index < share.joints;
    var sampler = whole;
    sampler.clip = select(batch.skeleton.rest_clip, whole.clip, sampled);
    let local = pose_local(joint, clip_load(whole.clip).root, sampler);
    pose_store(joint, share, displace_joint(joint, sampled, local));
}

/// Samples the requested morph weights and properties.
fn pose_values(sampler: Sampler, share: Share) {
    if SKINS_ONLY || batch.value_count == 0u {
        return;
    }
    let clip = clip_load(sampler.clip);
    let first_channel = select(0u, clip.weight_channel_count, batch.first_value > 0u);
    let end = batch.first_value + batch.value_count;
    let weights_only = end <= batch.skeleton.weight_count;
    let channel_count = select(clip.value_channel_count, clip.weight_channel_count, weights_only);
    for (var index = first_channel + share.lane; index < channel_count; index += pose_lane_count()) {
        let channel = value_channel_load(clip.value_channels + VALUE_CHANNEL_WORDS * index);
        let at = share.instance * batch.value_count + channel.output - batch.first_value;
        let mode = sample_mode(channel.sampler);
        var span: Span;
        if mode != MODE_CONSTANT {
            span = pose_span(channel.sampler, sampler);
        }
        if mode == MODE_CUSTOM {
            custom_write(channel.shape, channel.values + span.row, span, at);
            displace_values(channel.output, custom_count(channel.shape), at);
            continue;
        }
        let rotation = (channel.shape & SHAPE_ROTATION) != 0u;
        let sampled = sample_any(channel.values, mode, 0.0, span, PART_TRANSLATION, rotation);
        let count = channel.shape & (SHAPE_ROTATION - 1u);
        for (var number = 0u; number < count; number += 1u) {
            values_out[at + number] = sampled[number];
        }
        displace_values(channel.output, count, at);
    }
}
