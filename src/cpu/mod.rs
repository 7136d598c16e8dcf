//! The CPU engine: reads the packing, uses all cores.
//!
//! Its stages bear the names of the shader modules in `shaders/shared`, whose functions they mirror.

mod blend;
mod ease;
pub mod engine;
mod events;
mod hierarchy;
mod layers;
mod matrix;
mod phase;
mod pose;
mod quat;
mod sample;
mod sampler;
mod search;
