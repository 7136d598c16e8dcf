//! Layers from options, for one instance, or for many whose layers differ in some numbers.

use js_sys::{Array, Object};
use posse::{
    AdditiveReference, ClipId, Crowd, Fade, FadeShape, Layer, LayerMode, LayerTime, Library, Playback, Ticks,
    WeightDriver, WrapMode,
};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::driver::Weight;
use crate::js::{self, Result, check_index, ticks};
use crate::names::{ClipChoice, ParameterName, Scope, clip_of, find_parameter};

/// The largest speed, forwards and backwards.
const MAX_SPEED: f64 = 1e4;

/// The options of a layer: `LayerOptions` of `types.d.ts`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct LayerOptions {
    clip: ClipChoice,
    #[serde(default)]
    weight: Weight,
    speed: Option<f64>,
    start: Option<f64>,
    phase: Option<f64>,
    at: Option<f64>,
    time: Option<ParameterName>,
    sync: Option<usize>,
    wrap: Option<String>,
    repeat: Option<f64>,
    range: Option<[f64; 2]>,
    #[serde(default)]
    mode: Mode,
    mask: Option<usize>,
    fade_in: Option<FadeOptions>,
    fade_out: Option<FadeOptions>,
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

/// The layers that a call gives to one or several instances.
pub struct LayerList(Vec<LayerTemplate>);

/// A layer, and the numbers in which it differs from instance to instance.
struct LayerTemplate {
    layer: Layer,
    time: TimeTemplate,
    columns: Vec<Column>,
}

/// The time of a layer.
enum TimeTemplate {
    /// It is the same for all instances.
    Fixed(LayerTime),
    /// It follows from the numbers of an instance.
    Play { numbers: PlayNumbers, wrap: WrapMode, repeat: Option<f64>, range: Option<[f64; 2]> },
}

/// The numbers that give the time of a layer.
#[derive(Clone, Copy)]
struct PlayNumbers {
    speed: f64,
    start: f64,
    /// In durations of the clip.
    phase: f64,
    at: Option<f64>,
}

/// The fields that can have a number for each instance.
const COLUMNS: [&str; 6] = ["clip", "weight", "speed", "start", "phase", "at"];

/// The numbers of a field, one for each instance.
struct Column {
    field: &'static str,
    numbers: Vec<f64>,
}

impl LayerList {
    /// The layers of an instance.
    pub fn new(scope: Scope, options: &[LayerOptions]) -> Result<Self> {
        let templates = options.iter().map(|options| options.template(scope, Vec::new()));
        templates.collect::<Result<_>>().map(Self)
    }

    /// Reads the argument `layers` of a call for `count` instances, in which a field may be an array with a number for
    /// each of them.
    pub fn read(scope: Scope, value: &JsValue, count: usize) -> Result<Self> {
        if !Array::is_array(value) {
            // It fails.
            let _: Vec<LayerOptions> = js::options("layers", value)?;
            return Err(JsError::new("layers: expected an array"));
        }
        let (plain, mut columns) = (Array::new(), Vec::new());
        for (index, layer) in value.unchecked_ref::<Array>().iter().enumerate() {
            let (layer, own) = take_columns(index, layer, count)?;
            plain.push(&layer);
            columns.push(own);
        }
        let options: Vec<LayerOptions> = js::options("layers", &plain)?;
        let templates = options.iter().zip(columns).map(|(options, columns)| options.template(scope, columns));
        templates.collect::<Result<_>>().map(Self)
    }

    /// The layers of an instance, by its position among those that the layers are given to.
    pub fn layers(&self, library: &Library, position: usize) -> Result<Vec<Layer>> {
        self.0.iter().map(|template| template.layer(library, position)).collect()
    }
}

/// Takes the arrays of numbers out of the options of a layer. A number stands in place of each.
fn take_columns(index: usize, layer: JsValue, count: usize) -> Result<(JsValue, Vec<Column>)> {
    let mut columns = Vec::new();
    for field in COLUMNS {
        let Some(numbers) = js::list(&js::member(&layer, field)) else { continue };
        let place = |position: usize| format!("layers[{index}].{field}[{position}]");
        if numbers.len() != count {
            let found = numbers.len();
            let reason =
                format!("layers[{index}].{field}: found {found} numbers, expected one for each of {count} instances");
            return Err(JsError::new(&reason));
        }
        for (position, &number) in numbers.iter().enumerate() {
            if field == "clip" {
                js::whole(&place(position), number)?;
            } else if !number.is_finite() {
                return Err(JsError::new(&format!("{}: found {number}, expected a finite number", place(position))));
            }
        }
        columns.push(Column { field, numbers });
    }
    if columns.is_empty() {
        return Ok((layer, columns));
    }
    let copy = Object::assign(&Object::new(), layer.unchecked_ref::<Object>());
    for Column { field, .. } in &columns {
        js::set(&copy, field, &JsValue::from(0));
    }
    Ok((copy.into(), columns))
}

impl LayerOptions {
    /// The layer with its columns.
    fn template(&self, scope: Scope, columns: Vec<Column>) -> Result<LayerTemplate> {
        let Scope { library, .. } = scope;
        let clip = self.clip.find(library)?;
        let mask = match self.mask {
            Some(index) => {
                check_index("mask", index, library.masks().len())?;
                library.mask_ids().nth(index)
            }
            None => None,
        };
        let fade = |options: Option<FadeOptions>| options.map(|options| options.fade()).transpose();
        let (weight, driver): (f64, Option<WeightDriver>) = self.weight.find(scope)?;
        let layer = Layer {
            weight,
            driver,
            mode: self.mode.into(),
            mask,
            fade_in: fade(self.fade_in)?,
            fade_out: fade(self.fade_out)?,
            ..Layer::new(clip, LayerTime::At(0.0))
        };
        Ok(LayerTemplate { layer, time: self.time(scope)?, columns })
    }

