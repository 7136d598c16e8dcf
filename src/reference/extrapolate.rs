//! Beside stage 2: curves before their first key and after their last.

use crate::model::{Curve, Extrapolation};
use crate::reference::search::{Place, find};

/// The place of a time on a curve, before any easing. `rotation` says that the curve is one of rotations, which go on in
/// no straight line.
pub fn place(curve: &Curve, time: f64, rotation: bool) -> Place {
    let timeline = curve.timeline();
    let (first, last) = (timeline.first(), timeline.last());
    let span = last - first;
    let [before, after] = curve.extrapolation();
    let how = match time {
        _ if span == 0.0 => Extrapolation::Clamp,
        _ if time < first => before,
        _ if time > last => after,
        _ => Extrapolation::Clamp,
    };
    match how {
        Extrapolation::Clamp => find(timeline, time),
        Extrapolation::Linear if rotation || !curve.interpolation().has_lines() => find(timeline, time),
        Extrapolation::Linear => line(timeline.times(), time).unwrap_or_else(|| find(timeline, time)),
        Extrapolation::Loop => find(timeline, first + remainder(time - first, span)),
        Extrapolation::PingPong => find(timeline, first + span - (remainder(time - first, 2.0 * span) - span).abs()),
    }
}

/// What is left of a time beyond whole lengths, by the formula of Cocos Creator, which rounds its own way.
fn remainder(time: f64, length: f64) -> f64 {
    time - (time / length).floor() * length
}

/// Whether a time is, but for rounding, one at which a curve begins again from its first key.
pub(crate) fn is_seam(curve: &Curve, time: f64) -> bool {
    let timeline = curve.timeline();
    let span = timeline.last() - timeline.first();
    let [before, after] = curve.extrapolation();
    let outside = match time - timeline.first() {
        past if past < 0.0 => before,
        _ if time > timeline.last() => after,
        _ => Extrapolation::Clamp,
    };
    let spans = (time - timeline.first()) / span;
    outside == Extrapolation::Loop && span > 0.0 && (spans - spans.round()).abs() <= 1e-12 * spans.abs().max(1.0)
}

/// A place on the line through the first two keys or the last two; none where they share a time.
fn line(times: &[f64], time: f64) -> Option<Place> {
    let key = if time < times[0] { 0 } else { times.len() - 2 };
    let interval = times[key + 1] - times[key];
    let fraction = (time - times[key]) / interval;
    (interval > 0.0).then_some(Place { straight: true, ..Place::between(key, fraction) })
}
