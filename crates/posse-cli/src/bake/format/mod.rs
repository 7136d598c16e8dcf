//! The formats of the outputs. Each format has a file here.

mod glb;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;
mod rest;
mod usda;

pub use self::usda::{Character, write_crowd};

use std::path::{Path, PathBuf};

use posse::bake::{ArrayKind, ArrayLayout, QuaternionOrder};
use posse::{Error, Library, SkeletonId};

use crate::bake::draft::{Draft, DraftTag};
use crate::bake::facts::{Facts, StoredFacts};
use crate::bake::spool::Spool;
use crate::bake::stored;

/// A format, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum FormatName {
    /// NumPy arrays in a zip file, one file per clip.
    Npz,
    /// Apache Parquet, one file per share with a row per frame.
    Parquet,
    /// A binary glTF file per clip, with nodes and skins.
    Glb,
    /// A UsdSkel skeleton and animation per clip, as text.
    Usda,
}

/// The names and shapes of the arrays of an npz file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum NpzLayout {
    /// The arrays under the names of --arrays.
    Plain,
    /// The motion files of mjlab: fps, joint_pos, joint_vel, body_pos_w, body_quat_w, body_lin_vel_w, body_ang_vel_w.
    Mjlab,
}

/// A format of outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Npz(NpzLayout),
    Parquet,
    Glb,
    Usda,
}

/// The facts about a clip that a writer needs before the first frame.
pub struct ClipHead<'a> {
    /// The library of the skeleton, with its skins. It may lack the clip.
    pub library: &'a Library,
    /// The skeleton.
    pub skeleton: SkeletonId,
    /// The joint of each node, in the order of the file.
    pub nodes: &'a [usize],
    /// The arrays, and the joints written.
    pub layout: &'a ArrayLayout,
    /// The name of the clip.
    pub name: &'a str,
}

/// A writer of one clip into a file of its own.
pub trait ClipWriter {
    /// Appends consecutive frames. `arrays` has the numbers of each array of the layout, frame after frame.
    fn append(&mut self, times: &[f64], arrays: &[Vec<f32>]) -> Result<(), Error>;

    /// Completes the file, and gives it its name.
    fn finish(self: Box<Self>, facts: &Facts) -> Result<(), Error>;
}

/// The files of a share.
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet has files per share"))]
pub struct PartPlace<'a> {
    /// The folder OUT.
    pub folder: &'a Path,
    /// The index of the share; 0 without shares.
    pub share: u32,
    /// The number of shares; 1 without shares.
    pub shares: u32,
    /// The tag of the drafts.
    pub tag: &'a DraftTag,
}

/// A writer of all clips of a share.
///
/// The clips come one at a time, complete, in the order of their names. Each clip comes from a library of its own.
pub trait PartWriter: Send {
    /// Appends a clip. `clip` is at its first frame.
    fn add(&mut self, head: &ClipHead, clip: &mut Spool, facts: &Facts) -> Result<(), Error>;

    /// Declares the arrays of a share without clips: those of a clip of another share. Its empty file then has their columns, so that
    /// the files of all shares can be read together.
    fn declare(&mut self, head: &ClipHead) -> Result<(), Error>;

    /// Completes the files of the share, and gives them their names. A share without clips gets an empty file. Older files of the
    /// share that this writer has not written are removed.
    fn finish(self: Box<Self>) -> Result<(), Error>;
}

