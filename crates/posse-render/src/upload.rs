//! Poses of any engine, uploaded into buffers like those of the GPU engine.

use glam::DAffine3;
use wgpu::BufferUsages as Usages;

use crate::PoseBuffers;
use posse::DeviceAndQueue;
use posse::Error;
use posse::low_level::device::{Scopes, check_device, filled_buffer};
use posse::{Pose, Poses};

/// Poses of instances of one skeleton in their own buffers, with the layout of a batch of a crowd.
#[derive(Debug)]
pub struct UploadedPoses<'a> {
    like: PoseBuffers<'a>,
    /// The buffers of skin matrices, model matrices and values, in this order.
    buffers: [Option<wgpu::Buffer>; 3],
}

impl<'a> UploadedPoses<'a> {
    /// Uploads the poses of the instances of a batch, found by their index in the crowd. The buffers have the layout of those of
    /// the batch.
    ///
    /// # Errors
    /// [`Error::Usage`] if a pose is missing or lacks an output that the batch has; [`Error::Device`] if the device has too little
    /// memory.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new<'g>(gpu: impl Into<DeviceAndQueue<'g>>, like: PoseBuffers<'a>, poses: &Poses) -> Result<Self, Error> {
        pollster::block_on(Self::new_async(gpu, like, poses))
    }

    /// As `new`, for a browser.
    ///
    /// # Errors
    /// Those of `new`.
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
