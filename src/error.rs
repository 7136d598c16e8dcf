//! The one error type of the crate.

use std::path::PathBuf;

/// What can go wrong, each variant with its place and, where there is one, a remedy in its text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("{}: {source}", file.display())]
    Io {
        /// The file as it was asked for.
        file: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A file was read but cannot be used.
    #[error("{}: {path}: {reason}", file.display())]
    Import {
        /// The file as it was asked for.
        file: PathBuf,
        /// JSON path of the fault, for example `animations[0].channels[3].sampler`.
        path: String,
        /// What is wrong there, and what would be right.
        reason: String,
    },
    /// The key times of a timeline are not usable.
    #[error("timeline, key {key}: {reason}")]
    Timeline {
        /// Index of the first faulty key.
        key: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The values of a curve do not fit their timeline or are not numbers.
    #[error("curve, value {value}: {reason}")]
    Curve {
        /// Index of the first faulty value, or the number of values where their count is wrong.
        value: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A joint of a skeleton is not usable.
    #[error("skeleton, joint {joint}: {reason}")]
    Skeleton {
        /// Index of the joint.
        joint: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A skin does not fit its skeleton.
    #[error("skin {skin}: {reason}")]
    Skin {
        /// The skin's name, or `unnamed`.
        skin: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A track does not fit its clip or skeleton.
    #[error("clip {clip}, track {track}: {reason}")]
    Track {
        /// The clip's name, or `unnamed`.
        clip: String,
        /// Index of the track in the clip.
        track: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// An instance of a crowd asks for something that its library does not have.
    #[error("instance {instance}: {reason}")]
    Instance {
        /// Index of the instance.
        instance: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Something is larger than a format or a device can hold.
    #[error("{what}: {needed} needed, {allowed} allowed")]
    Limit {
        /// What ran into the limit.
        what: String,
        /// The size that was needed.
        needed: u64,
        /// The largest size allowed.
        allowed: u64,
    },
    /// A shader did not compile.
    #[error("{file}{}: {message}", in_line(*line))]
    Shader {
        /// The WGSL file, or `interpolator` and its name.
        file: String,
        /// The line in it, from 1; 0 where none is known, or none is the caller's.
        line: u32,
        /// The compiler's message.
        message: String,
    },
    /// No adapter of the wanted kind was found.
    #[error(
        "no GPU adapter{wanted}. Install your GPU's Vulkan, Metal or DirectX 12 driver, or a software one (Debian and \
         Ubuntu: apt-get install mesa-vulkan-drivers) and ask for it with --engine gpu; --engine cpu needs neither"
    )]
    NoAdapter {
        /// What was asked for, with a leading space, or empty.
        wanted: String,
    },
    /// The device failed: lost, out of memory, or an operation that its validation refused.
    #[error("GPU device: {0}")]
    Device(String),
    /// An argument or a request makes no sense as it stands.
    #[error("{0}")]
    Usage(String),
}

/// A line after the name of its file, where it is known.
fn in_line(line: u32) -> String {
    if line > 0 { format!(":{line}") } else { String::new() }
}
