//! A block of moments: the distinct poses that it needs, and the numbers of these poses.

use glam::{DQuat, DVec3};

use crate::bake::{ArrayLayout, Moment};
use crate::cpu::ClipTime;
use crate::pack::{NUMBERS, OutputNumbers};

/// The distinct poses of a block of moments. Neighbouring moments share poses, as the frames of a clip do.
#[derive(Default)]
pub struct PoseList {
    /// The poses.
    pub times: Vec<ClipTime>,
    /// For each moment the indices of the poses before, at and after its time.
    pub of_moments: Vec<[usize; 3]>,
}

/// Poses before the present one among which an equal one is looked for: those of the last two moments.
const LOOK_BACK: usize = 6;

impl PoseList {
    /// Lists the poses of some moments.
    pub fn fill(&mut self, moments: &[Moment], velocities: bool) {
        self.times.clear();
        self.of_moments.clear();
        for moment in moments {
            let mut find = |time: f64| self.find(ClipTime { clip: moment.clip, time });
            let poses = if velocities { moment.times().map(find) } else { [find(moment.time); 3] };
            self.of_moments.push(poses);
        }
    }

    /// The index of a pose, which is added if it is new.
    fn find(&mut self, pose: ClipTime) -> usize {
        let first = self.times.len().saturating_sub(LOOK_BACK);
        // Times are compared by their bits, so that -0 and 0 stay apart.
        let is_same = |other: &ClipTime| other.clip == pose.clip && other.time.to_bits() == pose.time.to_bits();
        self.times[first..].iter().rposition(is_same).map_or_else(
            || {
                self.times.push(pose);
                self.times.len() - 1
            },
            |index| first + index,
        )
    }
}

/// The numbers of the poses of a block.
#[derive(Clone, Copy)]
pub struct Posed<'a> {
    pub layout: &'a ArrayLayout,
    pub numbers: &'a OutputNumbers,
    /// The rotations of the chain in model space, pose after pose, of any length.
    pub rotations: &'a [DQuat],
}

impl Posed<'_> {
    /// The local transform of a joint in a pose: translation xyz, 0, rotation xyzw, scale xyz, 0.
    pub fn local(&self, pose: usize, joint: usize) -> &[f32] {
        &self.numbers.local[pose * self.layout.numbers.local + NUMBERS * joint..][..NUMBERS]
    }

    /// The position of a joint in model space.
    pub fn position(&self, pose: usize, joint: usize) -> DVec3 {
        let rows = &self.numbers.model[pose * self.layout.numbers.model + NUMBERS * joint..][..NUMBERS];
        DVec3::new(rows[3].into(), rows[7].into(), rows[11].into())
    }

    /// The rotation in model space of the joint at a position of the list of joints, of any length.
    pub fn rotation(&self, pose: usize, position: usize) -> DQuat {
        self.rotations[pose * self.layout.chain.len() + self.layout.chain.ends()[position]]
    }

    /// The skin matrices of a pose.
    pub fn skin(&self, pose: usize) -> &[[f32; NUMBERS]] {
        let stride = self.layout.numbers.skin;
        self.numbers.skin[pose * stride..][..stride].as_chunks().0
    }

    /// The morph weights and properties of a pose, of those that are wanted.
    pub fn values(&self, pose: usize) -> &[f32] {
        let stride = self.layout.numbers.values;
        &self.numbers.values[pose * stride..][..stride]
    }
}

/// Writes the rotations of the chain of a layout for all poses.
pub fn rotations(layout: &ArrayLayout, numbers: &OutputNumbers, poses: usize, to: &mut Vec<DQuat>) {
    let width = layout.chain.len();
    to.clear();
    to.resize(width * poses, DQuat::IDENTITY);
    if width == 0 {
        return;
    }
    let locals = numbers.local.chunks_exact(layout.numbers.local);
    for (local, to) in locals.zip(to.chunks_exact_mut(width)) {
        layout.chain.multiply(|joint| rotation(&local[NUMBERS * joint..]), to);
    }
}

/// The rotation of a local transform.
pub fn rotation(local: &[f32]) -> DQuat {
    DQuat::from_xyzw(local[4].into(), local[5].into(), local[6].into(), local[7].into())
}
