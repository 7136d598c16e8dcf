//! A crowd on the GPU, and the buffers that its poses are written to.

use wgpu::BufferUsages as Usages;

use crate::error::Error;
use crate::gpu::library::{GpuLibrary, Scopes, bind_group, filled_buffer, largest_binding, upload};
use crate::gpu::motion::Motion;
use crate::gpu::seen::Seen;
use crate::gpu::shader::{Kernel, MOTION_WORKGROUP_SIZE, VARIANTS, Variant};
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
    options: CrowdOptions,
}

/// What a crowd on the GPU is made for, beyond posing all instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CrowdOptions {
    /// Lists of the instances that are seen: see [`Chunk::seen`] and [`GpuCrowd::encode_seen`].
    pub seen: bool,
    /// The skin matrices of the frame before: see [`Chunk::previous_skin`].
    pub previous_skin: bool,
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
    previous_skin: Option<wgpu::Buffer>,
    pub(super) seen: Option<Seen>,
    motion: Option<Motion>,
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    workgroups: (u32, u32),
    layers: wgpu::Buffer,
    layer_count: u32,
}

impl GpuCrowd {
    /// Uploads a crowd of the library's skeletons and clips, and makes room for its poses. Nothing is submitted.
    ///
    /// # Errors
    /// [`Error::Instance`] where the crowd does not fit the library; [`Error::Limit`] where one instance's outputs are
    /// larger than the device allows; [`Error::Device`] where its memory does not suffice.
    pub fn new(device: &wgpu::Device, library: &GpuLibrary, crowd: &Crowd, outputs: Outputs) -> Result<Self, Error> {
        Self::with_options(device, library, crowd, outputs, CrowdOptions::default())
    }

