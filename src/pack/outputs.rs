//! The layout of an engine's output, and its conversion to poses.
//!
//! All engines write the same arrays, instance after instance in the packed order:
//!
//! * `local`: 12 numbers per joint: translation xyz, 0, rotation xyzw, scale xyz, 0;
//! * `model`: 12 numbers per joint: three rows of four numbers, the last of each row from the translation;
//! * `skin`: one matrix per joint of a skin, in the [`SkinFormat`]; full matrices as in `model`;
//! * `values`: the morph weights of all joints, then the numbers of all properties, without the properties that are not
//!   wanted;
//! * `root_motion`: 8 numbers per instance: translation xyz, 1 if a layer's clip has root motion and else 0, rotation
//!   xyzw, in the space of the root joint's parent.

use glam::{DQuat, DVec3};

use crate::model::{Library, Motion, Outputs, Pose, SkinFormat, SkinId, Transform};
use crate::pack::arrays::Aligned;
use crate::pack::library::PackedSkeleton;
use crate::pack::record::{OUTPUT_LOCAL, OUTPUT_MODEL, OUTPUT_SKIN, SkeletonRecord};
use crate::pack::skin_format;

/// The numbers per local transform and per full matrix.
pub const NUMBERS: usize = 12;

/// The numbers per root motion.
pub const MOTION_NUMBERS: usize = 8;

/// The numbers that an engine writes per instance of a skeleton.
///
/// Each instance has the same layout, so that instance `i` starts at `i` times the field of the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLayout {
    /// Numbers per instance in `local`, 12 per joint; 0 if not wanted.
    pub local: usize,
    /// Numbers per instance in `model`, 12 per joint; 0 if not wanted.
    pub model: usize,
    /// Numbers per instance in `skin`, or words of 32 bits if the format packs several numbers into one; 0 if not
    /// wanted. The skins of a skeleton follow one another: [`skin_start`](Self::skin_start).
    pub skin: usize,
    /// The format of the skin matrices.
    pub skin_format: SkinFormat,
    /// Numbers per instance in `values`; 0 if not wanted.
    pub values: usize,
    /// Numbers per instance in `root_motion`, 8; 0 if not wanted.
    pub root_motion: usize,
    /// The first written number among the morph weights and properties. It is the number of morph weights if these are
    /// not wanted.
    pub first_value: usize,
}

/// The counts of a skeleton that determine an [`OutputLayout`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputCounts {
    /// The number of joints.
    pub joints: usize,
    /// The number of joints of all skins together.
    pub skin_joints: usize,
    /// The number of morph weights.
    pub weights: usize,
    /// The number of numbers of all properties together.
    pub property_width: usize,
}

impl From<&SkeletonRecord> for OutputCounts {
    fn from(skeleton: &SkeletonRecord) -> Self {
        Self {
            joints: skeleton.joint_count as usize,
            skin_joints: skeleton.skin_joint_count as usize,
            weights: skeleton.weight_count as usize,
            property_width: skeleton.property_width as usize,
        }
    }
}

impl OutputLayout {
    /// The layout for a skeleton and the wanted outputs.
    pub(crate) fn new(skeleton: impl Into<OutputCounts>, outputs: Outputs) -> Self {
        let wanted = |wanted: bool, count: usize| if wanted { count } else { 0 };
        let OutputCounts { joints, skin_joints, weights, property_width } = skeleton.into();
        Self {
            local: NUMBERS * wanted(outputs.local, joints),
            model: NUMBERS * wanted(outputs.model, joints),
            skin: outputs.skin_format.words() * wanted(outputs.skin, skin_joints),
            skin_format: outputs.skin_format,
            values: wanted(outputs.weights, weights) + wanted(outputs.properties, property_width),
            root_motion: wanted(outputs.root_motion, MOTION_NUMBERS),
            first_value: wanted(!outputs.weights, weights),
        }
    }

    /// Returns `true` if `local`, `model` or `skin` is wanted.
    pub(crate) fn has_joints(&self) -> bool {
        self.local > 0 || self.model > 0 || self.skin > 0
    }

    /// Returns `true` if `model` or `skin` is wanted.
    pub(crate) fn has_matrices(&self) -> bool {
        self.model > 0 || self.skin > 0
    }

    /// The bits of [`BatchRecord::outputs`](crate::pack::record::BatchRecord::outputs).
    pub(crate) fn bits(&self) -> u32 {
        let bit = |numbers: usize, bit: u32| if numbers > 0 { bit } else { 0 };
        bit(self.local, OUTPUT_LOCAL) | bit(self.model, OUTPUT_MODEL) | bit(self.skin, OUTPUT_SKIN)
    }

    /// The bytes per instance in all arrays together.
    pub fn bytes(&self) -> u64 {
        self.strides().into_iter().map(|numbers| 4 * numbers as u64).sum()
    }

    /// The offset of a skin's first matrix within an instance in `skin`, in numbers. The skins of a skeleton have the
    /// order of the library.
    ///
    /// # Panics
    /// If the skin is not in the library.
    pub fn skin_start(&self, library: &Library, skin: SkinId) -> usize {
        let before = library.skins_of(library.skin(skin).skeleton).take_while(|(id, _)| *id != skin);
        self.skin_format.words() * before.map(|(_, skin)| skin.joints.len()).sum::<usize>()
    }

    /// The numbers per instance in `local`, `model`, `skin`, `values` and `root_motion`.
    pub(crate) fn strides(&self) -> [usize; 5] {
        [self.local, self.model, self.skin, self.values, self.root_motion]
    }
}

/// The outputs of some instances of one skeleton, in the layout of an [`OutputLayout`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OutputNumbers {
    /// The local transforms: 12 numbers per joint, translation xyz, 0, rotation xyzw, scale xyz, 0.
    pub local: Aligned<f32>,
    /// The model matrices: three rows of four numbers per joint.
    pub model: Aligned<f32>,
    /// The skin matrices in their format. If the format packs several numbers into a word, an element holds the bits of
    /// that word, to be read by `f32::to_bits` or a cast of `bytemuck`.
    pub skin: Aligned<f32>,
    /// The morph weights and properties.
    pub values: Aligned<f32>,
    /// The root motions: 8 numbers each, translation xyz, 1 or 0 for a clip with or without root motion, rotation xyzw.
    pub root_motion: Aligned<f32>,
}

impl OutputNumbers {
    /// Resizes the arrays to a number of instances.
    pub(crate) fn resize(&mut self, layout: &OutputLayout, instances: usize) {
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
