//! Values over a timeline.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::error::Error;
use crate::model::numbers::{Number, Numbers, on_numbers, unusable};
use crate::model::{CurveEasing, Easing, Extrapolation, Interpolation, Timeline};

/// Values over a timeline. Before the first key it has the value of that key, after the last key the value of that key, unless it
/// has an [`Extrapolation`].
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    timeline: Arc<Timeline>,
    interpolation: Interpolation,
    width: usize,
    /// The numbers, shared by copies of the curve.
    values: Arc<Numbers>,
    easing: CurveEasing,
    extrapolation: [Extrapolation; 2],
}

/// Parts of numbers, by the identity of the whole and the range that they are of.
pub(super) type NumberParts = HashMap<(usize, Range<usize>), Arc<Numbers>>;

/// Consecutive numbers of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NumberRange {
    /// The index of the first number.
    pub first: usize,
    /// The number of numbers.
    pub count: usize,
}

impl NumberRange {
    pub const fn new(first: usize, count: usize) -> Self {
        Self { first, count }
    }
}

impl Curve {
    /// A curve of elements of `width` numbers, key after key. With [`Interpolation::CubicSpline`], a key is an in-tangent, a value
    /// and an out-tangent, each of `width` numbers.
    ///
    /// # Errors
    /// [`Error::Curve`] if the count is not `keys * width * elements_per_key`, `width` is 0, or a number is not finite or beyond
    /// the range of an `f32`.
    pub fn new(
        timeline: Arc<Timeline>,
        interpolation: Interpolation,
        width: usize,
        values: Vec<f64>,
    ) -> Result<Self, Error> {
        Self::from_numbers(timeline, interpolation, width, values)
    }

    /// The same as [`new`](Self::new) from `f32` numbers. They take half the memory until the first request for `f64` numbers.
    ///
    /// # Errors
    /// The same as [`new`](Self::new).
    pub fn from_f32(
        timeline: Arc<Timeline>,
        interpolation: Interpolation,
        width: usize,
        values: Vec<f32>,
    ) -> Result<Self, Error> {
        Self::from_numbers(timeline, interpolation, width, values)
    }

    fn from_numbers<T: Number>(
        timeline: Arc<Timeline>,
        interpolation: Interpolation,
        width: usize,
        values: Vec<T>,
    ) -> Result<Self, Error>
    where
        Numbers: From<Vec<T>>,
    {
        let per_key = width.checked_mul(interpolation.elements_per_key());
        let wanted = per_key.and_then(|per_key| per_key.checked_mul(timeline.len()));
        if width == 0 || wanted != Some(values.len()) {
            let reason = format!(
                "found {} numbers; expected {} keys of {} x {width} numbers, and a width of 1 or more",
                values.len(),
                timeline.len(),
                interpolation.elements_per_key()
            );
            return Err(Error::Curve { value: values.len(), reason });
        }
        if let Some((value, number)) = unusable(&values) {
            return Err(Error::Curve {
                value,
                reason: format!("{number} is not a finite number in the range of an f32"),
            });
        }
        if interpolation == Interpolation::Slerp && width != 4 {
            let reason = format!("the curve is {width} wide, but Slerp interpolates quaternions of 4 numbers");
            return Err(Error::Curve { value: 0, reason });
        }
        let (values, extrapolation) = (Arc::new(values.into()), [Extrapolation::Clamp; 2]);
        Ok(Self { timeline, interpolation, width, values, easing: CurveEasing::None, extrapolation })
    }

    /// The same curve with other easings. A new curve has none.
    ///
    /// Easings have no effect on [`Interpolation::Step`], nor at the time of a key.
    ///
    /// # Errors
    /// [`Error::Curve`] with the index of the first key with a Bezier coordinate beyond -1e6 to 1e6.
    pub fn with_easing(self, easing: CurveEasing) -> Result<Self, Error> {
        easing.check()?;
        Ok(Self { easing, ..self })
    }

