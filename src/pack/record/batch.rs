//! What all instances of a dispatch share.

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
    /// What all instances of a dispatch share: a uniform.
    BatchRecord {
        /// The skeleton of all.
        skeleton: SkeletonRecord,
        /// Instances.
        instance_count: u32,
        /// Lanes of an instance: a power of two, at most the workgroup's size.
        lane_count: u32,
        /// Timelines of an instance that have a place in workgroup memory.
        span_count: u32,
        /// Workgroups in a row of the dispatch.
        groups_per_row: u32,
        /// Which of local, model and skin are wanted.
        outputs: u32,
        /// The first number written of an instance's weights and properties.
        first_value: u32,
        /// How many are written.
        value_count: u32,
        /// Layers an instance has records of.
        layer_count: u32,
        /// Instances of a workgroup.
        instances_per_group: u32,
    }
}

record! {
    /// An instance that is visible, in the list of a chunk that a culling pass fills.
    VisibleInstance {
        /// Its slot in the chunk. An entry with a slot beyond the last is skipped.
        slot: u32,
        /// How many joints are sampled, level by level from the roots; the others keep their rest pose towards their
        /// parents. As many as there are, or more: all.
        joints: u32,
        /// It is posed in each frame where its slot and the frame's number add up to a multiple of this. 0 and 1: in each.
        update_interval: u32,
    }
}
