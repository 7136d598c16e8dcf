//! Instances of one skeleton that are mixed alike, on the GPU, with the buffers that their poses are written to.

use wgpu::BufferUsages as Usages;

use crate::error::Error;
use crate::gpu::buffers::{filled_buffer, largest_binding};
use crate::gpu::kernels::{bind_group, workgroups};
use crate::gpu::motion::Motion;
use crate::gpu::plan::{Kernel, Plan, VARIANTS};
use crate::gpu::shader::MOTION_WORKGROUP_SIZE;
use crate::gpu::visible::VisibleList;
use crate::gpu::{CrowdOptions, GpuLibrary, KernelForm, LayersOutcome};
use crate::model::{Layer as ModelLayer, Mixing, Outputs, SkeletonId, SkinFormat};
use crate::pack::record::{BatchRecord, LayerRecord};
use crate::pack::{OutputLayout, PackedBatch, PackedCrowd};

/// Instances of one skeleton whose outputs fit a binding each.
///
/// A crowd is one batch for each of its skeletons and each [`Mixing`] that instances of it need, or several where a buffer
/// would be larger than the device allows. The buffers are laid out as [`pack::outputs`](crate::pack::outputs) says, instance
/// after instance; an output that was not asked for has none. They have the usages `STORAGE`, `VERTEX` and `COPY_SRC`, so that
/// a vertex shader reads them as they are.
#[derive(Debug)]
pub struct GpuBatch {
    skeleton: SkeletonId,
    instances: Vec<usize>,
    layout: OutputLayout,
    /// Local, model, skin, values, root motion.
    outputs: [Option<wgpu::Buffer>; 5],
    previous_skin: Option<wgpu::Buffer>,
    pub(super) visible: Option<VisibleList>,
    motion: Option<Motion>,
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    workgroups: (u32, u32),
    layers: wgpu::Buffer,
    layer_count: u32,
    mixing: Mixing,
    form: KernelForm,
}

impl GpuBatch {
    /// What stands in the way of layers for an instance, if anything.
    pub(super) fn refusal(&self, instance: usize, layers: &[ModelLayer]) -> Option<LayersOutcome> {
        let (needed, room) = (layers.len(), self.layer_count as usize);
        if needed > room {
            return Some(LayersOutcome::MoreLayers { instance, needed, room });
        }
        let (needed, room) = (Mixing::of(layers), self.mixing);
        (needed > room).then_some(LayersOutcome::MoreMixing { instance, needed, room })
    }

