//! The numbers of one array for a block of moments.

use std::array::from_fn;

use crate::bake::block::Posed;
use crate::bake::wide::{LANES, WideRotation, WideVector, angular_velocities, normalize};
use crate::bake::{ArrayKind, Moment};

/// The moments of a block.
#[derive(Clone, Copy)]
pub struct BlockMoments<'a> {
    pub moments: &'a [Moment],
    /// For each moment the poses before, at and after its time.
    pub poses: &'a [[usize; 3]],
}

impl Posed<'_> {
    /// Writes the numbers of an array, `width` per moment, for a block. Of the arrays of kind [`ArrayKind::Skin`], `skin` is the
    /// index.
    pub fn write(&self, kind: ArrayKind, skin: usize, block: BlockMoments, width: usize, to: &mut [f32]) {
        let layout = self.layout;
        let rows = block.poses.iter().map(|poses| poses[1]).zip(to.chunks_exact_mut(width));
        match kind {
            ArrayKind::Quat => self.write_rotations(block, width, to),
            ArrayKind::Angvel => self.write_angular_velocities(block, width, to),
            ArrayKind::Linvel => self.write_velocities(block, width, to),
            ArrayKind::Pos => rows.for_each(|(pose, to)| self.vectors(to, |position| self.point(pose, position))),
            ArrayKind::LocalPos => {
                rows.for_each(|(pose, to)| self.vectors(to, |position| self.local_point(pose, position)));
            }
            ArrayKind::LocalScale => {
                rows.for_each(|(pose, to)| self.vectors(to, |position| self.local_scale(pose, position)));
            }
            ArrayKind::LocalQuat => rows.for_each(|(pose, to)| {
                for (position, to) in to.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                    *to = layout.space.ordered(self.local_rotation(pose, position));
                }
            }),
            ArrayKind::Skin => rows.for_each(|(pose, to)| {
                let matrices = &self.skin(pose)[layout.skins[skin].clone()];
                for (matrix, to) in matrices.iter().zip(to.as_chunks_mut().0) {
                    *to = layout.space.matrix(matrix);
                }
            }),
            ArrayKind::Weights => rows.for_each(|(pose, to)| {
                let values = self.values(pose);
                to.iter_mut().zip(&layout.weights).for_each(|(to, &weight)| *to = values[weight]);
            }),
            ArrayKind::Properties => rows.for_each(|(pose, to)| {
                let values = self.values(pose);
                to.copy_from_slice(&values[values.len() - to.len()..]);
            }),
            ArrayKind::Root => rows.for_each(|(pose, to)| {
                let mut rotation = WideRotation::default();
                self.rotations.gather(&layout.chain, 0, std::iter::once(pose), &mut rotation);
                normalize(&mut rotation);
                to[..3].copy_from_slice(&self.point(pose, 0).map(|number| number as f32));
                to[3..].copy_from_slice(&layout.space.ordered(layout.space.rotation(rotation.lane(0))));
            }),
        }
    }

    /// Writes a vector per joint. `vector` takes the position of the joint in the list of joints.
    #[inline(always)]
    fn vectors(&self, to: &mut [f32], vector: impl Fn(usize) -> [f64; 3]) {
        for (position, to) in to.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            *to = vector(position).map(|number| number as f32);
        }
    }

    fn write_rotations(&self, block: BlockMoments, width: usize, to: &mut [f32]) {
        let (chain, space) = (&self.layout.chain, self.layout.space);
        let mut rotations = WideRotation::default();
        for (poses, to) in block.poses.chunks(LANES).zip(to.chunks_mut(LANES * width)) {
            for position in 0..width / 4 {
                self.rotations.gather(chain, position, poses.iter().map(|poses| poses[1]), &mut rotations);
                normalize(&mut rotations);
                for (lane, to) in to.chunks_exact_mut(width).enumerate() {
                    to.as_chunks_mut().0[position] = space.ordered(space.rotation(rotations.lane(lane)));
                }
            }
        }
    }

    fn write_angular_velocities(&self, block: BlockMoments, width: usize, to: &mut [f32]) {
        let (chain, space) = (&self.layout.chain, self.layout.space);
        let [mut from, mut until] = [WideRotation::default(); 2];
        let (mut rates, mut turns) = ([0.0; LANES], WideVector::default());
        let groups = block.moments.chunks(LANES).zip(block.poses.chunks(LANES));
        for ((moments, poses), to) in groups.zip(to.chunks_mut(LANES * width)) {
            rates.iter_mut().zip(moments).for_each(|(rate, moment)| *rate = moment.rate());
            for position in 0..width / 3 {
                self.rotations.gather(chain, position, poses.iter().map(|poses| poses[0]), &mut from);
                self.rotations.gather(chain, position, poses.iter().map(|poses| poses[2]), &mut until);
                angular_velocities(&from, &until, &rates, &mut turns);
                for (lane, to) in to.chunks_exact_mut(width).enumerate() {
                    to.as_chunks_mut().0[position] = space.turn(turns.lane(lane)).map(|number| number as f32);
                }
            }
        }
    }

    fn write_velocities(&self, block: BlockMoments, width: usize, to: &mut [f32]) {
        for (moment, to) in to.chunks_exact_mut(width).enumerate() {
            let ([before, _, after], rate) = (block.poses[moment], block.moments[moment].rate());
            self.vectors(to, |position| {
                let joint = self.layout.joints()[position];
                let [from, to] = [before, after].map(|pose| self.position(pose, joint));
                self.layout.space.point(from_fn(|axis| (to[axis] - from[axis]) * rate))
            });
        }
    }

    #[inline(always)]
    fn point(&self, pose: usize, position: usize) -> [f64; 3] {
        self.layout.space.point(self.position(pose, self.layout.joints()[position]))
    }

    #[inline(always)]
    fn local_point(&self, pose: usize, position: usize) -> [f64; 3] {
        let local = self.local(pose, self.layout.joints()[position]);
        let (point, space) = ([local[0], local[1], local[2]].map(f64::from), self.layout.space);
        if self.layout.roots[position] { space.point(point) } else { space.scale(point) }
    }

    #[inline(always)]
    fn local_rotation(&self, pose: usize, position: usize) -> [f64; 4] {
        let local = self.local(pose, self.layout.joints()[position]);
        let own = [local[4], local[5], local[6], local[7]].map(f64::from);
        if self.layout.roots[position] { self.layout.space.rotation(own) } else { own }
    }

    #[inline(always)]
    fn local_scale(&self, pose: usize, position: usize) -> [f64; 3] {
        let local = self.local(pose, self.layout.joints()[position]);
        [local[8], local[9], local[10]].map(f64::from)
    }
}
