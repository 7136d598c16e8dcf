//! The arrays that a caller wants, and the space of their numbers.

use crate::bake::ArrayKind;

/// The axis that points up in results. The model's own axis is +Y.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum UpAxis {
    /// +Y, as in the model.
    #[default]
    Y,
    /// +Z: model space is turned by +90 degrees about +X, so that `(x, y, z)` becomes `(x, -z, y)`.
    Z,
}

/// The order of the numbers of a quaternion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum QuaternionOrder {
    /// x, y, z, w.
    #[default]
    Xyzw,
    /// w, x, y, z.
    Wxyz,
}

impl UpAxis {
    /// Its name: `y` or `z`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Y => "y",
            Self::Z => "z",
        }
    }

    /// Turns a direction, a point or an angular velocity from the model to results with this axis up. It is exact, because numbers
    /// only change places and signs.
    #[inline(always)]
    pub fn turn(self, vector: [f64; 3]) -> [f64; 3] {
        let [x, y, z] = vector;
        match self {
            Self::Y => vector,
            Self::Z => [x, -z, y],
        }
    }
}

impl QuaternionOrder {
    /// Its name: `xyzw` or `wxyz`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Xyzw => "xyzw",
            Self::Wxyz => "wxyz",
        }
    }
}

/// The arrays that a caller wants, their joints and their space.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayRequest {
    /// The kinds of arrays, in the order of the results. A kind that is listed twice counts once.
    pub kinds: Vec<ArrayKind>,
    /// The joints of the arrays per joint, as indices into the skeleton, each at most once.
    pub joints: Vec<usize>,
    /// The axis that points up.
    pub up: UpAxis,
    /// The factor of lengths, more than 0. 1 by default.
    pub scale: f64,
    /// The order of the numbers of quaternions.
    pub quaternions: QuaternionOrder,
}

impl ArrayRequest {
    /// Positions and rotations of these joints, with +Y up, in the unit of the model.
    pub fn of_joints(joints: &[usize]) -> Self {
        Self {
            kinds: vec![ArrayKind::Pos, ArrayKind::Quat],
            joints: joints.to_vec(),
            up: UpAxis::Y,
            scale: 1.0,
            quaternions: QuaternionOrder::Xyzw,
        }
    }
}
