//! Clips of a [`Library`](crate::Library) into files.
//!
//! * [`bvh::ClipFile`] writes a clip of any skeleton as a BVH file, whose zero pose is the rest pose.
//! * [`gltf::Document`] adds clips to a glTF file and leaves all else in it as it is.
//! * [`gltf::VrmAnimation`] writes a clip of a human as a VRM animation, with the expressions that give its morph
//!   weights.
//! * [`smpl`] makes rotation vectors of SMPL bodies from poses.
//!
//! `zero_pose` makes of a skeleton one whose rest pose has no rotations, for the formats that know no other rest pose.

pub mod bvh;
pub mod gltf;
pub mod smpl;
pub(crate) mod unique_names;
pub(crate) mod zero_pose;
