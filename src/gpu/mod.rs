//! The wgpu engine.
//!
//! The caller brings device, queue and encoder; only a [`GpuContext`] opens a device. [`GpuLibrary::new`] packs and
//! uploads a library, which never changes, and keeps handles of the device and the queue. [`GpuCrowd::new`] uploads the
//! instances and makes the buffers of their poses. [`GpuCrowd::encode`] records a frame without a submission: one
//! compute pass, for which 32 bytes are uploaded, whatever the size of the crowd. [`GpuCrowd`] and examples/headless.rs
//! show every step up to the buffer.
//!
//! The default limits of WebGPU are enough for the device; [`GpuLibrary::required_limits`] returns the least limits.
//!
//! A function whose name ends in `_async` awaits what the device reports or computes. The function of the same name
//! without the ending does not exist in a browser, whose threads must not wait. On other targets, both block the thread
//! until then.
//!
//! # Draw from the buffers
//!
//! A crowd sorts its instances into batches, by skeleton and by what their layers need. Each [`GpuBatch`] has buffers
//! of its own, and takes one draw call per mesh. Slot `s` of a batch is instance `batch.instances()[s]` of the crowd:
//! bring placements, colours and whatever else belongs to instances into that order, once per crowd.
//!
//! | buffer of a batch | per instance, one after the other | numbers per instance |
//! |---|---|---|
//! | [`skin()`](GpuBatch::skin) | per joint of each skin three rows of four `f32`; the last of a row is the translation | `layout().skin` |
//! | [`model()`](GpuBatch::model) | three rows of four `f32` per joint | `layout().model` |
//! | [`local()`](GpuBatch::local) | per joint translation xyz, 0, rotation xyzw, scale xyz, 0 | `layout().local` |
//! | [`values()`](GpuBatch::values) | morph weights, then properties | `layout().values` |
//! | [`root_motion()`](GpuBatch::root_motion) | translation xyz, 1 if a clip has root motion, rotation xyzw | `layout().root_motion` |
//!
//! The numbers per instance are the stride: give it to the shader instead of counting joints there. `JOINTS_0` of a
//! vertex index the matrices of the mesh's own skin directly, without a table;
//! [`OutputLayout::skin_start`](crate::packed::OutputLayout::skin_start) returns the number at which a skin of a
//! skeleton with several begins ([`import::Asset::skins`](crate::import::Asset::skins) has the skins in the order of
//! the file). For a skeleton with one skin, a vertex shader has these bindings and this function, as in
//! examples/skinned_gltf.rs, which draws a thousand characters:
//!
//! ```wgsl
//! @group(0) @binding(0) var<storage, read> skin_rows: array<vec4f>;  // batch.skin()
//! @group(0) @binding(1) var<uniform> stride: u32;                    // batch.layout().skin / 4
//!
//! /// The weighted mean of the matrices of joints. `first` is the first row of the instance: `slot * stride`. Its
//! /// columns are rows, so that a vector stands to its left: `vec4f(position, 1.0) * skin_matrix(..)`.
//! fn skin_matrix(first: u32, joints: vec4u, weights: vec4f) -> mat3x4f {
//!     var sum = mat3x4f();
//!     for (var i = 0u; i < 4u; i++) {
//!         let row = first + 3u * joints[i];
//!         sum += weights[i] * mat3x4f(skin_rows[row], skin_rows[row + 1u], skin_rows[row + 2u]);
//!     }
//!     return sum;
//! }
//! ```
//!
//! The instance index of the vertex shader is the slot. The matrices lead from the bind pose to the space of the
//! instance; its placement in the world comes after them. The position of the node that has the mesh does not matter,
//! as in glTF. Two [formats](crate::SkinFormat) of skin matrices take 24 bytes per joint instead of 48, and
//! [`SkinFormat::wgsl`](crate::SkinFormat::wgsl) returns the functions that read them.
//!
//! The package bevy_posse (bindings/bevy) is a plugin for Bevy.
//!
//! # Visible instances
//!
//! With [`CrowdOptions::visible`](crate::CrowdOptions::visible), each batch has a list on the GPU
//! ([`GpuBatch::visible`]). A culling pass of the caller fills it with entries of three `u32`: slot, number of joints,
//! update interval. [`GpuCrowd::encode_visible`] poses the listed instances by an indirect dispatch. A distant instance
//! can be posed every second or fourth frame, or with the first joints of its hierarchy alone; the other joints stay at
//! rest. With [`CrowdOptions::previous_skin`](crate::CrowdOptions::previous_skin), [`GpuBatch::previous_skin`] keeps
//! the skin matrices of the frame before, for motion vectors.
//!
//! # Parameters and transitions
//!
//! Layers whose time or weight follows from [parameters](crate::parameters), and goals whose target or weight does,
//! read them from a buffer, [`GpuBatch::parameters`]: for each slot of the batch [`GpuBatch::parameter_count`] numbers
//! of 32 bits. [`GpuCrowd::set_parameters`] and [`set_all_parameters`](GpuCrowd::set_all_parameters) write it from the
//! CPU. A kernel of the caller can write it instead, in the same submission before [`GpuCrowd::encode`] is recorded;
//! then a frame uploads the clock alone. Root motion goes from the values of the last recorded frame to the values of
//! the present one. `drivers` and `parameters` of [`CrowdOptions`](crate::CrowdOptions) ask for capacity for such
//! layers in a crowd that begins without them. examples/locomotion steers a crowd by such a kernel.
//!
//! [`GpuCrowd::transition`] leads an instance to other layers from the pose that it shows, without a jump of pose or
//! speed. The difference is computed once, in `f64` from the crowd on the host, and uploaded; it may interrupt another
//! transition at any time. [`CrowdOptions::transitions`](crate::CrowdOptions::transitions) is the number of transitions
//! at the same time. A place is free again after 16 half-lives, or at the end of dead blending.

mod adapter;
pub(crate) mod allocation;
pub(crate) mod bandwidth;
mod batch;
mod batch_builder;
mod context;
mod crowd;
mod engine;
mod environment;
mod events;
pub(crate) mod frame_uploads;
mod half_packing;
mod interpolators;
pub(crate) mod kernels;
mod library;
mod parameters;
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
pub use allocation::DeviceAndQueue;
pub use batch::GpuBatch;
pub use context::GpuContext;
pub use crowd::GpuCrowd;
pub use engine::GpuEngine;
pub use events::GpuEvents;
pub use library::GpuLibrary;
pub use shader::KernelText;

pub(crate) use allocation::{create_buffer, create_encoder, fault_point, filled_buffer, upload};
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
