//! Parameters: numbers of an instance that drive the times and weights of its layers, weights by way of knots or blend
//! spaces.

use crate::error::Error;
use crate::model::{BlendSpaceId, KnotsId, Ticks, is_usable, is_weight};

/// The most parameters of an instance.
pub(super) const MAX_PARAMETERS: usize = 16;

/// A number of an instance that drives times and weights of its layers: constant, or piecewise linear on the crowd
/// clock.
///
/// # Examples
/// ```
/// use posse::Ticks;
/// use posse::parameters::Parameter;
///
/// # fn main() -> Result<(), posse::Error> {
/// // From 1 m/s at second 0 to 3 m/s at second 2.
/// let speed = Parameter::new(vec![[0.0, 1.0], [2.0, 3.0]])?;
/// assert_eq!([-1.0, 0.5, 9.0].map(|seconds| speed.at(Ticks::from_seconds(seconds))), [1.0, 1.5, 3.0]);
/// assert_eq!(Parameter::constant(0.5)?.at(Ticks(7)), 0.5);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Pairs of seconds and value.
    keys: Vec<[f64; 2]>,
}

impl Parameter {
    /// A parameter with a value at some seconds of the crowd clock. It is linear between them, and constant before the
    /// first and after the last one.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no key, the times do not increase strictly, or a number is not finite in the range
    /// of an `f32`.
    pub fn new(keys: Vec<[f64; 2]>) -> Result<Self, Error> {
        match Self::error(&keys) {
            Some(reason) => Err(Error::Usage(format!("parameter: {reason}"))),
            None => Ok(Self { keys }),
        }
    }

    /// A parameter that keeps its value.
    ///
    /// # Errors
    /// [`Error::Usage`] if the value is not finite in the range of an `f32`.
    pub fn constant(value: f64) -> Result<Self, Error> {
        Self::new(vec![[0.0, value]])
    }

    /// The first unusable number of keys, as a message.
    pub(crate) fn error(keys: &[[f64; 2]]) -> Option<String> {
        if keys.is_empty() {
            return Some("the list of times and values is empty; give at least one pair".into());
        }
        let unusable = keys.iter().flatten().find(|number| !is_usable(**number));
        if let Some(number) = unusable {
            return Some(format!("{number} is not a finite number in the range of an f32"));
        }
        let pair = keys.windows(2).find(|pair| pair[1][0] <= pair[0][0])?;
        Some(format!("the time {} s follows {} s; times must increase", pair[1][0], pair[0][0]))
    }

    /// All pairs of seconds and value, in order.
    pub fn keys(&self) -> &[[f64; 2]] {
        &self.keys
    }

    /// The `f32` nearest to the value at a tick of the crowd clock. All engines use this number.
    pub fn at(&self, now: Ticks) -> f32 {
        let now = now.to_seconds();
        let after = self.keys.partition_point(|key| key[0] <= now);
        let value = match (after.checked_sub(1).map(|index| self.keys[index]), self.keys.get(after)) {
            (Some(before), Some(next)) => {
                before[1] + (next[1] - before[1]) * ((now - before[0]) / (next[0] - before[0]))
            }
            (Some(key), None) => key[1],
            (None, Some(key)) => key[1],
            (None, None) => 0.0,
        };
        value as f32
    }
}

/// The values of the parameters of an instance at a moment. Parameters that it does not have are 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ParameterValues(pub [f32; MAX_PARAMETERS]);

impl ParameterValues {
    /// The values of parameters at a tick of the crowd clock; the first
    /// [`Crowd::MAX_PARAMETERS`](crate::Crowd::MAX_PARAMETERS) of them.
    pub fn new(parameters: &[Parameter], now: Ticks) -> Self {
        let mut values = Self::default();
        for (value, parameter) in values.0.iter_mut().zip(parameters) {
            *value = parameter.at(now);
        }
        values
    }

    /// The value of a parameter; 0 if there is no such parameter.
    pub fn get(&self, parameter: usize) -> f32 {
        self.0.get(parameter).copied().unwrap_or(0.0)
    }
}

/// A factor of a layer's weight that follows from parameters of the instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WeightDriver {
    /// A function of one parameter.
    Knots {
        /// The index of the parameter.
        parameter: usize,
        /// The function.
        knots: KnotsId,
    },
    /// The share of a point of a blend space.
    Point {
        /// The blend space.
        space: BlendSpaceId,
        /// The indices of the parameters that are the position: x and y.
        parameters: [usize; 2],
        /// The index of the point.
        point: usize,
    },
}

