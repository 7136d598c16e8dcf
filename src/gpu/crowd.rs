//! A crowd on the GPU, and the buffers that its poses are written to.

use crate::error::Error;
use crate::gpu::library::{GpuLibrary, Scopes, filled_buffer, largest_binding, upload};
use crate::gpu::shader::{Kernel, MOTION_SIZE, VARIANTS, Variant};
use crate::model::crowd::Crowd;
use crate::model::id::SkeletonId;
use crate::model::outputs::Outputs;
use crate::model::step::Step;
use crate::pack::crowd::{Group, PackedCrowd};
use crate::pack::outputs::Layout;
use crate::pack::record::{self, Frame};

/// A crowd in GPU buffers, with room for its poses.
///
/// A crowd that merely plays needs nothing from frame to frame but [`encode`](Self::encode).
#[derive(Debug)]
pub struct GpuCrowd {
    chunks: Vec<Chunk>,
    frame: wgpu::Buffer,
    /// For each instance of the crowd its chunk and its place there.
    places: Vec<(u32, u32)>,
}

/// Instances of one skeleton whose outputs fit a binding each.
///
/// A crowd is one chunk for each of its skeletons, or several where a buffer would be larger than the device allows. The
/// buffers are laid out as [`pack::outputs`](crate::pack::outputs) says, instance after instance; an output that was not
/// asked for has none. They have the usages `STORAGE`, `VERTEX` and `COPY_SRC`, so that a vertex shader reads them as they are.
#[derive(Debug)]
pub struct Chunk {
    skeleton: SkeletonId,
    instances: Vec<usize>,
    layout: Layout,
    /// Local, model, skin, values, root motion.
    outputs: [Option<wgpu::Buffer>; 5],
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    workgroups: (u32, u32),
    /// What is run for root motion, where that is wanted.
    motion: Option<MotionPass>,
}

/// The root motion of a chunk's instances.
#[derive(Debug)]
struct MotionPass {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    workgroups: (u32, u32),
}

impl GpuCrowd {
    /// Uploads a crowd of the library's skeletons and clips, and makes room for its poses. Nothing is submitted.
    ///
    /// # Errors
    /// [`Error::Instance`] where the crowd does not fit the library; [`Error::Limit`] where one instance's outputs are
    /// larger than the device allows; [`Error::Device`] where its memory does not suffice.
    pub fn new(device: &wgpu::Device, library: &GpuLibrary, crowd: &Crowd, outputs: Outputs) -> Result<Self, Error> {
        let packed = PackedCrowd::new(&library.packing, crowd)?;
        let scopes = Scopes::push(device);
        let frame = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("posse frame"),
            size: size_of::<Frame>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut chunks = Vec::new();
        let mut failure = None;
        for group in &packed.groups {
            if let Err(error) = push_chunks(device, library, &packed, group, outputs, &frame, &mut chunks) {
                failure = Some(error);
                break;
            }
        }
        scopes.pop()?;
        if let Some(error) = failure {
            return Err(error);
        }
        let mut places = vec![(0, 0); packed.len()];
        for (chunk, number) in chunks.iter().zip(0..) {
            for (&instance, place) in chunk.instances.iter().zip(0..) {
                places[instance] = (number, place);
            }
        }
        Ok(Self { chunks, frame, places })
    }

    /// Records the poses of all instances at a time of the crowd's clock, or at the end of a step of it.
    ///
    /// It only records: nothing is submitted or waited for. What it uploads, the clock's 16 bytes, goes through the
    /// encoder, so that two frames in one submission do not disturb each other.
    pub fn encode(&self, device: &wgpu::Device, encoder: &mut wgpu::CommandEncoder, step: impl Into<Step>) {
        self.encode_timed(device, encoder, step, None);
    }

