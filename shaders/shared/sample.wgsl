// Needs: quat, search
//! Span to value: keys and fraction to a value (glTF 2.0, appendix C).

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
    /// The tangent of a spline at the start, towards the end. `sample_tangents` loads the tangents of keys that are not
    /// quantized.
    leaving: vec4<f32>,
    /// The tangent at the end, from the start.
    arriving: vec4<f32>,
}

/// Loads the keys around a time. `rotation` is true for rotations.
fn sample_keys(at: u32, mode: u32, span: Span, rotation: bool) -> Keys {
    let next = span.row + span.next;
    let interpolation = sample_interpolation(mode);
    if HAS_QUANTIZED && (!HAS_FLOATS || mode != interpolation) {
        var keys: Keys;
        let cubic = sample_is_cubic(interpolation);
        let column = sample_column(at, select(0u, 1u, cubic));
        keys.start = sample_quantized(column, span.row, rotation);
        keys.end = sample_quantized(column, next, rotation);
        if cubic {
            keys.leaving = sample_quantized(sample_column(at, 2u), span.row, false);
            keys.arriving = sample_quantized(sample_column(at, 0u), next, false);
        }
        return keys;
    }
    let key = at + span.row;
    // The value of a spline's key is between its tangents.
    let value = select(0u, 1u, sample_is_cubic(interpolation));
    var keys: Keys;
    keys.start = values[key + value];
    keys.end = values[select(at + next + value, key + 1u, sample_is_slerp(interpolation))];
    return keys;
}

/// The keys with the tangents of a spline, unless they are quantized. Apart from the keys, so that those can be loaded
/// without a branch.
fn sample_tangents(keys: Keys, at: u32, mode: u32, span: Span) -> Keys {
    var found = keys;
    if HAS_SPLINES && HAS_FLOATS && mode == MODE_CUBIC {
        found.leaving = values[at + span.row + 2u];
        found.arriving = values[at + span.row + span.next];
    }
    return found;
}

/// The mode without the bit for quantized keys.
fn sample_interpolation(mode: u32) -> u32 {
    if HAS_QUANTIZED {
        return mode & ~MODE_QUANTIZED;
    }
    return mode;
}

/// True for splines. In the condition of an `if`, `HAS_SPLINES` itself removes the branch.
fn sample_is_cubic(interpolation: u32) -> bool {
    if HAS_SPLINES {
        return interpolation == MODE_CUBIC;
    }
    return false;
}

/// True for quaternions of any length, which turn along an arc.
fn sample_is_slerp(interpolation: u32) -> bool {
    if HAS_BEYOND_GLTF {
        return interpolation == MODE_SLERP;
    }
    return false;
}

/// A column of quantized keys, ready for reads.
struct SampleColumn {
    /// The word of a row in which the first code begins.
    first: u32,
    /// The rule by which the numbers become a value.
    form: u32,
    /// For each number the word in which its code begins, counted from `first`.
    word: vec4<u32>,
    /// The first bit of the code in that word.
    shift: vec4<u32>,
    /// The mask of the bits of the code.
    mask: vec4<u32>,
    /// The least value, added to the code.
    least: vec4<i32>,
    /// The quantization step, the factor of that sum.
    step: f32,
}

