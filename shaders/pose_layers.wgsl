//! The fused pass for instances of several layers, or of one that needs mixing.
//!
//! Its stages are the crate's: phase, search, sample, blend, hierarchy, skin.

/// A layer at a tick.
struct Played {
    /// Words: the clip's record.
    clip: u32,
    /// Layer weight x ramp.
    weight: f32,
    mode: u32,
    /// Words: a weight a joint. None: 1.
    mask: u32,
    time: Time,
}

/// `layer_count` an instance.
var<workgroup> played: array<Played, PLAYED_CAPACITY>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn pose(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) invocation: u32) {
    let slot = invocation / batch.lane_count;
    let lane = invocation % batch.lane_count;
    let group_index = group.y * batch.groups_per_row + group.x;
    let instance = group_index * (WORKGROUP_SIZE / batch.lane_count) + slot;
    let present = instance < batch.instance_count;
    let base = joint_matrix_base(slot, instance);
    let first_layer = slot * batch.layer_count;

    if present {
        for (var index = lane; index < batch.layer_count; index += batch.lane_count) {
            let layer = layers[instance * batch.layer_count + index];
            let time = phase_of_layer(layer, clip_load(layer.clip), frame);
            let weight = layer.weight * blend_ramp(layer, frame);
            played[first_layer + index] = Played(layer.clip, weight, layer.mode & LAYER_MODE, layer.mask, time);
        }
    }
    workgroupBarrier();
    if present {
        for (var index = lane; index < batch.layer_count * batch.span_count; index += batch.lane_count) {
            let layer = played[first_layer + index / batch.span_count];
            let timeline = index % batch.span_count;
            if layer.weight > 0.0 && timeline < clip_load(layer.clip).timeline_count {
                spans[first_layer * batch.span_count + index] = pose_search(layer.clip, timeline, layer.time);
            }
        }
    }
    workgroupBarrier();

    if present {
        for (var joint = lane; joint < batch.skeleton.joint_count; joint += batch.lane_count) {
            let translation = layers_vector(0u, joint, first_layer);
            let rotation = layers_rotation(joint, first_layer);
            let scale = layers_vector(2u, joint, first_layer);
            pose_store(joint, instance, base, translation, rotation, scale);
        }
        for (var index = lane; index < batch.value_count; index += batch.lane_count) {
            layers_value(batch.first_value + index, instance * batch.value_count + index, first_layer);
        }
    }
    pose_finish(base, instance, lane, present);
}

/// What samples a layer.
fn layers_sampler(index: u32, layer: Played) -> Sampler {
    return Sampler(layer.clip, index * batch.span_count, batch.span_count, layer.time);
}

/// What samples the pose that an additive layer is compared to: its clip at time 0, each key searched as it is asked for.
fn layers_reference(layer: Played) -> Sampler {
    return Sampler(layer.clip, 0u, 0u, Time(0.0, 0.0));
}

/// A layer's weight at a joint.
fn layers_weight(layer: Played, joint: u32) -> f32 {
    if layer.mask == NONE {
        return layer.weight;
    }
    return layer.weight * bitcast<f32>(words[layer.mask + joint]);
}

/// A joint's translation or scale, part 0 or 2.
fn layers_vector(part: u32, joint: u32, first_layer: u32) -> vec4<f32> {
    let rest = pose_rest(part, joint);
    var sum = Blend(vec4(0.0), vec4(0.0), 0.0);
    for (var index = first_layer; index < first_layer + batch.layer_count; index += 1u) {
        let layer = played[index];
        let weight = layers_weight(layer, joint);
        if weight > 0.0 && layer.mode == LAYER_BLEND {
            let sampler = layers_sampler(index, layer);
            let channel = pose_channel(part, joint, sampler);
            if sample_mode(channel.sampler) != MODE_REST {
                sum = blend_add(sum, pose_part(part, joint, channel, sampler), weight);
            }
        }
    }
    var below = blend_mean(sum, rest);
    for (var index = first_layer; index < first_layer + batch.layer_count; index += 1u) {
        let layer = played[index];
        let weight = layers_weight(layer, joint);
        if weight > 0.0 && layer.mode != LAYER_BLEND {
            let sampler = layers_sampler(index, layer);
            let channel = pose_channel(part, joint, sampler);
            if sample_mode(channel.sampler) != MODE_REST {
                let value = pose_part(part, joint, channel, sampler);
                var reference = rest;
                if layer.mode == LAYER_ADD_FIRST {
                    reference = pose_part(part, joint, channel, layers_reference(layer));
                }
                below = blend_over(below, layer.mode, weight, value, reference, part == 2u);
            }
        }
    }
    return below;
}

