//! Creates the batches on the GPU from packed batches, cut if a buffer or a dispatch would exceed the limits of the
//! device.

use std::ops::Range;

use wgpu::BufferUsages as Usages;

use crate::error::Error;
use crate::gpu::adapter::is_hardware;
use crate::gpu::batch::OutputBuffers;
use crate::gpu::kernels::{Dispatch, SideKernel, SidePass, VisibleKernels, bind_group, device_limits};
use crate::gpu::parameters::{BatchParameters, Drivers, GoalBuffers, Goals};
use crate::gpu::transitions::TransitionCapacity;
use crate::gpu::visible::VisibleList;
use crate::gpu::{DeviceAndQueue, GpuBatch, GpuLibrary, create_buffer, filled_buffer};
use crate::kernels::{BatchPlan, Buffer, Counts, DeviceLimits, Pass, kernel_name};
use crate::model::{Outputs, ParameterValues, Ticks};
use crate::pack::record::NONE;
use crate::pack::{CrowdOptions, PackedBatch, PackedCrowd};

/// The crowd whose batches are created.
pub(super) struct BatchBuilder<'a> {
    pub library: &'a GpuLibrary,
    pub crowd: &'a PackedCrowd,
    /// The values of the parameters of each instance, in the order of the crowd.
    pub values: &'a [ParameterValues],
    /// The capacity for parameters per instance.
    pub parameter_count: usize,
    /// The uniform of the frame.
    pub frame: &'a wgpu::Buffer,
    pub options: CrowdOptions,
}

/// The parts that the GPU batches of one packed batch share: its kernels and its plan.
pub(super) struct SharedParts<'a> {
    plan: BatchPlan<'a>,
    pipeline: wgpu::ComputePipeline,
    /// The kernels of visible lists, if the crowd has lists.
    visible: Option<&'a VisibleKernels>,
    /// The kernel of root motion, if it is an output.
    root_motion: Option<&'a SideKernel>,
    /// The kernel that plays layers.
    play: &'a SideKernel,
    /// The kernel that drives layers, if some are driven.
    drive: Option<&'a SideKernel>,
    /// The kernel that reads the parameters of goals, if there are any.
    goals: Option<&'a SideKernel>,
}

/// The buffers that the kernel writes. A buffer that was not requested exists, because it is bound, but stays unused.
struct BoundOutputs {
    local: wgpu::Buffer,
    model: wgpu::Buffer,
    skin: wgpu::Buffer,
    values: wgpu::Buffer,
    root_motion: wgpu::Buffer,
}

impl<'a> SharedParts<'a> {
    /// The parts of a packed batch, with capacity for parameters. Missing kernels are compiled.
    ///
    /// # Errors
    /// [`Error::Limit`] if a software renderer would not end the walks of the goals. [`Error::Shader`] and
    /// [`Error::Device`] if the device refuses a kernel.
    pub async fn new(
        library: &'a GpuLibrary,
        packed: &'a PackedBatch,
        outputs: Outputs,
        options: CrowdOptions,
        parameter_count: usize,
    ) -> Result<Self, Error> {
        let mut plan = BatchPlan::new(&library.packed, packed, outputs, options, parameter_count);
        plan.plan.kernel.packs_to_nearest = library.packs_to_nearest(plan.plan.kernel.skin_format).await?;
        let kernel = &plan.plan.kernel;
        let on_hardware = is_hardware(&library.gpu().device.adapter_info());
        kernel.goals.check(on_hardware, packed.goal_count, plan.skeleton.reach.links.len())?;
        let has = |pass: Pass| plan.passes().any(|found| found == pass);
        let pipeline = library.pose_pipeline(kernel).await?;
        let visible = if options.visible { Some(library.visible_kernels().await?) } else { None };
        let root_motion = if has(Pass::RootMotion) { Some(library.root_motion_kernel().await?) } else { None };
        let play = library.play_kernel().await?;
        let drive = if has(Pass::Drive) { Some(library.drive_kernel().await?) } else { None };
        let goals = if has(Pass::Goals) { Some(library.goals_kernel().await?) } else { None };
        Ok(Self { plan, pipeline, visible, root_motion, play, drive, goals })
    }
}

