//! The crate `posse` without its GPU engine, under the name that the tests import.

pub use engine::*;
