//! Stage 4, after the search: from a fraction to the eased fraction.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use crate::model::{Curve, Easing};
use crate::reference::search;
use crate::reference::search::KeySpan;

/// The span of a time on a curve, with its fraction eased. A key that is hit stays hit, and a straight line stays
/// straight. `rotation` says that the curve is one of rotations.
pub fn span(curve: &Curve, time: f64, rotation: bool) -> KeySpan {
    let span = search::span(curve, time, rotation);
    if span.hit || span.straight {
        return span;
    }
    KeySpan { fraction: ease(curve.easing_at(span.key), span.fraction), ..span }
}

/// The value of an easing at `k`, by the formulas beside its variant.
///
/// Outside `[0, 1]` the formulas are continued as they stand, which gives NaN for the circular ones.
/// [`Easing::Smooth`], [`Easing::Fade`] and Bezier curves keep their value at the nearer end.
pub fn ease(easing: Easing, k: f64) -> f64 {
    use Direction::{In, InOut, Out, OutIn};
    match easing {
        Easing::Constant => 0.0,
        Easing::Linear => k,
        Easing::QuadIn => quad(In, k),
        Easing::QuadOut => quad(Out, k),
        Easing::QuadInOut => quad(InOut, k),
        Easing::QuadOutIn => quad(OutIn, k),
        Easing::CubicIn => cubic(In, k),
        Easing::CubicOut => cubic(Out, k),
        Easing::CubicInOut => cubic(InOut, k),
        Easing::CubicOutIn => cubic(OutIn, k),
        Easing::QuartIn => quart(In, k),
        Easing::QuartOut => quart(Out, k),
        Easing::QuartInOut => quart(InOut, k),
        Easing::QuartOutIn => quart(OutIn, k),
        Easing::QuintIn => quint(In, k),
        Easing::QuintOut => quint(Out, k),
        Easing::QuintInOut => quint(InOut, k),
        Easing::QuintOutIn => quint(OutIn, k),
        Easing::SineIn => sine(In, k),
        Easing::SineOut => sine(Out, k),
        Easing::SineInOut => sine(InOut, k),
        Easing::SineOutIn => sine(OutIn, k),
        Easing::ExpoIn => expo(In, k),
        Easing::ExpoOut => expo(Out, k),
        Easing::ExpoInOut => expo(InOut, k),
        Easing::ExpoOutIn => expo(OutIn, k),
        Easing::CircIn => circ(In, k),
        Easing::CircOut => circ(Out, k),
        Easing::CircInOut => circ(InOut, k),
        Easing::CircOutIn => circ(OutIn, k),
        Easing::ElasticIn => elastic(In, k),
        Easing::ElasticOut => elastic(Out, k),
        Easing::ElasticInOut => elastic(InOut, k),
        Easing::ElasticOutIn => elastic(OutIn, k),
        Easing::BackIn => back(In, k),
        Easing::BackOut => back(Out, k),
        Easing::BackInOut => back(InOut, k),
        Easing::BackOutIn => back(OutIn, k),
        Easing::BounceIn => bounce(In, k),
        Easing::BounceOut => bounce(Out, k),
        Easing::BounceInOut => bounce(InOut, k),
        Easing::BounceOutIn => bounce(OutIn, k),
        Easing::Smooth => smooth(k.clamp(0.0, 1.0)),
        Easing::Fade => fade(k.clamp(0.0, 1.0)),
        Easing::Bezier(_) if easing.is_linear() => k,
        Easing::Bezier(points) => bezier(points, k.clamp(0.0, 1.0)),
    }
}

/// The direction of an easing: `In` begins slowly, `Out` ends slowly, `InOut` does both, `OutIn` is slow in the middle.
#[derive(Clone, Copy)]
enum Direction {
    In,
    Out,
    InOut,
    OutIn,
}

/// The function of a family of easings, such as [`quad`].
type Family = fn(Direction, f64) -> f64;

/// One direction of a family in the first half of the time, another one in the second.
fn halves(family: Family, first: Direction, second: Direction, k: f64) -> f64 {
    if k < 0.5 { family(first, 2.0 * k) / 2.0 } else { family(second, 2.0 * k - 1.0) / 2.0 + 0.5 }
}

/// `Out` in the first half of the time, `In` in the second.
fn out_in(family: Family, k: f64) -> f64 {
    halves(family, Direction::Out, Direction::In, k)
}

