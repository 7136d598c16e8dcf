//! Error bounds of compressed keys.

use std::fmt;
use std::str::FromStr;

use glam::DVec3;

use crate::error::Error;
use crate::model::Skeleton;
use crate::reference::values;
use crate::reference::values::Values;

/// A length, in the units of a rig or as a share of its size.
///
/// The size of a rig is the largest distance of a joint from the origin of its model space in the rest pose. The
/// [contract](crate::contract) uses the same size. A rig with all joints at the origin has size 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Length {
    /// A length in the rig's units.
    Units(f64),
    /// A share of the rig's size: 0.01 is a hundredth of it.
    Share(f64),
}

/// The largest displacement that compressed keys may cause at points near a joint.
///
/// As in ACL, the points lie on a virtual shell around each joint, so that errors of a rotation count too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorBound {
    /// The largest displacement in model space, of a joint or of a point on its shell. It holds with and without the
    /// root motion. A morph weight or property may differ by the same share of the largest number of its track.
    pub error: Length,
    /// The distance of the shell from the joint, along each of its axes.
    pub shell: Length,
}

impl Length {
    /// The length in the units of a rig of this size.
    pub fn of(self, size: f64) -> f64 {
        match self {
            Self::Units(units) => units,
            Self::Share(share) => share * size,
        }
    }

    fn number(self) -> f64 {
        match self {
            Self::Units(number) | Self::Share(number) => number,
        }
    }
}

/// Writes the form that `from_str` reads: `0.01%` for a share, `0.001` for units.
impl fmt::Display for Length {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Units(units) => write!(to, "{units}"),
            // An f32 prints with the fewest digits that identify it.
            Self::Share(share) => write!(to, "{}%", (100.0 * share) as f32),
        }
    }
}

/// Reads `0.01%` as a share, `0.001` as units.
impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, share) = match text.trim().strip_suffix('%') {
            Some(percent) => (percent.trim_end(), true),
            None => (text.trim(), false),
        };
        let expected = "expected a length above 0, in the rig's units (0.001) or in percent of its size (0.01%)";
        match number.parse::<f64>() {
            Ok(number) if number > 0.0 && number <= f64::from(f32::MAX) => {
                Ok(if share { Self::Share(number / 100.0) } else { Self::Units(number) })
            }
            _ => Err(expected.into()),
        }
    }
}

impl ErrorBound {
    /// A bound with a shell of 3 % of the rig's size.
    pub fn new(error: Length) -> Self {
        Self { error, shell: Length::Share(0.03) }
    }

    /// Checks that both lengths are above 0 and at most the largest `f32`.
    pub(super) fn check(self) -> Result<Self, Error> {
        let usable = |length: Length| length.number() > 0.0 && length.number() <= f64::from(f32::MAX);
        if usable(self.error) && usable(self.shell) {
            return Ok(self);
        }
        let Self { error, shell } = self;
        Err(Error::Usage(format!(
            "an error bound of {error} at a shell of {shell}: expected two lengths above 0, each in units or in percent"
        )))
    }
}

/// An error of one ten-thousandth of the rig's size, at a shell of 3 % of it.
impl Default for ErrorBound {
    fn default() -> Self {
        Self::new(Length::Share(1e-4))
    }
}

/// The size of a rig, as [`Length`] defines it.
pub fn rig_size(skeleton: &Skeleton) -> f64 {
    let model = values::model_matrices(skeleton, &Values::at_rest(skeleton).local);
    let reach = model.iter().map(|matrix| matrix.translation.distance(DVec3::ZERO)).fold(0.0, f64::max);
    if reach > 0.0 { reach } else { 1.0 }
}
