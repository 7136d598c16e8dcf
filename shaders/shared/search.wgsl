//! ClipRecord time to key: once for each timeline of an instance, and each of its easings, whatever the number of channels that
//! share it.

/// Where a time lies on a timeline.
struct Span {
    /// Values from the first key to the key that is hit, or else to the last key before the time.
    row: u32,
    /// Values from there to the next key; 0 where a key is hit.
    next: u32,
    /// Part of the way to the next key, 0 to 1 unless it was eased or is on a straight line; 0 where a key is hit.
    fraction: f32,
    /// Seconds from key to key; 0 where a key is hit, before the first and after the last, and negative where the way is a
    /// straight line whatever the curve says.
    interval: f32,
}

/// The time of a key.
fn search_key_time(timeline: TimelineRecord, key: u32) -> Time {
    let at = timeline.times + 2u * key;
    return Time(bitcast<f32>(words[at]), bitcast<f32>(words[at + 1u]));
}

/// A key that is hit, by its place among the key times.
fn search_hit(timeline: TimelineRecord, key: u32) -> Span {
    if HAS_BEYOND_GLTF && timeline.map != NONE {
        return Span(words[timeline.map + MAPPING_WORDS * key] * timeline.row, 0u, 0.0, 0.0);
    }
    return Span(key * timeline.row, 0u, 0.0, 0.0);
}

/// Finds the keys around a time.
///
/// A guess by multiplication gives the key, give or take one, where keys are evenly spaced, and a cell of the lookup table
/// otherwise, whose neighbours bound the key from below and above; bisection finds it in between.
fn search_timeline(timeline: TimelineRecord, time: Time) -> Span {
    let passed = time_since(time, search_key_time(timeline, 0u));
    if passed < -timeline.window {
        return Span(0u, 0u, 0.0, 0.0);
    }
    let place = passed * timeline.cells_per_second;
    let cell = u32(clamp(place, 0.0, f32(timeline.cell_count)));
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
    // A line beyond the keys begins at once.
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
