//! How the way from a key to the next is paced.

use std::sync::Arc;

use crate::error::Error;

macro_rules! easings {
    ($($name:literal $(#[$doc:meta])* $variant:ident,)*) => {
        /// A map of the fraction `k` of the way between two keys to an eased one, which values are then interpolated by.
        ///
        /// Names, numbers and formulas are those of Cocos Creator. `k` is in `[0, 1]`; the result may leave it and is not
        /// clamped. In the formulas `m = 2k` and `n = m - 1`; a formula with two lines holds up to `k = 1/2` and from there.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum Easing {
            $($(#[$doc])* $variant,)*
            /// A cubic Bezier curve as in CSS, `[x1, y1, x2, y2]`, from (0, 0) to (1, 1): at `k` the y of the largest
            /// parameter in `[0, 1]` whose x is `k`.
            ///
            /// Each number is at most a million either way, checked where a curve takes it. Where x1 = y1 and x2 = y2 it
            /// is linear.
            Bezier([f64; 4]),
        }

        /// All easings that have a name, each at the index that is its number.
        const NAMED: [(Easing, &str); 44] = [$((Easing::$variant, $name),)*];
    };
}

easings! {
    "linear" /** `k`. */ Linear,
    "constant" /** 0: the value of a key until the next is hit. */ Constant,
    "quadIn" /** `k^2`. */ QuadIn,
    "quadOut" /** `k (2 - k)`. */ QuadOut,
    "quadInOut" /** `m^2 / 2`, then `(1 - n (n - 2)) / 2`. */ QuadInOut,
    "quadOutIn" /** `quadOut(m) / 2`, then `(quadIn(n) + 1) / 2`. */ QuadOutIn,
    "cubicIn" /** `k^3`. */ CubicIn,
    "cubicOut" /** `(k - 1)^3 + 1`. */ CubicOut,
    "cubicInOut" /** `m^3 / 2`, then `((m - 2)^3 + 2) / 2`. */ CubicInOut,
    "cubicOutIn" /** `cubicOut(m) / 2`, then `(cubicIn(n) + 1) / 2`. */ CubicOutIn,
    "quartIn" /** `k^4`. */ QuartIn,
    "quartOut" /** `1 - (k - 1)^4`. */ QuartOut,
    "quartInOut" /** `m^4 / 2`, then `(2 - (m - 2)^4) / 2`. */ QuartInOut,
    "quartOutIn" /** `quartOut(m) / 2`, then `(quartIn(n) + 1) / 2`. */ QuartOutIn,
    "quintIn" /** `k^5`. */ QuintIn,
    "quintOut" /** `(k - 1)^5 + 1`. */ QuintOut,
    "quintInOut" /** `m^5 / 2`, then `((m - 2)^5 + 2) / 2`. */ QuintInOut,
    "quintOutIn" /** `quintOut(m) / 2`, then `(quintIn(n) + 1) / 2`. */ QuintOutIn,
    "sineIn" /** `1 - cos(pi k / 2)`. */ SineIn,
    "sineOut" /** `sin(pi k / 2)`. */ SineOut,
    "sineInOut" /** `(1 - cos(pi k)) / 2`. */ SineInOut,
    "sineOutIn" /** `sineOut(m) / 2`, then `(sineIn(n) + 1) / 2`. */ SineOutIn,
    "expoIn" /** `2^(10 (k - 1))`, but 0 at 0. */ ExpoIn,
    "expoOut" /** `1 - 2^(-10 k)`, but 1 at 1. */ ExpoOut,
    "expoInOut" /** `2^(10 n) / 2`, then `(2 - 2^(-10 n)) / 2`, but 0 at 0 and 1 at 1. */ ExpoInOut,
    "expoOutIn" /** `expoOut(m) / 2`, then `(expoIn(n) + 1) / 2`. */ ExpoOutIn,
    "circIn" /** `1 - sqrt(1 - k^2)`. */ CircIn,
    "circOut" /** `sqrt(1 - (k - 1)^2)`. */ CircOut,
    "circInOut" /** `(1 - sqrt(1 - m^2)) / 2`, then `(sqrt(1 - (m - 2)^2) + 1) / 2`. */ CircInOut,
    "circOutIn" /** `circOut(m) / 2`, then `(circIn(n) + 1) / 2`. */ CircOutIn,
    "elasticIn" /** `-2^(10 (k - 1)) sin(5 pi (k - 1.1))`, but 0 at 0 and 1 at 1. */ ElasticIn,
    "elasticOut" /** `2^(-10 k) sin(5 pi (k - 0.1)) + 1`, but 0 at 0 and 1 at 1. */ ElasticOut,
    "elasticInOut"
    /** `-2^(10 n) sin(5 pi (n - 0.1)) / 2`, then `2^(-10 n) sin(5 pi (n - 0.1)) / 2 + 1`, but 0 at 0 and 1 at 1. */
    ElasticInOut,
    "elasticOutIn" /** `elasticOut(m) / 2`, then `(elasticIn(n) + 1) / 2`. */ ElasticOutIn,
    "backIn" /** `k^2 ((S + 1) k - S)` with S = 1.70158. */ BackIn,
    "backOut" /** `(k - 1)^2 ((S + 1) (k - 1) + S) + 1` with S = 1.70158. */ BackOut,
    "backInOut"
    /** `m^2 ((T + 1) m - T) / 2`, then `((m - 2)^2 ((T + 1) (m - 2) + T) + 2) / 2` with T = 2.5949095. */
    BackInOut,
    "backOutIn" /** `backOut(m) / 2`, then `(backIn(n) + 1) / 2`. */ BackOutIn,
    "bounceIn" /** `1 - bounceOut(1 - k)`. */ BounceIn,
    "bounceOut"
    /** `7.5625 (k - a)^2 + b`, where a is 0, 1.5, 2.25 or 2.625 in 2.75 and b is 0, 0.75, 0.9375 or 0.984375, for k below
     1, 2, 2.5 in 2.75, and above. */
    BounceOut,
    "bounceInOut" /** `bounceIn(m) / 2`, then `(bounceOut(n) + 1) / 2`. */ BounceInOut,
    "bounceOutIn" /** `bounceOut(m) / 2`, then `(bounceIn(n) + 1) / 2`. */ BounceOutIn,
    "smooth" /** `k^2 (3 - 2k)`; 0 below 0, 1 above 1. */ Smooth,
    "fade" /** `k^3 (k (6k - 15) + 10)`; 0 below 0, 1 above 1. */ Fade,
}

impl Easing {
    /// The easing of a name, `quadInOut` for example; `None` where there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        NAMED.iter().find(|(_, known)| *known == name).map(|(easing, _)| *easing)
    }

    /// The easing of the number that Cocos Creator 3 files have for it, 0 to 43; `None` beyond.
    pub fn from_id(id: u32) -> Option<Self> {
        NAMED.get(id as usize).map(|(easing, _)| *easing)
    }

    /// Its number; `None` for a Bezier curve.
    pub fn id(self) -> Option<u32> {
        NAMED.iter().position(|(easing, _)| *easing == self).map(|id| id as u32)
    }

    /// Its name; `None` for a Bezier curve.
    pub fn name(self) -> Option<&'static str> {
        self.id().map(|id| NAMED[id as usize].1)
    }

    /// Whether it changes nothing.
    pub fn is_linear(self) -> bool {
        match self {
            Self::Bezier([x1, y1, x2, y2]) => x1 == y1 && x2 == y2,
            easing => easing == Self::Linear,
        }
    }

    /// Why no curve can take it, where none can.
    fn fault(self) -> Option<String> {
        let Self::Bezier(points) = self else { return None };
        let number = points.into_iter().find(|number| !matches!(number.abs(), 0.0..=1e6))?;
        Some(format!("the Bezier control point number {number} is not within a million"))
    }
}

/// The easings of a curve.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum CurveEasing {
    /// None: the fraction stays as it is.
    #[default]
    None,
    /// One for all intervals.
    One(Easing),
    /// The easing at a key's index rules the interval that starts at that key. Beyond the end of the list it is linear;
    /// entries beyond the last interval have no effect.
    PerKey(Arc<[Easing]>),
}

