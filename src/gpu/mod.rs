//! The wgpu engine.
//!
//! A [`GpuLibrary`] holds the data that never changes, a [`GpuCrowd`] the instances and the buffers of their poses. The
//! caller brings device, queue and encoder. Only a [`GpuContext`] opens a device.
//!
//! A function whose name ends in `_async` awaits what the device reports or computes. The function of the same name
//! without the ending does not exist in a browser, whose threads must not wait. On other targets, both block the thread
//! until then.

mod adapter;
mod allocation;
mod bandwidth;
mod batch;
mod batch_builder;
mod buffers;
mod context;
mod crowd;
mod drive;
mod engine;
mod environment;
mod events;
mod frame_uploads;
mod goals;
mod interpolators;
mod kernels;
mod library;
mod readback;
mod scopes;
mod shader;
mod shader_files;
mod shader_pruning;
mod stopwatch;
#[cfg(any(test, feature = "test_support"))]
pub mod test_support;
mod transitions;
mod visible;

pub use adapter::{AdapterDescription, AdapterKind, Shortfall};
pub use bandwidth::Bandwidth;
pub use batch::GpuBatch;
pub use context::{DeviceAndQueue, GpuContext};
pub use crowd::GpuCrowd;
pub use engine::GpuEngine;
pub use events::GpuEvents;
pub use kernels::kernel_limits;
pub use library::GpuLibrary;
pub use shader::KernelText;
pub use stopwatch::Stopwatch;

pub use allocation::{create_buffer, create_encoder, fault_point};
pub(crate) use buffers::upload;
pub use buffers::{filled_buffer, largest_binding};
pub use frame_uploads::FrameUploads;
pub use readback::{check_device, read_buffers};
pub(crate) use readback::{submit, wait_for_device};
pub use scopes::Scopes;
pub use shader_files::{copy_code, shader_text};

#[cfg(test)]
mod allocation_tests;
#[cfg(test)]
mod contract_tests;
#[cfg(test)]
mod function_tests;
#[cfg(test)]
mod wgsl_texts;
