//! Model to flat arrays: the only bridge to bytes, read by the GPU and the CPU engine alike.
//!
//! Everything lies in two arrays. `words` holds indices, key times and records of `u32` and `f32` bits; `values` holds
//! vectors of four `f32`: keys, rest poses, inverse bind matrices. Offsets into them are in their own elements.

mod arrays;
mod blocks;
mod channels;
pub(crate) mod clip;
mod column;
pub(crate) mod crowd;
pub(crate) mod easing;
mod events;
mod features;
mod keys;
pub(crate) mod library;
mod outputs;
mod playback;
pub(crate) mod quantized;
pub(crate) mod quantized_rows;
pub mod record;
mod root_motion;
mod skeleton;
pub mod skin_format;
pub mod threads;
pub(crate) mod timeline;
pub(crate) mod unroll;

pub(crate) use arrays::Arrays;
pub(crate) use crowd::PackedBatch;
pub use crowd::PackedCrowd;
pub use features::Features;
pub use library::PackedLibrary;
pub(crate) use outputs::{MOTION_NUMBERS, NUMBERS};
pub use outputs::{OutputLayout, OutputNumbers};
pub use quantized::{QuantizedCurve, QuantizedKeys};
