//! Beside stage 2: curves before their first key and after their last.

use crate::model::curve::{Curve, Extrapolation};
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
        Extrapolation::Loop => find(timeline, first + (time - first).rem_euclid(span)),
        Extrapolation::PingPong => find(timeline, first + span - ((time - first).rem_euclid(2.0 * span) - span).abs()),
    }
}

/// A place on the line through the first two keys or the last two; none where they share a time.
fn line(times: &[f64], time: f64) -> Option<Place> {
    let key = if time < times[0] { 0 } else { times.len() - 2 };
    let interval = times[key + 1] - times[key];
    let fraction = (time - times[key]) / interval;
    (interval > 0.0).then_some(Place { straight: true, ..Place::between(key, fraction) })
}
