//! Which parts of an answer are wanted.

/// Which parts of a pose are wanted; what is not asked for is neither computed, where that is possible, nor written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Outputs {
    /// Local translation, rotation and scale of each joint.
    pub local: bool,
    /// Model matrix of each joint: `model(joint) = model(parent) * local(joint)`.
    pub model: bool,
    /// Skin matrix of each joint of each skin: `model(joint) * inverse_bind(joint)`.
    pub skin: bool,
    /// Morph weights.
    pub weights: bool,
    /// Properties.
    pub properties: bool,
    /// What each instance moves by from one moment to the other.
    pub root_motion: bool,
}

impl Outputs {
    /// Nothing.
    pub const NONE: Self =
        Self { local: false, model: false, skin: false, weights: false, properties: false, root_motion: false };
    /// Everything.
    pub const ALL: Self =
        Self { local: true, model: true, skin: true, weights: true, properties: true, root_motion: true };
    /// Skin matrices alone: what a renderer of skinned meshes needs.
    pub const SKIN: Self = Self { skin: true, ..Self::NONE };
}
