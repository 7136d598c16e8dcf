//! The formats of the outputs. Each format has a file here.

mod bvh;
mod glb;
mod npz;
pub mod packed;
#[cfg(feature = "parquet")]
mod parquet;
mod smpl;
mod usda;
mod vrma;

use self::packed::{CopiedClip, IndexLine};
use self::smpl::SmplNames;
pub use self::usda::{Character, write_crowd};

use std::f64::consts::FRAC_1_SQRT_2;
use std::fs;
use std::io;
use std::path::Path;

use posse::bake::{ArrayKind, ArrayLayout, QuaternionOrder, UpAxis};
use posse::export::bvh::RotationOrder;
use posse::glam::{DAffine3, DMat3, DQuat, DVec3};
use posse::{Error, Joint, Library, Skeleton, SkeletonId, Skin, Transform};

use crate::bake::draft::DraftTag;
use crate::bake::facts::Facts;
use crate::bake::manifest::Manifest;
use crate::bake::progress::BakeProgress;
use crate::bake::share::Share;
use crate::bake::spool::Spool;
use crate::draft::Draft;

/// A format, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum FormatName {
    /// NumPy arrays in a zip file, one file per clip.
    Npz,
    /// Apache Parquet, one file per share with a row per frame.
    Parquet,
    /// For training: a file of tensors per rig with all clips, which programs map, and an index.
    Packed,
    /// A binary glTF file per clip, with nodes and skins.
    Glb,
    /// A UsdSkel skeleton and animation per clip, as text.
    Usda,
    /// Motion of a body of SMPL as AMASS has it, an npz file per clip: poses, trans, mocap_framerate.
    Smpl,
    /// A BVH file per clip.
    Bvh,
    /// A VRM animation per clip, of the bones and expressions of a human.
    Vrma,
}

/// The names and shapes of the arrays of an npz file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum NpzLayout {
    /// The arrays under the names of --arrays.
    Plain,
    /// The motion files of mjlab: fps, joint_pos, joint_vel, body_pos_w, body_quat_w, body_lin_vel_w, body_ang_vel_w.
    Mjlab,
    /// The motions of GMR: fps, root_pos, root_rot, dof_pos, local_body_pos, link_body_list.
    Gmr,
    /// The motions of PHC, of skeletons with the joints of SMPL: pose_aa, pose_quat_global, pose_quat, trans_orig,
    /// root_trans_offset, beta, gender, fps.
    Phc,
}

impl NpzLayout {
    /// The name of the layout.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Mjlab => "mjlab",
            Self::Gmr => "gmr",
            Self::Phc => "phc",
        }
    }

    /// What the files of a layout lack.
    pub fn warning(self) -> Option<&'static str> {
        match self {
            Self::Plain | Self::Phc => None,
            Self::Mjlab => Some(
                "warning: --layout mjlab: the clips have no joints of a robot, so that joint_pos and joint_vel are \
                 empty: mjlab cannot train with these files. Retarget the motion to the robot first, for example with \
                 GMR, which reads --format smpl",
            ),
            Self::Gmr => Some(
                "warning: --layout gmr: the clips have no joints of a robot, so that dof_pos is empty: robots cannot \
                 be trained with these files. GMR itself makes motion of robots, from --format smpl and from BVH",
            ),
        }
    }
}

/// A format of outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Npz(NpzLayout),
    Parquet,
    Packed,
    Glb,
    Usda,
    Smpl,
    /// With the order of the rotations.
    Bvh(RotationOrder),
    Vrma,
}

/// The facts about a clip that a writer needs before the first frame.
pub struct ClipHead<'a> {
    /// The library of the skeleton, with its skins. It may lack the clip.
    pub library: &'a Library,
    /// The skeleton.
    pub skeleton: SkeletonId,
    /// The joint of each node, in the order of the file.
    pub nodes: &'a [usize],
    /// The arrays, and the joints that they hold.
    pub layout: &'a ArrayLayout,
    /// The joints of `--joints`; `None` without it.
    pub listed: Option<&'a [usize]>,
    /// The name of the clip.
    pub name: &'a str,
    /// The factor of lengths.
    pub scale: f64,
    /// The progress, for warnings about what a format leaves out.
    pub progress: &'a BakeProgress,
}

