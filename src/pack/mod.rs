//! Model to flat arrays: the only bridge to bytes, read by the GPU and the CPU engine alike.
//!
//! Everything lies in two arrays. `words` holds indices, key times and records of `u32` and `f32` bits; `values` holds
//! vectors of four `f32`: keys, rest poses, inverse bind matrices. Offsets into them are in their own elements.

pub mod arrays;
pub mod blocks;
pub mod channels;
pub mod clip;
pub mod column;
pub mod compact;
pub mod crowd;
pub mod easing;
pub mod events;
pub mod keys;
pub mod library;
pub mod outputs;
pub mod playback;
pub mod record;
pub mod root_motion;
pub mod skeleton;
pub mod skin_format;
pub mod threads;
pub mod timeline;
pub mod unroll;
pub mod uses;
