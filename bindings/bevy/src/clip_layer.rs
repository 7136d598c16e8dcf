//! A clip at work on a character, by name.

use std::sync::Arc;

use posse::parameters::WeightDriver;
use posse::transitions::{Fade, FadeShape};
use posse::{ClipId, Layer, LayerMode, LayerTime, Library, Playback, SkeletonId, Ticks};

/// A clip at work on a character: as [`posse::Layer`], but with the names of the clip and the mask. Names stay valid
/// when the file of the rig changes.
///
/// # Examples
/// ```
/// use bevy_posse::ClipLayer;
/// use bevy_posse::posse::{LayerMode, Ticks};
///
/// let walk = ClipLayer::looping("Walk");
/// let wave = ClipLayer { mode: LayerMode::Override, ..ClipLayer::looping("Wave") }
///     .starting_at(Ticks::from_seconds(2.0))
///     .fading_in(Ticks::from_seconds(2.0), 0.25)
///     .masked("arm");
/// # let _ = (walk, wave);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ClipLayer {
    /// The name of the clip, or another text that selects it, see [`posse::Selector`].
    pub clip: Arc<str>,
    /// The time in the clip.
    pub time: LayerTime,
    /// The weight, 0 or more; 1 by default.
    pub weight: f64,
    /// A factor of the weight that follows from parameters; 1 without a driver.
    pub driver: Option<WeightDriver>,
    /// The way in which it joins the layers before it; it blends by default.
    pub mode: LayerMode,
    /// The name of the mask, one weight per joint; all 1 without a mask.
    pub mask: Option<Arc<str>>,
    /// The ramp from 0 to the weight.
    pub fade_in: Option<Fade>,
    /// The ramp from the weight to 0.
    pub fade_out: Option<Fade>,
}

impl ClipLayer {
    /// A layer with weight 1 that blends, without driver, mask and fades.
    pub fn new(clip: impl Into<Arc<str>>, time: LayerTime) -> Self {
        Self {
            clip: clip.into(),
            time,
            weight: 1.0,
            driver: None,
            mode: LayerMode::Blend,
            mask: None,
            fade_in: None,
            fade_out: None,
        }
    }

    /// A layer that plays the whole clip repeatedly at its authored speed, as if it had played since tick 0.
    pub fn looping(clip: impl Into<Arc<str>>) -> Self {
        Self::new(clip, LayerTime::Playing(Playback::looping(0.0, 1.0)))
    }

    /// The same layer with another start of its play. A fixed time, or one that follows from something else, stays as
    /// it is.
    pub fn starting_at(mut self, start: Ticks) -> Self {
        if let LayerTime::Playing(playback) = &mut self.time {
            playback.start = start;
        }
        self
    }

    /// The same layer at another speed, in seconds of the clip per second; from -1e4 to 1e4.
    pub fn at_rate(mut self, rate: f64) -> Self {
        if let LayerTime::Playing(playback) = &mut self.time {
            playback.rate = rate;
        }
        self
    }

    /// The same layer with a mask.
    pub fn masked(self, mask: impl Into<Arc<str>>) -> Self {
        Self { mask: Some(mask.into()), ..self }
    }

    /// The same layer with a smooth ramp from 0 to its weight, `seconds` long.
    pub fn fading_in(self, start: Ticks, seconds: f64) -> Self {
        Self { fade_in: Some(smooth(start, seconds)), ..self }
    }

    /// The same layer with a smooth ramp from its weight to 0, `seconds` long.
    pub fn fading_out(self, start: Ticks, seconds: f64) -> Self {
        Self { fade_out: Some(smooth(start, seconds)), ..self }
    }

    /// The layer of the library with these names, or a message that lists the names that there are.
    pub(crate) fn resolve(&self, library: &Library, skeleton: SkeletonId) -> Result<Layer, String> {
        let clips: Vec<ClipId> = library.clip_ids().filter(|&clip| library.clip(clip).skeleton == skeleton).collect();
        let clip = library.select_clip(&clips, &self.clip).map_err(|error| error.to_string())?;
        let mask = match &self.mask {
            None => None,
            Some(name) => {
                let of_skeleton = || library.masks().iter().filter(|mask| mask.skeleton == skeleton);
                let position = library
                    .masks()
                    .iter()
                    .position(|mask| mask.skeleton == skeleton && mask.name.as_deref() == Some(name));
                let id = position.and_then(|index| library.mask_ids().nth(index));
                Some(id.ok_or_else(|| missing("mask", name, of_skeleton().map(|mask| mask.name.as_deref())))?)
            }
        };
        let &Self { time, weight, driver, mode, fade_in, fade_out, .. } = self;
        Ok(Layer { clip, time, weight, driver, mode, mask, fade_in, fade_out })
    }
}

fn smooth(start: Ticks, seconds: f64) -> Fade {
    Fade { start, length: Ticks::from_seconds(seconds), shape: FadeShape::Smooth }
}

/// A message about a name that a rig does not have.
pub(crate) fn missing<'a>(kind: &str, name: &str, names: impl Iterator<Item = Option<&'a str>>) -> String {
    let names: Vec<&str> = names.flatten().collect();
    match names.as_slice() {
        [] => format!("there is no {kind} `{name}`; the rig has no named {kind}"),
        names => format!("there is no {kind} `{name}`; expected one of: {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_there_is_answered_with_those_that_are() {
        let library = posse::demo::library().unwrap();
        let skeleton = library.skeleton_ids().next().unwrap();
        let error = ClipLayer::looping("wlak").resolve(&library, skeleton).unwrap_err();
        assert_eq!(error, "there is no clip \"wlak\"; there are: 0 idle, 1 walk, 2 run, 3 wave, 4 jump");
        let error = ClipLayer::looping("walk").masked("arm").resolve(&library, skeleton).unwrap_err();
        assert_eq!(error, "there is no mask `arm`; the rig has no named mask");
    }
}
