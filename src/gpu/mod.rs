//! The wgpu engine.
//!
//! [`GpuLibrary`] holds what never changes, [`GpuCrowd`] a crowd with the buffers
//! that its poses are written to; the caller brings device, queue and encoder. [`GpuContext`] is
//! the only type that owns a device.

mod bandwidth;
mod batch;
pub(crate) mod buffers;
mod context;
mod crowd;
mod engine;
mod events;
mod frame;
mod interpolators;
mod kernel_form;
mod kernels;
mod library;
mod motion;
mod options;
mod outcome;
mod plan;
pub(crate) mod readback;
pub(crate) mod scopes;
mod shader;
mod skinning;
mod stopwatch;
mod visible;

pub use bandwidth::Bandwidth;
pub use batch::GpuBatch;
pub use context::{AdapterKind, GpuContext};
pub use crowd::GpuCrowd;
pub use engine::GpuEngine;
pub use events::GpuEvents;
pub use kernel_form::KernelForm;
pub use library::GpuLibrary;
pub use options::CrowdOptions;
pub use outcome::LayersOutcome;
pub use stopwatch::Stopwatch;

#[cfg(test)]
pub(crate) mod contract_tests;
#[cfg(test)]
mod function_tests;
