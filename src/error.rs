//! The one error type of the crate.

use std::path::PathBuf;

use crate::refusal::Refusal;

/// A failure of this crate, with its place and the expected value or a hint in its text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("{}: {source}", file.display())]
    Io {
        /// The path as the caller gave it.
        file: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file was read but cannot be used.
    #[error("{}: {path}: {reason}", file.display())]
    Import {
        /// The path as the caller gave it.
        file: PathBuf,
        /// JSON path of the error, for example `animations[0].channels[3].sampler`, or its line, for example `line 12`.
        path: String,
        /// The error, and the expected content.
        reason: String,
    },
    /// The key times of a timeline are not usable.
    #[error("timeline, key {key}: {reason}")]
    Timeline {
        /// Index of the first faulty key.
        key: usize,
        /// The error.
        reason: String,
    },
    /// The values of a curve do not fit their timeline or are not numbers.
    #[error("curve, value {value}: {reason}")]
    Curve {
        /// Index of the first faulty value, or the number of values if their count is wrong.
        value: usize,
        /// The error.
        reason: String,
    },
    /// A joint of a skeleton is not usable.
    #[error("skeleton, joint {joint}: {reason}")]
    Skeleton {
        /// Index of the joint.
        joint: usize,
        /// The error.
        reason: String,
    },
    /// A skin does not fit its skeleton.
    #[error("skin {skin}: {reason}")]
    Skin {
        /// The skin's name, or `unnamed`.
        skin: String,
        /// The error.
        reason: String,
    },
    /// A track does not fit its clip or skeleton.
    #[error("clip {clip}, track {track}: {reason}")]
    Track {
        /// The clip's name, or `unnamed`.
        clip: String,
        /// Index of the track in the clip.
        track: usize,
        /// The error.
        reason: String,
    },
    /// An instance of a crowd does not fit its library, or its layers have unusable numbers.
    #[error("instance {instance}: {reason}")]
    Instance {
        /// Index of the instance.
        instance: usize,
        /// The error.
        reason: String,
    },
    /// A crowd was made without the capacity for a change. Nothing is changed, and the crowd plays on as before.
    // Without `From`, so that `?` in a closure keeps one conversion to choose from.
    #[error("{0}")]
    Refused(Refusal),
    /// Something is larger than a format or a device can hold.
    #[error("{what}: {needed} needed, {allowed} allowed")]
    Limit {
        /// The quantity that exceeds the limit.
        what: String,
        /// The needed size.
        needed: u64,
        /// The largest allowed size.
        allowed: u64,
    },
    /// A shader did not compile.
    #[error("{file}{}: {message}", line_suffix(*line))]
    Shader {
        /// The WGSL file, or `interpolator` and its name.
        file: String,
        /// The line in the file, from 1; 0 if no line is known or the line is not in the caller's code.
        line: u32,
        /// The message of the compiler.
        message: String,
    },
    /// No adapter of the wanted kind was found.
    #[error(
        "no GPU adapter{wanted}. Install your GPU's Vulkan, Metal or DirectX 12 driver, or a software one (Debian and \
         Ubuntu: apt-get install mesa-vulkan-drivers), which AdapterKind::Any accepts; a CpuEngine needs no adapter"
    )]
    NoAdapter {
        /// The wanted adapter, with a leading space, or empty.
        wanted: String,
    },
    /// The device failed: it is lost or out of memory, or its validation refused an operation.
    #[error("GPU device: {0}")]
    Device(String),
    /// An argument or a request is not usable.
    #[error("{0}")]
    Usage(String),
}

impl Error {
    /// The reason for which a crowd refused a change; `None` for every other error.
    pub fn refusal(&self) -> Option<Refusal> {
        if let Self::Refused(refusal) = self { Some(*refusal) } else { None }
    }
}

/// The suffix `:line` of a file name, or nothing if the line is 0.
fn line_suffix(line: u32) -> String {
    if line > 0 { format!(":{line}") } else { String::new() }
}
