//! The CPU engine: reads the packed library, uses all cores and the widest registers of the machine.
//!
//! * [`engine`] poses a [`crowd`] on a [`pool`] of threads, [`cut`] cuts it into parts for them, [`portion`] poses such a part,
//!   [`prefetch`] loads keys ahead of time, [`clip_poser`] poses clips without a crowd, [`pose`] poses a group of instances, [`values`]
//!   samples and mixes morph weights and properties, [`goals`] turns joints to targets, [`plan`] holds the groups of a clip's joints,
//!   [`plan_builder`] finds them, [`decoded`] keeps columns of quantized keys and [`decoded_rows`] their rows, [`source`] holds the inputs
//!   and outputs, and [`scratch`] the memory that the stages share.
//! * [`stages`] are the scalar stages. Most have the names of files in `shaders/`.
//! * [`block`] holds the stages that work on a block of joints of one instance in registers, [`abreast`] those that work on a block of
//!   instances, whose matrices are [`staged`] before they are written.
//! * [`simd`] holds the registers: one type per instruction set. It does not know the packed library.

mod abreast;
mod block;
mod clip_poser;
mod crowd;
mod cut;
mod decoded;
mod decoded_rows;
mod engine;
mod goals;
mod plan;
mod plan_builder;
mod pool;
mod portion;
mod pose;
mod prefetch;
mod scratch;
mod simd;
mod source;
mod staged;
mod stages;
mod values;

pub(crate) use clip_poser::{ClipPoser, ClipTime};
pub use crowd::{CpuBatch, CpuCrowd};
pub use engine::CpuEngine;
pub use simd::InstructionSet;
