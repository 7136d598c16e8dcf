//! The plan of a batch: its passes, and the sizes and the contents of its buffers. The wgpu engine and
//! [`DeviceCrowd`](super::DeviceCrowd) both create their buffers by it.

use std::ops::Range;

use crate::error::Error;
use crate::kernels::formula::{Count, Counts, Formula, Groups};
use crate::kernels::passes::{Buffer, Pass, SIDE_WORKGROUP_SIZE};
use crate::kernels::plan::{GoalRotations, Plan};
use crate::model::{Outputs, SkinFormat};
use crate::pack::record::{
    BatchRecord, DISPLACED_HEAD, DISPLACED_JOINT, DISPLACED_NUMBER, DriveBatch, DriveRecord, EventBatch, EventCount,
    Frame, GOAL_RESOLVED_WORDS, GoalBatch, GoalRecord, LayerRecord, NONE, OUTPUT_LOCAL, OUTPUT_SKIN, SkeletonRecord,
    VisibleInstance,
};
use crate::pack::{
    CrowdOptions, MOTION_NUMBERS, NUMBERS, OutputLayout, PackedBatch, PackedCrowd, PackedLibrary, PackedSkeleton,
};

/// The limits of a device that decide how many instances a batch can have.
///
/// The default has the limits of WebGPU: bindings of 128 MiB, and 65,535 workgroups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceLimits {
    /// The largest binding of storage in bytes. Kernels address with 32 bits, so that more than `u32::MAX` counts as
    /// that many.
    pub max_binding_bytes: u64,
    /// The most workgroups of a dispatch in x and in y: a larger dispatch has rows. At least 1.
    pub max_groups_per_row: u32,
}

impl Default for DeviceLimits {
    fn default() -> Self {
        Self { max_binding_bytes: 128 << 20, max_groups_per_row: 65_535 }
    }
}

impl DeviceLimits {
    fn groups_per_row(&self) -> u32 {
        self.max_groups_per_row.max(1)
    }

    /// The size of a dispatch in x and y. The last row may have more workgroups than are needed.
    pub fn rows(&self, groups: u32) -> [u32; 2] {
        let most = self.groups_per_row();
        [groups.min(most), groups.div_ceil(most)]
    }
}

/// The plan that the batches of one packed batch share. A packed batch becomes several if a buffer or a dispatch would
/// exceed the limits of the device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchPlan<'a> {
    pub packed: &'a PackedBatch,
    pub skeleton: &'a PackedSkeleton,
    /// The kernel that poses, and the share of each instance.
    pub plan: Plan,
    /// The most transitions at the same time.
    pub transitions: usize,
    /// The numbers per instance that were requested.
    pub layout: OutputLayout,
    /// The parameters per instance; 0 if neither layers nor goals can follow any.
    pub parameters: usize,
    /// True if the buffer of local transforms is needed, even if the output was not requested: by goals of some
    /// skeletons.
    needs_local: bool,
    /// True if the buffer of model matrices is needed, even if the output was not requested: by kernels without joint
    /// matrices in workgroup memory.
    needs_model: bool,
}

impl<'a> BatchPlan<'a> {
    /// The plan of a packed batch, with `parameters` parameters per instance if it reads any.
    pub fn new(
        library: &'a PackedLibrary,
        packed: &'a PackedBatch,
        outputs: Outputs,
        options: CrowdOptions,
        parameters: usize,
    ) -> Self {
        let skeleton = &library.skeletons[packed.skeleton.index()];
        let layout = OutputLayout::new(&skeleton.record, outputs);
        // Without skin matrices, the format has no effect: use the kernel that exists already.
        let skin_format = if layout.skin > 0 { layout.skin_format } else { SkinFormat::Matrix };
        let beginning = packed.displaced.iter().filter(|&&displaced| displaced != NONE).count();
        let transitions = options.transitions.min(packed.instances.len()).max(beginning);
        let goals = GoalRotations::new(packed, skeleton);
        let layers = packed.layer_count as u32;
        let plan = Plan::new(packed.mixing, &skeleton.record, layers);
        let plan = plan.with_skin_format(skin_format).with_displacements(transitions > 0).with_goals(goals);
        let skins_only = layout.bits() == OUTPUT_SKIN && layout.values == 0 && !options.visible;
        let with_skins_only = || plan.with_skins_only(&skeleton.record, skeleton.uniform_scales, layers);
        let plan = if skins_only { with_skins_only() } else { plan };
        Self {
            packed,
            skeleton,
            plan,
            transitions,
            layout,
            parameters: if packed.reads_parameters { parameters } else { 0 },
            needs_local: layout.local > 0 || goals == GoalRotations::General,
            needs_model: layout.model > 0 || plan.kernel.workgroup.joint_capacity.is_none(),
        }
    }

