//! The worst error of a quantity over the clips of a file.

use std::io::{self, Write};

use posse::contract::Worst;
use posse::{Library, Skeleton};
use serde::Serialize;

use crate::evaluation::ClipEvaluation;

/// The worst error of a quantity, and its place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorstError {
    /// The error, in radians for rotations, otherwise in units of the file; null if a number is missing or not finite.
    error: f64,
    /// The bound of the error.
    allowed: f64,
    /// The error divided by its bound. More than 1 is beyond the contract.
    pub share: f64,
    /// The name or index of the joint, the name of the property, or the index of the weight.
    place: String,
    /// The name or index of the clip; `rest` for the rest pose.
    clip: String,
    /// Seconds of the clip.
    time: f64,
}

impl WorstError {
    /// The worst error of a report on a block of poses. `first` is the number of the first pose of the block.
    pub fn new(library: &Library, evaluation: &ClipEvaluation, quantity: &str, worst: Worst, first: usize) -> Self {
        let clip = evaluation.clip.map(|id| library.clip(id).name.clone().unwrap_or_else(|| id.index().to_string()));
        Self {
            error: worst.error,
            allowed: worst.allowed,
            share: worst.share(),
            place: place(library.skeleton(evaluation.skeleton), quantity, worst),
            clip: clip.unwrap_or_else(|| "rest".into()),
            time: evaluation.times[(first + worst.instance) / evaluation.instances],
        }
    }

    /// Returns true if the error is within its bound.
    pub fn is_within(&self) -> bool {
        self.share <= 1.0
    }

    /// Writes a line without a line end.
    pub fn write(&self, quantity: &str, out: &mut impl Write) -> io::Result<()> {
        let Self { error, allowed, share, place, clip, time } = self;
        let (unit, percent) = (if quantity == "rotation" { "rad" } else { "   " }, 100.0 * share);
        write!(
            out,
            "  {quantity:<11} {error:9.2e} {unit} {percent:4.0} % of {allowed:.1e}  {place}, clip {clip}, {time} s"
        )
    }
}

/// The place of an error: the name or index of the joint, the name of the property, or the index of the weight.
pub fn place(skeleton: &Skeleton, quantity: &str, worst: Worst) -> String {
    match quantity {
        "weight" => format!("weight {}", worst.index),
        "motion" | "motion turn" => "root motion".into(),
        "property" => {
            let property = skeleton.properties().get(worst.index);
            property.map_or_else(|| format!("joint {}", worst.index), |property| property.name.clone())
        }
        _ => skeleton.joint_name(worst.index),
    }
}
