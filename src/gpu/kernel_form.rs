//! The forms of the kernels that pose, and which one suits an adapter.
//!
//! They differ in the hierarchy (`shaders/shared/hierarchy.wgsl` and `hierarchy_serial.wgsl`) and in how many lanes an instance
//! has; all other stages are the same.

/// How the invocations of a workgroup share the work of posing. Both forms give the same poses, within the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KernelForm {
    /// They share the joints of an instance, and meet between stages: what a GPU is made for.
    Parallel,
    /// Each walks the joints of an instance of its own, parents before children, and never waits. It suits software renderers,
    /// whose invocations are the lanes of a vector: there a meeting costs more than a walk. What is too much for one lane, some
    /// thousand joints or a hundred in eight layers, is done in the parallel form all the same.
    Serial,
}

impl KernelForm {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Parallel, Self::Serial];

    /// The form that suits a device: serial on a software renderer, else parallel.
    pub fn of(device: &wgpu::Device) -> Self {
        match device.adapter_info().device_type {
            wgpu::DeviceType::Cpu => Self::Serial,
            _ => Self::Parallel,
        }
    }

    /// Its name in reports: `parallel` or `serial`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parallel => "parallel",
            Self::Serial => "serial",
        }
    }
}
