//! The fused pass for instances of several layers, or of one that needs mixing.
//!
//! Its stages are the crate's: phase, search, sample, blend, hierarchy, skin.

/// A layer at a tick.
struct Played {
    /// Words: the clip's record.
    clip: u32,
    /// LayerRecord weight x ramp.
    weight: f32,
    mode: u32,
    /// Words: a weight a joint. None: 1.
    mask: u32,
    time: Time,
}

/// What blended layers have summed up to at a joint.
struct JointBlend {
    translation: Blend,
    rotation: Blend,
    scale: Blend,
}

/// How often layers are gone through: those that blend, and, where there are any, those that override or add.
const LAYERS_PASSES: u32 = select(1u, 2u, LAYERS_OVER);
/// How often a layer is sampled at most: at its own time, and at time 0, which one that adds may be compared to.
const LAYERS_SAMPLES: u32 = select(1u, 2u, LAYERS_OVER);

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
    instance_barrier();
    if present {
        let span_count = LAYERS_SAMPLES * batch.layer_count * batch.span_count;
        for (var index = lane; index < span_count; index += batch.lane_count) {
            let sample = index / batch.span_count % LAYERS_SAMPLES;
            let place = first_layer + index / (LAYERS_SAMPLES * batch.span_count);
            let layer = played[place];
            let timeline = index % batch.span_count;
            let wanted = layer.weight > 0.0 && sample < layers_samples(layer);
            if wanted && timeline < clip_load(layer.clip).timeline_count {
                let sampler = layers_sampler(place, layer, sample);
                spans[sampler.first_span + timeline] = pose_search(sampler.clip, timeline, sampler.time);
            }
        }
    }
    instance_barrier();

    if present {
        for (var index = lane; index < batch.skeleton.joint_count; index += batch.lane_count) {
            let joint = pose_joint(index, posed);
            pose_store(joint, instance, base, layers_joint(joint, first_layer, index < posed.joints));
        }
        for (var index = lane; index < batch.value_count; index += batch.lane_count) {
            layers_value(batch.first_value + index, instance * batch.value_count + index, first_layer);
        }
    }
    pose_finish(base, instance, lane, present);
}

/// What samples a layer, by its place among the played: at its own time, and the second time at time 0.
fn layers_sampler(place: u32, layer: Played, sample: u32) -> Sampler {
    let first_span = (LAYERS_SAMPLES * place + sample) * batch.span_count;
    let second = sample == 1u;
    let time = Time(select(layer.time.high, 0.0, second), select(layer.time.low, 0.0, second));
    return Sampler(layer.clip, first_span, batch.span_count, time);
}

/// How often a layer is sampled: once, and once more for what it is compared to.
fn layers_samples(layer: Played) -> u32 {
    return select(1u, LAYERS_SAMPLES, layer.mode == LAYER_ADD_FIRST);
}

/// A layer's weight at a joint.
fn layers_weight(layer: Played, joint: u32) -> f32 {
    if layer.mask == NONE {
        return layer.weight;
    }
    return layer.weight * bitcast<f32>(words[layer.mask + joint]);
}

/// A joint, at rest where it is not sampled.
///
/// Those layers that blend come first, then the others; one loop, so that the kernel has what samples them but once. It asks at
/// its end whether it goes on: a software renderer runs its body once in vain where it is asked before.
fn layers_joint(joint: u32, first_layer: u32, sampled: bool) -> Local {
    let rest = pose_local_rest(joint);
    var sum = JointBlend(BLEND_NOTHING, BLEND_NOTHING, BLEND_NOTHING);
    var below = rest;
    var step = 0u;
    loop {
        let over = LAYERS_OVER && step >= batch.layer_count;
        if LAYERS_OVER && step == batch.layer_count {
            below = layers_mean_joint(sum, rest);
        }
        let place = first_layer + select(step, step - batch.layer_count, over);
        let layer = played[place];
        let weight = select(0.0, layers_weight(layer, joint), sampled);
        if weight > 0.0 && over != (layer.mode == LAYER_BLEND) {
            let root = clip_load(layer.clip).root;
            var value: Local;
            var reference = rest;
            var sample = 0u;
            loop {
                let local = pose_local(joint, root, layers_sampler(place, layer, sample));
                if sample == 0u {
                    value = local;
                } else {
                    reference = local;
                }
                sample += 1u;
                if sample >= layers_samples(layer) {
                    break;
                }
            }
            if over {
                below = layers_over_joint(below, layer.mode, weight, value, reference);
            } else {
                sum = layers_add_joint(sum, value, weight);
            }
        }
        step += 1u;
        if step >= LAYERS_PASSES * batch.layer_count {
            break;
        }
    }
    if !LAYERS_OVER {
        below = layers_mean_joint(sum, rest);
    }
    return below;
}

/// The means of what blends.
fn layers_mean_joint(sum: JointBlend, rest: Local) -> Local {
    var mean = rest;
    mean.translation = blend_mean(sum.translation, rest.translation);
    mean.rotation = blend_mean_rotation(sum.rotation, rest.rotation);
    mean.scale = blend_mean(sum.scale, rest.scale);
    return mean;
}

/// Adds what a layer that blends has curves for.
fn layers_add_joint(sum: JointBlend, value: Local, weight: f32) -> JointBlend {
    var added = sum;
    if value.moved {
        added.translation = blend_add(sum.translation, value.translation, weight);
    }
    if value.turned {
        added.rotation = blend_add_rotation(sum.rotation, value.rotation, weight);
    }
    if value.scaled {
        added.scale = blend_add(sum.scale, value.scale, weight);
    }
    return added;
}

/// A layer, as far as it has curves, over what is below.
fn layers_over_joint(below: Local, mode: u32, weight: f32, value: Local, reference: Local) -> Local {
    var mixed = below;
    if value.moved {
        mixed.translation =
            blend_over(below.translation, mode, weight, value.translation, reference.translation, false);
    }
    if value.turned {
        mixed.rotation = blend_over_rotation(below.rotation, mode, weight, value.rotation, reference.rotation);
    }
    if value.scaled {
        mixed.scale = blend_over(below.scale, mode, weight, value.scale, reference.scale, true);
    }
    return mixed;
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
    var sum = BLEND_NOTHING;
    var below = rest;
    for (var step = 0u; step < LAYERS_PASSES * batch.layer_count; step += 1u) {
        let over = LAYERS_OVER && step >= batch.layer_count;
        if LAYERS_OVER && step == batch.layer_count {
            below = layers_mean(sum, rest, turns);
        }
        let place = first_layer + select(step, step - batch.layer_count, over);
        let layer = played[place];
        let weight = layers_value_weight(layer, kind);
        if weight <= 0.0 || over == (layer.mode == LAYER_BLEND) {
            continue;
        }
        let channel = layers_value_channel(number, layer.clip);
        if sample_mode(channel.sampler) != MODE_CUSTOM && (channel.shape & SHAPE_REST) != 0u {
            continue;
        }
        var value: vec4<f32>;
        var reference = rest;
        for (var sample = 0u; sample < layers_samples(layer); sample += 1u) {
            let sampled = layers_number(number, channel, layers_sampler(place, layer, sample));
            if sample == 0u {
                value = sampled;
            } else {
                reference = sampled;
            }
        }
        if over {
            below = layers_over(below, layer.mode, weight, value, reference, select(0u, 1u, turns));
        } else {
            sum = layers_add(sum, value, weight, turns);
        }
    }
    if !LAYERS_OVER {
        below = layers_mean(sum, rest, turns);
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
