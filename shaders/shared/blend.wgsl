// Needs: phase, quat, sample
//! Rules of mixing: first all layers that blend, by weighted means, then the other layers in order.

/// The weighted sum of the layers that blend.
struct Blend {
    /// The sum of the values by their weights.
    mixed: vec4<f32>,
    /// The first rotation. The others are added in its hemisphere.
    first: vec4<f32>,
    /// The sum of the weights.
    weight: f32,
}

/// The largest factor of a rotation: a little below the largest `f32`.
const BLEND_MAX_WEIGHT: f32 = 3.4e38;

/// The empty sum.
const BLEND_NOTHING: Blend = Blend(vec4(0.0), vec4(0.0), 0.0);

/// Adds numbers, each component by itself.
fn blend_add(sum: Blend, value: vec4<f32>, weight: f32) -> Blend {
    return Blend(sum.mixed + weight * value, sum.first, sum.weight + weight);
}

/// Adds a rotation, of any length if `ROTATIONS_ARE_SUMMED`.
fn blend_add_rotation(sum: Blend, value: vec4<f32>, weight: f32) -> Blend {
    let first = select(sum.first, value, sum.weight == 0.0);
    let part = blend_weight_of_unit(value, weight);
    let signed = select(part, -part, dot(first, value) < 0.0);
    return Blend(sum.mixed + signed * value, first, sum.weight + weight);
}

/// The sum of numbers alone.
fn blend_begin(value: vec4<f32>, weight: f32) -> Blend {
    return Blend(weight * value, vec4(0.0), weight);
}

/// The sum of a rotation alone.
fn blend_begin_rotation(value: vec4<f32>, weight: f32) -> Blend {
    return Blend(blend_weight_of_unit(value, weight) * value, value, weight);
}

/// The weight of a rotation, divided by its length. The largest weights stay finite for keys that are shorter than 1.
fn blend_weight_of_unit(value: vec4<f32>, weight: f32) -> f32 {
    if ROTATIONS_ARE_SUMMED {
        return min(weight * inverseSqrt(dot(value, value)), BLEND_MAX_WEIGHT);
    }
    return weight;
}

/// The mean of numbers. If the weights sum to less than `BLEND_MIN_WEIGHT`, the rest pose fills the remainder.
fn blend_mean(sum: Blend, rest: vec4<f32>) -> vec4<f32> {
    if sum.weight == 0.0 {
        return rest;
    }
    if sum.weight < BLEND_MIN_WEIGHT {
        return (sum.mixed + (BLEND_MIN_WEIGHT - sum.weight) * rest) / BLEND_MIN_WEIGHT;
    }
    return sum.mixed / sum.weight;
}

/// The mean of rotations. If the weights sum to less than `BLEND_MIN_WEIGHT`, the rest pose fills the remainder.
fn blend_mean_rotation(sum: Blend, rest: vec4<f32>) -> vec4<f32> {
    if sum.weight == 0.0 {
        return rest;
    }
    var mixed = sum.mixed;
    if sum.weight < BLEND_MIN_WEIGHT {
        mixed += (BLEND_MIN_WEIGHT - sum.weight) * blend_near(sum.first, rest);
    }
    return quat_normalize(mixed, sum.first);
}

/// Applies an override or additive layer to numbers. If `scale` is true, they are scales, and an additive layer
/// multiplies them.
fn blend_over(
    below: vec4<f32>,
    mode: u32,
    weight: f32,
    value: vec4<f32>,
    reference: vec4<f32>,
    scale: bool,
) -> vec4<f32> {
    if mode == LAYER_OVERRIDE {
        return below + min(weight, 1.0) * (value - below);
    }
    if scale {
        let small = abs(reference) < vec4(BLEND_SMALLEST_SCALE);
        let ratio = select(value / select(reference, vec4(1.0), small), vec4(1.0), small);
        return below * (1.0 + weight * (ratio - 1.0));
    }
    return below + weight * (value - reference);
}

/// Applies an override or additive layer to a rotation.
fn blend_over_rotation(
    below: vec4<f32>,
    mode: u32,
    weight: f32,
    value: vec4<f32>,
    reference: vec4<f32>,
) -> vec4<f32> {
    if mode == LAYER_OVERRIDE {
        return blend_nlerp(below, value, min(weight, 1.0));
    }
    let delta = quat_multiply(reference * vec4(-1.0, -1.0, -1.0, 1.0), value);
    let turned = quat_multiply(below, blend_nlerp(vec4(0.0, 0.0, 0.0, 1.0), delta, weight));
    return quat_normalize(turned, below);
}

/// Interpolates between two rotations the shorter way, along the chord.
fn blend_nlerp(start: vec4<f32>, end: vec4<f32>, weight: f32) -> vec4<f32> {
    return quat_normalize((1.0 - weight) * start + weight * blend_near(start, end), start);
}

/// The rotation, or its negative, that is in the hemisphere of `first`.
fn blend_near(first: vec4<f32>, rotation: vec4<f32>) -> vec4<f32> {
    return select(rotation, -rotation, dot(first, rotation) < 0.0);
}

/// The factor of a layer's weight by its fades, 0 to 1.
fn blend_ramp(layer: LayerRecord, frame_now: Frame) -> f32 {
    let now = vec2(frame_now.now_low, frame_now.now_high);
    var ramp = 1.0;
    if (layer.mode & LAYER_FADES_IN) != 0u {
        let gone = phase_subtract(now, vec2(layer.fade_in_low, layer.fade_in_high));
        ramp *= blend_fade(gone, layer.fade_in_length, (layer.mode & LAYER_SMOOTH_IN) != 0u);
    }
    if (layer.mode & LAYER_FADES_OUT) != 0u {
        let gone = phase_subtract(now, vec2(layer.fade_out_low, layer.fade_out_high));
        ramp *= 1.0 - blend_fade(gone, layer.fade_out_length, (layer.mode & LAYER_SMOOTH_OUT) != 0u);
    }
    return ramp;
}

/// The progress of a fade, 0 to 1, `gone` ticks after its start. Negative ticks give 0.
fn blend_fade(gone: vec2<u32>, length: f32, smooth_ends: bool) -> f32 {
    if gone.y >= 0x80000000u {
        return 0.0;
    }
    var k = 1.0;
    if length > 0.0 {
        k = min((f32(gone.y) * 4294967296.0 + f32(gone.x)) / length, 1.0);
    }
    return select(k, k * k * (3.0 - 2.0 * k), smooth_ends);
}