    fn time(&self, scope: Scope) -> Result<TimeTemplate> {
        let wrap = match &self.wrap {
            None => WrapMode::Loop,
            Some(name) => WrapMode::from_name(name).ok_or_else(|| {
                let names: Vec<&str> = WrapMode::ALL.iter().map(|mode| mode.name()).collect();
                JsError::new(&format!("there is no wrap mode {name:?}; there are {}", names.join(", ")))
            })?,
        };
        if self.sync.is_some() || self.time.is_some() {
            let other = self.speed.or(self.start).or(self.phase).or(self.at).or(self.repeat);
            let has_wrap = self.sync.is_some() && self.wrap.is_some();
            if other.is_some() || self.range.is_some() || has_wrap || (self.sync.is_some() && self.time.is_some()) {
                return Err(JsError::new(
                    "a layer with `sync`, or with `time`, has no other time; leave out speed, start, phase, at, \
                     repeat and range, and with `sync` also wrap",
                ));
            }
        }
        if let Some(leader) = self.sync {
            return Ok(TimeTemplate::Fixed(LayerTime::Synced { leader }));
        }
        if let Some(ParameterName { parameter }) = &self.time {
            let parameter = find_parameter(scope.parameters, parameter)?;
            return Ok(TimeTemplate::Fixed(LayerTime::Phase { parameter, wrap }));
        }
        if let Some(repeat) = self.repeat.filter(|&repeat| repeat < 0.0) {
            return Err(JsError::new(&format!("repeat: found {repeat}, expected a number of passes of 0 or more")));
        }
        let numbers = PlayNumbers {
            speed: self.speed.unwrap_or(1.0),
            start: self.start.unwrap_or(0.0),
            phase: self.phase.unwrap_or(0.0),
            at: self.at,
        };
        Ok(TimeTemplate::Play { numbers, wrap, repeat: self.repeat, range: self.range })
    }
}

impl LayerTemplate {
    /// The layer of an instance.
    fn layer(&self, library: &Library, position: usize) -> Result<Layer> {
        let mut layer = self.layer;
        let (mut numbers, fixed) = match self.time {
            TimeTemplate::Play { numbers, .. } => (numbers, None),
            TimeTemplate::Fixed(time) => (PlayNumbers { speed: 1.0, start: 0.0, phase: 0.0, at: None }, Some(time)),
        };
        for Column { field, numbers: column } in &self.columns {
            let number = column[position];
            match *field {
                "clip" => layer.clip = clip_of(library, number as usize)?,
                "weight" => layer.weight = number,
                "speed" => numbers.speed = number,
                "start" => numbers.start = number,
                "phase" => numbers.phase = number,
                _ => numbers.at = Some(number),
            }
        }
        layer.time = match fixed {
            Some(time) => time,
            None => self.play(library, layer.clip, numbers)?,
        };
        Ok(layer)
    }

    /// The time of a layer that plays, or stands still.
    fn play(&self, library: &Library, clip: ClipId, numbers: PlayNumbers) -> Result<LayerTime> {
        let PlayNumbers { speed, start, phase, at } = numbers;
        let TimeTemplate::Play { wrap, repeat, range, .. } = self.time else { return Ok(LayerTime::At(0.0)) };
        if let Some(seconds) = at {
            return Ok(LayerTime::At(seconds));
        }
        if speed.abs() > MAX_SPEED {
            return Err(JsError::new(&format!("speed: found {speed}, expected -{MAX_SPEED} to {MAX_SPEED}")));
        }
        let duration = library.clip(clip).duration();
        let start = start + phase * duration;
        if speed == 0.0 {
            // A play at this speed would show the beginning of the clip forever.
            let is_loop = wrap == WrapMode::Loop && range.is_none() && duration > 0.0;
            return Ok(LayerTime::At(if is_loop { start.rem_euclid(duration) } else { start }));
        }
        let playback = Playback::new(wrap, start_tick(start, speed)?, speed);
        Ok(LayerTime::Playing(Playback { repeat_count: repeat, range, ..playback }))
    }
}

/// The tick at which a play begins that shows the time `start` of its clip at tick 0.
pub fn start_tick(start: f64, speed: f64) -> Result<Ticks> {
    if start == 0.0 || speed == 0.0 {
        return Ok(Ticks(0));
    }
    ticks("start", -start / speed)
}

/// A crowd of instances with their layers. `skeleton` is the number of the skeleton of instances without layers.
pub fn crowd(scope: Scope, instances: &[Vec<LayerOptions>], skeleton: usize) -> Result<Crowd> {
    let Scope { library, .. } = scope;
    check_index("skeleton", skeleton, library.skeletons().len())?;
    let standing = library.skeleton_ids().nth(skeleton);
    let mut crowd = Crowd::new();
    for (instance, options) in instances.iter().enumerate() {
        let layers = LayerList::new(scope, options)?.layers(library, 0)?;
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
        if self.length < 0.0 {
            return Err(JsError::new(&format!("the length of a fade: found {}, expected 0 or more", self.length)));
        }
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
