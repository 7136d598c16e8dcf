//! Goals: what a chain of an instance reaches for.

use crate::model::id::ChainId;
use crate::model::weight_driver::no_parameter;
use crate::model::{ParameterValues, is_usable};

/// A target for a chain of an instance. Goals act in order, after mixing and transition, each on the pose that the one before left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// The chain. It must belong to the skeleton of the instance.
    pub chain: ChainId,
    /// The target.
    pub target: GoalTarget,
    /// The weight.
    pub weight: GoalWeight,
}

/// The target of a goal, in the instance's model space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GoalTarget {
    /// A fixed point.
    Point([f64; 3]),
    /// A point whose x, y and z are the values of the parameters with these indices.
    Parameters([usize; 3]),
}

/// The weight of a goal, from 0, which leaves the pose as it is, to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GoalWeight {
    /// A fixed weight from 0 to 1.
    Fixed(f64),
    /// The value of the parameter with this index, clamped to 0 and 1.
    Parameter(usize),
}

impl GoalTarget {
    /// The point, with the values of the parameters of the instance.
    pub fn at(&self, values: ParameterValues) -> [f64; 3] {
        match *self {
            Self::Point(point) => point,
            Self::Parameters(indices) => indices.map(|index| f64::from(values.get(index))),
        }
    }
}

impl GoalWeight {
    /// The weight from 0 to 1, with the values of the parameters of the instance.
    pub fn at(&self, values: ParameterValues) -> f64 {
        match *self {
            Self::Fixed(weight) => weight,
            Self::Parameter(index) => f64::from(values.get(index)).clamp(0.0, 1.0),
        }
    }
}

impl Goal {
    /// A goal with weight 1.
    pub fn new(chain: ChainId, target: GoalTarget) -> Self {
        Self { chain, target, weight: GoalWeight::Fixed(1.0) }
    }

    /// The indices of the parameters that it reads.
    pub fn parameters(&self) -> impl Iterator<Item = usize> + use<> {
        let target = match self.target {
            GoalTarget::Parameters(indices) => Some(indices),
            GoalTarget::Point(_) => None,
        };
        let weight = match self.weight {
            GoalWeight::Parameter(index) => Some(index),
            GoalWeight::Fixed(_) => None,
        };
        target.into_iter().flatten().chain(weight)
    }

    /// True if it reads parameters.
    pub(crate) fn is_driven(&self) -> bool {
        self.parameters().next().is_some()
    }

    /// The first unusable number, as a message.
    pub(crate) fn fault(&self) -> Option<String> {
        if let GoalTarget::Point(point) = self.target
            && let Some(number) = point.into_iter().find(|&number| !is_usable(number))
        {
            return Some(format!("the target has the number {number}, which is not finite in the range of an f32"));
        }
        if let GoalWeight::Fixed(weight) = self.weight
            && !(0.0..=1.0).contains(&weight)
        {
            return Some(format!("the weight {weight} of a goal is not from 0 to 1"));
        }
        self.parameters().find_map(no_parameter)
    }
}
