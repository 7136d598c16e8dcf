//! The choice of the kernel that poses a batch, and of the lanes and workgroup memory that each instance gets.
//!
//! Three kernels pose: one for a single plain layer, one for layers that blend, one for all other layers. Instances are
//! grouped by the kernel that they need, so that mixing costs nothing for an instance that plays one clip. A crowd that
//! was made with capacity for mixing ([`CrowdOptions`](crate::CrowdOptions)) uses the mixing kernels for all instances.
//!
//! An instance of 17 joints or more has a workgroup of its own. Its kernel is compiled with `ONE_INSTANCE`: the index
//! of the instance is that of the workgroup, the same in all lanes. Up to 256 joints, each joint has a lane, without
//! loops. Smaller instances share a workgroup, because most lanes of a workgroup would idle.
//! `docs/decisions/gpu-pose-kernel.md` has the trials.

use crate::error::Error;
use crate::model::{Crowd, Mixing, SkinFormat};
use crate::pack::record::{NONE, SkeletonRecord};
use crate::pack::{PackedBatch, PackedSkeleton};

/// The way in which the invocations of a workgroup share the work of posing. Both forms give the same poses, within the
/// contract.
///
/// The forms differ in the hierarchy (`shaders/shared/hierarchy.wgsl` and `hierarchy_serial.wgsl`), in the number of lanes per instance,
/// in what a lane does once for all, and in branches: in the parallel form, a kernel before the pose pass computes the times of layers, a
/// lane may keep the matrix of its joint up to the outputs, keys are loaded without branches where that is possible, and rotations
/// between near keys have a series of their own.
///
/// # Examples
/// ```
/// use posse::{AdapterKind, GpuContext, KernelForm};
///
/// # fn main() -> Result<(), posse::Error> {
/// let gpu = GpuContext::new(AdapterKind::Any)?;
/// let form = KernelForm::for_device(&gpu.device);
/// assert_eq!(form == KernelForm::Parallel, gpu.is_hardware());
/// assert_eq!(KernelForm::ALL.map(KernelForm::name), ["parallel", "serial"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KernelForm {
    /// The lanes of a workgroup share the joints of an instance and wait for each other between stages. It suits GPUs.
    Parallel,
    /// Each lane poses an instance of its own, parents before children, and never waits. It suits software renderers, in which
    /// the invocations are the lanes of a vector: there, a barrier costs more than a walk over the joints. Work that is too
    /// much for one lane (about a thousand joints, or a hundred joints in eight layers) is done in the parallel form.
    Serial,
}

impl KernelForm {
    /// Both forms.
    pub const ALL: [Self; 2] = [Self::Parallel, Self::Serial];

    /// The form that suits a device: serial for a software renderer, otherwise parallel.
    pub fn for_device(device: &wgpu::Device) -> Self {
        Self::for_adapter(&device.adapter_info())
    }

    /// The form that suits an adapter: serial for a software renderer, otherwise parallel.
    pub fn for_adapter(info: &wgpu::AdapterInfo) -> Self {
        match info.device_type {
            wgpu::DeviceType::Cpu => Self::Serial,
            _ => Self::Parallel,
        }
    }

    /// The name of the form in reports: `parallel` or `serial`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parallel => "parallel",
            Self::Serial => "serial",
        }
    }
}

/// The workgroup of a kernel that poses: its form, its size, and the room in its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Workgroup {
    /// The way in which lanes share the work.
    pub form: KernelForm,
    /// Invocations per workgroup.
    pub size: u32,
    /// True if one instance takes all lanes. Its kernels are compiled for that: its index, its layers and their times are then the
    /// same in all lanes.
    pub one_instance: bool,
    /// Joint matrices in workgroup memory; `None` if joint matrices are in storage.
    pub joint_capacity: Option<u32>,
    /// Search results in workgroup memory, at [`SpanRoom::Few`].
    pub span_capacity: u32,
}