impl CurveEasing {
    /// The easing of the interval that starts at a key.
    pub fn at(&self, key: usize) -> Easing {
        match self {
            Self::None => Easing::Linear,
            Self::One(easing) => *easing,
            Self::PerKey(easings) => easings.get(key).copied().unwrap_or(Easing::Linear),
        }
    }

    /// Checks that every Bezier curve's numbers are within a million.
    ///
    /// # Errors
    /// [`Error::Curve`] with the index of the first key for which that is not so.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let easings = match self {
            Self::None => &[],
            Self::One(easing) => std::slice::from_ref(easing),
            Self::PerKey(easings) => &**easings,
        };
        let faulty = easings.iter().enumerate().find_map(|(key, easing)| Some((key, easing.fault()?)));
        faulty.map_or(Ok(()), |(value, reason)| Err(Error::Curve { value, reason: format!("its easing: {reason}") }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_lead_to_the_same_easing() {
        for id in 0..44 {
            let easing = Easing::from_id(id).unwrap();
            assert_eq!((easing.id(), Easing::from_name(easing.name().unwrap())), (Some(id), Some(easing)));
        }
        assert_eq!(Easing::from_name("elasticOutIn"), Easing::from_id(33));
        assert_eq!((Easing::from_id(44), Easing::from_name("quadin"), Easing::from_name("")), (None, None, None));
        assert_eq!(Easing::Bezier([0.0; 4]).name(), None);
    }

    #[test]
    fn bezier_points_on_the_diagonal_are_linear() {
        assert!(Easing::Bezier([0.9, 0.9, -2.0, -2.0]).is_linear());
        assert!(!Easing::Bezier([0.2, 0.3, 0.6, 0.6]).is_linear());
    }

    #[test]
    fn a_faulty_bezier_is_refused_at_its_key() {
        for number in [f64::NAN, f64::INFINITY, -1e7] {
            let faulty = Easing::Bezier([0.0, number, 1.0, 1.0]);
            let easing = CurveEasing::PerKey([Easing::QuadIn, faulty].into());
            assert!(matches!(easing.check(), Err(Error::Curve { value: 1, .. })), "{number}");
            assert!(CurveEasing::One(faulty).check().is_err());
        }
        assert!(CurveEasing::PerKey([Easing::Bezier([-1.0, 1e6, 2.0, -1e6])].into()).check().is_ok());
    }
}
