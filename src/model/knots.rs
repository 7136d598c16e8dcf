//! Knots: a weight as a function of a parameter.

use crate::error::Error;
use crate::model::{is_usable, is_weight};

/// A weight as a function of a parameter: linear between knots, and constant before the first and after the last one.
///
/// A one-dimensional blend space is one `Knots` per layer: a triangle whose top is the value at which the layer's clip fits best.
///
/// # Examples
/// ```
/// use posse::Knots;
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
    /// [`Error::Usage`] if there is no knot, the values do not increase strictly, a number is not finite in the range of an `f32`,
    /// or a weight is negative.
    pub fn new(knots: Vec<[f64; 2]>) -> Result<Self, Error> {
        match Self::fault(&knots) {
            Some(reason) => Err(Error::Usage(format!("knots: {reason}"))),
            None => Ok(Self { knots }),
        }
    }

    /// The first unusable number, as a message.
    pub(crate) fn fault(knots: &[[f64; 2]]) -> Option<String> {
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