/// A joint's rotation.
fn layers_rotation(joint: u32, first_layer: u32) -> vec4<f32> {
    let rest = pose_rest(1u, joint);
    var sum = Blend(vec4(0.0), vec4(0.0), 0.0);
    for (var index = first_layer; index < first_layer + batch.layer_count; index += 1u) {
        let layer = played[index];
        let weight = layers_weight(layer, joint);
        if weight > 0.0 && layer.mode == LAYER_BLEND {
            let sampler = layers_sampler(index, layer);
            let channel = pose_channel(1u, joint, sampler);
            if sample_mode(channel.sampler) != MODE_REST {
                sum = blend_add_rotation(sum, pose_part(1u, joint, channel, sampler), weight);
            }
        }
    }
    var below = blend_mean_rotation(sum, rest);
    for (var index = first_layer; index < first_layer + batch.layer_count; index += 1u) {
        let layer = played[index];
        let weight = layers_weight(layer, joint);
        if weight > 0.0 && layer.mode != LAYER_BLEND {
            let sampler = layers_sampler(index, layer);
            let channel = pose_channel(1u, joint, sampler);
            if sample_mode(channel.sampler) != MODE_REST {
                let value = pose_part(1u, joint, channel, sampler);
                var reference = rest;
                if layer.mode == LAYER_ADD_FIRST {
                    reference = pose_part(1u, joint, channel, layers_reference(layer));
                }
                below = blend_over_rotation(below, layer.mode, weight, value, reference);
            }
        }
    }
    return below;
}

/// A number of morph weights or properties, or a property that is a rotation, at its first number.
fn layers_value(number: u32, at: u32, first_layer: u32) {
    let kind = words[batch.skeleton.value_kinds + number];
    if kind == VALUE_ROTATION_REST {
        return;
    }
    let rest_clip = batch.skeleton.rest_clip;
    let turns = kind == VALUE_ROTATION;
    let resting = Sampler(rest_clip, 0u, 0u, Time(0.0, 0.0));
    var rest = layers_number(number, resting);
    if turns {
        for (var component = 1u; component < 4u; component += 1u) {
            rest[component] = layers_number(number + component, resting).x;
        }
    }
    var sum = Blend(vec4(0.0), vec4(0.0), 0.0);
    for (var index = first_layer; index < first_layer + batch.layer_count; index += 1u) {
        let layer = played[index];
        let weight = layers_value_weight(layer, kind);
        let sampler = layers_sampler(index, layer);
        if weight > 0.0 && layer.mode == LAYER_BLEND && layers_animates(number, sampler) {
            let value = layers_number(number, sampler);
            if turns {
                sum = blend_add_rotation(sum, value, weight);
            } else {
                sum = blend_add(sum, value, weight);
            }
        }
    }
    var below = blend_mean(sum, rest);
    if turns {
        below = blend_mean_rotation(sum, rest);
    }
    for (var index = first_layer; index < first_layer + batch.layer_count; index += 1u) {
        let layer = played[index];
        let weight = layers_value_weight(layer, kind);
        let sampler = layers_sampler(index, layer);
        if weight > 0.0 && layer.mode != LAYER_BLEND && layers_animates(number, sampler) {
            let value = layers_number(number, sampler);
            var reference = rest;
            if layer.mode == LAYER_ADD_FIRST {
                reference = layers_number(number, layers_reference(layer));
            }
            if turns {
                below = blend_over_rotation(below, layer.mode, weight, value, reference);
            } else {
                below = blend_over(below, layer.mode, weight, value, reference, false);
            }
        }
    }
    values_out[at] = below.x;
    if turns {
        values_out[at + 1u] = below.y;
        values_out[at + 2u] = below.z;
        values_out[at + 3u] = below.w;
    }
}

/// A layer's weight at what a number belongs to.
fn layers_value_weight(layer: Played, kind: u32) -> f32 {
    if kind == VALUE_NUMBER || kind == VALUE_ROTATION {
        return layer.weight;
    }
    return layers_weight(layer, kind);
}

/// The channel that has a number.
fn layers_value_channel(number: u32, sampler: Sampler) -> ValueChannel {
    let clip = clip_load(sampler.clip);
    return value_channel_load(clip.value_channels + VALUE_CHANNEL_WORDS * words[clip.value_table + number]);
}

/// Whether a clip has a track for a number.
fn layers_animates(number: u32, sampler: Sampler) -> bool {
    let channel = layers_value_channel(number, sampler);
    return sample_mode(channel.sampler) == MODE_CUSTOM || (channel.shape & SHAPE_REST) == 0u;
}

/// A number in the first place, or a rotation whole.
fn layers_number(number: u32, sampler: Sampler) -> vec4<f32> {
    let channel = layers_value_channel(number, sampler);
    if sample_mode(channel.sampler) == MODE_CUSTOM {
        let span = pose_span(channel.sampler, sampler);
        let made = custom_number(channel.shape, channel.values + span.row, span, number - channel.output);
        return vec4(made, 0.0, 0.0, 0.0);
    }
    let sampled = pose_value(channel, sampler);
    if (channel.shape & SHAPE_ROTATION) != 0u {
        return sampled;
    }
    return vec4(sampled[number - channel.output], 0.0, 0.0, 0.0);
}
