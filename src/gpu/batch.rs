//! A batch on the GPU: instances of one skeleton that need the same mixing, with the buffers of their poses.

use crate::gpu::GpuLibrary;
use crate::gpu::kernels::{Dispatch, SidePass};
use crate::gpu::parameters::{BatchParameters, Drivers, Goals};
use crate::gpu::transitions::TransitionCapacity;
use crate::gpu::visible::VisibleList;
use crate::kernels::Pass;
use crate::model::{Mixing, Outputs, Pose, SkeletonId};
use crate::pack::{BatchCapacity, OutputLayout, OutputNumbers};

/// Instances of one skeleton that need the same mixing, with the buffers of their poses.
///
/// A crowd has one batch for each of its skeletons and each [`Mixing`] that instances of the skeleton need. A batch is
/// cut if a buffer would be larger than a binding of the device allows. [`layout`](Self::layout) describes the buffers,
/// which hold instance after instance; an output that was not requested has no buffer. The buffers have the usages
/// `STORAGE`, `VERTEX` and `COPY_SRC`, so that a vertex shader reads them without a copy.
#[derive(Debug)]
pub struct GpuBatch {
    pub(super) skeleton: SkeletonId,
    pub(super) instances: Vec<usize>,
    pub(super) layout: OutputLayout,
    pub(super) outputs: OutputBuffers,
    pub(super) visible: Option<VisibleList>,
    /// The pass of the root motion of all instances, visible or not.
    pub(super) root_motion_pass: Option<SidePass>,
    /// The name of the kernel that poses.
    pub(super) kernel: String,
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) bind_group: wgpu::BindGroup,
    pub(super) dispatch: Dispatch,
    pub(super) layers: wgpu::Buffer,
    pub(super) layer_count: u32,
    pub(super) mixing: Mixing,
    /// The parameters that layers and goals follow.
    pub(super) parameters: Option<BatchParameters>,
    /// The drivers of the layers, with the pass that drives them.
    pub(super) drivers: Option<(Drivers, SidePass)>,
    /// The pass that plays the layers.
    pub(super) play: SidePass,
    /// The goals of the instances, with the pass that reads their parameters.
    pub(super) goals: Option<Goals>,
    pub(super) transitions: Option<TransitionCapacity>,
    /// The lists of instances that are due, of displacements and of goals, if there are any.
    pub(super) lists: Option<wgpu::Buffer>,
}

/// The buffers of a batch, of the outputs that were requested.
#[derive(Debug)]
pub(super) struct OutputBuffers {
    pub local: Option<wgpu::Buffer>,
    pub model: Option<wgpu::Buffer>,
    pub skin: Option<wgpu::Buffer>,
    pub previous_skin: Option<wgpu::Buffer>,
    pub values: Option<wgpu::Buffer>,
    pub root_motion: Option<wgpu::Buffer>,
}

impl GpuBatch {
    /// The capacity of each instance.
    pub(super) fn capacity(&self) -> BatchCapacity {
        BatchCapacity {
            skeleton: self.skeleton,
            layers: self.layer_count as usize,
            mixing: self.mixing,
            drivers: self.drivers.is_some(),
            parameters: self.parameter_count(),
            goals: self.goals.as_ref().map_or(0, |goals| goals.count),
        }
    }

    /// Destroys the buffers.
    pub(super) fn destroy(&self) {
        let OutputBuffers { local, model, skin, previous_skin, values, root_motion } = &self.outputs;
        let outputs = [local, model, skin, previous_skin, values, root_motion].into_iter().flatten();
        let visible = self.visible.iter().flat_map(|visible| [&visible.list, &visible.workgroups]);
        let buffers = outputs.chain(visible).chain(&self.lists).chain([&self.layers]);
        buffers.for_each(wgpu::Buffer::destroy);
        if let Some(parameters) = &self.parameters {
            parameters.destroy();
        }
        if let Some((drivers, _)) = &self.drivers {
            drivers.destroy();
        }
        if let Some(goals) = &self.goals {
            goals.destroy();
        }
    }

    /// The kernel of a pass beside the poses, if the batch has one.
    pub(super) fn side_pass(&self, pass: Pass) -> Option<&SidePass> {
        match pass {
            Pass::Drive => self.drivers.as_ref().map(|(_, drive)| drive),
            Pass::Play => Some(&self.play),
            Pass::Goals => self.goals.as_ref().map(|goals| &goals.pass),
            Pass::RootMotion => self.root_motion_pass.as_ref(),
            Pass::Pose | Pass::CollectVisible | Pass::MeasureVisible | Pass::Events => None,
        }
    }

    /// The buffers that the kernels before the poses write, and the kernels of the poses read.
    pub(super) fn prepared(&self) -> impl Iterator<Item = &wgpu::Buffer> {
        [&self.layers].into_iter().chain(&self.lists)
    }

    /// Records the poses of all instances, or of the instances that are due.
    pub(super) fn pose(&self, pass: &mut wgpu::ComputePass, visible_only: bool) {
        pass.push_debug_group(&self.kernel);
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        match &self.visible {
            Some(visible) if visible_only => pass.dispatch_workgroups_indirect(&visible.workgroups, 0),
            _ => self.dispatch.record(pass),
        }
        pass.pop_debug_group();
    }

