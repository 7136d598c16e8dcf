//! Tests of motion in bulk: BVH files and `posse bake`. One module per theme.

/// Arrays of clips at many times: hand-worked cases, and random scenes compared with the reference.
mod arrays;
