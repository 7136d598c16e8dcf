//! The facts that an output states about itself.

use serde::{Deserialize, Serialize};

/// All that an output states about itself, besides its arrays.
///
/// Writers that hold text only, for example the metadata of Parquet, store the JSON of this record.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Facts {
    /// The name of the clip: the path of the output below OUT, without extension.
    pub clip: String,
    /// Frames per second.
    pub fps: f64,
    /// The names of the joints written. A joint without a name has an empty one.
    pub joint_names: Vec<String>,
    /// The nearest ancestor of each joint among the joints written; -1 without one.
    pub parents: Vec<i32>,
    /// The order of the numbers of quaternions: `xyzw` or `wxyz`.
    pub quaternion_order: &'static str,
    /// The axis that points up: `y` or `z`.
    pub up_axis: &'static str,
    /// The factor of lengths, the value of `--scale`.
    pub unit_scale: f64,
    /// The file that the clip comes from.
    pub source: SourceFacts,
    /// The options that change the result, as JSON in a fixed order.
    pub options: String,
    /// The version of posse.
    pub posse_version: &'static str,
    /// The engine, with the instruction set if the bits depend on it.
    pub engine: String,
}

/// The file of a clip, by content.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SourceFacts {
    /// The path below the INPUT under which the file was found, with `/` between folders.
    pub path: String,
    /// The SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
    /// The files beside it that it names, in the order of their first mention.
    pub buffers: Vec<BufferFacts>,
}

/// A file that another file names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferFacts {
    /// The path, as the naming file has it, without percent-encoding.
    pub path: String,
    /// The SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
}
