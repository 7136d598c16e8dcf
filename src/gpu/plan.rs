//! Which kernel poses a group of instances, for which size of rigs and in which form, and how its work is shared out.

use crate::gpu::KernelForm;
use crate::model::{Mixing, SkinFormat};
use crate::pack::record::SkeletonRecord;

/// Which kernel of the fused pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// For one layer that needs no mixing.
    Plain,
    /// For layers that all blend.
    Blend,
    /// For any layers.
    Layers,
}

impl Kernel {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Blend, Self::Layers];
    /// Layers of a workgroup that mixes.
    pub const PLAYED_CAPACITY: u32 = 64;

    /// The kernel that does so much mixing.
    pub fn of(mixing: Mixing) -> Self {
        match mixing {
            Mixing::None => Self::Plain,
            Mixing::Blend => Self::Blend,
            Mixing::Any => Self::Layers,
        }
    }
}

/// The fused pass for rigs of some size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    /// How lanes share the work.
    pub form: KernelForm,
    /// Invocations of a workgroup.
    pub workgroup_size: u32,
    /// Joint matrices of a workgroup; `None` where they are in storage.
    pub joint_capacity: Option<u32>,
    /// Search results of a workgroup.
    pub span_capacity: u32,
}

/// Bytes of workgroup memory that every adapter has.
pub const WORKGROUP_BYTES: u32 = 16384;

/// All variants, from small to large in each form. Each fits [`WORKGROUP_BYTES`].
pub const VARIANTS: [Variant; 5] = [
    Variant { form: KernelForm::Parallel, workgroup_size: 64, joint_capacity: Some(64), span_capacity: 128 },
    Variant { form: KernelForm::Parallel, workgroup_size: 128, joint_capacity: Some(128), span_capacity: 192 },
    Variant { form: KernelForm::Parallel, workgroup_size: 256, joint_capacity: Some(256), span_capacity: 256 },
    Variant { form: KernelForm::Parallel, workgroup_size: 256, joint_capacity: None, span_capacity: 512 },
    // As many as a software renderer has lanes in a vector, and as find room for the most layers each.
    Variant { form: KernelForm::Serial, workgroup_size: 8, joint_capacity: None, span_capacity: 512 },
];

impl Variant {
    /// The index of a form's variant for a skeleton of so many joints.
    pub fn for_joints(form: KernelForm, joints: u32) -> usize {
        let fits = |variant: &Variant| variant.joint_capacity.is_none_or(|capacity| joints <= capacity);
        // The largest of each form fits all.
        VARIANTS.iter().position(|variant| variant.form == form && fits(variant)).unwrap_or(VARIANTS.len() - 1)
    }

    /// Lanes for an instance of so many joints and layers: one in the serial form, else a power of two, at most the workgroup's
    /// size.
    pub fn lane_count(&self, kernel: Kernel, joints: u32, layers: u32) -> u32 {
        if self.form == KernelForm::Serial {
            return 1;
        }
        let least = match kernel {
            Kernel::Plain => 1,
            Kernel::Blend | Kernel::Layers => (self.workgroup_size * layers).div_ceil(Kernel::PLAYED_CAPACITY),
        };
        let lanes = joints.max(least).max(1).checked_next_power_of_two();
        lanes.map_or(self.workgroup_size, |lanes| lanes.min(self.workgroup_size))
    }

    /// Search results of a workgroup: of a kernel that mixes, where they are many, as many as [`WORKGROUP_BYTES`] leave, up to four times
    /// as many.
    pub fn span_capacity(&self, kernel: Kernel, spans: Spans) -> u32 {
        let left = WORKGROUP_BYTES - 48 * self.joint_capacity.unwrap_or(0) - 24 * Kernel::PLAYED_CAPACITY;
        let most = if spans == Spans::Few { self.span_capacity } else { 4 * self.span_capacity };
        match kernel {
            Kernel::Plain => self.span_capacity,
            Kernel::Blend | Kernel::Layers => most.min(left / 16),
        }
    }
}

/// How many search results the layers of a workgroup have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spans {
    /// So few that a workgroup of any kernel takes little memory, and more of them run at a time.
    Few,
    /// As many as find room.
    Many,
    /// More: a lane searches for itself what found none.
    TooMany,
}

impl Spans {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Few, Self::Many, Self::TooMany];
}

/// How the work on instances of a skeleton is shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// The kernel that poses them.
    pub kernel: Kernel,
    /// The index of its variant.
    pub variant: usize,
    /// Lanes of an instance.
    pub lane_count: u32,
    /// Instances of a workgroup.
    pub instances_per_group: u32,
    /// Timelines of a clip whose search results find room.
    pub span_count: u32,
    /// How many they are.
    pub spans: Spans,
    /// How skin matrices are written.
    pub skin_format: SkinFormat,
}

/// Samples that an invocation of the serial form takes at most. A software renderer ends an invocation's loops after 65,535
/// rounds, all told, and a sample may be worth some dozens.
const MOST_SERIAL_SAMPLES: u32 = 1024;

impl Plan {
    /// For instances of a skeleton with so many layers each, whose skin matrices are written in full. What is too much for one
    /// lane is done in the parallel form.
    pub fn new(form: KernelForm, kernel: Kernel, skeleton: &SkeletonRecord, layers: u32) -> Self {
        let plan = Self::in_form(form, kernel, skeleton, layers);
        // Twice over the layers, and twice each.
        let by_layer = if kernel == Kernel::Layers { 4 } else { 1 };
        let targets = [skeleton.joint_count, skeleton.weight_count, skeleton.property_width];
        let samples = targets.into_iter().fold(0, u32::saturating_add).saturating_mul(by_layer * layers);
        if samples <= MOST_SERIAL_SAMPLES && plan.spans != Spans::TooMany {
            return plan;
        }
        Self::in_form(KernelForm::Parallel, kernel, skeleton, layers)
    }

