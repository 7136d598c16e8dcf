//! The rest pose and the bind pose of a skeleton in the space of an output.

use std::f64::consts::FRAC_1_SQRT_2;

use posse::bake::UpAxis;
use posse::glam::{DAffine3, DMat3, DQuat, DVec3};
use posse::{Joint, Transform};

use crate::bake::facts::Facts;

/// The turn by +90 degrees about +X, from +Y up to +Z up.
const TURN: DQuat = DQuat::from_xyzw(FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2);

/// The space of an output: its up axis and its unit.
#[derive(Clone, Copy)]
pub struct Space {
    turned: bool,
    scale: f64,
}

impl Space {
    pub fn new(facts: &Facts) -> Self {
        Self { turned: facts.up_axis == "z", scale: facts.unit_scale }
    }

    /// The factor of lengths.
    pub fn scale(self) -> f64 {
        self.scale
    }

    /// The local transform of a joint in the rest pose. That of a root is turned.
    pub fn rest(self, joint: &Joint) -> Transform {
        let Transform { translation, rotation, scale } = joint.rest;
        let (translation, rotation) = (translation * self.scale, rotation.normalize());
        if joint.parent.is_none() && self.turned {
            return Transform { translation: turn(translation), rotation: TURN * rotation, scale };
        }
        Transform { translation, rotation, scale }
    }

    /// The local matrix of a joint in the rest pose. That of a root is turned.
    pub fn rest_matrix(self, joint: &Joint) -> DAffine3 {
        let matrix = joint.matrix.unwrap_or_else(|| joint.rest.to_affine());
        if joint.parent.is_none() { self.in_model(matrix) } else { self.scaled(matrix) }
    }

    /// A transform of model space: turned, with its translation scaled.
    pub fn in_model(self, matrix: DAffine3) -> DAffine3 {
        let DAffine3 { matrix3, translation } = self.scaled(matrix);
        if !self.turned {
            return DAffine3 { matrix3, translation };
        }
        let [x, y, z] = [matrix3.x_axis, matrix3.y_axis, matrix3.z_axis].map(turn);
        DAffine3 { matrix3: DMat3::from_cols(x, y, z), translation: turn(translation) }
    }

    fn scaled(self, matrix: DAffine3) -> DAffine3 {
        DAffine3 { translation: matrix.translation * self.scale, ..matrix }
    }
}

/// A vector in a space with +Z up.
fn turn(vector: DVec3) -> DVec3 {
    UpAxis::Z.turn(vector.to_array()).into()
}
