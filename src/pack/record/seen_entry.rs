//! An instance that is seen.

record! {
    /// An instance that is seen, in the list of a chunk that a culling pass fills.
    SeenEntry {
        /// Its place in the chunk. An entry with a place beyond the last is skipped.
        place: u32,
        /// How many joints are sampled, level by level from the roots; the others keep their rest pose towards their
        /// parents. As many as there are, or more: all.
        joints: u32,
        /// It is posed in each frame where its place and the frame's number add up to a multiple of this. 0 and 1: in each.
        divider: u32,
    }
}
