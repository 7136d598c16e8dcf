//! The passes of a frame: their entry points, and the buffers that they bind.
//!
//! This is the only table of bindings. The wgpu engine makes its bind group layouts of it, `posse kernels` and the C
//! interface describe it to other devices, and a test compares it with what naga reads in the WGSL of each kernel.

/// A buffer that kernels bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub enum Buffer {
    /// Indices, key times and records of the library, `u32` or the bits of `f32`.
    Words,
    /// Keys, rest poses, inverse bind matrices and channels of the library: four `f32` or `u32` each.
    Values,
    /// The step of the crowd clock: a `Frame`, which the caller writes before each frame.
    Frame,
    /// The layers: `LayerRecord`s, instance after instance.
    Layers,
    /// What all instances of the batch share: a `BatchRecord`.
    Batch,
    /// The drivers of the layers: a `DriveRecord` per layer.
    Drives,
    /// The size of the batch for the kernel that drives layers: a `DriveBatch`.
    DriveBatch,
    /// The parameters, `f32`, instance after instance, which the caller writes.
    Parameters,
    /// The parameters at the previous frame, `f32`. The caller copies the parameters here after each frame.
    ParametersBefore,
    /// The goals of inverse kinematics: `GoalRecord`s, instance after instance.
    Goals,
    /// The size of the batch for the kernel that reads the parameters of goals: a `GoalBatch`.
    GoalBatch,
    /// The instances that are due, then the displacements of transitions, then the goals with their parameters read,
    /// `u32`.
    Lists,
    /// Output: local transforms, 12 `f32` per joint: translation xyz, 0, rotation xyzw, scale xyz, 0.
    Local,
    /// Output: model matrices, three rows of four `f32` per joint.
    Model,
    /// Output: skin matrices, three rows of four `f32` per joint of a skin, or the words of another skin format.
    Skin,
    /// Output: morph weights, then properties, `f32`.
    Numbers,
    /// Output: root motion, 8 `f32` per instance: translation xyz, 1 or 0 for a clip with or without root motion,
    /// rotation xyzw.
    RootMotion,
    /// The visible list: a count, then `VisibleInstance`s.
    Visible,
    /// The workgroups of the dispatch that poses the visible instances that are due, three `u32`.
    Workgroups,
    /// The index in the crowd of each instance of the batch, `u32`.
    Instances,
    /// The size of the batch for the kernel that lists events: an `EventBatch`.
    EventBatch,
    /// Output: events that layers have reached: an `EventCount`, then `OccurrenceRecord`s.
    Events,
}

impl Buffer {
    /// All buffers, in order.
    pub const ALL: [Self; 22] = [
        Self::Words,
        Self::Values,
        Self::Frame,
        Self::Layers,
        Self::Batch,
        Self::Drives,
        Self::DriveBatch,
        Self::Parameters,
        Self::ParametersBefore,
        Self::Goals,
        Self::GoalBatch,
        Self::Lists,
        Self::Local,
        Self::Model,
        Self::Skin,
        Self::Numbers,
        Self::RootMotion,
        Self::Visible,
        Self::Workgroups,
        Self::Instances,
        Self::EventBatch,
        Self::Events,
    ];

