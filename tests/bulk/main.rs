//! Tests of motion in bulk: BVH files and `posse bake`. One module per theme.

/// Scenes and builders of the other test binary.
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "each test binary needs a part of it")]
mod support;

/// Arrays of clips at many times: hand-worked cases, and random scenes compared with the reference.
mod arrays;
/// `posse bake`, run as from a shell.
mod bake_command;
/// The BVH importer: hand-worked cases on every engine, spellings, parts, broken files, and the commands.
mod bvh;
/// `posse eval --fps`: the frames of a clip.
mod eval_frames;
/// `posse eval --format npz`: the bits of the arrays, and the option `--threads`.
mod eval_npz;
/// The files of each format, as other readers see them.
mod formats;
