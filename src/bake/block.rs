//! A block of moments: the distinct poses that it needs, and the numbers of these poses.

use crate::bake::rotation::ModelRotations;
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
    /// Lists the poses of the first moments, up to about `most` poses. Returns the number of moments, at least 1 if there are any.
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

    /// The morph weights and properties of a pose, of those that are wanted.
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
