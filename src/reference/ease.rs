//! Between stages 2 and 3: from a fraction to the eased fraction.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use crate::model::{Curve, Easing};
use crate::reference::extrapolate;
use crate::reference::search::Place;

/// The place of a time on a curve, its fraction eased; a key that is hit is hit still, and a straight line straight.
/// `rotation` says that the curve is one of rotations.
pub fn place(curve: &Curve, time: f64, rotation: bool) -> Place {
    let place = extrapolate::place(curve, time, rotation);
    if place.hit || place.straight {
        return place;
    }
    Place { fraction: ease(curve.easing_at(place.key), place.fraction), ..place }
}

/// An easing at `k`, by the formulas beside its variant.
///
/// Outside `[0, 1]` the formulas are continued as they stand, which for the circular ones is NaN; [`Easing::Smooth`],
/// [`Easing::Fade`] and Bezier curves have their value at the nearer end.
pub fn ease(easing: Easing, k: f64) -> f64 {
    let m = 2.0 * k;
    let n = m - 1.0;
    let first = m < 1.0;
    match easing {
        Easing::Constant => 0.0,
        Easing::Linear => k,
        Easing::QuadIn => k.powi(2),
        Easing::QuadOut => k * (2.0 - k),
        Easing::QuadInOut if first => m.powi(2) / 2.0,
        Easing::QuadInOut => -(n * (n - 2.0) - 1.0) / 2.0,
        Easing::QuadOutIn => halves(k, Easing::QuadOut, Easing::QuadIn),
        Easing::CubicIn => k.powi(3),
        Easing::CubicOut => (k - 1.0).powi(3) + 1.0,
        Easing::CubicInOut if first => m.powi(3) / 2.0,
        Easing::CubicInOut => ((m - 2.0).powi(3) + 2.0) / 2.0,
        Easing::CubicOutIn => halves(k, Easing::CubicOut, Easing::CubicIn),
        Easing::QuartIn => k.powi(4),
        Easing::QuartOut => 1.0 - (k - 1.0).powi(4),
        Easing::QuartInOut if first => m.powi(4) / 2.0,
        Easing::QuartInOut => -((m - 2.0).powi(4) - 2.0) / 2.0,
        Easing::QuartOutIn => halves(k, Easing::QuartOut, Easing::QuartIn),
        Easing::QuintIn => k.powi(5),
        Easing::QuintOut => (k - 1.0).powi(5) + 1.0,
        Easing::QuintInOut if first => m.powi(5) / 2.0,
        Easing::QuintInOut => ((m - 2.0).powi(5) + 2.0) / 2.0,
        Easing::QuintOutIn => halves(k, Easing::QuintOut, Easing::QuintIn),
        Easing::SineIn if k == 1.0 => 1.0,
        Easing::SineIn => 1.0 - (k * FRAC_PI_2).cos(),
        Easing::SineOut => (k * FRAC_PI_2).sin(),
        Easing::SineInOut => (1.0 - (PI * k).cos()) / 2.0,
        Easing::SineOutIn => halves(k, Easing::SineOut, Easing::SineIn),
        Easing::ExpoIn | Easing::ExpoInOut | Easing::ElasticIn | Easing::ElasticOut | Easing::ElasticInOut
            if k == 0.0 =>
        {
            0.0
        }
        Easing::ExpoOut | Easing::ExpoInOut | Easing::ElasticIn | Easing::ElasticOut | Easing::ElasticInOut
            if k == 1.0 =>
        {
            1.0
        }
        Easing::ExpoIn => (10.0 * (k - 1.0)).exp2(),
        Easing::ExpoOut => 1.0 - (-10.0 * k).exp2(),
        Easing::ExpoInOut if first => (10.0 * n).exp2() / 2.0,
        Easing::ExpoInOut => (2.0 - (-10.0 * n).exp2()) / 2.0,
        Easing::ExpoOutIn => halves(k, Easing::ExpoOut, Easing::ExpoIn),
        Easing::CircIn => 1.0 - (1.0 - k.powi(2)).sqrt(),
        Easing::CircOut => (1.0 - (k - 1.0).powi(2)).sqrt(),
        Easing::CircInOut if first => -((1.0 - m.powi(2)).sqrt() - 1.0) / 2.0,
        Easing::CircInOut => ((1.0 - (m - 2.0).powi(2)).sqrt() + 1.0) / 2.0,
        Easing::CircOutIn => halves(k, Easing::CircOut, Easing::CircIn),
        Easing::ElasticIn => -(10.0 * (k - 1.0)).exp2() * swing(k - 1.0),
        Easing::ElasticOut => (-10.0 * k).exp2() * swing(k) + 1.0,
        Easing::ElasticInOut if first => -0.5 * (10.0 * n).exp2() * swing(n),
        Easing::ElasticInOut => 0.5 * (-10.0 * n).exp2() * swing(n) + 1.0,
        Easing::ElasticOutIn => halves(k, Easing::ElasticOut, Easing::ElasticIn),
        Easing::BackIn if k == 1.0 => 1.0,
        Easing::BackIn => back(k, Easing::BACK_OVERSHOOT),
        Easing::BackOut if k == 0.0 => 0.0,
        Easing::BackOut => 1.0 - back(1.0 - k, Easing::BACK_OVERSHOOT),
        Easing::BackInOut if first => back(m, Easing::BACK_OVERSHOOT_IN_OUT) / 2.0,
        Easing::BackInOut => (2.0 - back(2.0 - m, Easing::BACK_OVERSHOOT_IN_OUT)) / 2.0,
        Easing::BackOutIn => halves(k, Easing::BackOut, Easing::BackIn),
        Easing::BounceIn => 1.0 - bounce_out(1.0 - k),
        Easing::BounceOut => bounce_out(k),
        Easing::BounceInOut => halves(k, Easing::BounceIn, Easing::BounceOut),
        Easing::BounceOutIn => halves(k, Easing::BounceOut, Easing::BounceIn),
        Easing::Smooth => {
            let k = k.clamp(0.0, 1.0);
            k.powi(2) * (3.0 - 2.0 * k)
        }
        Easing::Fade => {
            let k = k.clamp(0.0, 1.0);
            k.powi(3) * (k * (6.0 * k - 15.0) + 10.0)
        }
        Easing::Bezier(_) if easing.is_linear() => k,
        Easing::Bezier(points) => bezier(points, k.clamp(0.0, 1.0)),
    }
}

