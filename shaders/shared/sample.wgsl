//! Key and fraction to value (glTF 2.0, appendix C).

/// The mode of a sampler.
fn sample_mode(sampler: u32) -> u32 {
    return sampler & ((1u << MODE_BITS) - 1u);
}

/// The timeline of a sampler, by its index in the clip.
fn sample_timeline(sampler: u32) -> u32 {
    return sampler >> MODE_BITS;
}

/// The keys that a sample is made of.
struct Keys {
    /// The value of the key that is hit, or else of the last before the time.
    start: vec4<f32>,
    /// The value of the next; in mode `MODE_SLERP` that in the first one's hemisphere.
    end: vec4<f32>,
    /// The tangent of a spline with which the first is left.
    leaving: vec4<f32>,
    /// The tangent with which the next is reached.
    arriving: vec4<f32>,
}

/// Loads the keys around a time.
fn sample_keys(at: u32, mode: u32, span: Span) -> Keys {
    var keys: Keys;
    let next = span.row + span.next;
    if USES_COMPACT && (mode & MODE_COMPACT) != 0u {
        // One loop, so that the kernel has what decodes but once.
        let cubic = USES_SPLINES && sample_way(mode) == MODE_CUBIC;
        for (var which = 0u; which < select(2u, 4u, cubic); which += 1u) {
            let row = select(span.row, next, (which & 1u) != 0u);
            let element = select(select(1u, 2u, which == 2u), 0u, which == 3u || !cubic);
            let key = sample_compact(at, row, element);
            switch which {
                case 0u: {
                    keys.start = key;
                }
                case 1u: {
                    keys.end = key;
                }
                case 2u: {
                    keys.leaving = key;
                }
                default: {
                    keys.arriving = key;
                }
            }
        }
        return keys;
    }
    let key = at + span.row;
    if USES_SPLINES && mode == MODE_CUBIC {
        return Keys(values[key + 1u], values[at + next + 1u], values[key + 2u], values[at + next]);
    }
    keys.start = values[key];
    keys.end = values[select(at + next, key + 1u, USES_BEYOND_GLTF && mode == MODE_SLERP)];
    return keys;
}

/// A mode without how its keys are stored.
fn sample_way(mode: u32) -> u32 {
    if USES_COMPACT {
        return mode & ~MODE_COMPACT;
    }
    return mode;
}

/// A compact key: integers to numbers, and of a rotation what its length of 1 makes of them.
fn sample_compact(at: u32, row: u32, element: u32) -> vec4<f32> {
    let wide = (words[at + 1u] & COMPACT_WIDE) != 0u;
    let place = at + element * select(COMPACT_COLUMN_WORDS, COMPACT_WIDE_COLUMN_WORDS, wide);
    let column = compact_column_load(place);
    let widths = extractBits(vec4(column.format) >> (COMPACT_BITS * vec4(1u, 2u, 3u, 4u)), 0u, COMPACT_BITS);
    let first = extractBits(column.format, 0u, COMPACT_BITS);
    let bit = first + vec4(0u, widths.x, widths.x + widths.y, widths.x + widths.y + widths.z);
    let word = column.first + row + bit / 32u;
    let shift = bit % 32u;
    let low = vec4(words[word.x], words[word.y], words[word.z], words[word.w]);
    let high = vec4(words[word.x + 1u], words[word.y + 1u], words[word.z + 1u], words[word.w + 1u]);
    // Shifted in two steps: one of 32 would be none.
    let codes = ((low >> shift) | ((high << vec4(1u)) << (31u - shift))) & ((vec4(1u) << widths) - 1u);
    let numbers = column.step * vec4<f32>(sample_least(place + 3u, wide) + vec4<i32>(codes));
    let form = extractBits(column.format, COMPACT_FORM, COMPACT_FORM_BITS);
    if form == COMPACT_NUMBERS {
        return numbers;
    }
    if form == COMPACT_UNIT {
        return quat_unit(numbers);
    }
    let left = sqrt(max(1.0 - dot(numbers, numbers), 0.0));
    return select(numbers, vec4(left), vec4(form - COMPACT_NUMBERS) == vec4(1u, 2u, 3u, 4u));
}

/// The least codes of a column's numbers, in a word each, or two in one.
fn sample_least(at: u32, wide: bool) -> vec4<i32> {
    if wide {
        return vec4<i32>(vec4(words[at], words[at + 1u], words[at + 2u], words[at + 3u]));
    }
    let halves = vec4<i32>(vec2(words[at], words[at + 1u]).xxyy);
    return extractBits(halves << vec4(16u, 0u, 16u, 0u), 16u, 16u);
}

/// Up to four numbers, each for itself, or a quaternion of any length.
fn sample_numbers(keys: Keys, way: u32, span: Span) -> vec4<f32> {
    let straight = span.interval < 0.0;
    if USES_SPLINES && way == MODE_STEP && !straight {
        return keys.start;
    }
    if USES_BEYOND_GLTF && way == MODE_SLERP {
        return quat_slerp_as_is(keys.start, keys.end, span.fraction);
    }
    if USES_SPLINES && way == MODE_CUBIC && !straight {
        return sample_cubic(keys, span);
    }
    return keys.start + (keys.end - keys.start) * span.fraction;
}

/// A rotation, of unit length.
fn sample_rotation(keys: Keys, way: u32, span: Span) -> vec4<f32> {
    if USES_SPLINES && way == MODE_STEP {
        return quat_normalize(keys.start, keys.start);
    }
    if USES_SPLINES && way == MODE_CUBIC {
        return quat_normalize(sample_cubic(keys, span), keys.start);
    }
    return quat_slerp(keys.start, keys.end, span.fraction);
}

/// A rotation or numbers.
fn sample_any(at: u32, mode: u32, span: Span, rotation: bool) -> vec4<f32> {
    if mode == MODE_CONSTANT {
        return values[at];
    }
    let keys = sample_keys(at, mode, span);
    if rotation {
        return sample_rotation(keys, sample_way(mode), span);
    }
    return sample_numbers(keys, sample_way(mode), span);
}

/// A cubic Hermite spline.
///
/// `(2 t^3 - 3 t^2 + 1) v + d (t^3 - 2 t^2 + t) b + (-2 t^3 + 3 t^2) v' + d (t^3 - t^2) a'`, as the value of the nearer
/// key and what is added to it, so that nothing is lost near a key.
fn sample_cubic(keys: Keys, span: Span) -> vec4<f32> {
    let t = span.fraction;
    let u = 1.0 - t;
    let leaving = keys.leaving * (span.interval * t * u * u);
    let arriving = keys.arriving * (span.interval * t * t * u);
    return keys.start + (keys.end - keys.start) * (t * t * (3.0 - 2.0 * t)) + leaving - arriving;
}
