//! The additions to the bounds of a curve at a time. A steep easing magnifies the rounding of its fraction, and keys
//! that are very close together magnify the rounding of the time.

use std::f64::consts::{FRAC_PI_2, PI};

use glam::DVec4;

use crate::contract::sizes::{angle, size};
use crate::model::{Curve, Easing, Interpolation, LayerTime, Library, Ticks};
use crate::reference::ease::{self, ease};
use crate::reference::phase::played;
use crate::reference::sample;
use crate::reference::search::{self, KeySpan};

/// The error of the fraction in an `f32` engine. The fraction is a quotient of two differences.
const FRACTION: f64 = 1.0 / (1 << 22) as f64;

/// The error of a time in seconds, as a share of it. An engine keeps times as two `f32`.
const TIME: f64 = 1.0 / (1_u64 << 48) as f64;

/// The error in seconds of a layer's time after a long play: 2^-51 of the seconds that it has played, since the rate is
/// an `f64`.
#[derive(Clone, Copy)]
pub struct Clock(f64);

impl Clock {
    /// The error of a layer that does not play.
    pub const STANDING: Self = Self(0.0);

    /// The error of a layer without a driver at a tick; `driven` is the one of its driven time. `duration` is the
    /// duration of its clip.
    pub fn of_layer(time: LayerTime, now: Ticks, duration: f64, driven: f64) -> Self {
        let short = if driven > 0.0 { short(duration) } else { 0.0 };
        Self(Self::new(time, now, duration).0 + driven + short)
    }

    /// The error of a layer at a tick, of a clip of this duration.
    pub fn new(time: LayerTime, now: Ticks, duration: f64) -> Self {
        match time {
            LayerTime::At(_) | LayerTime::Phase { .. } | LayerTime::Synced { .. } => Self::STANDING,
            LayerTime::Playing(playback) => Self(played(&playback, now).abs() * 2.0_f64.powi(-51) + short(duration)),
        }
    }
}

/// The error of the time of a very short clip while it plays. An engine counts in 2^-64 of the duration, by a unit and
/// its 2^-32 as `f32`. Below 2^-62 s, the small part is lost where smaller numbers than normal ones are 0. Below 2^-94
/// s the unit is, too, and the clip stays at its start.
fn short(duration: f64) -> f64 {
    match duration {
        _ if duration < 2.0_f64.powi(-94) => duration,
        _ if duration < 2.0_f64.powi(-62) => duration * 2.0_f64.powi(-30),
        _ => 0.0,
    }
}

/// The span of a time on a curve, and the error of its eased fraction.
pub struct Slack<'a> {
    curve: &'a Curve,
    /// The span, eased.
    pub span: KeySpan,
    /// The error of the eased fraction.
    eased: f64,
    /// The spans that an engine may find because the time is rounded; empty if they are alike.
    near: Vec<KeySpan>,
    /// `true` if the curve begins again here: rounding decides on which side of the jump the time is.
    pub on_seam: bool,
}

impl<'a> Slack<'a> {
    /// The additions for a curve at a time in seconds. `rotation` says that the curve is one of rotations.
    pub fn new(curve: &'a Curve, time: f64, clock: Clock, rotation: bool) -> Self {
        let span = search::span(curve, time, rotation);
        let on_seam = search::is_seam(curve, time);
        let near = near(curve, span, time, clock, rotation);
        let KeySpan { key, fraction, .. } = span;
        let easing = curve.easing_at(key);
        let custom = matches!(curve.interpolation(), Interpolation::Custom(_));
        if span.hit || span.straight || (easing.is_linear() && !custom) {
            return Self { curve, span, eased: 0.0, near, on_seam };
        }
        let times = curve.timeline().times();
        // Control points outside 0 to 1 magnify the rounding before the curve is solved.
        let size = if let Easing::Bezier([x1, _, x2, _]) = easing { x1.abs().max(x2.abs()).max(1.0) } else { 1.0 };
        let error = FRACTION * size + clock.0 / (times[key + 1] - times[key]);
        let eased = ease(easing, fraction);
        // The engine may be on the other side of a jump nearby.
        let changes = [fraction - error, fraction + error].map(|near| ease(easing, near.clamp(0.0, 1.0)) - eased);
        let error = changes.into_iter().fold(0.0, |most: f64, change| most.max(change.abs()));
        Self { curve, span: KeySpan { fraction: eased, ..span }, eased: error, near, on_seam }
    }

    /// The factor by which an overshooting fraction magnifies the interpolated numbers; at least 1.
    pub fn reach(&self) -> f64 {
        let fraction = self.span.fraction;
        let reach = fraction.abs().max((1.0 - fraction).abs()).max(1.0);
        let cubic = self.curve.interpolation() == Interpolation::CubicSpline && !self.span.straight;
        if cubic { reach.powi(3) } else { reach }
    }

    /// The addition to the bound of a value.
    pub fn numbers(&self, vectors: bool) -> f64 {
        let length = self.angle() + self.seam() + self.apart(vectors);
        if self.eased == 0.0 {
            return length;
        }
        let (from, to) = (self.curve.value(self.span.key), self.curve.value(self.span.key + 1));
        let change: Vec<f64> = match self.curve.interpolation() {
            // An arc of up to a right angle is longer than its chord by at most this factor.
            Interpolation::Slerp => from.iter().zip(to).map(|(from, to)| FRAC_PI_2 * (from.abs() + to.abs())).collect(),
            _ => from.iter().zip(to).map(|(from, to)| to - from).collect(),
        };
        length + self.eased * self.steepness(size(&change, vectors), |tangent| size(tangent, vectors))
    }