/// Bytes of workgroup memory that every adapter has.
pub(super) const WORKGROUP_BYTES: u32 = 16384;
/// Layers per workgroup of a kernel that mixes, if instances share a workgroup.
const SHARED_PLAYED_CAPACITY: u32 = 64;
/// The fewest instances that share a workgroup, so that a rig of more than 16 joints has one of its own: fewer would leave less of
/// the gain of sharing than a workgroup compiled for one instance gives.
const LEAST_INSTANCES_SHARED: u32 = 4;
/// Search results in workgroup memory at [`SpanRoom::Least`].
const LEAST_SPANS: u32 = 16;

/// All workgroups, from small to large in each form. Each fits [`WORKGROUP_BYTES`].
pub(super) const WORKGROUPS: [Workgroup; 7] = [
    shared_workgroup(KernelForm::Parallel, 64, Some(64), 128),
    instance_workgroup(32, Some(32), 64),
    instance_workgroup(64, Some(64), 128),
    instance_workgroup(128, Some(128), 192),
    instance_workgroup(256, Some(256), 256),
    instance_workgroup(256, None, 512),
    // Eight lanes: a software renderer has eight lanes per vector, and eight instances of eight layers fill the room for layers.
    shared_workgroup(KernelForm::Serial, 8, None, 512),
];

/// A workgroup that several instances share.
const fn shared_workgroup(form: KernelForm, size: u32, joint_capacity: Option<u32>, span_capacity: u32) -> Workgroup {
    Workgroup { form, size, one_instance: false, joint_capacity, span_capacity }
}

/// A workgroup for one instance.
const fn instance_workgroup(size: u32, joint_capacity: Option<u32>, span_capacity: u32) -> Workgroup {
    Workgroup { form: KernelForm::Parallel, size, one_instance: true, joint_capacity, span_capacity }
}

impl Workgroup {
    /// The smallest workgroup of a form that has room for a skeleton of `joints` joints.
    pub fn for_joints(form: KernelForm, joints: u32) -> Self {
        let fits = |workgroup: &&Self| {
            let instances = if workgroup.one_instance { 1 } else { LEAST_INSTANCES_SHARED };
            workgroup.form == form && workgroup.joint_capacity.is_none_or(|capacity| joints <= capacity / instances)
        };
        // The largest workgroup of each form fits any skeleton.
        *WORKGROUPS.iter().find(fits).unwrap_or(&WORKGROUPS[WORKGROUPS.len() - 1])
    }

    /// Lanes per instance: 1 in the serial form; in the parallel form a power of two, at most the size of the workgroup.
    pub fn lane_count(&self, mixing: Mixing, joints: u32, layers: u32) -> u32 {
        if self.form == KernelForm::Serial {
            return 1;
        }
        if self.one_instance {
            return self.size;
        }
        let least = match mixing {
            Mixing::None => 1,
            Mixing::Blend | Mixing::Any => (self.size * layers).div_ceil(self.played_capacity()),
        };
        let lanes = joints.max(least).max(1).checked_next_power_of_two();
        lanes.map_or(self.size, |lanes| lanes.min(self.size))
    }

    /// True if `play.wgsl` runs before its kernels, which take the times of layers from their records. In the serial form, a lane computes
    /// the times of its instance by itself.
    pub fn needs_played_layers(&self) -> bool {
        self.form == KernelForm::Parallel
    }

    /// True if the records of layers can hold the search results that its kernels of a mixing need. The reference of an additive layer
    /// has one that no record holds.
    pub fn takes_spans_from_layers(&self, mixing: Mixing) -> bool {
        self.needs_played_layers() && mixing != Mixing::Any
    }

    /// True if each joint has a lane of its own.
    pub fn has_lane_per_joint(&self) -> bool {
        self.one_instance && self.joint_capacity.is_some()
    }

    /// Layers in workgroup memory of a kernel that mixes.
    pub fn played_capacity(&self) -> u32 {
        if self.one_instance { Crowd::MAX_LAYERS as u32 } else { SHARED_PLAYED_CAPACITY }
    }