    /// The name in manifests and in names of files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Values => "values",
            Self::Frame => "frame",
            Self::Layers => "layers",
            Self::Batch => "batch",
            Self::Drives => "drives",
            Self::DriveBatch => "drive_batch",
            Self::Parameters => "parameters",
            Self::ParametersBefore => "parameters_before",
            Self::Goals => "goals",
            Self::GoalBatch => "goal_batch",
            Self::Lists => "lists",
            Self::Local => "local",
            Self::Model => "model",
            Self::Skin => "skin",
            Self::Numbers => "numbers",
            Self::RootMotion => "root_motion",
            Self::Visible => "visible",
            Self::Workgroups => "workgroups",
            Self::Instances => "instances",
            Self::EventBatch => "event_batch",
            Self::Events => "events",
        }
    }

    /// The contents, in a sentence without its period.
    pub const fn contents(self) -> &'static str {
        match self {
            Self::Words => "indices, key times and records of the library",
            Self::Values => "keys, rest poses, inverse bind matrices and channels of the library",
            Self::Frame => "the step of the crowd clock; the caller writes it before each frame",
            Self::Layers => "the layers, instance after instance; the passes before the pose write times into them",
            Self::Batch => "what all instances of the batch share",
            Self::Drives => "the drivers of the layers, one per layer",
            Self::DriveBatch => "the size of the batch, for the pass that drives layers",
            Self::Parameters => "the parameters, instance after instance; the caller writes them",
            Self::ParametersBefore => "the parameters of the previous frame; the caller copies them here after a frame",
            Self::Goals => "the goals of inverse kinematics, instance after instance",
            Self::GoalBatch => "the size of the batch, for the pass that reads the parameters of goals",
            Self::Lists => "the instances that are due, the displacements of transitions, the goals as they are read",
            Self::Local => "output: local transforms of all joints: translation xyz, 0, rotation xyzw, scale xyz, 0",
            Self::Model => "output: model matrices of all joints, three rows each",
            Self::Skin => "output: skin matrices of the joints of all skins, three rows each, or in their skin format",
            Self::Numbers => "output: morph weights, then properties",
            Self::RootMotion => "output: translation xyz, 1 if a clip has root motion and else 0, rotation xyzw",
            Self::Visible => "the visible list: a count, then that many entries",
            Self::Workgroups => "the workgroups of the dispatch that poses the visible instances",
            Self::Instances => "the index in the crowd of each instance of the batch",
            Self::EventBatch => "the size of the batch, for the pass that lists events",
            Self::Events => "output: the events that layers have reached, behind their count",
        }
    }

    /// True for a buffer of the library, which all crowds share.
    pub const fn is_of_library(self) -> bool {
        matches!(self, Self::Words | Self::Values)
    }
}

/// The access of a kernel to a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Access {
    /// Storage that is read.
    Read,
    /// Storage that is read and written.
    ReadWrite,
    /// A uniform.
    Uniform,
}

impl Access {
    /// The name in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::ReadWrite => "read_write",
            Self::Uniform => "uniform",
        }
    }
}

/// A binding of a kernel. Its number is its place among the bindings of the pass; its group is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    /// The name of the variable in WGSL.
    pub name: &'static str,
    /// The buffer that is bound.
    pub buffer: Buffer,
    /// The access.
    pub access: Access,
}

const fn read(name: &'static str, buffer: Buffer) -> Binding {
    Binding { name, buffer, access: Access::Read }
}

const fn write(name: &'static str, buffer: Buffer) -> Binding {
    Binding { name, buffer, access: Access::ReadWrite }
}

const fn uniform(name: &'static str, buffer: Buffer) -> Binding {
    Binding { name, buffer, access: Access::Uniform }
}

/// A pass: a kernel with its bindings, dispatched once per batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Pass {
    /// Parameters and leaders to times and weights of layers.
    Drive,
    /// Ticks to the times of layers that play, and their key intervals.
    Play,
    /// The parameters of goals to their targets and weights.
    Goals,
    /// Layers to local transforms, model matrices, skin matrices and numbers.
    Pose,
    /// The movement of each instance in the step.
    RootMotion,
    /// The visible list to the instances that are due.
    CollectVisible,
    /// The instances that are due to the size of their dispatch.
    MeasureVisible,
    /// The events that layers reach in the step.
    Events,
}

/// The invocations per workgroup of all kernels, except in the pass [`Pose`](Pass::Pose).
pub(crate) const SIDE_WORKGROUP_SIZE: u32 = 64;

impl Pass {
    /// All passes, in the order of a frame.
    pub const ALL: [Self; 8] = [
        Self::CollectVisible,
        Self::MeasureVisible,
        Self::Drive,
        Self::Play,
        Self::Goals,
        Self::Pose,
        Self::RootMotion,
        Self::Events,
    ];

