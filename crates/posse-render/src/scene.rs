//! Scenes: draws of figures, and the buffers that hold their poses.

use crate::pipelines::Sides;
use crate::{Alpha, Figure, Mover};
use posse::GpuBatch;
use posse::OutputLayout;
use posse::{Outputs, SkeletonId};

/// Poses of instances of one skeleton, in buffers that the vertex shader reads without a copy.
#[derive(Debug, Clone, Copy)]
pub struct PoseBuffers<'a> {
    /// The skeleton of the instances.
    pub skeleton: SkeletonId,
    /// The index in the crowd of each instance, in the order of the buffers.
    pub instances: &'a [usize],
    /// The number of values per instance in each buffer.
    pub layout: &'a OutputLayout,
    /// Skin matrices, 48 bytes per joint of a skin.
    pub skin: Option<&'a wgpu::Buffer>,
    /// Model matrices, 48 bytes per joint.
    pub model: Option<&'a wgpu::Buffer>,
    /// Morph weights. Properties may follow the weights of an instance.
    pub values: Option<&'a wgpu::Buffer>,
}

impl<'a> From<&'a GpuBatch> for PoseBuffers<'a> {
    fn from(batch: &'a GpuBatch) -> Self {
        Self {
            skeleton: batch.skeleton(),
            instances: batch.instances(),
            layout: batch.layout(),
            skin: batch.skin(),
            model: batch.model(),
            values: batch.values(),
        }
    }
}

/// The outputs that figures are drawn from. With `bones`, model matrices are included.
pub fn needed_outputs(figures: &[Figure], bones: bool) -> Outputs {
    let mut outputs = Outputs { model: bones, ..Outputs::NONE };
    for (figure, part) in figures.iter().flat_map(|figure| figure.parts.iter().map(move |part| (figure, part))) {
        outputs.skin |= matches!(part.mover, Mover::Skin(_));
        outputs.model |= part.mover == Mover::Joint;
        outputs.weights |= !figure.meshes[part.mesh].targets.is_empty();
    }
    outputs
}

/// Figures and their instances on a device, ready to be drawn. See [`Renderer`](crate::Renderer) for a whole frame.
///
/// # Examples
/// ```
/// use posse_render::{Placement, PoseBuffers, Renderer, Scene, Target, needed_outputs};
/// use posse::{AdapterKind, Error, GpuContext, GpuCrowd, GpuLibrary, PackedLibrary, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// #     // Without a GPU adapter there is nothing to draw with.
/// #     match draw() {
/// #         Err(posse::Error::NoAdapter { .. }) => Ok(()),
/// #         result => result,
/// #     }
/// # }
/// #
/// # fn draw() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let crowd = demo::crowd(&library, 3)?;
/// let gpu = GpuContext::new(AdapterKind::Any)?;
/// let gpu_library = GpuLibrary::new(&gpu, PackedLibrary::new(&library)?)?;
/// let gpu_crowd = GpuCrowd::new(&gpu_library, &crowd, needed_outputs(&[], true))?;
/// let renderer = Renderer::new(&gpu.device, &gpu.queue, Target::default())?;
/// let poses = || gpu_crowd.batches().iter().map(PoseBuffers::from);
///
/// let scene = Scene::new(&renderer, &library, &[], poses(), &[Placement::default(); 3])?;
/// # drop(scene);
/// // Each instance needs a placement.
/// let refused = Scene::new(&renderer, &library, &[], poses(), &[Placement::default(); 2]);
/// assert!(matches!(refused, Err(Error::Usage(_))));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Scene {
    pub(super) draws: Vec<Draw>,
    pub(super) bones: Vec<BonesDraw>,
}

/// A draw of a mesh for all instances of a batch.
#[derive(Debug)]
pub(super) struct Draw {
    pub poses: wgpu::BindGroup,
    pub part: wgpu::BindGroup,
    pub vertices: wgpu::Buffer,
    pub indices: wgpu::Buffer,
    pub vertex_count: u32,
    pub index_count: u32,
    pub instance_count: u32,
    pub sides: Sides,
    pub alpha: Alpha,
}

/// A draw of the bones of all instances of a batch.
#[derive(Debug)]
pub(super) struct BonesDraw {
    pub poses: wgpu::BindGroup,
    pub part: wgpu::BindGroup,
    /// The number of bones of all instances together.
    pub count: u32,
}
