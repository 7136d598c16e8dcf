//! Crowds that change in place: the capacity for other layers and goals, and the check that requested ones fit.
//!
//! The batches of a crowd are made once, on the CPU and on the GPU, and with them the number of layer records of an
//! instance and the kernel that mixes them. Other layers replace the present ones if they fit ([`BatchCapacity`]);
//! otherwise nothing changes, and a [`Refusal`] names the reason.

use crate::error::Error;
use crate::model::{
    Crowd, Goal, Layer, LayerTime, Mixing, Outputs, SkeletonId, WeightDriver, check_goal_numbers, check_goals,
    check_instance, check_layers, no_such,
};
use crate::pack::library::PackedLibrary;
use crate::refusal::Refusal;

/// Options of a [`CpuCrowd`](crate::cpu::CpuCrowd) or `GpuCrowd`: capacity for other layers, goals, parameters and
/// transitions, and on the GPU visible lists and previous skin matrices. The default is none of them: the crowd poses
/// all instances with the layers that they begin with.
///
/// # Examples
/// ```
/// use posse::{CrowdOptions, Mixing};
///
/// // Capacity for cross fades between two layers per instance.
/// let options = CrowdOptions { layers: 2, mixing: Mixing::Blend, ..CrowdOptions::NONE };
/// assert!(!options.visible && !options.previous_skin);
/// assert_eq!(CrowdOptions::default(), CrowdOptions::NONE);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CrowdOptions {
    /// Lists of the visible instances, on the GPU alone: see `GpuBatch::visible` and `GpuCrowd::encode_visible`.
    pub visible: bool,
    /// The skin matrices of the previous frame, on the GPU alone: see `GpuBatch::previous_skin`.
    pub previous_skin: bool,
    /// Capacity for layers per instance, up to [`Crowd::MAX_LAYERS`]; a greater number counts as that many. 0, the
    /// default, is the largest number of layers that an instance of the same batch begins with. Each takes 120 bytes
    /// per instance, used or not.
    pub layers: usize,
    /// The mixing that the layers of each instance may need later. With capacity for several layers it is at least
    /// [`Mixing::Blend`]. An instance that begins with more mixing keeps it. All instances pay for it, used or not:
    /// kernels that mix take longer.
    pub mixing: Mixing,
    /// Capacity for layers whose time or weight follows from parameters or from another layer
    /// ([`LayerTime::Phase`], [`LayerTime::Synced`], [`Layer::driver`](crate::Layer::driver)), in each instance.
    /// Without it, only instances that begin with such layers have it, and the instances of their batch. It takes 100
    /// bytes per layer.
    pub drivers: bool,
    /// Capacity for goals per instance, up to [`Crowd::MAX_GOALS`]; a greater number counts as that many. 0, the
    /// default, is the largest number of goals that an instance of the same batch begins with. Each takes 44 bytes per
    /// instance, used or not. Kernels with capacity for goals take a little longer.
    pub goals: usize,
    /// Capacity for parameters per instance, up to [`Crowd::MAX_PARAMETERS`]; a greater number counts as that many. 0,
    /// the default, is the number that the layers and goals of the crowd refer to or that an instance begins with. A
    /// number above 0 asks for [`drivers`](Self::drivers), too.
    pub parameters: usize,
    /// Capacity for transitions at the same time, per batch, at least as many as the instances of the batch begin with.
    /// Each takes 80 bytes per joint and 8 per morph weight or number of a property. Kernels with capacity for
    /// transitions take a little longer. On the CPU, there is capacity for one per instance.
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

    /// The least capacity of each instance.
    pub(crate) fn capacity(&self) -> MinCapacity {
        MinCapacity {
            layers: self.layers.min(Crowd::MAX_LAYERS),
            mixing: self.mixing.max(if self.layers > 1 { Mixing::Blend } else { Mixing::None }),
            drivers: self.drivers || self.parameters > 0,
            goals: self.goals.min(Crowd::MAX_GOALS),
        }
    }
}

/// The least capacity of each instance of a packed crowd, for changes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MinCapacity {
    /// The number of layers.
    pub layers: usize,
    /// The mixing.
    pub mixing: Mixing,
    /// `true` if layers may have drivers.
    pub drivers: bool,
    /// The number of goals.
    pub goals: usize,
}

/// The capacity of each instance of a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchCapacity {
    pub skeleton: SkeletonId,
    pub layers: usize,
    pub mixing: Mixing,
    /// `true` if layers may have drivers.
    pub drivers: bool,
    pub parameters: usize,
    pub goals: usize,
}

impl BatchCapacity {
    /// Checks that new layers for an instance fit.
    fn check_layer_capacity(&self, instance: usize, layers: &[Layer]) -> Result<(), Refusal> {
        let (needed, capacity) = (layers.len(), self.layers);
        if needed > capacity {
            return Err(Refusal::MoreLayers { instance, needed, capacity });
        }
        let (needed, capacity) = (Mixing::of(layers), self.mixing);
        if needed > capacity {
            return Err(Refusal::MoreMixing { instance, needed, capacity });
        }
        if layers.iter().any(Layer::is_driven) && !self.drivers {
            return Err(Refusal::NoDrivers { instance });
        }
        self.check_parameter_capacity(instance, layer_parameters(layers))
    }

    /// Checks that new goals for an instance fit.
    fn check_goal_capacity(&self, instance: usize, goals: &[Goal]) -> Result<(), Refusal> {
        let (needed, capacity) = (goals.len(), self.goals);
        if needed > capacity {
            return Err(Refusal::MoreGoals { instance, needed, capacity });
        }
        self.check_parameter_capacity(instance, goal_parameters(goals))
    }

