//! Layers of an instance: clips with time, weight, mode, mask and fades; and the mixing that they need.

use std::ops::Range;

use crate::model::parameter::no_parameter;
use crate::model::{ClipId, MaskId, Mixing, Playback, Ticks, WeightDriver, WrapMode};

/// The time of a layer in its clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LayerTime {
    /// A fixed time in seconds on the axis of the clip, independent of the crowd clock.
    ///
    /// If the clip has a [`length`](crate::Clip::length), the time is clamped to 0 and the length. Otherwise each track
    /// clamps it to its own keys.
    At(f64),
    /// A time that follows from the crowd clock.
    Playing(Playback),
    /// A time that follows from a parameter of the instance: the parameter counts cycles, each as long as the clip.
    Phase {
        /// The index of the parameter.
        parameter: usize,
        /// The behaviour at the ends. In a mode that does not repeat, a negative value counts as 0.
        wrap: WrapMode,
    },
    /// A time that follows from the clip time of another layer: the same part of the clip, or the same part of the way
    /// from one sync marker to the next if both clips have markers ([`Clip::markers`](crate::Clip::markers)).
    ///
    /// It moves with its clip: forwards through the clip's end where the leader begins again. If the leader repeats
    /// only a [range](Playback::range) of its clip, the layer moves by its whole clip in each pass.
    Synced {
        /// The index of an earlier layer of the instance that is not synchronised itself.
        leader: usize,
    },
}

/// A clip at work on an instance. Its effective weight is `weight x driver x ramp of the fades x mask`.
///
/// Layers that [blend](LayerMode::Blend) are averaged by weight. Then the layers that override or add follow in order.
/// Each translation, rotation, scale, morph weight and property is blended separately. A layer whose clip has no track
/// for one of them does not affect it.
///
/// [`ClipId::looping`], [`once`](ClipId::once) and [`at`](ClipId::at) are short for [`Layer::new`] with a playback;
/// [`phase`](Self::phase), [`start`](Self::start), [`rate`](Self::rate) and [`weight`](Self::weight) change the layer.
///
/// # Examples
/// ```
/// use posse::transitions::{Fade, FadeShape};
/// use posse::{Crowd, Layer, LayerMode, Ticks, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let [walk, run, wave] = ["walk", "run", "wave"].map(|name| library.find_clip(name).expect("a clip of the demo"));
/// // A quarter of a second ahead of one that began at second 0, and 1.2 times as fast.
/// let below = walk.looping().phase(0.25).rate(1.2);
/// // From second 1 on, the wave fades in within half a second, over the walk.
/// let fade = Fade::from_seconds(1.0..1.5, FadeShape::Linear);
/// let over = Layer { mode: LayerMode::Override, fade_in: Some(fade), ..wave.once().start(1.0).weight(0.8) };
/// assert_eq!(over.ramp(Ticks::from_seconds(1.25)), 0.5);
/// let mut crowd = Crowd::new();
/// crowd.push(library.clip(walk).skeleton, &[below, over])?;
/// // From second 5 on, the walk fades out and the run fades in, within half a second.
/// crowd.cross_fade(0, run.looping().rate(1.1), 5.0..5.5)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layer {
    /// The clip. It must animate the skeleton of the instance.
    pub clip: ClipId,
    /// The time in the clip.
    pub time: LayerTime,
    /// The weight, 0 or more; 1 by default.
    pub weight: f64,
    /// A factor of the weight that follows from parameters; 1 without a driver.
    pub driver: Option<WeightDriver>,
    /// The way in which it joins the layers before it.
    pub mode: LayerMode,
    /// The mask, one weight per joint; all 1 without a mask.
    pub mask: Option<MaskId>,
    /// The ramp from 0 to the weight.
    pub fade_in: Option<Fade>,
    /// The ramp from the weight to 0.
    pub fade_out: Option<Fade>,
}

impl Layer {
    /// A layer with weight 1 that blends, without driver, mask and fades.
    pub fn new(clip: ClipId, time: LayerTime) -> Self {
        Self {
            clip,
            time,
            weight: 1.0,
            driver: None,
            mode: LayerMode::Blend,
            mask: None,
            fade_in: None,
            fade_out: None,
        }
    }

    /// The same layer with another weight.
    pub fn weight(self, weight: f64) -> Self {
        Self { weight, ..self }
    }

    /// The same layer, begun at a second of the crowd clock. Without effect if the clock does not tell its time.
    pub fn start(self, seconds: f64) -> Self {
        self.with_playback(|playback| Playback { start: Ticks::from_seconds(seconds), ..playback })
    }

