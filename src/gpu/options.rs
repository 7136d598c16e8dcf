//! The options of a crowd on the GPU, and the outcome of a request for new layers.

use std::fmt;

use crate::model::{Crowd, Mixing};
use crate::pack::Room;

/// Options of a [`GpuCrowd`](crate::gpu::GpuCrowd): visible lists, previous skin matrices, and room for other layers,
/// goals, parameters and transitions. The default is none of them: the crowd poses all instances with the layers that
/// they begin with.
///
/// # Examples
/// ```
/// use posse::{CrowdOptions, Mixing};
///
/// // Room for cross fades between two layers per instance.
/// let options = CrowdOptions { layers: 2, mixing: Mixing::Blend, ..CrowdOptions::NONE };
/// assert!(!options.visible && !options.previous_skin);
/// assert_eq!(CrowdOptions::default(), CrowdOptions::NONE);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CrowdOptions {
    /// Lists of the visible instances: see [`GpuBatch::visible`](crate::gpu::GpuBatch::visible) and
    /// [`GpuCrowd::encode_visible`](crate::gpu::GpuCrowd::encode_visible).
    pub visible: bool,
    /// The skin matrices of the previous frame: see [`GpuBatch::previous_skin`](crate::gpu::GpuBatch::previous_skin).
    pub previous_skin: bool,
    /// Room for layers per instance, up to [`Crowd::MAX_LAYERS`]; a greater number counts as that many. 0, the default,
    /// is the largest number of layers that an instance of the same batch begins with. Each takes 120 bytes per
    /// instance, used or not.
    pub layers: usize,
    /// The mixing that the layers of each instance may need later. With room for several layers it is at least
    /// [`Mixing::Blend`]. An instance that begins with more mixing keeps it. All instances pay for it, used or not:
    /// kernels that mix take longer.
    pub mixing: Mixing,
    /// Room for layers whose time or weight follows from parameters or from another layer
    /// ([`LayerTime::Phase`](crate::LayerTime::Phase), [`LayerTime::Synced`](crate::LayerTime::Synced),
    /// [`Layer::driver`](crate::Layer::driver)), in each instance. Without it, only instances that begin with such
    /// layers have it, and those of their batch. It takes 100 bytes per layer.
    pub drivers: bool,
    /// Room for goals per instance, up to [`Crowd::MAX_GOALS`]; a greater number counts as that many. 0, the default,
    /// is the largest number of goals that an instance of the same batch begins with. Each takes 44 bytes per instance,
    /// used or not. Kernels with room for goals take a little longer.
    pub goals: usize,
    /// Room for parameters per instance, up to [`Crowd::MAX_PARAMETERS`]; a greater number counts as that many. 0, the
    /// default, is the number that the layers and goals of the crowd refer to or that an instance begins with. A number
    /// above 0 asks for [`drivers`](Self::drivers), too.
    pub parameters: usize,
    /// Room for transitions at the same time, per batch, at least as many as the instances of the batch begin with.
    /// Each takes 80 bytes per joint and 8 per morph weight or number of a property. Kernels with room for transitions
    /// take a little longer.
    pub transitions: usize,
}

impl CrowdOptions {
    /// No options: the default.
    pub const NONE: Self = Self {
        visible: false,
        previous_skin: false,
        layers: 0,
        mixing: Mixing::None,
        drivers: false,
        goals: 0,
        parameters: 0,
        transitions: 0,
    };

    /// The least room of each instance.
    pub(super) fn room(&self) -> Room {
        Room {
            layers: self.layers.min(Crowd::MAX_LAYERS),
            mixing: self.mixing.max(if self.layers > 1 { Mixing::Blend } else { Mixing::None }),
            drivers: self.drivers || self.parameters > 0,
            goals: self.goals.min(Crowd::MAX_GOALS),
        }
    }
}

