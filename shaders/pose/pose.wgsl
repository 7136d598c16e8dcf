//! The fused pass for instances of one layer that needs no mixing: from ticks to skin matrices without a stop in memory.
//!
//! Its stages are the crate's: phase, search, sample, hierarchy, skin.

@compute @workgroup_size(WORKGROUP_SIZE)
fn pose(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) invocation: u32) {
    let slot = invocation / batch.lane_count;
    let lane = invocation % batch.lane_count;
    let posed = pose_instance(group, slot);
    let instance = posed.instance;
    let present = instance < batch.instance_count;
    let base = joint_matrix_base(slot, instance);

    var sampler = Sampler(0u, slot * batch.span_count, batch.span_count, Time(0.0, 0.0));
    if present {
        let layer = layers[instance];
        let clip = clip_load(layer.clip);
        sampler.clip = layer.clip;
        let span_count = min(clip.timeline_count, batch.span_count);
        // Who searches nothing needs no time.
        if !SPANS_FIT || lane < span_count {
            sampler.time = phase_of_layer(layer, clip, frame);
        }
        for (var index = lane; index < span_count; index += batch.lane_count) {
            spans[sampler.first_span + index] = pose_search(layer.clip, index, sampler.time);
        }
    }
    instance_barrier();

    if present {
        pose_joints(sampler, posed, base, lane);
        pose_values(sampler, instance, lane);
    }
    pose_finish(base, instance, lane, present);
}

/// Samples all joints, or as many as are wanted: the others stand in the clip without tracks.
fn pose_joints(whole: Sampler, posed: Posed, base: u32, lane: u32) {
    let root = clip_load(whole.clip).root;
    var sampler = whole;
    for (var index = lane; index < batch.skeleton.joint_count; index += batch.lane_count) {
        let joint = pose_joint(index, posed);
        sampler.clip = select(batch.skeleton.rest_clip, whole.clip, index < posed.joints);
        let local = pose_local(joint, root, sampler);
        pose_store(joint, posed.instance, base, local);
    }
}

/// Samples the morph weights and properties that are wanted.
fn pose_values(sampler: Sampler, instance: u32, lane: u32) {
    let clip = clip_load(sampler.clip);
    let first_channel = select(0u, clip.weight_channel_count, batch.first_value > 0u);
    let end = batch.first_value + batch.value_count;
    let weights_only = end <= batch.skeleton.weight_count;
    let channel_count = select(clip.value_channel_count, clip.weight_channel_count, weights_only);
    for (var index = first_channel + lane; index < channel_count; index += batch.lane_count) {
        let channel = value_channel_load(clip.value_channels + VALUE_CHANNEL_WORDS * index);
        let at = instance * batch.value_count + channel.output - batch.first_value;
        let mode = sample_mode(channel.sampler);
        var span: Span;
        if mode != MODE_CONSTANT {
            span = pose_span(channel.sampler, sampler);
        }
        if mode == MODE_CUSTOM {
            custom_write(channel.shape, channel.values + span.row, span, at);
            continue;
        }
        let sampled = sample_any(channel.values, mode, span, (channel.shape & SHAPE_ROTATION) != 0u);
        let count = channel.shape & (SHAPE_ROTATION - 1u);
        for (var number = 0u; number < count; number += 1u) {
            values_out[at + number] = sampled[number];
        }
    }
}