    /// As [`encode`](Self::encode), with the pass's begin and end written to a query set.
    pub fn encode_timed(
        &self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        step: impl Into<Step>,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites>,
    ) {
        let contents = Frame::new(step.into());
        let contents = bytemuck::bytes_of(&contents);
        // It fails where the device is lost. Nothing of what was recorded then runs, and who reads or waits is told.
        if let Ok(upload) = filled_buffer(device, "posse frame upload", contents, wgpu::BufferUsages::COPY_SRC) {
            encoder.copy_buffer_to_buffer(&upload, 0, &self.frame, 0, size_of::<Frame>() as u64);
        }
        let label = Some("posse pose");
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes });
        for chunk in &self.chunks {
            pass.set_pipeline(&chunk.pipeline);
            pass.set_bind_group(0, &chunk.bind_group, &[]);
            pass.dispatch_workgroups(chunk.workgroups.0, chunk.workgroups.1, 1);
        }
        for motion in self.chunks.iter().filter_map(|chunk| chunk.motion.as_ref()) {
            pass.set_pipeline(&motion.pipeline);
            pass.set_bind_group(0, &motion.bind_group, &[]);
            pass.dispatch_workgroups(motion.workgroups.0, motion.workgroups.1, 1);
        }
    }

    /// The chunks, skeleton after skeleton.
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// The chunk of an instance, and its place in the chunk's buffers.
    ///
    /// # Panics
    /// Where the crowd has no such instance.
    pub fn find(&self, instance: usize) -> (&Chunk, usize) {
        let (chunk, place) = self.places[instance];
        (&self.chunks[chunk as usize], place as usize)
    }
}

impl Chunk {
    /// The skeleton of all its instances.
    pub fn skeleton(&self) -> SkeletonId {
        self.skeleton
    }

    /// The crowd's index of each instance, in the order of the buffers.
    pub fn instances(&self) -> &[usize] {
        &self.instances
    }

    /// How many numbers an instance has in each buffer.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Local transforms: for each instance and joint 12 `f32`: translation xyz, 0, rotation xyzw, scale xyz, 0.
    pub fn local(&self) -> Option<&wgpu::Buffer> {
        self.outputs[0].as_ref()
    }

    /// Model matrices: for each instance and joint three rows of 4 `f32`.
    pub fn model(&self) -> Option<&wgpu::Buffer> {
        self.outputs[1].as_ref()
    }

    /// Skin matrices: for each instance, skin and joint of the skin three rows of 4 `f32`.
    pub fn skin(&self) -> Option<&wgpu::Buffer> {
        self.outputs[2].as_ref()
    }

    /// Morph weights and properties: for each instance those `f32` that are wanted, weights first.
    pub fn values(&self) -> Option<&wgpu::Buffer> {
        self.outputs[3].as_ref()
    }

    /// Root motions: for each instance 8 `f32`: translation xyz, then 1 where a layer's clip names a root and 0 where none
    /// does, and the rotation xyzw.
    pub fn root_motion(&self) -> Option<&wgpu::Buffer> {
        self.outputs[4].as_ref()
    }
}

