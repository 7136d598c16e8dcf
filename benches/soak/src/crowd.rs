//! The crowd of the soak. From the same seed, it is the same crowd in each run and in each process.

use std::ops::Range;

use posse::gpu::{AdapterKind, GpuContext, GpuCrowd, GpuEngine, GpuLibrary};
use posse::parameters::{Knots, KnotsId, Parameter, WeightDriver};
use posse::transitions::{Fade, FadeShape, NewTransition};
use posse::{
    AdditiveReference, ClipId, Crowd, CrowdOptions, Error, Evaluator, Layer, LayerMode, LayerTime, Library, Mixing,
    Outputs, Playback, Poses, Reference, Refusal, Ticks, WrapMode, contract, demo,
};

use crate::record::{Changes, Clock, FrameTime};

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
/// The number of parameters of an instance.
const PARAMETERS: usize = 2;
/// The modes of the layers after the first one.
const OVER: [LayerMode; 2] = [LayerMode::Override, LayerMode::Additive(AdditiveReference::First)];
/// The outputs that are posed and checked.
const OUTPUTS: Outputs = Outputs { root_motion: false, ..Outputs::ALL };
/// The capacity of a squad for later layers, parameters and transitions.
const CAPACITY: CrowdOptions = CrowdOptions {
    layers: 1 + OVER.len(),
    mixing: Mixing::Any,
    drivers: true,
    parameters: PARAMETERS,
    transitions: 8,
    ..CrowdOptions::NONE
};

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
    changes: Changes,
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
            crowd.set_parameters(instance, parameters(&mut self.random)?)?;
        }
        Squad::new(engine.library(), &crowd, self.now)
    }

    /// The number of instances.
    fn len(&self) -> usize {
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
        squad.set_layers(library, instance, &layers.random(random, now))?;
        squad.set_parameters(random.index(squad.crowd.len()), parameters(random)?, now)?;
        self.changes.layers += 1;
        self.changes.parameters += 1;
        if self.frames.is_multiple_of(TRANSITION) {
            let layers = layers.random(random, now);
            let new = NewTransition::new(random.index(squad.crowd.len()), &layers, now);
            // All other changes are within the capacity.
            match squad.begin_transition(library, &contents.library, &new) {
                Err(Error::Refused(Refusal::MoreTransitions { .. })) => self.changes.refused += 1,
                begun => {
                    begun?;
                    self.changes.transitions += 1;
                }
            }
        }
        if self.frames.is_multiple_of(ALL_LAYERS) {
            squad.set_all_layers(library, || layers.random(random, now))?;
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
    fn pose(&self, engine: &GpuEngine) -> Result<(), Error> {
        let gpu = engine.gpu();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        for squad in &self.squads {
            squad.on_gpu.encode(&mut encoder, self.now);
        }
        gpu.queue.submit([encoder.finish()]);
        engine.wait()
    }

    /// Compares the poses of the last frame with the poses of the reference.
    fn check(&self, contents: &Contents, engine: &GpuEngine) -> Result<contract::Report, Error> {
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
    fn move_to(&mut self, engine: &GpuEngine) -> Result<(), Error> {
        for squad in &mut self.squads {
            *squad = Squad::new(engine.library(), &squad.crowd, self.now)?;
        }
        self.changes.devices += 1;
        self.pose(engine)
    }
}

/// A part of the crowd: its instances on the GPU, and the same instances for the reference.
struct Squad {
    /// The instances, as the reference poses them.
    crowd: Crowd,
    /// The instances on the GPU.
    on_gpu: GpuCrowd,
}

impl Squad {
    /// A squad with the instances of a crowd as they are at a tick.
    fn new(on_gpu: &GpuLibrary, crowd: &Crowd, now: Ticks) -> Result<Self, Error> {
        let crowd = crowd.at(now).into_owned();
        let squad = Self { on_gpu: GpuCrowd::with_options(on_gpu, &crowd, OUTPUTS, CAPACITY)?, crowd };
        let values = (0..squad.crowd.len()).flat_map(|instance| squad.parameters(instance, now));
        squad.on_gpu.set_all_parameters(&values.collect::<Vec<_>>())?;
        Ok(squad)
    }

    /// Gives an instance other layers.
    fn set_layers(&mut self, on_gpu: &GpuLibrary, instance: usize, layers: &[Layer]) -> Result<(), Error> {
        self.crowd.set(instance, self.crowd.skeleton(instance), layers)?;
        self.on_gpu.set_instance(on_gpu, instance, layers)
    }

    /// Gives all instances other layers.
    fn set_all_layers(&mut self, on_gpu: &GpuLibrary, mut layers: impl FnMut() -> Vec<Layer>) -> Result<(), Error> {
        for instance in 0..self.crowd.len() {
            self.crowd.set(instance, self.crowd.skeleton(instance), &layers())?;
        }
        self.on_gpu.set_layers(on_gpu, &self.crowd)
    }

    /// Begins a transition of an instance to other layers. It is refused while the capacity for transitions is used up.
    fn begin_transition(&mut self, on_gpu: &GpuLibrary, library: &Library, new: &NewTransition) -> Result<(), Error> {
        self.on_gpu.transition(on_gpu, library, &mut self.crowd, new)
    }

    /// Gives an instance other parameters.
    fn set_parameters(&mut self, instance: usize, parameters: Vec<Parameter>, now: Ticks) -> Result<(), Error> {
        self.crowd.set_parameters(instance, parameters)?;
        self.on_gpu.set_parameters(instance, &self.parameters(instance, now))
    }

    /// The parameters of an instance, as many as the crowd on the GPU takes.
    fn parameters(&self, instance: usize, now: Ticks) -> Vec<f32> {
        self.crowd.parameter_values(instance, now).0[..self.on_gpu.parameter_count()].to_vec()
    }
}

/// The clips of a library, as layers.
struct Layers {
    clips: Vec<ClipId>,
    /// A weight that is as large as a parameter.
    ramp: KnotsId,
}

impl Layers {
    /// The clips of a library, to which a function of weights is added.
    fn new(library: &mut Library) -> Result<Self, Error> {
        let ramp = library.add_knots(Knots::new(vec![[0.0, 0.0], [1.0, 1.0]])?);
        Ok(Self { clips: library.clip_ids().collect(), ramp })
    }

    /// Random layers: a clip; sometimes a second one that blends, overrides or adds, and a third one.
    fn random(&self, random: &mut Random, now: Ticks) -> Vec<Layer> {
        let mut layers = vec![Layer { weight: 1.0, driver: None, fade_in: None, ..self.layer(random, now) }];
        for mode in OVER {
            if random.once_in(3) {
                let mode = if random.once_in(3) { LayerMode::Blend } else { mode };
                layers.push(Layer { mode, ..self.layer(random, now) });
            }
        }
        layers
    }

    /// A random layer that blends.
    fn layer(&self, random: &mut Random, now: Ticks) -> Layer {
        let time = if random.once_in(8) {
            LayerTime::Phase { parameter: random.index(PARAMETERS), wrap: WrapMode::Loop }
        } else {
            let start = now - Ticks::from_seconds(random.within(0.0..60.0));
            LayerTime::Playing(Playback::new(WrapMode::Loop, start, random.within(-2.0..2.0)))
        };
        let length = Ticks::from_seconds(random.within(0.1..2.0));
        let fade = Fade { start: now, length, shape: FadeShape::Smooth };
        let driver = WeightDriver::Knots { parameter: random.index(PARAMETERS), knots: self.ramp };
        Layer {
            weight: random.within(0.25..1.0),
            fade_in: random.once_in(3).then_some(fade),
            driver: random.once_in(3).then_some(driver),
            ..Layer::new(self.clips[random.index(self.clips.len())], time)
        }
    }
}

/// Random parameters of an instance, from 0 to 1.
fn parameters(random: &mut Random) -> Result<Vec<Parameter>, Error> {
    (0..PARAMETERS).map(|_| Parameter::constant(random.within(0.0..1.0))).collect()
}

/// A generator of random numbers: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
/// 2014).
#[derive(Debug, Clone)]
struct Random(u64);

impl Random {
    /// The next 64 bits.
    fn bits(&mut self) -> u64 {
        // 2^64 divided by the golden ratio.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number of a range.
    fn within(&mut self, range: Range<f64>) -> f64 {
        let share = (self.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        range.start + share * (range.end - range.start)
    }

    /// An index below `count`, which is not 0.
    fn index(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }

    /// True once in `count` times on average.
    fn once_in(&mut self, count: u64) -> bool {
        self.bits().is_multiple_of(count)
    }
}

/// Opens an adapter: the named one, or the best one.
pub fn open(adapter: Option<&str>) -> Result<GpuContext, Error> {
    match adapter {
        Some(name) => GpuContext::with_adapter(&GpuContext::find_adapter(name)?.adapter),
        None => GpuContext::new(AdapterKind::Any),
    }
}

/// The device of a soak, which is lost now and then, with two crowds.
pub struct Stage<'a> {
    adapter: Option<&'a str>,
    contents: Contents,
    engine: GpuEngine,
    /// The crowd that goes on.
    crowd: ChangingCrowd,
    /// The crowd that begins anew on each device, so that its frames are the frames of a new process.
    repeated: ChangingCrowd,
    /// The instances that were requested.
    requested: usize,
}

impl<'a> Stage<'a> {
    /// Two crowds of about this many instances each.
    pub fn new(adapter: Option<&'a str>, requested: usize) -> Result<Self, Error> {
        let contents = Contents::new()?;
        let engine = GpuEngine::new(open(adapter)?, &contents.library)?;
        let crowd = ChangingCrowd::new(&contents, &engine, requested)?;
        let repeated = ChangingCrowd::new(&contents, &engine, requested)?;
        Ok(Self { adapter, contents, engine, crowd, repeated, requested })
    }

    /// The name of the device.
    pub fn adapter(&self) -> String {
        self.engine.gpu().name()
    }

    /// The number of instances of the crowd that goes on.
    pub fn instances(&self) -> usize {
        self.crowd.len()
    }

    /// The changes of the crowd that goes on.
    pub fn changes(&self) -> Changes {
        self.crowd.changes
    }

    /// The next frame of the crowd that goes on.
    pub fn frame(&mut self) -> Result<(), Error> {
        self.crowd.frame(&self.contents, &self.engine)
    }

    /// The next frame of the crowd that began with the device, and its time.
    pub fn repeated_frame(&mut self) -> Result<FrameTime, Error> {
        let clock = Clock::start();
        self.repeated.frame(&self.contents, &self.engine)?;
        Ok(clock.elapsed())
    }

    /// Compares the poses of the last frame with the poses of the reference.
    pub fn check(&self) -> Result<contract::Report, Error> {
        self.crowd.check(&self.contents, &self.engine)
    }

    /// Loses the device, sees the loss in the next frame, and poses the same crowd on a new device. The other crowd
    /// begins anew.
    pub fn lose_device(&mut self) -> Result<(), Error> {
        self.engine.gpu().device.destroy();
        match self.crowd.pose(&self.engine) {
            Err(Error::Device(_)) => {}
            Err(error) => return Err(error),
            Ok(()) => return Err(Error::Device("a destroyed device still answers".into())),
        }
        self.engine = GpuEngine::new(open(self.adapter)?, &self.contents.library)?;
        self.repeated = ChangingCrowd::new(&self.contents, &self.engine, self.requested)?;
        self.crowd.move_to(&self.engine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the generator's published test, from the seed 1234567.
    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        let mut random = Random(1_234_567);
        let numbers: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        assert_eq!(numbers, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
        assert!((0..1000).all(|_| (2.0..3.0).contains(&random.within(2.0..3.0)) && random.index(3) < 3));
    }
}
