//! Ticks to clip time.

/// A time in seconds as the sum of two numbers, exact to 48 bits: a lone f32 is off by half a microsecond after 8 s, and
/// a joint that turns fast then misses its mark.
struct Time {
    high: f32,
    low: f32,
}

/// Seconds from `b` to `a`. The large parts are subtracted first: near each other, they cancel without rounding.
fn time_since(a: Time, b: Time) -> f32 {
    return (a.high - b.high) + (a.low - b.low);
}

/// The time of a layer in its clip.
fn phase_of_layer(layer: Layer, clip: Clip, frame: Frame) -> Time {
    if layer.clock == CLOCK_FIXED {
        return Time(layer.time_high, layer.time_low);
    }
    return phase_time(phase_loops(layer, frame), clip);
}

/// The fraction of a loop that has passed, in units of 2^-64: low word, high word.
///
/// Ticks since the start times loops a tick, of which only the fraction counts: an integer product that wraps as the
/// loop does. Two's complement gives times before the start and negative rates their right phase as well.
fn phase_loops(layer: Layer, frame: Frame) -> vec2<u32> {
    let ticks_low = frame.now_low - layer.start_low;
    let borrow = select(0u, 1u, frame.now_low < layer.start_low);
    let ticks_high = frame.now_high - layer.start_high - borrow;
    let ticks_sign = select(0u, NONE, (ticks_high >> 31u) == 1u);

    let low_low = phase_multiply(ticks_low, layer.loops_low);
    let low_middle = phase_multiply(ticks_low, layer.loops_middle);
    let high_low = phase_multiply(ticks_high, layer.loops_low);

    let partial = low_low.y + low_middle.x;
    let middle = partial + high_low.x;
    let carry = select(0u, 1u, partial < low_low.y) + select(0u, 1u, middle < partial);
    let high = low_middle.y + high_low.y + carry
        + ticks_low * layer.loops_high + ticks_high * layer.loops_middle + ticks_sign * layer.loops_low;
    return vec2(middle, high);
}

/// A fraction of a loop, in units of 2^-64, to seconds.
fn phase_time(loops: vec2<u32>, clip: Clip) -> Time {
    let large = phase_multiply(loops.y, clip.duration_high);
    let cross = phase_multiply(loops.y, clip.duration_low);
    let other = phase_multiply(loops.x, clip.duration_high);
    let below = cross.x + other.x;
    let carry = select(0u, 1u, below < cross.x);
    let partial = large.x + cross.y;
    let rest = partial + other.y + carry;
    let units = large.y + select(0u, 1u, partial < large.x) + select(0u, 1u, rest < partial);
    // 24 bits each, so that both become f32 without rounding.
    let high = f32(units & 0xffffff00u) * clip.duration_unit;
    let low = f32(((units & 0xffu) << 16u) | (rest >> 16u)) * (clip.duration_unit / 65536.0);
    return Time(high, low);
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
