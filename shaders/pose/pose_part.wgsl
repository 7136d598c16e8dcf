// Needs: phase, quat, sample, search, value
//! The inputs of the kernels that sample joints, and one part of a joint by a clip: its translation, rotation or scale.
//! The kernels that pose and the kernel of root motion each define a `pose_span`, which returns search results.

/// Indices, key times and records of the library.
@group(0) @binding(0) var<storage, read> words: array<u32>;
/// Keys, rest poses, inverse bind matrices and channels of the library.
@group(0) @binding(1) var<storage, read> values: array<vec4<u32>>;
/// The layers, `batch.layer_count` per instance.
@group(0) @binding(2) var<storage, read> layers: array<LayerRecord>;
/// The step of the clock. Nothing else changes from frame to frame.
@group(0) @binding(3) var<uniform> frame: Frame;
/// The record that all instances of the batch share.
@group(0) @binding(4) var<uniform> batch: BatchRecord;

/// A clip at a time.
struct Sampler {
    /// The offset of the clip's record in the words.
    clip: u32,
    /// The index in workgroup memory of the first search result of its timelines.
    first_span: u32,
    /// The number of its search results in workgroup memory.
    span_count: u32,
    /// The clip time.
    time: Time,
    /// The search result of the only timeline, if `SPANS_IN_LAYERS`.
    span: Span,
}

/// Searches a timeline of a clip, by its index in the clip.
fn pose_search(clip: u32, index: u32, time: Time) -> Span {
    return search_timeline(timeline_load(clip_load(clip).timelines + index * TIMELINE_WORDS), time);
}

/// The channels of a joint. A kernel for clips with one timeline does not load the timelines.
fn pose_channels(joint: u32, sampler: Sampler) -> PartChannels {
    let at = clip_load(sampler.clip).channels + PART_CHANNELS_ELEMENTS * joint;
    var channels = PartChannels(values[at], vec4(0u));
    if !SPANS_IN_LAYERS {
        channels.timelines = values[at + 1u];
    }
    return channels;
}

/// The channel of a joint's translation, rotation or scale, by `PART_TRANSLATION`, `PART_ROTATION` or `PART_SCALE`.
fn pose_channel(part: u32, channels: PartChannels) -> Channel {
    let mode = sample_mode(channels.values.w >> (MODE_BITS * part));
    return Channel(channels.values[part], mode | (channels.timelines[part] << MODE_BITS));
}

/// The quantization steps of the keys of a joint's parts, where they are codes; otherwise any numbers.
fn pose_steps(joint: u32, sampler: Sampler) -> vec4<f32> {
    if HAS_QUANTIZED {
        return value_load(clip_load(sampler.clip).steps + joint);
    }
    return vec4(0.0);
}

/// The translation, rotation or scale of a joint at rest.
fn pose_rest(part: u32, joint: u32) -> vec4<f32> {
    return value_load(batch.skeleton.rest + part * batch.skeleton.joint_count + joint);
}

/// The translation, rotation or scale of a joint, by its channel.
///
/// A part with a channel per number is sampled three times, in one loop, so that the kernel contains the code that
/// searches and samples once per part.
fn pose_part(part: u32, joint: u32, channel: Channel, sampler: Sampler) -> vec4<f32> {
    let mode = sample_mode(channel.sampler);
    if mode <= MODE_CONSTANT {
        return value_load(channel.values);
    }
    let split = HAS_BEYOND_GLTF && (mode & ~MODE_EULER) == MODE_SPLIT;
    let euler = HAS_BEYOND_GLTF && (mode & MODE_EULER) != 0u;
    let step = pose_steps(joint, sampler)[part];
    var single = channel;
    var found: vec4<f32>;
    for (var component = 0u; component < select(1u, 3u, split); component += 1u) {
        if split {
            single = channel_load(channel.values + CHANNEL_WORDS * component);
        }
        let sampled = pose_sample(part, single, step, sampler, part == PART_ROTATION && !split && !euler);
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

/// The value of a channel with keys, or with one constant value.
fn pose_sample(part: u32, channel: Channel, step: f32, sampler: Sampler, rotation: bool) -> vec4<f32> {
    let mode = sample_mode(channel.sampler) & ~MODE_EULER;
    if HAS_BEYOND_GLTF && mode == MODE_CONSTANT {
        return value_load(channel.values);
    }
    let span = pose_span(channel.sampler, sampler);
    return sample_any(channel.values, mode, step, span, part, rotation);
}