impl BatchBuilder<'_> {
    /// Creates the GPU batches of a packed batch.
    ///
    /// # Errors
    /// [`Error::Limit`] if the outputs of one instance are larger than a binding; [`Error::Device`] if memory is out.
    pub fn build(&self, shared: &SharedParts) -> Result<Vec<GpuBatch>, Error> {
        let limits = device_limits(self.gpu().device);
        shared.plan.ranges(&limits)?.map(|instances| self.build_range(shared, &limits, instances)).collect()
    }

    fn gpu(&self) -> DeviceAndQueue<'_> {
        self.library.gpu()
    }

    /// Creates the GPU batch of some instances of a packed batch.
    fn build_range(
        &self,
        shared: &SharedParts,
        limits: &DeviceLimits,
        instances: Range<usize>,
    ) -> Result<GpuBatch, Error> {
        let &Self { library, crowd, frame, .. } = self;
        let plan = &shared.plan;
        let packed = plan.packed;
        let gpu = self.gpu();
        let device = gpu.device;
        let (count, counts) = (instances.len() as u32, plan.counts(instances.len()));
        let groups = |pass: Pass| plan.groups(pass).count(&counts);
        let layers = bytemuck::cast_slice(plan.layers(crowd, &instances));
        let layers = filled_buffer(gpu, "posse layers", layers, Usages::STORAGE);
        let record = plan.record(instances.len(), limits);
        let record = filled_buffer(gpu, "posse batch", bytemuck::bytes_of(&record), Usages::UNIFORM);
        let lists = self.list_buffer(shared, &counts);
        let visible = shared.visible.zip(lists.as_ref());
        let visible = visible.map(|(kernels, due)| VisibleList::new(library, kernels, frame, &record, due, count));
        let transitions = self.transitions(plan, &instances, lists.as_ref())?;
        let parameters = packed.reads_parameters.then(|| self.parameters(&instances));
        let drivers = self.drivers(shared, limits, &instances, parameters.as_ref(), &layers);
        let played = [&library.words, &library.values, frame, &record, &layers];
        let play = shared.play.pass(device, &played, groups(Pass::Play));
        let goals = shared.goals.zip(lists.as_ref()).map(|(kernel, lists)| {
            let batch = plan.goal_batch(instances.len(), limits);
            let buffers = GoalBuffers { parameters: parameters.as_ref(), lists };
            Goals::new(library, kernel, plan.goals(crowd, &instances), &batch, groups(Pass::Goals), &buffers)
        });
        let bound_outputs = self.output_buffers(plan, &counts);
        let BoundOutputs { local, model, skin, values, root_motion } = &bound_outputs;
        let root_motion_pass = shared.root_motion.map(|kernel| {
            let bound = [&library.words, &library.values, &layers, frame, &record, root_motion];
            kernel.pass(device, &bound, groups(Pass::RootMotion))
        });
        // Without a visible list, transitions and goals, the kernel does not read lists: bind any buffer.
        let bound_lists = lists.as_ref().unwrap_or(&library.words);
        let bound = [&library.words, &library.values, &layers, frame, &record, local, model, skin, values, bound_lists];
        let bind_group = bind_group(device, &library.layout, &bound);
        Ok(GpuBatch {
            skeleton: packed.skeleton,
            instances: crowd.order[instances].to_vec(),
            layout: plan.layout,
            outputs: self.requested(plan, bound_outputs),
            visible,
            root_motion_pass,
            kernel: kernel_name(library.packed.features, Pass::Pose, &plan.plan.kernel),
            pipeline: shared.pipeline.clone(),
            bind_group,
            dispatch: Dispatch::new(device, groups(Pass::Pose)),
            layers,
            layer_count: packed.layer_count as u32,
            mixing: packed.mixing,
            parameters,
            drivers,
            play,
            goals,
            transitions,
            lists,
        })
    }

    /// The drivers of some instances, if they have any, with the pass that drives their layers.
    fn drivers(
        &self,
        shared: &SharedParts,
        limits: &DeviceLimits,
        instances: &Range<usize>,
        parameters: Option<&BatchParameters>,
        layers: &wgpu::Buffer,
    ) -> Option<(Drivers, SidePass)> {
        let (kernel, parameters) = shared.drive.zip(parameters)?;
        let batch = shared.plan.drive_batch(instances.len(), limits);
        let groups = shared.plan.groups(Pass::Drive).count(&shared.plan.counts(instances.len()));
        let drivers = Drivers::new(self.gpu(), shared.plan.drives(self.crowd, instances), &batch, groups);
        let pass = drivers.pass(self.library, kernel, Some(parameters), layers, self.frame);
        Some((drivers, pass))
    }

    /// The lists of some instances, if their kernels read any.
    fn list_buffer(&self, shared: &SharedParts, counts: &Counts) -> Option<wgpu::Buffer> {
        let has_lists = shared.plan.transitions > 0 || shared.visible.is_some() || shared.goals.is_some();
        let descriptor = wgpu::BufferDescriptor {
            label: Some("posse lists"),
            size: shared.plan.bytes(Buffer::Lists).bytes(counts),
            usage: Usages::STORAGE | Usages::COPY_DST,
            mapped_at_creation: false,
        };
        has_lists.then(|| create_buffer(self.gpu().device, &descriptor))
    }

    /// The capacity for transitions of some instances of a packed batch, with the displacements with which they begin.
    fn transitions(
        &self,
        plan: &BatchPlan,
        instances: &Range<usize>,
        lists: Option<&wgpu::Buffer>,
    ) -> Result<Option<TransitionCapacity>, Error> {
        let Some(lists) = lists.filter(|_| plan.transitions > 0) else { return Ok(None) };
        let most = plan.counts(instances.len()).transitions;
        let capacity = TransitionCapacity::new(lists.clone(), instances.len(), &plan.skeleton.record, most);
        self.begin_transitions(plan.packed, instances, &capacity)?;
        Ok(Some(capacity))
    }

    /// The parameters of some instances.
    fn parameters(&self, instances: &Range<usize>) -> BatchParameters {
        let values: Vec<ParameterValues> =
            self.crowd.order[instances.clone()].iter().map(|&instance| self.values[instance]).collect();
        BatchParameters::new(self.gpu(), &values, self.parameter_count)
    }

    /// Uploads the displacements with which some instances of a packed batch begin.
    fn begin_transitions(
        &self,
        packed: &PackedBatch,
        instances: &Range<usize>,
        capacity: &TransitionCapacity,
    ) -> Result<(), Error> {
        let first = instances.start - packed.instances.start;
        for slot in 0..instances.len() {
            let index = packed.displaced.get(first + slot).copied().unwrap_or(NONE);
            if let Some(displacement) = self.crowd.displacements.get(index as usize) {
                // There is capacity for those with which the batch begins.
                capacity.begin(self.gpu(), slot, displacement, Ticks(i64::MIN))?;
            }
        }
        Ok(())
    }

    /// The outputs that were requested, of all that are bound.
    fn requested(&self, plan: &BatchPlan, bound: BoundOutputs) -> OutputBuffers {
        let layout = &plan.layout;
        let BoundOutputs { local, model, skin, values, root_motion } = bound;
        let with_previous_skin = self.options.previous_skin && layout.skin > 0;
        let previous_skin = || output_buffer(self.gpu().device, skin.size(), Usages::COPY_DST);
        OutputBuffers {
            previous_skin: with_previous_skin.then(previous_skin),
            local: (layout.local > 0).then_some(local),
            model: (layout.model > 0).then_some(model),
            skin: (layout.skin > 0).then_some(skin),
            values: (layout.values > 0).then_some(values),
            root_motion: (layout.root_motion > 0).then_some(root_motion),
        }
    }

    fn output_buffers(&self, plan: &BatchPlan, counts: &Counts) -> BoundOutputs {
        let buffer =
            |buffer: Buffer| output_buffer(self.gpu().device, plan.bytes(buffer).bytes(counts), Usages::empty());
        BoundOutputs {
            local: buffer(Buffer::Local),
            model: buffer(Buffer::Model),
            skin: buffer(Buffer::Skin),
            values: buffer(Buffer::Numbers),
            root_motion: buffer(Buffer::RootMotion),
        }
    }
}

/// A buffer for outputs. It has at least 16 bytes, because a binding must not be empty.
fn output_buffer(device: &wgpu::Device, size: u64, more_usages: Usages) -> wgpu::Buffer {
    create_buffer(
        device,
        &wgpu::BufferDescriptor {
            label: Some("posse output"),
            size: size.max(16),
            usage: Usages::STORAGE | Usages::VERTEX | Usages::COPY_SRC | more_usages,
            mapped_at_creation: false,
        },
    )
}
