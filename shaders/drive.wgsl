// Needs: phase, sync
//! Drivers: from parameters and leaders to the times and weights of layers, one invocation per instance.
//!
//! The kernel runs before the pose pass and writes the layer records that the other kernels read.
//!
//! So drivers do not change the pose kernels. The marks of a driven layer, between which its root motion goes, have the
//! place of fields that such a layer does not use.

/// Indices, key times and records of the library. This kernel reads clips, sync marks, knots and triangles.
@group(0) @binding(0) var<storage, read> words: array<u32>;
/// The drivers, one per layer.
@group(0) @binding(1) var<storage, read> drives: array<DriveRecord>;
/// The parameters: the bits of `parameter_count` numbers per instance. As integers, because a device may flush small
/// numbers.
@group(0) @binding(2) var<storage, read> parameters: array<u32>;
/// The parameters at the beginning of the step.
@group(0) @binding(3) var<storage, read> parameters_before: array<u32>;
/// The step of the clock.
@group(0) @binding(4) var<uniform> frame: Frame;
/// The record that all instances of the batch share.
@group(0) @binding(5) var<uniform> batch: DriveBatch;
/// The layers, `layer_count` per instance.
@group(0) @binding(6) var<storage, read_write> layers: array<LayerRecord>;

/// The triangle of a blend space at a position. Layers that share the space and the position share it.
struct Found {
    /// The offset of the blend space in the words; `NONE`: nothing is found yet.
    table: u32,
    /// The indices of the parameters that are the position.
    axes: vec2<u32>,
    /// The corners of the triangle, by their points.
    corners: vec3<u32>,
    /// The shares of the corners.
    shares: vec3<f32>,
}

/// Drives the layers of one instance per invocation. A leader comes before its followers.
@compute @workgroup_size(WORKGROUP_SIZE)
fn drive_layers(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) invocation: u32) {
    let instance = (group.y * batch.groups_per_row + group.x) * WORKGROUP_SIZE + invocation;
    if instance >= batch.instance_count {
        return;
    }
    let first_layer = instance * batch.layer_count;
    var found = Found(NONE, vec2(0u), vec3(0u), vec3(0.0));
    for (var index = first_layer; index < first_layer + batch.layer_count; index += 1u) {
        let drive = drives[index];
        if (drive.kind & (DRIVE_PHASE | DRIVE_SYNCED)) != 0u {
            drive_time(drive, instance, index);
        }
        if (drive.kind & DRIVE_KNOTS) != 0u {
            let value = drive_number(drive_parameter(instance, drive.parameter_x));
            layers[index].weight = drive.weight * drive_knots(drive.table, value);
        }
        if (drive.kind & DRIVE_POINT) != 0u {
            let axes = vec2(drive.parameter_x, drive.parameter_y);
            if found.table != drive.table || any(found.axes != axes) {
                found = drive_find(drive.table, drive_position(instance, axes));
                found.axes = axes;
            }
            let shares = select(vec3(0.0), found.shares, found.corners == vec3(drive.point));
            layers[index].weight = drive.weight * (shares.x + shares.y + shares.z);
        }
    }
}

/// Writes the time of a layer that follows a parameter or a leader, and the marks of its movement in the step.
fn drive_time(drive: DriveRecord, instance: u32, index: u32) {
    var before: Mark;
    var now: Mark;
    // The beginning of the step, then its end. A loop, because compilers copy a function to each place that calls it.
    for (var end = 0u; end < 2u; end += 1u) {
        before = now;
        now = drive_mark(drive, instance, end == 1u);
    }
    let time = phase_time(now.position, clip_load(layers[index].clip));
    layers[index].time_high = time.high;
    layers[index].time_low = time.low;
    layers[index].start_low = before.position.x;
    layers[index].start_high = before.position.y;
    layers[index].passes_0 = bitcast<u32>(before.loops);
    layers[index].passes_1 = bitcast<u32>(now.loops);
    layers[index].passes_2 = now.position.x;
    layers[index].passes_3 = now.position.y;
}

/// The mark of a layer that follows a parameter or a leader, at the end of the step or at its beginning.
fn drive_mark(drive: DriveRecord, instance: u32, at_end: bool) -> Mark {
    if (drive.kind & DRIVE_PHASE) != 0u {
        var bits = drive_parameter(instance, drive.source);
        if !at_end {
            bits = drive_parameter_before(instance, drive.source);
        }
        return drive_phase(drive, bits);
    }
    let leader = layers[instance * batch.layer_count + drive.source];
    return sync_follow(drive, drive_leader(drive, leader, at_end));
}

