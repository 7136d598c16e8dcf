//! A crowd that changes all the time, on a device that is lost now and then.

use posse::{
    AdapterKind, Crowd, Error, Evaluator, GpuEngine, LayersOutcome, Library, NewTransition, Poses, Reference, Ticks,
    contract, demo,
};

use super::layers::{self, Layers};
use super::squad::{OUTPUTS, Squad};
use crate::cli::bench::random::Random;
use crate::cli::engine::AdapterArgs;

/// The squads of the crowd. They are submitted together.
const SQUADS: usize = 8;
/// The length of a frame.
const FRAME: Ticks = Ticks(Ticks::PER_SECOND / 60);
/// In one frame of this many, a squad leaves and another one joins.
const JOIN: u64 = 45;
/// In one frame of this many, an instance begins a transition.
const TRANSITION: u64 = 4;
/// In one frame of this many, all instances of a squad get other layers.
const ALL_LAYERS: u64 = 200;

/// The numbers of changes so far.
#[derive(Debug, Clone, Copy, Default, serde::Serialize)]
pub struct Changes {
    /// Squads that left, each with one that joined.
    pub squads: u64,
    /// Instances that got other layers.
    pub layers: u64,
    /// Transitions that began.
    pub transitions: u64,
    /// Transitions that were refused because all rooms for them were taken.
    pub refused: u64,
    /// Instances that got other parameters.
    pub parameters: u64,
    /// Devices that were lost and made anew.
    pub devices: u64,
}

/// The crowd, its engine and its clock.
pub struct Stage<'a> {
    adapter: &'a AdapterArgs,
    library: Library,
    layers: Layers,
    engine: GpuEngine,
    squads: Vec<Squad>,
    random: Random,
    now: Ticks,
    frames: u64,
    /// The changes so far.
    pub changes: Changes,
}

impl<'a> Stage<'a> {
    /// A crowd of about this many instances: the same number in each squad, at least one.
    pub fn new(adapter: &'a AdapterArgs, instances: usize) -> Result<Self, Error> {
        let mut library = demo::library()?;
        let layers = Layers::new(&mut library)?;
        let engine = GpuEngine::new(&library, adapter.open(AdapterKind::Any)?)?;
        let random = Random(2026);
        let changes = Changes::default();
        let mut stage =
            Self { adapter, library, layers, engine, squads: Vec::new(), random, now: Ticks(0), frames: 0, changes };
        for _ in 0..SQUADS {
            let squad = stage.squad((instances / SQUADS).max(1))?;
            stage.squads.push(squad);
        }
        Ok(stage)
    }

    /// A new squad of random instances.
    fn squad(&mut self, size: usize) -> Result<Squad, Error> {
        let mut crowd = Crowd::new();
        for instance in 0..size {
            let layers = self.layers.random(&mut self.random, self.now);
            crowd.push(self.library.clip(layers[0].clip).skeleton, &layers)?;
            crowd.set_parameters(instance, layers::parameters(&mut self.random)?)?;
        }
        Squad::new(self.engine.library(), &crowd, self.now)
    }

    /// The name of the device.
    pub fn adapter(&self) -> String {
        self.engine.gpu().name()
    }

    /// The number of instances.
    pub fn instances(&self) -> usize {
        self.squads.iter().map(|squad| squad.crowd.len()).sum()
    }

    /// Changes the crowd, poses it, and waits for the device.
    pub fn frame(&mut self) -> Result<(), Error> {
        self.now = self.now + FRAME;
        self.frames += 1;
        self.change()?;
        self.pose()
    }

    fn change(&mut self) -> Result<(), Error> {
        let (random, now) = (&mut self.random, self.now);
        let library = self.engine.library();
        let index = random.index(SQUADS);
        let squad = &mut self.squads[index];
        let instance = random.index(squad.crowd.len());
        replaced(squad.set_layers(library, instance, &self.layers.random(random, now))?)?;
        replaced(squad.set_parameters(random.index(squad.crowd.len()), layers::parameters(random)?, now)?)?;
        self.changes.layers += 1;
        self.changes.parameters += 1;
        if self.frames.is_multiple_of(TRANSITION) {
            let layers = self.layers.random(random, now);
            let new = NewTransition::new(random.index(squad.crowd.len()), &layers, now);
            match squad.begin_transition(library, &self.library, &new)? {
                LayersOutcome::Replaced => self.changes.transitions += 1,
                LayersOutcome::MoreTransitions { .. } => self.changes.refused += 1,
                refusal => replaced(refusal)?,
            }
        }
        if self.frames.is_multiple_of(ALL_LAYERS) {
            replaced(squad.set_all_layers(library, || self.layers.random(random, now))?)?;
            self.changes.layers += squad.crowd.len() as u64;
        }
        if self.frames.is_multiple_of(JOIN) {
            let size = squad.crowd.len();
            squad.on_gpu.destroy();
            self.squads[index] = self.squad(size)?;
            self.changes.squads += 1;
        }
        Ok(())
    }

    fn pose(&self) -> Result<(), Error> {
        let gpu = self.engine.gpu();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        for squad in &self.squads {
            squad.on_gpu.encode(&mut encoder, self.now);
        }
        gpu.queue.submit([encoder.finish()]);
        self.engine.wait()
    }

    /// Compares the poses of the last frame with those of the reference.
    pub fn check(&self) -> Result<contract::Report, Error> {
        let mut report = contract::Report::default();
        for squad in &self.squads {
            let expected = Reference::new(&self.library).evaluate(&squad.crowd, self.now, OUTPUTS)?;
            let read = |instance| self.engine.read_instance(&squad.on_gpu, instance, OUTPUTS);
            let instances = (0..squad.crowd.len()).map(read).collect::<Result<_, _>>()?;
            report.merge(&contract::compare(&self.library, &squad.crowd, self.now, &expected, &Poses { instances }));
        }
        Ok(report)
    }

    /// Loses the device, sees the loss in the next frame, and poses the same crowd on a new device.
    pub fn lose_device(&mut self) -> Result<(), Error> {
        self.engine.gpu().device.destroy();
        match self.pose() {
            Err(Error::Device(_)) => {}
            Err(error) => return Err(error),
            Ok(()) => return Err(Error::Device("a destroyed device still answers".into())),
        }
        self.engine = GpuEngine::new(&self.library, self.adapter.open(AdapterKind::Any)?)?;
        for squad in &mut self.squads {
            *squad = Squad::new(self.engine.library(), &squad.crowd, self.now)?;
        }
        self.changes.devices += 1;
        self.pose()
    }
}

/// An error for a refusal where there must be room.
fn replaced(outcome: LayersOutcome) -> Result<(), Error> {
    if outcome.is_replaced() {
        Ok(())
    } else {
        Err(Error::Usage(format!("a change of the crowd was refused: {outcome}")))
    }
}
