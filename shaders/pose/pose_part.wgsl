//! What a clip gives for a part of a joint: for the kernels that pose, and for the one of root motion. Each says where search
//! results come from, by a `pose_span` of its own.

/// A clip at a time.
struct Sampler {
    /// Words: the clip's record.
    clip: u32,
    /// Where the search results of its timelines begin in workgroup memory.
    first_span: u32,
    /// How many of them are there.
    span_count: u32,
    time: Time,
}

/// Finds the keys of one of a clip's timelines.
fn pose_search(clip: u32, index: u32, time: Time) -> Span {
    return search_timeline(timeline_load(clip_load(clip).timelines + index * TIMELINE_WORDS), time);
}

/// The channel of a joint's translation, rotation or scale: part 0, 1 or 2.
fn pose_channel(part: u32, joint: u32, sampler: Sampler) -> Channel {
    let index = part * batch.skeleton.joint_count + joint;
    return channel_load(clip_load(sampler.clip).channels + CHANNEL_WORDS * index);
}

/// A joint's translation, rotation or scale at rest.
fn pose_rest(part: u32, joint: u32) -> vec4<f32> {
    return values[batch.skeleton.rest + part * batch.skeleton.joint_count + joint];
}

/// A joint's translation, rotation or scale, by its channel.
///
/// A part whose numbers are driven one by one is sampled three times; one loop, so that the kernel has what searches and
/// samples but once for each part.
fn pose_part(part: u32, joint: u32, channel: Channel, sampler: Sampler) -> vec4<f32> {
    let mode = sample_mode(channel.sampler);
    if mode == MODE_REST {
        return pose_rest(part, joint);
    }
    if mode == MODE_CONSTANT {
        return values[channel.values];
    }
    let split = HAS_BEYOND_GLTF && (mode & ~MODE_EULER) == MODE_SPLIT;
    let euler = HAS_BEYOND_GLTF && (mode & MODE_EULER) != 0u;
    var single = channel;
    var found: vec4<f32>;
    for (var component = 0u; component < select(1u, 3u, split); component += 1u) {
        if split {
            single = channel_load(channel.values + CHANNEL_WORDS * component);
        }
        let sampled = pose_sample(single, sampler, part == 1u && !split && !euler);
        if !split {
            found = sampled;
        } else {
            found[component] = sampled.x;
        }
    }
    if euler {
        return quat_from_euler_angles(found.xyz);
    }
    return found;
}

/// A joint's translation, rotation and scale, and for each whether it is from a curve, not at rest.
struct Local {
    translation: vec4<f32>,
    rotation: vec4<f32>,
    scale: vec4<f32>,
    moved: bool,
    turned: bool,
    scaled: bool,
}

/// A joint at rest.
fn pose_local_rest(joint: u32) -> Local {
    return Local(pose_rest(0u, joint), pose_rest(1u, joint), pose_rest(2u, joint), false, false, false);
}

/// What a clip gives for a joint, and of its root joint, whose record is at `root`, what does not move the instance.
fn pose_local(joint: u32, root: u32, sampler: Sampler) -> Local {
    let moved = pose_channel(0u, joint, sampler);
    let turned = pose_channel(1u, joint, sampler);
    let scaled = pose_channel(2u, joint, sampler);
    var local = Local(
        pose_part(0u, joint, moved, sampler),
        pose_part(1u, joint, turned, sampler),
        pose_part(2u, joint, scaled, sampler),
        sample_mode(moved.sampler) != MODE_REST,
        sample_mode(turned.sampler) != MODE_REST,
        sample_mode(scaled.sampler) != MODE_REST,
    );
    if root_is(root, joint) {
        let record = root_load(root);
        if local.moved {
            local.translation = root_take_out(record, 0u, local.translation, local.rotation);
        }
        if local.turned {
            local.rotation = root_take_out(record, 1u, local.rotation, local.rotation);
        }
    }
    return local;
}

/// What a channel of keys gives, or of one value.
fn pose_sample(channel: Channel, sampler: Sampler, rotation: bool) -> vec4<f32> {
    let mode = sample_mode(channel.sampler) & ~MODE_EULER;
    if HAS_BEYOND_GLTF && mode == MODE_CONSTANT {
        return values[channel.values];
    }
    let span = pose_span(channel.sampler, sampler);
    return sample_any(channel.values, mode, span, rotation);
}
