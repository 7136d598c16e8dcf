// Needs: phase, sync
//! The events that layers reach in a step of the clock, one invocation per layer.
//!
//! Integer arithmetic, so that every adapter lists the same events. Signed numbers of 64 and 128 bits are in two's
//! complement, lowest word first.
//!
//! Events and root motion have kernels of their own, so that crowds without them pay nothing. The events of a step are
//! complete, each with its tick, however long the step is: passes are counted, not walked.

/// Indices, key times and records of the library. This kernel reads clips and the times of their events.
@group(0) @binding(0) var<storage, read> words: array<u32>;
/// The layers, `layer_count` per instance.
@group(0) @binding(1) var<storage, read> layers: array<LayerRecord>;
/// The index in the crowd of each instance.
@group(0) @binding(2) var<storage, read> instances: array<u32>;
/// The step of the clock. Nothing else changes from frame to frame.
@group(0) @binding(3) var<uniform> frame: Frame;
/// The record that all instances of the batch share.
@group(0) @binding(4) var<uniform> batch: EventBatch;
/// The list of the events that are found.
@group(0) @binding(5) var<storage, read_write> list: EventList;
/// The drivers, one per layer. Used only if `FOLLOWS` is true.
@group(0) @binding(6) var<storage, read> drives: array<DriveRecord>;

/// An `EventCount`, and the occurrences that it counts. Its fields are atomic, because many invocations write them;
/// therefore it is declared here and not generated. A test compares it with the record.
struct EventList {
    listed: atomic<u32>,
    missed_low: atomic<u32>,
    missed_high: atomic<u32>,
    missed_many: atomic<u32>,
    occurrences: array<OccurrenceRecord>,
}

/// An interval of the clock: after `from_tick`, up to and including `to_tick`.
struct Interval {
    from_tick: vec2<u32>,
    to_tick: vec2<u32>,
}

/// The progress of a play: a pass, and a distance within the pass. Passes are numbered in the order of the clock. Pass
/// 0 begins at the start of the play; passes before it have negative numbers and run the same way backwards.
struct Progress {
    /// The number of the pass: 64 bits, signed.
    pass_index: vec2<u32>,
    /// A distance from the start of the pass, in the clip's units. The play has reached the events below this distance,
    /// and all events of earlier passes.
    reach: vec2<u32>,
}

/// The events of the part of a clip that a layer plays.
struct Part {
    /// The flags of the layer's clock.
    clock: u32,
    /// The start of the part, in the clip's units.
    start: vec2<u32>,
    /// The end of the part.
    end: vec2<u32>,
    /// The offset in the words of the event times of the clip, two words per event.
    times: u32,
    /// The number of events of the clip.
    time_count: u32,
    /// The first event of the part.
    first: u32,
    /// The event after the last of the part.
    last: u32,
    /// The number of events exactly at the start of the part; 0 if the clock is not ping-pong.
    at_start: u32,
    /// The number of events exactly at the end of the part; 0 if the clock is not ping-pong.
    at_end: u32,
    /// The difference between the index of an event in the clip and its index here.
    offset: u32,
    /// The index of the driver of a synchronised layer, whose events are at times of its leader; otherwise `NONE`.
    drive: u32,
    /// The mark of a synchronised layer at the start of its leader.
    begin: Mark,
    /// The number of events of the clip that a synchronised layer reaches after a wrap: the others come first.
    late: u32,
}

/// Lists the events of one layer per invocation.
@compute @workgroup_size(WORKGROUP_SIZE)
fn find_events(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) invocation: u32) {
    let index = (group.y * batch.groups_per_row + group.x) * WORKGROUP_SIZE + invocation;
    if index >= batch.instance_count * batch.layer_count {
        return;
    }
    let layer = layers[index];
    let interval = events_interval(layer);
    var play = layer;
    var drive = NONE;
    if FOLLOWS && (drives[index].kind & (DRIVE_KNOTS | DRIVE_POINT)) != 0u && layer.weight <= DRIVE_MIN_WEIGHT {
        return;
    }
    if FOLLOWS && (drives[index].kind & DRIVE_SYNCED) != 0u {
        // A synchronised layer reaches its events by the play of its leader.
        drive = index;
        play = layers[index - index % batch.layer_count + drives[index].source];
    }
    if !events_move(play) || !events_before(interval.from_tick, interval.to_tick) {
        return;
    }
    let part = events_part(play, layer.clip, drive);
    if part.first < part.last {
        events_list(play, part, interval, instances[index / batch.layer_count], index % batch.layer_count);
    }
}