/// A writer of one clip into a file of its own.
pub trait ClipWriter {
    /// Appends consecutive frames. `arrays` has the numbers of each array of the layout, frame after frame.
    fn append(&mut self, times: &[f64], arrays: &[Vec<f32>]) -> Result<(), Error>;

    /// Completes the file. Returns the draft, which gets its name next; `None` for a clip in the files of its share.
    fn finish(self: Box<Self>, facts: &Facts) -> Result<Option<Draft>, Error>;
}

/// The files of a share.
pub struct PartPlace<'a> {
    /// The folder OUT.
    pub folder: &'a Path,
    /// The hash of the list of inputs that was dealt to the shares; `None` without shares.
    pub list: Option<&'a str>,
    /// The share; the only one without shares.
    pub share: Share,
    /// The tag of the drafts.
    pub tag: &'a DraftTag,
    /// The manifest of the share.
    pub manifest: &'a Manifest<'a>,
}

/// The name of a file of a share. `rig` counts the files of the share, of formats with one per rig.
pub fn part_name(share: Share, rig: usize, extension: &str) -> String {
    let suffix = if rig == 0 { String::new() } else { format!("-{rig:02}") };
    format!("{}{suffix}.{extension}", part_stem(share))
}

fn part_stem(Share { index, count }: Share) -> String {
    format!("part-{index:05}-of-{count:05}")
}

/// Returns `true` for the name of a file of a share.
fn is_part(name: &str, share: Share, extension: &str) -> bool {
    let name = name.strip_suffix(extension).and_then(|name| name.strip_suffix('.'));
    let suffix = name.and_then(|name| name.strip_prefix(&part_stem(share)));
    suffix.is_some_and(|suffix| {
        let digits = suffix.strip_prefix('-').unwrap_or("");
        suffix.is_empty() || digits.len() >= 2 && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The names of the files of a share that are there, in order.
///
/// # Errors
/// [`Error::Io`] if the folder cannot be read. A folder that is missing has no files.
pub fn part_names(folder: &Path, share: Share, extension: &str) -> Result<Vec<String>, Error> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>),
    };
    let entries = entries.map_err(|source| Error::Io { file: folder.to_path_buf(), source })?;
    let names = entries.into_iter().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_part(name, share, extension)).collect();
    names.sort();
    Ok(names)
}

/// A writer of all clips of a share.
///
/// The clips come one at a time, complete, in the order of their names. Each clip comes from a library of its own.
pub trait PartWriter: Send {
    /// Appends a clip. `clip` is at its first frame. Returns the name of the file that has it.
    fn add(&mut self, head: &ClipHead, clip: &mut Spool, facts: &Facts) -> Result<String, Error>;

    /// Appends a clip of merged files as it stands there. Returns the name of the file that has it.
    ///
    /// # Errors
    /// [`Error::Usage`] for a format that merges no files.
    fn add_copy(&mut self, _: &CopiedClip) -> Result<String, Error> {
        Err(Error::Usage("only the format packed has merged files".into()))
    }

    /// Declares the arrays of a share without clips: the arrays of a clip of another share. Its empty file then has
    /// their columns, so that the files of all shares can be read together.
    fn declare(&mut self, head: &ClipHead) -> Result<(), Error>;

    /// Completes the files of the share, gives them their names, and lists them in the manifest. A share without clips
    /// gets an empty file. Older files of the share that this writer has not written are removed.
    fn finish(self: Box<Self>) -> Result<(), Error>;
}

impl Format {
    /// The format of the options `--format`, `--layout` and `--bvh-order`.
    ///
    /// # Errors
    /// [`Error::Usage`] for an option that the format does not have, and for formats that this build lacks.
    pub fn new(name: FormatName, layout: Option<NpzLayout>, order: Option<RotationOrder>) -> Result<Self, Error> {
        if order.is_some() && name != FormatName::Bvh {
            return Err(Error::Usage("--bvh-order is for --format bvh; leave one of them out".into()));
        }
        if layout.is_some() && name != FormatName::Npz {
            return Err(Error::Usage("--layout is for --format npz; leave one of them out".into()));
        }
        match name {
            FormatName::Npz => Ok(Self::Npz(layout.unwrap_or(NpzLayout::Plain))),
            #[cfg(feature = "parquet")]
            FormatName::Parquet => Ok(Self::Parquet),
            #[cfg(not(feature = "parquet"))]
            FormatName::Parquet => Err(Error::Usage(
                "this posse was built without Parquet. Build it with it: cargo install --path crates/posse-cli --features parquet"
                    .into(),
            )),
            FormatName::Packed => Ok(Self::Packed),
            FormatName::Glb => Ok(Self::Glb),
            FormatName::Usda => Ok(Self::Usda),
            FormatName::Smpl => Ok(Self::Smpl),
            FormatName::Bvh => Ok(Self::Bvh(order.unwrap_or_default())),
            FormatName::Vrma => Ok(Self::Vrma),
        }
    }

