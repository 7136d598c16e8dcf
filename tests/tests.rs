//! All tests of the crate's face, one module a theme. Tests of single functions stand beside the functions.

/// What the themes share: scenes, fixtures, comparisons.
mod support;

/// Cases small enough to be worked out by hand, asked of every engine.
mod hand_worked;
/// glTF files become what they say.
mod import;
/// Random scenes, every engine against the reference.
mod random_scenes;

/// The collected files against poses that another evaluator gave.
mod expected;
