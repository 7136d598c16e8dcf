//! SMPL: poses of skeletons with the joints of the bodies SMPL, SMPL-H and SMPL-X, as the rotation vectors that
//! programs of these bodies read.

use glam::{DQuat, DVec3};

use crate::error::Error;
use crate::import::smpl::BodyModel;
use crate::import::smpl::body::{self, BodyAtRest};
use crate::model::Skeleton;

/// The joints of a skeleton that are joints of a body, for motion that is written for programs of SMPL.
///
/// # Examples
/// ```
/// use posse::export::smpl::SmplBody;
/// use posse::glam::DQuat;
/// use posse::{Joint, Skeleton};
///
/// # fn main() -> Result<(), posse::Error> {
/// # let names = ["pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2", "left_ankle",
/// #     "right_ankle", "spine3", "left_foot", "right_foot", "neck", "left_collar", "right_collar", "head",
/// #     "left_shoulder", "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist"];
/// # let joints = names.map(|name| Joint { name: Some(name.into()), ..Joint::default() });
/// // `joints` have the names of SMPL.
/// let skeleton = Skeleton::new(None, joints.to_vec(), Vec::new())?;
/// let body = SmplBody::of_skeleton(&skeleton)?;
/// let vectors = body.rotation_vectors(|_| DQuat::from_rotation_x(0.5));
/// assert!(vectors.len() == 24 && (vectors[0][0] - 0.5).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SmplBody {
    model: BodyModel,
    /// Per joint of the body the joint of the skeleton, and its parent in the body.
    joints: Vec<(Option<usize>, Option<usize>)>,
    /// Per joint of the body the inverse of its rotation at rest, in model space.
    at_rest: Vec<DQuat>,
    /// The rest positions relative to the origin of the models.
    positions: Vec<DVec3>,
    /// `true` if the skeleton stands as the models do.
    stands: bool,
}

impl SmplBody {
    /// The body of a skeleton: SMPL-X if it has a jaw, else SMPL-H if it has fingers, else SMPL. Hands, fingers, jaw
    /// and eyes that it lacks are not rotated.
    ///
    /// # Errors
    /// [`Error::Usage`] for a skeleton that lacks one of the joints that all bodies share, with their names.
    pub fn of_skeleton(skeleton: &Skeleton) -> Result<Self, Error> {
        let found = body::find_joints(BodyModel::SmplX, skeleton);
        let has = |joint: usize| found.get(joint).is_some_and(Option::is_some);
        Self::new(
            skeleton,
            match (has(body::SHARED_COUNT), (body::SHARED_COUNT + 3..found.len()).any(has)) {
                (true, _) => BodyModel::SmplX,
                (false, true) => BodyModel::SmplH,
                (false, false) => BodyModel::Smpl,
            },
        )
    }

    /// The same for a body that the caller chooses. Joints of the skeleton that the body lacks are left out.
    ///
    /// # Errors
    /// The errors of [`of_skeleton`](Self::of_skeleton).
    pub fn new(skeleton: &Skeleton, model: BodyModel) -> Result<Self, Error> {
        let rest = BodyAtRest::new(model, skeleton).map_err(|missing| {
            Error::Usage(format!(
                "the skeleton is no body of SMPL: it lacks {missing}; retarget the clip to a skeleton with the joints \
                 of SMPL"
            ))
        })?;
        let (stands, positions) = (rest.stands(), rest.positions_in_model());
        let BodyAtRest { joints, matrices, .. } = rest;
        let rotation = |joint: &Option<usize>| {
            let matrix = joint.and_then(|joint| matrices.get(joint));
            matrix.map_or(DQuat::IDENTITY, |matrix| matrix.to_scale_rotation_translation().1.inverse())
        };
        let at_rest = joints.iter().map(rotation).collect();
        let joints = joints.into_iter().zip(model.joints()).map(|(joint, of_body)| (joint, of_body.parent)).collect();
        Ok(Self { model, joints, at_rest, positions, stands })
    }

    /// The body.
    pub fn model(&self) -> BodyModel {
        self.model
    }

    /// The joints of the skeleton that are joints of the body.
    pub fn joints(&self) -> impl Iterator<Item = usize> {
        self.joints.iter().filter_map(|(joint, _)| *joint)
    }

    /// The joint of the skeleton that is the pelvis.
    pub fn pelvis(&self) -> usize {
        self.joints.first().and_then(|(joint, _)| *joint).unwrap_or(0)
    }

