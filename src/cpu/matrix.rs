//! Affine matrices as three rows of four: the linear part, and in the last column the translation.

use glam::Vec4;

/// An affine matrix by its rows.
pub type Rows = [Vec4; 3];

/// `T R S`: scales, then rotates by a unit quaternion, then translates.
pub fn compose(translation: Vec4, rotation: Vec4, scale: Vec4) -> Rows {
    let [x, y, z, w] = rotation.to_array();
    let [dx, dy, dz] = [x + x, y + y, z + z];
    let (xx, yy, zz) = (x * dx, y * dy, z * dz);
    let (xy, xz, yz) = (x * dy, x * dz, y * dz);
    let (wx, wy, wz) = (w * dx, w * dy, w * dz);
    let scale = scale.truncate().extend(1.0);
    [
        Vec4::new(1.0 - (yy + zz), xy - wz, xz + wy, translation.x) * scale,
        Vec4::new(xy + wz, 1.0 - (xx + zz), yz - wx, translation.y) * scale,
        Vec4::new(xz - wy, yz + wx, 1.0 - (xx + yy), translation.z) * scale,
    ]
}

/// The product of two matrices: first the right one, then the left one.
pub fn multiply(left: &Rows, right: &Rows) -> Rows {
    let last = Vec4::new(0.0, 0.0, 0.0, 1.0);
    left.map(|row| right[0] * row.x + right[1] * row.y + right[2] * row.z + last * row.w)
}
