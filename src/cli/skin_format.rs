//! Which format skin matrices are written in.

use posse::SkinFormat;
use serde::Deserialize;

/// A skin format, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkinFormatChoice {
    /// Three rows of four f32: 48 bytes a joint.
    #[default]
    Matrix,
    /// Three rows of four f16: 24 bytes a joint.
    Half,
    /// A rotation of four snorm16, a translation and a uniform scale of f32: 24 bytes a joint. Scales must be alike along
    /// all axes.
    DualQuaternion,
}

impl From<SkinFormatChoice> for SkinFormat {
    fn from(choice: SkinFormatChoice) -> Self {
        match choice {
            SkinFormatChoice::Matrix => Self::Matrix,
            SkinFormatChoice::Half => Self::HalfMatrix,
            SkinFormatChoice::DualQuaternion => Self::DualQuaternion,
        }
    }
}
