// Needs: blend, displace | displace_nothing, phase, pose_common, pose_joint, pose_part, quat, sample, search
// Needs: value
//! The pose pass for instances of several layers, or of one layer that needs mixing.
//!
//! Its stages: phase, search, sample, blend, hierarchy, skin. `play.wgsl` does the phase, and where layers only blend
//! the search of clips with one timeline.

/// A layer at a tick.
struct Played {
    /// The offset of the clip's record in the words.
    clip: u32,
    /// The weight of the layer times the factor of its fades.
    weight: f32,
    /// The mode: blend, override or additive.
    mode: u32,
    /// The offset of the mask in the words, one weight per joint; `NONE` is a weight of 1 for all joints.
    mask: u32,
    /// The clip time.
    time: Time,
}

/// The weighted sums of the layers that blend, at a joint.
struct JointBlend {
    translation: Blend,
    rotation: Blend,
    scale: Blend,
}

/// The number of passes over the layers: one for layers that blend, one for layers that override or add.
const LAYERS_PASSES: u32 = select(1u, 2u, LAYERS_OVER);
/// The most samples of a layer: at its own time, and at time 0, the reference of some additive layers.
const LAYERS_SAMPLES: u32 = select(1u, 2u, LAYERS_OVER);

/// The layers at the tick of the frame, `layer_count` per instance.
var<workgroup> played: array<Played, PLAYED_CAPACITY>;

/// Poses an instance by its lanes.
@compute @workgroup_size(WORKGROUP_SIZE)
fn pose(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) invocation: u32) {
    // The lanes of a workgroup end together, so that none of them keeps a pose of zeros.
    if SKINS_ONLY && ONE_INSTANCE && group.y * batch.groups_per_row + group.x >= batch.instance_count {
        return;
    }
    let share = pose_share(group, invocation);
    let first_layer = share.index_in_group * batch.layer_count;
    if share.present {
        displace_begin(share);
        if ONE_INSTANCE {
            // A workgroup has more lanes than an instance has layers.
            if share.lane < batch.layer_count {
                layers_play(share.instance, share.lane, first_layer);
            }
        } else {
            for (var index = share.lane; index < batch.layer_count; index += pose_lane_count()) {
                layers_play(share.instance, index, first_layer);
            }
        }
    }
    workgroupBarrier();
    if !SPANS_IN_LAYERS {
        if share.present {
            layers_search(first_layer, share.lane);
        }
        workgroupBarrier();
    }

    if share.present {
        layers_joints(share, first_layer);
        if !SKINS_ONLY {
            for (var index = share.lane; index < batch.value_count; index += pose_lane_count()) {
                layers_value(batch.first_value + index, share.instance * batch.value_count + index, first_layer);
            }
        }
    }
    pose_finish(share);
}

/// Writes a layer of an instance at the tick of the frame, by its index, to workgroup memory.
fn layers_play(instance: u32, index: u32, first_layer: u32) {
    let layer = layers[instance * batch.layer_count + index];
    let weight = layer.weight * blend_ramp(layer, frame);
    played[first_layer + index] =
        Played(layer.clip, weight, layer.mode & LAYER_MODE, layer.mask, pose_time(layer));
    if SPANS_IN_LAYERS {
        spans[first_layer + index] = pose_span_of_layer(layer);
    }
}

/// Poses all joints, or the requested number of joints. The others are at rest.
fn layers_joints(share: Share, first_layer: u32) {
    if LANE_PER_JOINT {
        if share.lane < batch.skeleton.joint_count {
            layers_one_joint(share.lane, share, first_layer);
        }
        return;
    }
    for (var index = share.lane; index < batch.skeleton.joint_count; index += pose_lane_count()) {
        layers_one_joint(index, share, first_layer);
    }
}

/// Poses a joint by its index.
fn layers_one_joint(index: u32, share: Share, first_layer: u32) {
    let joint = pose_joint(index, share);
    let sampled = SKINS_ONLY || index < share.joints;
    pose_store(joint, share, displace_joint(joint, sampled, layers_joint(joint, first_layer, sampled)));
}

/// Searches the timelines of all layers of an instance, for each sample.
fn layers_search(first_layer: u32, lane: u32) {
    let span_count = LAYERS_SAMPLES * batch.layer_count * batch.span_count;
    for (var index = lane; index < span_count; index += pose_lane_count()) {
        let sample = index / batch.span_count % LAYERS_SAMPLES;
        let layer_index = first_layer + index / (LAYERS_SAMPLES * batch.span_count);
        let layer = played[layer_index];
        let timeline = index % batch.span_count;
        let needed = layer.weight > 0.0 && sample < layers_samples(layer);
        if needed && timeline < clip_load(layer.clip).timeline_count {
            let sampler = layers_sampler(layer_index, layer, sample);
            spans[sampler.first_span + timeline] = pose_search(sampler.clip, timeline, sampler.time);
        }
    }
}

