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

/// Loads the keys around a time; `rotation` says that they are such.
fn sample_keys(at: u32, mode: u32, span: Span, rotation: bool) -> Keys {
    let next = span.row + span.next;
    let way = sample_way(mode);
    if HAS_QUANTIZED && (!HAS_FLOATS || mode != way) {
        var keys: Keys;
        let cubic = HAS_SPLINES && way == MODE_CUBIC;
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
    if HAS_SPLINES && way == MODE_CUBIC {
        return Keys(values[key + 1u], values[at + next + 1u], values[key + 2u], values[at + next]);
    }
    var keys: Keys;
    keys.start = values[key];
    keys.end = values[select(at + next, key + 1u, HAS_BEYOND_GLTF && way == MODE_SLERP)];
    return keys;
}

/// A mode without how its keys are stored.
fn sample_way(mode: u32) -> u32 {
    if HAS_QUANTIZED {
        return mode & ~MODE_QUANTIZED;
    }
    return mode;
}

/// A column of quantized keys, ready to be read.
struct SampleColumn {
    /// The word of the first key's row where the first code begins.
    first: u32,
    /// How the numbers become a value.
    form: u32,
    /// For each number the word where its code begins, counted from there.
    word: vec4<u32>,
    /// The bit of that word.
    shift: vec4<u32>,
    /// The bits of its code, lowest.
    mask: vec4<u32>,
    /// What is added to its code.
    least: vec4<i32>,
    /// What that is multiplied by.
    step: f32,
}

/// The column of an element of the keys: a spline has three, one after the other.
fn sample_column(at: u32, element: u32) -> SampleColumn {
    var place = at;
    if HAS_SPLINES {
        let wide = (words[at + 1u] & QUANTIZED_WIDE) != 0u;
        place += element * select(QUANTIZED_NARROW_COLUMN_WORDS, QUANTIZED_WIDE_COLUMN_WORDS, wide);
    }
    let column = quantized_column_load(place);
    let widths = extractBits(vec4(column.format) >> (QUANTIZED_BITS * vec4(1u, 2u, 3u, 4u)), 0u, QUANTIZED_BITS);
    let first = extractBits(column.format, 0u, QUANTIZED_BITS);
    let bit = first + vec4(0u, widths.x, widths.x + widths.y, widths.x + widths.y + widths.z);
    // Least codes are in a word each, or two in one: there are four words to load either way, and no branch to take.
    let wide = (column.format & QUANTIZED_WIDE) != 0u;
    let place_of_least = place + QUANTIZED_COLUMN_WORDS + select(vec4(0u, 0u, 1u, 1u), vec4(0u, 1u, 2u, 3u), wide);
    let words_of_least = vec4<i32>(vec4(
        words[place_of_least.x],
        words[place_of_least.y],
        words[place_of_least.z],
        words[place_of_least.w],
    ));
    let halves = (words_of_least << vec4(16u, 0u, 16u, 0u)) >> vec4(16u);
    return SampleColumn(
        column.first,
        extractBits(column.format, QUANTIZED_FORM, QUANTIZED_FORM_BITS),
        bit / 32u,
        bit % 32u,
        (vec4(1u) << widths) - 1u,
        select(halves, words_of_least, wide),
        column.step,
    );
}

/// A quantized key: integers to numbers, and of a rotation what its length of 1 makes of them.
fn sample_quantized(column: SampleColumn, row: u32, rotation: bool) -> vec4<f32> {
    let first = column.first + row;
    // The codes of four numbers, of up to 24 bits each, end in the fourth word at the latest.
    let found = vec4(words[first], words[first + 1u], words[first + 2u], words[first + 3u]);
    let word = column.word;
    // That of the first number begins in the first.
    let low = vec4(found.x, found[word.y], found[word.z], found[word.w]);
    let beyond = vec4(found.yzw, 0u);
    let high = vec4(beyond.x, beyond[word.y], beyond[word.z], beyond[word.w]);
    // Shifted in two steps: one of 32 would be none.
    let codes = ((low >> column.shift) | ((high << vec4(1u)) << (31u - column.shift))) & column.mask;
    let numbers = column.step * vec4<f32>(column.least + vec4<i32>(codes));
    if !rotation {
        return numbers;
    }
    let left = sqrt(max(1.0 - dot(numbers, numbers), 0.0));
    let whole = select(numbers, vec4(left), vec4(column.form - QUANTIZED_NUMBERS) == vec4(1u, 2u, 3u, 4u));
    return select(whole, quat_unit(numbers), column.form == QUANTIZED_UNIT);
}

/// Up to four numbers, each for itself, or a quaternion of any length.
fn sample_numbers(keys: Keys, way: u32, span: Span) -> vec4<f32> {
    let straight = span.interval < 0.0;
    if HAS_SPLINES && way == MODE_STEP && !straight {
        return keys.start;
    }
    if HAS_BEYOND_GLTF && way == MODE_SLERP {
        return quat_slerp_as_is(keys.start, keys.end, span.fraction);
    }
    if HAS_SPLINES && way == MODE_CUBIC && !straight {
        return sample_cubic(keys, span);
    }
    return keys.start + (keys.end - keys.start) * span.fraction;
}

/// A rotation, of unit length.
fn sample_rotation(keys: Keys, way: u32, span: Span) -> vec4<f32> {
    if HAS_SPLINES && way == MODE_STEP {
        return quat_normalize(keys.start, keys.start);
    }
    if HAS_SPLINES && way == MODE_CUBIC {
        return quat_normalize(sample_cubic(keys, span), keys.start);
    }
    return quat_slerp(keys.start, keys.end, span.fraction);
}

/// A rotation or numbers.
fn sample_any(at: u32, mode: u32, span: Span, rotation: bool) -> vec4<f32> {
    if mode == MODE_CONSTANT {
        return values[at];
    }
    let keys = sample_keys(at, mode, span, rotation);
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
