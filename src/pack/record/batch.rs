//! The record of a batch, and the entries of a visible list.

use crate::pack::record::{SkeletonRecord, constants, record};

constants! {
    /// Bit of [`BatchRecord::outputs`]: local transforms.
    pub const OUTPUT_LOCAL: u32 = 1;
    /// Bit of [`BatchRecord::outputs`]: model matrices.
    pub const OUTPUT_MODEL: u32 = 2;
    /// Bit of [`BatchRecord::outputs`]: skin matrices.
    pub const OUTPUT_SKIN: u32 = 4;
}

record! {
    /// The uniform of a dispatch, which all its instances share.
    BatchRecord {
        /// The skeleton of all instances.
        skeleton: SkeletonRecord,
        /// The number of instances.
        instance_count: u32,
        /// The lanes per instance: a power of two, at most the size of a workgroup.
        lane_count: u32,
        /// The number of spans per instance that fit workgroup memory. The spans of further timelines are computed again.
        span_count: u32,
        /// The workgroups per row of the dispatch.
        groups_per_row: u32,
        /// The wanted outputs: bits of local, model and skin.
        outputs: u32,
        /// The first written number among an instance's morph weights and properties.
        first_value: u32,
        /// The number of written morph weights and properties.
        value_count: u32,
        /// The layer records per instance.
        layer_count: u32,
        /// The instances per workgroup.
        instances_per_group: u32,
        /// The offset in the lists of the goals of the first instance.
        first_goal: u32,
        /// The goals per instance.
        goal_count: u32,
    }
}

record! {
    /// An entry of the visible list of a batch, which a culling pass fills.
    VisibleInstance {
        /// The slot of the instance in the batch. An entry with a slot beyond the last is skipped.
        slot: u32,
        /// The number of joints that are sampled, level by level from the roots. The other joints keep their local rest pose. A
        /// number from the joint count on samples all joints.
        joints: u32,
        /// The instance is posed in frames in which its slot plus the frame number is a multiple of this. 0 and 1: in each frame.
        update_interval: u32,
    }
}
