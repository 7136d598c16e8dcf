//! Figures on the device: what is drawn, and the buffers that say how it stands.

use crate::gpu::GpuBatch;
use crate::model::{Outputs, SkeletonId};
use crate::pack::OutputLayout;
use crate::render::pipelines::Sides;
use crate::render::{Alpha, Figure, Mover};

/// Poses of instances of one skeleton, in buffers that the vertex shader reads as they are.
#[derive(Debug, Clone, Copy)]
pub struct PoseBuffers<'a> {
    /// Their skeleton.
    pub skeleton: SkeletonId,
    /// The crowd's index of each instance, in the order of the buffers.
    pub instances: &'a [usize],
    /// How many numbers an instance has in each buffer.
    pub layout: &'a OutputLayout,
    /// Skin matrices.
    pub skin: Option<&'a wgpu::Buffer>,
    /// Model matrices.
    pub model: Option<&'a wgpu::Buffer>,
    /// Morph weights, without properties after them or with.
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

/// The outputs that figures are drawn from; model matrices among them where bones are wanted.
pub fn needed_outputs(figures: &[Figure], bones: bool) -> Outputs {
    let mut outputs = Outputs { model: bones, ..Outputs::NONE };
    for (figure, part) in figures.iter().flat_map(|figure| figure.parts.iter().map(move |part| (figure, part))) {
        outputs.skin |= matches!(part.mover, Mover::Skin(_));
        outputs.model |= part.mover == Mover::Joint;
        outputs.weights |= !figure.meshes[part.mesh].targets.is_empty();
    }
    outputs
}

/// A scene on a device: figures, and the instances that they are of.
#[derive(Debug)]
pub struct Scene {
    pub(super) draws: Vec<Draw>,
    pub(super) bones: Vec<BonesDraw>,
}

/// A mesh, as often as a batch has instances.
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

/// The bones of a batch's instances.
#[derive(Debug)]
pub(super) struct BonesDraw {
    pub poses: wgpu::BindGroup,
    pub part: wgpu::BindGroup,
    /// Bones of all instances together.
    pub count: u32,
}