fn quad(direction: Direction, k: f64) -> f64 {
    let m = 2.0 * k;
    let n = m - 1.0;
    match direction {
        Direction::In => k.powi(2),
        Direction::Out => k * (2.0 - k),
        Direction::InOut if m < 1.0 => m.powi(2) / 2.0,
        Direction::InOut => -(n * (n - 2.0) - 1.0) / 2.0,
        Direction::OutIn => out_in(quad, k),
    }
}

fn cubic(direction: Direction, k: f64) -> f64 {
    let m = 2.0 * k;
    match direction {
        Direction::In => k.powi(3),
        Direction::Out => (k - 1.0).powi(3) + 1.0,
        Direction::InOut if m < 1.0 => m.powi(3) / 2.0,
        Direction::InOut => ((m - 2.0).powi(3) + 2.0) / 2.0,
        Direction::OutIn => out_in(cubic, k),
    }
}

fn quart(direction: Direction, k: f64) -> f64 {
    let m = 2.0 * k;
    match direction {
        Direction::In => k.powi(4),
        Direction::Out => 1.0 - (k - 1.0).powi(4),
        Direction::InOut if m < 1.0 => m.powi(4) / 2.0,
        Direction::InOut => -((m - 2.0).powi(4) - 2.0) / 2.0,
        Direction::OutIn => out_in(quart, k),
    }
}

fn quint(direction: Direction, k: f64) -> f64 {
    let m = 2.0 * k;
    match direction {
        Direction::In => k.powi(5),
        Direction::Out => (k - 1.0).powi(5) + 1.0,
        Direction::InOut if m < 1.0 => m.powi(5) / 2.0,
        Direction::InOut => ((m - 2.0).powi(5) + 2.0) / 2.0,
        Direction::OutIn => out_in(quint, k),
    }
}

fn sine(direction: Direction, k: f64) -> f64 {
    match direction {
        Direction::In if k == 1.0 => 1.0,
        Direction::In => 1.0 - (k * FRAC_PI_2).cos(),
        Direction::Out => (k * FRAC_PI_2).sin(),
        Direction::InOut => (1.0 - (PI * k).cos()) / 2.0,
        Direction::OutIn => out_in(sine, k),
    }
}

fn expo(direction: Direction, k: f64) -> f64 {
    let n = 2.0 * k - 1.0;
    match direction {
        Direction::In | Direction::InOut if k == 0.0 => 0.0,
        Direction::Out | Direction::InOut if k == 1.0 => 1.0,
        Direction::In => (10.0 * (k - 1.0)).exp2(),
        Direction::Out => 1.0 - (-10.0 * k).exp2(),
        Direction::InOut if n < 0.0 => (10.0 * n).exp2() / 2.0,
        Direction::InOut => (2.0 - (-10.0 * n).exp2()) / 2.0,
        Direction::OutIn => out_in(expo, k),
    }
}

fn circ(direction: Direction, k: f64) -> f64 {
    let m = 2.0 * k;
    match direction {
        Direction::In => 1.0 - (1.0 - k.powi(2)).sqrt(),
        Direction::Out => (1.0 - (k - 1.0).powi(2)).sqrt(),
        Direction::InOut if m < 1.0 => -((1.0 - m.powi(2)).sqrt() - 1.0) / 2.0,
        Direction::InOut => ((1.0 - (m - 2.0).powi(2)).sqrt() + 1.0) / 2.0,
        Direction::OutIn => out_in(circ, k),
    }
}

fn elastic(direction: Direction, k: f64) -> f64 {
    let n = 2.0 * k - 1.0;
    match direction {
        Direction::OutIn => out_in(elastic, k),
        _ if k == 0.0 => 0.0,
        _ if k == 1.0 => 1.0,
        Direction::In => -(10.0 * (k - 1.0)).exp2() * swing(k - 1.0),
        Direction::Out => (-10.0 * k).exp2() * swing(k) + 1.0,
        Direction::InOut if n < 0.0 => -0.5 * (10.0 * n).exp2() * swing(n),
        Direction::InOut => 0.5 * (-10.0 * n).exp2() * swing(n) + 1.0,
    }
}

/// The oscillation of the elastic easings. Its period is 0.4, and it begins a quarter of a period late.
fn swing(k: f64) -> f64 {
    ((k - 0.1) * TAU / 0.4).sin()
}

