//! A renderer for crowds: draws skinned, morphed, instanced meshes from the output buffers of the GPU engine.
//!
//! A [`Figure`] holds the meshes and materials of the instances of a skeleton; [`gltf`] reads one from a file. A
//! [`Scene`] holds figures and the [`Placement`]s of instances on a device. A [`Renderer`] draws a scene from a
//! [`View`] into a texture of the caller, such as the texture of a window. A [`Picture`] is drawn and read back into
//! memory; [`encode`] writes picture files.
//!
//! Poses stay on the device: the vertex shader reads the buffers of a [`GpuCrowd`](posse::gpu::GpuCrowd).

#[cfg(test)]
mod allocation_tests;
mod arrangement;
mod bounds;
mod build;
mod camera;
mod canvas;
pub mod demo;
mod draw;
pub mod encode;
mod figure;
pub mod gltf;
mod image;
mod picture;
mod pipelines;
mod placement;
#[doc(hidden)]
pub mod probe;
mod record;
mod scene;
mod text;
mod textures;
mod view;

pub use self::{
    arrangement::Arrangement,
    bounds::{Bounds, crowd_bounds},
    camera::Camera,
    canvas::{Canvas, Target},
    draw::Renderer,
    figure::{
        Alpha, Figure, FigureProperty, Material, MaterialField, Mesh, MorphTarget, Mover, Part, PropertyRole, Texture,
        TextureTransform, Vertex, VertexColours, Wrap,
    },
    image::Image,
    picture::Picture,
    placement::{Placement, sunflower, tint},
    scene::{PoseBuffers, Scene, UploadedPoses, needed_outputs},
    view::{Background, Bones, Stage, View},
};