    /// Search results in workgroup memory. A kernel that mixes takes up to four times [`Workgroup::span_capacity`] if it needs
    /// them, but not more than [`WORKGROUP_BYTES`] leave.
    pub fn span_capacity(&self, mixing: Mixing, room: SpanRoom) -> u32 {
        let layers = if mixing == Mixing::None { 0 } else { self.played_capacity() };
        let free_bytes = WORKGROUP_BYTES - 48 * self.joint_capacity.unwrap_or(0) - 24 * layers;
        let wanted = match (room, mixing) {
            // An array has at least one element.
            (SpanRoom::InLayers, _) => layers.max(1),
            (SpanRoom::Least, _) => LEAST_SPANS,
            (SpanRoom::Few, _) | (_, Mixing::None) => self.span_capacity,
            (SpanRoom::Many | SpanRoom::TooMany, Mixing::Blend | Mixing::Any) => 4 * self.span_capacity,
        };
        wanted.min(free_bytes / 16)
    }
}

/// The room for search results that the layers of a workgroup need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SpanRoom {
    /// One search result per layer, which `play.wgsl` has written into its record: each clip has at most one timeline.
    InLayers,
    /// Room for 16 search results: one or two timelines per layer, as in most files.
    Least,
    /// Little room. The workgroup takes little memory, so that more workgroups run at a time.
    Few,
    /// All room that workgroup memory leaves.
    Many,
    /// More than there is. A lane repeats the search if the result found no room.
    TooMany,
}

/// The way in which a kernel turns joints to goals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum GoalTurns {
    /// Instances have no goals.
    None,
    /// A turn moves all below a joint as a rigid body.
    Rigid,
    /// A turn changes local rotations, from which all matrices follow anew.
    General,
}

impl GoalTurns {
    /// The way that suits the instances of a batch.
    pub fn new(batch: &PackedBatch, skeleton: &PackedSkeleton) -> Self {
        // Without chains, the room for goals stays empty.
        if batch.goal_count == 0 || skeleton.reach.links.is_empty() {
            return Self::None;
        }
        if skeleton.reach.turns_rigidly { Self::Rigid } else { Self::General }
    }

    /// Refuses goals whose walks to the root a software renderer would end too early. `links` is the number of joints that lead to
    /// chains.
    ///
    /// # Errors
    /// [`Error::Limit`] for more than [`MOST_SERIAL_LINKS`] times goals.
    pub fn check(self, form: KernelForm, goals: usize, links: usize) -> Result<(), Error> {
        let needed = goals.saturating_mul(links);
        if self != Self::General || form == KernelForm::Parallel || needed <= MOST_SERIAL_LINKS {
            return Ok(());
        }
        let what = "goals times joints that lead to chains, where scales differ by axis, on a software renderer; the CPU engine has \
                    no such limit";
        Err(Error::Limit { what: what.into(), needed: needed as u64, allowed: MOST_SERIAL_LINKS as u64 })
    }
}

/// The kernel that poses a batch. Each distinct key is one pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PoseKernel {
    /// The mixing that the kernel does: none for one plain layer, blending, or any mixing.
    pub mixing: Mixing,
    /// The workgroup, with the form of the kernel.
    pub workgroup: Workgroup,
    /// The room for search results.
    pub span_room: SpanRoom,
    /// True if each lane keeps the matrix of its joint, from the hierarchy to the outputs.
    pub joints_in_lanes: bool,
    /// The format of the skin matrices.
    pub skin_format: SkinFormat,
    /// True if instances may be in a transition.
    pub displaces: bool,
    /// The way in which goals turn joints.
    pub goals: GoalTurns,
}

/// The plan of a batch: its kernel, and the share of each instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    /// The kernel.
    pub kernel: PoseKernel,
    /// Lanes per instance.
    pub lane_count: u32,
    /// Instances per workgroup.
    pub instances_per_group: u32,
    /// Timelines per clip that have room for their search results.
    pub span_count: u32,
}