/// Loads the column of an element of the keys. A spline has three elements: arriving tangent, value, leaving tangent.
fn sample_column(at: u32, element: u32) -> SampleColumn {
    var offset = at;
    if HAS_SPLINES {
        let wide = (words[at] & QUANTIZED_WIDE) != 0u;
        offset += element * select(QUANTIZED_NARROW_COLUMN_WORDS, QUANTIZED_WIDE_COLUMN_WORDS, wide);
    }
    let column = quantized_column_load(offset);
    let widths = extractBits(vec4(column.format) >> (QUANTIZED_BITS * vec4(0u, 1u, 2u, 3u)), 0u, QUANTIZED_BITS);
    let wide = (column.place & QUANTIZED_WIDE) != 0u;
    let after = offset + QUANTIZED_COLUMN_WORDS;
    let place = select(extractBits(column.place, 0u, QUANTIZED_PLACE_BITS), words[after], wide);
    let bit = (place % 32u) + vec4(0u, widths.x, widths.x + widths.y, widths.x + widths.y + widths.z);
    // Least values take a word each, or share one by two. Four words are loaded in both cases, without a branch.
    let least_words = after + select(vec4(0u, 0u, 1u, 1u), vec4(1u, 2u, 3u, 4u), wide);
    let words_of_least = vec4<i32>(vec4(
        words[least_words.x],
        words[least_words.y],
        words[least_words.z],
        words[least_words.w],
    ));
    let halves = (words_of_least << vec4(16u, 0u, 16u, 0u)) >> vec4(16u);
    let step = ((column.format >> QUANTIZED_STEP_HIGH) << 19u) | ((column.place >> QUANTIZED_STEP_LOW) << 11u);
    return SampleColumn(
        place / 32u,
        extractBits(column.place, QUANTIZED_FORM, QUANTIZED_FORM_BITS),
        bit / 32u,
        bit % 32u,
        (vec4(1u) << widths) - 1u,
        select(halves, words_of_least, wide),
        bitcast<f32>(step),
    );
}

/// The words at four indices below 4. Comparisons cost less than an index that differs from lane to lane.
fn sample_words(found: vec4<u32>, index: vec4<u32>) -> vec4<u32> {
    let lower = select(vec4(found.x), vec4(found.y), (index & vec4(1u)) != vec4(0u));
    let upper = select(vec4(found.z), vec4(found.w), (index & vec4(1u)) != vec4(0u));
    return select(lower, upper, index >= vec4(2u));
}

/// A quantized key: integers to numbers. A rotation gets its dropped component, or its length, from its length of 1.
fn sample_quantized(column: SampleColumn, row: u32, rotation: bool) -> vec4<f32> {
    let first = column.first + row;
    // Four codes of up to 24 bits each end in the fourth word at the latest.
    let found = vec4(words[first], words[first + 1u], words[first + 2u], words[first + 3u]);
    let low = sample_words(found, column.word);
    let high = sample_words(vec4(found.yzw, 0u), column.word);
    // Two shifts, because a shift by 32 bits has no effect.
    let codes = ((low >> column.shift) | ((high << vec4(1u)) << (31u - column.shift))) & column.mask;
    let numbers = column.step * vec4<f32>(column.least + vec4<i32>(codes));
    if !rotation {
        return numbers;
    }
    let left = sqrt(max(1.0 - dot(numbers, numbers), 0.0));
    let whole = select(numbers, vec4(left), vec4(column.form - QUANTIZED_NUMBERS) == vec4(1u, 2u, 3u, 4u));
    return select(whole, quat_unit(numbers), column.form == QUANTIZED_UNIT);
}

/// Up to four numbers, each component by itself, or a quaternion of any length.
fn sample_numbers(keys: Keys, interpolation: u32, span: Span) -> vec4<f32> {
    let straight = span.interval < 0.0;
    if HAS_SPLINES && interpolation == MODE_STEP && !straight {
        return keys.start;
    }
    if HAS_BEYOND_GLTF && interpolation == MODE_SLERP {
        return quat_slerp_as_is(keys.start, keys.end, span.fraction);
    }
    if HAS_SPLINES && interpolation == MODE_CUBIC && !straight {
        return sample_cubic(keys, span);
    }
    return keys.start + (keys.end - keys.start) * span.fraction;
}

/// A rotation, of unit length.
fn sample_rotation(keys: Keys, interpolation: u32, span: Span) -> vec4<f32> {
    if HAS_SPLINES && interpolation == MODE_STEP {
        return quat_normalize(keys.start, keys.start);
    }
    if HAS_SPLINES && interpolation == MODE_CUBIC {
        return quat_normalize(sample_cubic(keys, span), keys.start);
    }
    return quat_slerp(keys.start, keys.end, span.fraction);
}

/// A rotation, or numbers.
fn sample_any(at: u32, mode: u32, span: Span, rotation: bool) -> vec4<f32> {
    if mode == MODE_CONSTANT {
        return values[at];
    }
    let keys = sample_tangents(sample_keys(at, mode, span, rotation), at, mode, span);
    if rotation {
        return sample_rotation(keys, sample_interpolation(mode), span);
    }
    return sample_numbers(keys, sample_interpolation(mode), span);
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
