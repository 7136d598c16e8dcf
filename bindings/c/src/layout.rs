//! The arrangement of an engine's numbers in the memory of the caller.
//!
//! The engine writes 12 numbers per joint: of a matrix its three rows, of a local transform the translation, 0, the
//! rotation, the scale, 0.

use std::mem::MaybeUninit;

use posse::glam::{DAffine3, DVec3, Mat4, Vec4};
use posse::{Outputs, SkinFormat};

use crate::error::Outcome;
use crate::numbers::number;
use crate::types::{Format, Layout};

/// The joints of a group of a structure of arrays.
const LANES: usize = 4;

/// An output of a crowd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    Local,
    Model,
    Skin,
    Values,
    RootMotion,
}

impl OutputKind {
    pub const ALL: [Self; 5] = [Self::Local, Self::Model, Self::Skin, Self::Values, Self::RootMotion];

    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "outputs.local",
            Self::Model => "outputs.model",
            Self::Skin => "outputs.skin",
            Self::Values => "outputs.values",
            Self::RootMotion => "outputs.root_motion",
        }
    }
}

/// Memory of the caller for the outputs of instances.
pub trait Rows {
    /// True if an output is wanted.
    fn wants(&self, kind: OutputKind) -> bool;

    /// The place of the first numbers of an instance in an output that is wanted, as many as `width`. It may never have
    /// been written.
    fn row(&mut self, kind: OutputKind, instance: usize, width: usize) -> Outcome<&mut [MaybeUninit<f32>]>;
}

/// How the numbers of an output are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// As the engine writes them.
    Plain,
    /// Matrices of four columns.
    Columns,
    /// Local transforms as a structure of arrays.
    LocalSoa,
    /// Matrices as a structure of arrays.
    MatrixSoa,
}

impl Arrangement {
    /// The arrangement of an output.
    pub fn new(format: Format, kind: OutputKind, skin_format: SkinFormat) -> Self {
        let is_matrix = kind == OutputKind::Model || (kind == OutputKind::Skin && skin_format == SkinFormat::Matrix);
        match format {
            Format::Columns4x4 if is_matrix => Self::Columns,
            Format::Soa if is_matrix => Self::MatrixSoa,
            Format::Soa if kind == OutputKind::Local => Self::LocalSoa,
            _ => Self::Plain,
        }
    }

    /// The number of numbers that this many of the engine become.
    pub fn width(self, numbers: usize) -> usize {
        let joints = numbers / 12;
        match self {
            Self::Plain => numbers,
            Self::Columns => 16 * joints,
            Self::LocalSoa => 10 * LANES * joints.div_ceil(LANES),
            Self::MatrixSoa => 12 * LANES * joints.div_ceil(LANES),
        }
    }

    /// Writes the numbers of an instance. `to` has the width for them.
    pub fn write(self, numbers: &[f32], to: &mut [MaybeUninit<f32>]) {
        match self {
            Self::Plain => {
                for (number, to) in numbers.iter().zip(to) {
                    to.write(*number);
                }
            }
            Self::Columns => {
                for (rows, to) in numbers.as_chunks::<12>().0.iter().zip(to.as_chunks_mut::<16>().0) {
                    let [x, y, z] = [0, 4, 8].map(|row| Vec4::from_slice(&rows[row..]));
                    *to = Mat4::from_cols(x, y, z, Vec4::W).transpose().to_cols_array().map(MaybeUninit::new);
                }
            }
            Self::LocalSoa => {
                const IDENTITY: [f32; 10] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
                write_soa(numbers, to, IDENTITY, |&[a, b, c, _, d, e, f, g, h, i, j, _]| {
                    [a, b, c, d, e, f, g, h, i, j]
                });
            }
            Self::MatrixSoa => {
                const IDENTITY: [f32; 12] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
                write_soa(numbers, to, IDENTITY, |rows| *rows);
            }
        }
    }
}

/// Writes joints in groups of four, number by number. The last group is filled with `identity`.
fn write_soa<const N: usize>(
    numbers: &[f32],
    to: &mut [MaybeUninit<f32>],
    identity: [f32; N],
    part: impl Fn(&[f32; 12]) -> [f32; N],
) {
    let groups = numbers.as_chunks::<12>().0.chunks(LANES);
    for (joints, to) in groups.zip(to.chunks_exact_mut(LANES * N)) {
        let mut lanes = [identity; LANES];
        lanes.iter_mut().zip(joints).for_each(|(lane, joint)| *lane = part(joint));
        for (number, to) in to.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            *to = lanes.map(|lane| MaybeUninit::new(lane[number]));
        }
    }
}

/// The three rows of four numbers of a matrix.
pub fn rows(matrix: &DAffine3) -> [f32; 12] {
    let (axes, place) = (matrix.matrix3.transpose(), matrix.translation);
    let row = |axis: DVec3, last: f64| [axis.x, axis.y, axis.z, last].map(|number| number as f32);
    let rows = [row(axes.x_axis, place.x), row(axes.y_axis, place.y), row(axes.z_axis, place.z)];
    let mut numbers = [0.0; 12];
    numbers.copy_from_slice(rows.as_flattened());
    numbers
}

/// The numbers of a skeleton that the layout of its instances follows from.
#[derive(Debug, Clone, Copy)]
pub struct SkeletonSize {
    pub joints: usize,
    pub skin_joints: usize,
    pub weights: usize,
    pub properties: usize,
}

/// The numbers per instance in each output.
pub fn layout(size: SkeletonSize, outputs: Outputs, format: Format) -> Layout {
    let width = |wanted: bool, kind: OutputKind, numbers: usize| {
        let arrangement = Arrangement::new(format, kind, outputs.skin_format);
        number(if wanted { arrangement.width(numbers) } else { 0 })
    };
    let weights = if outputs.weights { size.weights } else { 0 };
    let properties = if outputs.properties { size.properties } else { 0 };
    Layout {
        local: width(outputs.local, OutputKind::Local, 12 * size.joints),
        model: width(outputs.model, OutputKind::Model, 12 * size.joints),
        skin: width(outputs.skin, OutputKind::Skin, outputs.skin_format.words() * size.skin_joints),
        values: width(true, OutputKind::Values, weights + properties),
        root_motion: width(outputs.root_motion, OutputKind::RootMotion, 8),
        ..Layout::default()
    }
}