impl Format {
    /// The format of the options `--format` and `--layout`.
    ///
    /// # Errors
    /// [`Error::Usage`] for a layout that the format does not have, and for formats that this build lacks.
    pub fn new(name: FormatName, layout: Option<NpzLayout>) -> Result<Self, Error> {
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
            FormatName::Glb => Ok(Self::Glb),
            FormatName::Usda => Ok(Self::Usda),
        }
    }

    /// The extension of the outputs.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Npz(_) => "npz",
            Self::Parquet => "parquet",
            Self::Glb => "glb",
            Self::Usda => "usda",
        }
    }

    /// True if all clips of a share stand in one file.
    pub fn is_per_share(self) -> bool {
        self == Self::Parquet
    }

    /// The arrays that the format holds. `wanted` is the value of `--arrays`, empty without it.
    ///
    /// # Errors
    /// [`Error::Usage`] for a format with arrays of its own, if others are wanted.
    pub fn kinds(self, wanted: &[ArrayKind]) -> Result<Vec<ArrayKind>, Error> {
        let own: &[ArrayKind] = match self {
            Self::Npz(NpzLayout::Plain) | Self::Parquet => {
                let default = vec![ArrayKind::Pos, ArrayKind::Quat];
                return Ok(if wanted.is_empty() { default } else { wanted.to_vec() });
            }
            Self::Npz(NpzLayout::Mjlab) => &[ArrayKind::Pos, ArrayKind::Quat, ArrayKind::Linvel, ArrayKind::Angvel],
            Self::Glb => &[ArrayKind::LocalPos, ArrayKind::LocalQuat, ArrayKind::LocalScale],
            Self::Usda => &[ArrayKind::LocalPos, ArrayKind::LocalQuat, ArrayKind::LocalScale, ArrayKind::Weights],
        };
        if !wanted.is_empty() {
            return Err(Error::Usage("this format or layout has arrays of its own; leave out --arrays".into()));
        }
        Ok(own.to_vec())
    }

    /// The order of the numbers of quaternions. `wanted` is the value of `--quaternions`.
    ///
    /// # Errors
    /// [`Error::Usage`] for a format or layout with an order of its own, if the other one is wanted.
    pub fn quaternions(self, wanted: Option<QuaternionOrder>) -> Result<QuaternionOrder, Error> {
        let (own, name) = match self {
            Self::Npz(NpzLayout::Plain) | Self::Parquet => return Ok(wanted.unwrap_or_default()),
            Self::Npz(NpzLayout::Mjlab) => (QuaternionOrder::Wxyz, "--layout mjlab"),
            Self::Glb => (QuaternionOrder::Xyzw, "--format glb"),
            Self::Usda => (QuaternionOrder::Wxyz, "--format usda"),
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
            Self::Npz(layout) => npz::begin(head, draft, layout),
            Self::Parquet => Err(Error::Usage("Parquet has no file per clip".into())),
            Self::Glb => glb::begin(head, draft),
            Self::Usda => usda::begin(head, draft),
        }
    }

    /// Begins the files of a share, for formats that are [`is_per_share`](Self::is_per_share).
    pub fn begin_part<'a>(self, place: PartPlace<'a>) -> Result<Box<dyn PartWriter + 'a>, Error> {
        match self {
            #[cfg(feature = "parquet")]
            Self::Parquet => parquet::begin(place),
            _ => {
                let _ = place;
                Err(Error::Usage(format!("there is no {} file per share", self.extension())))
            }
        }
    }

    /// The files of a share that are there, in order of their names.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder cannot be read. A folder that is missing has no files.
    pub fn part_files(self, place: &PartPlace) -> Result<Vec<PathBuf>, Error> {
        match self {
            #[cfg(feature = "parquet")]
            Self::Parquet => parquet::part_files(place),
            _ => {
                let _ = place;
                Ok(Vec::new())
            }
        }
    }

    /// The facts of the clips of an output. The sizes of its parts are checked, so that a file that has lost bytes is refused; the
    /// numbers of its arrays are not read.
    ///
    /// # Errors
    /// [`Error::Io`] or [`Error::Import`] if the file cannot be read, is not whole, or was not written by `posse bake`.
    pub fn read_facts(self, file: &Path) -> Result<Vec<StoredFacts>, Error> {
        match self {
            Self::Npz(_) => stored::npz::read_facts(file).map(|facts| vec![facts]),
            #[cfg(feature = "parquet")]
            Self::Parquet => stored::parquet::read_facts(file),
            #[cfg(not(feature = "parquet"))]
            Self::Parquet => Ok(Vec::new()),
            Self::Glb => stored::glb::read_facts(file).map(|facts| vec![facts]),
            Self::Usda => stored::usda::read_facts(file).map(|facts| vec![facts]),
        }
    }
}