    /// The same curve with these extrapolations before its first key and after its last. They apply from time 0 to the
    /// [`length`](crate::Clip::length) of the clip, which the clip must then have. With a single key they have no effect.
    pub fn with_extrapolation(self, before: Extrapolation, after: Extrapolation) -> Self {
        Self { extrapolation: [before, after], ..self }
    }

    /// The extrapolations before the first key and after the last.
    pub fn extrapolation(&self) -> [Extrapolation; 2] {
        self.extrapolation
    }

    /// An upper bound of the keys that unrolling adds for a clip of this length; 0 without extrapolation.
    pub(crate) fn looped_keys(&self, length: Option<f64>) -> usize {
        let timeline = &self.timeline;
        let span = timeline.last() - timeline.first();
        let (Some(length), true) = (length, span > 0.0) else { return 0 };
        let outside = [timeline.first(), length - timeline.last()];
        let keys = |(extrapolation, outside): (&Extrapolation, f64)| match extrapolation {
            _ if outside <= 0.0 => 0.0,
            Extrapolation::Clamp => 0.0,
            Extrapolation::Linear => 1.0,
            Extrapolation::Loop | Extrapolation::PingPong => ((outside / span).floor() + 1.0) * timeline.len() as f64,
        };
        self.extrapolation.iter().zip(outside).map(keys).sum::<f64>() as usize
    }

    /// A curve of other values with the same key times, easings and extrapolations.
    ///
    /// # Errors
    /// The same as [`new`](Self::new).
    pub fn with_values(&self, interpolation: Interpolation, width: usize, values: Vec<f64>) -> Result<Self, Error> {
        let curve = Self::new(self.timeline.clone(), interpolation, width, values)?;
        Ok(Self { easing: self.easing.clone(), extrapolation: self.extrapolation, ..curve })
    }

    /// A curve of some of the keys, whose times are those of `timeline`. It does not extrapolate. Its values are those in
    /// `parts`, or are added to them.
    pub(super) fn part(&self, keys: Range<usize>, timeline: Arc<Timeline>, parts: &mut NumberParts) -> Self {
        let per_key = self.width * self.interpolation.elements_per_key();
        let numbers = keys.start * per_key..keys.end * per_key;
        let part = || Arc::new(self.values.part(numbers.clone()));
        let values = parts.entry((self.values_identity(), numbers.clone())).or_insert_with(part).clone();
        let extrapolation = [Extrapolation::Clamp; 2];
        Self { timeline, values, easing: self.easing.part(keys), extrapolation, ..self.clone() }
    }

