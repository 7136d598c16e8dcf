//! Fraction to eased fraction, as in `shaders/shared/ease.wgsl`. The result is the same on every machine.

use glam::Vec4;

use crate::pack::record::{
    EASE_BEZIER_MIN_STEP, EASE_BEZIER_STEPS, EASE_EXP2, EASE_LAST, EASE_OVERSHOOT, EASE_OVERSHOOT_IN_OUT, EASE_SINE,
    EASING_BACK, EASING_BEZIER, EASING_CIRC, EASING_CONSTANT, EASING_CUBIC, EASING_ELASTIC, EASING_EXPO, EASING_FADE,
    EASING_IN_OUT, EASING_LINEAR, EASING_OUT, EASING_QUAD, EASING_QUART, EASING_QUINT, EASING_SINE, EASING_SMOOTH,
};

/// Eases the fraction after a key. `easing` is the offset in the words of the number of codes, which precedes the
/// codes.
pub fn fraction(words: &[u32], values: &[Vec4], easing: u32, key: u32, fraction: f32) -> f32 {
    let codes = &words[easing as usize + 1..];
    let code = codes[key.min(words[easing as usize] - 1) as usize];
    // Some easings jump at 1. A time before the next key must stay below 1, even if the fraction rounds to 1.
    let k = fraction.min(EASE_LAST);
    if code >= EASING_BEZIER {
        let offset = (code - EASING_BEZIER) as usize;
        return bezier(values[offset], values[offset + 1], k);
    }
    named(code, k)
}

/// A named easing, for `k` between 0 and 1, both excluded.
///
/// `Out` is `In` rotated by half a turn: `1 - In(1 - k)`. `InOut` and `OutIn` play both, each in half the time.
fn named(code: u32, k: f32) -> f32 {
    match code {
        EASING_LINEAR => return k,
        EASING_CONSTANT => return 0.0,
        EASING_SMOOTH => return k * k * (3.0 - 2.0 * k),
        EASING_FADE => {
            let near = k.min(1.0 - k);
            let eased = near * near * near * (near * (6.0 * near - 15.0) + 10.0);
            return if k < 0.5 { eased } else { 1.0 - eased };
        }
        _ => {}
    }
    let part = (code - EASING_QUAD) % 4;
    let halves = part >= EASING_IN_OUT;
    let second = k >= 0.5;
    let turned = if halves { second == (part == EASING_IN_OUT) } else { part == EASING_OUT };
    let along = match (halves, second) {
        (false, _) => k,
        (true, false) => 2.0 * k,
        (true, true) => 2.0 * k - 1.0,
    };
    let left = 1.0 - along;
    let overshoot = if part == EASING_IN_OUT { EASE_OVERSHOOT_IN_OUT } else { EASE_OVERSHOOT };
    let eased = if turned {
        1.0 - ease_in(code - part, left, along, overshoot)
    } else {
        ease_in(code - part, along, left, overshoot)
    };
    if halves { 0.5 * (eased + if second { 1.0 } else { 0.0 }) } else { eased }
}

/// The `In` of a family at `k`. `left` is `1 - k`, and more precise than `k` near the end.
fn ease_in(family: u32, k: f32, left: f32, overshoot: f32) -> f32 {
    let square = k * k;
    match family {
        EASING_QUAD => square,
        EASING_CUBIC => square * k,
        EASING_QUART => square * square,
        EASING_QUINT => square * square * k,
        EASING_SINE => 1.0 - sine(left),
        EASING_EXPO | EASING_ELASTIC if k <= 0.0 => 0.0,
        EASING_EXPO => exp2(-10.0 * left),
        EASING_CIRC => 1.0 - (left * (1.0 + k)).sqrt(),
        EASING_ELASTIC => {
            // -sin(5 pi (-left - 0.1)) = cos(5 pi left): 2.5 turns as `left` goes from 0 to 1.
            let turns = 2.5 * left;
            let part = turns - (turns + 0.5).floor();
            exp2(-10.0 * left) * sine(1.0 - 4.0 * part.abs())
        }
        EASING_BACK => square * ((overshoot + 1.0) * k - overshoot),
        _ => 1.0 - bounce_out(left),
    }
}

/// The `Out` of the family `bounce`: four parabolas.
fn bounce_out(k: f32) -> f32 {
    let (middle, top) = match k {
        k if k < 1.0 / 2.75 => (0.0, 0.0),
        k if k < 2.0 / 2.75 => (1.5, 0.75),
        k if k < 2.5 / 2.75 => (2.25, 0.9375),
        _ => (2.625, 0.984_375),
    };
    let way = k - middle / 2.75;
    7.5625 * way * way + top
}

