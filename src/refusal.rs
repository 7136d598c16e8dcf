//! Why a crowd refuses a change in place, for example layers that need more mixing.

use std::fmt::{self, Display, Formatter};

/// The mixing that combines the layers of an instance, ordered from least to most. A kernel for more mixing also serves
/// less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Mixing {
    /// None: at most one layer, which blends with a weight of [`Layer::MIN_WEIGHT`](crate::Layer::MIN_WEIGHT) or more,
    /// without mask and fades.
    #[default]
    None,
    /// Blending: any number of layers that blend, with any weights, masks and fades.
    Blend,
    /// All mixing: at least one layer overrides or adds.
    Any,
}

impl Mixing {
    /// What layers are called that need this mixing, for messages.
    fn name(self) -> &'static str {
        match self {
            Self::None => "no mixing",
            Self::Blend => "blending",
            Self::Any => "override and additive layers",
        }
    }
}

/// The reason for which a [`CpuCrowd`](crate::cpu::CpuCrowd) or `GpuCrowd` does not take other layers, goals,
/// parameters or a transition: it was made without the capacity for them. The crowd plays on as before. A new crowd of
/// the engine takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// The given crowd has another number of instances, or other skeletons.
    OtherInstances,
    /// An instance has more layers than the crowd has capacity for.
    MoreLayers {
        /// Index of the first such instance.
        instance: usize,
        /// The number of its layers.
        needed: usize,
        /// The largest number of layers: the most that an instance of its batch began with, or
        /// [`CrowdOptions::layers`](crate::CrowdOptions::layers).
        capacity: usize,
    },
    /// The layers of an instance need more mixing than its kernel does.
    MoreMixing {
        /// Index of the first such instance.
        instance: usize,
        /// The mixing that its layers need.
        needed: Mixing,
        /// The mixing that the kernel does: the one that the instance began with, or
        /// [`CrowdOptions::mixing`](crate::CrowdOptions::mixing).
        capacity: Mixing,
    },
    /// An instance has more goals than the crowd has capacity for.
    MoreGoals {
        /// Index of the first such instance.
        instance: usize,
        /// The number of its goals.
        needed: usize,
        /// The largest number of goals: the most that an instance of its batch began with, or
        /// [`CrowdOptions::goals`](crate::CrowdOptions::goals).
        capacity: usize,
    },
    /// The time or weight of a layer follows from parameters or another layer, for which the crowd was not made.
    NoDrivers {
        /// Index of the first such instance.
        instance: usize,
    },
    /// An instance has or needs more parameters than the crowd has capacity for.
    MoreParameters {
        /// Index of the first such instance.
        instance: usize,
        /// The number of its parameters.
        needed: usize,
        /// The largest number of parameters: see [`CrowdOptions::parameters`](crate::CrowdOptions::parameters).
        capacity: usize,
    },
    /// As many transitions are on their way in the batch of an instance as it has capacity for.
    MoreTransitions {
        /// Index of the first instance that cannot begin one.
        instance: usize,
        /// The largest number of transitions at the same time: see
        /// [`CrowdOptions::transitions`](crate::CrowdOptions::transitions).
        capacity: usize,
    },
}

impl Refusal {
    /// The reason in words, without the option of Rust that leads out, which [`Display`] writes behind it.
    pub fn reason(&self) -> String {
        match *self {
            Self::OtherInstances => {
                "the number of instances or the skeleton of an instance differs from the crowd".to_owned()
            }
            Self::MoreLayers { instance, needed, capacity } => exceeds(instance, needed, "layer", capacity),
            Self::MoreMixing { instance, needed, capacity } => {
                format!("instance {instance} needs {}, but the crowd was made for {}", needed.name(), capacity.name())
            }
            Self::MoreGoals { instance, needed, capacity } => exceeds(instance, needed, "goal", capacity),
            Self::NoDrivers { instance } => format!(
                "instance {instance} has layers that follow parameters or other layers, but the crowd has no capacity \
                 for drivers"
            ),
            Self::MoreParameters { instance, needed, capacity } => exceeds(instance, needed, "parameter", capacity),
            Self::MoreTransitions { instance, capacity } => {
                format!("instance {instance} finds its batch with all of {capacity} transitions on their way")
            }
        }
    }

    /// What leads out.
    fn hint(&self) -> &'static str {
        match self {
            Self::OtherInstances => "make a new crowd",
            Self::MoreLayers { .. } => "set CrowdOptions::layers",
            Self::MoreMixing { .. } => "set CrowdOptions::mixing",
            Self::MoreGoals { .. } => "set CrowdOptions::goals",
            Self::NoDrivers { .. } => "set CrowdOptions::drivers",
            Self::MoreParameters { .. } => "set CrowdOptions::parameters",
            Self::MoreTransitions { .. } => "set CrowdOptions::transitions",
        }
    }
}

impl Display for Refusal {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        write!(formatter, "{}: {}", self.reason(), self.hint())
    }
}

impl std::error::Error for Refusal {}

/// `instance 7 has 2 layers, but the crowd has capacity for 1`.
fn exceeds(instance: usize, needed: usize, noun: &str, capacity: usize) -> String {
    let plural = if needed == 1 { "" } else { "s" };
    format!("instance {instance} has {needed} {noun}{plural}, but the crowd has capacity for {capacity}")
}
