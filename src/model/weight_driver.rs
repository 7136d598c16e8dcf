//! The source of a layer's weight, if it follows from parameters.

use crate::model::Crowd;
use crate::model::id::{BlendSpaceId, KnotsId};

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
    /// The first parameter beyond [`Crowd::MAX_PARAMETERS`], as a message.
    pub(crate) fn fault(&self) -> Option<String> {
        match *self {
            Self::Knots { parameter, .. } => no_parameter(parameter),
            Self::Point { parameters, .. } => parameters.into_iter().find_map(no_parameter),
        }
    }
}

/// The message for a parameter that no instance can have.
pub(crate) fn no_parameter(parameter: usize) -> Option<String> {
    let most = Crowd::MAX_PARAMETERS;
    (parameter >= most)
        .then(|| format!("there is no parameter {parameter}; an instance has at most {most}, numbered from 0"))
}
