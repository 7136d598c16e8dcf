//! The space of results: its up axis, its unit, and the order of quaternions.

use std::f64::consts::FRAC_1_SQRT_2;

use crate::bake::{QuaternionOrder, UpAxis};
use crate::pack::NUMBERS;

/// The space of results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Space {
    pub up: UpAxis,
    pub scale: f64,
    pub order: QuaternionOrder,
}

impl Space {
    /// A direction or an angular velocity: turned.
    #[inline(always)]
    pub fn turn(&self, vector: [f64; 3]) -> [f64; 3] {
        self.up.turn(vector)
    }

    /// A length along each axis: scaled.
    #[inline(always)]
    pub fn scale(&self, vector: [f64; 3]) -> [f64; 3] {
        vector.map(|number| number * self.scale)
    }

    /// A point or a velocity: turned and scaled.
    #[inline(always)]
    pub fn point(&self, point: [f64; 3]) -> [f64; 3] {
        self.scale(self.turn(point))
    }

    /// A rotation: turned by +90 degrees about +X from +Y up to +Z up.
    #[inline(always)]
    pub fn rotation(&self, rotation: [f64; 4]) -> [f64; 4] {
        let [x, y, z, w] = rotation;
        match self.up {
            UpAxis::Y => rotation,
            // The product of the quaternion (sqrt(1/2), 0, 0, sqrt(1/2)) and the rotation.
            UpAxis::Z => [x + w, y - z, y + z, w - x].map(|number| number * FRAC_1_SQRT_2),
        }
    }

    /// The numbers of a quaternion xyzw in the order of results.
    #[inline(always)]
    pub fn ordered(&self, rotation: [f64; 4]) -> [f32; 4] {
        let [x, y, z, w] = rotation.map(|number| number as f32);
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
