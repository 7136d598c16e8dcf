//! What an easing lets through: where it is steep, it magnifies the rounding of the fraction that it is given.

use std::f64::consts::FRAC_PI_2;

use glam::DVec4;

use crate::contract::sizes::size;
use crate::model::{Curve, Easing, Interpolation, LayerTime, Library, Ticks};
use crate::reference::ease::ease;
use crate::reference::phase::played;
use crate::reference::search::Place;
use crate::reference::{extrapolate, sample};

/// How far the fraction of an `f32` engine may be from the true one: it is the quotient of two differences.
const FRACTION: f64 = 1.0 / (1 << 22) as f64;

/// Seconds by which a layer's time may be off where its clock has run long: a share of 2^-51 of what it has played, since
/// the rate is an `f64`.
#[derive(Clone, Copy)]
pub struct Clock(f64);

impl Clock {
    /// Of a layer that does not play.
    pub const STANDING: Self = Self(0.0);

    pub fn new(time: LayerTime, now: Ticks) -> Self {
        match time {
            LayerTime::At(_) => Self::STANDING,
            LayerTime::Playing(playback) => Self(played(&playback, now).abs() * 2.0_f64.powi(-51)),
        }
    }
}

/// Where a curve is at a time, and by how much its easing may be off there.
pub struct Slack<'a> {
    curve: &'a Curve,
    /// The place, eased.
    pub place: Place,
    /// By how much the eased fraction may be off.
    eased: f64,
    /// Whether the curve begins again here, and rounding decides on which side of that the time is.
    pub on_seam: bool,
}

impl<'a> Slack<'a> {
    /// `rotation` says that the curve is one of rotations.
    pub fn new(curve: &'a Curve, time: f64, Clock(clock): Clock, rotation: bool) -> Self {
        let place = extrapolate::place(curve, time, rotation);
        let on_seam = extrapolate::is_seam(curve, time);
        let Place { key, fraction, .. } = place;
        let easing = curve.easing_at(key);
        let custom = matches!(curve.interpolation(), Interpolation::Custom(_));
        if place.hit || place.straight || (easing.is_linear() && !custom) {
            return Self { curve, place, eased: 0.0, on_seam };
        }
        let times = curve.timeline().times();
        // Control points beyond 0 to 1 magnify the rounding before the curve is solved.
        let size = if let Easing::Bezier([x1, _, x2, _]) = easing { x1.abs().max(x2.abs()).max(1.0) } else { 1.0 };
        let off = FRACTION * size + clock / (times[key + 1] - times[key]);
        let eased = ease(easing, fraction);
        // A jump nearby may be on either side.
        let near = [fraction - off, fraction + off].map(|near| ease(easing, near.clamp(0.0, 1.0)) - eased);
        let off = near.into_iter().fold(0.0, |most: f64, off| most.max(off.abs()));
        Self { curve, place: Place { fraction: eased, ..place }, eased: off, on_seam }
    }

    /// How far the eased fraction goes, at least 1: what is interpolated has grown by that much.
    pub fn reach(&self) -> f64 {
        let fraction = self.place.fraction;
        let reach = fraction.abs().max((1.0 - fraction).abs()).max(1.0);
        let cubic = self.curve.interpolation() == Interpolation::CubicSpline && !self.place.straight;
        if cubic { reach.powi(3) } else { reach }
    }

    /// By how much a value may be off.
    pub fn numbers(&self, vectors: bool) -> f64 {
        let length = self.angle() + self.seam();
        if self.eased == 0.0 {
            return length;
        }
        let (from, to) = (self.curve.value(self.place.key), self.curve.value(self.place.key + 1));
        let change: Vec<f64> = match self.curve.interpolation() {
            // Along an arc of up to a right angle, which is at most that much longer than its chord.
            Interpolation::Slerp => from.iter().zip(to).map(|(from, to)| FRAC_PI_2 * (from.abs() + to.abs())).collect(),
            _ => from.iter().zip(to).map(|(from, to)| to - from).collect(),
        };
        length + self.eased * self.steepness(size(&change, vectors), |tangent| size(tangent, vectors))
    }

    /// By how much a number may be off since quaternions of any length do not tell their angle exactly.
    fn angle(&self) -> f64 {
        let Place { key, fraction, hit, .. } = self.place;
        if hit || self.curve.interpolation() != Interpolation::Slerp {
            return 0.0;
        }
        let products = self.curve.value(key).iter().zip(self.curve.value(key + 1)).map(|(a, b)| (a * b).abs());
        let off = FRACTION * products.sum::<f64>();
        let at = |off| DVec4::from(sample::quaternion(self.curve, key, fraction, off));
        [-off, off].into_iter().map(|off| (at(off) - at(0.0)).length()).fold(0.0, f64::max)
    }

    /// How far apart the two sides of a loop's seam are, where the time is on one but for rounding.
    fn seam(&self) -> f64 {
        if !self.on_seam {
            return 0.0;
        }
        let keys = self.curve.timeline().len();
        let pairs = self.curve.value(0).iter().zip(self.curve.value(keys - 1));
        pairs.map(|(first, last)| (last - first).abs()).sum()
    }

    /// The largest number that an interpolator makes here, and by how much it may be off, since the fraction may be.
    pub fn custom(&self, library: &Library) -> (f64, f64) {
        let at = |fraction| sample::value_at(library, self.curve, Place { fraction, ..self.place });
        let here = at(self.place.fraction);
        let near = [-self.eased, self.eased].map(|off| at(self.place.fraction + off));
        let off = near.iter().flatten().zip(here.iter().cycle()).map(|(near, here)| (near - here).abs());
        let ends =
            [0, self.curve.timeline().len() - 1].map(|key| sample::value_at(library, self.curve, Place::on(key)));
        let apart = ends[0].iter().zip(&ends[1]).map(|(first, last)| (last - first).abs());
        let seam = if self.on_seam { apart.sum() } else { 0.0 };
        (size(&here, false), off.fold(seam, f64::max))
    }

    /// By how many radians a rotation between keys this many radians apart may be off, before it is normalised.
    pub fn rotation(&self, gap: f64) -> f64 {
        if self.eased == 0.0 {
            return 0.0;
        }
        self.eased * self.steepness(gap, |tangent| 2.0 * size(tangent, true))
    }

    /// The most that a value changes with the fraction, for values so far apart.
    fn steepness(&self, apart: f64, size: impl Fn(&[f64]) -> f64) -> f64 {
        if self.curve.interpolation() != Interpolation::CubicSpline {
            return apart;
        }
        let Place { key, .. } = self.place;
        let times = self.curve.timeline().times();
        let tangents = size(self.curve.out_tangent(key)) + size(self.curve.in_tangent(key + 1));
        // The derivative of a Hermite spline has 6 t (1 - t), (1 - t) (1 - 3 t) and t (3 t - 2) as weights, which grow with
        // the square of what lies past the ends.
        6.0 * self.reach() * (apart + (times[key + 1] - times[key]) * tangents)
    }
}
