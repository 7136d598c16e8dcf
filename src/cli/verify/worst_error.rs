//! The worst of what was found, and where it was.

use std::io::{self, Write};

use posse::contract::Worst;
use posse::{Library, Skeleton};
use serde::Serialize;

use crate::cli::evaluation::ClipEvaluation;

/// The worst error of a quantity, and where it was.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorstError {
    /// Radians for rotations, else units; null where a number was missing or not finite.
    error: f64,
    /// The largest error within the contract.
    allowed: f64,
    /// Of what is allowed; more than 1 is beyond the contract.
    pub share: f64,
    /// The joint's name or number, the property's name, or the number of the weight.
    place: String,
    /// The clip's name or number; `rest` for the rest pose.
    clip: String,
    /// Seconds on the clip's axis.
    time: f64,
}

impl WorstError {
    /// A finding of a report on a block of poses that began with the pose of number `first`.
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

    /// Whether it is within what is allowed.
    pub fn is_within(&self) -> bool {
        self.share <= 1.0
    }

    /// Writes a line about it, without its end.
    pub fn write(&self, quantity: &str, out: &mut impl Write) -> io::Result<()> {
        let Self { error, allowed, share, place, clip, time } = self;
        let (unit, percent) = (if quantity == "rotation" { "rad" } else { "   " }, 100.0 * share);
        write!(
            out,
            "  {quantity:<11} {error:9.2e} {unit} {percent:4.0} % of {allowed:.1e}  {place}, clip {clip}, {time} s"
        )
    }
}

/// Where an error was: the joint's name or number, the property's name, or the number of the weight.
pub fn place(skeleton: &Skeleton, quantity: &str, worst: Worst) -> String {
    let name = match quantity {
        "weight" => Some(format!("weight {}", worst.place)),
        "motion" | "motion turn" => Some("root motion".into()),
        "property" => skeleton.properties().get(worst.place).map(|property| property.name.clone()),
        _ => skeleton.joints().get(worst.place).and_then(|joint| joint.name.clone()),
    };
    name.unwrap_or_else(|| format!("joint {}", worst.place))
}