    /// Records the poses of all instances, or of those that are due.
    pub(super) fn record(&self, pass: &mut wgpu::ComputePass, visible_only: bool) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        match &self.visible {
            Some(visible) if visible_only => pass.dispatch_workgroups_indirect(&visible.workgroups, 0),
            _ => pass.dispatch_workgroups(self.workgroups.0, self.workgroups.1, 1),
        }
        if let Some(motion) = &self.motion {
            motion.record(pass);
        }
    }

    /// The skeleton of all its instances.
    pub fn skeleton(&self) -> SkeletonId {
        self.skeleton
    }

    /// The crowd's index of each instance, in the order of the buffers.
    pub fn instances(&self) -> &[usize] {
        &self.instances
    }

    /// The form of the kernel that poses its instances: not always that of the library, of which some may be too much for one
    /// lane.
    pub fn form(&self) -> KernelForm {
        self.form
    }

    /// How many numbers an instance has in each buffer.
    pub fn layout(&self) -> &OutputLayout {
        &self.layout
    }

    /// The layers' records, and how many an instance has.
    pub(super) fn layers(&self) -> (&wgpu::Buffer, u32) {
        (&self.layers, self.layer_count)
    }

    /// Local transforms: for each instance and joint 12 `f32`: translation xyz, 0, rotation xyzw, scale xyz, 0.
    pub fn local(&self) -> Option<&wgpu::Buffer> {
        self.outputs[0].as_ref()
    }

    /// Model matrices: for each instance and joint three rows of 4 `f32`.
    pub fn model(&self) -> Option<&wgpu::Buffer> {
        self.outputs[1].as_ref()
    }

    /// Skin matrices: for each instance, skin and joint of the skin three rows of 4 `f32`, or what their
    /// [`SkinFormat`] says. Where each skin's begin, [`OutputLayout::skin_start`] says.
    pub fn skin(&self) -> Option<&wgpu::Buffer> {
        self.outputs[2].as_ref()
    }

    /// Morph weights and properties: for each instance those `f32` that are wanted, weights first.
    pub fn values(&self) -> Option<&wgpu::Buffer> {
        self.outputs[3].as_ref()
    }

    /// Root motions: for each instance 8 `f32`: translation xyz, then 1 where a layer's clip names a root and 0 where none
    /// does, and the rotation xyzw. They are those of all instances, visible or not.
    ///
    /// They are in the space of the root joint's parent, not in the instance's: a shader that moves instances by them turns
    /// them with the matrix that [`RootMotion::space`](crate::RootMotion::space) gives, as
    /// [`Motion::in_space`](crate::Motion::in_space) does.
    pub fn root_motion(&self) -> Option<&wgpu::Buffer> {
        self.outputs[4].as_ref()
    }

    /// What [`skin`](Self::skin) held before the last frame, laid out as it is: what motion vectors are measured from. `None`
    /// where it was not asked for, or skin matrices were not.
    ///
    /// A frame that is a step from one tick to another first copies here what the skin matrices are, whatever tick that was
    /// of; a frame whose step goes nowhere, as the first does and one after a cut, copies here what they have become, so that
    /// nothing moves. An instance that a frame does not pose, since it is not listed or not due, stands still: both hold the
    /// same. When it is posed again, it moves from the pose that it last had, however old. Each recording counts as a frame.
    pub fn previous_skin(&self) -> Option<&wgpu::Buffer> {
        self.previous_skin.as_ref()
    }

    /// The list of the instances that are visible, for a culling pass to fill; `None` where it was not asked for.
    ///
    /// A `u32`, the number of entries, and from byte 4 on that many
    /// [`VisibleInstance`](crate::pack::record::VisibleInstance)s of three `u32`: the instance's slot in the
    /// batch, how many joints are sampled, level by level from the roots (`0xffffffff`: all), and every how many frames it is
    /// posed (0 and 1: each). There is room for as many entries as the batch has instances; a greater
    /// number counts as that many. It has the usages `STORAGE`, `COPY_DST` and `COPY_SRC`, begins with nobody listed, and
    /// keeps what it holds from frame to frame.
    pub fn visible(&self) -> Option<&wgpu::Buffer> {
        self.visible.as_ref().map(|visible| &visible.list)
    }
}

