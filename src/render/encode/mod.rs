//! Pictures into files.

pub mod png;
