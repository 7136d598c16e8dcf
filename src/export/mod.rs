//! Clips of a [`Library`](crate::Library) into files.
//!
//! * [`bvh`]: a clip as a BVH file.
//! * [`gltf`]: clips into glTF files, whose nodes, skins and meshes stay as they are; a clip as a VRM animation.
//! * [`smpl`]: poses into the rotation vectors of SMPL bodies.
//!
//! `zero_pose` makes of a skeleton one whose rest pose has no rotations, for the formats that know no other rest pose.

pub mod bvh;
pub mod gltf;
pub mod smpl;
pub(crate) mod unique_names;
pub(crate) mod zero_pose;
