//! Affine matrices as three rows of four: the linear part, and in the last column the translation.

use glam::Vec4;

/// An affine matrix by its rows.
pub type Rows = [Vec4; 3];

/// The product of two matrices: first the right one, then the left one.
pub fn multiply(left: &Rows, right: &Rows) -> Rows {
    let last = Vec4::new(0.0, 0.0, 0.0, 1.0);
    left.map(|row| right[0] * row.x + right[1] * row.y + right[2] * row.z + last * row.w)
}