/// The most samples that an invocation of the serial form takes. A software renderer ends the loops of an invocation after
/// 65,535 rounds in total, and a sample can take a few dozen rounds.
const MOST_SERIAL_SAMPLES: u32 = 1024;
/// The most joints times goals of an instance that an invocation of the serial form turns, for the same reason.
const MOST_SERIAL_TURNS: usize = 8192;
/// The most joints that lead to chains, times goals, on a software renderer where turns change local rotations: each lane walks from
/// the chain to the root, twice per goal that aims.
const MOST_SERIAL_LINKS: usize = 24_000;

impl KernelForm {
    /// The form for instances of a batch with goals: parallel if they are too much for one lane.
    pub(super) fn for_goals(self, batch: &PackedBatch, skeleton: &SkeletonRecord) -> Self {
        let turns = batch.goal_count.saturating_mul(skeleton.joint_count as usize);
        if turns > MOST_SERIAL_TURNS { Self::Parallel } else { self }
    }
}

impl Plan {
    /// The plan for instances of a skeleton with `layers` layers each, whose skin matrices are in full. Work that is too much
    /// for one lane gets the parallel form.
    pub fn new(form: KernelForm, mixing: Mixing, skeleton: &SkeletonRecord, layers: u32) -> Self {
        let plan = Self::in_form(form, mixing, skeleton, layers);
        // A kernel for any mixing goes over the layers twice, and samples each up to twice.
        let samples_per_layer = if mixing == Mixing::Any { 4 } else { 1 };
        let targets = [skeleton.joint_count, skeleton.weight_count, skeleton.property_width];
        let samples = targets.into_iter().fold(0, u32::saturating_add).saturating_mul(samples_per_layer * layers);
        if samples <= MOST_SERIAL_SAMPLES && plan.kernel.span_room != SpanRoom::TooMany {
            return plan;
        }
        Self::in_form(KernelForm::Parallel, mixing, skeleton, layers)
    }

    /// The same plan with another format of skin matrices.
    pub fn with_skin_format(self, skin_format: SkinFormat) -> Self {
        Self { kernel: PoseKernel { skin_format, ..self.kernel }, ..self }
    }

    /// The same plan for instances that may be in a transition, or not.
    pub fn with_displacements(self, displaces: bool) -> Self {
        Self { kernel: PoseKernel { displaces, ..self.kernel }, ..self }
    }

    /// The same plan for instances with goals, or without.
    pub fn with_goals(self, goals: GoalTurns) -> Self {
        // Goals move all joints after the hierarchy.
        let joints_in_lanes = self.kernel.joints_in_lanes && goals == GoalTurns::None;
        Self { kernel: PoseKernel { goals, joints_in_lanes, ..self.kernel }, ..self }
    }

