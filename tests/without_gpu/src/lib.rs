//! The crate `posse` without its GPU engine, with what else the tests import.

pub use engine::*;

/// The forms of kernels of the GPU engine. Nothing runs them here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelForm {
    /// The form that hardware uses.
    Parallel,
    /// The form that software renderers use.
    Serial,
}

impl KernelForm {
    /// Both forms.
    pub const ALL: [Self; 2] = [Self::Parallel, Self::Serial];
}
