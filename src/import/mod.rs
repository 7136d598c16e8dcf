//! Files into a [`Library`](crate::Library): joints, skins and clips.
//!
//! * [`gltf`]: `.glb` and `.gltf` files into skeletons, skins and clips.
//! * [`bvh`]: `.bvh` files into skeletons and clips.
//! * [`cocos`]: animation clips of Cocos Creator into [`UnboundClip`](crate::UnboundClip)s.
//! * [`smpl`]: motion of SMPL bodies in `.npz` files, as AMASS has it, into skeletons and clips.
//! * [`crowd`]: crowd files, which name glTF files and describe instances with their layers.
//! * [`recognize`]: the format of a file, by its content and its name.

pub mod bvh;
pub mod cocos;
pub mod crowd;
pub(crate) mod fault;
pub mod gltf;
pub(crate) mod json;
mod memory_budget;
mod recognize;
pub mod smpl;

pub(crate) use fault::Fault;
pub use fault::Warning;

pub(crate) use crate::model::list_names;
pub(crate) use json::{JsonPath, parse as parse_json, without_mark};
pub use recognize::{FileFormat, recognize, recognize_head};