    /// The key times, possibly shared with other curves.
    pub fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }

    /// The interpolation between two keys.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// Numbers per element: 3 for a translation or scale, 4 for a rotation, the number of morph targets for weights.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The easings.
    pub fn easing(&self) -> &CurveEasing {
        &self.easing
    }

    /// The effective easing between a key and the next: linear for [`Interpolation::Step`].
    pub fn easing_at(&self, key: usize) -> Easing {
        if self.interpolation == Interpolation::Step { Easing::Linear } else { self.easing.at(key) }
    }

    /// All numbers, in the order of [`new`](Self::new). A curve from [`from_f32`](Self::from_f32) widens its numbers on the first
    /// request for all numbers, a value or a tangent.
    pub fn values(&self) -> &[f64] {
        self.values.wide()
    }

    /// An identifier that is equal for curves that share their values, and for no others.
    pub(crate) fn values_identity(&self) -> usize {
        Arc::as_ptr(&self.values).addr()
    }

    /// Up to four numbers of an element of a key, followed by zeros. The values are not widened.
    ///
    /// # Panics
    /// If there is no such key, element or number.
    pub(crate) fn numbers(&self, key: usize, element: usize, range: NumberRange) -> [f64; 4] {
        let start = (key * self.interpolation.elements_per_key() + element) * self.width + range.first;
        on_numbers!(&*self.values, values => pad_to_four(&values[start..start + range.count]))
    }

    /// The index of the value among the elements of a key: 1 for a cubic spline, otherwise 0.
    pub(crate) fn value_element(&self) -> usize {
        usize::from(self.interpolation == Interpolation::CubicSpline)
    }

    /// The value of a key, `width` numbers.
    ///
    /// # Panics
    /// If there is no such key.
    pub fn value(&self, key: usize) -> &[f64] {
        self.element(key, self.value_element())
    }

    /// The in-tangent of a key of a cubic spline, `width` numbers, in units per second.
    ///
    /// # Panics
    /// If there is no such key, or the curve is no cubic spline.
    pub fn in_tangent(&self, key: usize) -> &[f64] {
        assert_eq!(self.interpolation, Interpolation::CubicSpline, "only cubic splines have tangents");
        self.element(key, 0)
    }

    /// The out-tangent of a key of a cubic spline, `width` numbers, in units per second.
    ///
    /// # Panics
    /// If there is no such key, or the curve is no cubic spline.
    pub fn out_tangent(&self, key: usize) -> &[f64] {
        assert_eq!(self.interpolation, Interpolation::CubicSpline, "only cubic splines have tangents");
        self.element(key, 2)
    }

    /// True if every key has the same value and every tangent is 0, so that the curve needs no keys. A curve of a custom
    /// interpolator with several keys is never constant, because the interpolator may move between equal keys.
    pub fn is_constant(&self) -> bool {
        on_numbers!(&*self.values, values => self.are_constant(values))
    }

    fn are_constant<T: Number>(&self, values: &[T]) -> bool {
        if self.timeline.len() == 1 {
            return true;
        }
        let (width, middle) = (self.width, self.value_element() * self.width);
        let first = &values[middle..middle + width];
        let moves = match self.interpolation {
            Interpolation::Custom(_) => true,
            // Between equal quaternions that are not of unit length, slerp changes the length.
            Interpolation::Slerp => 1.0 - first.iter().map(|&number| number.into().powi(2)).sum::<f64>() > 1e-6,
            _ => false,
        };
        let is_first = |key: &[T]| {
            let (before, value) = key.split_at(middle);
            let (value, after) = value.split_at(width);
            value == first && before.iter().chain(after).all(|&tangent| tangent == T::default())
        };
        !moves && values.chunks_exact(width * self.interpolation.elements_per_key()).all(is_first)
    }

    /// The first key with a value of zeros only.
    pub(crate) fn zero_key(&self) -> Option<usize> {
        let middle = self.value_element() * self.width;
        let element = self.width * self.interpolation.elements_per_key();
        on_numbers!(&*self.values, values => {
            let zero = |key: &[_]| key[middle..middle + self.width].iter().all(|&number| number == 0.0);
            values.chunks_exact(element).position(zero)
        })
    }

    fn element(&self, key: usize, element: usize) -> &[f64] {
        let start = (key * self.interpolation.elements_per_key() + element) * self.width;
        &self.values()[start..start + self.width]
    }
}

