//! Tests of the renderer, one module per theme.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by a panic")]

/// Scenes and engines that the tests of the library use, too.
#[path = "../../../tests/support/mod.rs"]
#[allow(dead_code, reason = "each test binary needs a part of it")]
mod support;

/// What properties, copies and mirrored nodes of glTF files change in a picture.
mod appearance;
/// The colours of joints, and of vertices that overlay their material.
mod colours;
/// Parts of glTF files for pictures.
mod cube;
/// glTF files of figures, and errors in them.
mod files;
/// The likeness of two pictures.
mod likeness;
/// The gaits of `examples/locomotion`: planted feet stay in place.
mod locomotion;
/// Devices that are lost.
mod lost;
/// Pictures compared with stored ones.
mod pictures;
/// Positions of vertices compared with the reference.
mod positions;
/// Scenes that the other themes draw.
mod scenes;
/// The feet of `examples/terrain` are on the ground.
mod terrain;
