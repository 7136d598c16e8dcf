//! The wgpu engine.
//!
//! A [`GpuLibrary`] holds the data that never changes, a [`GpuCrowd`] the instances and the buffers of their poses. The
//! caller brings device, queue and encoder. Only a [`GpuContext`] opens a device.
//!
//! A function whose name ends in `_async` awaits what the device reports or computes. The function of the same name
//! without the ending does not exist in a browser, whose threads must not wait. On other targets, both block the thread
//! until then.

mod adapter;
pub(crate) mod allocation;
pub(crate) mod bandwidth;
mod batch;
mod batch_builder;
pub(crate) mod buffers;
mod context;
mod crowd;
mod drive;
mod engine;
mod environment;
mod events;
pub(crate) mod frame_uploads;
mod goals;
mod interpolators;
pub(crate) mod kernels;
mod library;
pub(crate) mod readback;
pub(crate) mod scopes;
pub(crate) mod shader;
pub(crate) mod shader_files;
mod shader_pruning;
pub(crate) mod stopwatch;
#[cfg(any(test, feature = "test_support"))]
pub(crate) mod test_support;
mod transitions;
mod visible;

pub use crate::pack::record::VisibleInstance;
pub use adapter::{AdapterDescription, AdapterKind, Shortfall};
pub use batch::GpuBatch;
pub use context::{DeviceAndQueue, GpuContext};
pub use crowd::GpuCrowd;
pub use engine::GpuEngine;
pub use events::GpuEvents;
pub use library::GpuLibrary;
pub use shader::KernelText;

pub(crate) use allocation::{create_buffer, create_encoder, fault_point};
pub(crate) use buffers::{filled_buffer, upload};
pub(crate) use kernels::largest_binding;
pub(crate) use readback::{check_device, read_buffers, submit, wait_for_device};
pub(crate) use scopes::Scopes;

#[cfg(test)]
mod allocation_tests;
#[cfg(test)]
mod contract_tests;
#[cfg(test)]
mod function_tests;
#[cfg(test)]
mod wgsl_texts;
