//! What the targets share: the promise on memory and time, the comparison of two engines, seeds, and scenes made of
//! bytes.
//!
//! A target fails if posse panics, takes memory or time beyond [`promise`], or if the CPU engine differs from the
//! reference by more than the contract allows.

#[path = "../../tests/cocos_import/random/check.rs"]
pub mod cocos_check;
#[path = "../../tests/cocos_import/examples.rs"]
mod cocos_examples;
#[path = "../../tests/support/displacement.rs"]
pub mod displacement;
pub mod documents;
pub mod engines;
pub mod figure;
#[path = "../../tests/support/gltf_builder.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod gltf_builder;
pub mod meshopt_streams;
#[path = "../../tests/support/npz.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
pub mod npz;
pub mod numbers;
pub mod promise;
pub mod retargeted_poses;
pub mod retargets;
pub mod scenes;
mod seeds;

/// Writes the seeds of a target into the folder that `POSSE_FUZZ_SEEDS` names, and ends the process. Without the
/// variable, it does nothing. Targets call it before the first input.
pub fn write_seeds_if_asked(target: &str) {
    let Some(folder) = std::env::var_os("POSSE_FUZZ_SEEDS") else { return };
    let folder = std::path::PathBuf::from(folder);
    std::fs::create_dir_all(&folder).expect("the folder of seeds can be made");
    for (index, seed) in seeds::of_target(target).into_iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{index:02}")), seed).expect("a seed can be written");
    }
    std::process::exit(0);
}
