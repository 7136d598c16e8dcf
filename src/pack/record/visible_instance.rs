//! An instance that is visible.

use crate::pack::record::record;

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
