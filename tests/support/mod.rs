pub mod aloud;
pub mod assert_close;
pub mod build;
/// How many random cases, and which.
pub mod cases;
/// How far compressed keys are from the original ones.
pub mod displacement;
pub mod each_engine;
/// glTF files made in code.
pub mod gltf_builder;
pub mod scenes;