    fn in_form(form: KernelForm, mixing: Mixing, skeleton: &SkeletonRecord, layers: u32) -> Self {
        let workgroup = Workgroup::for_joints(form, skeleton.joint_count);
        let lane_count = workgroup.lane_count(mixing, skeleton.joint_count, layers);
        let instances_per_group = workgroup.size / lane_count;
        // The reference of an additive layer has search results of its own.
        let samples = if mixing == Mixing::Any { 2 } else { 1 };
        let shares = instances_per_group * layers * samples;
        let spans_per_share = |room| workgroup.span_capacity(mixing, room) / shares;
        let fits = |&room: &SpanRoom| skeleton.timeline_count <= spans_per_share(room);
        let rooms = [SpanRoom::Least, SpanRoom::Few, SpanRoom::Many];
        let in_layers = workgroup.takes_spans_from_layers(mixing) && skeleton.timeline_count == 1;
        let in_workgroup = || rooms.into_iter().find(fits).unwrap_or(SpanRoom::TooMany);
        let span_room = if in_layers { SpanRoom::InLayers } else { in_workgroup() };
        let span_count = spans_per_share(span_room).min(skeleton.timeline_count);
        let kernel = PoseKernel {
            mixing,
            workgroup,
            span_room,
            joints_in_lanes: workgroup.has_lane_per_joint() && skeleton.skin_matrices != NONE,
            skin_format: SkinFormat::Matrix,
            displaces: false,
            goals: GoalTurns::None,
        };
        Self { kernel, lane_count, instances_per_group, span_count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_gets_lanes_for_its_joints() {
        let lanes = |mixing, joints, layers| {
            Workgroup::for_joints(KernelForm::Parallel, joints).lane_count(mixing, joints, layers)
        };
        assert_eq!([1, 2, 5, 16].map(|joints| lanes(Mixing::None, joints, 1)), [1, 2, 8, 16]);
        assert_eq!([17, 32].map(|joints| lanes(Mixing::None, joints, 1)), [32, 32]);
        assert_eq!([33, 64, 65, 200, 9999].map(|joints| lanes(Mixing::None, joints, 1)), [64, 64, 128, 256, 256]);
        assert_eq!([1, 2, 3, 8].map(|layers| lanes(Mixing::Any, 1, layers)), [1, 2, 4, 8]);
        assert_eq!(lanes(Mixing::Any, 40, 8), 64);
        let workgroups =
            |form| [1, 16, 17, 32, 33, 64, 65, 256, 257, 9999].map(|joints| Workgroup::for_joints(form, joints));
        assert_eq!(workgroups(KernelForm::Parallel), [0, 0, 1, 1, 2, 2, 3, 4, 5, 5].map(|index| WORKGROUPS[index]));
        assert_eq!(workgroups(KernelForm::Serial), [WORKGROUPS[6]; 10]);
    }

    #[test]
    fn a_lane_of_the_serial_form_has_room_for_the_most_layers() {
        let serial = Workgroup::for_joints(KernelForm::Serial, 1);
        assert_eq!(serial.lane_count(Mixing::Any, 9999, Crowd::MAX_LAYERS as u32), 1);
        assert!(serial.size * Crowd::MAX_LAYERS as u32 <= serial.played_capacity());
    }

    #[test]
    fn search_results_fit_or_lanes_repeat_some_searches() {
        let plan = |form, mixing, joint_count, timeline_count, layers| {
            let skeleton = SkeletonRecord { joint_count, timeline_count, ..Default::default() };
            let plan = Plan::new(form, mixing, &skeleton, layers);
            (plan.instances_per_group, plan.span_count, plan.kernel.span_room)
        };
        // The least room, for one instance or for four.
        assert_eq!(plan(KernelForm::Parallel, Mixing::None, 64, 16, 1), (1, 16, SpanRoom::Least));
        assert_eq!(plan(KernelForm::Parallel, Mixing::None, 64, 17, 1), (1, 17, SpanRoom::Few));
        assert_eq!(plan(KernelForm::Parallel, Mixing::None, 16, 4, 1), (4, 4, SpanRoom::Least));
        assert_eq!(plan(KernelForm::Parallel, Mixing::Any, 64, 2, 4), (1, 2, SpanRoom::Least));
        // 128 results in a workgroup, of one instance or of four.
        assert_eq!(plan(KernelForm::Parallel, Mixing::None, 64, 128, 1), (1, 128, SpanRoom::Few));
        assert_eq!(plan(KernelForm::Parallel, Mixing::None, 64, 129, 1), (1, 128, SpanRoom::TooMany));
        assert_eq!(plan(KernelForm::Parallel, Mixing::None, 16, 129, 1), (4, 32, SpanRoom::TooMany));
        // Up to 512 in a workgroup that mixes; an additive layer takes twice as many.
        assert_eq!(plan(KernelForm::Parallel, Mixing::Blend, 64, 64, 2), (1, 64, SpanRoom::Few));
        assert_eq!(plan(KernelForm::Parallel, Mixing::Any, 64, 64, 2), (1, 64, SpanRoom::Many));
        assert_eq!(plan(KernelForm::Parallel, Mixing::Any, 64, 129, 2), (1, 128, SpanRoom::TooMany));
        // The only search result of a layer is in its record, but for the reference of an additive layer.
        assert_eq!(plan(KernelForm::Parallel, Mixing::None, 64, 1, 1), (1, 1, SpanRoom::InLayers));
        assert_eq!(plan(KernelForm::Parallel, Mixing::None, 300, 1, 1), (1, 1, SpanRoom::InLayers));
        assert_eq!(plan(KernelForm::Parallel, Mixing::Blend, 1, 1, 8), (8, 1, SpanRoom::InLayers));
        assert_eq!(
            plan(KernelForm::Parallel, Mixing::None, 16, 1, 1),
            (4, 0, SpanRoom::InLayers),
            "a sampler holds it"
        );
        assert_eq!(plan(KernelForm::Parallel, Mixing::Any, 64, 1, 8), (1, 1, SpanRoom::Least));
        assert_eq!(plan(KernelForm::Parallel, Mixing::None, 64, 0, 1), (1, 0, SpanRoom::Least));
        assert_eq!(plan(KernelForm::Serial, Mixing::None, 64, 1, 1), (8, 1, SpanRoom::Least));
        // 16, 512 and 928 for eight instances.
        assert_eq!(plan(KernelForm::Serial, Mixing::None, 64, 64, 1), (8, 64, SpanRoom::Few));
        assert_eq!(plan(KernelForm::Serial, Mixing::Blend, 64, 58, 2), (8, 58, SpanRoom::Many));
        assert_eq!(plan(KernelForm::Serial, Mixing::Any, 64, 1, 4), (8, 1, SpanRoom::Few));
        assert_eq!(plan(KernelForm::Serial, Mixing::None, 64, 2, 1), (8, 2, SpanRoom::Least));
    }

    #[test]
    fn lanes_keep_the_matrices_of_their_joints_if_each_joint_has_one_skin_matrix_and_no_goals() {
        let keeps = |form, joint_count, skin_matrices, goals| {
            let skeleton = SkeletonRecord { joint_count, skin_matrices, ..Default::default() };
            Plan::new(form, Mixing::None, &skeleton, 1).with_goals(goals).kernel.joints_in_lanes
        };
        let parallel = [16, 17, 256, 257].map(|joints| keeps(KernelForm::Parallel, joints, 0, GoalTurns::None));
        assert_eq!(parallel, [false, true, true, false]);
        assert!(!keeps(KernelForm::Parallel, 64, NONE, GoalTurns::None));
        assert!(!keeps(KernelForm::Parallel, 64, 0, GoalTurns::Rigid));
        assert!(!keeps(KernelForm::Serial, 64, 0, GoalTurns::None));
    }

    #[test]
    fn work_that_is_too_much_for_a_lane_is_done_in_the_parallel_form() {
        let form = |mixing, joint_count, weight_count, timeline_count, layers| {
            let skeleton = SkeletonRecord { joint_count, weight_count, timeline_count, ..Default::default() };
            Plan::new(KernelForm::Serial, mixing, &skeleton, layers).kernel.workgroup.form
        };
        assert_eq!(form(Mixing::None, 1024, 0, 1, 1), KernelForm::Serial);
        assert_eq!(form(Mixing::None, 1000, 25, 1, 1), KernelForm::Parallel);
        assert_eq!(form(Mixing::Blend, 128, 0, 1, 8), KernelForm::Serial);
        assert_eq!(form(Mixing::Blend, 129, 0, 1, 8), KernelForm::Parallel);
        assert_eq!(form(Mixing::Any, 64, 0, 1, 5), KernelForm::Parallel);
        assert_eq!(form(Mixing::None, 64, 0, 65, 1), KernelForm::Parallel);
    }
}