/// Evaluates a polynomial by Horner's rule, the highest coefficient first.
fn polynomial(x: f32, coefficients: &[f32]) -> f32 {
    coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// The sine of an angle in quarter turns, -1 to 1. The error is at most 2e-7.
pub fn sine(quarters: f32) -> f32 {
    polynomial(quarters * quarters, &EASE_SINE) * quarters
}

/// Two to a power, -126 to 127. The whole part becomes the exponent, and a series gives the rest. The relative error is
/// at most 2e-7.
fn exp2(power: f32) -> f32 {
    let whole = (power + 0.5).floor();
    polynomial(power - whole, &EASE_EXP2) * f32::from_bits(((whole as i32 + 127) as u32) << 23)
}

/// The y of a Bezier curve at the largest parameter whose x is `k`. `folds` holds the parameter and the x of both
/// folds.
fn bezier(points: Vec4, folds: Vec4, k: f32) -> f32 {
    let (low, high) = match k {
        k if k >= folds.w => (folds.z, 1.0),
        k if k >= folds.y => (folds.x, folds.z),
        _ => (0.0, folds.x),
    };
    let t = parameter(points.x, points.z, k, low, high);
    let u = 1.0 - t;
    3.0 * u * t * (u * points.y + t * points.w) + t * t * t
}

/// The parameter at which the x of a Bezier curve is `k`. Between `low` and `high`, x rises from below `k` to above
/// `k`.
///
/// A step of Newton's method that leaves the bracket, as it does where the curve is steep, is replaced by a bisection.
/// The difference from `k` is the sum of the differences of the control points, so that no precision is lost near
/// either end.
fn parameter(x1: f32, x2: f32, k: f32, mut low: f32, mut high: f32) -> f32 {
    let mut t = low + (high - low) * k;
    for _ in 0..EASE_BEZIER_STEPS {
        let u = 1.0 - t;
        let beyond = 3.0 * u * t * (u * (x1 - k) + t * (x2 - k)) + (t * t * t * (1.0 - k) - u * u * u * k);
        if beyond < 0.0 {
            low = t;
        } else {
            high = t;
        }
        let slope = 3.0 * (u * u * x1 + 2.0 * u * t * (x2 - x1) + t * t * (1.0 - x2));
        let mut next = 0.5 * (low + high);
        // True if `t - beyond / slope` lies in the bracket. The slope may be 0, hence no division.
        if (t - high) * slope < beyond && beyond < (t - low) * slope {
            next = t - beyond / slope;
        }
        if (next - t).abs() <= EASE_BEZIER_MIN_STEP {
            return next;
        }
        t = next;
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Easing;
    use crate::pack::folds;
    use crate::reference::ease::ease;

    /// Miri takes minutes for what takes a second elsewhere. It does one in this many.
    const ONE_IN: usize = if cfg!(miri) { 100 } else { 1 };

    #[test]
    fn series_are_exact_to_an_f32() {
        for step in -1000..=1000 {
            let at = step as f32 / 1000.0;
            let wanted = (f64::from(at) * std::f64::consts::FRAC_PI_2).sin();
            assert!((f64::from(sine(at)) - wanted).abs() < 2e-7, "the sine of {at} quarters");
            let power = 10.0 * at;
            assert!((f64::from(exp2(power)) / f64::from(power).exp2() - 1.0).abs() < 2e-7, "2^{power}");
        }
        assert_eq!([0.0, -10.0, 7.0, -126.0, 127.0].map(exp2), [0.0, -10.0, 7.0, -126.0, 127.0].map(f32::exp2));
    }

    #[test]
    fn named_easings_agree_with_the_reference() {
        for code in 0..44 {
            let easing = Easing::from_id(code).unwrap();
            for step in (1..4096).step_by(ONE_IN) {
                let k = step as f32 / 4096.0;
                let (found, wanted) = (f64::from(named(code, k)), ease(easing, f64::from(k)));
                assert!((found - wanted).abs() < 6e-7, "{easing:?} at {k}: {found}, not {wanted}");
            }
        }
    }

    #[test]
    fn no_precision_is_lost_near_the_ends() {
        for code in 2..44 {
            let easing = Easing::from_id(code).unwrap();
            for k in [1e-30, 1e-12, 1e-7, 1e-4, 1.0 - 1e-4, 1.0_f32.next_down()] {
                let (found, wanted) = (f64::from(named(code, k)), ease(easing, f64::from(k)));
                assert!((found - wanted).abs() < 3e-7, "{easing:?} at {k}: {found}, not {wanted}");
            }
        }
    }

    /// A stream of numbers between 0 and 1 (Lehmer, with the multiplier of Park and Miller).
    fn numbers() -> impl FnMut() -> f64 {
        let mut state = 1_u64;
        move || {
            state = state * 48271 % 0x7fff_ffff;
            state as f64 / f64::from(0x7fff_ffff)
        }
    }

    #[test]
    fn beziers_agree_with_the_reference() {
        let mut number = numbers();
        let narrow = |v: [f64; 4]| Vec4::from_array(v.map(|v| v as f32));
        for case in 0..100_000 / ONE_IN {
            // From the curves of CSS, which rise throughout, to curves that fold far outside.
            let wide = [0.0, 0.0, 1.0, 3.0, 100.0][case % 5];
            let mut point = || [number() * (1.0 + 2.0 * wide) - wide, number() * 3.0 - 1.0];
            let [[x1, y1], [x2, y2]] = [point(), point()];
            let points = [x1, y1, x2, y2].map(|number| f64::from(number as f32));
            let k = number() as f32;
            let found = f64::from(bezier(narrow(points), narrow(folds(points)), k));
            let off = 2.5e-7 * (1.0 + wide);
            let near = [-off, 0.0, off].map(|off| ease(Easing::Bezier(points), f64::from(k) + off));
            let (low, high) = (near.into_iter().fold(f64::MAX, f64::min), near.into_iter().fold(f64::MIN, f64::max));
            let error = (low - found).max(found - high);
            assert!(error < 2e-6, "{points:?} at {k}: {found}, not within {low} and {high}");
        }
    }
}