/// Adds the chunks of a group of instances.
fn push_chunks(
    device: &wgpu::Device,
    library: &GpuLibrary,
    packed: &PackedCrowd,
    group: &Group,
    outputs: Outputs,
    frame: &wgpu::Buffer,
    chunks: &mut Vec<Chunk>,
) -> Result<(), Error> {
    let skeleton = &library.packing.skeletons[group.skeleton.index()].record;
    let layout = Layout::new(skeleton, outputs);
    let variant = Variant::for_joints(skeleton.joint_count);
    let in_storage = VARIANTS[variant].joint_capacity.is_none();
    let model_scratch = if in_storage { Layout::new(skeleton, Outputs::ALL).model } else { 0 };
    let [local, model, skin, values, root_motion] = layout.strides();
    let strides = [local, model.max(model_scratch), skin, values, root_motion];
    let layer_bytes = group.layer_count * size_of::<record::Layer>();
    let largest = strides.into_iter().map(|stride| 4 * stride).fold(layer_bytes, usize::max) as u64;
    let allowed = largest_binding(device);
    if largest > allowed {
        let what = format!("bytes of one instance of skeleton {}", group.skeleton.index());
        return Err(Error::Limit { what, needed: largest, allowed });
    }
    let kernel = if group.plain { Kernel::Plain } else { Kernel::Layers };
    let pipeline = library.pipeline(device, kernel, variant)?;
    let layer_count = group.layer_count as u32;
    let lane_count = VARIANTS[variant].lane_count(kernel, skeleton.joint_count, layer_count);
    let instances_per_group = VARIANTS[variant].workgroup_size / lane_count;
    let span_count = VARIANTS[variant].span_capacity(kernel) / (instances_per_group * layer_count);
    let groups_per_row = device.limits().max_compute_workgroups_per_dimension;
    let most_groups = u64::from(groups_per_row).pow(2);
    let least_per_group =
        if layout.root_motion > 0 { instances_per_group.min(MOTION_SIZE) } else { instances_per_group };
    let step = (allowed / largest).min(most_groups.saturating_mul(least_per_group.into()));
    let step = usize::try_from(step).unwrap_or(usize::MAX);
    for first in group.instances.clone().step_by(step) {
        let range = first..group.instances.end.min(first.saturating_add(step));
        let count = range.len();
        let first_layer = group.first_layer + (range.start - group.instances.start) * group.layer_count;
        let layers = &packed.layers[first_layer..][..count * group.layer_count];
        let layers = upload(device, "posse layers", bytemuck::cast_slice(layers))?;
        let batch = record::Batch {
            skeleton: *skeleton,
            instance_count: count as u32,
            lane_count,
            span_count: span_count.min(skeleton.timeline_count),
            groups_per_row,
            outputs: layout.bits(),
            first_value: layout.first_value as u32,
            value_count: layout.values as u32,
            layer_count,
        };
        let batch = filled_buffer(device, "posse batch", bytemuck::bytes_of(&batch), wgpu::BufferUsages::UNIFORM)?;
        let buffers = strides.map(|stride| output_buffer(device, 4 * (stride * count) as u64));
        let [local, model, skin, values, root_motion] = &buffers;
        let bound = [&library.words, &library.values, &layers, frame, &batch, local, model, skin, values];
        let entries: Vec<_> = (0..).zip(bound).map(|(binding, buffer)| entry(binding, buffer)).collect();
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("posse pose"),
            layout: &library.layout,
            entries: &entries,
        });
        let motion = match layout.root_motion {
            0 => None,
            _ => {
                let bound = [&library.words, &library.values, &layers, frame, &batch, root_motion];
                let entries: Vec<_> = (0..).zip(bound).map(|(binding, buffer)| entry(binding, buffer)).collect();
                let groups = (count as u32).div_ceil(MOTION_SIZE);
                Some(MotionPass {
                    pipeline: library.motion_pipeline(device)?,
                    bind_group: device.create_bind_group(&wgpu::BindGroupDescriptor {
                        label: Some("posse motion"),
                        layout: &library.motion_layout,
                        entries: &entries,
                    }),
                    workgroups: (groups.min(groups_per_row), groups.div_ceil(groups_per_row)),
                })
            }
        };
        let wanted = layout.strides();
        let mut index = 0;
        let outputs = buffers.map(|buffer| {
            index += 1;
            (wanted[index - 1] > 0).then_some(buffer)
        });
        let groups = (count as u32).div_ceil(instances_per_group);
        chunks.push(Chunk {
            skeleton: group.skeleton,
            instances: packed.order[range].to_vec(),
            layout,
            outputs,
            pipeline: pipeline.clone(),
            bind_group,
            workgroups: (groups.min(groups_per_row), groups.div_ceil(groups_per_row)),
            motion,
        });
    }
    Ok(())
}

fn output_buffer(device: &wgpu::Device, size: u64) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("posse output"),
        size: size.max(16),
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    })
}

fn entry(binding: u32, buffer: &wgpu::Buffer) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }
}
