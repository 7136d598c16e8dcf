// Needs: phase
//! Synchronised layers: from the position of a leader to the position of its follower, and back from a time of the
//! follower.
//!
//! Spans between sync marks are mapped linearly. The last span of a clip goes through its end to the first mark.

/// The number of sync marks whose start is at or before a position.
fn sync_count(marks: u32, count: u32, position: vec2<u32>) -> u32 {
    var low = 0u;
    var high = count;
    while low < high {
        let middle = (low + high) / 2u;
        let mark = sync_mark_load(marks + SYNC_MARK_WORDS * middle);
        let start = vec2(mark.start_low, mark.start_high);
        let ahead = phase_subtract(start, position);
        if !phase_less(position, start) || (ahead.y == 0u && ahead.x < SYNC_NEAR) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

/// The part of a span `to` that corresponds to a part of a span `span`, in units.
fn sync_part(part: vec2<u32>, span: SyncMark, to: SyncMark) -> vec2<u32> {
    let length = vec2(to.length_low, to.length_high);
    if !phase_less(part, vec2(span.length_low, span.length_high)) {
        return length;
    }
    let shifted = sync_shift(part, span.shift);
    // The reciprocal has units of 2^-127, the quotient has units of 2^-63.
    let quotient = phase_scale(vec2(span.inverse_low, span.inverse_high), shifted);
    return phase_scale(sync_shift(quotient, 1u), length);
}

/// A number of 64 bits shifted to the left, by less than 64 bits.
fn sync_shift(number: vec2<u32>, bits: u32) -> vec2<u32> {
    if bits == 0u {
        return number;
    }
    if bits >= 32u {
        return vec2(0u, number.x << (bits - 32u));
    }
    return vec2(number.x << bits, (number.y << bits) | (number.x >> (32u - bits)));
}

/// The position of a synchronised layer, from the position of its leader. The layer counts its own loops: a jump of the
/// leader is a jump of the layer, and the layer jumps where the map wraps.
fn sync_follow(drive: DriveRecord, lead: Mark) -> Mark {
    let lead_length = vec2(drive.lead.length_low, drive.lead.length_high);
    let length = vec2(drive.own.length_low, drive.own.length_high);
    if all(lead_length == vec2(0u)) || all(length == vec2(0u)) {
        return Mark(vec2(0u), 0);
    }
    var lead_span = drive.lead;
    var own_span = drive.own;
    // Before the first mark, the last span of the pass before goes on.
    var before = false;
    if drive.lead_marks != NONE {
        let count = sync_count(drive.lead_marks, drive.mark_count, lead.position);
        before = count == 0u;
        let index = select(count, drive.mark_count, before) - 1u;
        lead_span = sync_mark_load(drive.lead_marks + SYNC_MARK_WORDS * index);
        own_span = sync_mark_load(drive.own_marks + SYNC_MARK_WORDS * index);
    }
    let start = vec2(lead_span.start_low, lead_span.start_high);
    var part = vec2(0u);
    if before {
        part = phase_subtract(phase_add(lead.position, lead_length), start);
    } else if !phase_less(lead.position, start) {
        part = phase_subtract(lead.position, start);
    }
    let moved = sync_part(part, lead_span, own_span);
    var position = phase_add(vec2(own_span.start_low, own_span.start_high), moved);
    var through = phase_less(position, moved);
    // Rounding must not turn an end of the clip into the other.
    if !through && drive.lead_marks != NONE && sync_is_near(position, length) {
        position = length;
    }
    through = through || !phase_less(position, length);
    var loops = lead.loops - select(0, 1, before);
    // A leader at its end has its follower at the end, too, and not at the start of the next pass.
    let end = all(lead.position == lead_length) && !before && all(position == length);
    if through && !end {
        position = phase_subtract(position, length);
        if drive.lead_marks != NONE && sync_is_near(position, vec2(0u)) {
            position = vec2(0u);
        }
        loops += 1;
    }
    return Mark(position, loops);
}

/// Returns `true` if two positions are so near each other that rounding can be their difference.
fn sync_is_near(a: vec2<u32>, b: vec2<u32>) -> bool {
    let apart = select(phase_subtract(a, b), phase_subtract(b, a), phase_less(a, b));
    return apart.y == 0u && (apart.x >> DRIVE_SEAM_BITS) == 0u;
}

/// The position of the leader at which the follower is at a time from 0 to its length: the map, read the other way.
fn sync_lead(drive: DriveRecord, time: vec2<u32>) -> vec2<u32> {
    var swapped = drive;
    swapped.lead = drive.own;
    swapped.own = drive.lead;
    swapped.lead_marks = drive.own_marks;
    swapped.own_marks = drive.lead_marks;
    return sync_follow(swapped, Mark(time, 0)).position;
}

/// Returns `true` if the follower reaches a time after a wrap: it lies before the position at the leader's start.
fn sync_is_late(begin: Mark, time: vec2<u32>) -> bool {
    return phase_less(time, begin.position) && !sync_is_near(time, begin.position);
}
