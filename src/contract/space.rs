//! The bounds of points in model space, and of matrices in the formats of skins.

use glam::{DAffine3, DMat3, DQuat, DVec3};

use crate::contract::bounds::Local;
use crate::contract::sizes::NARROW;
use crate::model::{Pose, Skeleton, Skin, SkinFormat, Transform};

/// The least distance of virtual vertices from a joint, in metres.
const SHELL: f64 = 0.03;
/// The least distance of virtual vertices from a joint, as a share of the rig's size.
const SHELL_SHARE: f64 = 0.03;
/// The rounding of a position by the matrix of a level, relative to the size of the rig: three products and three sums.
const PER_LEVEL: f64 = 1.0 / (1 << 22) as f64;

/// The bounds of points in model space, for one pose.
pub struct Space<'a> {
    skeleton: &'a Skeleton,
    truth: &'a Pose,
    local: &'a Local,
    depths: Vec<usize>,
    size: f64,
    shell: f64,
    stretch: Vec<f64>,
    /// For each joint, the error of the numbers of its model matrix because smaller ones than the smallest normal `f32`
    /// may be 0.
    lost: Vec<f64>,
    /// True for a joint if its bounds or the bounds of an ancestor are wider than their present values would make them.
    widened: Vec<bool>,
}

impl<'a> Space<'a> {
    /// The bounds around a reference pose that has local transforms and model matrices.
    pub fn new(skeleton: &'a Skeleton, truth: &'a Pose, local: &'a Local) -> Self {
        let reach = truth.model.iter().map(|matrix| matrix.translation.length()).fold(0.0, f64::max);
        let shell = SHELL.max(SHELL_SHARE * reach);
        let mut stretch: Vec<f64> = Vec::with_capacity(truth.local.len());
        let mut lost: Vec<f64> = Vec::with_capacity(truth.local.len());
        for (joint, transform) in skeleton.joints().iter().zip(&truth.local) {
            let own = longest_axis(&local_matrix(joint.matrix, transform));
            let floor = f64::from(f32::MIN_POSITIVE);
            let (outer, passed) = joint.parent.map_or((1.0, 0.0), |parent| (stretch[parent], lost[parent]));
            stretch.push(outer * own);
            // The rounding of the parent, of the local matrix, and of their product.
            lost.push(passed * own + (outer + 1.0) * floor);
        }
        let mut widened: Vec<bool> = Vec::with_capacity(truth.local.len());
        for (index, joint) in skeleton.joints().iter().enumerate() {
            let own = joint.matrix.is_none() && local.slack(index, &truth.local[index]) != [0.0; 3];
            widened.push(own || joint.parent.is_some_and(|parent| widened[parent]));
        }
        Self { skeleton, truth, local, depths: skeleton.depths(), size: reach + shell, shell, stretch, lost, widened }
    }

    /// Points in a joint's space: its position, and one point along each axis. In model space, the distance to such a
    /// point is at most the shell, whatever the scales of the joint and its ancestors are.
    pub fn points(&self, joint: usize) -> impl Iterator<Item = DVec3> + use<> {
        let stretch = self.stretch[joint];
        let offset = if stretch > 0.0 { self.shell / stretch } else { 0.0 };
        [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].into_iter().map(move |axis| axis * offset)
    }

    /// The bound in model space of a point in a joint's space. `summed` is the largest magnitude of the terms that an
    /// engine adds up for the point.
    pub fn allowed(&self, joint: usize, point: DVec3, summed: f64) -> f64 {
        let levels = (self.depths[joint] + 1) as f64;
        // Each of the three coordinates counts three numbers at most.
        let lost = if point == DVec3::ZERO { 0.0 } else { 3.0 * self.lost[joint] * point.length() };
        NARROW * levels * self.size.max(summed) + lost + self.excess(joint, point)
    }

    /// The bound of the vector from a joint to one below it, which an engine computes from their positions.
    ///
    /// The bounds of the joints between them displace its end, the bounds of the rotations and scales above turn and
    /// stretch it. The bounds of the translations above cancel, except for the rounding of both positions, level by
    /// level.
    pub fn between(&self, above: usize, below: usize) -> f64 {
        let levels = (self.depths[above] + self.depths[below] + 2) as f64;
        let mut error = PER_LEVEL * levels * self.size;
        let (mut point, mut next, mut is_vector) = (DVec3::ZERO, Some(below), false);
        while let Some(index) = next {
            let joint = &self.skeleton.joints()[index];
            let transform = &self.truth.local[index];
            is_vector |= index == above;
            next = joint.parent;
            let matrix = local_matrix(joint.matrix, transform);
            let outer = next.map_or(1.0, |parent| self.stretch[parent]);
            let moved = if is_vector { 0.0 } else { self.local.translation[index] };
            error += outer
                * match joint.matrix {
                    Some(_) => NARROW * matrix.transform_vector3(point).length() + moved,
                    None => {
                        let turned = self.local.rotation[index] * (transform.scale * point).length();
                        turned + self.local.scale[index] * point.length() + moved
                    }
                };
            point = if is_vector { matrix.transform_vector3(point) } else { matrix.transform_point3(point) };
        }
        error
    }

