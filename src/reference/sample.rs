//! Stage 3: the value of a curve at a time (glTF 2.0, appendix C).

use glam::DQuat;

use crate::model::curve::{Curve, Interpolation};
use crate::model::rotation::{self, unit};
use crate::reference::ease;
use crate::reference::search::Place;

/// The value of a curve at a time in seconds, as many numbers as the curve is wide.
pub fn value(curve: &Curve, time: f64) -> Vec<f64> {
    let Place { key, fraction } = ease::place(curve, time);
    if fraction == 0.0 {
        return curve.value(key).to_vec();
    }
    match curve.interpolation() {
        Interpolation::Step => curve.value(key).to_vec(),
        Interpolation::Linear => {
            let pairs = curve.value(key).iter().zip(curve.value(key + 1));
            pairs.map(|(a, b)| (1.0 - fraction) * a + fraction * b).collect()
        }
        Interpolation::CubicSpline => spline(curve, key, fraction),
    }
}

/// The value of a curve of quaternions at a time in seconds, of unit length.
///
/// It is normalised after interpolation. A spline that passes through zero, which no normalisation can mend, has its
/// previous key's rotation there.
pub fn rotation(curve: &Curve, time: f64) -> DQuat {
    let place = ease::place(curve, time);
    let previous = || unit(DQuat::from_slice(curve.value(place.key)));
    unit(unnormalised_rotation(curve, place)).or_else(previous).unwrap_or(DQuat::IDENTITY)
}

/// What is normalised to give the rotation at a place.
pub(crate) fn unnormalised_rotation(curve: &Curve, Place { key, fraction }: Place) -> DQuat {
    let stored = |key: usize| DQuat::from_slice(curve.value(key));
    let end = |key: usize| rotation::key(stored(key)).unwrap_or(DQuat::IDENTITY);
    match curve.interpolation() {
        _ if fraction == 0.0 => stored(key),
        Interpolation::Step => stored(key),
        Interpolation::Linear => slerp(end(key), end(key + 1), fraction),
        Interpolation::CubicSpline => DQuat::from_slice(&spline(curve, key, fraction)),
    }
}

/// How often an eased rotation may go over its arc again, past either end; farther out it stays there. No named easing
/// goes over a half.
pub(crate) const MOST_ARCS: f64 = 32.0;

/// Spherical linear interpolation along the shorter arc (glTF 2.0, appendix C.4), which an eased fraction may leave at
/// either end, by up to [`MOST_ARCS`] times its length.
fn slerp(a: DQuat, b: DQuat, fraction: f64) -> DQuat {
    let fraction = fraction.clamp(-MOST_ARCS, 1.0 + MOST_ARCS);
    let b = if a.dot(b) < 0.0 { -b } else { b };
    let angle = a.dot(b).min(1.0).acos();
    if angle < 1e-6 {
        return a * (1.0 - fraction) + b * fraction;
    }
    let (from, to) = (((1.0 - fraction) * angle).sin(), (fraction * angle).sin());
    (a * from + b * to) * angle.sin().recip()
}

/// A cubic Hermite spline, its tangents scaled by the key interval (glTF 2.0, appendix C.5).
pub(crate) fn spline(curve: &Curve, key: usize, t: f64) -> Vec<f64> {
    let times = curve.timeline().times();
    let interval = times[key + 1] - times[key];
    let (t2, t3) = (t * t, t * t * t);
    let at = |i: usize| {
        (2.0 * t3 - 3.0 * t2 + 1.0) * curve.value(key)[i]
            + interval * (t3 - 2.0 * t2 + t) * curve.out_tangent(key)[i]
            + (-2.0 * t3 + 3.0 * t2) * curve.value(key + 1)[i]
            + interval * (t3 - t2) * curve.in_tangent(key + 1)[i]
    };
    (0..curve.width()).map(at).collect()
}
