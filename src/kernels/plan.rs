//! The choice of the kernel that poses a batch, and of the lanes and workgroup memory that each instance gets.
//!
//! Three kernels pose: one for a single plain layer, one for layers that blend, one for all other layers. Instances are
//! grouped by the kernel that they need, so that mixing costs nothing for an instance that plays one clip. A crowd that
//! was made with capacity for mixing ([`CrowdOptions`](crate::CrowdOptions)) uses the mixing kernels for all instances.
//!
//! Up to 256 joints, each joint has a lane, without loops. Where the joints of an instance nearly fill a workgroup, it
//! has one of its own. Its kernel is compiled with `ONE_INSTANCE`: the index of the instance is the index of the
//! workgroup, the same in all lanes. Other instances share a workgroup, because many of its lanes would idle. If nothing
//! but skin matrices of all instances is wanted, the kernel also knows the rounds of the hierarchy, and joints with one
//! scale along all axes need no matrices in it.
//! `docs/decisions/gpu-pose-kernel.md` and `skins-alone.md` beside it have the trials.

#[cfg(feature = "gpu")]
use crate::error::Error;
use crate::model::{Crowd, Mixing, SkinFormat};
use crate::pack::record::{MAX_BYTE_JOINTS, NONE, SkeletonRecord};
use crate::pack::{PackedBatch, PackedSkeleton};

/// The workgroup of a kernel that poses: its size, and the capacity of its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Workgroup {
    /// Invocations per workgroup.
    pub size: u32,
    /// True if one instance takes all lanes. Its kernels are compiled for that: its index, its layers and their times
    /// are then the same in all lanes.
    pub one_instance: bool,
    /// Joint matrices in workgroup memory; `None` if joint matrices are in storage.
    pub joint_capacity: Option<u32>,
    /// Search results in workgroup memory, at [`SpanCapacity::Few`].
    pub few_spans: u32,
}

/// Bytes of workgroup memory that every adapter has.
pub(crate) const WORKGROUP_BYTES: u32 = 16384;
/// Layers per workgroup of a kernel that mixes, if instances share a workgroup.
const SHARED_PLAYED_CAPACITY: u32 = 64;
/// A shared workgroup takes at most 8 lanes for 9 of a smaller workgroup, or of one for a single instance: its kernel
/// issues 4 % more instructions, and more lanes wait for each other.
const SHARED_LANES: (u32, u32) = (8, 9);
/// Search results in workgroup memory at [`SpanCapacity::Min`].
const MIN_SPANS: u32 = 16;

/// All workgroups: those of one instance, then those that several instances share, both from small to large. Each fits
/// [`WORKGROUP_BYTES`].
pub(crate) const WORKGROUPS: [Workgroup; 10] = [
    instance_workgroup(32, Some(32), 64),
    instance_workgroup(64, Some(64), 128),
    instance_workgroup(96, Some(96), 160),
    instance_workgroup(128, Some(128), 192),
    instance_workgroup(160, Some(160), 208),
    instance_workgroup(192, Some(192), 224),
    instance_workgroup(256, Some(MAX_BYTE_JOINTS), 256),
    instance_workgroup(256, None, 512),
    Workgroup { size: 64, one_instance: false, joint_capacity: Some(64), few_spans: 128 },
    Workgroup { size: 192, one_instance: false, joint_capacity: Some(192), few_spans: 256 },
];

/// A workgroup for one instance.
const fn instance_workgroup(size: u32, joint_capacity: Option<u32>, few_spans: u32) -> Workgroup {
    Workgroup { size, one_instance: true, joint_capacity, few_spans }
}

impl Workgroup {
    /// The workgroup for a skeleton of `joints` joints: the smallest of one instance with capacity for it, unless others
    /// take fewer lanes per instance.
    pub fn for_joints(joints: u32) -> Self {
        let instances = |workgroup: &Self| if workgroup.one_instance { 1 } else { workgroup.size / joints.max(1) };
        let fits = |workgroup: &&Self| workgroup.joint_capacity.is_none_or(|capacity| joints <= capacity);
        let (own, shared) = WORKGROUPS.split_at(WORKGROUPS.len() - 2);
        // The last workgroup of one instance fits any skeleton.
        let own = own.iter().find(fits).unwrap_or(&own[own.len() - 1]);
        *shared.iter().filter(fits).fold(own, |best, next| {
            let (best_lanes, next_lanes) = (best.size * instances(next), next.size * instances(best));
            if SHARED_LANES.1 * next_lanes <= SHARED_LANES.0 * best_lanes { next } else { best }
        })
    }

