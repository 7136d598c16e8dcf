//! The kernels of the GPU engine, apart from a device: which passes a frame has, which buffers they bind, how large the
//! buffers are and what they hold.
//!
//! The wgpu engine creates its buffers by what is here, and so does a program with a device of its own (Vulkan, Metal,
//! Direct3D 12, WebGPU), by [`DeviceCrowd`], by the C interface, or by the manifest that `posse kernels` writes beside
//! the kernels. docs/kernels.md tells how such a program dispatches them.
//!
//! From the bottom up: `formula` has sizes as formulas, `passes` the table of bindings, `plan` the choice of the kernel
//! that poses, `batch` the sizes and records of a batch, `device_crowd` all of it for a caller.

mod batch;
mod device_crowd;
mod formula;
mod passes;
pub(crate) mod plan;

pub use batch::DeviceLimits;
pub use device_crowd::{DeviceBatch, DeviceBuffer, DeviceCrowd, DeviceDispatch, frame_bytes, library_buffer};
pub use formula::{Count, Counts, Formula, Groups};
pub use passes::{Access, Binding, Buffer, Pass};

#[cfg(feature = "gpu")]
pub(crate) use batch::{BatchPlan, displacement_entry, displacement_offset, displacement_words};
#[cfg(feature = "gpu")]
pub(crate) use device_crowd::kernel_name;
#[cfg(feature = "gpu")]
pub(crate) use passes::SIDE_WORKGROUP_SIZE;
