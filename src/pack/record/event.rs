//! Records of the search for events: its uniform, and the list of occurrences.

use crate::pack::record::record;

record! {
    /// The uniform of a dispatch that searches for events, which all its instances share.
    EventBatch {
        /// The number of instances.
        instance_count: u32,
        /// The layer records per instance.
        layer_count: u32,
        /// The workgroups per row of the dispatch.
        groups_per_row: u32,
        /// The most occurrences that the list holds.
        capacity: u32,
    }
}

record! {
    /// An event that a layer has reached.
    OccurrenceRecord {
        /// The tick, lower half.
        tick_low: u32,
        /// The tick, upper half.
        tick_high: u32,
        /// The index of the instance in the crowd.
        instance: u32,
        /// The index of the layer in the instance.
        layer: u32,
        /// The index of the event in the clip.
        event: u32,
    }
}

record! {
    /// The head of a list of occurrences.
    EventCount {
        /// The number of occurrences in the list.
        listed: u32,
        /// The number of occurrences without room in the list, lower half.
        missed_low: u32,
        /// The number of occurrences without room in the list, upper half.
        missed_high: u32,
        /// 1 if that number exceeds 64 bits, else 0.
        missed_many: u32,
    }
}
