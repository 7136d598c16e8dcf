//! The space of results: its up axis, its unit, and the order of quaternions.

use std::f64::consts::FRAC_1_SQRT_2;

use glam::{DQuat, DVec3};

use crate::bake::{QuaternionOrder, UpAxis};
use crate::pack::NUMBERS;

/// The turn by +90 degrees about +X, from +Y up to +Z up.
const TURN: DQuat = DQuat::from_xyzw(FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2);

/// The space of results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Space {
    pub up: UpAxis,
    pub scale: f64,
    pub order: QuaternionOrder,
}

impl Space {
    /// A direction or an angular velocity: turned. It is exact, because numbers only change places and signs.
    pub fn turn(&self, vector: DVec3) -> DVec3 {
        match self.up {
            UpAxis::Y => vector,
            UpAxis::Z => DVec3::new(vector.x, -vector.z, vector.y),
        }
    }

    /// A point or a velocity: turned and scaled.
    pub fn point(&self, point: DVec3) -> DVec3 {
        self.turn(point) * self.scale
    }

    /// A rotation: turned.
    pub fn rotation(&self, rotation: DQuat) -> DQuat {
        match self.up {
            UpAxis::Y => rotation,
            UpAxis::Z => TURN * rotation,
        }
    }

    /// The numbers of a quaternion in the order of results.
    pub fn ordered(&self, rotation: DQuat) -> [f32; 4] {
        let [x, y, z, w] = rotation.to_array().map(|number| number as f32);
        match self.order {
            QuaternionOrder::Xyzw => [x, y, z, w],
            QuaternionOrder::Wxyz => [w, x, y, z],
        }
    }

    /// The four rows of a matrix that is given by three: turned and scaled after the matrix.
    pub fn matrix(&self, rows: &[f32; NUMBERS]) -> [f32; 16] {
        let row = |row: usize, sign: f64| -> [f32; 4] {
            std::array::from_fn(|column| (sign * self.scale * f64::from(rows[4 * row + column])) as f32)
        };
        let rows = match self.up {
            UpAxis::Y => [row(0, 1.0), row(1, 1.0), row(2, 1.0)],
            UpAxis::Z => [row(0, 1.0), row(2, -1.0), row(1, 1.0)],
        };
        let mut numbers = [0.0; 16];
        numbers[..NUMBERS].copy_from_slice(rows.as_flattened());
        numbers[15] = 1.0;
        numbers
    }
}