    /// Lanes per instance, at most the size of the workgroup.
    pub fn lane_count(&self, mixing: Mixing, joints: u32, layers: u32) -> u32 {
        if self.one_instance {
            return self.size;
        }
        let least = match mixing {
            Mixing::None => 1,
            Mixing::Blend | Mixing::Any => (self.size * layers).div_ceil(self.played_capacity()),
        };
        joints.max(least).clamp(1, self.size)
    }

    /// True if each joint has a lane of its own.
    pub fn has_lane_per_joint(&self) -> bool {
        self.joint_capacity.is_some()
    }

    /// Layers in workgroup memory of a kernel that mixes.
    pub fn played_capacity(&self) -> u32 {
        if self.one_instance { Crowd::MAX_LAYERS as u32 } else { SHARED_PLAYED_CAPACITY }
    }

    /// Search results in workgroup memory. A kernel that mixes takes up to four times [`Workgroup::few_spans`] if it
    /// needs them, but not more than [`WORKGROUP_BYTES`] leave.
    pub fn spans(&self, mixing: Mixing, capacity: SpanCapacity) -> u32 {
        let layers = if mixing == Mixing::None { 0 } else { self.played_capacity() };
        let free_bytes = WORKGROUP_BYTES - 48 * self.joint_capacity.unwrap_or(0) - 24 * layers;
        let wanted = match (capacity, mixing) {
            // An array has at least one element.
            (SpanCapacity::InLayers, _) => layers.max(1),
            (SpanCapacity::Min, _) => MIN_SPANS,
            (SpanCapacity::Few, _) | (_, Mixing::None) => self.few_spans,
            (SpanCapacity::Many | SpanCapacity::TooMany, Mixing::Blend | Mixing::Any) => 4 * self.few_spans,
        };
        wanted.min(free_bytes / 16)
    }
}

/// The capacity for search results that the layers of a workgroup need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SpanCapacity {
    /// One search result per layer, which `play.wgsl` has written into its record: each clip has at most one timeline.
    InLayers,
    /// 16 search results: one or two timelines per layer, as in most files.
    Min,
    /// [`Workgroup::few_spans`]. The workgroup takes little memory, so that more workgroups run at a time.
    Few,
    /// All that workgroup memory leaves.
    Many,
    /// Less than the layers need. A lane repeats the search if the result found no place.
    TooMany,
}

/// How a kernel rotates joints to goals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum GoalRotations {
    /// Instances have no goals.
    None,
    /// A rotation moves all joints below as a rigid body.
    Rigid,
    /// A rotation changes local rotations, from which all matrices follow anew.
    General,
}

impl GoalRotations {
    /// What suits the instances of a batch.
    pub fn new(batch: &PackedBatch, skeleton: &PackedSkeleton) -> Self {
        // Without chains, the capacity for goals stays empty.
        if batch.goal_count == 0 || skeleton.reach.links.is_empty() {
            return Self::None;
        }
        if skeleton.reach.rotates_rigidly { Self::Rigid } else { Self::General }
    }

    /// Refuses goals whose walks to the root a software renderer would end too early. `links` is the number of joints
    /// that lead to chains.
    ///
    /// # Errors
    /// [`Error::Limit`] for more than [`MAX_LINKS_IN_SOFTWARE`] times goals.
    #[cfg(feature = "gpu")]
    pub fn check(self, on_hardware: bool, goals: usize, links: usize) -> Result<(), Error> {
        let needed = goals.saturating_mul(links);
        if self != Self::General || on_hardware || needed <= MAX_LINKS_IN_SOFTWARE {
            return Ok(());
        }
        let what = "goals times joints that lead to chains, where scales differ by axis, on a software renderer; the CPU engine has \
                    no such limit";
        Err(Error::Limit { what: what.into(), needed: needed as u64, allowed: MAX_LINKS_IN_SOFTWARE as u64 })
    }
}

/// The kernel that poses a batch. Each distinct key is one pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PoseKernel {
    /// The mixing that the kernel does: none for one plain layer, blending, or any mixing.
    pub mixing: Mixing,
    /// The workgroup.
    pub workgroup: Workgroup,
    /// The capacity for search results.
    pub span_capacity: SpanCapacity,
    /// True if each lane keeps the matrix of its joint, from the hierarchy to the outputs.
    pub joints_in_lanes: bool,
    /// The format of the skin matrices.
    pub skin_format: SkinFormat,
    /// True if the device has shown that it packs `f16` to the nearest; only [`SkinFormat::HalfMatrix`] asks for it.
    pub packs_to_nearest: bool,
    /// True if instances may be in a transition.
    pub displaces: bool,
    /// How goals rotate joints.
    pub goals: GoalRotations,
    /// Set if the kernel poses all instances and writes nothing but skin matrices: it has no loop and no code for other
    /// outputs then.
    pub skins_only: Option<SkinsOnly>,
}

