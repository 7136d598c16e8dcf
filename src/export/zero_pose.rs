//! Skeletons whose rest pose has no rotations and no scales, with the same motion.
//!
//! In BVH, and for players of VRM animations, a joint without rotations stands in the rest pose. The axes of its joints
//! are the rotations of model space there. With model-space rotations `R(t)` of a joint and `R0` in the rest pose, the
//! joint has the model-space rotation `D(t) = R(t) R0^-1`, so its local rotation is `D_parent(t)^-1 D(t)`. Its local
//! translation is `D_parent(t)^-1 (p(t) - p_parent(t))`, with places in model space. It is constant wherever the bone
//! is rigid, whatever scales the skeleton has at rest.
//!
//! Joints may be left out: the parent of a joint is then its nearest ancestor that is not.

use glam::{DAffine3, DQuat, DVec3};

use crate::bake::FrameGrid;
use crate::error::Error;
use crate::model::rotation::{nearest, unit};
use crate::model::{Clip, ClipId, Library, Skeleton, Transform, no_such};
use crate::reference::values::Values;
use crate::retarget::moving_joints::MovingJoints;

/// The place and the rotation of a joint, in model space or relative to its parent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Placed {
    pub place: DVec3,
    pub rotation: DQuat,
}

/// Joints of a skeleton, with the axes of model space in a pose, the zero pose.
#[derive(Debug, Clone)]
pub(crate) struct ZeroPose {
    /// The joints, branch after branch: a joint, then all joints below it.
    pub joints: Vec<usize>,
    /// The parent of each of the joints, as an index into them.
    pub parents: Vec<Option<usize>>,
    /// The place of each of the joints in the zero pose, relative to its parent.
    pub offsets: Vec<DVec3>,
    /// The inverse rotation in model space of each of the joints in the zero pose.
    inverse_rotations: Vec<DQuat>,
}

impl ZeroPose {
    /// Joints of a skeleton. `is_kept` tells which; `pose` has the zero pose of all joints in model space.
    pub fn new(skeleton: &Skeleton, is_kept: &[bool], pose: &[Placed]) -> Self {
        let nodes = skeleton.joints();
        // Of each joint, the nearest kept joint among itself and those above.
        let mut kept_above: Vec<Option<usize>> = Vec::with_capacity(nodes.len());
        let (mut children, mut roots) = (vec![Vec::new(); nodes.len()], Vec::new());
        for (joint, node) in nodes.iter().enumerate() {
            let above = node.parent.and_then(|parent| kept_above[parent]);
            if is_kept[joint] {
                above.map_or(&mut roots, |parent| &mut children[parent]).push(joint);
            }
            kept_above.push(if is_kept[joint] { Some(joint) } else { above });
        }
        let (mut joints, mut parents) = (Vec::new(), Vec::new());
        let mut stack: Vec<(usize, Option<usize>)> = roots.into_iter().rev().map(|root| (root, None)).collect();
        while let Some((joint, parent)) = stack.pop() {
            let index = joints.len();
            joints.push(joint);
            parents.push(parent);
            stack.extend(children[joint].iter().rev().map(|&child| (child, Some(index))));
        }
        let place = |index: usize| pose[joints[index]].place;
        let offset = |index: usize| place(index) - parents[index].map_or(DVec3::ZERO, place);
        let offsets = (0..joints.len()).map(offset).collect();
        let inverse_rotations = joints.iter().map(|&joint| pose[joint].rotation.conjugate()).collect();
        Self { joints, parents, offsets, inverse_rotations }
    }

    /// The joints relative to their parents, from all joints of the skeleton in model space.
    pub fn local(&self, model: &[Placed], local: &mut Vec<Placed>) {
        let rotation = |index: usize| model[self.joints[index]].rotation * self.inverse_rotations[index];
        local.clear();
        local.extend(self.joints.iter().enumerate().map(|(index, &joint)| {
            let place = model[joint].place;
            match self.parents[index] {
                None => Placed { place, rotation: rotation(index).normalize() },
                Some(parent) => {
                    let back = rotation(parent).conjugate();
                    let place = back * (place - model[self.joints[parent]].place);
                    Placed { place, rotation: (back * rotation(index)).normalize() }
                }
            }
        }));
    }

    /// True for each of the joints without joints below it.
    pub fn leaves(&self) -> Vec<bool> {
        let mut leaves = vec![true; self.joints.len()];
        self.parents.iter().flatten().for_each(|&parent| leaves[parent] = false);
        leaves
    }

    /// The largest distance of a joint from its root in the zero pose; 1 if all are in one place.
    pub fn size(&self) -> f64 {
        let mut reach: Vec<DVec3> = Vec::with_capacity(self.joints.len());
        let mut size = 0.0_f64;
        for (parent, offset) in self.parents.iter().zip(&self.offsets) {
            let place = parent.map_or(DVec3::ZERO, |parent| reach[parent] + *offset);
            size = size.max(place.length());
            reach.push(place);
        }
        if size > 0.0 { size } else { 1.0 }
    }
}

/// The places of all joints in model space, and their rotations without any scale: the products of the local rotations.
pub(crate) fn place(skeleton: &Skeleton, local: &[Transform], placed: &mut Vec<Placed>) {
    let mut model: Vec<DAffine3> = Vec::with_capacity(local.len());
    placed.clear();
    for (joint, transform) in skeleton.joints().iter().zip(local) {
        let matrix = joint.matrix.unwrap_or_else(|| transform.to_affine());
        let rotation = match joint.matrix {
            Some(matrix) => nearest(matrix.matrix3),
            None => unit(transform.rotation).unwrap_or(DQuat::IDENTITY),
        };
        let (matrix, rotation) = match joint.parent {
            Some(parent) => (model[parent] * matrix, placed[parent].rotation * rotation),
            None => (matrix, rotation),
        };
        model.push(matrix);
        placed.push(Placed { place: matrix.translation, rotation });
    }
}

