//! Packing of easings: one code per interval of a timeline.
//!
//! Easing belongs to the search, not to the channels. A timeline with two easings is packed as two timelines that share
//! their key times. Each is eased once per instance, and sampling needs no knowledge of easing.

use std::collections::HashMap;

use crate::model::{Curve, CurveEasing, Easing};
use crate::pack::arrays::{Arrays, Sizes};
use crate::pack::record::{EASING_BEZIER, EASING_LINEAR, NONE};

/// The easings packed so far. Curves with equal easings share them.
#[derive(Default)]
pub struct Easings {
    codes: HashMap<Vec<u32>, u32>,
    beziers: HashMap<[u64; 4], u32>,
}

impl Easings {
    /// Packs a curve's easings, and returns the offset of their codes; [`NONE`] if all are linear.
    pub fn pack(&mut self, arrays: &mut Arrays, curve: &Curve) -> u32 {
        let keys = 0..code_count(curve);
        let mut codes: Vec<u32> = keys.map(|key| self.code(arrays, curve.easing_at(key))).collect();
        while let [.., a, b] = codes[..]
            && a == b
        {
            codes.pop();
        }
        if codes == [EASING_LINEAR] {
            return NONE;
        }
        *self.codes.entry(codes).or_insert_with_key(|codes| {
            let offset = arrays.push_records(&[codes.len() as u32]);
            arrays.push_records(codes);
            offset
        })
    }

    fn code(&mut self, arrays: &mut Arrays, easing: Easing) -> u32 {
        match easing {
            _ if easing.is_linear() => EASING_LINEAR,
            Easing::Bezier(points) => *self.beziers.entry(points.map(f64::to_bits)).or_insert_with(|| {
                let offset = arrays.push_value(points.map(|number| number as f32));
                arrays.push_value(folds(points).map(|number| number as f32));
                EASING_BEZIER + offset
            }),
            _ => easing.id().unwrap_or(EASING_LINEAR),
        }
    }
}

/// The largest number of codes that a curve's easings need. The last code rules all remaining intervals.
fn code_count(curve: &Curve) -> usize {
    match curve.easing() {
        CurveEasing::None | CurveEasing::One(_) => 1,
        CurveEasing::PerKey(easings) => (easings.len() + 1).min(curve.timeline().len() - 1).max(1),
    }
}

/// The largest size of a curve's packed easings.
pub fn sizes(curve: &Curve) -> Sizes {
    let codes = code_count(curve);
    Sizes { words: codes + 1, values: 2 * codes }
}

