//! Clips of a [`Library`](crate::Library) into files.
//!
//! * [`gltf`]: clips into glTF files, whose nodes, skins and meshes stay as they are.
//! * [`smpl`]: poses into the rotation vectors of SMPL bodies.

pub mod gltf;
pub mod smpl;
