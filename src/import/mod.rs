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
//!
//! docs/what-is-read.md lists the versions and extensions of each format, and what of a file is kept, ignored or
//! refused.
//!
//! # Clips
//!
//! [`Library::open`](crate::Library::open) makes a library of one file. Clips also come from code:
//! [`cocos::Document`] builds clips with shared key times, one easing per key and targets by path.
//! [`Library::bind`](crate::Library::bind) binds such a clip to a skeleton and reports the targets that did not bind.
//! One clip can be bound to any number of skeletons. Motion of SMPL takes the [`Proportions`](smpl::Proportions) of a
//! model file.
//!
//! Programs without a file system read bytes: `from_slice` of each importer. For `.gltf` files with external buffers,
//! [`gltf::from_slice_with`] takes a function that returns the bytes of a file by its path; for the images beside them,
//! the function of the same name in `posse_render::gltf` does. The web page and the npm package refuse FBX files.
//!
//! # Errors and repairs
//!
//! What an importer repaired or left out stands in the `warnings` of its asset; [`Warning::refuse`] makes an error of
//! the first. Of glTF and FBX files, tracks that cannot be read are left out. Of glTF files, `left_out_clips` and
//! `left_out_skins` have the clips without a track and the skins that are lost; they stay in the library, empty, so
//! that indices are as in the file. An error leaves the library as it was.

pub mod bvh;
pub mod cocos;
pub mod crowd;
pub mod fbx;
pub(crate) mod file_error;
pub mod gltf;
pub(crate) mod json;
mod load;
mod recognize;
pub mod smpl;

pub(crate) use file_error::FileError;
pub use file_error::Warning;
pub use load::{Asset, LoadOptions, from_slice, load, of_format};

pub(crate) use crate::model::list_names;
pub(crate) use json::{JsonPath, parse as parse_json, without_mark};
pub use recognize::{FileFormat, recognize, recognize_head};
