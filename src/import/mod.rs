//! Files into a [`Library`](crate::Library): joints, skins and clips.
//!
//! * [`load()`] and [`from_slice()`]: a file of any format with joints, by its content.
//! * [`gltf`]: `.glb` and `.gltf` files into skeletons, skins and clips.
//! * [`bvh`]: `.bvh` files into skeletons and clips.
//! * [`fbx`]: `.fbx` files into skeletons, skins and clips, with the feature `fbx`.
//! * [`cocos`]: animation clips of Cocos Creator into [`UnboundClip`](crate::binding::UnboundClip)s.
//! * [`smpl`]: motion of SMPL bodies in `.npz` files, as AMASS has it, into skeletons and clips.
//! * [`crowd`]: crowd files, which name glTF files and describe instances with their layers.
//! * [`recognize()`]: the format of a file, by its content and its name.

pub mod bvh;
pub mod cocos;
pub mod crowd;
pub mod fbx;
pub(crate) mod file_error;
pub mod gltf;
pub(crate) mod json;
mod load;
mod memory_budget;
mod recognize;
pub mod smpl;

pub(crate) use file_error::FileError;
pub use file_error::Warning;
pub use load::{Asset, LoadOptions, from_slice, load, of_format};

pub(crate) use crate::model::list_names;
pub(crate) use json::{JsonPath, parse as parse_json, without_mark};
pub use recognize::{FileFormat, recognize, recognize_head};
