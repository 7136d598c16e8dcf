//! Root motion: the part of a clip that moves the instance, and its axes.

use glam::{DAffine3, DMat3, DQuat, DVec3};

use crate::error::Error;
use crate::model::rotation::unit;
use crate::model::{Skeleton, Target, Track, Transform, no_such};

/// The largest slope of an axis that counts as horizontal: 0.1 mm per metre. Rounding of a turned joint causes less.
const MAX_SLOPE: f64 = 1e-4;

/// The root joint of a clip, and the part of its movement that moves the instance.
///
/// That part is always removed from the pose, `local' = part^-1 local`, also if
/// [`Outputs::root_motion`](crate::Outputs) is not selected. The caller moves the instance by its [`Motion`] instead.
/// Parts that the clip has no track for stay at rest.
///
/// Axes and motions are in the space of the **parent** of the joint, as are the keys of the clip. That space may differ
/// from the space of the instance: in a file with +Z up, y may be a horizontal axis and z the height.
/// [`on_ground`](Self::on_ground) finds the horizontal axes, and [`space`](Self::space) returns the matrix to the space
/// of the instance. Layers are blended in the space of the parent; clips that play together should therefore have root
/// joints of one parent.
///
/// # Examples
/// ```
/// use posse::demo;
/// use posse::root_motion::{RootMotion, RootRotation};
///
/// # fn main() -> Result<(), posse::Error> {
/// let mut library = demo::library()?;
/// let clip = library.find_clip("walk").expect("the demo walks");
/// let pelvis = 0;
/// let root = RootMotion::on_ground(library.skeleton(library.clip(clip).skeleton), pelvis)?;
/// assert_eq!(root.translation, [true, false, true]); // y is the height, which stays in the pose
/// assert_eq!(root.rotation, RootRotation::Yaw);
/// assert!(root.is_moved_by(&library.clip(clip).tracks));
/// assert_eq!(library.set_root_motion(clip, Some(root))?, None);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RootMotion {
    /// The joint. It must not be given by a matrix.
    pub joint: usize,
    /// The axes x, y and z along which it moves the instance. They are axes of the parent of the joint, not of the
    /// instance.
    pub translation: [bool; 3],
    /// The part of its rotation that rotates the instance.
    pub rotation: RootRotation,
}

/// The part of the rotation of a root joint that rotates the instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RootRotation {
    /// No part.
    #[default]
    None,
    /// The twist about the up axis of the instance, +Y, converted to the space of the parent of the joint at rest
    /// ([`RootMotion::up`]).
    Yaw,
    /// The whole rotation.
    Full,
}

/// A rigid movement: a rotation, then a translation, in the space of the parent of the root joint.
///
/// That space differs from the space of the instance if the parent is transformed. [`in_space`](Self::in_space)
/// converts a motion.
///
/// # Examples
///
/// ```
/// # fn main() -> Result<(), posse::Error> {
/// use posse::cpu::CpuEngine;
/// use posse::root_motion::RootMotion;
/// use posse::{Crowd, Evaluator, Layer, LayerTime, Outputs, Playback, Step, Ticks, demo};
///
/// let mut library = demo::library()?;
/// let clip = library.find_clip("walk").expect("the demo walks");
/// let id = library.clip(clip).skeleton;
/// let root = RootMotion::on_ground(library.skeleton(id), 0)?;
/// let space = root.space(library.skeleton(id));
/// library.set_root_motion(clip, Some(root))?;
/// let mut crowd = Crowd::new();
/// crowd.push(id, &[Layer::new(clip, LayerTime::Playing(Playback::looping(0.0, 1.0)))])?;
/// let step = Step { from: Ticks(0), to: Ticks::from_seconds(0.1) };
/// let poses = CpuEngine::new(&library)?.evaluate_step(&crowd, step, Outputs::ALL)?;
/// let moved = poses.instances[0].root_motion.expect("a root").in_space(&space);
/// // Moves an instance at `world`.
/// let world = glam::DAffine3::IDENTITY;
/// let world = world * glam::DAffine3::from_rotation_translation(moved.rotation, moved.translation);
/// # assert!(world.translation.y == 0.0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Motion {
    /// The translation along the axes at the start of the movement, in the units of its space (metres in the space of
    /// the instance).
    pub translation: DVec3,
    /// The rotation, of unit length.
    pub rotation: DQuat,
}