/// Up to four numbers, followed by zeros.
fn pad_to_four<T: Number>(numbers: &[T]) -> [f64; 4] {
    let mut four = [0.0; 4];
    four.iter_mut().zip(numbers).for_each(|(to, &from)| *to = from.into());
    four
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(times: &[f64]) -> Arc<Timeline> {
        Arc::new(Timeline::new(times.to_vec()).unwrap())
    }

    #[test]
    fn elements_of_a_cubic_spline_are_in_tangent_value_out_tangent() {
        let values = (0..12).map(f64::from).collect();
        let curve = Curve::new(timeline(&[0.0, 1.0]), Interpolation::CubicSpline, 2, values).unwrap();
        assert_eq!(curve.in_tangent(1), [6.0, 7.0]);
        assert_eq!(curve.value(1), [8.0, 9.0]);
        assert_eq!(curve.out_tangent(1), [10.0, 11.0]);
    }

    #[test]
    fn wrong_counts_and_numbers_are_refused() {
        let make = |width, values| Curve::new(timeline(&[0.0, 1.0]), Interpolation::Linear, width, values);
        assert!(matches!(make(3, vec![0.0; 5]), Err(Error::Curve { value: 5, .. })));
        assert!(matches!(make(0, vec![]), Err(Error::Curve { .. })));
        assert!(matches!(make(usize::MAX, vec![0.0; 6]), Err(Error::Curve { .. })));
        assert!(matches!(make(1, vec![0.0, f64::NAN]), Err(Error::Curve { value: 1, .. })));
        assert!(matches!(make(1, vec![1e39, 0.0]), Err(Error::Curve { value: 0, .. })));
    }

    #[test]
    fn narrow_numbers_are_the_same_numbers() {
        let narrow = |values| Curve::from_f32(timeline(&[0.0, 1.0]), Interpolation::CubicSpline, 2, values);
        let numbers: [f32; 12] = std::array::from_fn(|index| 0.1 * index as f32);
        let curve = narrow(numbers.to_vec()).unwrap();
        assert_eq!(curve.numbers(1, 2, NumberRange::new(1, 1)), [f64::from(numbers[11]), 0.0, 0.0, 0.0]);
        assert_eq!(
            curve.numbers(0, curve.value_element(), NumberRange::new(0, 2)),
            [f64::from(numbers[2]), f64::from(numbers[3]), 0.0, 0.0]
        );
        let wide = numbers.map(f64::from).to_vec();
        let other = Curve::new(curve.timeline().clone(), Interpolation::CubicSpline, 2, wide.clone()).unwrap();
        assert!(curve == other && curve != narrow(vec![0.0; 12]).unwrap() && curve.values() == wide);
        assert_eq!(curve.clone().values().as_ptr(), curve.values().as_ptr(), "copies are widened once");
        for bad in [f32::NAN, f32::INFINITY] {
            let values = [&numbers[..11], &[bad]].concat();
            assert!(matches!(narrow(values), Err(Error::Curve { value: 11, .. })));
        }
    }

    #[test]
    fn a_curve_is_constant_only_without_tangents() {
        let cubic = |values: Vec<f32>| {
            let (timeline, wide) = (timeline(&[0.0, 1.0]), values.iter().copied().map(f64::from).collect());
            let narrow = Curve::from_f32(timeline.clone(), Interpolation::CubicSpline, 1, values).unwrap();
            let wide = Curve::new(timeline, Interpolation::CubicSpline, 1, wide).unwrap();
            [narrow.is_constant(), wide.is_constant()]
        };
        assert_eq!(cubic(vec![0.0, 5.0, 0.0, 0.0, 5.0, 0.0]), [true; 2]);
        assert_eq!(cubic(vec![0.0, 5.0, 1.0, 0.0, 5.0, 0.0]), [false; 2]);
        assert_eq!(cubic(vec![0.0, 5.0, 0.0, 0.0, 6.0, 0.0]), [false; 2]);
    }

    #[test]
    fn a_zero_key_is_one_whose_value_is_zero() {
        let curve = |values| Curve::from_f32(timeline(&[0.0, 1.0]), Interpolation::Linear, 2, values).unwrap();
        assert_eq!(curve(vec![0.0, 1.0, 0.0, -0.0]).zero_key(), Some(1));
        assert_eq!(curve(vec![0.0, 1.0, 1e-30, 0.0]).zero_key(), None);
        let values = vec![1.0, 0.0, 1.0, 0.0, 1.0, 0.0];
        let cubic = Curve::new(timeline(&[0.0, 1.0]), Interpolation::CubicSpline, 1, values).unwrap();
        assert_eq!(cubic.zero_key(), Some(0));
    }
}
