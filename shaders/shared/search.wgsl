// Needs: ease, phase
//! Clip time to key interval: once per timeline of an instance and per easing of the timeline, for any number of
//! channels that share it.
//!
//! One multiplication, time x cells per second, makes a number. If keys are evenly spaced, the number is the index of
//! the key, to within one key. Otherwise it is the index of a cell in a lookup table, which bounds the key from both
//! sides, and bisection finds the key between the bounds. `src/pack/timeline.rs` writes the key times and the table.

/// The result of a search: the key interval of a time, and the fraction within it.
struct Span {
    /// The number of values from the first key to the key that is hit, or to the last key before the time.
    row: u32,
    /// The number of values from there to the next key; 0 if a key is hit.
    next: u32,
    /// The fraction of the interval before the time; 0 if a key is hit. It is within 0 to 1 unless it was eased or the
    /// time is on a straight line beyond the keys.
    fraction: f32,
    /// The seconds from key to key; 0 if a key is hit, and before the first and after the last key; negative on a
    /// straight line, whatever the mode of the curve.
    interval: f32,
}

/// The time of a key.
fn search_key_time(timeline: TimelineRecord, key: u32) -> Time {
    let at = timeline.times + 2u * key;
    return Time(bitcast<f32>(words[at]), bitcast<f32>(words[at + 1u]));
}

/// The span of a key that is hit, by its index among the key times.
fn search_hit(timeline: TimelineRecord, key: u32) -> Span {
    if HAS_BEYOND_GLTF && timeline.map != NONE {
        return Span(words[timeline.map + MAPPING_WORDS * key] * timeline.row, 0u, 0.0, 0.0);
    }
    return Span(key * timeline.row, 0u, 0.0, 0.0);
}

/// Finds the keys around a time.
///
/// The first guess is one multiplication. For evenly spaced keys, it is the key to within one. Otherwise it is a cell
/// of the lookup table, whose neighbours bound the key from below and above. Bisection finds the key between the
/// bounds.
fn search_timeline(timeline: TimelineRecord, time: Time) -> Span {
    let passed = time_since(time, search_key_time(timeline, 0u));
    if passed < -timeline.window {
        return Span(0u, 0u, 0.0, 0.0);
    }
    let guess = passed * timeline.cells_per_second;
    let cell = u32(clamp(guess, 0.0, f32(timeline.cell_count)));
    let before = max(cell, 1u) - 1u;
    let after = min(cell + 2u, timeline.cell_count);
    var low = before;
    var high = min(cell + 2u, timeline.key_count);
    if timeline.table != NONE {
        low = words[timeline.table + before];
        high = words[timeline.table + after] + 1u;
    }
    while high - low > 1u {
        let middle = (low + high) / 2u;
        if time_since(time, search_key_time(timeline, middle)) >= 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    var mapping = Mapping(low, low, 0.0, 1.0);
    if HAS_BEYOND_GLTF && timeline.map != NONE {
        mapping = mapping_load(timeline.map + MAPPING_WORDS * low);
    }
    let straight = HAS_BEYOND_GLTF && (mapping.source & MAP_STRAIGHT) != 0u;
    // A straight line beyond the keys begins at the key itself, without the window of a hit.
    let window = select(timeline.window, 0.0, straight);
    let key = search_key_time(timeline, low);
    let since = time_since(time, key);
    if since <= window {
        return search_hit(timeline, low);
    }
    let source = mapping.source & MAP_KEY;
    if low + 1u >= timeline.key_count {
        return Span(source * timeline.row, 0u, 0.0, 0.0);
    }
    let next = search_key_time(timeline, low + 1u);
    let left = time_since(next, time);
    if left <= window {
        return search_hit(timeline, low + 1u);
    }
    let interval = time_since(next, key);
    let gone = select(since, left, (mapping.source & MAP_BACK) != 0u);
    var fraction = mapping.offset + mapping.scale * clamp(gone / interval, 0.0, 1.0);
    if straight {
        return Span(source * timeline.row, timeline.row, fraction, -interval);
    }
    if HAS_BEYOND_GLTF && timeline.easing != NONE && fraction > 0.0 {
        fraction = ease_fraction(timeline.easing, source, fraction);
    }
    return Span(source * timeline.row, timeline.row, fraction, interval);
}
