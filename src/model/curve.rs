//! Values over a timeline, and the interpolation between its keys: by the rules of files, or by functions of the
//! caller; and tracks, each a curve with its target.

use std::collections::HashMap;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::error::Error;
use crate::model::{CurveEasing, Easing, InterpolatorId, Skeleton, Timeline};

/// Values over a timeline. Before the first key it has the value of that key, after the last key the value of that key,
/// unless it has an [`Extrapolation`].
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

/// The numbers of a curve, in the precision of their source.
///
/// The model speaks `f64`, because clips built in code need not be `f32`, and the reference wants the numbers of the
/// source. Files hold `f32`, which take half the memory: a curve keeps these and widens them once, on the first request
/// for `f64`. Packing makes no such request, so that loading a file costs little more than copying its keys.
#[derive(Debug, Clone)]
pub(super) enum Numbers {
    Wide(Vec<f64>),
    Narrow(Vec<f32>, OnceLock<Vec<f64>>),
}

/// The types that store the numbers of a curve.
trait Number: Copy + PartialEq + Default + Into<f64> {
    /// Returns `true` if the number is finite and within the range of an `f32`.
    fn is_usable(self) -> bool;
}

impl Number for f64 {
    fn is_usable(self) -> bool {
        crate::model::is_usable(self)
    }
}

impl Number for f32 {
    fn is_usable(self) -> bool {
        self.is_finite()
    }
}

/// The first unusable number, with its index.
fn unusable<T: Number>(numbers: &[T]) -> Option<(usize, f64)> {
    // Without an early exit inside a block, the compiler checks many numbers at a time.
    let is_usable = |block: &[T]| block.iter().fold(true, |usable, number| usable & number.is_usable());
    if numbers.chunks(256).all(is_usable) {
        return None;
    }
    let index = numbers.iter().position(|number| !number.is_usable())?;
    Some((index, numbers[index].into()))
}

/// Runs an expression on the slice of numbers, of either type.
macro_rules! on_numbers {
    ($numbers:expr, $slice:ident => $result:expr) => {
        match $numbers {
            Numbers::Wide($slice) => $result,
            Numbers::Narrow($slice, _) => $result,
        }
    };
}

impl Numbers {
    /// Some of the numbers, of the same type.
    pub fn part(&self, range: Range<usize>) -> Self {
        on_numbers!(self, numbers => numbers[range].to_vec().into())
    }

    /// All numbers in `f64`.
    pub fn wide(&self) -> &[f64] {
        match self {
            Self::Wide(numbers) => numbers,
            Self::Narrow(numbers, wide) => wide.get_or_init(|| numbers.iter().copied().map(f64::from).collect()),
        }
    }
}

impl From<Vec<f64>> for Numbers {
    fn from(numbers: Vec<f64>) -> Self {
        Self::Wide(numbers)
    }
}

impl From<Vec<f32>> for Numbers {
    fn from(numbers: Vec<f32>) -> Self {
        Self::Narrow(numbers, OnceLock::new())
    }
}

/// Compares values, independent of the types that store them.
impl PartialEq for Numbers {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Narrow(own, _), Self::Narrow(other, _)) => own == other,
            _ => self.wide() == other.wide(),
        }
    }
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
    /// A curve of elements of `width` numbers, key after key. With [`Interpolation::CubicSpline`], a key is an
    /// in-tangent, a value and an out-tangent, each of `width` numbers.
    ///
    /// # Errors
    /// [`Error::Curve`] if the count is not `keys * width * elements_per_key`, `width` is 0, or a number is not finite
    /// or beyond the range of an `f32`.
    pub fn new(
        timeline: Arc<Timeline>,
        interpolation: Interpolation,
        width: usize,
        values: Vec<f64>,
    ) -> Result<Self, Error> {
        Self::from_numbers(timeline, interpolation, width, values)
    }

    /// The same as [`new`](Self::new) from `f32` numbers. They take half the memory until the first request for `f64`
    /// numbers.
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
    /// [`length`](crate::Clip::length) of the clip, which the clip must then have. With a single key they have no
    /// effect.
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

    /// A curve of some of the keys, at the times of `timeline`. It does not extrapolate. Its values are the values
    /// in `parts`, or are added to them.
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

    /// All numbers, in the order of [`new`](Self::new). A curve from [`from_f32`](Self::from_f32) widens its numbers on
    /// the first request for all numbers, a value or a tangent.
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

    /// Returns `true` if every key has the same value and every tangent is 0, so that the curve needs no keys. A curve
    /// of a custom interpolator with several keys is never constant, because the interpolator may move between equal
    /// keys.
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

/// The interpolation of the values between two keys (glTF 2.0, appendix C).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// The value of the previous key.
    Step,
    /// Linear interpolation. Rotations are interpolated spherically along the shorter arc.
    Linear,
    /// Cubic Hermite splines with an in-tangent and an out-tangent per key, in units per second. Rotations are
    /// normalised.
    CubicSpline,
    /// Spherical interpolation of quaternions xyzw along the shorter arc, without normalisation, for quaternions of any
    /// length. Cocos Creator interpolates a quaternion property like this. The curve is 4 numbers wide.
    Slerp,
    /// Interpolation by a function of the caller, which the library holds.
    Custom(InterpolatorId),
}