/// Lists the events that a layer reaches, and counts the events that find no room.
fn events_list(layer: LayerRecord, part: Part, interval: Interval, instance: u32, number: u32) {
    let count = part.last - part.first;
    let begin = events_progress(layer, interval.from_tick);
    let end = events_progress(layer, interval.to_tick);
    let same_pass = all(begin.pass_index == end.pass_index);
    if events_before(end.pass_index, begin.pass_index) || (same_pass && !phase_less(begin.reach, end.reach)) {
        // No event is passed, or the clock is so far from the start of the play that its arithmetic has wrapped.
        return;
    }
    var rank = events_rank(part, begin);
    // The difference is right even if the numbers themselves have wrapped.
    var left = phase_subtract(
        events_reached(part, end.pass_index, events_rank(part, end)),
        events_reached(part, begin.pass_index, rank),
    );
    if phase_multiply(phase_subtract(end.pass_index, begin.pass_index).y, count).y != 0u {
        left = vec2(0u, 0x80000000u);
    }
    var pass_index = begin.pass_index;
    var tick = interval.from_tick;
    // The work of an invocation is bounded, however long the step: a software renderer ends its loops after 65,535
    // rounds in total.
    var room = LAYER_CAPACITY;
    while room > 0u && any(left != vec2(0u)) && !events_before(end.pass_index, pass_index) {
        if rank >= count {
            pass_index = phase_add(pass_index, vec2(1u, 0u));
            rank = events_skipped(part, pass_index);
            continue;
        }
        // Undone if the list is full. Occurrences keep their indices, so that the count is right in the end.
        let list_index = atomicAdd(&list.listed, 1u);
        if list_index >= batch.capacity {
            atomicSub(&list.listed, 1u);
            break;
        }
        let upward = events_upward(part, pass_index);
        let event = select(part.last - 1u - rank, part.first + rank, upward);
        let time = events_time(part, event);
        let distance = select(phase_subtract(part.end, time), phase_subtract(time, part.start), upward);
        tick = events_first_tick(layer, Interval(tick, interval.to_tick), pass_index, distance);
        list.occurrences[list_index] = OccurrenceRecord(tick.x, tick.y, instance, number, part.offset + events_index(part, event));
        // The next event may be at the same tick.
        tick = phase_subtract(tick, vec2(1u, 0u));
        rank += 1u;
        room -= 1u;
        left = phase_subtract(left, vec2(1u, 0u));
    }
    events_miss(left);
}

/// Adds to the number of events that found no room.
fn events_miss(missed: vec2<u32>) {
    if all(missed == vec2(0u)) {
        return;
    }
    let low = atomicAdd(&list.missed_low, missed.x);
    let high_part = phase_add(missed, vec2(low, 0u)).y;
    let high = atomicAdd(&list.missed_high, high_part);
    if high + high_part < high {
        atomicStore(&list.missed_many, 1u);
    }
}

/// Returns `true` if a layer plays and its time moves.
fn events_move(layer: LayerRecord) -> bool {
    let moves = (layer.passes_0 | layer.passes_1 | layer.passes_2 | layer.passes_3) != 0u;
    let passes = (layer.repeat_count | layer.repeat_low | layer.repeat_high) != 0u;
    return (layer.clock & CLOCK_PLAYS) != 0u && moves && (passes || (layer.clock & CLOCK_ENDLESS) != 0u);
}

/// The interval of the step in which a layer has a weight. It is empty if its end is not after its start.
fn events_interval(layer: LayerRecord) -> Interval {
    var interval = Interval(vec2(frame.from_low, frame.from_high), vec2(frame.now_low, frame.now_high));
    if !(layer.weight > 0.0) {
        interval.to_tick = interval.from_tick;
    }
    if (layer.mode & LAYER_FADES_IN) != 0u {
        let start = vec2(layer.fade_in_low, layer.fade_in_high);
        if events_before(interval.from_tick, start) {
            // A fade of length 0 ends at its start; any other fade has weight 0 there.
            interval.from_tick = phase_subtract(start, vec2(select(0u, 1u, layer.fade_in_length == 0.0), 0u));
        }
    }
    if (layer.mode & LAYER_FADES_OUT) != 0u {
        let start = vec2(layer.fade_out_low, layer.fade_out_high);
        var end = phase_add(start, events_ticks(layer.fade_out_length));
        if events_before(end, start) {
            end = vec2(0xffffffffu, 0x7fffffffu);
        }
        if !events_before(interval.from_tick, end) {
            interval.to_tick = interval.from_tick;
        } else if !events_before(interval.to_tick, end) {
            interval.to_tick = phase_subtract(end, vec2(1u, 0u));
        }
    }
    return interval;
}

/// A whole number of ticks, 0 or more, as an integer of 64 bits, at most the largest signed one.
fn events_ticks(ticks: f32) -> vec2<u32> {
    if ticks >= 9223372036854775808.0 {
        return vec2(0xffffffffu, 0x7fffffffu);
    }
    // Multiplications by powers of two are exact.
    let high = u32(ticks / 4294967296.0);
    return vec2(u32(ticks - f32(high) * 4294967296.0), high);
}