    /// The name of the format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Npz(_) => "npz",
            Self::Parquet => "parquet",
            Self::Packed => packed::EXTENSION,
            Self::Glb => "glb",
            Self::Usda => "usda",
            Self::Smpl => "smpl",
            Self::Bvh(_) => "bvh",
            Self::Vrma => "vrma",
        }
    }

    /// The extension of the outputs.
    pub fn extension(self) -> &'static str {
        if self == Self::Smpl { "npz" } else { self.name() }
    }

    /// The output of a clip: its path below OUT.
    pub fn output(self, clip: &str) -> String {
        format!("{clip}.{}", self.extension())
    }

    /// Returns `true` if all clips of a share stand in one file.
    pub fn is_per_share(self) -> bool {
        matches!(self, Self::Parquet | Self::Packed)
    }

    /// Returns `true` if the file of a share without clips has the columns of a clip of another share.
    pub fn has_columns(self) -> bool {
        self == Self::Parquet
    }

    /// Returns `true` if outputs have the nodes of the skeleton, and not arrays alone.
    pub fn has_nodes(self) -> bool {
        matches!(self, Self::Glb | Self::Usda | Self::Bvh(_) | Self::Vrma)
    }

    /// Returns `true` if the writer needs the arrays of all joints, whichever are written: a joint that is left out
    /// moves the joints below it.
    pub fn needs_all_joints(self) -> bool {
        matches!(self, Self::Bvh(_) | Self::Vrma | Self::Smpl | Self::Npz(NpzLayout::Phc))
    }

    /// The arrays that the format holds. `wanted` is the value of `--arrays`, empty without it.
    ///
    /// # Errors
    /// [`Error::Usage`] for a format with arrays of its own, if others are wanted.
    pub fn kinds(self, wanted: &[ArrayKind]) -> Result<Vec<ArrayKind>, Error> {
        let own: &[ArrayKind] = match self {
            Self::Npz(NpzLayout::Plain) | Self::Parquet | Self::Packed => {
                let default = vec![ArrayKind::Pos, ArrayKind::Quat];
                return Ok(if wanted.is_empty() { default } else { wanted.to_vec() });
            }
            Self::Npz(NpzLayout::Mjlab) => &[ArrayKind::Pos, ArrayKind::Quat, ArrayKind::Linvel, ArrayKind::Angvel],
            Self::Smpl | Self::Npz(NpzLayout::Gmr | NpzLayout::Phc) => &[ArrayKind::Pos, ArrayKind::Quat],
            Self::Glb | Self::Bvh(_) => &[ArrayKind::LocalPos, ArrayKind::LocalQuat, ArrayKind::LocalScale],
            Self::Usda | Self::Vrma => {
                &[ArrayKind::LocalPos, ArrayKind::LocalQuat, ArrayKind::LocalScale, ArrayKind::Weights]
            }
        };
        if !wanted.is_empty() {
            return Err(Error::Usage(
                "this format or layout has arrays of its own; leave out --arrays, or use --format npz, parquet or packed"
                    .into(),
            ));
        }
        Ok(own.to_vec())
    }

    /// The order of the numbers of quaternions. `wanted` is the value of `--quaternions`.
    ///
    /// # Errors
    /// [`Error::Usage`] for a format or layout with an order of its own, if the other one is wanted.
    pub fn quaternions(self, wanted: Option<QuaternionOrder>) -> Result<QuaternionOrder, Error> {
        let (own, name) = match self {
            Self::Npz(NpzLayout::Plain) | Self::Parquet | Self::Packed => return Ok(wanted.unwrap_or_default()),
            Self::Npz(NpzLayout::Mjlab) => (QuaternionOrder::Wxyz, "--layout mjlab"),
            Self::Npz(NpzLayout::Gmr) => (QuaternionOrder::Xyzw, "--layout gmr"),
            Self::Npz(NpzLayout::Phc) => (QuaternionOrder::Xyzw, "--layout phc"),
            Self::Glb => (QuaternionOrder::Xyzw, "--format glb"),
            Self::Vrma => (QuaternionOrder::Xyzw, "--format vrma"),
            Self::Usda => (QuaternionOrder::Wxyz, "--format usda"),
            Self::Smpl => (QuaternionOrder::Xyzw, "--format smpl"),
            Self::Bvh(_) if wanted.is_some() => {
                return Err(Error::Usage("--format bvh has angles, no quaternions; leave out --quaternions".into()));
            }
            Self::Bvh(_) => return Ok(QuaternionOrder::Xyzw),
        };
        match wanted {
            Some(order) if order != own => Err(Error::Usage(format!(
                "{name} has quaternions in the order {}, not {}; leave out --quaternions",
                own.name(),
                order.name()
            ))),
            _ => Ok(own),
        }
    }

    /// Begins the file of a clip.
    pub fn begin<'a>(self, head: ClipHead<'a>, draft: Draft) -> Result<Box<dyn ClipWriter + 'a>, Error> {
        match self {
            Self::Npz(NpzLayout::Phc) => smpl::begin(head, draft, SmplNames::Phc),
            Self::Npz(layout) => npz::begin(head, draft, layout),
            Self::Parquet | Self::Packed => Err(Error::Usage(format!("--format {} has no file per clip", self.name()))),
            Self::Glb => glb::begin(head, draft),
            Self::Usda => usda::begin(head, draft),
            Self::Smpl => smpl::begin(head, draft, SmplNames::Amass),
            Self::Bvh(order) => Ok(bvh::begin(head, draft, order)),
            Self::Vrma => vrma::begin(head, draft),
        }
    }

    /// Begins the files of a share, for formats that are [`is_per_share`](Self::is_per_share).
    pub fn begin_part<'a>(self, place: PartPlace<'a>) -> Result<Box<dyn PartWriter + 'a>, Error> {
        match self {
            #[cfg(feature = "parquet")]
            Self::Parquet => parquet::begin(place),
            Self::Packed => packed::begin(place),
            _ => Err(Error::Usage(format!("there is no {} file per share", self.extension()))),
        }
    }
}

