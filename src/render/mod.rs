//! A renderer for crowds: draws skinned, morphed, instanced meshes from the output buffers of the GPU engine.
//!
//! A [`Figure`] holds the meshes and materials of the instances of a skeleton; [`gltf`] reads one from a file. A [`Scene`] holds
//! figures and the [`Placement`]s of instances on a device. A [`Renderer`] draws a scene from a [`View`] into a texture of the
//! caller, such as the texture of a window. A [`Picture`] is drawn and read back into memory; [`encode`] writes picture files.
//!
//! Poses stay on the device: the vertex shader reads the buffers of a [`GpuCrowd`](crate::GpuCrowd).

#[cfg(test)]
mod allocation_tests;
pub(crate) mod arrangement;
mod bounds;
mod build;
mod camera;
mod canvas;
pub(crate) mod demo_figure;
mod draw;
pub mod encode;
mod figure;
pub mod gltf;
mod image;
mod material;
mod mesh;
mod picture;
mod pipelines;
pub(crate) mod placement;
pub(crate) mod probe;
mod record;
mod scene;
mod textures;
mod upload;
mod view;

pub use self::{
    bounds::{Bounds, crowd_bounds},
    camera::Camera,
    canvas::{Canvas, Target},
    draw::Renderer,
    figure::{Figure, Mover, Part},
    image::Image,
    material::{Alpha, Material, Texture, VertexColours, Wrap},
    mesh::{Mesh, MorphTarget, Vertex},
    picture::Picture,
    placement::Placement,
    scene::{PoseBuffers, Scene, needed_outputs},
    upload::UploadedPoses,
    view::{Background, Bones, Stage, View},
};

#[cfg(test)]
pub(crate) use pipelines::sources;
