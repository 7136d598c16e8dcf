//! Joints that deform a mesh, and the formats of their matrices.

use glam::DAffine3;

use crate::model::SkeletonId;

/// Joints that deform a mesh, each with its inverse bind matrix. Several skins may share one skeleton.
///
/// [`Library::add_skin`](crate::Library::add_skin) checks it against its skeleton.
#[derive(Debug, Clone, PartialEq)]
pub struct Skin {
    /// The name of the skin, if it has one.
    pub name: Option<String>,
    /// The skeleton of the joints.
    pub skeleton: SkeletonId,
    /// Indices of joints, in the order in which the vertices of a mesh refer to them.
    pub joints: Vec<usize>,
    /// One matrix per joint: from the space of the mesh to that of the joint, in the bind pose.
    pub inverse_bind: Vec<DAffine3>,
}

/// The format of the skin matrices that an engine writes: full, or half the bytes.
///
/// The reference returns the matrices of every format unrounded. [`contract`](crate::contract) bounds the errors of the other
/// engines. [`wgsl`](Self::wgsl) returns the functions that read a format in a shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SkinFormat {
    /// Three rows of four `f32`, the translation in the last column: 48 bytes.
    #[default]
    Matrix,
    /// The same three rows of four `f16`: 24 bytes. The first number is in the lower half of its word.
    ///
    /// Each number is the nearest `f16`, ties to even. A number beyond 65504 becomes 65504 with its sign.
    HalfMatrix,
    /// A rotation, a translation and a uniform scale, from which a vertex shader makes a dual quaternion: 24 bytes.
    ///
    /// First comes the unit quaternion xyzw as four `snorm16`, of either sign, with x in the lower half of the first word. Then
    /// come the translation xyz and the scale as four `f32`. A vertex is scaled, then rotated, then translated. The reader
    /// normalises the quaternion, because rounding changes its length. The dual part is half the product of the translation, as a
    /// quaternion with w = 0, and the rotation.
    ///
    /// The format cannot hold non-uniform scales, mirrors and shear. A crowd that uses a skeleton, skin or clip with any of them
    /// is refused before evaluation.
    DualQuaternion,
}

impl SkinFormat {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Matrix, Self::HalfMatrix, Self::DualQuaternion];

    /// Words of 32 bits per joint.
    pub const fn words(self) -> usize {
        match self {
            Self::Matrix => 12,
            Self::HalfMatrix | Self::DualQuaternion => 6,
        }
    }

    /// Bytes per joint.
    pub const fn bytes(self) -> usize {
        4 * self.words()
    }

    /// The name of the format: `matrix`, `half` or `dual-quaternion`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Matrix => "matrix",
            Self::HalfMatrix => "half",
            Self::DualQuaternion => "dual-quaternion",
        }
    }
}
