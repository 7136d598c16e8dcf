//! Translation, rotation and scale.

use glam::{DAffine3, DMat3, DQuat, DVec3};

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

    /// The translation, rotation and scale of a matrix. The result is exact for a matrix without shear. With shear, it keeps the
    /// x axis, and the part of the y axis at right angles to it.
    ///
    /// A mirrored matrix has a negative x scale. A column of length 0 gets the axis that the other two determine, and scale 0.
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

    /// True if all ten numbers are finite and within the range of an `f32`, and the rotation is not zero.
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
