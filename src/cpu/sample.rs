//! Key and fraction to value (glTF 2.0, appendix C).

use glam::Vec4;

use crate::cpu::quat;
use crate::cpu::search::Span;
use crate::pack::record::{MODE_CONSTANT, MODE_LINEAR, MODE_SLERP, MODE_STEP};

/// Up to four numbers, each for itself, or a quaternion of any length.
pub fn numbers(values: &[Vec4], at: u32, mode: u32, span: &Span) -> Vec4 {
    let key = at + span.row;
    let line = |start: u32| {
        let value = values[start as usize];
        value + (values[(start + span.next) as usize] - value) * span.fraction
    };
    let straight = span.interval < 0.0;
    match mode {
        MODE_CONSTANT => values[at as usize],
        MODE_STEP if !straight => values[key as usize],
        MODE_LINEAR | MODE_STEP => line(key),
        MODE_SLERP => quat::slerp_as_is(values[key as usize], values[key as usize + 1], span.fraction),
        _ if straight => line(key + 1),
        _ => cubic(values, key, span),
    }
}

/// A rotation, of unit length.
pub fn rotation(values: &[Vec4], at: u32, mode: u32, span: &Span) -> Vec4 {
    let key = at + span.row;
    match mode {
        MODE_CONSTANT => values[at as usize],
        MODE_STEP => values[key as usize],
        MODE_LINEAR => quat::slerp(values[key as usize], values[(key + span.next) as usize], span.fraction),
        _ => quat::normalize(cubic(values, key, span), values[key as usize + 1]),
    }
}

/// A cubic Hermite spline. A key is in-tangent, value, out-tangent.
fn cubic(values: &[Vec4], key: u32, span: &Span) -> Vec4 {
    let (key, next) = (key as usize, (key + span.next) as usize);
    let (start, end) = (values[key + 1], values[next + 1]);
    let t = span.fraction;
    let u = 1.0 - t;
    let leaving = values[key + 2] * (span.interval * t * u * u);
    let arriving = values[next] * (span.interval * t * t * u);
    start + (end - start) * (t * t * (3.0 - 2.0 * t)) + leaving - arriving
}
