//! Layers from options, for one instance, or for many whose layers differ in some numbers.

use posse::transitions::{Fade, FadeShape};
use posse::{AdditiveReference, ClipId, Crowd, Layer, LayerMode, LayerTime, Library, Playback, Ticks, WrapMode};
use wasm_bindgen::prelude::*;

use crate::driver;
use crate::fields::{self, Fields, each, number, unexpected, whole};
use crate::js::{self, Result, check_index, ticks};
use crate::names::{Scope, clip, clip_of};

/// The largest speed, forwards and backwards.
const MAX_SPEED: f64 = 1e4;

/// The fields of a layer: `LayerOptions` of `types.d.ts`.
const FIELDS: [&str; 15] = [
    "clip", "weight", "speed", "start", "phase", "at", "time", "sync", "wrap", "repeat", "range", "mode", "mask",
    "fadeIn", "fadeOut",
];

/// The layers that a call gives to one or several instances.
pub struct LayerList(Vec<LayerTemplate>);

/// A layer, and the numbers in which it differs from instance to instance.
pub struct LayerTemplate {
    layer: Layer,
    time: TimeTemplate,
    columns: Vec<FieldColumn>,
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
struct FieldColumn {
    field: &'static str,
    numbers: Vec<f64>,
}

impl LayerList {
    /// Reads layers for `count` instances, in which a field may be an array with a number for each of them.
    pub fn read(scope: Scope, place: &str, value: &JsValue, count: usize) -> Result<Self> {
        let list = each(place, value, |place, value| LayerTemplate::read(scope, place, value, count))?;
        let (found, most) = (list.len(), Crowd::MAX_LAYERS);
        if found > most {
            return Err(JsError::new(&format!("{place}: found {found} layers, expected at most {most}")));
        }
        Ok(Self(list))
    }