/// The bits of a parameter of an instance; 0 for one that there is no room for, and for one that is not a number.
fn drive_parameter(instance: u32, parameter: u32) -> u32 {
    if parameter >= batch.parameter_count {
        return 0u;
    }
    return drive_or_zero(parameters[instance * batch.parameter_count + parameter]);
}

/// The bits of a parameter at the beginning of the step. A step that goes nowhere begins with the present value.
fn drive_parameter_before(instance: u32, parameter: u32) -> u32 {
    if frame.from_low == frame.now_low && frame.from_high == frame.now_high {
        return drive_parameter(instance, parameter);
    }
    if parameter >= batch.parameter_count {
        return 0u;
    }
    return drive_or_zero(parameters_before[instance * batch.parameter_count + parameter]);
}

/// The bits of a number; 0 for bits that are not a number.
fn drive_or_zero(bits: u32) -> u32 {
    return select(bits, 0u, (bits & 0x7fffffffu) > 0x7f800000u);
}

/// The number with these bits. Infinity becomes the largest number.
fn drive_number(bits: u32) -> f32 {
    return bitcast<f32>((bits & 0x80000000u) | min(bits & 0x7fffffffu, 0x7f7fffffu));
}

/// The mark of a layer whose parameter counts cycles.
fn drive_phase(drive: DriveRecord, bits: u32) -> Mark {
    var size = bits & 0x7fffffffu;
    var backwards = size != bits && size != 0u;
    if backwards && (drive.clock & CLOCK_WAITS) != 0u {
        size = 0u;
        backwards = false;
    }
    // The number is an integer of 24 bits times a power of two, so that its whole cycles and their fraction are exact.
    let exponent = i32(size >> 23u);
    let mantissa = (size & 0x7fffffu) | select(0x800000u, 0u, exponent == 0);
    var fraction = drive_shifted(mantissa, max(exponent, 1) - 86);
    let count = drive_shifted(mantissa, max(exponent, 1) - 150).x;
    let many = exponent >= 159;
    if size != 0u && exponent < 127 && fraction.y == 0u && fraction.x < 2u {
        // The least fraction that moves the position by a unit.
        fraction = vec2(2u, 0u);
    }
    // A mode that does not repeat stops after one pass. It is set here, since a software driver of browsers compiles
    // the same stop in `phase_position` wrongly where the number of repeats is a constant.
    let stops = (drive.clock & CLOCK_ENDLESS) == 0u && (many || count > 0u);
    let passes = Passes(select(count, 1u, stops), select(fraction, vec2(0u), stops), many && !stops);
    var play: LayerRecord;
    play.clock = drive.clock | CLOCK_ENDLESS;
    play.part_length_low = drive.own.length_low;
    play.part_length_high = drive.own.length_high;
    return phase_position(play, passes, backwards);
}

/// A word shifted to the left in a number of 64 bits, or to the right if `bits` is negative. Bits beyond are lost.
fn drive_shifted(word: u32, bits: i32) -> vec2<u32> {
    if bits >= 64 || bits <= -32 {
        return vec2(0u);
    }
    if bits < 0 {
        return vec2(word >> u32(-bits), 0u);
    }
    return sync_shift(vec2(word, 0u), u32(bits));
}

/// The mark of a leader at the end of the step, or at its beginning.
fn drive_leader(drive: DriveRecord, leader: LayerRecord, at_end: bool) -> Mark {
    if (leader.clock & CLOCK_PLAYS) != 0u {
        let from_tick = vec2(frame.from_low, frame.from_high);
        return phase_mark(leader, select(from_tick, vec2(frame.now_low, frame.now_high), at_end));
    }
    if (leader.clock & CLOCK_DRIVEN) != 0u {
        let before = Mark(vec2(leader.start_low, leader.start_high), bitcast<i32>(leader.passes_0));
        if !at_end {
            return before;
        }
        return Mark(vec2(leader.passes_2, leader.passes_3), bitcast<i32>(leader.passes_1));
    }
    return Mark(drive_units(drive, leader), 0);
}

