#![allow(dead_code, reason = "some themes are left out")]

#[path = "../../support/assert_close.rs"]
pub mod assert_close;
#[path = "../../support/build.rs"]
pub mod build;
#[path = "../../support/cases.rs"]
pub mod cases;
#[path = "../../support/collected.rs"]
pub mod collected;
#[path = "../../support/displacement.rs"]
pub mod displacement;
pub mod each_engine;
#[path = "../../support/gltf_builder.rs"]
pub mod gltf_builder;
pub mod gpu_library;
#[path = "../../support/refusal.rs"]
pub mod refusal;
#[path = "../../support/scenes/mod.rs"]
pub mod scenes;
#[path = "../../support/skip.rs"]
pub mod skip;
