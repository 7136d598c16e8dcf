//! The numbers of one array for a block of moments.

use glam::{DQuat, DVec3};

use crate::bake::block::{Posed, rotation};
use crate::bake::rotation::rotation_vector;
use crate::bake::{ArrayKind, Moment};

/// A moment, and its poses before, at and after its time.
#[derive(Clone, Copy)]
pub struct PosedMoment<'a> {
    pub moment: &'a Moment,
    pub poses: [usize; 3],
}

impl Posed<'_> {
    /// Writes the numbers of an array at a moment. Of the arrays of kind [`ArrayKind::Skin`], `skin` is the index.
    pub fn write(&self, kind: ArrayKind, skin: usize, at: PosedMoment, to: &mut [f32]) {
        let pose = at.poses[1];
        match kind {
            ArrayKind::Pos => self.vectors(to, |position| self.point(pose, position)),
            ArrayKind::Linvel => self.vectors(to, |position| self.velocity(at, position)),
            ArrayKind::Angvel => self.vectors(to, |position| self.angular_velocity(at, position)),
            ArrayKind::LocalPos => self.vectors(to, |position| self.local_point(pose, position)),
            ArrayKind::LocalScale => self.vectors(to, |position| self.local_scale(pose, position)),
            ArrayKind::Quat => self.rotations(to, |position| self.turned(pose, position)),
            ArrayKind::LocalQuat => self.rotations(to, |position| self.local_rotation(pose, position)),
            ArrayKind::Skin => {
                let matrices = &self.skin(pose)[self.layout.skins[skin].clone()];
                for (matrix, to) in matrices.iter().zip(to.as_chunks_mut().0) {
                    *to = self.layout.space.matrix(matrix);
                }
            }
            ArrayKind::Weights => {
                let values = self.values(pose);
                to.iter_mut().zip(&self.layout.weights).for_each(|(to, &weight)| *to = values[weight]);
            }
            ArrayKind::Properties => {
                let values = self.values(pose);
                to.copy_from_slice(&values[values.len() - to.len()..]);
            }
            ArrayKind::Root => {
                to[..3].copy_from_slice(&self.point(pose, 0).as_vec3().to_array());
                to[3..].copy_from_slice(&self.layout.space.ordered(self.turned(pose, 0)));
            }
        }
    }

    /// Writes a vector per joint. `vector` takes the position of the joint in the list of joints.
    fn vectors(&self, to: &mut [f32], vector: impl Fn(usize) -> DVec3) {
        for (position, to) in to.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            *to = vector(position).as_vec3().to_array();
        }
    }

    /// Writes a rotation per joint.
    fn rotations(&self, to: &mut [f32], rotation: impl Fn(usize) -> DQuat) {
        for (position, to) in to.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            *to = self.layout.space.ordered(rotation(position));
        }
    }

    fn joint(&self, position: usize) -> usize {
        self.layout.joints()[position]
    }

    fn point(&self, pose: usize, position: usize) -> DVec3 {
        self.layout.space.point(self.position(pose, self.joint(position)))
    }

    fn turned(&self, pose: usize, position: usize) -> DQuat {
        self.layout.space.rotation(self.rotation(pose, position).normalize())
    }

    fn velocity(&self, at: PosedMoment, position: usize) -> DVec3 {
        let [before, _, after] = at.poses;
        let joint = self.joint(position);
        let moved = self.position(after, joint) - self.position(before, joint);
        at.moment.length().map_or(DVec3::ZERO, |length| self.layout.space.point(moved / length))
    }

    fn angular_velocity(&self, at: PosedMoment, position: usize) -> DVec3 {
        let [before, _, after] = at.poses;
        let Some(length) = at.moment.length() else { return DVec3::ZERO };
        let turn = rotation_vector(self.rotation(before, position), self.rotation(after, position));
        self.layout.space.turn(turn / length)
    }

    fn local_point(&self, pose: usize, position: usize) -> DVec3 {
        let local = self.local(pose, self.joint(position));
        let point = DVec3::new(local[0].into(), local[1].into(), local[2].into());
        if self.layout.roots[position] { self.layout.space.point(point) } else { point * self.layout.space.scale }
    }

    fn local_rotation(&self, pose: usize, position: usize) -> DQuat {
        let own = rotation(self.local(pose, self.joint(position)));
        if self.layout.roots[position] { self.layout.space.rotation(own) } else { own }
    }

    fn local_scale(&self, pose: usize, position: usize) -> DVec3 {
        let local = self.local(pose, self.joint(position));
        DVec3::new(local[8].into(), local[9].into(), local[10].into())
    }
}