/// The position of a leader at a fixed time, from 0 to the length of its clip.
fn drive_units(drive: DriveRecord, leader: LayerRecord) -> vec2<u32> {
    let length = vec2(drive.lead.length_low, drive.lead.length_high);
    let unit = clip_load(leader.clip).time_unit;
    if leader.time_high <= 0.0 || all(length == vec2(0u)) {
        return vec2(0u);
    }
    let high = drive_units_of(leader.time_high, unit);
    let low = drive_units_of(abs(leader.time_low), unit);
    var position = phase_add(high, low);
    if leader.time_low < 0.0 {
        position = phase_subtract(high, low);
    } else if phase_less(position, high) {
        return length;
    }
    // A time at the end has 48 bits, the end has 64.
    return select(length, position, phase_less(position, length) && !sync_is_near(position, length));
}

/// A time of 0 s or more in units of 2^-32 of `unit` seconds, a power of two; the largest number if it is larger.
fn drive_units_of(seconds: f32, unit: f32) -> vec2<u32> {
    let bits = bitcast<u32>(seconds);
    let exponent = i32(bits >> 23u);
    if exponent == 0 {
        return vec2(0u);
    }
    let shift = exponent - i32(bitcast<u32>(unit) >> 23u) + 9;
    if shift > 40 {
        return vec2(0xffffffffu);
    }
    return drive_shifted((bits & 0x7fffffu) | 0x800000u, shift);
}