    fn check_parameter_capacity(&self, instance: usize, needed: usize) -> Result<(), Refusal> {
        let capacity = self.parameters;
        if needed > capacity { Err(Refusal::MoreParameters { instance, needed, capacity }) } else { Ok(()) }
    }

    /// Checks new layers for an instance.
    ///
    /// # Errors
    /// [`Error::Instance`] and [`Error::Limit`] for layers that are wrong in themselves or do not fit the library,
    /// [`Error::Refused`] for layers that exceed the capacity, and the errors of dual quaternions.
    pub fn check_layers(
        &self,
        packed: &PackedLibrary,
        outputs: Outputs,
        instance: usize,
        layers: &[Layer],
    ) -> Result<(), Error> {
        check_layers(instance, layers)?;
        check_instance(packed, instance, self.skeleton, layers)?;
        packed.check_instance_outputs(self.skeleton, layers, outputs)?;
        self.check_layer_capacity(instance, layers).map_err(Error::Refused)
    }

    /// Checks new goals for an instance.
    ///
    /// # Errors
    /// [`Error::Instance`] and [`Error::Limit`] for goals that are wrong in themselves or do not fit the library,
    /// [`Error::Refused`] for goals that exceed the capacity.
    pub fn check_goals(&self, packed: &PackedLibrary, instance: usize, goals: &[Goal]) -> Result<(), Error> {
        check_goal_numbers(instance, goals)?;
        check_goals(packed, instance, self.skeleton, goals)?;
        self.check_goal_capacity(instance, goals).map_err(Error::Refused)
    }
}

/// Checks the layers and goals of all instances of a crowd, for a crowd of `count` instances with this capacity each.
///
/// # Errors
/// [`Error::Instance`] if the crowd does not fit the library, [`Error::Refused`] if an instance exceeds the capacity,
/// and the errors of dual quaternions.
pub(crate) fn check_changed_crowd(
    packed: &PackedLibrary,
    crowd: &Crowd,
    outputs: Outputs,
    count: usize,
    capacity_of: impl Fn(usize) -> BatchCapacity,
) -> Result<(), Error> {
    for instance in 0..crowd.len() {
        let skeleton = crowd.skeleton(instance);
        check_instance(packed, instance, skeleton, crowd.layers(instance))?;
        check_goals(packed, instance, skeleton, crowd.goals(instance))?;
        check_displacement(packed, crowd, instance)?;
    }
    packed.check_outputs(crowd, outputs)?;
    if crowd.len() != count {
        return Err(Error::Refused(Refusal::OtherInstances));
    }
    for instance in 0..count {
        let capacity = capacity_of(instance);
        if crowd.skeleton(instance) != capacity.skeleton {
            return Err(Error::Refused(Refusal::OtherInstances));
        }
        let layers = capacity.check_layer_capacity(instance, crowd.layers(instance));
        layers.and_then(|()| capacity.check_goal_capacity(instance, crowd.goals(instance))).map_err(Error::Refused)?;
    }
    Ok(())
}

/// Checks that the poses around the start of the transition of an instance were taken with the skeleton as it is.
pub(crate) fn check_displacement(packed: &PackedLibrary, crowd: &Crowd, instance: usize) -> Result<(), Error> {
    let Some((_, start)) = crowd.start_poses(instance) else { return Ok(()) };
    let skeleton = &packed.skeletons[crowd.skeleton(instance).index()].record;
    let needed = [skeleton.joint_count, skeleton.weight_count, skeleton.property_width];
    let pose = &start.out[0];
    if [pose.local.len(), pose.weights.len(), pose.properties.len()] == needed.map(|count| count as usize) {
        return Ok(());
    }
    let reason = "its skeleton has changed since its transition began; begin the transition again".into();
    Err(Error::Instance { instance, reason })
}

/// Checks that a crowd of `count` instances has an instance.
///
/// # Errors
/// [`Error::Instance`] otherwise.
pub(crate) fn check_index(instance: usize, count: usize) -> Result<(), Error> {
    let error = || Error::Instance { instance, reason: no_such("instance", instance, "crowd", count) };
    if instance < count { Ok(()) } else { Err(error()) }
}

/// The capacity for parameters of each instance of a crowd: as many as layers and goals refer to or an instance has, or
/// the capacity of the options.
pub(crate) fn parameter_count(crowd: &Crowd, options: &CrowdOptions) -> usize {
    let needed = |instance| {
        let referred = layer_parameters(crowd.layers(instance)).max(goal_parameters(crowd.goals(instance)));
        referred.max(crowd.parameters(instance).len())
    };
    let needed = (0..crowd.len()).map(needed).max().unwrap_or(0);
    needed.max(options.parameters.min(Crowd::MAX_PARAMETERS))
}

/// The number of parameters that layers refer to: one more than the highest index.
fn layer_parameters(layers: &[Layer]) -> usize {
    let of_layer = |layer: &Layer| {
        let time = match layer.time {
            LayerTime::Phase { parameter, .. } => parameter + 1,
            LayerTime::At(_) | LayerTime::Playing(_) | LayerTime::Synced { .. } => 0,
        };
        let weight = match layer.driver {
            Some(WeightDriver::Knots { parameter, .. }) => parameter + 1,
            Some(WeightDriver::Point { parameters: [x, y], .. }) => x.max(y) + 1,
            None => 0,
        };
        time.max(weight)
    };
    layers.iter().map(of_layer).max().unwrap_or(0)
}

/// The number of parameters that goals refer to: one more than the highest index.
fn goal_parameters(goals: &[Goal]) -> usize {
    goals.iter().flat_map(Goal::parameters).map(|index| index + 1).max().unwrap_or(0)
}