/// Writes an index as a Parquet file; `None` in builds without Parquet.
#[cfg_attr(not(feature = "parquet"), expect(unused_variables, reason = "these builds write no Parquet"))]
pub fn index_table<'a>(
    create: impl FnOnce() -> Result<Draft, Error>,
    lines: impl Iterator<Item = IndexLine<'a>>,
) -> Result<Option<Draft>, Error> {
    #[cfg(feature = "parquet")]
    let table = parquet::write_index(create()?, lines).map(Some);
    #[cfg(not(feature = "parquet"))]
    let table = Ok(None);
    table
}

/// The turn by +90 degrees about +X, from +Y up to +Z up.
const TURN: DQuat = DQuat::from_xyzw(FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2);

/// The space of an output: its up axis and its unit.
#[derive(Clone, Copy)]
pub struct OutputSpace {
    turned: bool,
    scale: f64,
}

impl OutputSpace {
    pub fn new(facts: &Facts) -> Self {
        Self { turned: facts.up_axis == "z", scale: facts.unit_scale }
    }

    /// The factor of lengths.
    pub fn scale(self) -> f64 {
        self.scale
    }

    /// The local transform of a joint in the rest pose. The root is rotated into the space.
    pub fn rest(self, joint: &Joint) -> Transform {
        let Transform { translation, rotation, scale } = joint.rest;
        let (translation, rotation) = (translation * self.scale, rotation.normalize());
        if joint.parent.is_none() && self.turned {
            return Transform { translation: turn(translation), rotation: TURN * rotation, scale };
        }
        Transform { translation, rotation, scale }
    }

    /// The local matrix of a joint in the rest pose. The root is rotated into the space.
    pub fn rest_matrix(self, joint: &Joint) -> DAffine3 {
        let matrix = joint.matrix.unwrap_or_else(|| joint.rest.to_affine());
        if joint.parent.is_none() { self.in_model(matrix) } else { self.scaled(matrix) }
    }

