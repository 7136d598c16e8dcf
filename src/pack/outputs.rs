//! Where an engine writes, and how its numbers become poses.
//!
//! All engines write the same arrays, instance after instance in the packed order:
//!
//! * `local`: a joint is 12 numbers: translation xyz, 0, rotation xyzw, scale xyz, 0;
//! * `model`: a matrix is its three rows of four numbers, the last of each row the translation;
//! * `skin`: a matrix as its [`SkinFormat`] says, in full as those of `model`;
//! * `values`: the morph weights of all joints, then the numbers of all properties, whichever of them are wanted;
//! * `root_motion`: 8 numbers: translation xyz, then 1 where a layer's clip names a root and 0 where none does, and the
//!   rotation xyzw, in the space of the root joint's parent.

use glam::{DQuat, DVec3};

use crate::model::{Library, Motion, Outputs, Pose, SkinFormat, SkinId, Transform};
use crate::pack::library::PackedSkeleton;
use crate::pack::record::{OUTPUT_LOCAL, OUTPUT_MODEL, OUTPUT_SKIN, SkeletonRecord};
use crate::pack::skin_format;

/// OutputNumbers of a joint's local transform, and of a matrix in full.
pub const NUMBERS: usize = 12;

/// OutputNumbers of a root motion.
pub const MOTION_NUMBERS: usize = 8;

/// What an engine writes for each instance of a skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLayout {
    /// OutputNumbers of an instance in `local`; 0 where it is not wanted.
    pub local: usize,
    /// OutputNumbers of an instance in `model`; 0 where it is not wanted.
    pub model: usize,
    /// OutputNumbers of an instance in `skin`, words of 32 bits where the format packs them; 0 where it is not wanted. Skin
    /// follows skin: [`skin_start`](Self::skin_start).
    pub skin: usize,
    /// How skin matrices are written.
    pub skin_format: SkinFormat,
    /// OutputNumbers of an instance in `values`.
    pub values: usize,
    /// OutputNumbers of an instance in `root_motion`; 0 where it is not wanted.
    pub root_motion: usize,
    /// Morph weights come before properties; this many of both are left out at the start.
    pub first_value: usize,
}

impl OutputLayout {
    /// The layout for a skeleton and the outputs that are wanted.
    pub fn new(skeleton: &SkeletonRecord, outputs: Outputs) -> Self {
        let wanted = |wanted: bool, count: u32| if wanted { count as usize } else { 0 };
        let joints = skeleton.joint_count;
        Self {
            local: NUMBERS * wanted(outputs.local, joints),
            model: NUMBERS * wanted(outputs.model, joints),
            skin: outputs.skin_format.words() * wanted(outputs.skin, skeleton.skin_joint_count),
            skin_format: outputs.skin_format,
            values: wanted(outputs.weights, skeleton.weight_count)
                + wanted(outputs.properties, skeleton.property_width),
            root_motion: wanted(outputs.root_motion, MOTION_NUMBERS as u32),
            first_value: wanted(!outputs.weights, skeleton.weight_count),
        }
    }

    /// Whether anything is wanted that is made of joints.
    pub fn has_joints(&self) -> bool {
        self.local > 0 || self.model > 0 || self.skin > 0
    }

    /// The bits of [`Batch::outputs`](crate::pack::record::BatchRecord::outputs).
    pub fn bits(&self) -> u32 {
        let bit = |numbers: usize, bit: u32| if numbers > 0 { bit } else { 0 };
        bit(self.local, OUTPUT_LOCAL) | bit(self.model, OUTPUT_MODEL) | bit(self.skin, OUTPUT_SKIN)
    }

    /// The bytes of an instance in all arrays together.
    pub fn bytes(&self) -> u64 {
        self.strides().into_iter().map(|numbers| 4 * numbers as u64).sum()
    }