impl WeightDriver {
    /// The first parameter beyond [`Crowd::MAX_PARAMETERS`](crate::Crowd::MAX_PARAMETERS), as a message.
    pub(crate) fn error(&self) -> Option<String> {
        match *self {
            Self::Knots { parameter, .. } => no_parameter(parameter),
            Self::Point { parameters, .. } => parameters.into_iter().find_map(no_parameter),
        }
    }
}

/// The message for a parameter that no instance can have.
pub(crate) fn no_parameter(parameter: usize) -> Option<String> {
    let most = MAX_PARAMETERS;
    (parameter >= most)
        .then(|| format!("there is no parameter {parameter}; an instance has at most {most}, numbered from 0"))
}

/// A weight as a function of a parameter: linear between knots, and constant before the first and after the last one.
///
/// A one-dimensional blend space is one `Knots` per layer: a triangle whose top is the value at which the layer's clip
/// fits best.
///
/// # Examples
/// ```
/// use posse::parameters::Knots;
///
/// # fn main() -> Result<(), posse::Error> {
/// // A walk at 1.5 m/s that gives way to standing at 0 m/s and to a run at 4 m/s.
/// let walk = Knots::new(vec![[0.0, 0.0], [1.5, 1.0], [4.0, 0.0]])?;
/// assert_eq!([-1.0, 0.75, 1.5, 4.5].map(|speed| walk.at(speed)), [0.0, 0.5, 1.0, 0.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Knots {
    knots: Vec<[f64; 2]>,
}

impl Knots {
    /// Knots as pairs of a parameter's value and a weight.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no knot, the values do not increase strictly, a number is not finite in the range
    /// of an `f32`, or a weight is negative.
    pub fn new(knots: Vec<[f64; 2]>) -> Result<Self, Error> {
        match Self::error(&knots) {
            Some(reason) => Err(Error::Usage(format!("knots: {reason}"))),
            None => Ok(Self { knots }),
        }
    }

    /// The first unusable number, as a message.
    pub(crate) fn error(knots: &[[f64; 2]]) -> Option<String> {
        if knots.is_empty() {
            return Some("the list is empty; give at least one pair of a value and a weight".into());
        }
        if let Some(knot) = knots.iter().find(|knot| !is_usable(knot[0])) {
            return Some(format!("the value {} is not a finite number in the range of an f32", knot[0]));
        }
        if let Some(knot) = knots.iter().find(|knot| !is_weight(knot[1])) {
            return Some(format!("the weight {} is not a finite number of 0 or more", knot[1]));
        }
        let pair = knots.windows(2).find(|pair| pair[1][0] <= pair[0][0])?;
        Some(format!("the value {} follows {}; values must increase", pair[1][0], pair[0][0]))
    }

    /// All knots, in order.
    pub fn knots(&self) -> &[[f64; 2]] {
        &self.knots
    }

    /// The weight at a value of the parameter.
    pub fn at(&self, value: f64) -> f64 {
        let after = self.knots.partition_point(|knot| knot[0] <= value);
        match (after.checked_sub(1).map(|index| self.knots[index]), self.knots.get(after)) {
            (Some(before), Some(next)) => {
                let along = (value - before[0]) / (next[0] - before[0]);
                before[1] * (1.0 - along) + next[1] * along
            }
            (Some(knot), None) => knot[1],
            (None, Some(knot)) => knot[1],
            (None, None) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_keys_are_refused() {
        for (keys, reason) in [
            (vec![], "empty"),
            (vec![[0.0, f64::NAN]], "NaN is not a finite number"),
            (vec![[f64::INFINITY, 0.0]], "inf is not a finite number"),
            (vec![[0.0, 1e39]], "is not a finite number in the range of an f32"),
            (vec![[1.0, 0.0], [1.0, 2.0]], "the time 1 s follows 1 s"),
        ] {
            let error = Parameter::new(keys).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_value_is_rounded_to_an_f32_once() {
        let third = Parameter::new(vec![[0.0, 0.0], [3.0, 1.0]]).unwrap();
        assert_eq!(third.at(Ticks::from_seconds(1.0)), 1.0_f32 / 3.0);
    }
}

#[cfg(test)]
mod knots_tests {
    use super::*;

    #[test]
    fn unusable_knots_are_refused() {
        for (knots, reason) in [
            (vec![], "empty"),
            (vec![[f64::NAN, 1.0]], "the value NaN"),
            (vec![[0.0, -0.5]], "the weight -0.5"),
            (vec![[2.0, 0.5], [2.0, 0.5]], "the value 2 follows 2"),
            (vec![[2.0, 0.5], [1.0, 0.5]], "the value 1 follows 2"),
        ] {
            let error = Knots::new(knots).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