/// One easing in the first half of the time, the other in the second.
fn halves(k: f64, first: Easing, second: Easing) -> f64 {
    if k < 0.5 { ease(first, 2.0 * k) / 2.0 } else { ease(second, 2.0 * k - 1.0) / 2.0 + 0.5 }
}

/// The swing of the elastic easings: period 0.4, a quarter of a period late.
fn swing(k: f64) -> f64 {
    ((k - 0.1) * TAU / 0.4).sin()
}

fn back(k: f64, overshoot: f64) -> f64 {
    k.powi(2) * ((overshoot + 1.0) * k - overshoot)
}

fn bounce_out(k: f64) -> f64 {
    let (middle, top) = match k * 2.75 {
        k if k < 1.0 => (0.0, 0.0),
        k if k < 2.0 => (1.5, 0.75),
        k if k < 2.5 => (2.25, 0.9375),
        _ => (2.625, 0.984375),
    };
    7.5625 * (k - middle / 2.75).powi(2) + top
}

/// The y of the largest parameter in `[0, 1]` whose x is `k`, itself in `[0, 1]`.
fn bezier([x1, y1, x2, y2]: [f64; 4], k: f64) -> f64 {
    let x = Cubic([-k, x1 - k, x2 - k, 1.0 - k]);
    Cubic([0.0, y1, y2, 1.0]).at(x.last_root())
}

