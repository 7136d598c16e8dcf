//! Pictures of crowds: skinned, morphed, instanced meshes, drawn from the GPU engine's output buffers.
//!
//! A [`Figure`](figure::Figure) says what the instances of a skeleton look like: [`gltf`] reads one from a file. A
//! [`Scene`](scene::Scene) holds figures and the places of instances on a device, a [`Renderer`](draw::Renderer) draws it as a
//! [`View`](view::View) says, into a texture of the caller's: of a window, or of a [`Picture`](picture::Picture), which is
//! read back. Between poses and pixels nothing leaves the device: the vertex shader reads the buffers of a
//! [`GpuCrowd`](crate::gpu::crowd::GpuCrowd).

pub mod bounds;
mod build;
pub mod camera;
pub mod canvas;
pub mod draw;
pub mod encode;
pub mod figure;
pub mod gltf;
pub mod human;
pub mod image;
pub mod material;
pub mod mesh;
pub mod picture;
mod pipelines;
pub mod place;
pub mod probe;
mod record;
pub mod scene;
mod skeleton;
mod textures;
pub mod upload;
pub mod view;