    /// The passes of a frame, in order. The passes before [`Pass::Pose`] write what it reads.
    pub fn passes(&self) -> impl Iterator<Item = Pass> {
        Pass::ALL.into_iter().filter(|&pass| self.has(pass))
    }

    /// True for a pass of each frame.
    fn has(&self, pass: Pass) -> bool {
        match pass {
            Pass::Drive => self.packed.first_drive.is_some(),
            Pass::Play | Pass::Pose => true,
            Pass::Goals => self.packed.goal_count > 0,
            Pass::RootMotion => self.layout.root_motion > 0,
            Pass::CollectVisible | Pass::MeasureVisible | Pass::Events => false,
        }
    }

    /// The workgroups of a pass.
    pub fn groups(&self, pass: Pass) -> Groups {
        match pass {
            Pass::Pose => Groups::new(&[Count::Instances], self.plan.instances_per_group),
            Pass::Play | Pass::Events => Groups::new(&[Count::Instances, Count::Layers], SIDE_WORKGROUP_SIZE),
            Pass::Goals => Groups::new(&[Count::Instances, Count::Goals], SIDE_WORKGROUP_SIZE),
            Pass::Drive | Pass::RootMotion | Pass::CollectVisible => {
                Groups::new(&[Count::Instances], SIDE_WORKGROUP_SIZE)
            }
            Pass::MeasureVisible => Groups::new(&[], 1),
        }
    }

    /// The bytes of a buffer of the batch. Buffers of 0 bytes are not used: a pass that binds one binds any other.
    pub fn bytes(&self, buffer: Buffer) -> Formula {
        let per_instance = |bytes: usize| Formula::new(bytes, &[Count::Instances]);
        let matrix = 4 * NUMBERS;
        match buffer {
            // Buffers of the library are not buffers of a batch.
            Buffer::Words | Buffer::Values => Formula::default(),
            Buffer::Events => Formula::new(size_of::<EventCount>(), &[]),
            Buffer::Frame => Formula::new(size_of::<Frame>(), &[]),
            Buffer::Batch => Formula::new(size_of::<BatchRecord>(), &[]),
            Buffer::Layers => Formula::new(size_of::<LayerRecord>(), &[Count::Instances, Count::Layers]),
            Buffer::Drives if !self.has(Pass::Drive) => Formula::default(),
            Buffer::Drives => Formula::new(size_of::<DriveRecord>(), &[Count::Instances, Count::Layers]),
            Buffer::DriveBatch if !self.has(Pass::Drive) => Formula::default(),
            Buffer::DriveBatch => Formula::new(size_of::<DriveBatch>(), &[]),
            Buffer::Parameters | Buffer::ParametersBefore if self.parameters == 0 => Formula::default(),
            Buffer::Parameters | Buffer::ParametersBefore => {
                Formula::new(size_of::<f32>(), &[Count::Instances, Count::Parameters])
            }
            Buffer::Goals if !self.has(Pass::Goals) => Formula::default(),
            Buffer::Goals => Formula::new(size_of::<GoalRecord>(), &[Count::Instances, Count::Goals]),
            Buffer::GoalBatch if !self.has(Pass::Goals) => Formula::default(),
            Buffer::GoalBatch => Formula::new(size_of::<GoalBatch>(), &[]),
            Buffer::Lists => self.list_bytes(self.has(Pass::Goals)),
            Buffer::Local if !self.needs_local => Formula::default(),
            Buffer::Local => Formula::new(matrix, &[Count::Instances, Count::Joints]),
            Buffer::Model if !self.needs_model => Formula::default(),
            Buffer::Model => Formula::new(matrix, &[Count::Instances, Count::Joints]),
            Buffer::Skin if self.layout.skin == 0 => Formula::default(),
            Buffer::Skin => Formula::new(4 * self.layout.skin_format.words(), &[Count::Instances, Count::SkinJoints]),
            Buffer::Numbers if self.layout.values == 0 => Formula::default(),
            Buffer::Numbers => Formula::new(size_of::<f32>(), &[Count::Instances, Count::Values]),
            Buffer::RootMotion if self.layout.root_motion == 0 => Formula::default(),
            Buffer::RootMotion => per_instance(4 * MOTION_NUMBERS),
            Buffer::Visible => Formula::new(4, &[]).plus(size_of::<VisibleInstance>(), &[Count::Instances]),
            Buffer::Workgroups => Formula::new(12, &[]),
            Buffer::Instances => per_instance(4),
            Buffer::EventBatch => Formula::new(size_of::<EventBatch>(), &[]),
        }
    }

