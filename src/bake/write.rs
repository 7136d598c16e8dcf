//! A block of moments: the distinct poses that it needs, and the numbers of one array from them.

use std::array::from_fn;

use glam::{DQuat, DVec3};

use crate::bake::rotation::{LANES, ModelRotations, WideRotation, WideVector, angular_velocities, normalize};
use crate::bake::{ArrayKind, ArrayLayout, Moment};
use crate::cpu::ClipTime;
use crate::model::twist;
use crate::pack::{NUMBERS, OutputNumbers};

/// The moments of a block.
#[derive(Clone, Copy)]
pub struct BlockMoments<'a> {
    pub moments: &'a [Moment],
    /// For each moment the poses before, at and after its time.
    pub poses: &'a [[usize; 3]],
}

impl Posed<'_> {
    /// Writes the numbers of an array, `width` per moment, for a block. Of the arrays of kind [`ArrayKind::Skin`],
    /// `skin` is the index.
    pub fn write(&self, kind: ArrayKind, skin: usize, block: BlockMoments, width: usize, to: &mut [f32]) {
        let layout = self.layout;
        let rows = block.poses.iter().map(|poses| poses[1]).zip(to.chunks_exact_mut(width));
        match kind {
            // The caller fills it.
            ArrayKind::Contact => {}
            ArrayKind::Quat => self.write_rotations(block, width, to, |rotation| layout.space.ordered(rotation)),
            ArrayKind::Rot6d => self.write_rotations(block, width, to, first_columns),
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
                self.local_rotations(pose, to, |rotation| layout.space.ordered(rotation));
            }),
            ArrayKind::LocalRot6d => rows.for_each(|(pose, to)| self.local_rotations(pose, to, first_columns)),
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
                to[..3].copy_from_slice(&self.point(pose, 0).map(|number| number as f32));
                to[3..].copy_from_slice(&layout.space.ordered(layout.space.rotation(self.first_rotation(pose))));
            }),
            ArrayKind::RootMotion => rows.for_each(|(pose, to)| {
                let [x, _, z] = self.position(pose, layout.joints()[0]);
                let turned = DQuat::from_array(self.first_rotation(pose)) * layout.rest_rotation.conjugate();
                let yaw = twist(turned, DVec3::Y).unwrap_or(DQuat::IDENTITY);
                let [i, j, k] = layout.space.turn(yaw.xyz().to_array());
                to[..3].copy_from_slice(&layout.space.point([x, 0.0, z]).map(|number| number as f32));
                to[3..].copy_from_slice(&layout.space.ordered([i, j, k, yaw.w]));
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

    /// Writes the rotations in model space, as `N` numbers each.
    #[inline(always)]
    fn write_rotations<const N: usize>(
        &self,
        block: BlockMoments,
        width: usize,
        to: &mut [f32],
        numbers: impl Fn([f64; 4]) -> [f32; N],
    ) {
        let (chain, space) = (&self.layout.chain, self.layout.space);
        let mut rotations = WideRotation::default();
        for (poses, to) in block.poses.chunks(LANES).zip(to.chunks_mut(LANES * width)) {
            for position in 0..width / N {
                self.rotations.gather(chain, position, poses.iter().map(|poses| poses[1]), &mut rotations);
                normalize(&mut rotations);
                for (lane, to) in to.chunks_exact_mut(width).enumerate() {
                    to.as_chunks_mut().0[position] = numbers(space.rotation(rotations.lane(lane)));
                }
            }
        }
    }

    fn write_angular_velocities(&self, block: BlockMoments, width: usize, to: &mut [f32]) {
        let (chain, space) = (&self.layout.chain, self.layout.space);
        let [mut from, mut at, mut until] = [WideRotation::default(); 3];
        let (mut rates, [mut first, mut second]) = ([0.0; LANES], [WideVector::default(); 2]);
        let groups = block.moments.chunks(LANES).zip(block.poses.chunks(LANES));
        for ((moments, poses), to) in groups.zip(to.chunks_mut(LANES * width)) {
            rates.iter_mut().zip(moments).for_each(|(rate, moment)| *rate = moment.rate());
            for position in 0..width / 3 {
                self.rotations.gather(chain, position, poses.iter().map(|poses| poses[0]), &mut from);
                self.rotations.gather(chain, position, poses.iter().map(|poses| poses[1]), &mut at);
                self.rotations.gather(chain, position, poses.iter().map(|poses| poses[2]), &mut until);
                // Of each half, the shorter way is meant, so that a turn of almost two halves is found.
                angular_velocities(&from, &at, &rates, &mut first);
                angular_velocities(&at, &until, &rates, &mut second);
                for (lane, to) in to.chunks_exact_mut(width).enumerate() {
                    let [first, second] = [first.lane(lane), second.lane(lane)];
                    let velocity = space.turn(from_fn(|axis| first[axis] + second[axis]));
                    to.as_chunks_mut().0[position] = velocity.map(|number| number as f32);
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
        let local = self.local(pose, self.layout.translations[position]);
        let (point, space) = ([local[0], local[1], local[2]].map(f64::from), self.layout.space);
        if self.layout.roots[position] { space.point(point) } else { space.scale(point) }
    }

    #[inline(always)]
    fn local_rotation(&self, pose: usize, position: usize) -> [f64; 4] {
        let local = self.local(pose, self.layout.joints()[position]);
        let own = [local[4], local[5], local[6], local[7]].map(f64::from);
        if self.layout.roots[position] { self.layout.space.rotation(own) } else { own }
    }

    /// Writes the rotations relative to the parents, as `N` numbers each.
    #[inline(always)]
    fn local_rotations<const N: usize>(&self, pose: usize, to: &mut [f32], numbers: impl Fn([f64; 4]) -> [f32; N]) {
        for (position, to) in to.as_chunks_mut::<N>().0.iter_mut().enumerate() {
            *to = numbers(self.local_rotation(pose, position));
        }
    }

    /// The rotation of the first joint in model space.
    fn first_rotation(&self, pose: usize) -> [f64; 4] {
        let mut rotation = WideRotation::default();
        self.rotations.gather(&self.layout.chain, 0, std::iter::once(pose), &mut rotation);
        normalize(&mut rotation);
        rotation.lane(0)
    }

    #[inline(always)]
    fn local_scale(&self, pose: usize, position: usize) -> [f64; 3] {
        let local = self.local(pose, self.layout.joints()[position]);
        [local[8], local[9], local[10]].map(f64::from)
    }
}

/// The first two columns of the matrix of a rotation.
#[inline(always)]
fn first_columns([x, y, z, w]: [f64; 4]) -> [f32; 6] {
    let columns = [
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y + w * z),
        2.0 * (x * z - w * y),
        2.0 * (x * y - w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z + w * x),
    ];
    columns.map(|number| number as f32)
}

/// The distinct poses of a block of moments. Neighbouring moments share poses, as the frames of a clip do.
#[derive(Default)]
pub struct PoseList {
    /// The poses.
    pub times: Vec<ClipTime>,
    /// For each moment the indices of the poses before, at and after its time.
    pub of_moments: Vec<[usize; 3]>,
}

/// Poses before the present one among which an equal one is looked for: the poses of the last two moments.
const LOOK_BACK: usize = 6;

impl PoseList {
    /// Lists the poses of the first moments, up to about `most` poses. Returns the number of moments, at least 1 if
    /// there are any.
    pub fn fill(&mut self, moments: &[Moment], velocities: bool, most: usize) -> usize {
        self.times.clear();
        self.of_moments.clear();
        for moment in moments {
            if self.times.len() >= most {
                break;
            }
            let mut find = |time: f64| self.find(ClipTime { clip: moment.clip, time });
            let poses = if velocities { moment.times().map(find) } else { [find(moment.time); 3] };
            self.of_moments.push(poses);
        }
        self.of_moments.len()
    }

    /// The index of a pose, which is added if it is new.
    fn find(&mut self, pose: ClipTime) -> usize {
        let first = self.times.len().saturating_sub(LOOK_BACK);
        // Times are compared by their bits, so that -0 and 0 stay apart.
        let is_same = |other: &ClipTime| other.clip == pose.clip && other.time.to_bits() == pose.time.to_bits();
        if let Some(index) = self.times[first..].iter().rposition(is_same) {
            return first + index;
        }
        self.times.push(pose);
        self.times.len() - 1
    }
}

/// The numbers of the poses of a block.
#[derive(Clone, Copy)]
pub struct Posed<'a> {
    pub layout: &'a ArrayLayout,
    pub numbers: &'a OutputNumbers,
    pub rotations: &'a ModelRotations,
}

impl Posed<'_> {
    /// The local transform of a joint in a pose: translation xyz, 0, rotation xyzw, scale xyz, 0.
    #[inline(always)]
    pub fn local(&self, pose: usize, joint: usize) -> &[f32; NUMBERS] {
        &self.numbers.local[pose * self.layout.numbers.local..].as_chunks().0[joint]
    }

    /// The position of a joint in model space.
    #[inline(always)]
    pub fn position(&self, pose: usize, joint: usize) -> [f64; 3] {
        let rows: &[f32; NUMBERS] = &self.numbers.model[pose * self.layout.numbers.model..].as_chunks().0[joint];
        [rows[3].into(), rows[7].into(), rows[11].into()]
    }

    /// The skin matrices of a pose.
    pub fn skin(&self, pose: usize) -> &[[f32; NUMBERS]] {
        let stride = self.layout.numbers.skin;
        self.numbers.skin[pose * stride..][..stride].as_chunks().0
    }

    /// The wanted morph weights and properties of a pose.
    pub fn values(&self, pose: usize) -> &[f32] {
        let stride = self.layout.numbers.values;
        &self.numbers.values[pose * stride..][..stride]
    }
}

/// Multiplies the rotations of the chain of a layout for all poses.
pub fn rotate(layout: &ArrayLayout, numbers: &OutputNumbers, poses: usize, to: &mut ModelRotations) {
    let stride = layout.numbers.local;
    to.multiply(&layout.chain, poses, |pose, joint| {
        let local: &[f32; NUMBERS] = &numbers.local[pose * stride..].as_chunks().0[joint];
        [local[4], local[5], local[6], local[7]]
    });
}
