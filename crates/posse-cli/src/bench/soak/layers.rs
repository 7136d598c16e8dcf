//! Random layers and parameters of instances.

use posse::{
    ClipId, Error, Fade, FadeShape, Knots, KnotsId, Layer, LayerMode, LayerTime, Library, Parameter, Playback, Ticks,
    WeightDriver, WrapMode,
};

use crate::bench::random::Random;

/// The parameters of an instance.
pub const PARAMETERS: usize = 2;
/// The most layers of an instance.
pub const MOST: usize = 1 + OVER.len();
/// The modes of the layers after the first one.
const OVER: [LayerMode; 2] = [LayerMode::Override, LayerMode::Additive(posse::AdditiveReference::First)];

/// The clips of a library, as layers.
pub struct Layers {
    clips: Vec<ClipId>,
    /// A weight that is as large as a parameter.
    ramp: KnotsId,
}

impl Layers {
    /// The clips of a library, to which a function of weights is added.
    pub fn new(library: &mut Library) -> Result<Self, Error> {
        let ramp = library.add_knots(Knots::new(vec![[0.0, 0.0], [1.0, 1.0]])?);
        Ok(Self { clips: library.clip_ids().collect(), ramp })
    }

    /// Random layers: a clip; sometimes a second one that blends, overrides or adds, and a third one.
    pub fn random(&self, random: &mut Random, now: Ticks) -> Vec<Layer> {
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
            LayerTime::Playing(Playback::looping(start, random.within(-2.0..2.0)))
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
pub fn parameters(random: &mut Random) -> Result<Vec<Parameter>, Error> {
    (0..PARAMETERS).map(|_| Parameter::constant(random.within(0.0..1.0))).collect()
}
