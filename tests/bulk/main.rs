//! Tests of motion in bulk: BVH files and `posse bake`. One module per theme.
