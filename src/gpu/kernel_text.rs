//! The WGSL of single kernels, for compilers that are not behind a device: `benches/isa` compiles them for GPUs that are not there.

use crate::gpu::plan::{GoalTurns, Plan};
use crate::gpu::shader::{
    Composed, DRIVE_ENTRY, EVENTS_ENTRY, PLAY_ENTRY, POSE_ENTRY, RESOLVE_GOALS_ENTRY, ROOT_MOTION_ENTRY,
    VISIBLE_COLLECT_ENTRY, VISIBLE_MEASURE_ENTRY,
};
use crate::model::{Mixing, SkeletonId, SkinFormat};
use crate::pack::PackedLibrary;

/// A kernel as WGSL.
#[derive(Debug, Clone)]
pub struct KernelText {
    /// The text.
    pub wgsl: String,
    /// The name of the entry point.
    pub entry_point: &'static str,
    /// The instances that a workgroup poses; `None` for kernels that do not pose.
    pub instances_per_group: Option<u32>,
}

impl KernelText {
    /// The kernel that poses instances of a skeleton with `layers` layers each that need a mixing.
    pub fn pose(
        packed: &PackedLibrary,
        skeleton: SkeletonId,
        mixing: Mixing,
        layers: u32,
        skin_format: SkinFormat,
    ) -> Self {
        let plan = Plan::new(mixing, &packed.skeletons[skeleton.index()].record, layers);
        Self::of_plan(packed, plan.with_skin_format(skin_format))
    }

    /// The kernel that poses instances of a skeleton with one layer each and goals; if `rigid` is set, of joints with a fixed uniform
    /// scale.
    pub fn goals(packed: &PackedLibrary, skeleton: SkeletonId, rigid: bool) -> Self {
        let plan = Plan::new(Mixing::None, &packed.skeletons[skeleton.index()].record, 1);
        Self::of_plan(packed, plan.with_goals(if rigid { GoalTurns::Rigid } else { GoalTurns::General }))
    }

    fn of_plan(packed: &PackedLibrary, plan: Plan) -> Self {
        let composed = Composed::pose(&plan.kernel, packed.features, &packed.interpolators);
        Self { instances_per_group: Some(plan.instances_per_group), ..Self::new(composed, POSE_ENTRY) }
    }

    /// The kernels beside those that pose: root motion, events without and with synchronised layers, played layers, drivers, goals, and
    /// the two of visible lists.
    pub fn others(packed: &PackedLibrary) -> [Self; 8] {
        [
            Self::new(Composed::root_motion(packed.features), ROOT_MOTION_ENTRY),
            Self::new(Composed::events(false), EVENTS_ENTRY),
            Self::new(Composed::events(true), EVENTS_ENTRY),
            Self::new(Composed::play(packed.features), PLAY_ENTRY),
            Self::new(Composed::drive(), DRIVE_ENTRY),
            Self::new(Composed::resolve_goals(), RESOLVE_GOALS_ENTRY),
            Self::new(Composed::visible(), VISIBLE_COLLECT_ENTRY),
            Self::new(Composed::visible(), VISIBLE_MEASURE_ENTRY),
        ]
    }

    fn new(composed: Composed, entry_point: &'static str) -> Self {
        Self { wgsl: composed.code, entry_point, instances_per_group: None }
    }
}