    /// The bound of the model rotation of a joint's parent, the product of the local rotations down to it.
    pub fn parent_rotation(&self, joint: usize) -> f64 {
        let joints = self.skeleton.joints();
        let above = self.skeleton.ancestors(joint);
        above.map(|joint| if joints[joint].matrix.is_some() { NARROW } else { self.local.rotation[joint] }).sum()
    }

    /// The addition at a point for local bounds of a joint and its ancestors that are wider than their present values
    /// would make them: wide rotations, ill-conditioned splines, tracks with values far larger than the present one.
    fn excess(&self, joint: usize, mut point: DVec3) -> f64 {
        let mut excess = 0.0;
        let mut next = Some(joint);
        // Above the last widened ancestor there is nothing to add. In most poses, no joint is widened.
        while let Some(index) = next.filter(|&index| self.widened[index]) {
            let joint = &self.skeleton.joints()[index];
            let transform = &self.truth.local[index];
            next = joint.parent;
            if joint.matrix.is_none() {
                let [rotation, scale, translation] = self.local.slack(index, transform);
                let outer = next.map_or(1.0, |parent| self.stretch[parent]);
                excess +=
                    outer * (rotation * (transform.scale * point).length() + scale * point.length() + translation);
            }
            point = local_matrix(joint.matrix, transform).transform_point3(point);
        }
        excess
    }
}

fn local_matrix(matrix: Option<DAffine3>, transform: &Transform) -> DAffine3 {
    matrix.unwrap_or_else(|| transform.to_affine())
}

/// The length of the longest column. It is the largest factor by which a matrix without shear stretches.
fn longest_axis(matrix: &DAffine3) -> f64 {
    let axes = matrix.matrix3;
    axes.x_axis.length().max(axes.y_axis.length()).max(axes.z_axis.length())
}

/// A joint's position in the bind pose; the origin if its matrix is singular to within rounding.
fn bind_position(inverse_bind: &DAffine3) -> DVec3 {
    let axes = inverse_bind.matrix3;
    let volume = axes.x_axis.length() * axes.y_axis.length() * axes.z_axis.length();
    let flat = axes.determinant().abs() <= 1e-12 * volume;
    let inverse = if flat { None } else { axes.try_inverse() };
    inverse.map_or(DVec3::ZERO, |inverse| inverse * -inverse_bind.translation)
}

/// For each joint of a skin, virtual vertices at the distance of the shell from its position in the bind pose, one
/// along each direction of each axis.
pub fn vertices(skin: &Skin) -> Vec<[DVec3; 6]> {
    let positions: Vec<DVec3> = skin.inverse_bind.iter().map(bind_position).collect();
    let reach = positions.iter().map(|position| position.length()).fold(0.0, f64::max);
    let shell = SHELL.max(SHELL_SHARE * reach);
    let axes = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::NEG_X, DVec3::NEG_Y, DVec3::NEG_Z];
    positions.iter().map(|&position| axes.map(|axis| position + shell * axis)).collect()
}

/// The relative error of an `f16`: half a step of 11 bits.
const HALF: f64 = 1.0 / 2048.0;
/// The absolute error of an `f16` below 2^-14: half a step of 2^-24.
const HALF_MIN_STEP: f64 = 0.5 / (1 << 24) as f64;
/// The largest `f16`.
const HALF_MAX: f64 = 65504.0;
/// The error in radians of a unit quaternion of four `snorm16`. Each number is off by up to half a step of 1 / 32767,
/// all four together by up to a whole step, and a rotation turns by twice the angle of its quaternion.
const SNORM_TURN: f64 = 2.0 / 32767.0;
/// The error of a rotation and uniform scale that are read from some elements of a matrix, relative to the error of the
/// nearest ones.
const READ: f64 = 4.0;

/// The distance by which rounding of a matrix may displace a point that it transforms.
pub fn skin_rounding(format: SkinFormat, matrix: &DAffine3, point: DVec3) -> f64 {
    match format {
        SkinFormat::Matrix => 0.0,
        SkinFormat::HalfMatrix => half(matrix, point),
        SkinFormat::DualQuaternion => {
            let turned = (SNORM_TURN + NARROW) * matrix.transform_vector3(point).length();
            turned + READ * uneven(&matrix.matrix3) * point.length()
        }
    }
}

/// The displacement by rounding to `f16`. The error of each number is multiplied by the coordinate that the number
/// multiplies.
fn half(matrix: &DAffine3, point: DVec3) -> f64 {
    let error = |number: f64| match number.abs() {
        beyond if beyond > HALF_MAX => beyond - HALF_MAX,
        within => (HALF * within).max(HALF_MIN_STEP),
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
