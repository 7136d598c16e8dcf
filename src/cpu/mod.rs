//! The CPU engine: reads the packing, uses all cores and the widest registers that the machine has.
//!
//! Its stages bear the names of the shader modules in `shaders/shared`, whose functions they mirror; [`simd`] is what the
//! stages of a joint are written in.

mod blend;
mod columns;
mod compact;
mod dual_quaternion;
mod ease;
pub mod engine;
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
mod quat;
mod root_motion;
mod sample;
mod sampler;
mod search;
pub mod simd;
mod skin;
mod slerp;