    fn in_form(form: KernelForm, kernel: Kernel, skeleton: &SkeletonRecord, layers: u32) -> Self {
        let index = Variant::for_joints(form, skeleton.joint_count);
        let variant = VARIANTS[index];
        let lane_count = variant.lane_count(kernel, skeleton.joint_count, layers);
        let instances_per_group = variant.workgroup_size / lane_count;
        // What an additive layer is compared to is searched beside it.
        let samples = if kernel == Kernel::Layers { 2 } else { 1 };
        let shares = instances_per_group * layers * samples;
        let room = |spans| variant.span_capacity(kernel, spans) / shares;
        let fits = |&spans: &Spans| skeleton.timeline_count <= room(spans);
        let spans = [Spans::Few, Spans::Many].into_iter().find(fits).unwrap_or(Spans::TooMany);
        let span_count = room(spans).min(skeleton.timeline_count);
        let skin_format = SkinFormat::Matrix;
        Self { kernel, variant: index, lane_count, instances_per_group, span_count, spans, skin_format }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Crowd;

    #[test]
    fn an_instance_gets_lanes_for_its_joints() {
        let plain = |variant: usize, joints| VARIANTS[variant].lane_count(Kernel::Plain, joints, 1);
        assert_eq!([1, 2, 5, 64].map(|joints| plain(0, joints)), [1, 2, 8, 64]);
        assert_eq!([65, 200, 256].map(|joints| plain(2, joints)), [128, 256, 256]);
        let mixed = |layers| VARIANTS[2].lane_count(Kernel::Layers, 1, layers);
        assert_eq!([1, 2, 3, 8].map(mixed), [4, 8, 16, 32]);
        let variants = |form| [1, 64, 65, 256, 257, 9999].map(|joints| Variant::for_joints(form, joints));
        assert_eq!(variants(KernelForm::Parallel), [0, 0, 1, 2, 3, 3]);
        assert_eq!(variants(KernelForm::Serial), [4; 6]);
    }

    #[test]
    fn a_lane_of_the_serial_form_has_room_for_the_most_layers() {
        let serial = VARIANTS[Variant::for_joints(KernelForm::Serial, 1)];
        assert_eq!(serial.lane_count(Kernel::Layers, 9999, Crowd::MAX_LAYERS as u32), 1);
        assert!(serial.workgroup_size * Crowd::MAX_LAYERS as u32 <= Kernel::PLAYED_CAPACITY);
    }

    #[test]
    fn search_results_fit_or_some_are_searched_when_they_are_asked_for() {
        let plan = |form, kernel, joint_count, timeline_count, layers| {
            let skeleton = SkeletonRecord { joint_count, timeline_count, ..Default::default() };
            let plan = Plan::new(form, kernel, &skeleton, layers);
            (plan.instances_per_group, plan.span_count, plan.spans)
        };
        // 128 results in a workgroup, of one instance or of two.
        assert_eq!(plan(KernelForm::Parallel, Kernel::Plain, 64, 128, 1), (1, 128, Spans::Few));
        assert_eq!(plan(KernelForm::Parallel, Kernel::Plain, 64, 129, 1), (1, 128, Spans::TooMany));
        assert_eq!(plan(KernelForm::Parallel, Kernel::Plain, 32, 129, 1), (2, 64, Spans::TooMany));
        // Where layers are mixed, up to 512; a layer that adds takes twice as many.
        assert_eq!(plan(KernelForm::Parallel, Kernel::Blend, 64, 64, 2), (1, 64, Spans::Few));
        assert_eq!(plan(KernelForm::Parallel, Kernel::Layers, 64, 64, 2), (1, 64, Spans::Many));
        assert_eq!(plan(KernelForm::Parallel, Kernel::Layers, 64, 129, 2), (1, 128, Spans::TooMany));
        // Of eight instances, 512 and 928.
        assert_eq!(plan(KernelForm::Serial, Kernel::Plain, 64, 64, 1), (8, 64, Spans::Few));
        assert_eq!(plan(KernelForm::Serial, Kernel::Blend, 64, 58, 2), (8, 58, Spans::Many));
        assert_eq!(plan(KernelForm::Serial, Kernel::Layers, 64, 1, 4), (8, 1, Spans::Few));
    }

    #[test]
    fn what_is_too_much_for_a_lane_is_done_in_the_parallel_form() {
        let form = |kernel, joint_count, weight_count, timeline_count, layers| {
            let skeleton = SkeletonRecord { joint_count, weight_count, timeline_count, ..Default::default() };
            VARIANTS[Plan::new(KernelForm::Serial, kernel, &skeleton, layers).variant].form
        };
        assert_eq!(form(Kernel::Plain, 1024, 0, 1, 1), KernelForm::Serial);
        assert_eq!(form(Kernel::Plain, 1000, 25, 1, 1), KernelForm::Parallel);
        assert_eq!(form(Kernel::Blend, 128, 0, 1, 8), KernelForm::Serial);
        assert_eq!(form(Kernel::Blend, 129, 0, 1, 8), KernelForm::Parallel);
        assert_eq!(form(Kernel::Layers, 64, 0, 1, 5), KernelForm::Parallel);
        assert_eq!(form(Kernel::Plain, 64, 0, 65, 1), KernelForm::Parallel);
    }
}