    /// The bytes of the lists: the instances that are due, the displacements of transitions, then the goals, if asked.
    fn list_bytes(&self, with_goals: bool) -> Formula {
        let due = Formula::new(4, &[]).plus(8, &[Count::Instances]);
        let displaced = if self.transitions > 0 {
            due.plus(4, &[Count::Instances]).plus(4, &[Count::Transitions, Count::DisplacementWords])
        } else {
            due
        };
        let goal = if with_goals { 4 * GOAL_RESOLVED_WORDS as usize } else { 0 };
        displaced.plus(goal, &[Count::Instances, Count::Goals])
    }

    /// The counts of a batch of some of the instances.
    pub fn counts(&self, instances: usize) -> Counts {
        let record = &self.skeleton.record;
        Counts {
            instances,
            layers: self.packed.layer_count,
            goals: self.packed.goal_count,
            parameters: self.parameters,
            joints: record.joint_count as usize,
            skin_joints: record.skin_joint_count as usize,
            values: self.layout.values,
            transitions: self.transitions.min(instances),
            displacement_words: displacement_words(record),
        }
    }

    /// The most instances of a batch: each buffer fits a binding, and each dispatch fits the limits of the device.
    ///
    /// # Errors
    /// [`Error::Limit`] if not even the buffers of one instance fit.
    pub fn max_instances(&self, limits: &DeviceLimits) -> Result<usize, Error> {
        let (packed, one) = (self.packed, self.counts(1));
        let allowed = limits.max_binding_bytes.min(u32::MAX.into());
        let kinds = [
            Buffer::Local,
            Buffer::Model,
            Buffer::Skin,
            Buffer::Numbers,
            Buffer::RootMotion,
            Buffer::Layers,
            Buffer::Goals,
        ];
        let largest = kinds.into_iter().map(|buffer| self.bytes(buffer).bytes(&one)).fold(1, u64::max);
        if largest > allowed {
            let what = format!("bytes of one instance of skeleton {} (request fewer outputs)", packed.skeleton.index());
            return Err(Error::Limit { what, needed: largest, allowed });
        }
        let list_bytes = |count: usize| self.bytes(Buffer::Lists).bytes(&self.counts(count));
        // Half as many instances until their lists fit.
        let mut halves =
            std::iter::successors(Some(packed.instances.len()), |&count| (count > 1).then(|| count.div_ceil(2)));
        let Some(listed) = halves.find(|&count| list_bytes(count) <= allowed) else {
            let what = format!("bytes of a transition and of goals of skeleton {}", packed.skeleton.index());
            return Err(Error::Limit { what, needed: list_bytes(1), allowed });
        };
        let most_groups = u64::from(limits.groups_per_row()).pow(2);
        let per_group = self.passes().map(|pass| self.groups(pass).instances_per_group(&one)).fold(u64::MAX, u64::min);
        let most = (allowed / largest).min(listed.max(1) as u64).min(most_groups.saturating_mul(per_group));
        Ok(usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// The ranges of the packed order that become batches.
    ///
    /// # Errors
    /// The errors of [`max_instances`](Self::max_instances).
    pub fn ranges(&self, limits: &DeviceLimits) -> Result<impl Iterator<Item = Range<usize>>, Error> {
        let (most, end) = (self.max_instances(limits)?, self.packed.instances.end);
        let starts = self.packed.instances.clone().step_by(most);
        Ok(starts.map(move |start| start..end.min(start.saturating_add(most))))
    }

    /// The uniform of a batch of some of the instances.
    pub fn record(&self, instances: usize, limits: &DeviceLimits) -> BatchRecord {
        let &Self { packed, plan, layout, .. } = self;
        BatchRecord {
            skeleton: self.skeleton.record,
            instance_count: instances as u32,
            lane_count: plan.lane_count,
            lane_inverse: plan.lane_inverse(),
            span_count: plan.span_count,
            groups_per_row: limits.groups_per_row(),
            // Goals that need local transforms read them from their output.
            outputs: layout.bits() | if self.needs_local { OUTPUT_LOCAL } else { 0 },
            first_value: layout.first_value as u32,
            value_count: layout.values as u32,
            layer_count: packed.layer_count as u32,
            instances_per_group: plan.instances_per_group,
            first_goal: self.first_goal(instances),
            goal_count: packed.goal_count as u32,
        }
    }

    /// The uniform of the pass that drives layers.
    pub fn drive_batch(&self, instances: usize, limits: &DeviceLimits) -> DriveBatch {
        DriveBatch {
            instance_count: instances as u32,
            layer_count: self.packed.layer_count as u32,
            groups_per_row: limits.groups_per_row(),
            parameter_count: self.parameters as u32,
        }
    }

    /// The uniform of the pass that reads the parameters of goals.
    pub fn goal_batch(&self, instances: usize, limits: &DeviceLimits) -> GoalBatch {
        GoalBatch {
            goal_count: (instances * self.packed.goal_count) as u32,
            goals_per_instance: self.packed.goal_count as u32,
            groups_per_row: limits.groups_per_row(),
            parameter_count: self.parameters as u32,
            first_goal: self.first_goal(instances),
        }
    }

    /// The offset of the first goal in the lists.
    fn first_goal(&self, instances: usize) -> u32 {
        (self.list_bytes(false).bytes(&self.counts(instances)) / 4) as u32
    }

    /// The layers of some of the instances, by their positions in the packed order.
    pub fn layers<'c>(&self, crowd: &'c PackedCrowd, instances: &Range<usize>) -> &'c [LayerRecord] {
        let packed = self.packed;
        let first = packed.first_layer + (instances.start - packed.instances.start) * packed.layer_count;
        &crowd.layers[first..][..instances.len() * packed.layer_count]
    }

