//! Key and fraction to value (glTF 2.0, appendix C).

/// The mode of a sampler.
fn sample_mode(sampler: u32) -> u32 {
    return sampler & ((1u << MODE_BITS) - 1u);
}

/// The timeline of a sampler, by its index in the clip.
fn sample_timeline(sampler: u32) -> u32 {
    return sampler >> MODE_BITS;
}

/// Up to four numbers, each for itself, or a quaternion of any length.
fn sample_numbers(at: u32, mode: u32, span: Span) -> vec4<f32> {
    if mode == MODE_CONSTANT {
        return values[at];
    }
    let key = at + span.row;
    let straight = span.interval < 0.0;
    if USES_SPLINES && mode == MODE_STEP && !straight {
        return values[key];
    }
    if USES_BEYOND_GLTF && mode == MODE_SLERP {
        return quat_slerp_as_is(values[key], values[key + 1u], span.fraction);
    }
    if USES_SPLINES && mode == MODE_CUBIC {
        if straight {
            return sample_line(key + 1u, key + span.next + 1u, span.fraction);
        }
        return sample_cubic(key, span);
    }
    return sample_line(key, key + span.next, span.fraction);
}

/// Part of the way from one value to another.
fn sample_line(start: u32, end: u32, fraction: f32) -> vec4<f32> {
    return values[start] + (values[end] - values[start]) * fraction;
}

/// A rotation, of unit length.
fn sample_rotation(at: u32, mode: u32, span: Span) -> vec4<f32> {
    if mode == MODE_CONSTANT {
        return values[at];
    }
    let key = at + span.row;
    if USES_SPLINES && mode == MODE_STEP {
        return quat_normalize(values[key], values[key]);
    }
    if USES_SPLINES && mode == MODE_CUBIC {
        return quat_normalize(sample_cubic(key, span), values[key + 1u]);
    }
    return quat_slerp(values[key], values[key + span.next], span.fraction);
}

/// A rotation or numbers.
fn sample_any(at: u32, mode: u32, span: Span, rotation: bool) -> vec4<f32> {
    if rotation {
        return sample_rotation(at, mode, span);
    }
    return sample_numbers(at, mode, span);
}

/// A cubic Hermite spline. A key is in-tangent, value, out-tangent.
///
/// `(2 t^3 - 3 t^2 + 1) v + d (t^3 - 2 t^2 + t) b + (-2 t^3 + 3 t^2) v' + d (t^3 - t^2) a'`, as the value of the nearer
/// key and what is added to it, so that nothing is lost near a key.
fn sample_cubic(key: u32, span: Span) -> vec4<f32> {
    let next = key + span.next;
    let start = values[key + 1u];
    let end = values[next + 1u];
    let t = span.fraction;
    let u = 1.0 - t;
    let leaving = values[key + 2u] * (span.interval * t * u * u);
    let arriving = values[next] * (span.interval * t * t * u);
    return start + (end - start) * (t * t * (3.0 - 2.0 * t)) + leaving - arriving;
}
