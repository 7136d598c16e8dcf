//! Layers from options.

use posse::{
    AdditiveReference, ClipId, Crowd, Fade, FadeShape, Layer, LayerMode, LayerTime, Library, Playback, Ticks, WrapMode,
};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::js::{Result, check_index, ticks};

/// The options of a layer: `LayerOptions` of `posse.d.ts`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct LayerOptions {
    pub clip: ClipChoice,
    #[serde(default = "one")]
    weight: f64,
    #[serde(default = "one")]
    speed: f64,
    #[serde(default)]
    start: f64,
    #[serde(default)]
    phase: f64,
    at: Option<f64>,
    wrap: Option<String>,
    repeat: Option<f64>,
    range: Option<[f64; 2]>,
    #[serde(default)]
    mode: Mode,
    mask: Option<usize>,
    fade_in: Option<FadeOptions>,
    fade_out: Option<FadeOptions>,
}

/// A clip by its number, or by a text that selects it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the number or the name of a clip")]
pub enum ClipChoice {
    Number(usize),
    Name(String),
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "camelCase")]
enum Mode {
    #[default]
    Blend,
    Override,
    Additive,
    /// Additive, relative to the rest pose.
    AdditiveRest,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct FadeOptions {
    start: f64,
    length: f64,
    #[serde(default)]
    shape: Shape,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "camelCase")]
enum Shape {
    #[default]
    Linear,
    Smooth,
}

fn one() -> f64 {
    1.0
}

impl ClipChoice {
    /// The clip.
    pub fn find(&self, library: &Library) -> Result<ClipId> {
        let count = library.clips().len();
        match self {
            Self::Number(index) => {
                check_index("clip", *index, count)?;
                library.clip_ids().nth(*index).ok_or_else(|| JsError::new("there is no such clip"))
            }
            Self::Name(text) => {
                let clips: Vec<ClipId> = library.clip_ids().collect();
                Ok(library.select_clip(&clips, text)?)
            }
        }
    }
}

impl LayerOptions {
    /// The layer.
    pub fn layer(&self, library: &Library) -> Result<Layer> {
        let clip = self.clip.find(library)?;
        let mask = match self.mask {
            Some(index) => {
                check_index("mask", index, library.masks().len())?;
                library.mask_ids().nth(index)
            }
            None => None,
        };
        let fade = |options: Option<FadeOptions>| options.map(|options| options.fade()).transpose();
        Ok(Layer {
            weight: self.weight,
            mode: self.mode.into(),
            mask,
            fade_in: fade(self.fade_in)?,
            fade_out: fade(self.fade_out)?,
            ..Layer::new(clip, self.time(library, clip)?)
        })
    }

    fn time(&self, library: &Library, clip: ClipId) -> Result<LayerTime> {
        if let Some(seconds) = self.at {
            return Ok(LayerTime::At(seconds));
        }
        let wrap = match &self.wrap {
            None => WrapMode::Loop,
            Some(name) => WrapMode::from_name(name).ok_or_else(|| {
                let names: Vec<&str> = WrapMode::ALL.iter().map(|mode| mode.name()).collect();
                JsError::new(&format!("there is no wrap mode {name:?}; there are {}", names.join(", ")))
            })?,
        };
        let duration = library.clip(clip).duration();
        let start = self.start + self.phase * duration;
        if self.speed == 0.0 {
            // A play at this speed would show the beginning of the clip forever.
            let is_loop = wrap == WrapMode::Loop && self.range.is_none() && duration > 0.0;
            return Ok(LayerTime::At(if is_loop { start.rem_euclid(duration) } else { start }));
        }
        let playback = Playback::new(wrap, start_tick(start, self.speed)?, self.speed);
        Ok(LayerTime::Playing(Playback { repeat_count: self.repeat, range: self.range, ..playback }))
    }
}

/// The tick at which a play begins that shows the time `start` of its clip at tick 0.
pub fn start_tick(start: f64, speed: f64) -> Result<Ticks> {
    if start == 0.0 || speed == 0.0 {
        return Ok(Ticks(0));
    }
    ticks("start", -start / speed)
}

/// The layers of an instance.
pub fn layers(library: &Library, options: &[LayerOptions]) -> Result<Vec<Layer>> {
    options.iter().map(|options| options.layer(library)).collect()
}

/// A crowd of instances with their layers. `skeleton` is the number of the skeleton of instances without layers.
pub fn crowd(library: &Library, instances: &[Vec<LayerOptions>], skeleton: usize) -> Result<Crowd> {
    check_index("skeleton", skeleton, library.skeletons().len())?;
    let standing = library.skeleton_ids().nth(skeleton);
    let mut crowd = Crowd::new();
    for (instance, options) in instances.iter().enumerate() {
        let layers = layers(library, options)?;
        let animated = layers.first().map(|layer| library.clip(layer.clip).skeleton);
        let Some(skeleton) = animated.or(standing) else {
            return Err(JsError::new(&format!("instance {instance} has no skeleton: the library has none")));
        };
        crowd.push(skeleton, &layers)?;
    }
    Ok(crowd)
}

impl FadeOptions {
    fn fade(self) -> Result<Fade> {
        let shape = match self.shape {
            Shape::Linear => FadeShape::Linear,
            Shape::Smooth => FadeShape::Smooth,
        };
        Ok(Fade {
            start: ticks("the start of a fade", self.start)?,
            length: ticks("the length of a fade", self.length)?,
            shape,
        })
    }
}

impl From<Mode> for LayerMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Blend => Self::Blend,
            Mode::Override => Self::Override,
            Mode::Additive => Self::Additive(AdditiveReference::First),
            Mode::AdditiveRest => Self::Additive(AdditiveReference::Rest),
        }
    }
}
