//! A part of the crowd: its instances on the GPU, and the same instances for the reference.

use posse::{
    Crowd, CrowdOptions, Error, GpuCrowd, GpuLibrary, Layer, LayersOutcome, Library, Mixing, NewTransition, Outputs,
    Parameter, Ticks,
};

use super::layers;

/// The outputs that are posed and checked.
pub const OUTPUTS: Outputs = Outputs { root_motion: false, ..Outputs::ALL };
/// The room of a squad for later layers, parameters and transitions.
const ROOM: CrowdOptions = CrowdOptions {
    layers: layers::MOST,
    mixing: Mixing::Any,
    drivers: true,
    parameters: layers::PARAMETERS,
    transitions: 8,
    ..CrowdOptions::NONE
};

/// A squad.
pub struct Squad {
    /// The instances, as the reference poses them.
    pub crowd: Crowd,
    /// The instances on the GPU.
    pub on_gpu: GpuCrowd,
}

impl Squad {
    /// A squad with the instances of a crowd as they are at a tick.
    pub fn new(on_gpu: &GpuLibrary, crowd: &Crowd, now: Ticks) -> Result<Self, Error> {
        let crowd = crowd.at(now).into_owned();
        let squad = Self { on_gpu: GpuCrowd::with_options(on_gpu, &crowd, OUTPUTS, ROOM)?, crowd };
        let values = (0..squad.crowd.len()).flat_map(|instance| squad.parameters(instance, now));
        squad.on_gpu.set_all_parameters(&values.collect::<Vec<_>>())?;
        Ok(squad)
    }

    /// Gives an instance other layers.
    pub fn set_layers(
        &mut self,
        on_gpu: &GpuLibrary,
        instance: usize,
        layers: &[Layer],
    ) -> Result<LayersOutcome, Error> {
        self.crowd.set(instance, self.crowd.skeleton(instance), layers)?;
        self.on_gpu.set_instance(on_gpu, instance, layers)
    }

    /// Gives all instances other layers.
    pub fn set_all_layers(
        &mut self,
        on_gpu: &GpuLibrary,
        mut layers: impl FnMut() -> Vec<Layer>,
    ) -> Result<LayersOutcome, Error> {
        for instance in 0..self.crowd.len() {
            self.crowd.set(instance, self.crowd.skeleton(instance), &layers())?;
        }
        self.on_gpu.set_layers(on_gpu, &self.crowd)
    }

    /// Begins a transition of an instance to other layers. It is refused while all rooms for transitions are taken.
    pub fn begin_transition(
        &mut self,
        on_gpu: &GpuLibrary,
        library: &Library,
        new: &NewTransition,
    ) -> Result<LayersOutcome, Error> {
        self.on_gpu.transition(on_gpu, library, &mut self.crowd, new)
    }

    /// Gives an instance other parameters.
    pub fn set_parameters(
        &mut self,
        instance: usize,
        parameters: Vec<Parameter>,
        now: Ticks,
    ) -> Result<LayersOutcome, Error> {
        self.crowd.set_parameters(instance, parameters)?;
        self.on_gpu.set_parameters(instance, &self.parameters(instance, now))
    }

    /// The parameters of an instance, as many as there is room for.
    fn parameters(&self, instance: usize, now: Ticks) -> Vec<f32> {
        self.crowd.parameter_values(instance, now).0[..self.on_gpu.parameter_count()].to_vec()
    }
}
