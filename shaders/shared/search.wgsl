//! Clip time to key: once for each timeline of an instance, and each of its easings, whatever the number of channels that
//! share it.

/// Where a time lies on a timeline.
struct Span {
    /// Values from the first key to the last key that is not after the time.
    row: u32,
    /// Values from there to the next key; 0 at the last key.
    next: u32,
    /// Part of the way to the next key, 0 to 1 unless it was eased; 0 on a key, before the first and after the last.
    fraction: f32,
    /// Seconds from key to key.
    interval: f32,
}

/// The time of a key.
fn search_key_time(timeline: Timeline, key: u32) -> Time {
    let at = timeline.times + 2u * key;
    return Time(bitcast<f32>(words[at]), bitcast<f32>(words[at + 1u]));
}

/// Finds the keys around a time.
///
/// A guess by multiplication gives the key, give or take one, where keys are evenly spaced, and a cell of the lookup table
/// otherwise, whose neighbours bound the key from below and above; bisection finds it in between.
fn search_timeline(timeline: Timeline, time: Time) -> Span {
    let passed = time_since(time, search_key_time(timeline, 0u));
    if passed < 0.0 {
        return Span(0u, timeline.row, 0.0, 1.0);
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
    if low + 1u >= timeline.key_count {
        return Span(low * timeline.row, 0u, 0.0, 1.0);
    }
    let key = search_key_time(timeline, low);
    let interval = time_since(search_key_time(timeline, low + 1u), key);
    var fraction = clamp(time_since(time, key) / interval, 0.0, 1.0);
    if timeline.easing != NONE && fraction > 0.0 {
        fraction = ease_fraction(timeline.easing, low, fraction);
    }
    return Span(low * timeline.row, timeline.row, fraction, interval);
}
