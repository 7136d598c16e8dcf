//! Clips at work on an instance, one over the other.

use crate::model::{ClipId, MaskId, Playback, Ticks};

/// When in its clip a layer is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LayerTime {
    /// At this time of the clip, in seconds on the clip's own axis, whatever the crowd's clock says. It is kept within a
    /// clip that has a [`length`](crate::Clip::length); of others, each track keeps it to its own keys.
    At(f64),
    /// Playing: the crowd's clock says when.
    Playing(Playback),
}

/// A clip at work on an instance, with a weight of `weight x ramp of the fades x mask`.
///
/// Each translation, rotation, scale, morph weight and property is blended for itself: a layer whose clip has no track for
/// it takes no part in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layer {
    /// The clip, one of the instance's skeleton.
    pub clip: ClipId,
    /// When in the clip.
    pub time: LayerTime,
    /// How much of it, 0 or more; 1 unless said otherwise.
    pub weight: f64,
    /// How it joins the layers before it.
    pub mode: LayerMode,
    /// A weight for each joint; 1 without.
    pub mask: Option<MaskId>,
    /// From nothing to the weight.
    pub fade_in: Option<Fade>,
    /// From the weight to nothing.
    pub fade_out: Option<Fade>,
}

impl Layer {
    /// A clip at a time, with weight 1, blended, without mask and fades.
    pub fn new(clip: ClipId, time: LayerTime) -> Self {
        Self { clip, time, weight: 1.0, mode: LayerMode::Blend, mask: None, fade_in: None, fade_out: None }
    }

    /// Where the weights of layers that blend sum to less than this, the rest pose fills what is missing.
    pub const LEAST_WEIGHT: f64 = 0.1;

    /// Whether, alone on an instance, it needs no mixing: what its clip gives is the pose, whenever that is.
    pub(crate) fn is_plain(&self) -> bool {
        let fades = self.fade_in.is_some() || self.fade_out.is_some();
        self.mode == LayerMode::Blend && self.weight >= Self::LEAST_WEIGHT && self.mask.is_none() && !fades
    }

    /// The part of the weight that the fades leave at a tick of the crowd's clock, 0 to 1.
    pub fn ramp(&self, now: Ticks) -> f64 {
        self.fade_in.map_or(1.0, |fade| fade.at(now)) * (1.0 - self.fade_out.map_or(0.0, |fade| fade.at(now)))
    }

    /// What is wrong with the numbers, if anything.
    pub(crate) fn fault(&self) -> Option<String> {
        if !super::is_usable(self.weight) || self.weight < 0.0 {
            return Some(format!("the weight {} is not a finite number of 0 or more", self.weight));
        }
        if [self.fade_in, self.fade_out].into_iter().flatten().any(|fade| fade.length.0 < 0) {
            return Some("a fade's length is negative".into());
        }
        match self.time {
            LayerTime::At(seconds) if super::is_usable(seconds) => None,
            LayerTime::At(seconds) => Some(format!("the time {seconds} is not a finite number of seconds")),
            LayerTime::Playing(playback) => playback.fault(),
        }
    }
}

/// How a layer joins the layers before it. All that blend come first, whatever their place; then the others in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LayerMode {
    /// The mean by weight of all that blend; rotations are taken into the hemisphere of the first of them that has a
    /// weight, summed and normalised. Where the weights sum to less than 0.1, the rest pose fills what is missing.
    #[default]
    Blend,
    /// From what is below to the layer by the weight, at most 1; rotations the shorter way, normalised.
    Override,
    /// What the clip differs by from a reference, added by the weight: translations, morph weights and properties are
    /// added, scales multiplied, rotations go on from what is below.
    Additive(AdditiveReference),
}

/// What an additive layer's clip is compared to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AdditiveReference {
    /// The clip at its time 0.
    #[default]
    First,
    /// The rest pose.
    Rest,
}

/// A way from 0 to 1 on the crowd's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fade {
    /// When it begins.
    pub start: Ticks,
    /// How long it takes, 0 or more; with 0 it is 1 from its start on.
    pub length: Ticks,
    /// How it gets there.
    pub shape: FadeShape,
}

/// How a fade gets from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FadeShape {
    /// Evenly.
    #[default]
    Linear,
    /// Slowly at both ends: `k k (3 - 2 k)`.
    Smooth,
}

impl Fade {
    /// How far it is at a tick, 0 to 1.
    pub fn at(&self, now: Ticks) -> f64 {
        let gone = i128::from(now.0) - i128::from(self.start.0);
        let k = match gone {
            ..0 => 0.0,
            gone if gone >= i128::from(self.length.0) => 1.0,
            gone => gone as f64 / self.length.0 as f64,
        };
        match self.shape {
            FadeShape::Linear => k,
            FadeShape::Smooth => k * k * (3.0 - 2.0 * k),
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