/// The outcome of a request for new layers, parameters or transitions in a [`GpuCrowd`](crate::gpu::GpuCrowd): they are
/// replaced, or the reason for which they are not. A refusal is not an error: a new `GpuCrowd` takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "if nothing was replaced, the crowd continues as before"]
pub enum LayersOutcome {
    /// All is replaced.
    Replaced,
    /// Nothing is replaced: the crowd has another number of instances, or other skeletons.
    OtherInstances,
    /// Nothing is replaced: an instance has more layers than there is room for.
    MoreLayers {
        /// Index of the first such instance.
        instance: usize,
        /// The number of its layers.
        needed: usize,
        /// The room for layers: the most that an instance of its batch began with, or [`CrowdOptions::layers`].
        room: usize,
    },
    /// Nothing is replaced: the layers of an instance need more mixing than its kernel does.
    MoreMixing {
        /// Index of the first such instance.
        instance: usize,
        /// The mixing that its layers need.
        needed: Mixing,
        /// The mixing that the kernel does: the one that the instance began with, or [`CrowdOptions::mixing`].
        room: Mixing,
    },
    /// Nothing is replaced: an instance has more goals than there is room for.
    MoreGoals {
        /// Index of the first such instance.
        instance: usize,
        /// The number of its goals.
        needed: usize,
        /// The room for goals: the most that an instance of its batch began with, or [`CrowdOptions::goals`].
        room: usize,
    },
    /// Nothing is replaced: the time or weight of a layer follows from parameters or another layer, and there is no
    /// room for that.
    NoDrivers {
        /// Index of the first such instance.
        instance: usize,
    },
    /// Nothing is replaced: an instance has or needs more parameters than there is room for.
    MoreParameters {
        /// Index of the first such instance.
        instance: usize,
        /// The number of its parameters.
        needed: usize,
        /// The room for parameters: see [`CrowdOptions::parameters`].
        room: usize,
    },
    /// Nothing is replaced: as many transitions are on their way as there is room for in the batch of an instance.
    MoreTransitions {
        /// Index of the first instance that finds no room.
        instance: usize,
        /// The room for transitions: see [`CrowdOptions::transitions`].
        room: usize,
    },
}

impl LayersOutcome {
    /// True if the layers are replaced.
    pub fn is_replaced(self) -> bool {
        self == Self::Replaced
    }
}

impl fmt::Display for LayersOutcome {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Self::Replaced => write!(out, "the layers are replaced"),
            Self::OtherInstances => {
                write!(
                    out,
                    "the number of instances or the skeleton of an instance differs from the crowd: make a new GpuCrowd"
                )
            }
            Self::MoreLayers { instance, needed, room } => {
                write!(out, "instance {instance} has {needed} layers, but the crowd has room for {room}: ")?;
                write!(out, "set CrowdOptions::layers")
            }
            Self::MoreMixing { instance, needed, room } => {
                let (needed, room) = (mixing_name(needed), mixing_name(room));
                write!(out, "instance {instance} needs {needed}, but the crowd was made for {room}: ")?;
                write!(out, "set CrowdOptions::mixing")
            }
            Self::MoreGoals { instance, needed, room } => {
                write!(out, "instance {instance} has {needed} goals, but the crowd has room for {room}: ")?;
                write!(out, "set CrowdOptions::goals")
            }
            Self::NoDrivers { instance } => {
                write!(
                    out,
                    "instance {instance} has layers that follow parameters or other layers, but the crowd has no "
                )?;
                write!(out, "room for drivers: set CrowdOptions::drivers")
            }
            Self::MoreParameters { instance, needed, room } => {
                write!(out, "instance {instance} has {needed} parameters, but the crowd has room for {room}: ")?;
                write!(out, "set CrowdOptions::parameters")
            }
            Self::MoreTransitions { instance, room } => {
                write!(out, "instance {instance} finds no room for a transition among {room} in its batch: ")?;
                write!(out, "set CrowdOptions::transitions")
            }
        }
    }
}

fn mixing_name(mixing: Mixing) -> &'static str {
    match mixing {
        Mixing::None => "no mixing",
        Mixing::Blend => "blending",
        Mixing::Any => "override and additive layers",
    }
}
