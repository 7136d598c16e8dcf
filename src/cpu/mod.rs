//! The CPU engine: reads the packing, uses all cores and the widest registers that the machine has.
//!
//! Its stages bear the names of the shader modules in `shaders/shared`, whose functions they mirror; [`simd`] is what the
//! stages of a joint are written in.

mod blend;
mod columns;
mod dual_quaternion;
mod ease;
mod engine;
mod events;
mod hierarchy;
mod joints;
mod layers;
mod matrix;
mod mixer;
mod motion;
mod phase;
mod plan;
mod pose;
mod quantized;
mod quat;
mod root_motion;
mod sample;
mod sampler;
mod search;
mod simd;
mod skin;
mod slerp;

pub use engine::{CpuBatch, CpuCrowd, CpuEngine};
pub use simd::InstructionSet;
