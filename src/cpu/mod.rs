//! The CPU engine: reads the packing, uses all cores.
//!
//! Its stages bear the names of the shader modules in `shaders/shared`, whose functions they mirror.

mod blend;
mod ease;
pub mod engine;
mod hierarchy;
mod layers;
mod matrix;
mod motion;
mod phase;
mod pose;
mod quat;
mod root_motion;
mod sample;
mod sampler;
mod search;