    /// The names of the joints of the body, in the order of the rotation vectors.
    pub fn names(&self) -> Vec<String> {
        self.model.joints().into_iter().map(|joint| joint.name).collect()
    }

    /// The parent of each joint of the body, in the order of the rotation vectors; `None` for the pelvis.
    pub fn parents(&self) -> impl Iterator<Item = Option<usize>> {
        self.joints.iter().map(|(_, parent)| *parent)
    }

    /// The rest position of the pelvis relative to the origin of the model, which translations leave out, in the unit
    /// of the skeleton: of the skeleton if it is within half a metre of the origin, as in the models, otherwise
    /// of an adult. A metre is a metre of an adult with legs as long as the skeleton's.
    pub fn origin(&self) -> DVec3 {
        self.positions.first().copied().unwrap_or_default()
    }

    /// The rest positions of the joints relative to the origin of the model, in the order of the rotation vectors, in
    /// the unit of the skeleton.
    pub fn rest_positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// What looks wrong about the skeleton.
    pub fn notes(&self) -> Vec<String> {
        let note = || {
            let expected = body::REST_POSE;
            format!(
                "the skeleton does not rest as the bodies of SMPL do, so that programs of SMPL show other poses; \
                 expected {expected}"
            )
        };
        Vec::from_iter((!self.stands).then(note))
    }

    /// The rotations of a pose in model space, relative to the rest pose, in the order of the rotation vectors.
    /// `rotation` gives the rotation of a joint of the skeleton in model space.
    pub fn rotations(&self, rotation: impl Fn(usize) -> DQuat) -> Vec<DQuat> {
        let mut rotations: Vec<DQuat> = Vec::with_capacity(self.joints.len());
        for ((joint, parent), at_rest) in self.joints.iter().zip(&self.at_rest) {
            let parent = parent.and_then(|parent| rotations.get(parent)).copied().unwrap_or(DQuat::IDENTITY);
            rotations.push(joint.map_or(parent, |joint| rotation(joint) * *at_rest));
        }
        rotations
    }

    /// The rotation vectors of a pose, in radians, in the order of the models. `rotation` gives the rotation of a joint
    /// of the skeleton in model space.
    ///
    /// They are relative to the rest pose, in which the models have no rotations, so that the axes of the joints may be
    /// any: what counts is that the skeleton rests with the arms to the sides. Angles are at most half a revolution.
    pub fn rotation_vectors(&self, rotation: impl Fn(usize) -> DQuat) -> Vec<[f64; 3]> {
        let rotations = self.rotations(rotation);
        let parent = |parent: Option<usize>| parent.and_then(|parent| rotations.get(parent)).copied();
        let local = rotations.iter().zip(self.parents());
        local
            .map(|(own, of_body)| rotation_vector(parent(of_body).map_or(*own, |parent| parent.inverse() * *own)))
            .collect()
    }
}

/// The rotation vector of a rotation, of at most half a revolution.
fn rotation_vector(rotation: DQuat) -> [f64; 3] {
    let rotation = if rotation.w < 0.0 { -rotation } else { rotation };
    let axis = rotation.xyz();
    let sin = axis.length();
    // The angle over its half sine, whose limit is 2. The arc tangent is precise for all angles.
    let factor = if sin > 0.0 { 2.0 * sin.atan2(rotation.w) / sin } else { 2.0 };
    (axis * factor).to_array()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_1_SQRT_2, PI};

    use super::*;

    #[test]
    fn rotation_vectors_are_those_of_the_shorter_way() {
        let half = FRAC_1_SQRT_2;
        for (quaternion, expected) in [
            ([0.0, 0.0, 0.0, 1.0], [0.0; 3]),
            ([half, 0.0, 0.0, half], [0.5 * PI, 0.0, 0.0]),
            // 1.5 half revolutions about y are half a half revolution back.
            ([0.0, half, 0.0, -half], [0.0, -0.5 * PI, 0.0]),
            ([0.0, 0.0, -1.0, 0.0], [0.0, 0.0, -PI]),
        ] {
            let found = rotation_vector(DQuat::from_array(quaternion));
            assert!(DVec3::from(found).distance(expected.into()) < 1e-15, "{quaternion:?}: {found:?}");
        }
        assert_eq!(rotation_vector(DQuat::from_xyzw(1e-200, 0.0, 0.0, 1.0)), [2e-200, 0.0, 0.0]);
    }
}
