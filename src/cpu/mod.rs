//! The CPU engine: reads the packed library, uses all cores and the widest registers of the machine.
//!
//! [`CpuEngine::crowd`] makes a [`CpuCrowd`] once, and [`CpuEngine::pose`] poses it per frame. [`CpuEngine::read`]
//! returns the pose of one instance; [`CpuCrowd::batches`] have the arrays of all, in the layout of the buffers of the
//! GPU engine.
//!
//! [`CpuEngine::query`] poses one instance at any tick, from the same [`Crowd`](crate::Crowd) that another engine
//! poses: for sockets and game rules beside a crowd on the GPU, without a readback.
//!
//! # The algorithm
//!
//! From the bottom up; a folder or file imports only what stands before it:
//!
//! 1. `simd` has the registers, one type per instruction set. It does not know the packed library.
//! 2. `stages` compute one value at a time. Most have the names of files in `shaders/`.
//! 3. `block` has the stages that compute a block of joints of one instance in registers.
//! 4. `keys` finds, decodes and samples the keys of clips for a group of instances.
//! 5. `mixer` mixes the joints of layers, and `values` their morph weights and properties. `soa` has the
//!    hierarchy of a block of instances, and `goals` turns their joints to targets.
//! 6. `pose` takes a group of instances from ticks to skin matrices.
//! 7. `schedule` divides a crowd into chunks, which threads pose.
//! 8. `engine` poses crowds, `changes` changes them in place, and `clip_poser` poses clips without a crowd.

mod block;
mod changes;
mod clip_poser;
mod engine;
mod goals;
mod keys;
mod mixer;
mod pose;
mod schedule;
mod simd;
mod soa;
mod stages;
mod values;

pub(crate) use clip_poser::{ClipPoser, ClipTime};
pub use engine::CpuEngine;
pub use schedule::crowd::{CpuBatch, CpuCrowd};
pub use simd::InstructionSet;