    /// The name of the entry point in WGSL.
    pub const fn entry_point(self) -> &'static str {
        match self {
            Self::Drive => "drive_layers",
            Self::Play => "play_layers",
            Self::Goals => "resolve_goals",
            Self::Pose => "pose",
            Self::RootMotion => "root_motion",
            Self::CollectVisible => "visible_collect",
            Self::MeasureVisible => "visible_measure",
            Self::Events => "find_events",
        }
    }

    /// The bindings, in order of their numbers, all in group 0.
    pub const fn bindings(self) -> &'static [Binding] {
        match self {
            Self::Drive => &DRIVE,
            Self::Play => &PLAY,
            Self::Goals => &GOALS,
            Self::Pose => &POSE,
            Self::RootMotion => &ROOT_MOTION,
            Self::CollectVisible | Self::MeasureVisible => &VISIBLE,
            Self::Events => &EVENTS,
        }
    }
}

const POSE: [Binding; 10] = [
    read("words", Buffer::Words),
    read("values", Buffer::Values),
    read("layers", Buffer::Layers),
    uniform("frame", Buffer::Frame),
    uniform("batch", Buffer::Batch),
    write("local_out", Buffer::Local),
    write("model_out", Buffer::Model),
    write("skin_out", Buffer::Skin),
    write("values_out", Buffer::Numbers),
    read("lists", Buffer::Lists),
];

const VISIBLE: [Binding; 6] = [
    read("words", Buffer::Words),
    uniform("frame", Buffer::Frame),
    uniform("batch", Buffer::Batch),
    read("visible", Buffer::Visible),
    write("due", Buffer::Lists),
    write("workgroups", Buffer::Workgroups),
];

const ROOT_MOTION: [Binding; 6] = [
    read("words", Buffer::Words),
    read("values", Buffer::Values),
    read("layers", Buffer::Layers),
    uniform("frame", Buffer::Frame),
    uniform("batch", Buffer::Batch),
    write("root_motion_out", Buffer::RootMotion),
];

const PLAY: [Binding; 5] = [
    read("words", Buffer::Words),
    read("values", Buffer::Values),
    uniform("frame", Buffer::Frame),
    uniform("batch", Buffer::Batch),
    write("layers", Buffer::Layers),
];

const DRIVE: [Binding; 7] = [
    read("words", Buffer::Words),
    read("drives", Buffer::Drives),
    read("parameters", Buffer::Parameters),
    read("parameters_before", Buffer::ParametersBefore),
    uniform("frame", Buffer::Frame),
    uniform("batch", Buffer::DriveBatch),
    write("layers", Buffer::Layers),
];

const GOALS: [Binding; 5] = [
    read("words", Buffer::Words),
    read("goals", Buffer::Goals),
    read("parameters", Buffer::Parameters),
    uniform("batch", Buffer::GoalBatch),
    write("lists", Buffer::Lists),
];

const EVENTS: [Binding; 7] = [
    read("words", Buffer::Words),
    read("layers", Buffer::Layers),
    read("instances", Buffer::Instances),
    uniform("frame", Buffer::Frame),
    uniform("batch", Buffer::EventBatch),
    write("list", Buffer::Events),
    read("drives", Buffer::Drives),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_bindings() {
        let page = include_str!("../../docs/kernels.md");
        for pass in [Pass::Drive, Pass::Play, Pass::Goals, Pass::Pose, Pass::RootMotion] {
            let bindings = pass.bindings().iter().enumerate();
            let bindings =
                bindings.map(|(at, binding)| format!("{at} {} ({})", binding.buffer.name(), binding.access.name()));
            let row = format!("| `{}` | {} |", pass.entry_point(), bindings.collect::<Vec<_>>().join(", "));
            assert!(page.lines().any(|line| line == row), "docs/kernels.md has no line {row}");
        }
    }

    #[test]
    fn buffers_are_numbered_as_the_list_has_them() {
        for (number, buffer) in (0..).zip(Buffer::ALL) {
            assert_eq!(buffer as u32, number, "{}", buffer.name());
        }
    }
}
