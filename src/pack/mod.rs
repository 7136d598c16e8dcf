//! Packing of a library into two flat arrays, which the GPU and the CPU engine read.
//!
//! `words` holds indices, key times and records, as the bits of `u32` and `f32`. `values` holds vectors of four `f32`: keys, rest
//! poses, inverse bind matrices. An offset into an array counts elements of that array.

mod arrays;
mod channels;
mod clip;
mod column;
mod crowd;
mod easing;
mod events;
mod features;
mod key_blocks;
mod keys;
mod library;
mod outputs;
mod playback;
mod quantized;
mod quantized_rows;
pub mod record;
mod skeleton;
pub mod skin_format;
mod timeline;
mod unroll;

pub(crate) use arrays::Arrays;
pub(crate) use clip::key_bytes;
#[cfg(feature = "gpu")]
pub(crate) use crowd::pack_instance;
pub(crate) use crowd::{PackedBatch, PackedCrowd, pack_layer};
#[cfg(test)]
pub(crate) use easing::folds;
pub(crate) use features::Features;
pub(crate) use library::PackedSkeleton;
pub use library::{PackedLibrary, all_threads};
pub(crate) use outputs::{MOTION_NUMBERS, NUMBERS, OutputCounts};
pub use outputs::{OutputLayout, OutputNumbers};
pub(crate) use quantized::{Form, MOST_BITS, QuantizedCurve, QuantizedKeys};
pub(crate) use skeleton::rows;
pub(crate) use timeline::PackedTimeline;
#[cfg(all(test, feature = "gpu"))]
pub(crate) use unroll::Beyond;
