//! Which parts of an answer are wanted.

use crate::model::SkinFormat;

/// Which parts of a pose are wanted; what is not asked for is neither computed, where that is possible, nor written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Outputs {
    /// Local translation, rotation and scale of each joint.
    pub local: bool,
    /// Model matrix of each joint: `model(joint) = model(parent) * local(joint)`.
    pub model: bool,
    /// Skin matrix of each joint of each skin: `model(joint) * inverse_bind(joint)`.
    pub skin: bool,
    /// How skin matrices are written, where they are wanted.
    pub skin_format: SkinFormat,
    /// Morph weights.
    pub weights: bool,
    /// Properties.
    pub properties: bool,
    /// What each instance moves by from one moment to the other, in the space of the root joint's parent.
    pub root_motion: bool,
}

impl Outputs {
    /// Nothing.
    pub const NONE: Self = Self {
        local: false,
        model: false,
        skin: false,
        skin_format: SkinFormat::Matrix,
        weights: false,
        properties: false,
        root_motion: false,
    };
    /// Everything, skin matrices in full.
    pub const ALL: Self = Self {
        local: true,
        model: true,
        skin: true,
        skin_format: SkinFormat::Matrix,
        weights: true,
        properties: true,
        root_motion: true,
    };
    /// Skin matrices alone: what a renderer of skinned meshes needs.
    pub const SKIN: Self = Self { skin: true, ..Self::NONE };

    /// The same outputs, skin matrices in this format.
    pub const fn with_skin_format(self, skin_format: SkinFormat) -> Self {
        Self { skin_format, ..self }
    }

    /// Whether skin matrices are wanted that have room for uniform scales alone.
    pub(crate) fn is_uniform_only(self) -> bool {
        self.skin && self.skin_format == SkinFormat::DualQuaternion
    }
}