/// What a kernel knows that poses all instances and writes nothing but skin matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SkinsOnly {
    /// The rounds of the hierarchy.
    pub rounds: u32,
    /// True if joints have one scale along all axes, so that the hierarchy needs no matrices.
    pub uniform_scales: bool,
    /// True if each instance has two layers that blend.
    pub two_layers: bool,
}

/// The plan of a batch: its kernel, and the share of each instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The kernel.
    pub kernel: PoseKernel,
    /// Lanes per instance.
    pub lane_count: u32,
    /// Instances per workgroup.
    pub instances_per_group: u32,
    /// Timelines per clip whose search results have a place.
    pub span_count: u32,
}

/// The most joints that lead to chains, times goals, on a software renderer where goals change local rotations: each
/// lane walks from the chain to the root, twice per goal that aims, and a software renderer ends the loops of an
/// invocation after 65,535 rounds in total.
#[cfg(feature = "gpu")]
const MAX_LINKS_IN_SOFTWARE: usize = 24_000;

impl PoseKernel {
    /// True if the hierarchy takes one scale per joint, and no matrices.
    #[cfg(feature = "gpu")]
    pub fn has_uniform_scales(&self) -> bool {
        self.skins_only.is_some_and(|known| known.uniform_scales)
    }

    /// What a kernel with this mixing may know if it writes skin matrices alone, by `rounds` rounds.
    #[cfg(test)]
    pub fn each_skins_only(self, rounds: u32) -> impl Iterator<Item = Option<SkinsOnly>> {
        let layers = [false, true].into_iter().filter(move |&two| !two || self.mixing == Mixing::Blend);
        layers.flat_map(move |two_layers| {
            [false, true].map(|uniform_scales| Some(SkinsOnly { rounds, uniform_scales, two_layers }))
        })
    }

    /// The name among the kernels of a library, made of what the kernel is compiled for.
    pub fn name(&self) -> String {
        let mut name = match self.mixing {
            Mixing::None => "pose_none_".to_owned(),
            Mixing::Blend => "pose_blend_".to_owned(),
            Mixing::Any => "pose_any_".to_owned(),
        };
        name += &self.workgroup.size.to_string();
        name += match (self.workgroup.one_instance, self.workgroup.joint_capacity) {
            (false, _) => "_shared",
            (true, Some(_)) => "",
            (true, None) => "_storage",
        };
        name += match self.span_capacity {
            SpanCapacity::InLayers => "_one_timeline",
            SpanCapacity::Min => "_few_timelines",
            SpanCapacity::Few => "_timelines",
            SpanCapacity::Many => "_many_timelines",
            SpanCapacity::TooMany => "_any_timelines",
        };
        if self.joints_in_lanes {
            name += "_lanes";
        }
        name += match self.skin_format {
            SkinFormat::Matrix => "",
            SkinFormat::HalfMatrix if self.packs_to_nearest => "_half_packed",
            SkinFormat::HalfMatrix => "_half",
            SkinFormat::DualQuaternion => "_dual_quaternion",
        };
        if self.displaces {
            name += "_transitions";
        }
        name += match self.goals {
            GoalRotations::None => "",
            GoalRotations::Rigid => "_goals",
            GoalRotations::General => "_goals_general",
        };
        if let Some(SkinsOnly { rounds, uniform_scales, two_layers }) = self.skins_only {
            name += &format!("_skins_{rounds}_rounds");
            name += if uniform_scales { "_uniform" } else { "" };
            name += if two_layers { "_two_layers" } else { "" };
        }
        name
    }
}

