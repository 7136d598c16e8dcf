//! Scenes: draws of figures, and the buffers that hold their poses.

use glam::DAffine3;
use posse::gpu::{DeviceAndQueue, GpuBatch};
use posse::low_level::device::{Scopes, check_device, filled_buffer};
use posse::packed::OutputLayout;
use posse::{Error, Outputs, Pose, Poses, SkeletonId};
use wgpu::BufferUsages as Usages;

use crate::{Alpha, Figure, Mover};

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
    /// Morph weights, then properties. Without properties, each instance has the visibility and the materials of its
    /// figure.
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
        outputs.model |= !matches!(part.mover, Mover::Skin(_));
        outputs.weights |= !figure.meshes[part.mesh].targets.is_empty();
    }
    outputs.properties = figures.iter().any(|figure| !figure.properties.is_empty());
    outputs
}

/// Figures and their instances on a device, ready to be drawn. See [`Renderer`](crate::Renderer) for a whole frame.
///
/// # Examples
/// ```
/// use posse_render::{Placement, PoseBuffers, Renderer, Scene, Target, needed_outputs};
/// use posse::gpu::{AdapterKind, GpuContext, GpuCrowd, GpuLibrary};
/// use posse::{Error, demo};
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
/// let gpu_library = GpuLibrary::new(&gpu, &library)?;
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
    /// `true` if the device may leave out clockwise triangles: the fragment shader has no back or mirrored triangle to
    /// decide on.
    pub culled: bool,
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

/// Poses of instances of one skeleton in their own buffers, with the layout of a batch of a crowd.
#[derive(Debug)]
pub struct UploadedPoses<'a> {
    like: PoseBuffers<'a>,
    /// The buffers of skin matrices, model matrices and values, in this order.
    buffers: [Option<wgpu::Buffer>; 3],
}

impl<'a> UploadedPoses<'a> {
    /// Uploads the poses of the instances of a batch, found by their index in the crowd. The buffers have the layout of
    /// the instances of the batch.
    ///
    /// # Errors
    /// [`Error::Usage`] if a pose is missing or lacks an output that the batch has; [`Error::Device`] if the device has
    /// too little memory.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new<'g>(gpu: impl Into<DeviceAndQueue<'g>>, like: PoseBuffers<'a>, poses: &Poses) -> Result<Self, Error> {
        pollster::block_on(Self::new_async(gpu, like, poses))
    }

    /// As `new`, for a browser.
    ///
    /// # Errors
    /// The errors of `new`.
    pub async fn new_async<'g>(
        gpu: impl Into<DeviceAndQueue<'g>>,
        like: PoseBuffers<'a>,
        poses: &Poses,
    ) -> Result<Self, Error> {
        let gpu = gpu.into();
        let skin = |pose: &Pose| pose.skins.iter().flatten().flat_map(rows).collect();
        let model = |pose: &Pose| pose.model.iter().flat_map(rows).collect();
        let values = |pose: &Pose| pose.weights.iter().chain(&pose.properties).map(|&value| value as f32).collect();
        let scopes = Scopes::push(gpu.device);
        let buffers = [
            like.skin.map(|_| fill(gpu, &like, like.layout.skin, poses, skin)).transpose(),
            like.model.map(|_| fill(gpu, &like, like.layout.model, poses, model)).transpose(),
            like.values.map(|_| fill(gpu, &like, like.layout.values, poses, values)).transpose(),
        ];
        scopes.pop().await?;
        check_device(gpu.device).await?;
        let [skin, model, values] = buffers;
        Ok(Self { like, buffers: [skin?, model?, values?] })
    }

    /// The buffers.
    pub fn buffers(&self) -> PoseBuffers<'_> {
        let [skin, model, values] = self.buffers.each_ref().map(Option::as_ref);
        PoseBuffers { skin, model, values, ..self.like }
    }
}

/// A buffer with `stride` numbers per pose, in the order of the instances of `like`.
fn fill(
    gpu: DeviceAndQueue,
    like: &PoseBuffers,
    stride: usize,
    poses: &Poses,
    numbers: impl Fn(&Pose) -> Vec<f32>,
) -> Result<wgpu::Buffer, Error> {
    let mut all = Vec::with_capacity(stride * like.instances.len());
    for &instance in like.instances {
        let numbers = poses.instances.get(instance).map(&numbers).unwrap_or_default();
        if numbers.len() != stride {
            let found = numbers.len();
            return Err(Error::Usage(format!(
                "the pose of instance {instance} has {found} numbers, but the batch has {stride}; evaluate \
                 the poses with the outputs of the batch"
            )));
        }
        all.extend(numbers);
    }
    Ok(filled_buffer(gpu, "poses", bytemuck::cast_slice(&all), Usages::STORAGE))
}

/// The three rows of a matrix. The last number of each row is the translation.
fn rows(matrix: &DAffine3) -> [f32; 12] {
    let [x, y, z] = [matrix.matrix3.x_axis, matrix.matrix3.y_axis, matrix.matrix3.z_axis];
    let row = |axis: usize| [x[axis], y[axis], z[axis], matrix.translation[axis]].map(|number| number as f32);
    let [a, b, c] = [row(0), row(1), row(2)];
    [a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3], c[0], c[1], c[2], c[3]]
}
