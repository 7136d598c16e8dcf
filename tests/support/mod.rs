pub mod assert_close;
pub mod build;
/// A BVH file of two frames.
pub mod bvh_leg;
/// A second reader of BVH files.
pub mod bvh_reader;
/// The number and the seed of random cases.
pub mod cases;
/// Files that the repository does not have.
pub mod collected;
/// The errors of compressed libraries.
pub mod displacement;
pub mod each_engine;
/// FBX files built in code.
#[allow(dead_code, reason = "builds without the feature `fbx` do not need it")]
pub mod fbx_text;
/// glTF files built in code.
pub mod gltf_builder;
pub mod gpu_library;
/// npz files.
pub mod npz;
/// Refusals of crowds that change in place.
pub mod refusal;
pub mod scenes;
pub mod skip;
/// A BVH file of a walk.
pub mod walking;
