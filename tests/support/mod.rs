/// glTF files made in code.
pub mod gltf_builder;