/// The progress of a layer at a tick. A thousandth of a tick is added, because the passes per tick are truncated.
fn events_progress(layer: LayerRecord, tick: vec2<u32>) -> Progress {
    var ticks = phase_subtract(tick, vec2(layer.start_low, layer.start_high));
    let before = (ticks.y >> 31u) == 1u;
    if before && (layer.clock & CLOCK_WAITS) != 0u {
        return Progress(vec2(0u), vec2(0u));
    }
    if before {
        ticks = phase_subtract(vec2(0u), ticks);
    }
    // In units of 2^-64 passes; fewer than 2^62 whole passes.
    let product = phase_product(layer, ticks);
    var played = vec4(product[1], product[2], product[3], product[4]);
    if product[5] != 0u || played.w >= 0x40000000u {
        played = vec4(0u, 0u, 0u, 0x40000000u);
    }
    if before {
        played = events_negate(played);
    }
    let low = vec3(layer.passes_1, layer.passes_2, layer.passes_3) >> vec3(10u);
    let high = vec2(layer.passes_2, layer.passes_3) << vec2(22u);
    played = events_add(played, vec4(low.xy | high, low.z, 0u));
    if (layer.clock & CLOCK_ENDLESS) == 0u {
        let most = vec4(layer.repeat_low, layer.repeat_high, layer.repeat_count, 0u);
        if !events_less(played, most) {
            if all(most.xy == vec2(0u)) {
                // The last pass is over, and no pass follows.
                return Progress(most.zw, vec2(0u));
            }
            played = most;
        }
        if events_less(played, events_negate(most)) {
            played = events_negate(most);
        }
    }
    let distance = phase_scale(played.xy, vec2(layer.part_length_low, layer.part_length_high));
    return Progress(played.zw, phase_add(distance, vec2(1u, 0u)));
}

/// The first tick of an interval at which a layer has come farther than `distance` in a pass. It comes there in the
/// interval.
fn events_first_tick(layer: LayerRecord, interval: Interval, pass_index: vec2<u32>, distance: vec2<u32>) -> vec2<u32> {
    var before = interval.from_tick;
    var after = interval.to_tick;
    loop {
        let apart = phase_subtract(after, before);
        if apart.y == 0u && apart.x <= 1u {
            break;
        }
        let middle = phase_add(before, vec2((apart.x >> 1u) | (apart.y << 31u), apart.y >> 1u));
        let progress = events_progress(layer, middle);
        let there = all(progress.pass_index == pass_index) && phase_less(distance, progress.reach);
        if there || events_before(pass_index, progress.pass_index) {
            after = middle;
        } else {
            before = middle;
        }
    }
    return after;
}

/// The part that a layer plays, with the events of a clip: its own one, or the part of the follower with this driver.
fn events_part(layer: LayerRecord, clip: u32, drive: u32) -> Part {
    let at = clip_load(clip).events;
    let start = vec2(layer.part_start_low, layer.part_start_high);
    var part = Part(layer.clock, start, vec2(0u), 0u, 0u, 0u, 0u, 0u, 0u, 0u, drive, Mark(vec2(0u), 0), 0u);
    if at == NONE {
        return part;
    }
    part.end = phase_add(part.start, vec2(layer.part_length_low, layer.part_length_high));
    part.times = at + 2u;
    part.time_count = words[at];
    part.offset = words[at + 1u];
    if FOLLOWS && drive != NONE {
        part.begin = sync_follow(drives[drive], Mark(vec2(0u), 0));
        part.late = events_late_count(part);
    }
    part.first = events_count_before(part, part.start);
    part.last = events_count_before(part, phase_add(part.end, vec2(1u, 0u)));
    if (part.clock & CLOCK_PING_PONG) != 0u {
        part.at_start = events_count_before(part, phase_add(part.start, vec2(1u, 0u))) - part.first;
        part.at_end = part.last - events_count_before(part, part.end);
    }
    return part;
}

