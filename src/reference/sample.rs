//! Stage 5: the value of a curve at a time (glTF 2.0, appendix C).

use glam::DQuat;

use crate::model::rotation::{self, MAX_ARCS, MIN_ARC, unit};
use crate::model::{Curve, Interpolation, Library};
use crate::reference::ease;
use crate::reference::search::KeySpan;

/// The value of a curve at a time in seconds: one number per component of the curve, or the result of its interpolator.
pub fn value(library: &Library, curve: &Curve, time: f64) -> Vec<f64> {
    value_at(library, curve, ease::span(curve, time, false))
}

/// The value of a curve at a span.
pub(crate) fn value_at(library: &Library, curve: &Curve, span: KeySpan) -> Vec<f64> {
    let KeySpan { key, fraction, hit, .. } = span;
    if let Interpolation::Custom(id) = curve.interpolation() {
        let interpolator = library.interpolator(id);
        let mut result = vec![0.0; interpolator.result_width()];
        if hit {
            interpolator.no_lerp(curve.value(key), &mut result);
        } else {
            interpolator.lerp(curve.value(key), curve.value(key + 1), fraction, interval(curve, key), &mut result);
        }
        return result;
    }
    stored_value_at(curve, span)
}

/// The value of a curve without an interpolator at a span. With one, the number that the key holds.
pub(crate) fn stored_value_at(curve: &Curve, span: KeySpan) -> Vec<f64> {
    let KeySpan { key, fraction, hit, straight } = span;
    if hit {
        return curve.value(key).to_vec();
    }
    let lerp = || {
        let pairs = curve.value(key).iter().zip(curve.value(key + 1));
        pairs.map(|(a, b)| (1.0 - fraction) * a + fraction * b).collect()
    };
    match curve.interpolation() {
        _ if straight => lerp(),
        Interpolation::Step | Interpolation::Custom(_) => curve.value(key).to_vec(),
        Interpolation::Linear => lerp(),
        Interpolation::CubicSpline => spline(curve, key, fraction),
        Interpolation::Slerp => quaternion(curve, key, fraction, 0.0).to_array().to_vec(),
    }
}

/// Seconds from a key to the next one.
fn interval(curve: &Curve, key: usize) -> f64 {
    let times = curve.timeline().times();
    times[key + 1] - times[key]
}

/// The value of a curve of quaternions at a time in seconds, of unit length.
///
/// It is normalised after interpolation. A spline that passes through zero has no direction there; the result is the
/// rotation of the previous key.
pub fn rotation(curve: &Curve, time: f64) -> DQuat {
    let span = ease::span(curve, time, true);
    let previous = || unit(DQuat::from_slice(curve.value(span.key)));
    unit(unnormalised_rotation(curve, span)).or_else(previous).unwrap_or(DQuat::IDENTITY)
}

/// The quaternion at a span before it is normalised.
pub(crate) fn unnormalised_rotation(curve: &Curve, span: KeySpan) -> DQuat {
    let KeySpan { key, fraction, hit, .. } = span;
    let stored = |key: usize| DQuat::from_slice(curve.value(key));
    let end = |key: usize| rotation::key(stored(key)).unwrap_or(DQuat::IDENTITY);
    match curve.interpolation() {
        _ if hit => stored(key),
        Interpolation::Step | Interpolation::Slerp | Interpolation::Custom(_) => stored(key),
        Interpolation::Linear => slerp(end(key), end(key + 1), fraction),
        Interpolation::CubicSpline => DQuat::from_slice(&spline(curve, key, fraction)),
    }
}

/// Spherical linear interpolation along the shorter arc (glTF 2.0, appendix C.4). An eased fraction may leave the arc
/// at either end, by up to [`MAX_ARCS`] times its length.
pub(crate) fn slerp(a: DQuat, b: DQuat, fraction: f64) -> DQuat {
    let fraction = fraction.clamp(-MAX_ARCS, 1.0 + MAX_ARCS);
    let b = if a.dot(b) < 0.0 { -b } else { b };
    let angle = a.dot(b).min(1.0).acos();
    if angle < 1e-6 {
        return a * (1.0 - fraction) + b * fraction;
    }
    let (from, to) = (((1.0 - fraction) * angle).sin(), (fraction * angle).sin());
    (a * from + b * to) * angle.sin().recip()
}

/// Spherical interpolation of two stored quaternions of any length, as in Cocos Creator: linear if `1 - cos` of their
/// angle is at most [`MIN_ARC`], else with the sines of their angle as weights.
///
/// `off` is added to the cosine of their angle, to measure the effect of an error in it.
pub(crate) fn quaternion(curve: &Curve, key: usize, fraction: f64, off: f64) -> DQuat {
    let fraction = fraction.clamp(-MAX_ARCS, 1.0 + MAX_ARCS);
    let (a, b) = (DQuat::from_slice(curve.value(key)), DQuat::from_slice(curve.value(key + 1)));
    let cosine = (a.dot(b).abs() + off).max(0.0);
    let b = if a.dot(b) < 0.0 { -b } else { b };
    if 1.0 - cosine <= MIN_ARC {
        return a * (1.0 - fraction) + b * fraction;
    }
    let angle = cosine.acos();
    (a * ((1.0 - fraction) * angle).sin() + b * (fraction * angle).sin()) * angle.sin().recip()
}

/// A cubic Hermite spline. Its tangents are scaled by the key interval (glTF 2.0, appendix C.5).
pub(crate) fn spline(curve: &Curve, key: usize, t: f64) -> Vec<f64> {
    let interval = interval(curve, key);
    let (t2, t3) = (t * t, t * t * t);
    let at = |i: usize| {
        (2.0 * t3 - 3.0 * t2 + 1.0) * curve.value(key)[i]
            + interval * (t3 - 2.0 * t2 + t) * curve.out_tangent(key)[i]
            + (-2.0 * t3 + 3.0 * t2) * curve.value(key + 1)[i]
            + interval * (t3 - t2) * curve.in_tangent(key + 1)[i]
    };
    (0..curve.width()).map(at).collect()
}