    /// The same layer, so many seconds of the crowd clock further: it begins that much earlier. Without effect if the
    /// clock does not tell its time.
    pub fn phase(self, seconds: f64) -> Self {
        self.with_playback(|playback| playback.delayed(-Ticks::from_seconds(seconds)))
    }

    /// The same layer with another [rate](Playback::rate). Without effect if the clock does not tell its time.
    pub fn rate(self, rate: f64) -> Self {
        self.with_playback(|playback| Playback { rate, ..playback })
    }

    /// The same layer with another playback, if it has one.
    fn with_playback(self, change: impl FnOnce(Playback) -> Playback) -> Self {
        match self.time {
            LayerTime::Playing(playback) => Self { time: LayerTime::Playing(change(playback)), ..self },
            LayerTime::At(_) | LayerTime::Phase { .. } | LayerTime::Synced { .. } => self,
        }
    }

    /// The least sum of weights of the layers that blend. If the sum is smaller, the rest pose takes the missing
    /// weight.
    pub const MIN_WEIGHT: f64 = 0.1;

    /// The smallest scale that an additive layer divides by. The ratio to a smaller reference scale counts as 1.
    pub(crate) const SMALLEST_SCALE: f64 = 1e-6;

    /// Returns `true` if the layer needs no mixing when it is alone on an instance: its clip is the pose at all times.
    pub(crate) fn is_plain(&self) -> bool {
        let varies = self.driver.is_some() || self.fade_in.is_some() || self.fade_out.is_some();
        self.mode == LayerMode::Blend && self.weight >= Self::MIN_WEIGHT && self.mask.is_none() && !varies
    }

    /// Returns `true` if its time or its weight follows from parameters or from another layer.
    pub fn is_driven(&self) -> bool {
        self.driver.is_some() || matches!(self.time, LayerTime::Phase { .. } | LayerTime::Synced { .. })
    }

    /// The factor of the fades at a tick of the crowd clock, from 0 to 1.
    pub fn ramp(&self, now: Ticks) -> f64 {
        self.fade_in.map_or(1.0, |fade| fade.at(now)) * (1.0 - self.fade_out.map_or(0.0, |fade| fade.at(now)))
    }

    /// The first unusable number, as a message.
    pub(crate) fn error(&self) -> Option<String> {
        if !super::is_usable(self.weight) || self.weight < 0.0 {
            return Some(format!("the weight {} is not a finite number of 0 or more", self.weight));
        }
        if let Some(fade) = [self.fade_in, self.fade_out].into_iter().flatten().find(|fade| fade.length.0 < 0) {
            return Some(format!("the length of a fade is negative: {} ticks; expected 0 or more", fade.length.0));
        }
        if let Some(reason) = self.driver.and_then(|driver| driver.error()) {
            return Some(reason);
        }
        match self.time {
            LayerTime::Phase { parameter, .. } => no_parameter(parameter),
            LayerTime::Synced { .. } => None,
            LayerTime::At(seconds) if super::is_usable(seconds) => None,
            LayerTime::At(seconds) => Some(format!("the time {seconds} is not a finite number of seconds")),
            LayerTime::Playing(playback) => playback.error(),
        }
    }
}

impl ClipId {
    /// A layer that plays the clip repeatedly, at its authored speed, as if it had begun at second 0 of the crowd
    /// clock. [`Layer::phase`], [`Layer::start`], [`Layer::rate`] and [`Layer::weight`] change it.
    pub fn looping(self) -> Layer {
        Layer::new(self, LayerTime::Playing(Playback::looping(0.0, 1.0)))
    }

    /// A layer that plays the clip once, from second 0 of the crowd clock on, and stays at its end.
    pub fn once(self) -> Layer {
        Layer::new(self, LayerTime::Playing(Playback::new(WrapMode::Normal, Ticks(0), 1.0)))
    }

    /// A layer that stays at a time of the clip, in seconds.
    pub fn at(self, seconds: f64) -> Layer {
        Layer::new(self, LayerTime::At(seconds))
    }
}

/// The way in which a layer joins the layers before it. All layers that blend come first, whatever their position. The
/// others follow in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LayerMode {
    /// The weighted mean of all layers that blend. Rotations are brought into the hemisphere of the first layer that
    /// has a weight, summed and normalised. If the weights sum to less than 0.1, the rest pose takes the missing
    /// weight.
    #[default]
    Blend,
    /// Interpolation from the pose below to the layer, by the weight, which is clamped to 1. Rotations take the shorter
    /// arc and are normalised.
    Override,
    /// The difference of the clip from a reference pose, applied by the weight to the pose below: translations, morph
    /// weights and properties are added, scales are multiplied, rotations are applied after those below.
    Additive(AdditiveReference),
}