fn back(direction: Direction, k: f64) -> f64 {
    let m = 2.0 * k;
    match direction {
        Direction::In if k == 1.0 => 1.0,
        Direction::In => overshoot(k, Easing::BACK_OVERSHOOT),
        Direction::Out if k == 0.0 => 0.0,
        Direction::Out => 1.0 - overshoot(1.0 - k, Easing::BACK_OVERSHOOT),
        Direction::InOut if m < 1.0 => overshoot(m, Easing::BACK_OVERSHOOT_IN_OUT) / 2.0,
        Direction::InOut => (2.0 - overshoot(2.0 - m, Easing::BACK_OVERSHOOT_IN_OUT)) / 2.0,
        Direction::OutIn => out_in(back, k),
    }
}

fn overshoot(k: f64, coefficient: f64) -> f64 {
    k.powi(2) * ((coefficient + 1.0) * k - coefficient)
}

fn bounce(direction: Direction, k: f64) -> f64 {
    match direction {
        Direction::In => 1.0 - bounce_out(1.0 - k),
        Direction::Out => bounce_out(k),
        Direction::InOut => halves(bounce, Direction::In, Direction::Out, k),
        Direction::OutIn => out_in(bounce, k),
    }
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

fn smooth(k: f64) -> f64 {
    k.powi(2) * (3.0 - 2.0 * k)
}

fn fade(k: f64) -> f64 {
    k.powi(3) * (k * (6.0 * k - 15.0) + 10.0)
}

/// The y of the largest parameter in `[0, 1]` at which a Bezier curve has the x `k`, itself in `[0, 1]`.
fn bezier(points: [f64; 4], k: f64) -> f64 {
    let [x1, y1, x2, y2] = points;
    let x = Cubic([-k, x1 - k, x2 - k, 1.0 - k]);
    Cubic([0.0, y1, y2, 1.0]).at(x.last_root())
}

/// A cubic polynomial over `[0, 1]` by its Bezier control values. This form loses no precision near either end.
struct Cubic([f64; 4]);

impl Cubic {
    fn at(&self, t: f64) -> f64 {
        let u = 1.0 - t;
        let [a, b, c, d] = self.0;
        a * u * u * u + 3.0 * b * u * u * t + 3.0 * c * u * t * t + d * t * t * t
    }

    /// The parameters between 0 and 1 at which it turns, in order.
    fn turns(&self) -> Vec<f64> {
        let [a, b, c, d] = self.0;
        let (start, middle, end) = (b - a, c - b, d - c);
        let (square, linear) = (start - 2.0 * middle + end, 2.0 * (middle - start));
        let root = (linear * linear - 4.0 * square * start).sqrt();
        // The terms of the sum have the same sign. A root that does not exist is NaN or infinite.
        let sum = -0.5 * (linear + root.copysign(linear));
        let mut turns = vec![sum / square, start / sum];
        turns.retain(|turn| 0.0 < *turn && *turn < 1.0);
        turns.sort_by(f64::total_cmp);
        turns
    }

    /// The largest root in `[0, 1]` of a polynomial that is not above 0 at the start and not below 0 at the end.
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

    /// The root between two parameters, by bisection. The polynomial is below 0 at the first one and above it at the
    /// second.
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
        // CSS ease-in and ease-out: at their ends the closed formula takes a wrong root. Then a cubic coefficient of 0.
        for points in [[0.42, 0.0, 1.0, 1.0], [0.0, 0.0, 0.58, 1.0], [1.0 / 3.0, 0.5, 2.0 / 3.0, 0.1], [0.0; 4]] {
            let easing = Easing::Bezier(points);
            assert_eq!((ease(easing, 0.0), ease(easing, 1.0)), (0.0, 1.0), "{easing:?}");
        }
    }

    #[test]
    fn the_largest_of_several_parameters_counts() {
        // x = 3 t (1 - t)^2 x1 + ... with x1 = 2, x2 = -1 is 10 t^3 - 15 t^2 + 6 t: one half at 0.5, and at 0.5 -+
        // sqrt(0.15).
        let wanted = 0.5 + 0.15_f64.sqrt();
        assert!((Cubic([-0.5, 1.5, -1.5, 0.5]).last_root() - wanted).abs() < 1e-15);
        assert_eq!(Cubic([-1.0, 1.0, -2.0, 0.0]).last_root(), 1.0);
    }

    #[test]
    fn some_easings_are_clamped() {
        for easing in [Easing::Smooth, Easing::Fade, Easing::Bezier([0.4, 0.0, 0.6, 1.0])] {
            assert_eq!((ease(easing, -0.5), ease(easing, 1.5)), (0.0, 1.0), "{easing:?}");
        }
        assert_eq!(ease(Easing::QuadIn, -3.0), 9.0);
    }
}
