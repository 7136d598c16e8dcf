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
    let posed = pose_instance(group, slot);
    let instance = posed.instance;
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
        for (var index = lane; index < batch.skeleton.joint_count; index += batch.lane_count) {
            let joint = pose_joint(index, posed);
            var parts: array<vec4<f32>, 3>;
            for (var part = 0u; part < 3u; part += 1u) {
                parts[part] = layers_part(part, joint, first_layer, index < posed.joints);
            }
            pose_store(joint, instance, base, parts[0], parts[1], parts[2]);
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

/// A joint's translation, rotation or scale, part 0, 1 or 2; at rest where it is not sampled.
///
/// Those layers that blend come first, then the others; one loop, so that the kernel has what samples them but once.
fn layers_part(part: u32, joint: u32, first_layer: u32, sampled: bool) -> vec4<f32> {
    let rest = pose_rest(part, joint);
    var sum = Blend(vec4(0.0), vec4(0.0), 0.0);
    var below = rest;
    let step_count = select(0u, 2u * batch.layer_count, sampled);
    for (var step = 0u; step < step_count; step += 1u) {
        let over = step >= batch.layer_count;
        if step == batch.layer_count {
            below = layers_mean(sum, rest, part == 1u);
        }
        let index = first_layer + step % batch.layer_count;
        let layer = played[index];
        let weight = layers_weight(layer, joint);
        if weight <= 0.0 || over == (layer.mode == LAYER_BLEND) {
            continue;
        }
        var sampler = layers_sampler(index, layer);
        let channel = pose_channel(part, joint, sampler);
        if sample_mode(channel.sampler) == MODE_REST {
            continue;
        }
        let root_place = clip_load(layer.clip).root;
        let rooted = part < 2u && root_is(root_place, joint);
        var root: Root;
        if rooted {
            root = root_load(root_place);
        }
        // What of a root moves the instance along hangs on how it is turned, which is then sampled before.
        let each = select(1u, 2u, rooted && part == 0u && root_turns(root));
        var value: vec4<f32>;
        var reference = rest;
        var rotation = ROOT_STILL.rotation;
        for (var which = 0u; which < each * layers_samples(layer); which += 1u) {
            let last = (which + 1u) % each == 0u;
            let asked = select(1u, part, last);
            var asked_channel = channel;
            if !last {
                asked_channel = pose_channel(1u, joint, sampler);
            }
            var sampled = pose_part(asked, joint, asked_channel, sampler);
            if asked == 1u {
                rotation = sampled;
            }
            if !last {
                continue;
            }
            if rooted {
                sampled = root_take_out(root, part, sampled, rotation);
            }
            if which < each {
                value = sampled;
            } else {
                reference = sampled;
            }
            sampler = layers_reference(layer);
        }
        if over {
            below = layers_over(below, layer.mode, weight, value, reference, part);
        } else {
            sum = layers_add(sum, value, weight, part == 1u);
        }
    }
    return below;
}

/// How often a layer is sampled: once, and once more for what it is compared to.
fn layers_samples(layer: Played) -> u32 {
    return select(1u, 2u, layer.mode == LAYER_ADD_FIRST);
}

/// The mean of what blends, of a rotation or of numbers.
fn layers_mean(sum: Blend, rest: vec4<f32>, turns: bool) -> vec4<f32> {
    if turns {
        return blend_mean_rotation(sum, rest);
    }
    return blend_mean(sum, rest);
}

/// Adds a layer that blends.
fn layers_add(sum: Blend, value: vec4<f32>, weight: f32, turns: bool) -> Blend {
    if turns {
        return blend_add_rotation(sum, value, weight);
    }
    return blend_add(sum, value, weight);
}

/// A layer over what is below: a translation or other numbers as part 0, a rotation as part 1, a scale as part 2.
fn layers_over(
    below: vec4<f32>,
    mode: u32,
    weight: f32,
    value: vec4<f32>,
    reference: vec4<f32>,
    part: u32,
) -> vec4<f32> {
    if part == 1u {
        return blend_over_rotation(below, mode, weight, value, reference);
    }
    return blend_over(below, mode, weight, value, reference, part == 2u);
}

/// A number of morph weights or properties, or a property that is a rotation, at its first number.
fn layers_value(number: u32, at: u32, first_layer: u32) {
    let kind = words[batch.skeleton.value_kinds + number];
    if kind == VALUE_ROTATION_REST {
        return;
    }
    let turns = kind == VALUE_ROTATION;
    let rest = layers_value_rest(number, turns);
    var sum = Blend(vec4(0.0), vec4(0.0), 0.0);
    var below = rest;
    for (var step = 0u; step < 2u * batch.layer_count; step += 1u) {
        let over = step >= batch.layer_count;
        if step == batch.layer_count {
            below = layers_mean(sum, rest, turns);
        }
        let index = first_layer + step % batch.layer_count;
        let layer = played[index];
        let weight = layers_value_weight(layer, kind);
        if weight <= 0.0 || over == (layer.mode == LAYER_BLEND) {
            continue;
        }
        let channel = layers_value_channel(number, layer.clip);
        if sample_mode(channel.sampler) != MODE_CUSTOM && (channel.shape & SHAPE_REST) != 0u {
            continue;
        }
        var sampler = layers_sampler(index, layer);
        var value: vec4<f32>;
        var reference = rest;
        for (var which = 0u; which < layers_samples(layer); which += 1u) {
            let sampled = layers_number(number, channel, sampler);
            if which == 0u {
                value = sampled;
            } else {
                reference = sampled;
            }
            sampler = layers_reference(layer);
        }
        if over {
            below = layers_over(below, layer.mode, weight, value, reference, select(0u, 1u, turns));
        } else {
            sum = layers_add(sum, value, weight, turns);
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

/// A clip's channel that has a number.
fn layers_value_channel(number: u32, clip: u32) -> ValueChannel {
    let found = clip_load(clip);
    return value_channel_load(found.value_channels + VALUE_CHANNEL_WORDS * words[found.value_table + number]);
}

/// A number at rest in the first place, or a rotation whole.
fn layers_value_rest(number: u32, turns: bool) -> vec4<f32> {
    var rest = vec4(0.0);
    for (var component = 0u; component < select(1u, 4u, turns); component += 1u) {
        let channel = layers_value_channel(number + component, batch.skeleton.rest_clip);
        rest[component] = values[channel.values][number + component - channel.output];
    }
    return rest;
}

/// A number in the first place, or a rotation whole, by the channel that has it.
fn layers_number(number: u32, channel: ValueChannel, sampler: Sampler) -> vec4<f32> {
    let mode = sample_mode(channel.sampler);
    var span: Span;
    if mode != MODE_CONSTANT {
        span = pose_span(channel.sampler, sampler);
    }
    if mode == MODE_CUSTOM {
        let made = custom_number(channel.shape, channel.values + span.row, span, number - channel.output);
        return vec4(made, 0.0, 0.0, 0.0);
    }
    let sampled = sample_any(channel.values, mode, span, (channel.shape & SHAPE_ROTATION) != 0u);
    if (channel.shape & SHAPE_ROTATION) != 0u {
        return sampled;
    }
    return vec4(sampled[number - channel.output], 0.0, 0.0, 0.0);
}
