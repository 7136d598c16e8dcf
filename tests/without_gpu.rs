//! Themes of `tests/tests.rs` that need no GPU, in a build that compiles no wgpu.

/// Parts of `tests/support`, and the engines without the one of the GPU.
#[path = "without_gpu/support/mod.rs"]
mod support;

mod beyond_gltf;
mod changes;
mod clock;
mod compressed;
mod compressed_between_keys;
mod curves;
mod easing;
mod events;
mod hand_worked;
mod inverse_kinematics;
mod large_crowds;
mod layers;
mod motion_rules;
mod mutated;
mod occurrences;
mod random_scenes;
mod retiming;
mod sharing;
mod threads;
mod wrap;