    /// The layers of an instance, by its position among the instances that the layers are given to.
    pub fn layers(&self, library: &Library, position: usize) -> Result<Vec<Layer>> {
        self.0.iter().map(|template| template.layer(library, position)).collect()
    }
}

/// What the number of a field is to be, if it is not that.
fn expected(field: &str, number: f64) -> Option<String> {
    match field {
        _ if !number.is_finite() => Some("a finite number".into()),
        "weight" if number < 0.0 => Some("0 or more".into()),
        "speed" if number.abs() > MAX_SPEED => Some(format!("-{MAX_SPEED} to {MAX_SPEED}")),
        _ => None,
    }
}

/// The number of a field, in its range.
fn number_of(field: &str, place: &str, value: &JsValue) -> Result<f64> {
    let number = number(place, value)?;
    expected(field, number).map_or(Ok(number), |expected| Err(unexpected(place, value, &expected)))
}

/// The columns of a layer, with the numbers of their fields, whole for clips.
fn columns(fields: &Fields, count: usize) -> Result<Vec<FieldColumn>> {
    let mut columns = Vec::new();
    for field in COLUMNS {
        let Some(numbers) = fields.get(field).and_then(js::list) else {
            continue;
        };
        let found = numbers.len();
        if found != count {
            let place = fields.place(field);
            let reason = format!("{place}: found {found} numbers, expected one for each of {count} instances");
            return Err(JsError::new(&reason));
        }
        for (position, &number) in numbers.iter().enumerate() {
            let place = || format!("{}[{position}]", fields.place(field));
            if field == "clip" {
                js::whole(&place(), number)?;
            } else if let Some(expected) = expected(field, number) {
                return Err(unexpected(&place(), &number.into(), &expected));
            }
        }
        columns.push(FieldColumn { field, numbers });
    }
    Ok(columns)
}

/// The time of a layer.
fn time(scope: Scope, fields: &Fields, is_column: impl Fn(&str) -> bool) -> Result<TimeTemplate> {
    let wrap = fields.read("wrap", |place, value| {
        let found = value.as_string().and_then(|name| WrapMode::from_name(&name));
        let names = || WrapMode::ALL.map(|mode| mode.name()).join(", ");
        found.ok_or_else(|| unexpected(place, value, &format!("one of {}", names())))
    })?;
    let parameter = fields.read("time", |place, value| scope.parameter_of(place, value))?;
    let sync = fields.read("sync", whole)?;
    if sync.is_some() || parameter.is_some() {
        let mut refused = vec!["speed", "start", "phase", "at", "repeat", "range"];
        if sync.is_some() {
            refused.extend(["wrap", "time"]);
        }
        if let Some(name) = refused.into_iter().find(|name| fields.get(name).is_some()) {
            let place = fields.place(name);
            return Err(JsError::new(&format!("{place}: a layer with `sync` or `time` has no {name}; leave it out")));
        }
    }
    if let Some(leader) = sync {
        return Ok(TimeTemplate::Fixed(LayerTime::Synced { leader }));
    }
    let wrap = wrap.unwrap_or(WrapMode::Loop);
    if let Some(parameter) = parameter {
        return Ok(TimeTemplate::Fixed(LayerTime::Phase { parameter, wrap }));
    }
    let plain = |name: &str| {
        if is_column(name) { Ok(None) } else { fields.read(name, |place, value| number_of(name, place, value)) }
    };
    let repeat = fields.read("repeat", |place, value| match number(place, value)? {
        repeat if repeat < 0.0 => Err(unexpected(place, value, "a number of passes of 0 or more")),
        repeat => Ok(repeat),
    })?;
    let numbers = PlayNumbers {
        speed: plain("speed")?.unwrap_or(1.0),
        start: plain("start")?.unwrap_or(0.0),
        phase: plain("phase")?.unwrap_or(0.0),
        at: plain("at")?,
    };
    Ok(TimeTemplate::Play { numbers, wrap, repeat, range: fields.read("range", fields::numbers)? })
}

/// A fade: `FadeOptions` of `types.d.ts`.
fn fade(place: &str, value: &JsValue) -> Result<Fade> {
    let fields = Fields::new(place.to_owned(), value, &["start", "length", "shape"])?;
    let [start, length] = ["start", "length"].map(|name| -> Result<Ticks> {
        let seconds = fields.required(name, number)?;
        match name == "length" && seconds < 0.0 {
            true => Err(JsError::new(&format!("{}: found {seconds}, expected 0 or more", fields.place(name)))),
            false => ticks(&fields.place(name), seconds),
        }
    });
    let shape = [FadeShape::Linear, FadeShape::Smooth][fields.choice("shape", &["linear", "smooth"])?];
    Ok(Fade { start: start?, length: length?, shape })
}

impl LayerTemplate {
    /// Reads a layer for `count` instances.
    pub fn read(scope: Scope, place: &str, value: &JsValue, count: usize) -> Result<Self> {
        let library = scope.library;
        let fields = Fields::new(place.to_owned(), value, &FIELDS)?;
        let columns = columns(&fields, count)?;
        let is_column = |name: &str| columns.iter().any(|column: &FieldColumn| column.field == name);
        let clip = match is_column("clip") {
            // Each instance has another.
            true => clip_of(library, 0)?,
            false => fields.required("clip", |place, value| clip(library, place, value))?,
        };
        let mut layer = Layer::new(clip, LayerTime::At(0.0));
        if !is_column("weight") {
            let read = fields.read("weight", |place, value| match value.is_object() {
                true => driver::weight(scope, place, value),
                false => Ok((number_of("weight", place, value)?, None)),
            });
            (layer.weight, layer.driver) = read?.unwrap_or((1.0, None));
        }
        layer.mode = [
            LayerMode::Blend,
            LayerMode::Override,
            LayerMode::Additive(AdditiveReference::First),
            LayerMode::Additive(AdditiveReference::Rest),
        ][fields.choice("mode", &["blend", "override", "additive", "additiveRest"])?];
        if let Some(mask) = fields.read("mask", whole)? {
            check_index("mask", mask, library.masks().len())?;
            layer.mask = library.mask_ids().nth(mask);
        }
        (layer.fade_in, layer.fade_out) = (fields.read("fadeIn", fade)?, fields.read("fadeOut", fade)?);
        Ok(Self { layer, time: time(scope, &fields, is_column)?, columns })
    }

    /// The layer of an instance.
    pub fn layer(&self, library: &Library, position: usize) -> Result<Layer> {
        let mut layer = self.layer;
        let (mut numbers, fixed) = match self.time {
            TimeTemplate::Play { numbers, .. } => (numbers, None),
            TimeTemplate::Fixed(time) => (PlayNumbers { speed: 1.0, start: 0.0, phase: 0.0, at: None }, Some(time)),
        };
        for FieldColumn { field, numbers: column } in &self.columns {
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
        let TimeTemplate::Play { wrap, repeat, range, .. } = self.time else {
            return Ok(LayerTime::At(0.0));
        };
        if let Some(seconds) = at {
            return Ok(LayerTime::At(seconds));
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
pub fn crowd(scope: Scope, instances: &JsValue, skeleton: usize) -> Result<Crowd> {
    let library = scope.library;
    check_index("skeleton", skeleton, library.skeletons().len())?;
    let standing = library.skeleton_ids().nth(skeleton);
    let mut crowd = Crowd::new();
    each("instances", instances, |place, value| {
        let layers = LayerList::read(scope, place, value, 1)?.layers(library, 0)?;
        let animated = layers.first().map(|layer| library.clip(layer.clip).skeleton);
        let Some(skeleton) = animated.or(standing) else {
            return Err(JsError::new(&format!("{place} has no skeleton: the library has none")));
        };
        crowd.push(skeleton, &layers)?;
        Ok(())
    })?;
    Ok(crowd)
}