    /// The name of the kernel that poses, as in the debug groups that programs show which capture frames. It is the name
    /// of [`DeviceDispatch::kernel`](crate::kernels::DeviceDispatch::kernel), with `_packed` where the device packs half
    /// matrices.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// The skeleton of all instances of the batch.
    pub fn skeleton(&self) -> SkeletonId {
        self.skeleton
    }

    /// The index in the crowd of each instance, in the order of the buffers.
    pub fn instances(&self) -> &[usize] {
        &self.instances
    }

    /// The number of values per instance in each buffer.
    pub fn layout(&self) -> &OutputLayout {
        &self.layout
    }

    /// Local transforms: for each instance and joint 12 `f32`: translation xyz, 0, rotation xyzw, scale xyz, 0.
    pub fn local(&self) -> Option<&wgpu::Buffer> {
        self.outputs.local.as_ref()
    }

    /// Model matrices: for each instance and joint three rows of 4 `f32`.
    pub fn model(&self) -> Option<&wgpu::Buffer> {
        self.outputs.model.as_ref()
    }

    /// Skin matrices: for each instance, skin and joint of the skin three rows of 4 `f32`, or the words of another
    /// [`SkinFormat`](crate::SkinFormat). [`OutputLayout::skin_start`] returns the position of each skin.
    pub fn skin(&self) -> Option<&wgpu::Buffer> {
        self.outputs.skin.as_ref()
    }

    /// Morph weights and properties: for each instance the requested `f32`, weights first.
    pub fn values(&self) -> Option<&wgpu::Buffer> {
        self.outputs.values.as_ref()
    }

    /// Root motions of all instances, visible or not. Each is 8 `f32`: translation xyz, then 1 if the clip of a layer
    /// names a root and 0 otherwise, and the rotation xyzw.
    ///
    /// They are in the space of the root joint's parent, not in the space of the instance. A shader that moves
    /// instances by them turns them with the matrix that [`RootMotion::space`](crate::root_motion::RootMotion::space)
    /// returns, as [`Motion::in_space`](crate::root_motion::Motion::in_space) does.
    pub fn root_motion(&self) -> Option<&wgpu::Buffer> {
        self.outputs.root_motion.as_ref()
    }

    /// The parameters of the instances, which drive times and weights of layers, and move the targets of goals; `None`
    /// if the batch has none.
    ///
    /// For each instance, by its slot, [`parameter_count`](Self::parameter_count) `f32`: parameter `p` of slot `s` is
    /// the number `s * parameter_count + p`. The buffer has the usages `STORAGE`, `COPY_DST` and `COPY_SRC`, so that a
    /// kernel of the caller can write it in each frame, before [`GpuCrowd::encode`](crate::gpu::GpuCrowd::encode) is
    /// recorded. It begins with the values at tick 0 of the parameters of the crowd. A number that is not one (NaN)
    /// counts as 0.
    pub fn parameters(&self) -> Option<&wgpu::Buffer> {
        self.parameters.as_ref().and_then(BatchParameters::now)
    }

    /// The number of parameters per instance in [`parameters`](Self::parameters).
    pub fn parameter_count(&self) -> usize {
        self.parameters.as_ref().map_or(0, |parameters| parameters.count)
    }

    /// The contents of [`skin`](Self::skin) before the last frame, in the same layout, for motion vectors. `None`
    /// unless [`CrowdOptions::previous_skin`](crate::CrowdOptions::previous_skin) and skin matrices were requested.
    ///
    /// A frame that is a step from one tick to another first copies the present skin matrices here, whatever their
    /// tick. A frame whose step goes nowhere (the first frame, or a frame after a cut) copies the new skin matrices
    /// here, so that nothing moves. An instance that a frame does not pose, because it is not listed or not due, stands
    /// still: both buffers hold the same matrices. When it is posed again, it moves from its last pose, however old.
    /// Each recording counts as a frame.
    pub fn previous_skin(&self) -> Option<&wgpu::Buffer> {
        self.outputs.previous_skin.as_ref()
    }

    /// The list of visible instances, which a culling pass fills; `None` unless
    /// [`CrowdOptions::visible`](crate::CrowdOptions::visible) was requested.
    ///
    /// The list is a `u32`, the number of entries, and from byte 4 on that many
    /// [`VisibleInstance`](crate::pack::record::VisibleInstance)s of three `u32`: the slot of the instance in the
    /// batch, the number of joints that are sampled, level by level from the roots (`0xffffffff`: all), and the update
    /// interval in frames (0 and 1: each frame). It has capacity for as many entries as the batch has instances; a
    /// greater number counts as that many. It has the usages `STORAGE`, `COPY_DST` and `COPY_SRC`, begins empty, and
    /// keeps its contents from frame to frame.
    pub fn visible(&self) -> Option<&wgpu::Buffer> {
        self.visible.as_ref().map(|visible| &visible.list)
    }
}

impl GpuLibrary {
    /// The pose of an instance of a batch, by its place among those read back. `outputs` are the outputs that the crowd
    /// was made for.
    ///
    /// # Panics
    /// If `numbers` has fewer instances.
    pub fn pose(&self, batch: &GpuBatch, numbers: &OutputNumbers, place: usize, outputs: Outputs) -> Pose {
        numbers.pose(&self.packed.skeletons[batch.skeleton().index()], batch.layout(), place, outputs)
    }
}