/// The two folds of a Bezier curve, as the parameter and the x of each. At the first fold x turns back, at the second
/// it turns forward again. All 0 if x rises throughout.
///
/// The last parameter of an x below the x of the second fold lies before the second fold. The last parameter of an x
/// below the x of the first fold lies before the first fold.
pub(crate) fn folds(points: [f64; 4]) -> [f64; 4] {
    let [x1, _, x2, _] = points;
    let (square, linear) = (1.0 + 3.0 * x1 - 3.0 * x2, 2.0 * (x2 - 2.0 * x1));
    let root = (linear * linear - 4.0 * square * x1).sqrt();
    // Adds numbers of the same sign, to lose no digits. A root that does not exist becomes NaN or infinite.
    let sum = -0.5 * (linear + root.copysign(linear));
    let inside = |t: &f64| 0.0 < *t && *t < 1.0;
    let (a, b) = (Some(sum / square).filter(inside), Some(x1 / sum).filter(inside));
    let fold = |t: f64| [t, 3.0 * (1.0 - t) * t * ((1.0 - t) * x1 + t * x2) + t * t * t];
    let [first, second] = match (a, b) {
        (Some(a), Some(b)) => [fold(a.min(b)), fold(a.max(b))],
        (a, b) => [[0.0; 2], a.or(b).map_or([0.0; 2], fold)],
    };
    [first[0], first[1], second[0], second[1]]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Interpolation, Timeline};
    use crate::pack::record;

    fn curve(interpolation: Interpolation, easing: CurveEasing) -> Curve {
        let timeline = Arc::new(Timeline::new(vec![0.0, 1.0, 2.0, 3.0]).unwrap());
        Curve::new(timeline, interpolation, 1, vec![0.0; 4]).unwrap().with_easing(easing).unwrap()
    }

    #[test]
    fn codes_are_the_numbers_of_the_names() {
        let groups = [
            ("quad", record::EASING_QUAD),
            ("cubic", record::EASING_CUBIC),
            ("quart", record::EASING_QUART),
            ("quint", record::EASING_QUINT),
            ("sine", record::EASING_SINE),
            ("expo", record::EASING_EXPO),
            ("circ", record::EASING_CIRC),
            ("elastic", record::EASING_ELASTIC),
            ("back", record::EASING_BACK),
            ("bounce", record::EASING_BOUNCE),
        ];
        let parts = [
            ("In", record::EASING_IN),
            ("Out", record::EASING_OUT),
            ("InOut", record::EASING_IN_OUT),
            ("OutIn", record::EASING_OUT_IN),
        ];
        let id = |name: &str| Easing::from_name(name).and_then(Easing::id);
        for (group, first) in groups {
            for (part, more) in parts {
                assert_eq!(id(&format!("{group}{part}")), Some(first + more), "{group}{part}");
            }
        }
        let alone = [record::EASING_LINEAR, record::EASING_CONSTANT, record::EASING_SMOOTH, record::EASING_FADE];
        assert_eq!(["linear", "constant", "smooth", "fade"].map(id), alone.map(Some));
    }

    #[test]
    fn equal_easings_share_the_fewest_codes() {
        let mut arrays = Arrays::default();
        let mut easings = Easings::default();
        let linear = Easing::Bezier([0.5; 4]);
        let mut pack = |easing: &[Easing]| {
            let easing = if let [one] = easing { CurveEasing::One(*one) } else { CurveEasing::PerKey(easing.into()) };
            let offset = easings.pack(&mut arrays, &curve(Interpolation::Linear, easing));
            (offset, arrays.words.len())
        };
        let (one, first) = pack(&[Easing::QuadIn]);
        assert_eq!((one, first), (0, 2));
        assert_eq!(pack(&[Easing::QuadIn; 3]), (0, 2), "the same");
        assert_eq!(pack(&[Easing::QuadIn; 7]), (0, 2), "easings beyond the last interval have no effect");
        assert_eq!(pack(&[linear, Easing::Linear]), (NONE, 2));
        assert_eq!(pack(&[]), (NONE, 2));
        assert_eq!(pack(&[Easing::Linear, Easing::Fade]), (2, 6));
        assert_eq!(pack(&[Easing::Linear, Easing::Fade, linear]), (2, 6), "the same");
        assert_eq!(pack(&[Easing::Bezier([0.0, 1.0, 0.0, 1.0]); 3]), (6, 8));
        assert_eq!(pack(&[Easing::Bezier([0.0, 1.0, 0.0, 1.0])]), (6, 8), "the same");
        let step = curve(Interpolation::Step, CurveEasing::One(Easing::QuadIn));
        assert_eq!(easings.pack(&mut arrays, &step), NONE);
        assert_eq!(arrays.words[..], [1, 2, 3, 0, 43, 0, 1, EASING_BEZIER]);
        assert_eq!(arrays.values[..], [glam::Vec4::new(0.0, 1.0, 0.0, 1.0), glam::Vec4::ZERO]);
    }

    #[test]
    fn x_turns_at_the_folds() {
        assert_eq!(folds([0.42, 0.0, 0.58, 1.0]), [0.0; 4]);
        assert_eq!(folds([1.0, 0.0, 0.0, 1.0]), [0.5; 4], "upright there");
        // 10 t^3 - 15 t^2 + 6 t turns where 5 t^2 - 5 t + 1 is 0.
        let found = folds([2.0, 0.0, -1.0, 1.0]);
        let t = 0.5 - 0.05_f64.sqrt();
        let x = |t: f64| ((10.0 * t - 15.0) * t + 6.0) * t;
        for (found, wanted) in found.into_iter().zip([t, x(t), 1.0 - t, x(1.0 - t)]) {
            assert!((found - wanted).abs() < 1e-15, "{found}, not {wanted}");
        }
        assert!(folds([-1.0, 0.0, 1.0, 1.0])[3] < 0.0 && folds([0.0, 0.0, 2.0, 1.0])[3] > 1.0);
    }
}