    /// The drivers of the layers of some of the instances; none if no layer is driven.
    pub fn drives<'c>(&self, crowd: &'c PackedCrowd, instances: &Range<usize>) -> &'c [DriveRecord] {
        let packed = self.packed;
        let Some(first_drive) = packed.first_drive else { return &[] };
        let first = first_drive + (instances.start - packed.instances.start) * packed.layer_count;
        &crowd.drives[first..][..instances.len() * packed.layer_count]
    }

    /// The goals of some of the instances.
    pub fn goals<'c>(&self, crowd: &'c PackedCrowd, instances: &Range<usize>) -> &'c [GoalRecord] {
        let packed = self.packed;
        let first = packed.first_goal + (instances.start - packed.instances.start) * packed.goal_count;
        &crowd.goals[first..][..instances.len() * packed.goal_count]
    }
}

/// The words of a displacement of a skeleton, with its head.
pub(crate) fn displacement_words(skeleton: &SkeletonRecord) -> usize {
    let numbers = skeleton.weight_count as usize + skeleton.property_width as usize;
    let joints = DISPLACED_JOINT as usize * skeleton.joint_count as usize;
    DISPLACED_HEAD as usize + joints + DISPLACED_NUMBER as usize * numbers
}

/// The place in the lists of the offset of an instance's displacement, by its slot.
pub(crate) fn displacement_entry(instances: usize, slot: usize) -> usize {
    1 + 2 * instances + slot
}

/// The place in the lists of the displacements, of which each has so many words.
pub(crate) fn displacement_offset(instances: usize, place: usize, words: usize) -> usize {
    1 + 3 * instances + place * words
}
