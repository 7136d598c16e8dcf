//! Clips of a [`Library`](crate::Library) into files.
//!
//! * [`gltf`]: clips into glTF files, whose nodes, skins and meshes stay as they are.

pub mod gltf;
