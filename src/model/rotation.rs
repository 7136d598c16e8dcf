//! Transforms, quaternions of any length, and Euler angles.
//!
//! Rotations are interpolated as stored, then normalised (glTF 2.0, appendix C.4). Only quaternions whose length is off
//! by more than a tenth are normalised first. Normalising all of them first would turn files with rounded quaternions
//! by up to 7e-5 rad.

use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3, DVec4, EulerRot};

/// The largest overshoot of an eased rotation past either end of its arc, in lengths of the arc. Fractions beyond are
/// clamped. No named easing overshoots by more than half an arc.
pub const MAX_ARCS: f64 = 32.0;

/// The largest `1 - cos` of the angle between two quaternions that slerp of unnormalised quaternions interpolates
/// linearly.
pub const MIN_ARC: f64 = 1e-6;

/// A quaternion normalised to unit length; `None` for zero. It works for every length that an `f64` holds.
///
/// Packing and reference share it, because the direction of a half turn can depend on the last bit.
pub fn unit(quaternion: DQuat) -> Option<DQuat> {
    let numbers = DVec4::from(quaternion);
    let largest = numbers.abs().max_element();
    (largest > 0.0).then(|| DQuat::from_vec4((numbers / largest).normalize()))
}

/// The angle in radians between two rotations, precise for small angles, too.
pub fn angle(one: DQuat, other: DQuat) -> f64 {
    let difference = one.conjugate() * other;
    2.0 * difference.xyz().length().atan2(difference.w.abs())
}

/// A rotation key for spherical interpolation: as stored if its length is within a tenth of 1, otherwise normalised.
/// `None` for zero.
///
/// glTF requires unit quaternions, and files round them to a few digits or to integers. Appendix C.4 of the
/// specification applies to the stored numbers. Normalising all keys first would turn the result by up to 7e-5 rad in
/// existing files.
pub fn key(quaternion: DQuat) -> Option<DQuat> {
    if (0.9..=1.1).contains(&quaternion.length()) { Some(quaternion) } else { unit(quaternion) }
}

/// The rotation that is nearest to a matrix: the one with the least sum of squared differences of their numbers.
///
/// It is the rotation whose quaternion is the eigenvector of the largest eigenvalue of a symmetric matrix (Horn,
/// "Closed-form solution of absolute orientation using unit quaternions", 1987). Where several rotations are as near,
/// as for a mirror image, it is the one of them that is nearest to the rotation of [`Transform::from_affine`]. Packing
/// and reference share it.
pub fn nearest(matrix: DMat3) -> DQuat {
    let whole = DAffine3 { matrix3: matrix, translation: DVec3::ZERO };
    let first = DVec4::from(Transform::from_affine(whole).rotation);
    let largest = matrix.to_cols_array().iter().fold(0.0_f64, |largest, number| largest.max(number.abs()));
    if largest == 0.0 {
        return DQuat::from_vec4(first);
    }
    let [x, y, z] = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|axis| axis / largest);
    let symmetric = [
        [x.x - y.y - z.z, y.x + x.y, z.x + x.z, y.z - z.y],
        [y.x + x.y, y.y - x.x - z.z, z.y + y.z, z.x - x.z],
        [z.x + x.z, z.y + y.z, z.z - x.x - y.y, x.y - y.x],
        [y.z - z.y, z.x - x.z, x.y - y.x, x.x + y.y + z.z],
    ];
    let (values, vectors) = eigen(symmetric);
    let most = values.iter().copied().fold(f64::MIN, f64::max);
    let mut found = DVec4::ZERO;
    for (_, vector) in values.iter().zip(vectors).filter(|(value, _)| most - **value < 1e-9) {
        found += vector * vector.dot(first);
    }
    unit(DQuat::from_vec4(found)).unwrap_or(DQuat::from_vec4(first))
}