impl Plan {
    /// The plan for instances of a skeleton with `layers` layers each, whose skin matrices are in full.
    pub fn new(mixing: Mixing, skeleton: &SkeletonRecord, layers: u32) -> Self {
        let workgroup = Workgroup::for_joints(skeleton.joint_count);
        let lane_count = workgroup.lane_count(mixing, skeleton.joint_count, layers);
        let instances_per_group = workgroup.size / lane_count;
        // The reference of an additive layer has search results of its own, which no record of a layer holds.
        let samples = if mixing == Mixing::Any { 2 } else { 1 };
        let shares = instances_per_group * layers * samples;
        let spans_per_share = |capacity| workgroup.spans(mixing, capacity) / shares;
        let fits = |&capacity: &SpanCapacity| skeleton.timeline_count <= spans_per_share(capacity);
        let capacities = [SpanCapacity::Min, SpanCapacity::Few, SpanCapacity::Many];
        let in_layers = mixing != Mixing::Any && skeleton.timeline_count == 1;
        let in_workgroup = || capacities.into_iter().find(fits).unwrap_or(SpanCapacity::TooMany);
        let span_capacity = if in_layers { SpanCapacity::InLayers } else { in_workgroup() };
        let span_count = spans_per_share(span_capacity).min(skeleton.timeline_count);
        let kernel = PoseKernel {
            mixing,
            workgroup,
            span_capacity,
            joints_in_lanes: workgroup.has_lane_per_joint() && skeleton.skin_matrices != NONE,
            skin_format: SkinFormat::Matrix,
            packs_to_nearest: false,
            displaces: false,
            goals: GoalRotations::None,
            skins_only: None,
        };
        Self { kernel, lane_count, instances_per_group, span_count }
    }

