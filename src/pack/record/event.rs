//! The events that a step reaches: what is asked, and the list that answers.

use crate::pack::record::record;

record! {
    /// What all instances of a dispatch that looks for events share: a uniform.
    EventBatch {
        /// Instances.
        instance_count: u32,
        /// Layers an instance has records of.
        layer_count: u32,
        /// Workgroups in a row of the dispatch.
        groups_per_row: u32,
        /// Occurrences that there is room for.
        capacity: u32,
    }
}

record! {
    /// An event that a layer has reached.
    OccurrenceRecord {
        /// The tick, lower half.
        tick_low: u32,
        /// Upper half.
        tick_high: u32,
        /// The crowd's index of the instance.
        instance: u32,
        /// The layer's index in the instance.
        layer: u32,
        /// The event's index in the clip.
        event: u32,
    }
}

record! {
    /// What stands before a list of occurrences.
    EventCount {
        /// Occurrences in the list.
        listed: u32,
        /// Those that found no room, lower half of their number.
        missed_low: u32,
        /// Upper half.
        missed_high: u32,
        /// 1 where there are more than that can hold.
        missed_many: u32,
    }
}