    /// Where the matrices of a skin begin in those of an instance in `skin`, in numbers: after those of the skins that its
    /// skeleton had before, in the library's order.
    ///
    /// # Panics
    /// Where the library has no such skin.
    pub fn skin_start(&self, library: &Library, skin: SkinId) -> usize {
        let before = library.skins_of(library.skin(skin).skeleton).take_while(|(id, _)| *id != skin);
        self.skin_format.words() * before.map(|(_, skin)| skin.joints.len()).sum::<usize>()
    }

    /// The numbers of an instance in each of `local`, `model`, `skin`, `values` and `root_motion`.
    pub fn strides(&self) -> [usize; 5] {
        [self.local, self.model, self.skin, self.values, self.root_motion]
    }
}

/// OutputNumbers of some instances of one skeleton, as [`OutputLayout`] says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OutputNumbers {
    /// Local transforms.
    pub local: Vec<f32>,
    /// Model matrices.
    pub model: Vec<f32>,
    /// Skin matrices. Where the format packs them, each number has the bits of a word, for `f32::to_bits` or a cast by
    /// `bytemuck`, and means nothing by itself.
    pub skin: Vec<f32>,
    /// Morph weights and properties.
    pub values: Vec<f32>,
    /// Root motions.
    pub root_motion: Vec<f32>,
}

impl OutputNumbers {
    /// Makes room for this many instances.
    pub fn resize(&mut self, layout: &OutputLayout, instances: usize) {
        self.local.resize(layout.local * instances, 0.0);
        self.model.resize(layout.model * instances, 0.0);
        self.skin.resize(layout.skin * instances, 0.0);
        self.values.resize(layout.values * instances, 0.0);
        self.root_motion.resize(layout.root_motion * instances, 0.0);
    }

    /// The pose of an instance.
    pub(crate) fn pose(
        &self,
        skeleton: &PackedSkeleton,
        layout: &OutputLayout,
        instance: usize,
        outputs: Outputs,
    ) -> Pose {
        let local = slice(&self.local, layout.local, instance);
        let model = slice(&self.model, layout.model, instance);
        let skin = slice(&self.skin, layout.skin, instance);
        let values: Vec<f64> = slice(&self.values, layout.values, instance).iter().map(|&v| f64::from(v)).collect();
        let weight_count = if outputs.weights { skeleton.record.weight_count as usize } else { 0 };
        let (weights, properties) = values.split_at(weight_count.min(values.len()));
        let format = layout.skin_format;
        let mut matrices = skin.chunks_exact(format.words()).map(|words| skin_format::matrix(format, words));
        let skins = skeleton.skins.iter().map(|&joints| matrices.by_ref().take(joints).collect()).collect();
        Pose {
            local: local.chunks_exact(NUMBERS).map(transform).collect(),
            model: model.chunks_exact(NUMBERS).map(|rows| skin_format::matrix(SkinFormat::Matrix, rows)).collect(),
            skins: if outputs.skin { skins } else { Vec::new() },
            weights: weights.to_vec(),
            properties: properties.to_vec(),
            root_motion: motion(slice(&self.root_motion, layout.root_motion, instance)),
        }
    }
}

fn slice(numbers: &[f32], stride: usize, instance: usize) -> &[f32] {
    &numbers[instance * stride..(instance + 1) * stride]
}

fn transform(numbers: &[f32]) -> Transform {
    let [tx, ty, tz, _, qx, qy, qz, qw, sx, sy, sz] = std::array::from_fn(|index| f64::from(numbers[index]));
    Transform {
        translation: DVec3::new(tx, ty, tz),
        rotation: DQuat::from_xyzw(qx, qy, qz, qw),
        scale: DVec3::new(sx, sy, sz),
    }
}

fn motion(numbers: &[f32]) -> Option<Motion> {
    let numbers: [f32; MOTION_NUMBERS] = numbers.try_into().ok()?;
    let [x, y, z, moves, qx, qy, qz, qw] = numbers.map(f64::from);
    let motion = Motion { translation: DVec3::new(x, y, z), rotation: DQuat::from_xyzw(qx, qy, qz, qw) };
    (moves != 0.0).then_some(motion)
}