    /// 65,536 divided by the lanes per instance, rounded up.
    pub fn lane_inverse(&self) -> u32 {
        65_536_u32.div_ceil(self.lane_count)
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
    pub fn with_goals(self, goals: GoalRotations) -> Self {
        // Goals move all joints after the hierarchy.
        let joints_in_lanes = self.kernel.joints_in_lanes && goals == GoalRotations::None;
        Self { kernel: PoseKernel { goals, joints_in_lanes, ..self.kernel }, ..self }
    }

    /// The same plan for instances of `layers` layers each that are all posed, of which only skin matrices are wanted;
    /// `uniform_scales` is that of the skeleton. It comes last: the kernel stays as it is unless lanes keep the matrices
    /// of their joints.
    pub fn with_skins_only(self, skeleton: &SkeletonRecord, uniform_scales: bool, layers: u32) -> Self {
        // A displacement may come from any pose, with any scales.
        let uniform_scales = uniform_scales && !self.kernel.displaces;
        let two_layers = self.kernel.mixing == Mixing::Blend && layers == 2;
        let skins_only = SkinsOnly { rounds: skeleton.round_count, uniform_scales, two_layers };
        let skins_only = self.kernel.joints_in_lanes.then_some(skins_only);
        Self { kernel: PoseKernel { skins_only, ..self.kernel }, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_gets_lanes_for_its_joints() {
        let lanes = |mixing, joints, layers| Workgroup::for_joints(joints).lane_count(mixing, joints, layers);
        // Rigs that share a workgroup have a lane per joint, others all lanes of it.
        assert_eq!([1, 2, 5, 16, 24, 43].map(|joints| lanes(Mixing::None, joints, 1)), [1, 2, 5, 16, 24, 43]);
        assert_eq!([28, 49, 64, 65, 130].map(|joints| lanes(Mixing::None, joints, 1)), [32, 64, 64, 96, 160]);
        assert_eq!([200, 9999].map(|joints| lanes(Mixing::None, joints, 1)), [256, 256]);
        // 64 layers fit a workgroup that is shared.
        assert_eq!([1, 2, 3, 8].map(|layers| lanes(Mixing::Any, 1, layers)), [1, 2, 3, 8]);
        assert_eq!([3, 8].map(|layers| lanes(Mixing::Any, 17, layers)), [17, 24]);
        // By hand: 8 instances of 24 joints fill 192 lanes; two of 28 joints take 64, as alone.
        let workgroup = |joints| {
            let Workgroup { size, one_instance, joint_capacity, .. } = Workgroup::for_joints(joints);
            (size, one_instance, joint_capacity.is_some())
        };
        assert_eq!([1, 10, 16, 20].map(workgroup), [(64, false, true); 4]);
        assert_eq!([13, 17, 24, 33, 43, 48].map(workgroup), [(192, false, true); 6]);
        for (joints, size) in [(28, 32), (32, 32), (49, 64), (64, 64), (65, 96), (96, 96), (97, 128), (128, 128)] {
            assert_eq!(workgroup(joints), (size, true, true), "{joints}");
        }
        for (joints, size) in [(129, 160), (160, 160), (161, 192), (192, 192), (193, 256), (256, 256)] {
            assert_eq!(workgroup(joints), (size, true, true), "{joints}");
        }
        assert_eq!([257, 9999].map(workgroup), [(256, true, false); 2]);
    }

    #[test]
    fn a_lane_is_divided_by_a_product() {
        for joint_count in 1..=48 {
            let plan = Plan::new(Mixing::None, &SkeletonRecord { joint_count, ..Default::default() }, 1);
            for lane in 0..plan.kernel.workgroup.size {
                assert_eq!((lane * plan.lane_inverse()) >> 16, lane / plan.lane_count, "{lane}, {}", plan.lane_count);
            }
        }
    }

    #[test]
    fn search_results_fit_or_lanes_repeat_some_searches() {
        let plan = |mixing, joint_count, timeline_count, layers| {
            let skeleton = SkeletonRecord { joint_count, timeline_count, ..Default::default() };
            let plan = Plan::new(mixing, &skeleton, layers);
            (plan.instances_per_group, plan.span_count, plan.kernel.span_capacity)
        };
        // The smallest capacity, for one instance or for four.
        assert_eq!(plan(Mixing::None, 64, 16, 1), (1, 16, SpanCapacity::Min));
        assert_eq!(plan(Mixing::None, 64, 17, 1), (1, 17, SpanCapacity::Few));
        assert_eq!(plan(Mixing::None, 16, 4, 1), (4, 4, SpanCapacity::Min));
        assert_eq!(plan(Mixing::Any, 64, 2, 4), (1, 2, SpanCapacity::Min));
        // 128 results in a workgroup, of one instance or of four.
        assert_eq!(plan(Mixing::None, 64, 128, 1), (1, 128, SpanCapacity::Few));
        assert_eq!(plan(Mixing::None, 64, 129, 1), (1, 128, SpanCapacity::TooMany));
        assert_eq!(plan(Mixing::None, 16, 129, 1), (4, 32, SpanCapacity::TooMany));
        // Up to 512 in a workgroup that mixes; an additive layer takes twice as many.
        assert_eq!(plan(Mixing::Blend, 64, 64, 2), (1, 64, SpanCapacity::Few));
        assert_eq!(plan(Mixing::Any, 64, 64, 2), (1, 64, SpanCapacity::Many));
        assert_eq!(plan(Mixing::Any, 64, 129, 2), (1, 128, SpanCapacity::TooMany));
        // The only search result of a layer is in its record, but for the reference of an additive layer.
        assert_eq!(plan(Mixing::None, 64, 1, 1), (1, 1, SpanCapacity::InLayers));
        assert_eq!(plan(Mixing::None, 300, 1, 1), (1, 1, SpanCapacity::InLayers));
        assert_eq!(plan(Mixing::Blend, 1, 1, 8), (8, 1, SpanCapacity::InLayers));
        assert_eq!(plan(Mixing::None, 16, 1, 1), (4, 0, SpanCapacity::InLayers), "a sampler holds it");
        assert_eq!(plan(Mixing::Any, 64, 1, 8), (1, 1, SpanCapacity::Min));
        assert_eq!(plan(Mixing::None, 64, 0, 1), (1, 0, SpanCapacity::Min));
    }

    #[test]
    fn lanes_keep_the_matrices_of_their_joints_if_each_joint_has_one_skin_matrix_and_no_goals() {
        let keeps = |joint_count, skin_matrices, goals| {
            let skeleton = SkeletonRecord { joint_count, skin_matrices, ..Default::default() };
            Plan::new(Mixing::None, &skeleton, 1).with_goals(goals).kernel.joints_in_lanes
        };
        let found = [16, 17, 256, 257].map(|joints| keeps(joints, 0, GoalRotations::None));
        assert_eq!(found, [true, true, true, false]);
        assert!(!keeps(64, NONE, GoalRotations::None));
        assert!(!keeps(64, 0, GoalRotations::Rigid));
    }

    #[test]
    fn kernels_of_skins_alone_know_the_rounds_if_lanes_keep_matrices() {
        let found = |joint_count, goals, displaces, uniform_scales| {
            let skeleton = SkeletonRecord { joint_count, round_count: 5, ..Default::default() };
            let plan = Plan::new(Mixing::None, &skeleton, 1).with_goals(goals).with_displacements(displaces);
            plan.with_skins_only(&skeleton, uniform_scales, 1).kernel.skins_only
        };
        let known = |uniform_scales| Some(SkinsOnly { rounds: 5, uniform_scales, two_layers: false });
        for uniform in [false, true] {
            let found = [16, 17, 256, 257].map(|joints| found(joints, GoalRotations::None, false, uniform));
            assert_eq!(found, [known(uniform), known(uniform), known(uniform), None]);
        }
        assert_eq!(found(64, GoalRotations::Rigid, false, true), None);
        assert_eq!(found(64, GoalRotations::None, true, true), known(false), "a displacement may have any scales");
    }
}
