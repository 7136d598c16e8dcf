//! What instances move by from one tick to another: an invocation an instance.
//!
//! A layer's clip moves by `G(a)^-1 W^n G(b)`, with the named part `G` of its root joint, and the way `W` from the first moment of
//! what is played to the last, for each of the `n` times that it has jumped back to the first. Layers that blend and those
//! that override are mixed as poses are.

/// Indices, key times and records of the library.
@group(0) @binding(0) var<storage, read> words: array<u32>;
/// Keys, rest poses and inverse bind matrices of the library.
@group(0) @binding(1) var<storage, read> values: array<vec4<f32>>;
/// `layer_count` an instance.
@group(0) @binding(2) var<storage, read> layers: array<LayerRecord>;
/// The step of the clock.
@group(0) @binding(3) var<uniform> frame: Frame;
/// What the instances share.
@group(0) @binding(4) var<uniform> batch: BatchRecord;
/// For each instance the translation, with 1 in the fourth place where a layer's clip names a root, and the rotation.
@group(0) @binding(5) var<storage, read_write> motion_out: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn motion(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) invocation: u32) {
    let instance = (group.y * batch.groups_per_row + group.x) * WORKGROUP_SIZE + invocation;
    if instance >= batch.instance_count {
        return;
    }
    var moved = Blend(vec4(0.0), vec4(0.0), 0.0);
    var turned = Blend(vec4(0.0), vec4(0.0), 0.0);
    var below = ROOT_STILL;
    var moves = 0.0;
    for (var step = 0u; step < 2u * batch.layer_count; step += 1u) {
        let over = step >= batch.layer_count;
        if step == batch.layer_count {
            below.translation = blend_mean(moved, below.translation);
            below.rotation = blend_mean_rotation(turned, below.rotation);
        }
        let layer = layers[instance * batch.layer_count + step % batch.layer_count];
        let clip = clip_load(layer.clip);
        if clip.root == NONE {
            continue;
        }
        moves = 1.0;
        let mode = layer.mode & LAYER_MODE;
        let root = root_load(clip.root);
        let weight = motion_weight(layer, root);
        if weight <= 0.0 || mode > LAYER_OVERRIDE || over == (mode == LAYER_BLEND) {
            continue;
        }
        let found = motion_of_layer(layer, clip, root);
        if over {
            below.translation = blend_over(below.translation, mode, weight, found.translation, vec4(0.0), false);
            below.rotation = blend_over_rotation(below.rotation, mode, weight, found.rotation, ROOT_STILL.rotation);
        } else {
            moved = blend_add(moved, found.translation, weight);
            turned = blend_add_rotation(turned, found.rotation, weight);
        }
    }
    motion_out[2u * instance] = vec4(below.translation.xyz, moves);
    motion_out[2u * instance + 1u] = below.rotation;
}

/// A layer's weight at its root joint, at the end of the step.
fn motion_weight(layer: LayerRecord, root: Root) -> f32 {
    let weight = layer.weight * blend_ramp(layer, frame);
    if layer.mask == NONE {
        return weight;
    }
    return weight * bitcast<f32>(words[layer.mask + root.joint]);
}

/// What a layer's clip moves by.
fn motion_of_layer(layer: LayerRecord, clip: ClipRecord, root: Root) -> Rigid {
    if (layer.clock & CLOCK_PLAYS) == 0u {
        return ROOT_STILL;
    }
    let before = phase_mark(layer, vec2(frame.from_low, frame.from_high));
    let now = phase_mark(layer, vec2(frame.now_low, frame.now_high));
    let laps = now.laps - before.laps;
    let first = vec2(layer.part_start_low, layer.part_start_high);
    let last = phase_add(first, vec2(layer.part_length_low, layer.part_length_high));
    var moments = array(before.position, now.position, first, last);
    var parts = array(ROOT_STILL, ROOT_STILL, ROOT_STILL, ROOT_STILL);
    // Two samples of each moment that is needed; one loop, so that the kernel has what searches and samples but once.
    for (var which = 0u; which < select(4u, 8u, laps != 0); which += 1u) {
        let moment = which / 2u;
        let part = which % 2u;
        let sampler = Sampler(layer.clip, 0u, 0u, phase_time(moments[moment], clip));
        let sampled = pose_part(part, root.joint, pose_channel(part, root.joint, sampler), sampler);
        if part == 0u {
            parts[moment].translation = root_translation(root, sampled);
        } else {
            parts[moment].rotation = root_rotation(root, sampled);
        }
    }
    if laps == 0 {
        return root_way(parts[0], parts[1]);
    }
    let way = root_multiply(parts[3], root_inverse(parts[2]));
    return root_way(parts[0], root_multiply(root_power(way, laps), parts[1]));
}

/// The search result that a channel needs.
fn pose_span(channel_sampler: u32, sampler: Sampler) -> Span {
    return pose_search(sampler.clip, sample_timeline(channel_sampler), sampler.time);
}
