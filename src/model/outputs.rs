//! The selection of results, and the poses of a crowd.

use glam::DAffine3;

use crate::model::{Motion, SkinFormat, Transform};

/// The parts of a pose that an engine writes. It computes the other parts only if a selected part needs them.
///
/// # Examples
/// ```
/// use posse::cpu::CpuEngine;
/// use posse::{Evaluator, Outputs, SkinFormat, Ticks, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let outputs = Outputs { model: true, ..Outputs::SKIN.with_skin_format(SkinFormat::HalfMatrix) };
/// let library = demo::library()?;
/// let crowd = demo::crowd(&library, 1)?;
/// let pose = CpuEngine::new(&library)?.evaluate(&crowd, Ticks(0), outputs)?.instances.remove(0);
/// assert_eq!((pose.model.len(), pose.skins[0].len()), (64, 64));
/// assert!(pose.local.is_empty() && pose.weights.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Outputs {
    /// Local translation, rotation and scale of each joint.
    pub local: bool,
    /// Model matrix of each joint: `model(joint) = model(parent) * local(joint)`.
    pub model: bool,
    /// Skin matrix of each joint of each skin: `model(joint) * inverse_bind(joint)`.
    pub skin: bool,
    /// The format of the skin matrices.
    pub skin_format: SkinFormat,
    /// Morph weights.
    pub weights: bool,
    /// Properties.
    pub properties: bool,
    /// The movement of each instance from one tick to another, in the space of the parent of the root joint.
    pub root_motion: bool,
}

impl Outputs {
    /// No part.
    pub const NONE: Self = Self {
        local: false,
        model: false,
        skin: false,
        skin_format: SkinFormat::Matrix,
        weights: false,
        properties: false,
        root_motion: false,
    };
    /// All parts, with full skin matrices.
    pub const ALL: Self = Self {
        local: true,
        model: true,
        skin: true,
        skin_format: SkinFormat::Matrix,
        weights: true,
        properties: true,
        root_motion: true,
    };
    /// Skin matrices alone, for a renderer of skinned meshes.
    pub const SKIN: Self = Self { skin: true, ..Self::NONE };

    /// The same outputs with another format of skin matrices.
    pub const fn with_skin_format(self, skin_format: SkinFormat) -> Self {
        Self { skin_format, ..self }
    }

    /// Returns `true` if they include skin matrices in a format that holds uniform scales only.
    pub(crate) fn is_uniform_only(self) -> bool {
        self.skin && self.skin_format == SkinFormat::DualQuaternion
    }
}

/// The pose of one instance. Parts that [`Outputs`] did not select are empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pose {
    /// Local transform of each joint of the skeleton, with rotations of unit length. A joint given by a matrix has its
    /// rest transform here.
    pub local: Vec<Transform>,
    /// Model matrix of each joint of the skeleton.
    pub model: Vec<DAffine3>,
    /// Skin matrices: one list per skin of the skeleton, in the order of the library, with one matrix per joint of the
    /// skin.
    pub skins: Vec<Vec<DAffine3>>,
    /// Morph weights of all joints, joint after joint.
    pub weights: Vec<f64>,
    /// Numbers of all properties, property after property.
    pub properties: Vec<f64>,
    /// The movement of the instance in the step, seen from its place at the start of the step; `None` if no clip of its
    /// layers has a root joint. For a single tick it is the identity. It is in the space of the parent of the root
    /// joint: [`Motion::in_space`] converts it.
    pub root_motion: Option<Motion>,
}

/// The poses of a crowd.
///
/// They are in `f64`, which holds the numbers of every engine exactly. The buffers of the GPU and CPU engines are
/// `f32`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Poses {
    /// One pose per instance, in the order of the crowd.
    pub instances: Vec<Pose>,
}