/// The sampler of a layer, by its index in `played`: for sample 0 at its own time, for sample 1 at time 0.
fn layers_sampler(layer_index: u32, layer: Played, sample: u32) -> Sampler {
    let first_span = (LAYERS_SAMPLES * layer_index + sample) * batch.span_count;
    let second = sample == 1u;
    let time = Time(select(layer.time.high, 0.0, second), select(layer.time.low, 0.0, second));
    var span: Span;
    if SPANS_IN_LAYERS {
        span = spans[layer_index];
    }
    return Sampler(layer.clip, first_span, batch.span_count, time, span);
}

/// The number of samples of a layer: one, and one more if its reference is the clip at time 0.
fn layers_samples(layer: Played) -> u32 {
    return select(1u, LAYERS_SAMPLES, layer.mode == LAYER_ADD_FIRST);
}

/// The weight of a layer at a joint.
fn layers_weight(layer: Played, joint: u32) -> f32 {
    if layer.mask == NONE {
        return layer.weight;
    }
    return layer.weight * bitcast<f32>(words[layer.mask + joint]);
}

/// The local transform of a joint; the rest pose if `sampled` is false.
///
/// The layers that blend come first, then the others, in one loop, so that the kernel contains the code that samples
/// once. The loop tests its condition at the end: with a test at the start, a software renderer runs the body once more
/// than needed. A kernel for two layers that blend has no loop.
fn layers_joint(joint: u32, first_layer: u32, sampled: bool) -> Local {
    if TWO_LAYERS {
        return layers_mean_or_rest(layers_of_two(joint, first_layer), joint);
    }
    var sum = JointBlend(BLEND_NOTHING, BLEND_NOTHING, BLEND_NOTHING);
    var rest: Local;
    if LAYERS_OVER {
        rest = pose_local_rest(joint);
    }
    var below = rest;
    var step = 0u;
    loop {
        let over = LAYERS_OVER && step >= batch.layer_count;
        if LAYERS_OVER && step == batch.layer_count {
            below = layers_mean_joint(sum, rest);
        }
        let layer_index = first_layer + select(step, step - batch.layer_count, over);
        let layer = played[layer_index];
        let weight = select(0.0, layers_weight(layer, joint), sampled);
        if weight > 0.0 && over != (layer.mode == LAYER_BLEND) {
            let root = clip_load(layer.clip).root;
            var value: Local;
            var reference = rest;
            var sample = 0u;
            loop {
                let local = pose_local(joint, root, layers_sampler(layer_index, layer, sample));
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
    if LAYERS_OVER {
        return below;
    }
    return layers_mean_or_rest(sum, joint);
}

/// The sums of two layers that blend.
fn layers_of_two(joint: u32, first_layer: u32) -> JointBlend {
    var sum = JointBlend(BLEND_NOTHING, BLEND_NOTHING, BLEND_NOTHING);
    let first = layers_weight(played[first_layer], joint);
    if first > 0.0 {
        sum = layers_begin_joint(layers_local(joint, first_layer), first);
    }
    let second = layers_weight(played[first_layer + 1u], joint);
    if second > 0.0 {
        sum = layers_add_joint(sum, layers_local(joint, first_layer + 1u), second);
    }
    return sum;
}

/// The local transform of a joint by a layer, by its index in `played`.
fn layers_local(joint: u32, layer_index: u32) -> Local {
    let layer = played[layer_index];
    return pose_local(joint, clip_load(layer.clip).root, layers_sampler(layer_index, layer, 0u));
}

/// The means of the layers of a kernel whose layers only blend.
fn layers_mean_or_rest(sum: JointBlend, joint: u32) -> Local {
    // Most blends need no rest pose.
    if min(sum.translation.weight, min(sum.rotation.weight, sum.scale.weight)) < BLEND_MIN_WEIGHT {
        return layers_mean_joint(sum, pose_local_rest(joint));
    }
    return Local(
        sum.translation.mixed / sum.translation.weight,
        quat_normalize(sum.rotation.mixed, sum.rotation.first),
        sum.scale.mixed / sum.scale.weight,
        false,
        false,
        false,
    );
}

/// The means of the layers that blend.
fn layers_mean_joint(sum: JointBlend, rest: Local) -> Local {
    var mean = rest;
    mean.translation = blend_mean(sum.translation, rest.translation);
    mean.rotation = blend_mean_rotation(sum.rotation, rest.rotation);
    mean.scale = blend_mean(sum.scale, rest.scale);
    return mean;
}

/// The sums of one layer.
fn layers_begin_joint(value: Local, weight: f32) -> JointBlend {
    return JointBlend(
        blend_begin(value.translation, select(0.0, weight, value.moved)),
        blend_begin_rotation(value.rotation, select(0.0, weight, value.turned)),
        blend_begin(value.scale, select(0.0, weight, value.scaled)),
    );
}

/// Adds the parts for which a layer that blends has curves, and the others with no weight: that costs less than
/// branches.
fn layers_add_joint(sum: JointBlend, value: Local, weight: f32) -> JointBlend {
    return JointBlend(
        blend_add(sum.translation, value.translation, select(0.0, weight, value.moved)),
        blend_add_rotation(sum.rotation, value.rotation, select(0.0, weight, value.turned)),
        blend_add(sum.scale, value.scale, select(0.0, weight, value.scaled)),
    );
}

/// Applies an override or additive layer to the parts for which it has curves.
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

/// The mean of the layers that blend, for a rotation or for numbers.
fn layers_mean(sum: Blend, rest: vec4<f32>, turns: bool) -> vec4<f32> {
    if turns {
        return blend_mean_rotation(sum, rest);
    }
    return blend_mean(sum, rest);
}

/// Adds a layer that blends, to a rotation or to numbers.
fn layers_add(sum: Blend, value: vec4<f32>, weight: f32, turns: bool) -> Blend {
    if turns {
        return blend_add_rotation(sum, value, weight);
    }
    return blend_add(sum, value, weight);
}

/// Applies an override or additive layer to a rotation or to numbers.
fn layers_over(
    below: vec4<f32>,
    mode: u32,
    weight: f32,
    value: vec4<f32>,
    reference: vec4<f32>,
    turns: bool,
) -> vec4<f32> {
    if turns {
        return blend_over_rotation(below, mode, weight, value, reference);
    }
    return blend_over(below, mode, weight, value, reference, false);
}

/// Writes a morph weight or a number of a property. A property that is a rotation is written whole, for its first
/// number.
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
        let layer_index = first_layer + select(step, step - batch.layer_count, over);
        let layer = played[layer_index];
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
            let sampled = layers_number(number, channel, layers_sampler(layer_index, layer, sample));
            if sample == 0u {
                value = sampled;
            } else {
                reference = sampled;
            }
        }
        if over {
            below = layers_over(below, layer.mode, weight, value, reference, turns);
        } else {
            sum = layers_add(sum, value, weight, turns);
        }
    }
    if !LAYERS_OVER {
        below = layers_mean(sum, rest, turns);
    }
    below = displace_value(number, turns, below);
    values_out[at] = below.x;
    if turns {
        values_out[at + 1u] = below.y;
        values_out[at + 2u] = below.z;
        values_out[at + 3u] = below.w;
    }
}