impl Interpolation {
    /// Elements stored per key: 1, or 3 (in-tangent, value, out-tangent) for [`CubicSpline`](Self::CubicSpline).
    pub fn elements_per_key(self) -> usize {
        if self == Self::CubicSpline { 3 } else { 1 }
    }

    /// Returns `true` if values can continue in straight lines beyond their keys.
    pub(crate) fn has_lines(self) -> bool {
        matches!(self, Self::Step | Self::Linear | Self::CubicSpline)
    }
}

/// The values of a curve before its first key, or after its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Extrapolation {
    /// The value of the key.
    #[default]
    Clamp,
    /// The straight line through the key and its neighbour, for each interpolation between the two. For
    /// [`Slerp`](Interpolation::Slerp), [`Custom`](Interpolation::Custom) and rotations the same as
    /// [`Clamp`](Self::Clamp).
    Linear,
    /// Repetition of the curve, each pass from the first key to the last.
    Loop,
    /// Repetition of the curve forwards and backwards in turn.
    PingPong,
}

/// A caller's interpolation between keys: in Rust for the reference and the CPU engine, in WGSL for the GPU engine.
///
/// The value of a key has [`width`](Self::width) numbers, a result has [`result_width`](Self::result_width).
/// [`Library::add_interpolator`](crate::Library::add_interpolator) adds it to a library. Curves then refer to it by
/// [`Interpolation::Custom`], and drive a property as wide as the result.
/// [`contract::compare`](crate::contract::compare) tests if both give the same poses.
pub trait Interpolator: Debug + Send + Sync {
    /// The name: a WGSL identifier of letters, digits and `_` that begins with a letter. It is unique in the library.
    /// In clip files it is the `__type__` of values.
    fn name(&self) -> &str;

    /// The number of numbers of a key's value, 1 to 64.
    fn width(&self) -> usize;

    /// The number of numbers of a result, 1 to 64; [`width`](Self::width) by default.
    fn result_width(&self) -> usize {
        self.width()
    }

    /// The names of the fields of a value in clip files, each with its number of numbers, in order. Empty if a value is
    /// a list of numbers.
    fn fields(&self) -> &[(&str, usize)] {
        &[]
    }

    /// Interpolates between two keys and fills `result`, which has `result_width` numbers.
    ///
    /// `t` is the eased fraction between the keys, which may leave 0 to 1. `seconds` is the time from key to key.
    fn lerp(&self, from: &[f64], to: &[f64], t: f64, seconds: f64, result: &mut [f64]);

    /// Fills `result` at a key, before the first key and after the last: the value of the key by default. It should
    /// equal the result of [`lerp`](Self::lerp) at `t` = 0.
    fn no_lerp(&self, value: &[f64], result: &mut [f64]) {
        result.copy_from_slice(&value[..result.len()]);
    }

    /// The WGSL source of the same two functions. For the name `spin`, a width of 4 and a result width of 3:
    ///
    /// ```wgsl
    /// fn spin_lerp(a: array<f32, 4>, b: array<f32, 4>, t: f32, seconds: f32) -> array<f32, 3>
    /// fn spin_no_lerp(value: array<f32, 4>) -> array<f32, 3>
    /// ```
    ///
    /// Other functions and constants in the source should begin with the name too. The source may call the functions of
    /// `shaders/shared/quat.wgsl`, such as `quat_slerp` with a fraction from 0 to 1.
    fn wgsl(&self) -> &str;
}

/// The target of a curve. Joints and properties are indices into the lists of the skeleton of the clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// The translation of a joint, 3 numbers.
    Translation(usize),
    /// The rotation of a joint, a quaternion xyzw.
    Rotation(usize),
    /// The scale of a joint, 3 numbers.
    Scale(usize),
    /// The rotation of a joint as three angles in degrees, applied about x, then z, then y, as in Cocos Creator. A clip
    /// drives either this or [`Rotation`](Self::Rotation) of a joint.
    EulerAngles(usize),
    /// All morph weights of a joint, one number each.
    Weights(usize),
    /// A property of the skeleton, with the width of the property.
    Property(usize),
}

impl Target {
    /// Returns `true` if the target is a quaternion that interpolates as a rotation.
    ///
    /// # Panics
    /// If it is a property that the skeleton does not have.
    pub fn is_rotation(self, skeleton: &Skeleton) -> bool {
        match self {
            Self::Rotation(_) => true,
            Self::Property(index) => skeleton.properties()[index].rotation,
            _ => false,
        }
    }
}

/// A target and the curve that drives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// The driven value.
    pub target: Target,
    /// The single number of the target that the curve drives; the curve is then 1 wide. `None` drives all numbers.
    /// Numbers without a curve keep their rest value. Single numbers of a rotation cannot be driven.
    pub component: Option<usize>,
    /// The values over time.
    pub curve: Curve,
}

impl Track {
    /// A track that drives a whole target.
    pub fn new(target: Target, curve: Curve) -> Self {
        Self { target, component: None, curve }
    }

    /// A track that drives one number of a target.
    pub fn component(target: Target, component: usize, curve: Curve) -> Self {
        Self { target, component: Some(component), curve }
    }
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