/// The number of events of the clip that a synchronised layer reaches after a wrap, which are its first ones.
fn events_late_count(part: Part) -> u32 {
    var low = 0u;
    var high = part.time_count;
    while low < high {
        let middle = (low + high) / 2u;
        if sync_is_late(part.begin, events_own_time(part, middle)) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

/// The time of an event, in units of the clip that plays: the clip of the layer, or of its leader.
fn events_time(part: Part, event: u32) -> vec2<u32> {
    let time = events_own_time(part, events_index(part, event));
    if FOLLOWS && part.drive != NONE {
        return sync_lead(drives[part.drive], time);
    }
    return time;
}

/// The index of an event among the events of its clip. The play of a leader can begin with any event of its follower.
fn events_index(part: Part, event: u32) -> u32 {
    if FOLLOWS && part.drive != NONE {
        let index = event + part.late;
        return select(index, index - part.time_count, index >= part.time_count);
    }
    return event;
}

/// The time of an event of a clip, by its index, in units of the clip.
fn events_own_time(part: Part, event: u32) -> vec2<u32> {
    return vec2(words[part.times + 2u * event], words[part.times + 2u * event + 1u]);
}

/// The number of events of the clip before a time.
fn events_count_before(part: Part, time: vec2<u32>) -> u32 {
    var low = 0u;
    var high = part.time_count;
    while low < high {
        let middle = (low + high) / 2u;
        if phase_less(events_time(part, middle), time) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

/// Returns `true` if a pass goes from the start of the part to its end.
fn events_upward(part: Part, pass_index: vec2<u32>) -> bool {
    let odd = ((pass_index.x ^ (pass_index.y >> 31u)) & 1u) == 1u;
    let turned = (part.clock & CLOCK_PING_PONG) != 0u && odd;
    return (((part.clock & CLOCK_BACKWARDS) != 0u) != ((part.clock & CLOCK_REVERSE) != 0u)) == turned;
}

/// The number of events exactly at the start of a pass.
fn events_at_turn(part: Part, pass_index: vec2<u32>) -> u32 {
    return select(part.at_end, part.at_start, events_upward(part, pass_index));
}

/// The number of events at the start of a pass that it leaves out, because the previous pass reached them when it
/// turned.
fn events_skipped(part: Part, pass_index: vec2<u32>) -> u32 {
    if (part.clock & CLOCK_PING_PONG) == 0u || all(pass_index == vec2(0u)) {
        return 0u;
    }
    return events_at_turn(part, pass_index);
}

/// The number of events of its pass that a play has reached or left out.
fn events_rank(part: Part, progress: Progress) -> u32 {
    let upward = events_upward(part, progress.pass_index);
    let down = phase_subtract(phase_add(part.end, vec2(1u, 0u)), progress.reach);
    let before = events_count_before(part, select(down, phase_add(part.start, progress.reach), upward));
    let reached = select(part.last - before, before - part.first, upward);
    return max(reached, events_skipped(part, progress.pass_index));
}

/// The number of events that a play has reached since its start; negative before the start. `rank` is the result of
/// `events_rank` in this pass.
fn events_reached(part: Part, pass_index: vec2<u32>, rank: u32) -> vec2<u32> {
    var count = events_multiply(pass_index, part.last - part.first);
    if (part.clock & CLOCK_PING_PONG) != 0u {
        // The passes in both directions since the start, or until it. The first pass leaves out no event.
        let before = pass_index.y >> 31u == 1u;
        var passes = pass_index;
        if before {
            passes = phase_subtract(vec2(0u), passes);
        }
        let others = vec2((passes.x >> 1u) | (passes.y << 31u), passes.y >> 1u);
        let alike = phase_add(others, vec2(passes.x & 1u, 0u));
        let here = events_at_turn(part, vec2(0u));
        let there = events_at_turn(part, vec2(1u, 0u));
        let out = phase_add(events_multiply(alike, here), events_multiply(others, there));
        if before {
            count = phase_add(count, out);
        } else if any(passes != vec2(0u)) {
            count = phase_subtract(phase_add(count, vec2(here, 0u)), out);
        }
    }
    return phase_add(count, vec2(rank - events_skipped(part, pass_index), 0u));
}

/// The product of a number of 64 bits and a word, wrapping.
fn events_multiply(a: vec2<u32>, b: u32) -> vec2<u32> {
    let low = phase_multiply(a.x, b);
    return vec2(low.x, low.y + a.y * b);
}

/// Returns `true` if a signed number of 64 bits is less than another.
fn events_before(a: vec2<u32>, b: vec2<u32>) -> bool {
    return phase_less(vec2(a.x, a.y ^ 0x80000000u), vec2(b.x, b.y ^ 0x80000000u));
}

/// The sum of two numbers of 128 bits, wrapping.
fn events_add(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let low = phase_add(a.xy, b.xy);
    let carry = select(0u, 1u, phase_less(low, a.xy));
    return vec4(low, phase_add(phase_add(a.zw, b.zw), vec2(carry, 0u)));
}

/// The negative of a number of 128 bits.
fn events_negate(a: vec4<u32>) -> vec4<u32> {
    return events_add(~a, vec4(1u, 0u, 0u, 0u));
}

/// Returns `true` if a signed number of 128 bits is less than another.
fn events_less(a: vec4<u32>, b: vec4<u32>) -> bool {
    return events_before(a.zw, b.zw) || (all(a.zw == b.zw) && phase_less(a.xy, b.xy));
}