/// The batches of a batch of instances, whose frame is a uniform of this buffer.
pub(super) fn batches_of(
    device: &wgpu::Device,
    library: &GpuLibrary,
    packed: &PackedCrowd,
    batch: &PackedBatch,
    outputs: Outputs,
    (frame, options): (&wgpu::Buffer, CrowdOptions),
) -> Result<Vec<GpuBatch>, Error> {
    let mut batches = Vec::new();
    let skeleton = &library.packing.skeletons[batch.skeleton.index()].record;
    let layout = OutputLayout::new(skeleton, outputs);
    let layer_count = batch.layer_count as u32;
    // Where no skin matrix is written, any format's kernel will do, and that in full is there.
    let skin_format = if layout.skin > 0 { layout.skin_format } else { SkinFormat::Matrix };
    let plan = Plan { skin_format, ..Plan::new(library.form(), Kernel::of(batch.mixing), skeleton, layer_count) };
    let variant = &VARIANTS[plan.variant];
    let model_scratch =
        if variant.joint_capacity.is_none() { OutputLayout::new(skeleton, Outputs::ALL).model } else { 0 };
    let [local, model, skin, values, root_motion] = layout.strides();
    let strides = [local, model.max(model_scratch), skin, values, root_motion];
    let layer_bytes = batch.layer_count * size_of::<LayerRecord>();
    let largest = strides.into_iter().map(|stride| 4 * stride).fold(layer_bytes, usize::max) as u64;
    let allowed = largest_binding(device);
    if largest > allowed {
        let what = format!("bytes of one instance of skeleton {}", batch.skeleton.index());
        return Err(Error::Limit { what, needed: largest, allowed });
    }
    let pipeline = library.pipeline(device, &plan)?;
    let instances_per_group = plan.instances_per_group;
    let groups_per_row = device.limits().max_compute_workgroups_per_dimension;
    let most_groups = u64::from(groups_per_row).pow(2);
    let least_per_group =
        if layout.root_motion > 0 { instances_per_group.min(MOTION_WORKGROUP_SIZE) } else { instances_per_group };
    let step = (allowed / largest).min(most_groups.saturating_mul(least_per_group.into()));
    let step = usize::try_from(step).unwrap_or(usize::MAX);
    for first in batch.instances.clone().step_by(step) {
        let range = first..batch.instances.end.min(first.saturating_add(step));
        let count = range.len();
        let first_layer = batch.first_layer + (range.start - batch.instances.start) * batch.layer_count;
        let layers = &packed.layers[first_layer..][..count * batch.layer_count];
        let usage = Usages::STORAGE | Usages::COPY_DST;
        let layers = filled_buffer(device, "posse layers", bytemuck::cast_slice(layers), usage)?;
        let record = BatchRecord {
            skeleton: *skeleton,
            instance_count: count as u32,
            lane_count: plan.lane_count,
            span_count: plan.span_count,
            groups_per_row,
            outputs: layout.bits(),
            first_value: layout.first_value as u32,
            value_count: layout.values as u32,
            layer_count,
            instances_per_group,
        };
        let record = filled_buffer(device, "posse batch", bytemuck::bytes_of(&record), Usages::UNIFORM)?;
        let buffers = strides.map(|stride| output_buffer(device, 4 * (stride * count) as u64, Usages::empty()));
        let visible = match options.visible {
            true => Some(VisibleList::new(device, library, frame, &record, count as u32)?),
            false => None,
        };
        // Where nobody asks who is due, anything may be bound.
        let due = visible.as_ref().map_or(&library.words, |visible| &visible.due);
        let [local, model, skin, values, root_motion] = &buffers;
        let motion = match layout.root_motion {
            0 => None,
            _ => Some(Motion::new(device, library, [&layers, frame, &record, root_motion], count as u32)?),
        };
        let bound = [&library.words, &library.values, &layers, frame, &record, local, model, skin, values, due];
        let bind_group = bind_group(device, &library.layout, &bound);
        let wanted = layout.strides();
        let previous_size = (options.previous_skin && layout.skin > 0).then_some(skin.size());
        let previous_skin = previous_size.map(|size| output_buffer(device, size, Usages::COPY_DST));
        let mut index = 0;
        let outputs = buffers.map(|buffer| {
            index += 1;
            (wanted[index - 1] > 0).then_some(buffer)
        });
        let groups = (count as u32).div_ceil(instances_per_group);
        batches.push(GpuBatch {
            skeleton: batch.skeleton,
            instances: packed.order[range].to_vec(),
            layout,
            outputs,
            previous_skin,
            visible,
            pipeline: pipeline.clone(),
            bind_group,
            workgroups: workgroups(groups, groups_per_row),
            layers,
            layer_count,
            mixing: batch.mixing,
            form: variant.form,
            motion,
        });
    }
    Ok(batches)
}

fn output_buffer(device: &wgpu::Device, size: u64, more: Usages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("posse output"),
        size: size.max(16),
        usage: Usages::STORAGE | Usages::VERTEX | Usages::COPY_SRC | more,
        mapped_at_creation: false,
    })
}
