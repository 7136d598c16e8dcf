//! Stage 4, beyond the ends: curves before their first key and after their last key.

use crate::model::{Curve, Extrapolation};
use crate::reference::search::{Span, find};

/// The span of a time on a curve, before any easing. `rotation` says that the curve is one of rotations, which do not continue
/// in a straight line.
pub fn span(curve: &Curve, time: f64, rotation: bool) -> Span {
    let timeline = curve.timeline();
    let (first, last) = (timeline.first(), timeline.last());
    let length = last - first;
    let [before, after] = curve.extrapolation();
    let extrapolation = match time {
        _ if length == 0.0 => Extrapolation::Clamp,
        _ if time < first => before,
        _ if time > last => after,
        _ => Extrapolation::Clamp,
    };
    match extrapolation {
        Extrapolation::Clamp => find(timeline, time),
        Extrapolation::Linear if rotation || !curve.interpolation().has_lines() => find(timeline, time),
        Extrapolation::Linear => line(timeline.times(), time).unwrap_or_else(|| find(timeline, time)),
        Extrapolation::Loop => find(timeline, first + remainder(time - first, length)),
        Extrapolation::PingPong => {
            find(timeline, first + length - (remainder(time - first, 2.0 * length) - length).abs())
        }
    }
}

/// The rest of a time after whole lengths, by the formula of Cocos Creator, which rounds differently from `%`.
fn remainder(time: f64, length: f64) -> f64 {
    time - (time / length).floor() * length
}

/// Returns true if a curve begins again from its first key at a time, to within rounding.
pub(crate) fn is_seam(curve: &Curve, time: f64) -> bool {
    let timeline = curve.timeline();
    let length = timeline.last() - timeline.first();
    let [before, after] = curve.extrapolation();
    let outside = match time - timeline.first() {
        past if past < 0.0 => before,
        _ if time > timeline.last() => after,
        _ => Extrapolation::Clamp,
    };
    let loops = (time - timeline.first()) / length;
    outside == Extrapolation::Loop && length > 0.0 && (loops - loops.round()).abs() <= 1e-12 * loops.abs().max(1.0)
}

/// The span of a time on the line through the first two keys or the last two keys. `None` if the two share a time.
fn line(times: &[f64], time: f64) -> Option<Span> {
    let key = if time < times[0] { 0 } else { times.len() - 2 };
    let interval = times[key + 1] - times[key];
    let fraction = (time - times[key]) / interval;
    (interval > 0.0).then_some(Span { straight: true, ..Span::between(key, fraction) })
}
