//! Creates the batches on the GPU from packed batches, cut if a buffer or a dispatch would exceed the limits of the
//! device.

use std::ops::Range;

use wgpu::BufferUsages as Usages;

use crate::error::Error;
use crate::gpu::adapter::is_hardware;
use crate::gpu::batch::OutputBuffers;
use crate::gpu::drive::{Drivers, Parameters};
use crate::gpu::goals::{GoalBuffers, Goals};
use crate::gpu::kernels::{Dispatch, SideKernel, VisibleKernels, bind_group};
use crate::gpu::plan::{GoalTurns, Plan};
use crate::gpu::shader::{
    DRIVE_WORKGROUP_SIZE, PLAY_WORKGROUP_SIZE, RESOLVE_GOALS_WORKGROUP_SIZE, ROOT_MOTION_WORKGROUP_SIZE,
};
use crate::gpu::transitions::TransitionRoom;
use crate::gpu::visible::VisibleList;
use crate::gpu::{DeviceAndQueue, GpuBatch, GpuLibrary, create_buffer, filled_buffer, largest_binding};
use crate::model::{Outputs, ParameterValues, SkinFormat, Ticks};
use crate::pack::record::{BatchRecord, GoalRecord, LayerRecord, NONE, OUTPUT_LOCAL, OUTPUT_SKIN, SkeletonRecord};
use crate::pack::{CrowdOptions, OutputLayout, PackedBatch, PackedCrowd};

/// The crowd whose batches are created.
pub(super) struct BatchBuilder<'a> {
    pub library: &'a GpuLibrary,
    pub crowd: &'a PackedCrowd,
    /// The values of the parameters of each instance, in the order of the crowd.
    pub values: &'a [ParameterValues],
    /// The room for parameters per instance.
    pub parameter_count: usize,
    /// The uniform of the frame.
    pub frame: &'a wgpu::Buffer,
    pub options: CrowdOptions,
}

/// The parts that the GPU batches of one packed batch share: its kernels and its layout.
pub(super) struct SharedParts<'a> {
    packed: &'a PackedBatch,
    plan: Plan,
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
    /// The most transitions at the same time.
    transitions: usize,
    /// The numbers per instance that were requested.
    layout: OutputLayout,
    /// Numbers per instance in the buffer of local transforms. Goals of some skeletons need the buffer, even if the
    /// output was not requested.
    local_stride: usize,
    /// Numbers per instance in the buffer of model matrices. Kernels without joint matrices in workgroup memory need
    /// the buffer, even if the output was not requested.
    model_stride: usize,
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
    /// The parts of a packed batch. Missing kernels are compiled.
    ///
    /// # Errors
    /// [`Error::Limit`] if a software renderer would not end the walks of the goals. [`Error::Shader`] and
    /// [`Error::Device`] if the device refuses a kernel.
    pub async fn new(
        library: &'a GpuLibrary,
        packed: &'a PackedBatch,
        outputs: Outputs,
        options: CrowdOptions,
    ) -> Result<Self, Error> {
        let packed_skeleton = &library.packed.skeletons[packed.skeleton.index()];
        let skeleton = &packed_skeleton.record;
        let layout = OutputLayout::new(skeleton, outputs);
        // Without skin matrices, the format has no effect: use the kernel that exists already.
        let skin_format = if layout.skin > 0 { layout.skin_format } else { SkinFormat::Matrix };
        let plan = Plan::new(packed.mixing, skeleton, packed.layer_count as u32);
        let beginning = packed.displaced.iter().filter(|&&displaced| displaced != NONE).count();
        let transitions = options.transitions.min(packed.instances.len()).max(beginning);
        let goal_turns = GoalTurns::new(packed, packed_skeleton);
        let on_hardware = is_hardware(&library.gpu().device.adapter_info());
        goal_turns.check(on_hardware, packed.goal_count, packed_skeleton.reach.links.len())?;
        let plan = plan.with_skin_format(skin_format).with_displacements(transitions > 0).with_goals(goal_turns);
        let skins_only = layout.bits() == OUTPUT_SKIN && layout.values == 0 && !options.visible;
        let plan = if skins_only { plan.with_skins_only(skeleton) } else { plan };
        let all = OutputLayout::new(skeleton, Outputs::ALL);
        let model_stride = plan.kernel.workgroup.joint_capacity.map_or(all.model, |_| layout.model);
        let local_stride = if goal_turns == GoalTurns::General { all.local } else { layout.local };
        let pipeline = library.pose_pipeline(&plan.kernel).await?;
        let visible = if options.visible { Some(library.visible_kernels().await?) } else { None };
        let root_motion = if layout.root_motion > 0 { Some(library.root_motion_kernel().await?) } else { None };
        let play = library.play_kernel().await?;
        let drive = if packed.first_drive.is_some() { Some(library.drive_kernel().await?) } else { None };
        let goals = if packed.goal_count > 0 { Some(library.goals_kernel().await?) } else { None };
        Ok(Self {
            packed,
            plan,
            pipeline,
            visible,
            root_motion,
            play,
            drive,
            goals,
            transitions,
            layout,
            local_stride,
            model_stride,
        })
    }

    /// The bytes of the lists of some instances: those that are due, displacements, then goals.
    fn list_bytes(&self, library: &GpuLibrary, instances: usize) -> u64 {
        let before = TransitionRoom::list_bytes(instances, self.transition_room(library, instances));
        before.saturating_add(4 * Goals::list_words(instances, self.packed.goal_count) as u64)
    }

    /// The room for transitions of some instances, with the skeleton.
    fn transition_room<'s>(&self, library: &'s GpuLibrary, instances: usize) -> Option<(usize, &'s SkeletonRecord)> {
        let skeleton = &library.packed.skeletons[self.packed.skeleton.index()].record;
        (self.transitions > 0).then(|| (self.transitions.min(instances), skeleton))
    }
}

