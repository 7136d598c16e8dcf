// Needs: nothing
//! Ticks to clip time.
//!
//! Integer arithmetic, so that a month of playing is as exact as a second, on every adapter. A pass is one way through
//! the part of the clip that is played.
//!
//! A time is a pair of `f32`. One `f32` is off by half a microsecond after 8 s, and a fast joint then misses its bound.

/// A time in seconds as the sum of two numbers, exact to 48 bits. A single f32 is off by half a microsecond after 8 s,
/// and a joint that turns fast then exceeds its error bound.
struct Time {
    high: f32,
    low: f32,
}

/// The number of passes played.
struct Passes {
    /// Whole passes; beyond 2^32 the lowest bits, and `many` is set.
    count: u32,
    /// The fraction of a pass in units of 2^-64: low word, high word.
    fraction: vec2<u32>,
    /// True for 2^32 passes and more.
    many: bool,
}

/// The position of a playing layer, and the number of its jumps.
struct Mark {
    /// The position in the clip's units: low word, high word.
    position: vec2<u32>,
    /// The number of jumps from the end of the played part to its start, less those the other way, since the start of
    /// the play; negative before the start. Beyond 2^31 the lowest bits, so that differences up to 2^31 are right. A
    /// part without length has none.
    loops: i32,
}

/// Seconds from `b` to `a`. The high parts are subtracted first: if they are near each other, they cancel without
/// rounding.
fn time_since(a: Time, b: Time) -> f32 {
    return (a.high - b.high) + (a.low - b.low);
}

/// The time of a layer in its clip.
fn phase_of_layer(layer: LayerRecord, clip: ClipRecord, frame: Frame) -> Time {
    if (layer.clock & CLOCK_PLAYS) == 0u {
        return Time(layer.time_high, layer.time_low);
    }
    return phase_time(phase_mark(layer, vec2(frame.now_low, frame.now_high)).position, clip);
}

/// The position of a playing layer at a tick.
fn phase_mark(layer: LayerRecord, now: vec2<u32>) -> Mark {
    var ticks = phase_subtract(now, vec2(layer.start_low, layer.start_high));
    var before = (ticks.y >> 31u) == 1u;
    if before && (layer.clock & CLOCK_WAITS) != 0u {
        ticks = vec2(0u);
        before = false;
    }
    if before {
        ticks = phase_subtract(vec2(0u), ticks);
    }
    let backwards = before != ((layer.clock & CLOCK_BACKWARDS) != 0u);
    return phase_position(layer, phase_settle(layer, phase_passes(layer, ticks)), backwards);
}

/// The passes of a number of ticks.
fn phase_passes(layer: LayerRecord, ticks: vec2<u32>) -> Passes {
    let sum = phase_product(layer, ticks);
    return Passes(sum[3], vec2(sum[1], sum[2]), (sum[4] | sum[5]) != 0u);
}

/// The passes, a whole number if they are at most a tick / 2^`CLOCK_NEAR_BITS` from it.
fn phase_settle(layer: LayerRecord, passes: Passes) -> Passes {
    // The passes per tick have units of 2^-96, the fraction has units of 2^-64: a shift by 32 + `CLOCK_NEAR_BITS`.
    let high_passes = vec2(layer.passes_2, layer.passes_3);
    var near = (vec2(layer.passes_1, layer.passes_2) >> vec2(CLOCK_NEAR_BITS)) | (high_passes << vec2(32u - CLOCK_NEAR_BITS));
    if (layer.passes_3 >> CLOCK_NEAR_BITS) != 0u {
        near = vec2(0xffffffffu);
    }
    if phase_less(phase_add(passes.fraction, near), near) {
        return Passes(passes.count + 1u, vec2(0u), passes.many || passes.count == 0xffffffffu);
    }
    if !phase_less(near, passes.fraction) {
        return Passes(passes.count, vec2(0u), passes.many);
    }
    return passes;
}

/// The passes of a number of ticks in units of 2^-96, lowest word first.
fn phase_product(layer: LayerRecord, ticks: vec2<u32>) -> array<u32, 6> {
    var sum = array<u32, 6>();
    let factor = vec4(layer.passes_0, layer.passes_1, layer.passes_2, layer.passes_3);
    for (var row = 0u; row < 2u; row += 1u) {
        var carry = 0u;
        for (var column = 0u; column < 4u; column += 1u) {
            let product = phase_multiply(ticks[row], factor[column]);
            let partial = sum[row + column] + product.x;
            let total = partial + carry;
            // Sum, product and carry together are at most 2^64 - 1, so that the new carry fits a word.
            carry = product.y + select(0u, 1u, partial < product.x) + select(0u, 1u, total < carry);
            sum[row + column] = total;
        }
        sum[row + 4u] = carry;
    }
    return sum;
}

