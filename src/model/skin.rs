//! Joints that deform a mesh, and the formats of their matrices.

use glam::DAffine3;

use crate::model::SkeletonId;

/// Joints that deform a mesh, each with its inverse bind matrix. Several skins may share one skeleton.
///
/// It is checked against its skeleton when it is added to a [`Library`](crate::Library).
#[derive(Debug, Clone, PartialEq)]
pub struct Skin {
    /// The skin's name, where it has one.
    pub name: Option<String>,
    /// The skeleton whose joints are meant.
    pub skeleton: SkeletonId,
    /// Indices of joints, in the order in which a mesh's vertices refer to them.
    pub joints: Vec<usize>,
    /// One matrix a joint: from the mesh's space to the joint's, in the bind pose.
    pub inverse_bind: Vec<DAffine3>,
}

/// How an engine writes the skin matrix of a joint: in full, or in half the bytes.
///
/// The reference gives every format's matrices unrounded. How far the others may be from it, [`contract`](crate::contract)
/// says. [`wgsl`](Self::wgsl) has the functions with which a shader reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SkinFormat {
    /// Three rows of four `f32`, the last of each row the translation: 48 bytes.
    #[default]
    Matrix,
    /// The same three rows of four `f16`: 24 bytes, of which the first number has the lower half of its word.
    ///
    /// Each number is the nearest `f16`, ties to even; beyond 65504 it is 65504 with its sign.
    HalfMatrix,
    /// A rotation, a translation and a uniform scale: 24 bytes, from which a vertex shader makes a dual quaternion.
    ///
    /// First the unit quaternion xyzw as four `snorm16`, of either sign, x in the lower half of the first word; then the
    /// translation xyz and the scale as four `f32`. A vertex is scaled, then rotated, then translated. Who reads it
    /// normalises the quaternion, which rounding leaves off its length; the dual part is half the product of the
    /// translation, as a quaternion of w 0, and the rotation.
    ///
    /// It has no room for scales that differ from axis to axis, for mirrors and for shear. A crowd whose skeletons, skins or
    /// clips have any is refused before anything is evaluated.
    DualQuaternion,
}

impl SkinFormat {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Matrix, Self::HalfMatrix, Self::DualQuaternion];

    /// Words of 32 bits that a joint takes.
    pub const fn words(self) -> usize {
        match self {
            Self::Matrix => 12,
            Self::HalfMatrix | Self::DualQuaternion => 6,
        }
    }

    /// Bytes that a joint takes.
    pub const fn bytes(self) -> usize {
        4 * self.words()
    }

    /// Its name: `matrix`, `half` or `dual-quaternion`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Matrix => "matrix",
            Self::HalfMatrix => "half",
            Self::DualQuaternion => "dual-quaternion",
        }
    }
}
