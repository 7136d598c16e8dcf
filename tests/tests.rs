//! All tests of the crate's face, one module a theme. Tests of single functions stand beside the functions.

/// Files that are broken are refused, each at its place, and never do harm.
mod bad_input;
/// Third-party files, where they are at hand, become what was computed from them elsewhere.
mod collection;
/// glTF files become what they say.
mod import;
/// What the themes share: scenes, fixtures, comparisons.
mod support;
