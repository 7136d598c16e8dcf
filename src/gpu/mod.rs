//! The wgpu engine.
//!
//! [`GpuLibrary`](library::GpuLibrary) holds what never changes, [`GpuCrowd`](crowd::GpuCrowd) a crowd with the buffers
//! that its poses are written to; the caller brings device, queue and encoder. [`HeadlessGpu`](headless::HeadlessGpu) is
//! the only type that owns a device.

pub mod bandwidth;
pub(crate) mod buffers;
pub mod chunk;
pub mod crowd;
pub mod engine;
pub mod events;
pub mod form;
mod frame;
pub mod headless;
mod interpolators;
mod kernels;
pub mod library;
mod motion;
pub mod options;
pub mod outcome;
mod plan;
pub(crate) mod readback;
pub(crate) mod scopes;
mod seen;
mod shader;
mod skinning;
pub mod stopwatch;

#[cfg(test)]
mod contract_tests;
#[cfg(test)]
mod function_tests;