/// The weight of a layer for a number: the weight of its joint if it is a morph weight.
fn layers_value_weight(layer: Played, kind: u32) -> f32 {
    if kind == VALUE_NUMBER || kind == VALUE_ROTATION {
        return layer.weight;
    }
    return layers_weight(layer, kind);
}

/// The channel of a clip that holds a number.
fn layers_value_channel(number: u32, clip: u32) -> ValueChannel {
    let found = clip_load(clip);
    return value_channel_load(found.value_channels + VALUE_CHANNEL_WORDS * words[found.value_table + number]);
}

/// A number at rest in the first component, or a whole rotation at rest.
fn layers_value_rest(number: u32, turns: bool) -> vec4<f32> {
    var rest = vec4(0.0);
    for (var component = 0u; component < select(1u, 4u, turns); component += 1u) {
        let channel = layers_value_channel(number + component, batch.skeleton.rest_clip);
        rest[component] = value_load(channel.values)[number + component - channel.output];
    }
    return rest;
}

/// A sampled number in the first component, or a whole sampled rotation, by the channel that holds it.
fn layers_number(number: u32, channel: ValueChannel, sampler: Sampler) -> vec4<f32> {
    let mode = sample_mode(channel.sampler);
    var span: Span;
    if mode != MODE_CONSTANT {
        span = pose_span(channel.sampler, sampler);
    }
    if mode == MODE_CUSTOM {
        let result = custom_number(channel.shape, channel.values + span.row, span, number - channel.output);
        return vec4(result, 0.0, 0.0, 0.0);
    }
    let rotation = (channel.shape & SHAPE_ROTATION) != 0u;
    let sampled = sample_any(channel.values, mode, 0.0, span, PART_TRANSLATION, rotation);
    if (channel.shape & SHAPE_ROTATION) != 0u {
        return sampled;
    }
    return vec4(sampled[number - channel.output], 0.0, 0.0, 0.0);
}