/// The reference pose of an additive layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AdditiveReference {
    /// The clip at its time 0.
    #[default]
    First,
    /// The rest pose.
    Rest,
}

/// A ramp from 0 to 1 on the crowd clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fade {
    /// The tick at which it begins.
    pub start: Ticks,
    /// The length in ticks, 0 or more. With 0, the ramp is 1 from its start on.
    pub length: Ticks,
    /// The shape of the ramp.
    pub shape: FadeShape,
}

/// The shape of a fade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FadeShape {
    /// Linear.
    #[default]
    Linear,
    /// Slow at both ends: `k k (3 - 2 k)`, with `k` the fraction of the length.
    Smooth,
}

impl Fade {
    /// A ramp over a range of seconds of the crowd clock.
    pub fn from_seconds(seconds: Range<f64>, shape: FadeShape) -> Self {
        let start = Ticks::from_seconds(seconds.start);
        Self { start, length: Ticks::from_seconds(seconds.end) - start, shape }
    }

    /// The value of the ramp at a tick, from 0 to 1.
    pub fn at(&self, now: Ticks) -> f64 {
        let elapsed = i128::from(now.0) - i128::from(self.start.0);
        let k = match elapsed {
            ..0 => 0.0,
            elapsed if elapsed >= i128::from(self.length.0) => 1.0,
            elapsed => elapsed as f64 / self.length.0 as f64,
        };
        match self.shape {
            FadeShape::Linear => k,
            FadeShape::Smooth => k * k * (3.0 - 2.0 * k),
        }
    }
}

/// The layers of an instance that fades to another layer: those whose fade is over when this one begins are dropped,
/// unless a layer follows them.
pub(super) fn cross_faded(layers: &[Layer], into: Layer, fade: Fade) -> Vec<Layer> {
    let all = || layers.iter().chain([&into]);
    let is_over = |layer: &Layer| layer.fade_out.is_some_and(|out| out.start + out.length <= fade.start);
    let leads = |index: usize| {
        let follows = |layer: &Layer| matches!(layer.time, LayerTime::Synced { leader } if leader == index);
        all().any(|layer| !is_over(layer) && follows(layer))
    };
    let kept: Vec<usize> = (0..layers.len()).filter(|&index| !is_over(&layers[index]) || leads(index)).collect();
    let renumbered = |layer: Layer| match layer.time {
        LayerTime::Synced { leader } => {
            Layer { time: LayerTime::Synced { leader: kept.binary_search(&leader).unwrap_or(leader) }, ..layer }
        }
        LayerTime::At(_) | LayerTime::Playing(_) | LayerTime::Phase { .. } => layer,
    };
    let fading = |layer: Layer| {
        let begun = layer.fade_out.filter(|out| out.start <= fade.start);
        if layer.mode == LayerMode::Blend { Layer { fade_out: begun.or(Some(fade)), ..layer } } else { layer }
    };
    let old = kept.iter().map(|&index| fading(renumbered(layers[index])));
    old.chain([renumbered(Layer { fade_in: Some(fade), ..into })]).collect()
}

