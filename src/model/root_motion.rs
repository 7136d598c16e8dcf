//! What a clip moves its instance by, and what of it stays in the pose.

use glam::{DAffine3, DQuat, DVec3};

use crate::model::rotation::unit;
use crate::model::skeleton::Skeleton;
use crate::model::transform::Transform;

/// A clip's root joint, and what of its movement is the instance's own.
///
/// That part is taken out of the pose, `local' = part^-1 local`, whether or not motions are asked for, so that who asks moves
/// the instance by its [`Motion`] and loses nothing. What the clip has no track for stays as it is at rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RootMotion {
    /// The joint, one that is not given by a matrix.
    pub joint: usize,
    /// Which of the axes x, y and z of its parent's space it moves the instance along.
    pub translation: [bool; 3],
    /// What of its rotation turns the instance.
    pub rotation: RootRotation,
}

/// What of a root joint's rotation turns the instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RootRotation {
    /// Nothing.
    #[default]
    None,
    /// The twist about the skeleton's up axis.
    Yaw,
    /// All of it.
    Full,
}

/// A rigid movement: a rotation, then a translation, in the space of the root joint's parent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Motion {
    /// Metres, along the axes from which the movement began.
    pub translation: DVec3,
    /// Of unit length.
    pub rotation: DQuat,
}

impl RootMotion {
    /// The part of a local transform of the joint that moves the instance. The rotation is of unit length, and `up` too.
    pub fn part(&self, local: &Transform, up: DVec3) -> Motion {
        let rotation = unit(local.rotation).unwrap_or(DQuat::IDENTITY);
        Motion {
            translation: DVec3::from(self.translation.map(f64::from)) * local.translation,
            rotation: match self.rotation {
                RootRotation::None => DQuat::IDENTITY,
                RootRotation::Yaw => twist(rotation, up).unwrap_or(DQuat::IDENTITY),
                RootRotation::Full => rotation,
            },
        }
    }

    /// The up axis of glTF, +Y, in the space of the joint's parent at rest, of unit length; +Y itself where that space has
    /// lost it.
    ///
    /// # Panics
    /// Where the skeleton has no such joint.
    pub fn up(&self, skeleton: &Skeleton) -> DVec3 {
        let mut parents = DAffine3::IDENTITY;
        let mut next = skeleton.joints()[self.joint].parent;
        while let Some(joint) = next.map(|index| &skeleton.joints()[index]) {
            parents = joint.matrix.unwrap_or_else(|| joint.rest.to_affine()) * parents;
            next = joint.parent;
        }
        (parents.matrix3.inverse() * DVec3::Y).try_normalize().unwrap_or(DVec3::Y)
    }
}

/// The part of a rotation that turns about an axis; none where the rest is a half turn about another.
pub(crate) fn twist(rotation: DQuat, axis: DVec3) -> Option<DQuat> {
    let along = rotation.xyz().dot(axis) * axis;
    unit(DQuat::from_xyzw(along.x, along.y, along.z, rotation.w))
}

impl Motion {
    /// No movement.
    pub const IDENTITY: Self = Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY };

    /// This movement, and then another that begins where it ended: what both move an instance by together.
    pub fn then(self, next: Self) -> Self {
        Self {
            translation: self.translation + self.rotation * next.translation,
            rotation: (self.rotation * next.rotation).normalize(),
        }
    }

    /// The movement back.
    pub fn inverse(self) -> Self {
        let rotation = self.rotation.conjugate();
        Self { translation: rotation * -self.translation, rotation }
    }
}

impl Default for Motion {
    fn default() -> Self {
        Self::IDENTITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::skeleton::Joint;

    #[test]
    fn the_twist_is_what_turns_about_the_axis() {
        let tilted = DQuat::from_rotation_y(0.7) * DQuat::from_rotation_x(0.4);
        assert!(twist(tilted, DVec3::Y).unwrap().angle_between(DQuat::from_rotation_y(0.7)) < 1e-7);
        assert_eq!(twist(DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0), DVec3::Y), None);
    }

    #[test]
    fn there_and_back_is_nowhere() {
        let way = Motion { translation: DVec3::new(1.0, 2.0, 3.0), rotation: DQuat::from_rotation_y(1.0) };
        let back = way.then(way.inverse());
        assert!(back.translation.length() < 1e-15 && back.rotation.angle_between(DQuat::IDENTITY) < 1e-7, "{back:?}");
        // A quarter turn to the left after a metre ahead (+Z), then a metre ahead: it is to the right (+X).
        let step = Motion { translation: DVec3::Z, rotation: DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2) };
        assert!((step.then(step).translation - DVec3::new(1.0, 0.0, 1.0)).length() < 1e-15);
    }

    #[test]
    fn up_is_seen_from_the_parent() {
        let root = RootMotion { joint: 2, translation: [true; 3], rotation: RootRotation::Yaw };
        let joint = |parent, angle: f64, scale| Joint {
            parent,
            rest: Transform { rotation: DQuat::from_rotation_x(angle), scale, ..Transform::IDENTITY },
            ..Joint::default()
        };
        let up = |scale| {
            let joints =
                vec![joint(None, -0.3, DVec3::splat(0.01)), joint(Some(0), -0.5, scale), joint(Some(1), 9.0, scale)];
            root.up(&Skeleton::new(None, joints, Vec::new()).unwrap())
        };
        assert!((up(DVec3::ONE) - DQuat::from_rotation_x(0.8) * DVec3::Y).length() < 1e-12);
        assert_eq!(up(DVec3::ZERO), DVec3::Y);
    }
}