impl RootMotion {
    /// A root joint that moves its instance over the ground: along the two axes of the parent that are horizontal in
    /// the space of the instance at rest, and by its yaw. The height and the tilts stay in the pose.
    ///
    /// # Errors
    /// [`Error::Skeleton`] if there is no such joint, it is given by a matrix, or its parent does not have two
    /// horizontal axes to within 0.1 mm per metre. Each choice of axes would then change the height.
    pub fn on_ground(skeleton: &Skeleton, joint: usize) -> Result<Self, Error> {
        let error = |reason: String| Err(Error::Skeleton { joint, reason });
        let Some(found) = skeleton.joints().get(joint) else {
            return error(no_such("joint", joint, "skeleton", skeleton.joints().len()));
        };
        if found.matrix.is_some() {
            return error("it is given by a matrix, which cannot be animated; choose another root joint".into());
        }
        let root = Self { joint, translation: [false; 3], rotation: RootRotation::Yaw };
        let axes = root.space(skeleton).matrix3;
        let axes = [axes.x_axis, axes.y_axis, axes.z_axis].map(|axis| axis.try_normalize());
        let translation = axes.map(|axis| axis.is_some_and(|axis| axis.y.abs() <= MAX_SLOPE));
        if translation.iter().filter(|&&horizontal| horizontal).count() != 2 {
            let rise = |axis: Option<DVec3>| axis.map_or("nothing (scale 0)".into(), |axis| format!("{:.3}", axis.y));
            let [x, y, z] = axes.map(rise);
            return error(format!(
                "its parent must have two horizontal axes and a vertical one, but a unit along its x, y and z rises by {x}, {y} \
                 and {z}. Choose the axes by hand, or choose a joint whose parent is turned by multiples of 90 degrees"
            ));
        }
        Ok(Self { translation, ..root })
    }

    /// The matrix from the space of the motions to the space of the instance: the model matrix of the parent of the
    /// joint at rest, or the identity without a parent.
    ///
    /// It assumes that the joints above do not move. If a clip moves them, their movement stays in the pose, and the
    /// matrix is off by that movement.
    ///
    /// # Panics
    /// If the skeleton has no such joint.
    pub fn space(&self, skeleton: &Skeleton) -> DAffine3 {
        let mut space = DAffine3::IDENTITY;
        let mut next = skeleton.joints()[self.joint].parent;
        while let Some(joint) = next.map(|index| &skeleton.joints()[index]) {
            space = joint.matrix.unwrap_or_else(|| joint.rest.to_affine()) * space;
            next = joint.parent;
        }
        space
    }

    /// Returns `true` if one of these tracks drives a part that moves the instance. Otherwise the motion is always the
    /// identity.
    pub fn is_moved_by(&self, tracks: &[Track]) -> bool {
        tracks.iter().any(|track| match track.target {
            Target::Translation(joint) if joint == self.joint => match track.component {
                Some(component) => self.translation.get(component) == Some(&true),
                None => self.translation.contains(&true),
            },
            Target::Rotation(joint) | Target::EulerAngles(joint) if joint == self.joint => {
                self.rotation != RootRotation::None
            }
            _ => false,
        })
    }

    /// The part of a local transform of the joint that moves the instance. `up` must have unit length; the result has a
    /// rotation of unit length.
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

    /// The up axis of the instance, +Y as in glTF, in the space of the parent of the joint at rest. It has unit length.
    /// It is +Y if that space has a scale of 0.
    ///
    /// # Panics
    /// If the skeleton has no such joint.
    pub fn up(&self, skeleton: &Skeleton) -> DVec3 {
        (self.space(skeleton).matrix3.inverse() * DVec3::Y).try_normalize().unwrap_or(DVec3::Y)
    }
}

/// The part of a rotation about an axis (swing-twist decomposition); `None` if the rest is a half turn about another
/// axis.
pub(crate) fn twist(rotation: DQuat, axis: DVec3) -> Option<DQuat> {
    let along = rotation.xyz().dot(axis) * axis;
    unit(DQuat::from_xyzw(along.x, along.y, along.z, rotation.w))
}

impl Motion {
    /// No movement.
    pub const IDENTITY: Self = Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY };

    /// This movement followed by another that begins at its end.
    pub fn then(self, next: Self) -> Self {
        Self {
            translation: self.translation + self.rotation * next.translation,
            rotation: (self.rotation * next.rotation).normalize(),
        }
    }

    /// The inverse movement.
    pub fn inverse(self) -> Self {
        let rotation = self.rotation.conjugate();
        Self { translation: rotation * -self.translation, rotation }
    }

    /// The same movement in another space, `space m space^-1`, with `space` the matrix from this space to the other.
    ///
    /// With [`RootMotion::space`], the result `m` is the movement of the instance: from `world` to `world m`.
    ///
    /// If `space` has a non-uniform scale, a rotation becomes a shear. The result then has the rotation of its x axis.
    /// If `space` has a scale of 0, the result has no rotation.
    pub fn in_space(self, space: &DAffine3) -> Self {
        let turned = space.matrix3 * DMat3::from_quat(self.rotation) * space.matrix3.inverse();
        let rotation = match turned.is_finite() {
            true => Transform::from_affine(DAffine3::from_mat3(turned)).rotation,
            false => DQuat::IDENTITY,
        };
        let origin = space.translation;
        Self { translation: space.transform_point3(self.translation) - rotation * origin, rotation }
    }
}