impl Mixing {
    /// The mixing that these layers need.
    pub fn of(layers: &[Layer]) -> Self {
        if layers.iter().any(|layer| layer.mode != LayerMode::Blend) {
            return Self::Any;
        }
        match layers {
            [] => Self::None,
            [only] if only.is_plain() => Self::None,
            _ => Self::Blend,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fades_ramp_up_and_down() {
        let fade = |shape| Fade { start: Ticks(100), length: Ticks(400), shape };
        let at = |shape, tick| fade(shape).at(Ticks(tick));
        assert_eq!([0, 100, 200, 300, 500, 900].map(|t| at(FadeShape::Linear, t)), [0.0, 0.0, 0.25, 0.5, 1.0, 1.0]);
        assert_eq!([200, 300].map(|t| at(FadeShape::Smooth, t)), [0.15625, 0.5]);
        let at_once = Fade { length: Ticks(0), ..fade(FadeShape::Smooth) };
        assert_eq!([99, 100].map(|t| at_once.at(Ticks(t))), [0.0, 1.0]);
        let layer = Layer {
            fade_in: Some(fade(FadeShape::Linear)),
            fade_out: Some(Fade { start: Ticks(300), ..fade(FadeShape::Linear) }),
            ..Layer::new(ClipId(0), LayerTime::At(0.0))
        };
        assert_eq!([0, 200, 400, 600, 900].map(|t| layer.ramp(Ticks(t))), [0.0, 0.25, 0.75 * 0.75, 0.25, 0.0]);
    }
}

#[cfg(test)]
mod building_tests {
    use super::*;

    #[test]
    fn builders_count_in_seconds() {
        let clip = ClipId(3);
        let playing = |start: i64, rate| LayerTime::Playing(Playback::new(WrapMode::Loop, Ticks(start), rate));
        assert_eq!(clip.looping(), Layer::new(clip, playing(0, 1.0)));
        // Half a second has 2^19 ticks. A phase counts the crowd clock, whatever the rate and the order.
        let ahead = Layer { weight: 0.25, ..Layer::new(clip, playing(-(1 << 19), 2.0)) };
        assert_eq!(clip.looping().phase(0.5).rate(2.0).weight(0.25), ahead);
        assert_eq!(clip.looping().weight(0.25).rate(2.0).phase(0.5), ahead);
        assert_eq!(clip.looping().start(2.0).phase(0.5).time, playing(3 << 19, 1.0));
        let once = Playback::new(WrapMode::Normal, Ticks(1 << 20), 1.0);
        assert_eq!(clip.once().start(1.0).time, LayerTime::Playing(once));
        assert_eq!(clip.at(0.5).start(1.0).phase(2.0).rate(3.0), Layer::new(clip, LayerTime::At(0.5)));
        let fade = Fade { start: Ticks(1 << 20), length: Ticks(1 << 18), shape: FadeShape::Smooth };
        assert_eq!(Fade::from_seconds(1.0..1.25, FadeShape::Smooth), fade);
    }

    #[test]
    fn a_fade_drops_what_has_faded_out_unless_a_layer_follows_it() {
        let fade = |start: f64| Fade::from_seconds(start..start + 1.0, FadeShape::Smooth);
        let out = |layer: Layer, start: f64| Layer { fade_out: Some(fade(start)), ..layer };
        let following = |leader| Layer::new(ClipId(9), LayerTime::Synced { leader });
        let over = Layer { mode: LayerMode::Override, ..ClipId(2).looping() };
        let [a, b, into] = [0, 1, 5].map(|clip| ClipId(clip).looping());
        let new = Layer { fade_in: Some(fade(4.0)), ..into };
        for (layers, expected) in [
            (vec![], vec![new]),
            (vec![a], vec![out(a, 4.0), new]),
            // What is over is dropped, what is on its way continues, what would begin later begins now.
            (vec![out(a, 3.0), b], vec![out(b, 4.0), new]),
            (vec![out(a, 3.5), out(b, 6.0)], vec![out(a, 3.5), out(b, 4.0), new]),
            // A layer over others stays.
            (vec![out(a, 1.0), b, over], vec![out(b, 4.0), over, new]),
            (vec![out(a, 1.0), b, following(1)], vec![out(b, 4.0), out(following(0), 4.0), new]),
            (vec![out(a, 1.0), following(0)], vec![out(a, 1.0), out(following(0), 4.0), new]),
            (vec![out(a, 1.0), out(following(0), 1.0), b], vec![out(b, 4.0), new]),
        ] {
            assert_eq!(cross_faded(&layers, into, fade(4.0)), expected, "{layers:?}");
        }
        let led = cross_faded(&[out(a, 1.0), out(b, 1.0)], following(1), fade(4.0));
        assert_eq!(led, [out(b, 1.0), Layer { fade_in: Some(fade(4.0)), ..following(0) }]);
    }
}

#[cfg(test)]
mod mixing_tests {
    use super::*;
    use crate::model::{ClipId, Fade, FadeShape, LayerTime, Ticks};

    #[test]
    fn layers_need_as_much_as_the_one_that_needs_most() {
        let layer = |weight: f64, mode: LayerMode| Layer { weight, mode, ..Layer::new(ClipId(0), LayerTime::At(0.0)) };
        let plain = layer(1.0, LayerMode::Blend);
        let fade = Some(Fade { start: Ticks(0), length: Ticks(1), shape: FadeShape::Linear });
        assert_eq!([Mixing::of(&[]), Mixing::of(&[plain])], [Mixing::None; 2]);
        for layers in [vec![layer(0.05, LayerMode::Blend)], vec![Layer { fade_in: fade, ..plain }], vec![plain; 2]] {
            assert_eq!(Mixing::of(&layers), Mixing::Blend, "{layers:?}");
        }
        for over in [LayerMode::Override, LayerMode::Additive(Default::default())] {
            assert_eq!(Mixing::of(&[plain, layer(0.0, over)]), Mixing::Any);
        }
        assert!(Mixing::None < Mixing::Blend && Mixing::Blend < Mixing::Any);
    }
}