/// The position after a number of passes, by Cocos Creator's mapping of accumulated time. A whole number of passes is
/// the end of the last pass, not the start of the next; backwards, it is the start. No pass is the start; backwards, it
/// is the end.
fn phase_position(layer: LayerRecord, played: Passes, played_backwards: bool) -> Mark {
    var passes = played;
    var backwards = played_backwards;
    let repeat = vec2(layer.repeat_low, layer.repeat_high);
    let over = passes.count > layer.repeat_count
        || (passes.count == layer.repeat_count && !phase_less(passes.fraction, repeat));
    var whole = all(passes.fraction == vec2(0u)) && (passes.count > 0u || passes.many);
    if (layer.clock & CLOCK_ENDLESS) == 0u && (passes.many || over) {
        // The play stays at its end. A repeat count of 0 stops at the start unless the play has moved.
        let moved = passes.many || passes.count > 0u || any(passes.fraction != vec2(0u));
        backwards = backwards || !moved;
        passes = Passes(layer.repeat_count, repeat, false);
        whole = all(repeat == vec2(0u));
    }
    let length = vec2(layer.part_length_low, layer.part_length_high);
    var position = phase_scale(passes.fraction, length);
    var pass_index = i32(passes.count);
    if whole {
        position = length;
        pass_index -= 1;
    }
    // Ping-pong has no jump except at the start: a repeat count of 0 jumps to the end as soon as it moves.
    let ping_pong = (layer.clock & CLOCK_PING_PONG) != 0u;
    let stuck = whole && passes.count == 0u && !passes.many;
    var loops = select(pass_index, select(0, -1, stuck), ping_pong);
    if backwards {
        position = phase_subtract(length, position);
        loops = -1 - loops;
    }
    let turned = ping_pong && !stuck && (pass_index & 1) == 1;
    if turned != ((layer.clock & CLOCK_REVERSE) != 0u) {
        position = phase_subtract(length, position);
    }
    if (layer.clock & CLOCK_REVERSE) != 0u {
        loops = -loops;
    }
    if all(length == vec2(0u)) {
        loops = 0;
    }
    return Mark(phase_add(position, vec2(layer.part_start_low, layer.part_start_high)), loops);
}

/// The seconds of a position in the clip's units.
fn phase_time(position: vec2<u32>, clip: ClipRecord) -> Time {
    // The high 24 bits become an f32 without rounding; the rest is the low part.
    let high = f32(position.y & 0xffffff00u) * clip.time_unit;
    let low = f32(position.y & 0xffu) * clip.time_unit + f32(position.x) * (clip.time_unit / 4294967296.0);
    return Time(high, low);
}

/// The product of a fraction in units of 2^-64 and a number of 64 bits, truncated to an integer: low word, high word.
fn phase_scale(fraction: vec2<u32>, number: vec2<u32>) -> vec2<u32> {
    let large = phase_multiply(fraction.y, number.y);
    let cross = phase_multiply(fraction.y, number.x);
    let other = phase_multiply(fraction.x, number.y);
    let small = phase_multiply(fraction.x, number.x);
    let partial = cross.x + other.x;
    let below = partial + small.y;
    let carry = select(0u, 1u, partial < cross.x) + select(0u, 1u, below < partial);
    return phase_add(phase_add(large, vec2(cross.y, 0u)), phase_add(vec2(other.y, 0u), vec2(carry, 0u)));
}

/// The product of two words: low word, high word.
fn phase_multiply(a: u32, b: u32) -> vec2<u32> {
    let a_low = a & 0xffffu;
    let a_high = a >> 16u;
    let b_low = b & 0xffffu;
    let b_high = b >> 16u;
    let low = a_low * b_low;
    let cross = a_high * b_low + (low >> 16u);
    let middle = a_low * b_high + (cross & 0xffffu);
    return vec2((middle << 16u) | (low & 0xffffu), a_high * b_high + (cross >> 16u) + (middle >> 16u));
}

/// The sum of two numbers of 64 bits, wrapping.
fn phase_add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2(low, a.y + b.y + select(0u, 1u, low < a.x));
}

/// The difference of two numbers of 64 bits, wrapping.
fn phase_subtract(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

/// Returns `true` if an unsigned number of 64 bits is less than another.
fn phase_less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}