    /// As [`new`](Self::new), for a crowd that is made for more.
    ///
    /// # Errors
    /// As those of [`new`](Self::new).
    pub fn with_options(
        device: &wgpu::Device,
        library: &GpuLibrary,
        crowd: &Crowd,
        outputs: Outputs,
        options: CrowdOptions,
    ) -> Result<Self, Error> {
        let packed = PackedCrowd::new(&library.packing, crowd)?;
        let scopes = Scopes::push(device);
        let frame = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("posse frame"),
            size: size_of::<Frame>() as u64,
            usage: Usages::UNIFORM | Usages::COPY_DST,
            mapped_at_creation: false,
        });
        let places = vec![(0, 0); packed.len()];
        let mut on_gpu = Self { chunks: Vec::new(), frame, places, options };
        let mut failure = None;
        for group in &packed.groups {
            if let Err(error) = push_chunks(device, library, &packed, group, outputs, &mut on_gpu) {
                failure = Some(error);
                break;
            }
        }
        scopes.pop()?;
        if let Some(error) = failure {
            return Err(error);
        }
        for (chunk, number) in on_gpu.chunks.iter().zip(0..) {
            for (&instance, place) in chunk.instances.iter().zip(0..) {
                on_gpu.places[instance] = (number, place);
            }
        }
        Ok(on_gpu)
    }

    /// Records the poses of all instances at a time of the crowd's clock, or at the end of a step of it.
    ///
    /// It only records: nothing is submitted or waited for. What it uploads, the 32 bytes of a [`Frame`], goes through the
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
        self.record(device, encoder, Frame::new(step.into()), timestamp_writes);
    }

    /// As [`encode`](Self::encode), of those instances only that are listed in [`Chunk::seen`] and due. The others keep what
    /// their places in the outputs held.
    ///
    /// Who is listed, the GPU decides: nothing depends on the list before the recorded work runs. A listed instance is due
    /// where its place and `frame_number`, which counts frames and wraps, add up to a multiple of the entry's divider. Listed
    /// several times, it is posed once, as the due entry with the most joints says. A crowd that was made without lists poses
    /// all instances.
    pub fn encode_seen(
        &self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        step: impl Into<Step>,
        frame_number: u32,
    ) {
        let step = step.into();
        let frame = if self.options.seen { Frame::seen(step, frame_number) } else { Frame::new(step) };
        self.record(device, encoder, frame, None);
    }

    fn record(
        &self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        frame: Frame,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites>,
    ) {
        let contents = bytemuck::bytes_of(&frame);
        // It fails where the device is lost. Nothing of what was recorded then runs, and who reads or waits is told.
        if let Ok(upload) = filled_buffer(device, "posse frame upload", contents, Usages::COPY_SRC) {
            encoder.copy_buffer_to_buffer(&upload, 0, &self.frame, 0, size_of::<Frame>() as u64);
        }
        let step = frame.step();
        let cut = step.from == step.to;
        if !cut {
            self.keep_skins(encoder);
        }
        let seen_only = frame.seen_only == 1;
        let lists = || self.chunks.iter().filter_map(|chunk| chunk.seen.as_ref()).filter(|_| seen_only);
        lists().for_each(|seen| seen.clear(encoder));
        let label = Some("posse pose");
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes });
        lists().for_each(|seen| seen.collect(&mut pass));
        for chunk in &self.chunks {
            pass.set_pipeline(&chunk.pipeline);
            pass.set_bind_group(0, &chunk.bind_group, &[]);
            match &chunk.seen {
                Some(seen) if seen_only => pass.dispatch_workgroups_indirect(&seen.workgroups, 0),
                _ => pass.dispatch_workgroups(chunk.workgroups.0, chunk.workgroups.1, 1),
            }
        }
        for motion in self.chunks.iter().filter_map(|chunk| chunk.motion.as_ref()) {
            motion.record(&mut pass);
        }
        drop(pass);
        if cut {
            self.keep_skins(encoder);
        }
    }

    /// Records that the present skin matrices become the previous ones.
    fn keep_skins(&self, encoder: &mut wgpu::CommandEncoder) {
        for chunk in &self.chunks {
            if let (Some(skin), Some(previous)) = (chunk.skin(), chunk.previous_skin()) {
                encoder.copy_buffer_to_buffer(skin, 0, previous, 0, skin.size());
            }
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

    /// Skin matrices: for each instance, skin and joint of the skin three rows of 4 `f32`.
    pub fn skin(&self) -> Option<&wgpu::Buffer> {
        self.outputs[2].as_ref()
    }

    /// Morph weights and properties: for each instance those `f32` that are wanted, weights first.
    pub fn values(&self) -> Option<&wgpu::Buffer> {
        self.outputs[3].as_ref()
    }

    /// Root motions: for each instance 8 `f32`: translation xyz, then 1 where a layer's clip names a root and 0 where none
    /// does, and the rotation xyzw. They are those of all instances, seen or not.
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

    /// The list of the instances that are seen, for a culling pass to fill; `None` where it was not asked for.
    ///
    /// A `u32`, the number of entries, and from byte 4 on that many [`SeenEntry`](record::SeenEntry)s of three `u32`: the
    /// instance's place in the chunk, how many joints are sampled, level by level from the roots (`0xffffffff`: all), and every
    /// how many frames it is posed (0 and 1: each). There is room for as many entries as the chunk has instances; a greater
    /// number counts as that many. It has the usages `STORAGE`, `COPY_DST` and `COPY_SRC`, begins with nobody listed, and
    /// keeps what it holds from frame to frame.
    pub fn seen(&self) -> Option<&wgpu::Buffer> {
        self.seen.as_ref().map(|seen| &seen.list)
    }
}

/// Adds the chunks of a group of instances to a crowd.
fn push_chunks(
    device: &wgpu::Device,
    library: &GpuLibrary,
    packed: &PackedCrowd,
    group: &Group,
    outputs: Outputs,
    crowd: &mut GpuCrowd,
) -> Result<(), Error> {
    let GpuCrowd { chunks, frame, options, .. } = crowd;
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
        if layout.root_motion > 0 { instances_per_group.min(MOTION_WORKGROUP_SIZE) } else { instances_per_group };
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
            instances_per_group,
        };
        let batch = filled_buffer(device, "posse batch", bytemuck::bytes_of(&batch), Usages::UNIFORM)?;
        let buffers = strides.map(|stride| output_buffer(device, 4 * (stride * count) as u64, Usages::empty()));
        let seen = match options.seen {
            true => Some(Seen::new(device, library, frame, &batch, count as u32)?),
            false => None,
        };
        // Where nobody asks who is due, anything may be bound.
        let due = seen.as_ref().map_or(&library.words, |seen| &seen.due);
        let [local, model, skin, values, root_motion] = &buffers;
        let motion = match layout.root_motion {
            0 => None,
            _ => Some(Motion::new(device, library, [&layers, frame, &batch, root_motion], count as u32)?),
        };
        let bound = [&library.words, &library.values, &layers, frame, &batch, local, model, skin, values, due];
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
        chunks.push(Chunk {
            skeleton: group.skeleton,
            instances: packed.order[range].to_vec(),
            layout,
            outputs,
            previous_skin,
            seen,
            pipeline: pipeline.clone(),
            bind_group,
            workgroups: (groups.min(groups_per_row), groups.div_ceil(groups_per_row)),
            layers,
            layer_count,
            motion,
        });
    }
    Ok(())
}

fn output_buffer(device: &wgpu::Device, size: u64, more: Usages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("posse output"),
        size: size.max(16),
        usage: Usages::STORAGE | Usages::VERTEX | Usages::COPY_SRC | more,
        mapped_at_creation: false,
    })
}
