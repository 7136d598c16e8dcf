//! Pictures of crowds: skinned, morphed, instanced meshes, drawn from the GPU engine's output buffers.
//!
//! A [`Figure`] says what the instances of a skeleton look like: [`gltf`] reads one from a file. A
//! [`Scene`] holds figures and the places of instances on a device, a [`Renderer`] draws it as a
//! [`View`] says, into a texture of the caller's: of a window, or of a [`Picture`], which is
//! read back. Between poses and pixels nothing leaves the device: the vertex shader reads the buffers of a
//! [`GpuCrowd`](crate::gpu::GpuCrowd).

pub mod bounds;
mod build;
mod camera;
mod canvas;
mod draw;
pub mod encode;
mod figure;
pub mod gltf;
pub mod human;
mod image;
mod material;
mod mesh;
mod picture;
mod pipelines;
pub mod place;
pub mod probe;
mod record;
mod scene;
mod skeleton;
mod textures;
mod upload;
mod view;

pub use bounds::Bounds;
pub use camera::Camera;
pub use canvas::{Canvas, Target, check_canvas_size};
pub use draw::Renderer;
pub use figure::{Figure, Mover, Part};
pub use image::Image;
pub use material::{Alpha, Material, Texture, VertexColours, Wrap};
pub use mesh::{Mesh, MorphTarget, Vertex};
pub use picture::Picture;
pub use place::Place;
pub use scene::{PoseBuffers, Scene, needed_outputs};
pub use upload::UploadedPoses;
pub use view::{Background, Bones, Stage, View};
