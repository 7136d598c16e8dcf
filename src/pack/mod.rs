//! Packing of a library into two flat arrays, which the GPU and the CPU engine read.
//!
//! `words` holds indices, key times and records, as the bits of `u32` and `f32`. `values` holds vectors of four `f32`:
//! keys, rest poses, inverse bind matrices; and channels of joints, as the bits of `u32`. An offset into an array counts
//! elements of that array.
//!
//! What crowds and kernels refer to comes first: skeletons, records of clips, masks, chains. Then libraries that differ
//! in the keys of their clips alone have it at the same places, and one can take the place of another.

mod arrays;
mod capacity;
mod chain;
mod channels;
mod clip;
mod crowd;
mod device_form;
mod displacement;
mod drive;
mod easing;
mod features;
mod key_blocks;
mod keys;
mod large_array;
mod library;
mod outputs;
mod playback;
mod quantized;
pub mod record;
mod replacement;
mod skeleton;
pub mod skin_format;
mod timeline;
mod triangle_grid;
mod unroll;

pub use arrays::Aligned;
pub(crate) use arrays::{Arrays, Sizes};
pub use capacity::CrowdOptions;
pub(crate) use capacity::{BatchCapacity, check_changed_crowd, check_index, parameter_count};
pub(crate) use chain::ReachLink;
pub(crate) use channels::JointChannels;
pub use clip::ClipBytes;
pub(crate) use clip::VALUES_BEHIND_KEYS;
pub(crate) use crowd::{PackedBatch, PackedCrowd, pack_layer};
#[cfg(feature = "gpu")]
pub(crate) use crowd::{pack_drivers, pack_goals, pack_instance};
pub(crate) use displacement::PackedDisplacement;
#[cfg(test)]
pub(crate) use easing::folds;
pub(crate) use features::Features;
pub(crate) use key_blocks::column_words;
pub use library::PackedLibrary;
pub(crate) use library::PackedSkeleton;
pub(crate) use library::all_threads;
pub(crate) use outputs::{MOTION_NUMBERS, NUMBERS, OutputCounts};
pub use outputs::{OutputLayout, OutputNumbers};
pub(crate) use quantized::{Form, MAX_BITS, PackedColumn, QuantizedCurve, QuantizedKeys, storable_step};
pub(crate) use skeleton::rows;
pub(crate) use timeline::{PackedTimeline, can_be_even, is_even, needs_exact_times};
#[cfg(test)]
pub(crate) use unroll::Beyond;