impl BatchBuilder<'_> {
    /// Creates the GPU batches of a packed batch.
    ///
    /// # Errors
    /// [`Error::Limit`] if the outputs of one instance are larger than a binding; [`Error::Device`] if memory is out.
    pub fn build(&self, shared: &SharedParts) -> Result<Vec<GpuBatch>, Error> {
        let packed = shared.packed;
        let most = self.most_instances(shared)?;
        let starts = packed.instances.clone().step_by(most);
        let range = |start: usize| start..packed.instances.end.min(start.saturating_add(most));
        starts.map(|start| self.build_range(shared, range(start))).collect()
    }

    fn gpu(&self) -> DeviceAndQueue<'_> {
        self.library.gpu()
    }

    /// The most instances of a GPU batch: each buffer fits a binding, and each dispatch fits the limits of the device.
    fn most_instances(&self, shared: &SharedParts) -> Result<usize, Error> {
        let &SharedParts { packed, plan, layout, local_stride, model_stride, .. } = shared;
        let device = self.gpu().device;
        let strides = [local_stride, model_stride, layout.skin, layout.values, layout.root_motion];
        let goal_bytes = packed.goal_count * size_of::<GoalRecord>();
        let record_bytes = goal_bytes.max(packed.layer_count * size_of::<LayerRecord>());
        let largest = strides.into_iter().map(|stride| 4 * stride).fold(record_bytes, usize::max) as u64;
        let allowed = largest_binding(device);
        if largest > allowed {
            let what = format!("bytes of one instance of skeleton {} (request fewer outputs)", packed.skeleton.index());
            return Err(Error::Limit { what, needed: largest, allowed });
        }
        let most_groups = u64::from(device.limits().max_compute_workgroups_per_dimension).pow(2);
        let played_per_group = (PLAY_WORKGROUP_SIZE / packed.layer_count as u32).max(1);
        let mut least_per_group = plan.instances_per_group.min(played_per_group);
        if layout.root_motion > 0 {
            least_per_group = least_per_group.min(ROOT_MOTION_WORKGROUP_SIZE);
        }
        if shared.drive.is_some() {
            least_per_group = least_per_group.min(DRIVE_WORKGROUP_SIZE);
        }
        if packed.goal_count > 0 {
            least_per_group = least_per_group.min((RESOLVE_GOALS_WORKGROUP_SIZE / packed.goal_count as u32).max(1));
        }
        let fits = |&count: &usize| shared.list_bytes(self.library, count) <= allowed;
        // Half as many instances until their lists fit.
        let mut halves =
            std::iter::successors(Some(packed.instances.len()), |&count| (count > 1).then(|| count.div_ceil(2)));
        let Some(listed) = halves.find(fits) else {
            let needed = shared.list_bytes(self.library, 1);
            let what = format!("bytes of a transition and of goals of skeleton {}", packed.skeleton.index());
            return Err(Error::Limit { what, needed, allowed });
        };
        let most =
            (allowed / largest).min(listed.max(1) as u64).min(most_groups.saturating_mul(least_per_group.into()));
        Ok(usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// Creates the GPU batch of some instances of a packed batch.
    fn build_range(&self, shared: &SharedParts, instances: Range<usize>) -> Result<GpuBatch, Error> {
        let &Self { library, crowd, frame, .. } = self;
        let &SharedParts { packed, plan, layout, .. } = shared;
        let gpu = self.gpu();
        let device = gpu.device;
        let count = instances.len() as u32;
        let layers = self.layer_buffer(packed, &instances);
        let room = shared.transition_room(library, instances.len());
        let first_goal = (TransitionRoom::list_bytes(instances.len(), room) / 4) as u32;
        let record = BatchRecord { first_goal, ..batch_record(library, device, shared, count) };
        let record = filled_buffer(gpu, "posse batch", bytemuck::bytes_of(&record), Usages::UNIFORM);
        let lists = self.list_buffer(shared, instances.len());
        let visible = shared.visible.zip(lists.as_ref());
        let visible = visible.map(|(kernels, due)| VisibleList::new(library, kernels, frame, &record, due, count));
        let transitions = self.transitions(shared, &instances, lists.as_ref())?;
        let parameters = packed.reads_parameters.then(|| self.parameters(&instances));
        let drivers = shared.drive.zip(parameters.as_ref()).map(|(kernel, parameters)| {
            let drivers = self.drivers(packed, &instances, parameters);
            let pass = drivers.pass(library, kernel, Some(parameters), &layers, frame);
            (drivers, pass)
        });
        let played = [&library.words, &library.values, frame, &record, &layers];
        let play_groups = (count * packed.layer_count as u32).div_ceil(PLAY_WORKGROUP_SIZE);
        let play = shared.play.pass(device, &played, play_groups);
        let goals = shared.goals.zip(lists.as_ref()).map(|(kernel, lists)| {
            let parameters = parameters.as_ref();
            let first = packed.first_goal + (instances.start - packed.instances.start) * packed.goal_count;
            let records = &crowd.goals[first..][..instances.len() * packed.goal_count];
            Goals::new(library, kernel, records, packed.goal_count, &GoalBuffers { parameters, lists, first_goal })
        });
        let bound_outputs = self.output_buffers(shared, count);
        let BoundOutputs { local, model, skin, values, root_motion } = &bound_outputs;
        let root_motion_pass = shared.root_motion.map(|kernel| {
            let bound = [&library.words, &library.values, &layers, frame, &record, root_motion];
            kernel.pass(device, &bound, count.div_ceil(ROOT_MOTION_WORKGROUP_SIZE))
        });
        // Without a visible list, transitions and goals, the kernel does not read lists: bind any buffer.
        let bound_lists = lists.as_ref().unwrap_or(&library.words);
        let bound = [&library.words, &library.values, &layers, frame, &record, local, model, skin, values, bound_lists];
        let bind_group = bind_group(device, &library.layout, &bound);
        Ok(GpuBatch {
            skeleton: packed.skeleton,
            instances: crowd.order[instances].to_vec(),
            layout,
            outputs: self.requested(shared, bound_outputs),
            visible,
            root_motion_pass,
            pipeline: shared.pipeline.clone(),
            bind_group,
            dispatch: Dispatch::new(device, count.div_ceil(plan.instances_per_group)),
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

    /// The lists of some instances, if their kernels read any.
    fn list_buffer(&self, shared: &SharedParts, instances: usize) -> Option<wgpu::Buffer> {
        let has_lists = shared.transitions > 0 || shared.visible.is_some() || shared.goals.is_some();
        let descriptor = wgpu::BufferDescriptor {
            label: Some("posse lists"),
            size: shared.list_bytes(self.library, instances),
            usage: Usages::STORAGE | Usages::COPY_DST,
            mapped_at_creation: false,
        };
        has_lists.then(|| create_buffer(self.gpu().device, &descriptor))
    }

    /// The room for transitions of some instances of a packed batch, with the displacements with which they begin.
    fn transitions(
        &self,
        shared: &SharedParts,
        instances: &Range<usize>,
        lists: Option<&wgpu::Buffer>,
    ) -> Result<Option<TransitionRoom>, Error> {
        let room = shared.transition_room(self.library, instances.len());
        let Some(((most, skeleton), lists)) = room.zip(lists) else {
            return Ok(None);
        };
        let room = TransitionRoom::new(lists.clone(), instances.len(), skeleton, most);
        self.begin_transitions(shared.packed, instances, &room)?;
        Ok(Some(room))
    }

    /// The parameters of some instances.
    fn parameters(&self, instances: &Range<usize>) -> Parameters {
        let values: Vec<ParameterValues> =
            self.crowd.order[instances.clone()].iter().map(|&instance| self.values[instance]).collect();
        Parameters::new(self.gpu(), &values, self.parameter_count)
    }

    /// The drivers of some instances of a packed batch.
    fn drivers(&self, packed: &PackedBatch, instances: &Range<usize>, parameters: &Parameters) -> Drivers {
        let first = packed.first_drive.unwrap_or(0) + (instances.start - packed.instances.start) * packed.layer_count;
        let drives = &self.crowd.drives[first..][..instances.len() * packed.layer_count];
        Drivers::new(self.gpu(), drives, packed.layer_count, parameters)
    }

    /// Uploads the displacements with which some instances of a packed batch begin.
    fn begin_transitions(
        &self,
        packed: &PackedBatch,
        instances: &Range<usize>,
        room: &TransitionRoom,
    ) -> Result<(), Error> {
        let first = instances.start - packed.instances.start;
        for slot in 0..instances.len() {
            let index = packed.displaced.get(first + slot).copied().unwrap_or(NONE);
            if let Some(displacement) = self.crowd.displacements.get(index as usize) {
                // There is room for those with which the batch begins.
                room.begin(self.gpu(), slot, displacement, Ticks(i64::MIN))?;
            }
        }
        Ok(())
    }

    /// The layer records of some instances of a packed batch.
    fn layer_buffer(&self, packed: &PackedBatch, instances: &Range<usize>) -> wgpu::Buffer {
        let first = packed.first_layer + (instances.start - packed.instances.start) * packed.layer_count;
        let records = &self.crowd.layers[first..][..instances.len() * packed.layer_count];
        filled_buffer(self.gpu(), "posse layers", bytemuck::cast_slice(records), Usages::STORAGE)
    }

    /// The outputs that were requested, of all that are bound.
    fn requested(&self, shared: &SharedParts, bound: BoundOutputs) -> OutputBuffers {
        let layout = &shared.layout;
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

    fn output_buffers(&self, shared: &SharedParts, instance_count: u32) -> BoundOutputs {
        let layout = &shared.layout;
        let buffer = |stride: usize| {
            output_buffer(self.gpu().device, 4 * stride as u64 * u64::from(instance_count), Usages::empty())
        };
        BoundOutputs {
            local: buffer(shared.local_stride),
            model: buffer(shared.model_stride),
            skin: buffer(layout.skin),
            values: buffer(layout.values),
            root_motion: buffer(layout.root_motion),
        }
    }
}

/// The uniform of a batch.
fn batch_record(library: &GpuLibrary, device: &wgpu::Device, shared: &SharedParts, instance_count: u32) -> BatchRecord {
    let &SharedParts { packed, plan, layout, local_stride, .. } = shared;
    BatchRecord {
        skeleton: library.packed.skeletons[packed.skeleton.index()].record,
        instance_count,
        lane_count: plan.lane_count,
        span_count: plan.span_count,
        groups_per_row: device.limits().max_compute_workgroups_per_dimension,
        // Goals that need local transforms read them from their output.
        outputs: layout.bits() | if local_stride > 0 { OUTPUT_LOCAL } else { 0 },
        first_value: layout.first_value as u32,
        value_count: layout.values as u32,
        layer_count: packed.layer_count as u32,
        instances_per_group: plan.instances_per_group,
        first_goal: 0,
        goal_count: packed.goal_count as u32,
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