    /// The error of a number because the angle of stored quaternions of any length is rounded.
    fn angle(&self) -> f64 {
        let KeySpan { key, fraction, hit, .. } = self.span;
        if hit || self.curve.interpolation() != Interpolation::Slerp {
            return 0.0;
        }
        let products = self.curve.value(key).iter().zip(self.curve.value(key + 1)).map(|(a, b)| (a * b).abs());
        let error = FRACTION * products.sum::<f64>();
        let sample = |error| DVec4::from(sample::quaternion(self.curve, key, fraction, error));
        [-error, error].into_iter().map(|error| (sample(error) - sample(0.0)).length()).fold(0.0, f64::max)
    }

    /// The largest distance between the value and those at the spans nearby.
    fn apart(&self, vectors: bool) -> f64 {
        if self.near.is_empty() {
            return 0.0;
        }
        let here = sample::stored_value_at(self.curve, self.span);
        let distance = |&near: &KeySpan| {
            let there = sample::stored_value_at(self.curve, near);
            size(&here.iter().zip(&there).map(|(here, there)| there - here).collect::<Vec<_>>(), vectors)
        };
        self.near.iter().map(distance).fold(0.0, f64::max)
    }

    /// The largest angle in radians between the rotation and those at the spans nearby.
    pub fn turn(&self) -> f64 {
        let rotation = |span| sample::unnormalised_rotation(self.curve, span);
        self.near.iter().map(|&near| angle(rotation(self.span), rotation(near)).min(PI)).fold(0.0, f64::max)
    }

    /// The jump of a loop at its seam, if the time is on the seam to within rounding; else 0.
    fn seam(&self) -> f64 {
        if !self.on_seam {
            return 0.0;
        }
        let keys = self.curve.timeline().len();
        let pairs = self.curve.value(0).iter().zip(self.curve.value(keys - 1));
        pairs.map(|(first, last)| (last - first).abs()).sum()
    }

    /// The largest number of an interpolator's result here, and the error of the result because of the error of the
    /// fraction.
    pub fn custom(&self, library: &Library) -> (f64, f64) {
        let sample = |fraction| sample::value_at(library, self.curve, KeySpan { fraction, ..self.span });
        let here = sample(self.span.fraction);
        let near = [-self.eased, self.eased].map(|error| sample(self.span.fraction + error));
        let rounded = self.near.iter().map(|&span| sample::value_at(library, self.curve, span));
        let near: Vec<Vec<f64>> = near.into_iter().chain(rounded).collect();
        let errors = near.iter().flatten().zip(here.iter().cycle()).map(|(near, here)| (near - here).abs());
        let ends =
            [0, self.curve.timeline().len() - 1].map(|key| sample::value_at(library, self.curve, KeySpan::on(key)));
        let apart = ends[0].iter().zip(&ends[1]).map(|(first, last)| (last - first).abs());
        let seam = if self.on_seam { apart.sum() } else { 0.0 };
        (size(&here, false), errors.fold(seam, f64::max))
    }

    /// The error in radians of a rotation between keys that are `gap` radians apart, before it is normalised.
    pub fn rotation(&self, gap: f64) -> f64 {
        if self.eased == 0.0 {
            return 0.0;
        }
        self.eased * self.steepness(gap, |tangent| 2.0 * size(tangent, true))
    }

    /// The largest change of a value per unit of the fraction, between keys whose values are `apart`.
    fn steepness(&self, apart: f64, size: impl Fn(&[f64]) -> f64) -> f64 {
        if self.curve.interpolation() != Interpolation::CubicSpline {
            return apart;
        }
        let KeySpan { key, .. } = self.span;
        let times = self.curve.timeline().times();
        let tangents = size(self.curve.out_tangent(key)) + size(self.curve.in_tangent(key + 1));
        // The weights of the derivative of a Hermite spline are 6 t (1 - t), (1 - t) (1 - 3 t) and t (3 t - 2). They
        // grow with the square of the overshoot.
        6.0 * self.reach() * (apart + (times[key + 1] - times[key]) * tangents)
    }
}

/// The spans that an engine may find for a time because it rounds the time; none if they are within the rounding of a
/// fraction.
///
/// A time has an error of 2^-48 of it, and of the smallest normal `f32`, since GPUs may flush smaller numbers to zero.
/// It counts if it is more than 2^-24 of the interval, or reaches the next key: for key times that are very close
/// together for their size. An engine's time is then anywhere within the error, on any key that is there. The time of a
/// key itself is only rounded to zero, unless it belongs to a layer that plays, or to a repetition of the curve: the
/// reference rounds, too, when it takes such a time back between the keys.
fn near(curve: &Curve, span: KeySpan, time: f64, clock: Clock, rotation: bool) -> Vec<KeySpan> {
    let KeySpan { key, fraction, hit, straight } = span;
    if straight {
        return Vec::new();
    }
    let times = curve.timeline().times();
    let is_repeated = time < times[0] || time > times[times.len() - 1];
    let rounding = if hit && clock.0 == 0.0 && !is_repeated { 0.0 } else { clock.0 + TIME * time.abs() };
    // Of times on both sides of 0, each may be flushed.
    let flushes = if times[0] < 0.0 { 2.0 } else { 1.0 };
    let error = rounding + flushes * f64::from(f32::MIN_POSITIVE);
    let around = if hit { key.saturating_sub(1)..(key + 2).min(times.len()) } else { key..key + 2 };
    let interval = times[around].windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let share = error / interval;
    let is_alike = if hit { !is_repeated } else { (share..=1.0 - share).contains(&fraction) };
    if share <= FRACTION / 4.0 && is_alike {
        return Vec::new();
    }
    let ends = [time - error, time + error].map(|time| ease::span(curve, time, rotation));
    let keys = (ends[0].key + 1..=ends[1].key).map(KeySpan::on);
    ends.into_iter().chain(keys).collect()
}
