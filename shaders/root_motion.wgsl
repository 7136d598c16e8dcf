// Needs: blend, phase, pose_part, root_joint, sample, search
//! Root motion: the movement of instances from one tick to another, one invocation per instance.
//!
//! The clip of a layer moves its instance by `G(a)^-1 W^n G(b)`. `G` is the part of the root joint's transform that
//! moves the instance, `a` and `b` are the clip times at the two ticks, `W` is the movement from the start of the
//! played part to its end, and `n` is the number of jumps back to the start. Layers that blend and layers that override
//! are mixed as poses are.

/// For each instance the translation, with 1 in the fourth number if the clip of a layer names a root, and the
/// rotation.
@group(0) @binding(5) var<storage, read_write> root_motion_out: array<vec4<f32>>;

/// Writes the root motion of one instance per invocation.
@compute @workgroup_size(WORKGROUP_SIZE)
fn root_motion(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) invocation: u32) {
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
        let weight = root_motion_weight(layer, root);
        if weight <= 0.0 || mode > LAYER_OVERRIDE || over == (mode == LAYER_BLEND) {
            continue;
        }
        let found = root_motion_of_layer(layer, clip, root);
        if over {
            below.translation = blend_over(below.translation, mode, weight, found.translation, vec4(0.0), false);
            below.rotation = blend_over_rotation(below.rotation, mode, weight, found.rotation, ROOT_STILL.rotation);
        } else {
            moved = blend_add(moved, found.translation, weight);
            turned = blend_add_rotation(turned, found.rotation, weight);
        }
    }
    root_motion_out[2u * instance] = vec4(below.translation.xyz, moves);
    root_motion_out[2u * instance + 1u] = below.rotation;
}

/// The weight of a layer at its root joint, at the end of the step.
fn root_motion_weight(layer: LayerRecord, root: Root) -> f32 {
    let weight = layer.weight * blend_ramp(layer, frame);
    if layer.mask == NONE {
        return weight;
    }
    return weight * bitcast<f32>(words[layer.mask + root.joint]);
}

/// The movement by the clip of a layer.
fn root_motion_of_layer(layer: LayerRecord, clip: ClipRecord, root: Root) -> Rigid {
    if (layer.clock & (CLOCK_PLAYS | CLOCK_DRIVEN)) == 0u {
        return ROOT_STILL;
    }
    // `drive.wgsl` has written the marks of a driven layer.
    var before = Mark(vec2(layer.start_low, layer.start_high), bitcast<i32>(layer.passes_0));
    var now = Mark(vec2(layer.passes_2, layer.passes_3), bitcast<i32>(layer.passes_1));
    if (layer.clock & CLOCK_PLAYS) != 0u {
        before = phase_mark(layer, vec2(frame.from_low, frame.from_high));
        now = phase_mark(layer, vec2(frame.now_low, frame.now_high));
    }
    let loops = now.loops - before.loops;
    let first = vec2(layer.part_start_low, layer.part_start_high);
    let last = phase_add(first, vec2(layer.part_length_low, layer.part_length_high));
    var moments = array(before.position, now.position, first, last);
    var parts = array(ROOT_STILL, ROOT_STILL, ROOT_STILL, ROOT_STILL);
    // Two samples per moment, in one loop, so that the kernel contains the code that searches and samples once.
    for (var index = 0u; index < select(4u, 8u, loops != 0); index += 1u) {
        let moment = index / 2u;
        let part = select(PART_TRANSLATION, PART_ROTATION, index % 2u == 1u);
        let sampler = Sampler(layer.clip, 0u, 0u, phase_time(moments[moment], clip), Span());
        let sampled = pose_part(part, root.joint, pose_channel(part, pose_channels(root.joint, sampler)), sampler);
        if part == PART_TRANSLATION {
            parts[moment].translation = root_translation(root, sampled);
        } else {
            parts[moment].rotation = root_rotation(root, sampled);
        }
    }
    if loops == 0 {
        return root_way(parts[0], parts[1]);
    }
    let way = root_multiply(parts[3], root_inverse(parts[2]));
    return root_way(parts[0], root_multiply(root_power(way, loops), parts[1]));
}

/// The search result of a channel.
fn pose_span(channel_sampler: u32, sampler: Sampler) -> Span {
    return pose_search(sampler.clip, sample_timeline(channel_sampler), sampler.time);
}