/// The weight by knots at a value.
fn drive_knots(table: u32, value: f32) -> f32 {
    let count = words[table];
    var low = 0u;
    var high = count;
    while low < high {
        let middle = (low + high) / 2u;
        if drive_past(knot_load(table + 1u + KNOT_WORDS * middle), value) >= 0.0 {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    let knot = knot_load(table + 1u + KNOT_WORDS * (max(low, 1u) - 1u));
    if low == 0u || low == count {
        return knot.weight;
    }
    let next = knot_load(table + 1u + KNOT_WORDS * low);
    let along = clamp(drive_past(knot, value) * knot.inverse, 0.0, 1.0);
    return knot.weight * (1.0 - along) + next.weight * along;
}

/// The distance of a value behind a knot.
fn drive_past(knot: KnotRecord, value: f32) -> f32 {
    return (value - knot.value_high) - knot.value_low;
}

/// The position of an instance in a blend space.
fn drive_position(instance: u32, axes: vec2<u32>) -> vec2<f32> {
    let x = drive_number(drive_parameter(instance, axes.x));
    let y = drive_number(drive_parameter(instance, axes.y));
    return clamp(vec2(x, y), vec2(-DRIVE_FARTHEST), vec2(DRIVE_FARTHEST));
}

/// The first triangle that contains a position, or else the nearest one.
fn drive_find(table: u32, position: vec2<f32>) -> Found {
    let space = space_load(table);
    let cell = drive_cell(space, position);
    for (var at = cell.x; at < cell.y; at += 1u) {
        let triangle = drive_triangle(table, words[at]);
        let shares = drive_shares(triangle, drive_away(triangle, position));
        if all(shares >= vec3(-DRIVE_NEAR)) {
            return drive_found(table, triangle, clamp(shares, vec3(0.0), vec3(1.0)));
        }
    }
    var nearest = Nearest(vec2(NONE), 0.0, 3.0e38);
    var lists = array(vec2(space.border, space.border_end), cell);
    for (var list = 0u; list < 2u; list += 1u) {
        nearest = drive_nearest(nearest, table, lists[list], position);
    }
    // A corner that is both ends has both shares, 1 together.
    return Found(table, vec2(0u), vec3(nearest.ends, NONE), vec3(1.0 - nearest.along, nearest.along, 0.0));
}

/// The range of the words that lists the triangles of the cell at a position; of the nearest cell if it is beside
/// the grid.
fn drive_cell(space: SpaceRecord, position: vec2<f32>) -> vec2<u32> {
    let away = (position - vec2(space.x_high, space.y_high)) - vec2(space.x_low, space.y_low);
    let most = f32(space.side - 1u);
    let cell = vec2<u32>(clamp(away * vec2(space.cells_per_x, space.cells_per_y), vec2(0.0), vec2(most)));
    let at = space.cells + cell.y * space.side + cell.x;
    return vec2(words[at], words[at + 1u]);
}

/// The nearest point of the sides of some triangles.
struct Nearest {
    /// The corners of the side, by their points; one corner twice if the point is that corner.
    ends: vec2<u32>,
    /// The position on the side, from 0 to 1.
    along: f32,
    /// A number that grows with the distance: its square, less the square of the distance from a point that is the same
    /// for all triangles. Far away, both squares would hide the difference between two sides.
    distance: f32,
}

/// The nearest one of a point and the points of the sides of listed triangles. `list` is a range of the words.
fn drive_nearest(nearest: Nearest, table: u32, list: vec2<u32>, position: vec2<f32>) -> Nearest {
    let origin = drive_triangle(table, 0u);
    var found = nearest;
    for (var at = list.x; at < list.y; at += 1u) {
        let triangle = drive_triangle(table, words[at]);
        found = drive_nearer(found, triangle, drive_apart(origin, triangle), drive_away(triangle, position));
    }
    return found;
}

/// The nearer one of a point and the points of a triangle's sides. `corner` is the first corner of the triangle,
/// relative to the common point, and `away` leads from it to the position.
fn drive_nearer(nearest: Nearest, triangle: TriangleRecord, corner: vec2<f32>, away: vec2<f32>) -> Nearest {
    let side_1 = vec2(triangle.side_1_x, triangle.side_1_y);
    let side_2 = vec2(triangle.side_2_x, triangle.side_2_y);
    var corners = array(vec2(0.0), side_1, side_2);
    var points = array(triangle.corner_0, triangle.corner_1, triangle.corner_2);
    var found = nearest;
    for (var side = 0u; side < 3u; side += 1u) {
        let next = (side + 1u) % 3u;
        let reach = corners[next] - corners[side];
        let apart = away - corners[side];
        let along = clamp(dot(apart, reach) / max(dot(reach, reach), 1e-37), 0.0, 1.0);
        let point = corner + corners[side] + reach * along;
        let distance = dot(point, point - 2.0 * (corner + away));
        let ends = vec2(select(points[next], points[side], along < 1.0), select(points[side], points[next], along > 0.0));
        let candidate = Nearest(ends, along, distance);
        if drive_is_nearer(candidate, found) {
            found = candidate;
        }
    }
    return found;
}

/// Returns `true` if a point is nearer than another one.
///
/// A point between the corners of a side is nearer than they are. A little before a corner, the rounding of `distance`
/// hides that, and the next side, which has the same corner, would move the point there.
fn drive_is_nearer(point: Nearest, other: Nearest) -> bool {
    let is_between = point.ends.x != point.ends.y;
    let other_is_between = other.ends.x != other.ends.y;
    if is_between != other_is_between && any(point.ends == other.ends) {
        return is_between;
    }
    return point.distance < other.distance;
}

/// The way from the first corner of one triangle to the first corner of another.
fn drive_apart(one: TriangleRecord, other: TriangleRecord) -> vec2<f32> {
    let high = vec2(other.x_high, other.y_high) - vec2(one.x_high, one.y_high);
    return high + (vec2(other.x_low, other.y_low) - vec2(one.x_low, one.y_low));
}

/// A triangle of a blend space.
fn drive_triangle(table: u32, index: u32) -> TriangleRecord {
    return triangle_load(table + SPACE_WORDS + TRIANGLE_WORDS * index);
}

/// The way from the first corner of a triangle to a position.
fn drive_away(triangle: TriangleRecord, position: vec2<f32>) -> vec2<f32> {
    let high = vec2(triangle.x_high, triangle.y_high);
    return (position - high) - vec2(triangle.x_low, triangle.y_low);
}

/// The shares of the corners of a triangle at a position; negative outside.
fn drive_shares(triangle: TriangleRecord, away: vec2<f32>) -> vec3<f32> {
    let share_1 = dot(vec2(triangle.share_1_x, triangle.share_1_y), away);
    let share_2 = dot(vec2(triangle.share_2_x, triangle.share_2_y), away);
    return vec3(1.0 - share_1 - share_2, share_1, share_2);
}

/// A triangle with the shares of its corners.
fn drive_found(table: u32, triangle: TriangleRecord, shares: vec3<f32>) -> Found {
    return Found(table, vec2(0u), vec3(triangle.corner_0, triangle.corner_1, triangle.corner_2), shares);
}
