//! How many joints are worked on together.

/// Joints of the largest block that any instruction set works on: how much further than its end an array is read and written.
pub const LARGEST_BLOCK: usize = 16;
