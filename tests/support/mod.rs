pub mod assert_close;
pub mod build;
pub mod each_engine;
pub mod scenes;
