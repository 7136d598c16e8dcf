//! What comes of replacing the layers of a crowd on the GPU.

use std::fmt;

use crate::model::Mixing;

/// Whether layers of a [`GpuCrowd`](crate::gpu::GpuCrowd) were replaced, and if not, what stands in the way. It is
/// not an error: another `GpuCrowd` takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "where nothing was replaced, the crowd plays on as before"]
pub enum LayersOutcome {
    /// All of them were.
    Replaced,
    /// None: the crowd is of another number of instances, or of other skeletons.
    OtherInstances,
    /// None: an instance has more layers than there is room for.
    MoreLayers {
        /// Index of the first such instance.
        instance: usize,
        /// How many it has.
        needed: usize,
        /// How many there is room for: as many as instances of its batch began with, or [`CrowdOptions::layers`] of them.
        ///
        /// [`CrowdOptions::layers`]: crate::gpu::CrowdOptions::layers
        room: usize,
    },
    /// None: an instance's layers need more mixing than its kernel does.
    MoreMixing {
        /// Index of the first such instance.
        instance: usize,
        /// What they need.
        needed: Mixing,
        /// What the kernel does: what the instance began with needed, or [`CrowdOptions::mixing`].
        ///
        /// [`CrowdOptions::mixing`]: crate::gpu::CrowdOptions::mixing
        room: Mixing,
    },
}

impl LayersOutcome {
    /// Whether they were.
    pub fn is_replaced(self) -> bool {
        self == Self::Replaced
    }
}

impl fmt::Display for LayersOutcome {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let name = |mixing| match mixing {
            Mixing::None => "no mixing",
            Mixing::Blend => "blending",
            Mixing::Any => "overriding and adding",
        };
        match *self {
            Self::Replaced => write!(out, "the layers are replaced"),
            Self::OtherInstances => {
                write!(out, "other instances, or of other skeletons: they need a GpuCrowd of their own")
            }
            Self::MoreLayers { instance, needed, room } => {
                write!(out, "instance {instance} has {needed} layers, and there is room for {room}: ")?;
                write!(out, "CrowdOptions::layers makes more")
            }
            Self::MoreMixing { instance, needed, room } => {
                let (needed, room) = (name(needed), name(room));
                write!(out, "instance {instance} needs {needed}, and the crowd was made for {room}: ")?;
                write!(out, "CrowdOptions::mixing makes it for more")
            }
        }
    }
}
