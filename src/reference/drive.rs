//! Drivers: from parameters and leaders to the times and weights of layers. It comes before stage 3.

use crate::model::SyncMap;
use crate::model::{Layer, LayerTime, Library, ParameterValues, Playback, Ticks, WeightDriver, WrapMode};
use crate::reference::passes::Passes;
use crate::reference::phase;

/// The error of a driven clip time, relative to the duration. Times of engines have 48 bits.
const TIME: f64 = 1.0 / (1_u64 << 46) as f64;

/// A layer at a moment: with a fixed time in place of a phase or a followed time, and a weight in place of a driver. A
/// layer that plays continues to do so.
#[derive(Debug, Clone, Copy)]
pub struct Driven {
    /// The layer.
    pub layer: Layer,
    /// The size of the numbers that its weight is computed from, to which the rounding of engines is in proportion.
    pub full_weight: f64,
    /// `true` if its weight follows from parameters.
    pub has_driven_weight: bool,
    /// The rounding of engines in its clip time, in seconds. It is 0 for a layer that is not driven.
    pub time_error: f64,
}

/// The layers of an instance with values of its parameters, at a tick.
pub struct Moment<'a> {
    /// The library, which has all that the layers name.
    pub library: &'a Library,
    /// The layers.
    pub layers: &'a [Layer],
    /// The values of the parameters.
    pub values: ParameterValues,
    /// The tick of the crowd clock.
    pub now: Ticks,
}

impl Moment<'_> {
    /// The layers without drivers.
    pub fn driven(&self) -> Vec<Driven> {
        let driven = |layer: &Layer| {
            let [factor, size] = layer.driver.map_or([1.0; 2], |driver| self.factor(driver));
            let mut plain = Layer { weight: layer.weight * factor, driver: None, ..*layer };
            let mut time_error = 0.0;
            if matches!(layer.time, LayerTime::Phase { .. } | LayerTime::Synced { .. }) {
                plain.time = LayerTime::At(self.clip_time(layer));
                time_error = self.time_error(layer);
            }
            let (full_weight, has_driven_weight) = (layer.weight * size, layer.driver.is_some());
            Driven { layer: plain, full_weight, has_driven_weight, time_error }
        };
        self.layers.iter().map(driven).collect()
    }

    /// The factor of a weight by its driver, and the size of the numbers that it is computed from.
    fn factor(&self, driver: WeightDriver) -> [f64; 2] {
        let value = |parameter: usize| f64::from(self.values.get(parameter));
        match driver {
            WeightDriver::Knots { parameter, knots } => {
                let knots = &self.library.knots()[knots.index()];
                let largest = knots.knots().iter().map(|knot| knot[1]).fold(0.0, f64::max);
                [knots.at(value(parameter)), largest]
            }
            WeightDriver::Point { space, parameters, point } => {
                let (space, position) = (&self.library.blend_spaces()[space.index()], parameters.map(value));
                [space.share(point, position), space.size(position)]
            }
        }
    }

    /// The time of a layer in its clip.
    pub fn clip_time(&self, layer: &Layer) -> f64 {
        let clip = self.library.clip(layer.clip);
        match layer.time {
            LayerTime::Phase { parameter, wrap } => {
                let (playback, duration) = (cycles(wrap, clip.wrap), clip.duration());
                if duration == 0.0 {
                    return 0.0;
                }
                let passes = Passes::of_cycles(&playback, self.values.get(parameter), duration);
                phase::phase_of_passes(&playback, duration, passes).time
            }
            LayerTime::Synced { leader } => {
                let leader = &self.layers[leader];
                SyncMap::new(self.library.clip(leader.clip), clip).time(self.clip_time(leader))
            }
            time => phase::clip_time(time, self.now, clip),
        }
    }

    /// The rounding of engines in the clip time of a driven layer, in seconds.
    pub fn time_error(&self, layer: &Layer) -> f64 {
        TIME * self.library.clip(layer.clip).duration() + self.leader_error(layer)
    }

    /// The error of a followed time by the error of its leader after a long play, as for a layer that plays itself.
    fn leader_error(&self, layer: &Layer) -> f64 {
        let LayerTime::Synced { leader } = layer.time else { return 0.0 };
        let LayerTime::Playing(playback) = self.layers[leader].time else { return 0.0 };
        let [leader, own] = [self.layers[leader].clip, layer.clip].map(|clip| self.library.clip(clip));
        let played = phase::played(&playback, self.now).abs();
        played * 2.0_f64.powi(-51) * SyncMap::new(leader, own).steepest()
    }
}

/// The playback of a layer whose time counts cycles.
pub fn cycles(wrap: WrapMode, of_clip: WrapMode) -> Playback {
    Playback::new(wrap, Ticks(0), 1.0).resolve_wrap(of_clip)
}