/// All joints of a skeleton in its rest pose, in model space.
pub(crate) fn place_at_rest(skeleton: &Skeleton) -> Vec<Placed> {
    let mut placed = Vec::new();
    place(skeleton, &Values::at_rest(skeleton).local, &mut placed);
    placed
}

/// A clip at a frame rate, in `f64`.
pub(crate) struct FramedClip<'a> {
    library: &'a Library,
    pub skeleton: &'a Skeleton,
    pub grid: FrameGrid,
    clip: &'a Clip,
    joints: MovingJoints<'a>,
}

impl<'a> FramedClip<'a> {
    /// The frames of a clip of a library.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such clip; the errors of [`FrameGrid::new`].
    pub fn new(library: &'a Library, clip: ClipId, fps: f64) -> Result<Self, Error> {
        let Some(found) = library.clips().get(clip.index()) else {
            return Err(Error::Usage(no_such("clip", clip.index(), "library", library.clips().len())));
        };
        let skeleton = library.skeleton(found.skeleton);
        let grid = FrameGrid::new(fps, found.duration())?;
        Ok(Self { library, skeleton, grid, clip: found, joints: MovingJoints::new(library, skeleton, found) })
    }

    /// The local transforms of all joints at a frame.
    pub fn local(&self, frame: u64, local: &mut Vec<Transform>) {
        let time = self.clip.keep(self.grid.time(frame));
        local.clear();
        local.extend((0..self.skeleton.joints().len()).map(|joint| Transform {
            translation: self.joints.translation(joint, time),
            rotation: self.joints.rotation(joint, time),
            scale: self.joints.scale(joint, time),
        }));
    }

    /// The morph weights of all joints at a frame.
    pub fn morphs(&self, frame: u64) -> Vec<f64> {
        if self.skeleton.weight_count() == 0 {
            return Vec::new();
        }
        Values::sampled(self.library, self.clip, self.clip.keep(self.grid.time(frame))).weights.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Joint;

    /// A root of scale 2 that is rotated by 90 degrees about z, a joint that is left out, and one at the end.
    fn skeleton() -> Skeleton {
        let quarter = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
        let joint = |parent, translation: [f64; 3], rotation, scale| Joint {
            parent,
            rest: Transform { translation: translation.into(), rotation, scale: DVec3::splat(scale) },
            ..Joint::default()
        };
        let joints = vec![
            joint(None, [0.0, 1.0, 0.0], quarter, 2.0),
            joint(Some(0), [3.0, 0.0, 0.0], quarter, 1.0),
            joint(Some(1), [0.0, 5.0, 0.0], DQuat::IDENTITY, 1.0),
        ];
        Skeleton::new(None, joints, Vec::new()).unwrap()
    }

    fn assert_near(found: Placed, place: [f64; 3], rotation: DQuat) {
        assert!(found.place.distance(place.into()) < 1e-12, "{found:?}");
        assert!(found.rotation.dot(rotation).abs() > 1.0 - 1e-12, "{found:?}");
    }

    #[test]
    fn offsets_are_those_of_the_rest_pose_in_model_space() {
        let skeleton = skeleton();
        let zero = ZeroPose::new(&skeleton, &[true, false, true], &place_at_rest(&skeleton));
        assert_eq!((&zero.joints[..], &zero.parents[..]), (&[0, 2][..], &[None, Some(0)][..]));
        // The second joint is 6 above the root, at (0, 7, 0); it is rotated by 180 degrees and in a scale of 2, so that
        // its child is 10 below it, at (0, -3, 0).
        assert!(zero.offsets[0].distance(DVec3::new(0.0, 1.0, 0.0)) < 1e-12);
        assert!(zero.offsets[1].distance(DVec3::new(0.0, -4.0, 0.0)) < 1e-12, "{:?}", zero.offsets);
        assert!((zero.size() - 4.0).abs() < 1e-12);
        let mut local = Vec::new();
        zero.local(&place_at_rest(&skeleton), &mut local);
        assert_near(local[0], [0.0, 1.0, 0.0], DQuat::IDENTITY);
        assert_near(local[1], [0.0, -4.0, 0.0], DQuat::IDENTITY);
    }

    #[test]
    fn rotations_are_relative_to_the_rest_pose() {
        let skeleton = skeleton();
        let zero = ZeroPose::new(&skeleton, &[true, false, true], &place_at_rest(&skeleton));
        // The root rotates by 90 degrees about x of model space, and the joint that is left out by 180 degrees about z.
        let mut pose = Values::at_rest(&skeleton).local;
        let about_x = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
        let half = DQuat::from_rotation_z(std::f64::consts::PI);
        pose[0].rotation = about_x * pose[0].rotation;
        pose[1].rotation = half * pose[1].rotation;
        let (mut placed, mut local) = (Vec::new(), Vec::new());
        place(&skeleton, &pose, &mut placed);
        zero.local(&placed, &mut local);
        assert_near(local[0], [0.0, 1.0, 0.0], about_x);
        // The joint that is left out is 6 above the root as before; its child is now 10 above it.
        assert_near(local[1], [0.0, 16.0, 0.0], half);
    }
}
