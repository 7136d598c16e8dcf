//! Easings: maps of the fraction between two keys.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Error;

macro_rules! easings {
    ($($name:literal $(#[$doc:meta])* $variant:ident,)*) => {
        /// A map from the fraction `k` between two keys to the fraction by which the values are interpolated.
        ///
        /// Names, numbers and formulas come from Cocos Creator. `k` is in `[0, 1]`; the result may leave this range
        /// and is not clamped. In the formulas `m = 2k` and `n = m - 1`. Of a formula with two parts, the first holds
        /// below `k = 1/2` and the second from there on.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum Easing {
            $($(#[$doc])* $variant,)*
            /// A cubic Bezier curve as in CSS, `[x1, y1, x2, y2]`, from (0, 0) to (1, 1): the y at the largest
            /// parameter in `[0, 1]` at which x is `k`.
            ///
            /// Each number is from -1e6 to 1e6; a curve checks this when it takes the easing. The easing is linear if
            /// x1 = y1 and x2 = y2.
            Bezier([f64; 4]),
        }

        /// All easings with a name, ordered by number.
        const NAMED: [(Easing, &str); 44] = [$((Easing::$variant, $name),)*];
    };
}

easings! {
    "linear" /** `k`. */ Linear,
    "constant" /** 0: the value of a key holds until the next key. */ Constant,
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
    /// The overshoot of the `back` easings, in terms of R. Penner's formula `k^2 ((s + 1) k - s)`.
    pub(crate) const BACK_OVERSHOOT: f64 = 1.70158;

    /// The overshoot of `backInOut`, per half.
    pub(crate) const BACK_OVERSHOOT_IN_OUT: f64 = 1.525 * Self::BACK_OVERSHOOT;

    /// The easing of a name such as `quadInOut`; `None` if no easing has the name.
    pub fn from_name(name: &str) -> Option<Self> {
        NAMED.iter().find(|(_, known)| *known == name).map(|(easing, _)| *easing)
    }

    /// The easing of a number in Cocos Creator 3 files, 0 to 43; `None` beyond.
    pub fn from_id(id: u32) -> Option<Self> {
        NAMED.get(id as usize).map(|(easing, _)| *easing)
    }

    /// The number of the easing; `None` for a Bezier curve.
    pub fn id(self) -> Option<u32> {
        NAMED.iter().position(|(easing, _)| *easing == self).map(|id| id as u32)
    }

    /// The name of the easing; `None` for a Bezier curve.
    pub fn name(self) -> Option<&'static str> {
        self.id().map(|id| NAMED[id as usize].1)
    }

    /// Returns `true` if it maps every fraction to itself.
    pub fn is_linear(self) -> bool {
        match self {
            Self::Bezier([x1, y1, x2, y2]) => x1 == y1 && x2 == y2,
            easing => easing == Self::Linear,
        }
    }

    /// The message for an unusable Bezier curve.
    fn error(self) -> Option<String> {
        let Self::Bezier(points) = self else { return None };
        let number = points.into_iter().find(|number| !matches!(number.abs(), 0.0..=1e6))?;
        Some(format!("a Bezier control point has the coordinate {number}; expected -1e6 to 1e6"))
    }
}

/// The easings of a curve.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum CurveEasing {
    /// No easing: the fraction stays unchanged.
    #[default]
    None,
    /// One easing for all intervals.
    One(Easing),
    /// One easing per key, for the interval that starts at the key. Intervals beyond the end of the list are linear.
    /// Entries beyond the last interval have no effect.
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

    /// The easings of some of the keys.
    pub(crate) fn part(&self, keys: Range<usize>) -> Self {
        let Self::PerKey(easings) = self else { return self.clone() };
        let end = keys.end.min(easings.len());
        Self::PerKey(easings[keys.start.min(end)..end].into())
    }

    /// Checks that the numbers of every Bezier curve are from -1e6 to 1e6.
    ///
    /// # Errors
    /// [`Error::Curve`] with the index of the first key that fails the check.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let easings = match self {
            Self::None => &[],
            Self::One(easing) => std::slice::from_ref(easing),
            Self::PerKey(easings) => &**easings,
        };
        let faulty = easings.iter().enumerate().find_map(|(key, easing)| Some((key, easing.error()?)));
        faulty.map_or(Ok(()), |(value, reason)| Err(Error::Curve { value, reason: format!("easing: {reason}") }))
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
    fn an_errory_bezier_is_refused_at_its_key() {
        for number in [f64::NAN, f64::INFINITY, -1e7] {
            let faulty = Easing::Bezier([0.0, number, 1.0, 1.0]);
            let easing = CurveEasing::PerKey([Easing::QuadIn, faulty].into());
            assert!(matches!(easing.check(), Err(Error::Curve { value: 1, .. })), "{number}");
            assert!(CurveEasing::One(faulty).check().is_err());
        }
        assert!(CurveEasing::PerKey([Easing::Bezier([-1.0, 1e6, 2.0, -1e6])].into()).check().is_ok());
    }
}
