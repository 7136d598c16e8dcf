// Needs: pose_part, root_joint, sample, search
//! The local transform of a joint by a clip, for the kernels that pose.
//!
//! Where keys are glTF's, the keys of translation, rotation and scale are loaded before any of them is computed, without
//! a branch: a part at rest has the rest pose as both of its keys. A compiler does not move loads out of a branch, so
//! that three branches would wait three times.

/// True if the keys of all parts of a joint are loaded before any part is computed, without a branch. A compiler does
/// not move loads out of a branch, so that a GPU would wait for the loads of each part in turn. The other kernels have
/// more to load than keys: single numbers, or search results that found no room.
const KEYS_FIRST: bool = SPANS_FIT && !HAS_BEYOND_GLTF;

/// The translation, rotation and scale of a joint. A flag for each is true if it comes from a curve, not from the rest
/// pose.
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
    return Local(
        pose_rest(PART_TRANSLATION, joint),
        pose_rest(PART_ROTATION, joint),
        pose_rest(PART_SCALE, joint),
        false,
        false,
        false,
    );
}

/// The local transform of a joint by a clip. The root joint, whose record is at `root`, loses the part that moves the
/// instance.
fn pose_local(joint: u32, root: u32, sampler: Sampler) -> Local {
    let channels = pose_channels(joint, sampler);
    let moved = pose_channel(PART_TRANSLATION, channels);
    let turned = pose_channel(PART_ROTATION, channels);
    let scaled = pose_channel(PART_SCALE, channels);
    var local = Local(
        vec4(0.0),
        vec4(0.0),
        vec4(0.0),
        sample_mode(moved.sampler) != MODE_REST,
        sample_mode(turned.sampler) != MODE_REST,
        sample_mode(scaled.sampler) != MODE_REST,
    );
    if KEYS_FIRST {
        let move_keys = pose_keys(moved, sampler);
        let scale_keys = pose_keys(scaled, sampler);
        let turn_keys = pose_keys(turned, sampler);
        let steps = pose_steps(joint, sampler);
        // The rotation comes last, because it needs the most registers.
        local.translation = pose_between(PART_TRANSLATION, move_keys, moved, steps, sampler);
        local.scale = pose_between(PART_SCALE, scale_keys, scaled, steps, sampler);
        local.rotation = pose_between(PART_ROTATION, turn_keys, turned, steps, sampler);
    } else {
        local.translation = pose_part(PART_TRANSLATION, joint, moved, sampler);
        local.rotation = pose_part(PART_ROTATION, joint, turned, sampler);
        local.scale = pose_part(PART_SCALE, joint, scaled, sampler);
    }
    if HAS_ROOTS && root_is(root, joint) {
        let record = root_load(root);
        if local.moved {
            local.translation = root_take_out(record, PART_TRANSLATION, local.translation, local.rotation);
        }
        if local.turned {
            local.rotation = root_take_out(record, PART_ROTATION, local.rotation, local.rotation);
        }
    }
    return local;
}

/// The keys of a part of a joint. A part at rest, or with one constant value, has that as its keys.
fn pose_keys(channel: Channel, sampler: Sampler) -> KeyElements {
    let mode = sample_mode(channel.sampler);
    var span = pose_span(channel.sampler, sampler);
    if mode <= MODE_CONSTANT {
        span = Span();
    }
    return sample_load(channel.values, mode, span);
}

/// The value of a part of a joint between its keys. The value of a constant part is computed, too: a branch would keep
/// the parts apart. Between equal keys it is the constant; it is dropped where the search result may be any bits,
/// because no lane has written it.
fn pose_between(part: u32, loaded: KeyElements, channel: Channel, steps: vec4<f32>, sampler: Sampler) -> vec4<f32> {
    let mode = sample_mode(channel.sampler);
    let span = pose_span(channel.sampler, sampler);
    let keys = sample_keys(loaded, channel.values, mode, steps[part], span, part);
    var value: vec4<f32>;
    if part == PART_ROTATION {
        value = sample_rotation(keys, mode, span);
    } else {
        value = sample_numbers(keys, mode, span);
    }
    if SPANS_IN_LAYERS {
        return value;
    }
    return select(value, keys.start, mode <= MODE_CONSTANT);
}