impl Default for Motion {
    fn default() -> Self {
        Self::IDENTITY
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;
    use crate::model::Joint;

    #[test]
    fn the_twist_is_the_rotation_about_the_axis() {
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
        let step = Motion { translation: DVec3::Z, rotation: DQuat::from_rotation_y(FRAC_PI_2) };
        assert!((step.then(step).translation - DVec3::new(1.0, 0.0, 1.0)).length() < 1e-15);
    }

    /// A root joint with a parent that is turned about x by a number of quarter turns, moved and scaled.
    fn lying(quarters: f64, scale: DVec3) -> Skeleton {
        let rotation = DQuat::from_rotation_x(FRAC_PI_2 * quarters);
        let rest = Transform { translation: DVec3::new(0.0, 5.0, 7.0), rotation, scale };
        let parent = Joint { rest, ..Joint::default() };
        Skeleton::new(None, vec![parent, Joint { parent: Some(0), ..Joint::default() }], Vec::new()).unwrap()
    }

    #[test]
    fn a_motion_in_the_instances_space_by_hand() {
        let skeleton = lying(-1.0, DVec3::splat(2.0));
        let root = RootMotion::on_ground(&skeleton, 1).unwrap();
        // A turn of -90 degrees about x takes y to -z, and z to y: in the parent's space the height is z.
        assert_eq!((root.translation, root.rotation), ([true, true, false], RootRotation::Yaw));
        assert!((root.up(&skeleton) - DVec3::Z).length() < 1e-15);
        let space = root.space(&skeleton);
        // 3 units along -y of the parent are 6 ahead, +z. The z axis of the parent is up.
        let way = Motion { translation: DVec3::new(1.0, -3.0, 0.0), ..Motion::IDENTITY }.in_space(&space);
        assert!((way.translation - DVec3::new(2.0, 0.0, 6.0)).length() < 1e-14, "{way:?}");
        // A half turn about its origin, which is 7 ahead: the place of the instance moves to 14 ahead.
        let turn = Motion { rotation: DQuat::from_rotation_z(PI), ..Motion::IDENTITY }.in_space(&space);
        assert!((turn.translation - DVec3::new(0.0, 0.0, 14.0)).length() < 1e-14, "{turn:?}");
        assert!(turn.rotation.angle_between(DQuat::from_rotation_y(PI)) < 1e-7, "{turn:?}");
        // A mirror reverses turns. A space with a scale of 0 has none.
        let turned = Motion { rotation: DQuat::from_rotation_y(0.3), translation: DVec3::ONE };
        assert_eq!(turned.in_space(&DAffine3::IDENTITY).translation, DVec3::ONE);
        let seen = |scale: DVec3| turned.in_space(&DAffine3::from_scale(scale)).rotation;
        assert!(seen(DVec3::new(-1.0, 1.0, 1.0)).angle_between(DQuat::from_rotation_y(-0.3)) < 1e-7);
        assert_eq!(seen(DVec3::new(1.0, 0.0, 1.0)), DQuat::IDENTITY);
    }

    #[test]
    fn the_ground_is_horizontal_for_the_instance() {
        let axes = |quarters| RootMotion::on_ground(&lying(quarters, DVec3::ONE), 1).map(|root| root.translation);
        assert_eq!(axes(0.0).unwrap(), [true, false, true]);
        assert_eq!([1.0, -1.0, 3.0].map(|quarters| axes(quarters).unwrap()), [[true, true, false]; 3]);
        assert_eq!(axes(2.00005).unwrap(), [true, false, true]);
        let refused = axes(0.5).unwrap_err().to_string();
        assert!(
            refused.starts_with("skeleton, joint 1: its parent must have two horizontal axes")
                && refused.contains("0.707")
        );
        let flat = RootMotion::on_ground(&lying(0.0, DVec3::new(1.0, 0.0, 1.0)), 1);
        assert_eq!(flat.unwrap().translation, [true, false, true]);
        assert!(RootMotion::on_ground(&lying(0.0, DVec3::new(0.0, 1.0, 1.0)), 1).is_err());
        assert!(RootMotion::on_ground(&lying(0.0, DVec3::ONE), 2).is_err());
        assert_eq!(RootMotion::on_ground(&lying(1.0, DVec3::ONE), 0).unwrap().translation, [true, false, true]);
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
