//! The addition of a skin format's rounding to the bound of skin matrices.

use glam::{DAffine3, DMat3, DQuat, DVec3};

use crate::contract::sizes::NARROW;
use crate::model::SkinFormat;

/// The relative error of an `f16`: half a step of 11 bits.
const HALF: f64 = 1.0 / 2048.0;
/// The absolute error of an `f16` below 2^-14: half a step of 2^-24.
const HALF_LEAST: f64 = 0.5 / (1 << 24) as f64;
/// The largest `f16`.
const HALF_MOST: f64 = 65504.0;
/// The error in radians of a unit quaternion of four `snorm16`. Each number is off by up to half a step of 1 / 32767, all four
/// together by up to a whole step, and a rotation turns by twice the angle of its quaternion.
const SNORM_TURN: f64 = 2.0 / 32767.0;
/// The error of a rotation and uniform scale that are read from some elements of a matrix, relative to the error of the nearest
/// ones.
const READ: f64 = 4.0;

/// The distance by which rounding of a matrix may displace a point that it transforms.
pub fn rounding(format: SkinFormat, matrix: &DAffine3, point: DVec3) -> f64 {
    match format {
        SkinFormat::Matrix => 0.0,
        SkinFormat::HalfMatrix => half(matrix, point),
        SkinFormat::DualQuaternion => {
            let turned = (SNORM_TURN + NARROW) * matrix.transform_vector3(point).length();
            turned + READ * uneven(&matrix.matrix3) * point.length()
        }
    }
}

/// The displacement by rounding to `f16`. The error of each number is multiplied by the coordinate that the number multiplies.
fn half(matrix: &DAffine3, point: DVec3) -> f64 {
    let error = |number: f64| match number.abs() {
        beyond if beyond > HALF_MOST => beyond - HALF_MOST,
        within => (HALF * within).max(HALF_LEAST),
    };
    let columns = [
        (matrix.matrix3.x_axis, point.x),
        (matrix.matrix3.y_axis, point.y),
        (matrix.matrix3.z_axis, point.z),
        (matrix.translation, 1.0),
    ];
    columns.map(|(column, factor)| column.map(error) * factor.abs()).into_iter().sum::<DVec3>().length()
}

/// The distance of a matrix from a rotation and a uniform scale. It is small, since the scales must count as uniform.
fn uneven(matrix: &DMat3) -> f64 {
    let columns = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    let scale = (columns.iter().map(|column| column.length_squared()).sum::<f64>() / 3.0).sqrt();
    if scale == 0.0 {
        return 0.0;
    }
    let scale = scale.copysign(matrix.determinant());
    let rotation = DMat3::from_quat(DQuat::from_mat3(&(*matrix * (1.0 / scale))).normalize());
    let rest = *matrix - rotation * scale;
    [rest.x_axis, rest.y_axis, rest.z_axis].iter().map(|column| column.length_squared()).sum::<f64>().sqrt()
}
