//! The layers of a character, and the parameters that drive them.

use posse::parameters::{BlendSpace, WeightDriver};
use posse::{Error, Layer, LayerTime, Library, Playback, Ticks, WrapMode};

use super::gaits::Gaits;

/// The index of the parameter that counts cycles of two steps.
pub const PHASE: usize = 0;
/// The index of the parameter with the speed in metres per second.
pub const SPEED: usize = 1;
/// The index of the parameter with the turn in radians per cycle. A foot in a mixture turns by the mean of what it
/// turns per cycle in each gait, so that this number, and not the turn per second, is what a mixture keeps.
pub const TURN: usize = 2;
/// The number of parameters.
pub const PARAMETERS: usize = 3;

/// The layers of characters that move, and of characters that stand.
pub struct Layers {
    /// One per gait. The first one leads, and the others follow it, so that all set down the same foot.
    pub moving: Vec<Layer>,
    /// One layer.
    pub standing: Vec<Layer>,
}

impl Layers {
    /// Adds the blend space of the gaits.
    pub fn add(library: &mut Library, gaits: &Gaits) -> Result<Self, Error> {
        let points = gaits.all.iter().map(|(gait, _)| [gait.speed, gait.turn]).collect();
        let space = library.add_blend_space(BlendSpace::new(points)?);
        let moving = gaits.all.iter().enumerate().map(|(point, &(_, clip))| {
            let time = match point {
                0 => LayerTime::Phase { parameter: PHASE, wrap: WrapMode::Loop },
                _ => LayerTime::Synced { leader: 0 },
            };
            let driver = Some(WeightDriver::Point { space, parameters: [SPEED, TURN], point });
            Layer { driver, ..Layer::new(clip, time) }
        });
        let moving = moving.collect();
        let standing = vec![Layer::new(gaits.idle, LayerTime::Playing(Playback::looping(0.0, 1.0)))];
        Ok(Self { moving, standing })
    }

    /// The layers of a character that moves, without synchronisation: each gait plays on from a start at its own rate.
    pub fn apart(&self, start: Ticks) -> Vec<Layer> {
        let time = LayerTime::Playing(Playback::new(WrapMode::Loop, start, 1.0));
        self.moving.iter().map(|layer| Layer { time, ..*layer }).collect()
    }
}