/// The eigenvalues and eigenvectors of a symmetric matrix, by Jacobi rotations.
fn eigen(mut matrix: [[f64; 4]; 4]) -> ([f64; 4], [DVec4; 4]) {
    let mut vectors = DMat4::IDENTITY.to_cols_array_2d();
    // Each sweep squares what is left beside the diagonal; six are enough for an `f64`.
    for _ in 0..12 {
        for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            if matrix[i][j] == 0.0 {
                continue;
            }
            let ratio = (matrix[j][j] - matrix[i][i]) / (2.0 * matrix[i][j]);
            let tangent = ratio.signum() / (ratio.abs() + ratio.hypot(1.0));
            let cosine = tangent.hypot(1.0).recip();
            let sine = tangent * cosine;
            let turn = |a: f64, b: f64| (cosine * a - sine * b, sine * a + cosine * b);
            for row in &mut matrix {
                (row[i], row[j]) = turn(row[i], row[j]);
            }
            for k in 0..4 {
                (matrix[i][k], matrix[j][k]) = turn(matrix[i][k], matrix[j][k]);
                (vectors[i][k], vectors[j][k]) = turn(vectors[i][k], vectors[j][k]);
            }
        }
    }
    (std::array::from_fn(|index| matrix[index][index]), vectors.map(DVec4::from))
}

/// The rotation by angles in degrees about x, then z, then y, all axes of the parent (`Quat.fromEuler` of Cocos
/// Creator).
pub fn from_euler_angles(degrees: DVec3) -> DQuat {
    let DVec3 { x, y, z } = degrees.map(f64::to_radians);
    DQuat::from_euler(EulerRot::YZX, y, z, x)
}

/// The angles in degrees that give a rotation, with z from -90 to 90. The quaternion may have any length; zero counts
/// as the identity.
pub fn to_euler_angles(rotation: DQuat) -> DVec3 {
    let (y, z, x) = unit(rotation).unwrap_or(DQuat::IDENTITY).to_euler(EulerRot::YZX);
    DVec3::new(x, y, z).map(f64::to_degrees)
}

/// A local transform: scale, then rotation, then translation (glTF 2.0, section 3.5.3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transform {
    /// Metres, in the parent's space.
    pub translation: DVec3,
    /// A quaternion xyzw of any length but 0. It is normalised before it becomes a matrix.
    pub rotation: DQuat,
    /// One factor per axis.
    pub scale: DVec3,
}

impl Transform {
    /// No translation, no rotation, scale 1.
    pub const IDENTITY: Self = Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE };

    /// The matrix `T * R * S`, with the rotation normalised.
    pub fn to_affine(&self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.rotation.normalize(), self.translation)
    }

    /// The translation, rotation and scale of a matrix. The result is exact for a matrix without shear. With shear, it
    /// keeps the x axis, and the part of the y axis at right angles to it.
    ///
    /// A mirrored matrix has a negative x scale. A column of length 0 gets the axis that the other two determine, and
    /// scale 0.
    pub fn from_affine(matrix: DAffine3) -> Self {
        let columns = [matrix.matrix3.x_axis, matrix.matrix3.y_axis, matrix.matrix3.z_axis];
        let mut scale = DVec3::from(columns.map(DVec3::length));
        let x = columns[0].try_normalize().or_else(|| columns[1].cross(columns[2]).try_normalize());
        let x = x.unwrap_or_else(|| columns[1].try_normalize().map_or(DVec3::X, |y| y.any_orthonormal_vector()));
        let y = (columns[1] - x * x.dot(columns[1])).try_normalize();
        let y = y.or_else(|| columns[2].cross(x).try_normalize()).unwrap_or_else(|| x.any_orthonormal_vector());
        let z = x.cross(y);
        let mirrored = matrix.matrix3.determinant() < 0.0;
        let axes = if mirrored { DMat3::from_cols(-x, y, -z) } else { DMat3::from_cols(x, y, z) };
        if mirrored {
            scale.x = -scale.x;
        }
        Self { translation: matrix.translation, rotation: DQuat::from_mat3(&axes).normalize(), scale }
    }

    /// Returns `true` if all ten numbers are finite and within the range of an `f32`, and the rotation is not zero.
    pub(crate) fn is_usable(&self) -> bool {
        let numbers = [self.translation.to_array(), self.scale.to_array()].concat();
        numbers.into_iter().chain(self.rotation.to_array()).all(super::is_usable)
            && self.rotation.length_squared() > 0.0
    }
}

