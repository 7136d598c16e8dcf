//! What the rounding of a skin format adds to the bound of skin matrices.

use glam::{DAffine3, DMat3, DQuat, DVec3};

use crate::contract::sizes::NARROW;
use crate::model::SkinFormat;

/// The share of a number by which an `f16` may be off it: half a step of 11 bits.
const HALF: f64 = 1.0 / 2048.0;
/// By how much an `f16` may be off a number below 2^-14: half a step of 2^-24.
const HALF_LEAST: f64 = 0.5 / (1 << 24) as f64;
/// The largest `f16`.
const HALF_MOST: f64 = 65504.0;
/// Radians by which a unit quaternion of four `snorm16` may be off: each of its numbers by half a step of 1 / 32767, all four
/// together by as much as a whole one, and a rotation turns twice as far as its quaternion.
const SNORM_TURN: f64 = 2.0 / 32767.0;
/// By how much more than the nearest rotation and uniform scale those read from some elements of a matrix may be off it.
const READ: f64 = 4.0;

/// By how much rounding may move a point that a matrix moves.
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

/// Each number of a row counts as much as what it is multiplied by.
fn half(matrix: &DAffine3, point: DVec3) -> f64 {
    let off = |number: f64| match number.abs() {
        beyond if beyond > HALF_MOST => beyond - HALF_MOST,
        within => (HALF * within).max(HALF_LEAST),
    };
    let columns = [
        (matrix.matrix3.x_axis, point.x),
        (matrix.matrix3.y_axis, point.y),
        (matrix.matrix3.z_axis, point.z),
        (matrix.translation, 1.0),
    ];
    columns.map(|(column, factor)| column.map(off) * factor.abs()).into_iter().sum::<DVec3>().length()
}

/// How far a matrix is from a rotation and a uniform scale: nothing but what counts as uniform.
fn uneven(matrix: &DMat3) -> f64 {
    let columns = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    let scale = (columns.iter().map(|column| column.length_squared()).sum::<f64>() / 3.0).sqrt();
    if scale == 0.0 {
        return 0.0;
    }
    let scale = scale.copysign(matrix.determinant());
    let rotation = DMat3::from_quat(DQuat::from_mat3(&(*matrix * (1.0 / scale))).normalize());
    let off = *matrix - rotation * scale;
    [off.x_axis, off.y_axis, off.z_axis].iter().map(|column| column.length_squared()).sum::<f64>().sqrt()
}