/// A cubic polynomial over `[0, 1]` by its Bezier control values, a form in which nothing is lost near either end.
struct Cubic([f64; 4]);

impl Cubic {
    fn at(&self, t: f64) -> f64 {
        let u = 1.0 - t;
        let [a, b, c, d] = self.0;
        a * u * u * u + 3.0 * b * u * u * t + 3.0 * c * u * t * t + d * t * t * t
    }

    /// Where it turns between 0 and 1, in order.
    fn turns(&self) -> Vec<f64> {
        let [a, b, c, d] = self.0;
        let (start, middle, end) = (b - a, c - b, d - c);
        let (square, linear) = (start - 2.0 * middle + end, 2.0 * (middle - start));
        let root = (linear * linear - 4.0 * square * start).sqrt();
        // Adding what has the same sign; a root that does not exist is NaN or infinite.
        let sum = -0.5 * (linear + root.copysign(linear));
        let mut turns = vec![sum / square, start / sum];
        turns.retain(|turn| 0.0 < *turn && *turn < 1.0);
        turns.sort_by(f64::total_cmp);
        turns
    }

    /// The largest root in `[0, 1]` of one that is not above 0 at the start and not below it at the end.
    fn last_root(&self) -> f64 {
        if self.0[3] == 0.0 {
            return 1.0;
        }
        let mut high = 1.0;
        for low in self.turns().into_iter().rev().chain([0.0]) {
            match self.at(low) {
                0.0 => return low,
                ..0.0 => return self.root_between(low, high),
                _ => high = low,
            }
        }
        0.0
    }

    /// The root between two places, below 0 at the first and above it at the second, by bisection.
    fn root_between(&self, mut low: f64, mut high: f64) -> f64 {
        loop {
            let middle = 0.5 * (low + high);
            let value = self.at(middle);
            if middle <= low || middle >= high || value == 0.0 {
                return middle;
            }
            if value < 0.0 { low = middle } else { high = middle }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_easing_leads_from_0_to_1_exactly() {
        for id in 0..44 {
            let easing = Easing::from_id(id).unwrap();
            let end = if easing == Easing::Constant { 0.0 } else { 1.0 };
            assert_eq!((ease(easing, 0.0), ease(easing, 1.0)), (0.0, end), "{easing:?}");
        }
    }

    #[test]
    fn a_bezier_leads_from_0_to_1_exactly() {
        // CSS ease-in and ease-out, at whose ends the closed formula takes a wrong root; a cubic coefficient of 0.
        for points in [[0.42, 0.0, 1.0, 1.0], [0.0, 0.0, 0.58, 1.0], [1.0 / 3.0, 0.5, 2.0 / 3.0, 0.1], [0.0; 4]] {
            let easing = Easing::Bezier(points);
            assert_eq!((ease(easing, 0.0), ease(easing, 1.0)), (0.0, 1.0), "{easing:?}");
        }
    }

    #[test]
    fn of_several_parameters_the_largest_counts() {
        // x = 3 t (1 - t)^2 x1 + ... with x1 = 2, x2 = -1 is 10 t^3 - 15 t^2 + 6 t: one half at 0.5, and at 0.5 -+ sqrt(0.15).
        let wanted = 0.5 + 0.15_f64.sqrt();
        assert!((Cubic([-0.5, 1.5, -1.5, 0.5]).last_root() - wanted).abs() < 1e-15);
        assert_eq!(Cubic([-1.0, 1.0, -2.0, 0.0]).last_root(), 1.0);
    }

    #[test]
    fn what_is_clamped_is_clamped() {
        for easing in [Easing::Smooth, Easing::Fade, Easing::Bezier([0.4, 0.0, 0.6, 1.0])] {
            assert_eq!((ease(easing, -0.5), ease(easing, 1.5)), (0.0, 1.0), "{easing:?}");
        }
        assert_eq!(ease(Easing::QuadIn, -3.0), 9.0);
    }
}
