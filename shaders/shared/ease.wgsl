// Needs: value
//! Fraction to eased fraction, by multiplications, additions and roots: the accuracy that WGSL promises for `sin` and
//! `exp2` is too low for an easing.

/// The eased fraction after a key. The codes of the keys begin at `easing` in the words.
fn ease_fraction(easing: u32, key: u32, fraction: f32) -> f32 {
    let code = words[easing + 1u + min(key, words[easing] - 1u)];
    // A time before the next key must not reach it by rounding: some easings jump there.
    let k = min(fraction, EASE_LAST);
    if code >= EASING_BEZIER {
        let offset = code - EASING_BEZIER;
        return ease_bezier(value_load(offset), value_load(offset + 1u), k);
    }
    return ease_named(code, k);
}

/// An easing with a name, for `k` between 0 and 1, both excluded.
///
/// `Out` is `In` rotated by half a turn, `1 - In(1 - k)`. `InOut` and `OutIn` play one of each, in half the time each.
fn ease_named(code: u32, k: f32) -> f32 {
    switch code {
        case EASING_LINEAR: {
            return k;
        }
        case EASING_CONSTANT: {
            return 0.0;
        }
        case EASING_SMOOTH: {
            return k * k * (3.0 - 2.0 * k);
        }
        case EASING_FADE: {
            let near = min(k, 1.0 - k);
            let eased = near * near * near * (near * (6.0 * near - 15.0) + 10.0);
            return select(1.0 - eased, eased, k < 0.5);
        }
        default: {}
    }
    let part = (code - EASING_QUAD) % 4u;
    let halves = part >= EASING_IN_OUT;
    let second = k >= 0.5;
    let turned = select(part == EASING_OUT, second == (part == EASING_IN_OUT), halves);
    let along = select(k, select(2.0 * k, 2.0 * k - 1.0, second), halves);
    let left = 1.0 - along;
    let overshoot = select(EASE_OVERSHOOT, EASE_OVERSHOOT_IN_OUT, part == EASING_IN_OUT);
    var eased = ease_in(code - part, select(along, left, turned), select(left, along, turned), overshoot);
    eased = select(eased, 1.0 - eased, turned);
    return select(eased, 0.5 * (eased + select(0.0, 1.0, second)), halves);
}

/// The `In` of a family at `k`. `left` is `1 - k`; near the end it is more accurate than `k`.
fn ease_in(family: u32, k: f32, left: f32, overshoot: f32) -> f32 {
    let square = k * k;
    switch family {
        case EASING_QUAD: {
            return square;
        }
        case EASING_CUBIC: {
            return square * k;
        }
        case EASING_QUART: {
            return square * square;
        }
        case EASING_QUINT: {
            return square * square * k;
        }
        case EASING_SINE: {
            return 1.0 - ease_sine(left);
        }
        case EASING_EXPO: {
            return select(0.0, ease_exp2(-10.0 * left), k > 0.0);
        }
        case EASING_CIRC: {
            return 1.0 - sqrt(left * (1.0 + k));
        }
        case EASING_ELASTIC: {
            // -sin(5 pi (-left - 0.1)) = cos(5 pi left), where `left` makes 2.5 turns.
            let turns = 2.5 * left;
            let part = turns - floor(turns + 0.5);
            return select(0.0, ease_exp2(-10.0 * left) * ease_sine(1.0 - 4.0 * abs(part)), k > 0.0);
        }
        case EASING_BACK: {
            return square * ((overshoot + 1.0) * k - overshoot);
        }
        default: {
            return 1.0 - ease_bounce_out(left);
        }
    }
}

/// The `Out` of the bounce: four parabolas.
fn ease_bounce_out(k: f32) -> f32 {
    var middle = 2.625;
    var top = 0.984375;
    if k < 1.0 / 2.75 {
        middle = 0.0;
        top = 0.0;
    } else if k < 2.0 / 2.75 {
        middle = 1.5;
        top = 0.75;
    } else if k < 2.5 / 2.75 {
        middle = 2.25;
        top = 0.9375;
    }
    let way = k - middle / 2.75;
    return 7.5625 * way * way + top;
}

/// The sine of an angle in quarter turns, -1 to 1. The error is at most 2e-7.
fn ease_sine(quarters: f32) -> f32 {
    let s = quarters * quarters;
    var sum = EASE_SINE[0];
    sum = sum * s + EASE_SINE[1];
    sum = sum * s + EASE_SINE[2];
    sum = sum * s + EASE_SINE[3];
    sum = sum * s + EASE_SINE[4];
    sum = sum * s + EASE_SINE[5];
    return sum * quarters;
}

/// Two to a power from -126 to 127. The whole part of the power becomes the exponent; a series covers the rest. The
/// relative error is at most 2e-7.
fn ease_exp2(power: f32) -> f32 {
    let whole = floor(power + 0.5);
    let rest = power - whole;
    var sum = EASE_EXP2[0];
    sum = sum * rest + EASE_EXP2[1];
    sum = sum * rest + EASE_EXP2[2];
    sum = sum * rest + EASE_EXP2[3];
    sum = sum * rest + EASE_EXP2[4];
    sum = sum * rest + EASE_EXP2[5];
    return (sum * rest + EASE_EXP2[6]) * bitcast<f32>(u32(i32(whole) + 127) << 23u);
}

/// The y of a Bezier curve at the largest parameter whose x is `k`.
fn ease_bezier(points: vec4<f32>, folds: vec4<f32>, k: f32) -> f32 {
    var low = 0.0;
    var high = folds.x;
    if k >= folds.w {
        low = folds.z;
        high = 1.0;
    } else if k >= folds.y {
        low = folds.x;
        high = folds.z;
    }
    let t = ease_parameter(points.x, points.z, k, low, high);
    let u = 1.0 - t;
    return 3.0 * u * t * (u * points.y + t * points.w) + t * t * t;
}

/// The parameter at which the x of a Bezier curve is `k`. Between the parameters `start` and `end`, the x rises from
/// below `k` to above it. Newton's method; bisection if a step leaves the bracket, as on a steep part of the curve.
///
/// The distance from `k` is summed from the distances of the control points, so that no digits are lost near either
/// end.
fn ease_parameter(x1: f32, x2: f32, k: f32, start: f32, end: f32) -> f32 {
    var low = start;
    var high = end;
    var t = low + (high - low) * k;
    for (var step = 0u; step < EASE_BEZIER_STEPS; step += 1u) {
        let u = 1.0 - t;
        let beyond = 3.0 * u * t * (u * (x1 - k) + t * (x2 - k)) + (t * t * t * (1.0 - k) - u * u * u * k);
        if beyond < 0.0 {
            low = t;
        } else {
            high = t;
        }
        let slope = 3.0 * (u * u * x1 + 2.0 * u * t * (x2 - x1) + t * t * (1.0 - x2));
        var next = 0.5 * (low + high);
        // Tests that `t - beyond / slope` lies in the bracket, without a division by a slope of 0.
        if (t - high) * slope < beyond && beyond < (t - low) * slope {
            next = t - beyond / slope;
        }
        if abs(next - t) <= EASE_BEZIER_MIN_STEP {
            return next;
        }
        t = next;
    }
    return t;
}