impl Default for Transform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_rotation_of_a_matrix_is_that_of_its_polar_decomposition() {
        let turned = DQuat::from_euler(EulerRot::XYZ, 0.3, -1.2, 2.5);
        let axes = DMat3::from_quat(DQuat::from_euler(EulerRot::XYZ, -2.0, 0.4, 1.0));
        // A rotation times any symmetric matrix with positive eigenvalues.
        for scale in [DVec3::ONE, DVec3::splat(1e-20), DVec3::new(1e3, 1.0, 0.5), DVec3::new(3.0, 2.0, 0.0)] {
            let stretch = axes * DMat3::from_diagonal(scale) * axes.transpose();
            let found = nearest(DMat3::from_quat(turned) * stretch);
            assert!(found.dot(turned).abs() > 1.0 - 1e-12, "{scale}: {found} is not {turned}");
        }
        // Of a mirror image, the least axis is mirrored: -3, -2, 1 is half a turn about z, and then a stretch of 3,
        // 2, 1.
        let found = nearest(DMat3::from_quat(turned) * DMat3::from_diagonal(DVec3::new(3.0, 2.0, -1.0)));
        assert!(found.dot(turned).abs() > 1.0 - 1e-12, "{found} is not {turned}");
        // All axes are as long: of the nearest ones, the rotation of a scale with a negative x.
        let found = nearest(DMat3::from_quat(turned) * DMat3::from_diagonal(DVec3::new(-2.0, 2.0, 2.0)));
        assert!(found.dot(turned).abs() > 1.0 - 1e-12, "{found} is not {turned}");
        assert!(nearest(DMat3::ZERO).is_normalized());
    }

    #[test]
    fn euler_angles_turn_about_x_then_z_then_y() {
        let turned = from_euler_angles(DVec3::new(90.0, 90.0, 0.0)) * DVec3::Y;
        // About x, y goes to z, and about y, z goes to x.
        assert!((turned - DVec3::X).length() < 1e-15, "{turned}");
        let turned = from_euler_angles(DVec3::new(0.0, 90.0, 90.0)) * DVec3::X;
        // About z, x goes to y, which a turn about y does not change.
        assert!((turned - DVec3::Y).length() < 1e-15, "{turned}");
        for angles in [DVec3::new(10.0, -170.0, 80.0), DVec3::new(-120.0, 30.0, -45.0), DVec3::new(20.0, 50.0, 90.0)] {
            let rotation = from_euler_angles(angles);
            let again = from_euler_angles(to_euler_angles(rotation * 3.0));
            assert!(rotation.dot(again).abs() > 1.0 - 1e-12, "{angles}");
        }
    }
}

#[cfg(test)]
mod transform_tests {
    use super::*;

    #[test]
    fn a_matrix_without_shear_is_taken_apart_and_put_together_again() {
        for scale in [DVec3::ONE, DVec3::new(2.0, 3.0, 0.5), DVec3::new(-2.0, 1.0, 1.0), DVec3::new(1.0, -1.0, 4.0)] {
            let rotation = DQuat::from_euler(glam::EulerRot::XYZ, 0.3, -1.2, 2.5);
            let matrix = DAffine3::from_scale_rotation_translation(scale, rotation, DVec3::new(1.0, 2.0, 3.0));
            let again = Transform::from_affine(matrix).to_affine();
            assert!(again.abs_diff_eq(matrix, 1e-12), "{scale}: {matrix:?} became {again:?}");
        }
    }

    #[test]
    fn a_flat_matrix_gives_a_unit_rotation() {
        let flat = DAffine3::from_scale(DVec3::new(0.0, 1.0, 1.0));
        let parts = Transform::from_affine(flat);
        assert!(parts.rotation.is_normalized() && parts.to_affine().abs_diff_eq(flat, 1e-12), "{parts:?}");
        assert!(Transform::from_affine(DAffine3::ZERO).rotation.is_normalized());
    }
}
