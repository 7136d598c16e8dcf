//! A crowd that changes in each frame. From the same seed, it is the same crowd in each run and in each process.

use posse::{
    Crowd, Error, Evaluator, GpuEngine, LayersOutcome, Library, NewTransition, Poses, Reference, Ticks, contract, demo,
};

use super::layers::{self, Layers};
use super::squad::{OUTPUTS, Squad};
use crate::bench::random::Random;

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
/// The seed of the crowd.
const SEED: u64 = 2026;

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

/// The library of the crowd, and its clips as layers.
pub struct Contents {
    /// The library.
    pub library: Library,
    layers: Layers,
}

impl Contents {
    /// The built-in rig.
    pub fn new() -> Result<Self, Error> {
        let mut library = demo::library()?;
        let layers = Layers::new(&mut library)?;
        Ok(Self { library, layers })
    }
}

/// The crowd and its clock.
pub struct ChangingCrowd {
    squads: Vec<Squad>,
    random: Random,
    now: Ticks,
    frames: u64,
    /// The changes so far.
    pub changes: Changes,
}

impl ChangingCrowd {
    /// A crowd of about this many instances: the same number in each squad, at least one.
    pub fn new(contents: &Contents, engine: &GpuEngine, instances: usize) -> Result<Self, Error> {
        let changes = Changes::default();
        let mut crowd = Self { squads: Vec::new(), random: Random(SEED), now: Ticks(0), frames: 0, changes };
        for _ in 0..SQUADS {
            let squad = crowd.squad(contents, engine, (instances / SQUADS).max(1))?;
            crowd.squads.push(squad);
        }
        Ok(crowd)
    }

    /// A new squad of random instances.
    fn squad(&mut self, contents: &Contents, engine: &GpuEngine, size: usize) -> Result<Squad, Error> {
        let mut crowd = Crowd::new();
        for instance in 0..size {
            let layers = contents.layers.random(&mut self.random, self.now);
            crowd.push(contents.library.clip(layers[0].clip).skeleton, &layers)?;
            crowd.set_parameters(instance, layers::parameters(&mut self.random)?)?;
        }
        Squad::new(engine.library(), &crowd, self.now)
    }

    /// The number of instances.
    pub fn len(&self) -> usize {
        self.squads.iter().map(|squad| squad.crowd.len()).sum()
    }

    /// Changes the crowd, poses it, and waits for the device.
    pub fn frame(&mut self, contents: &Contents, engine: &GpuEngine) -> Result<(), Error> {
        self.now = self.now + FRAME;
        self.frames += 1;
        self.change(contents, engine)?;
        self.pose(engine)
    }

    fn change(&mut self, contents: &Contents, engine: &GpuEngine) -> Result<(), Error> {
        let (random, now) = (&mut self.random, self.now);
        let (library, layers) = (engine.library(), &contents.layers);
        let index = random.index(SQUADS);
        let squad = &mut self.squads[index];
        let instance = random.index(squad.crowd.len());
        replaced(squad.set_layers(library, instance, &layers.random(random, now))?)?;
        replaced(squad.set_parameters(random.index(squad.crowd.len()), layers::parameters(random)?, now)?)?;
        self.changes.layers += 1;
        self.changes.parameters += 1;
        if self.frames.is_multiple_of(TRANSITION) {
            let layers = layers.random(random, now);
            let new = NewTransition::new(random.index(squad.crowd.len()), &layers, now);
            match squad.begin_transition(library, &contents.library, &new)? {
                LayersOutcome::Replaced => self.changes.transitions += 1,
                LayersOutcome::MoreTransitions { .. } => self.changes.refused += 1,
                refusal => replaced(refusal)?,
            }
        }
        if self.frames.is_multiple_of(ALL_LAYERS) {
            replaced(squad.set_all_layers(library, || layers.random(random, now))?)?;
            self.changes.layers += squad.crowd.len() as u64;
        }
        if self.frames.is_multiple_of(JOIN) {
            let size = squad.crowd.len();
            squad.on_gpu.destroy();
            self.squads[index] = self.squad(contents, engine, size)?;
            self.changes.squads += 1;
        }
        Ok(())
    }

    /// Poses the crowd as it is, and waits for the device.
    pub fn pose(&self, engine: &GpuEngine) -> Result<(), Error> {
        let gpu = engine.gpu();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        for squad in &self.squads {
            squad.on_gpu.encode(&mut encoder, self.now);
        }
        gpu.queue.submit([encoder.finish()]);
        engine.wait()
    }

    /// Compares the poses of the last frame with those of the reference.
    pub fn check(&self, contents: &Contents, engine: &GpuEngine) -> Result<contract::Report, Error> {
        let library = &contents.library;
        let mut report = contract::Report::default();
        for squad in &self.squads {
            let expected = Reference::new(library).evaluate(&squad.crowd, self.now, OUTPUTS)?;
            let read = |instance| engine.read_instance(&squad.on_gpu, instance, OUTPUTS);
            let instances = (0..squad.crowd.len()).map(read).collect::<Result<_, _>>()?;
            report.merge(&contract::compare(library, &squad.crowd, self.now, &expected, &Poses { instances }));
        }
        Ok(report)
    }

    /// Takes the same crowd to a new device, and poses it.
    pub fn move_to(&mut self, engine: &GpuEngine) -> Result<(), Error> {
        for squad in &mut self.squads {
            *squad = Squad::new(engine.library(), &squad.crowd, self.now)?;
        }
        self.changes.devices += 1;
        self.pose(engine)
    }
}

/// An error for a refusal where there must be room.
fn replaced(outcome: LayersOutcome) -> Result<(), Error> {
    if outcome.is_replaced() {
        Ok(())
    } else {
        Err(Error::Device(format!("a change of the crowd was refused, though there is room for it: {outcome}")))
    }
}
