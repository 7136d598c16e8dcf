// Needs: quat, search, value
//! Span to value: keys and fraction to a value (glTF 2.0, appendix C).

/// True if a sampled rotation is only an addend of a weighted mean of rotations. `blend.wgsl` then divides its weight by
/// its length, in place of four numbers. Root motion needs unit length before; a rotation that easings take beyond its
/// keys may have no length.
const ROTATIONS_ARE_SUMMED: bool = BLENDS_ONLY && !HAS_ROOTS && !HAS_BEYOND_GLTF;

/// The mode of a sampler.
fn sample_mode(sampler: u32) -> u32 {
    return sampler & ((1u << MODE_BITS) - 1u);
}

/// The timeline of a sampler, by its index in the clip.
fn sample_timeline(sampler: u32) -> u32 {
    return sampler >> MODE_BITS;
}

/// The keys around a time.
struct Keys {
    /// The value of the key that is hit, or of the last key before the time.
    start: vec4<f32>,
    /// The value of the next key; in mode `MODE_SLERP` the one in the hemisphere of `start`.
    end: vec4<f32>,
    /// The tangent of a spline at the start, towards the end.
    leaving: vec4<f32>,
    /// The tangent at the end, from the start.
    arriving: vec4<f32>,
    /// The factor of numbers that are no rotation: the quantization step of codes, otherwise 1.
    step: f32,
}

/// The elements of the values that hold the keys around a time.
struct KeyElements {
    start: vec4<u32>,
    end: vec4<u32>,
}

/// Loads the keys around a time, without a branch.
fn sample_load(at: u32, mode: u32, span: Span) -> KeyElements {
    let key = at + span.row;
    let next = at + span.row + span.next;
    // The value of a spline's key is between its tangents.
    let value = select(0u, 1u, sample_is_cubic(mode));
    return KeyElements(values[key + value], values[select(next + value, key + 1u, sample_is_slerp(mode))]);
}

/// The keys in loaded elements, and the tangents of a spline. `part` is the part of a joint whose keys may be codes,
/// and `step` their quantization step.
fn sample_keys(loaded: KeyElements, at: u32, mode: u32, step: f32, span: Span, part: u32) -> Keys {
    var keys: Keys;
    keys.step = 1.0;
    keys.start = bitcast<vec4<f32>>(loaded.start);
    keys.end = bitcast<vec4<f32>>(loaded.end);
    if HAS_QUANTIZED && (mode & MODE_QUANTIZED) != 0u {
        keys.start = sample_codes(loaded.start, mode, step, part);
        keys.end = sample_codes(loaded.end, mode, step, part);
        keys.step = step;
    }
    if HAS_SPLINES && mode == MODE_CUBIC {
        keys.leaving = value_load(at + span.row + 2u);
        keys.arriving = value_load(at + span.row + span.next);
    }
    return keys;
}

/// A key of four codes of 16 bits in half of an element. The numbers of a scale may all be the fourth code. A rotation
/// has three codes, multiples of the step; the number that follows from its length of 1 comes last, and
/// `sample_rotation` puts it in its place.
fn sample_codes(found: vec4<u32>, mode: u32, step: f32, part: u32) -> vec4<f32> {
    let pairs = bitcast<vec2<i32>>(select(found.xy, found.zw, (mode & MODE_UPPER) != 0u));
    let codes = vec4<f32>(vec4(pairs.x << 16u, pairs.x, pairs.y << 16u, pairs.y) >> vec4(16u));
    if part == PART_ROTATION {
        let numbers = step * codes.xyz;
        return vec4(numbers, sqrt(max(1.0 - dot(numbers, numbers), 0.0)));
    }
    let scale = select(codes.xyz, codes.www, (mode & MODE_FOURTH) != 0u);
    return vec4(select(codes.xyz, scale, vec3(part == PART_SCALE)), 0.0);
}

/// True for splines. In the condition of an `if`, `HAS_SPLINES` itself removes the branch.
fn sample_is_cubic(mode: u32) -> bool {
    if HAS_SPLINES {
        return mode == MODE_CUBIC;
    }
    return false;
}

/// True for quaternions of any length, which turn along an arc.
fn sample_is_slerp(mode: u32) -> bool {
    if HAS_BEYOND_GLTF {
        return mode == MODE_SLERP;
    }
    return false;
}

/// Up to four numbers, each component by itself, or a quaternion of any length.
fn sample_numbers(keys: Keys, mode: u32, span: Span) -> vec4<f32> {
    let straight = span.interval < 0.0;
    if HAS_SPLINES && mode == MODE_STEP && !straight {
        return keys.start;
    }
    if HAS_BEYOND_GLTF && mode == MODE_SLERP {
        return quat_slerp_as_is(keys.start, keys.end, span.fraction);
    }
    if HAS_SPLINES && mode == MODE_CUBIC && !straight {
        return sample_cubic(keys, span);
    }
    let between = keys.start + (keys.end - keys.start) * span.fraction;
    if HAS_QUANTIZED {
        return between * keys.step;
    }
    return between;
}

/// A rotation, of unit length, unless `ROTATIONS_ARE_SUMMED`.
fn sample_rotation(keys: Keys, mode: u32, span: Span) -> vec4<f32> {
    if HAS_SPLINES && mode == MODE_STEP {
        return quat_normalize(keys.start, keys.start);
    }
    if HAS_SPLINES && mode == MODE_CUBIC {
        return quat_normalize(sample_cubic(keys, span), keys.start);
    }
    var q: vec4<f32>;
    if ROTATIONS_ARE_SUMMED {
        q = quat_slerp_sum(keys.start, keys.end, span.fraction);
    } else {
        q = quat_slerp(keys.start, keys.end, span.fraction);
    }
    if HAS_QUANTIZED {
        // Keys of codes have another number in the place of the last one.
        let swapped = vec3((mode & MODE_SWAPPED)) == MODE_SWAPPED_X * vec3(1u, 2u, 3u);
        let last = select(select(select(q.w, q.x, swapped.x), q.y, swapped.y), q.z, swapped.z);
        return vec4(select(q.xyz, q.www, swapped), last);
    }
    return q;
}

/// A rotation, or numbers. `part` is the part of a joint whose keys may be codes, and `step` their step.
fn sample_any(at: u32, mode: u32, step: f32, span: Span, part: u32, rotation: bool) -> vec4<f32> {
    if mode == MODE_CONSTANT {
        return value_load(at);
    }
    let keys = sample_keys(sample_load(at, mode, span), at, mode, step, span, part);
    if rotation {
        return sample_rotation(keys, mode, span);
    }
    return sample_numbers(keys, mode, span);
}

/// A cubic Hermite spline.
///
/// `(2 t^3 - 3 t^2 + 1) v + d (t^3 - 2 t^2 + t) b + (-2 t^3 + 3 t^2) v' + d (t^3 - t^2) a'`, written as the value of
/// the start plus a difference, so that no digits are lost near the start.
fn sample_cubic(keys: Keys, span: Span) -> vec4<f32> {
    let t = span.fraction;
    let u = 1.0 - t;
    let leaving = keys.leaving * (span.interval * t * u * u);
    let arriving = keys.arriving * (span.interval * t * t * u);
    return keys.start + (keys.end - keys.start) * (t * t * (3.0 - 2.0 * t)) + leaving - arriving;
}