    /// A transform of model space: turned, with its translation scaled.
    pub fn in_model(self, matrix: DAffine3) -> DAffine3 {
        let DAffine3 { matrix3, translation } = self.scaled(matrix);
        if !self.turned {
            return DAffine3 { matrix3, translation };
        }
        let [x, y, z] = [matrix3.x_axis, matrix3.y_axis, matrix3.z_axis].map(turn);
        DAffine3 { matrix3: DMat3::from_cols(x, y, z), translation: turn(translation) }
    }

    fn scaled(self, matrix: DAffine3) -> DAffine3 {
        DAffine3 { translation: matrix.translation * self.scale, ..matrix }
    }
}

/// A library of the skeleton of a clip, with its skins, in the space of the output. The skeleton has the name of the
/// clip.
fn in_space(head: &ClipHead, space: OutputSpace) -> Result<(Library, SkeletonId), Error> {
    let in_space = |joint: &Joint| {
        let matrix = joint.matrix.map(|_| space.rest_matrix(joint));
        Joint { rest: space.rest(joint), matrix, ..joint.clone() }
    };
    let joints = head.library.skeleton(head.skeleton).joints().iter().map(in_space).collect();
    let mut library = Library::new();
    let skeleton = Skeleton::new(Some(head.name.to_owned()), joints, Vec::new())?;
    let source = head.library.skeleton(head.skeleton);
    let skeleton = skeleton.with_human_bones(source.human_bones().to_vec())?;
    let skeleton = library.add_skeleton(skeleton.with_expressions(source.expressions().to_vec())?);
    // The vertices stay as in the file: the matrices scale them.
    let scale = DAffine3::from_scale(DVec3::splat(space.scale()));
    for (_, skin) in head.library.skins_of(head.skeleton) {
        let inverse_bind = skin.inverse_bind.iter().map(|&matrix| scale * matrix).collect();
        library.add_skin(Skin { skeleton, inverse_bind, ..skin.clone() })?;
    }
    Ok((library, skeleton))
}

/// Frames that are read at a time.
const FRAMES: usize = 64;

/// Calls a function with the time of each frame, the local transforms of all joints, and the morph weights, at rest if
/// the layout lacks them.
fn each_pose(
    head: &ClipHead,
    skeleton: &Skeleton,
    spool: &mut Spool,
    mut each: impl FnMut(f64, &[Transform], &[f64]) -> Result<(), Error>,
) -> Result<(), Error> {
    let arrays = head.layout.arrays();
    let mut local: Vec<Transform> = skeleton.joints().iter().map(|joint| joint.rest).collect();
    // The layout has them in the order of the nodes.
    let ranges = skeleton.weight_ranges();
    let places: Vec<usize> = head.nodes.iter().flat_map(|&node| ranges[node].clone()).collect();
    let mut morphs: Vec<f64> = skeleton.joints().iter().flat_map(|joint| joint.weights.iter().copied()).collect();
    spool.rewind()?;
    loop {
        let (times, numbers) = spool.read(FRAMES)?;
        if times.is_empty() {
            return Ok(());
        }
        for (frame, &time) in times.iter().enumerate() {
            for (shape, numbers) in arrays.iter().zip(&numbers) {
                let row = &numbers[frame * shape.width()..][..shape.width()];
                let joints = head.layout.joints().iter();
                match shape.kind {
                    ArrayKind::LocalPos => joints.zip(row.as_chunks::<3>().0).for_each(|(&joint, numbers)| {
                        local[joint].translation = DVec3::from(numbers.map(f64::from));
                    }),
                    ArrayKind::LocalQuat => joints.zip(row.as_chunks::<4>().0).for_each(|(&joint, numbers)| {
                        local[joint].rotation = DQuat::from_array(numbers.map(f64::from));
                    }),
                    ArrayKind::Weights => {
                        places.iter().zip(row).for_each(|(&place, &number)| morphs[place] = number.into());
                    }
                    _ => joints.zip(row.as_chunks::<3>().0).for_each(|(&joint, numbers)| {
                        local[joint].scale = DVec3::from(numbers.map(f64::from));
                    }),
                }
            }
            each(time, &local, &morphs)?;
        }
    }
}

/// A vector in a space with +Z up.
fn turn(vector: DVec3) -> DVec3 {
    UpAxis::Z.turn(vector.to_array()).into()
}
