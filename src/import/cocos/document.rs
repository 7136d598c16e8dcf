//! Clips as documents: built in code, and written and read as JSON.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ClipFile, read};
use crate::error::Error;
use crate::import::fault::Fault;
use crate::model::{Easing, Library, WrapMode};

/// A clip as a document: curves by path and property, or by path, component and property, over lists of key times that
/// they share.
///
/// ```
/// use posse::import::cocos::document::{Document, vec3};
/// use posse::{Easing, Library, WrapMode};
///
/// # fn main() -> Result<(), posse::Error> {
/// let mut clip = Document::new(1.0);
/// clip.wrap_mode(WrapMode::PingPong).event(0.5, "half", ["way"]);
/// let keys = clip.keys([0.3, 0.6, 0.9]);
/// clip.curve("/Head", "position", keys, [vec3(0.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 0.0)])
///     .ease(Easing::QuadInOut);
/// clip.component_curve("/Body", "cc.Light", "intensity", keys, [0.0, 5.0, 1.0]).ease_each([Some(Easing::SineIn), None]);
/// let clip = clip.unbound(&Library::new())?.clip;
/// assert_eq!(clip.tracks.len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// The clip's name; none is no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Seconds that it lasts, 0 or more.
    pub duration: f64,
    /// Seconds of the clip in a second of play, 1 unless said otherwise.
    #[serde(default = "one")]
    pub speed: f64,
    /// What happens at the ends, a mode's number or name; none is the default mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrap_mode: Option<Value>,
    /// Lists of key times in seconds, which curves name by their index.
    #[serde(default)]
    pub keys: Vec<Vec<f64>>,
    /// The curves by path: the names from the root down, with a `/` between them.
    #[serde(default)]
    pub curve_datas: BTreeMap<String, NodeCurves>,
    /// What it calls, in any order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventData>,
}

/// The curves of a node.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NodeCurves {
    /// Those of its own properties, by property.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub props: BTreeMap<String, CurveData>,
    /// Those of its components, by component and property.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub comps: BTreeMap<String, BTreeMap<String, CurveData>>,
    /// Those of its own properties that stand beside `props` and `comps`, where they may also be.
    #[serde(flatten)]
    pub direct: BTreeMap<String, CurveData>,
}

/// A curve.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CurveData {
    /// The index of its list of key times; where it is negative, the first value counts always.
    pub keys: i64,
    /// A value a key. The first decides what they all are.
    pub values: Vec<Value>,
    /// One easing for all intervals: a name, a number, or the four numbers of a Bezier curve. It counts before
    /// `easing_methods`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub easing_method: Option<Value>,
    /// Easings of the intervals that start at a key: a list by key, in which null is linear, or an object by the number
    /// of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub easing_methods: Option<Value>,
    /// Whether there is anything between keys, or each value holds until the next; none is `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpolate: Option<bool>,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct EventData {
    /// Its time in seconds.
    pub frame: f64,
    /// What is called.
    pub func: String,
    /// What it is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<Value>,
}

/// A list of key times of a [`Document`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keys(i64);

impl Keys {
    /// No key times: the first value of a curve counts always.
    pub const CONSTANT: Self = Self(-1);
}

fn one() -> f64 {
    1.0
}

impl Document {
    /// A clip of so many seconds without curves.
    pub fn new(duration: f64) -> Self {
        Self { duration, speed: 1.0, ..Self::default() }
    }

    /// Gives it a name.
    pub fn name(&mut self, name: impl Into<String>) -> &mut Self {
        self.name = Some(name.into());
        self
    }

    /// Says how fast it plays: seconds of the clip in a second.
    pub fn speed(&mut self, speed: f64) -> &mut Self {
        self.speed = speed;
        self
    }

    /// Says what happens at its ends.
    pub fn wrap_mode(&mut self, mode: WrapMode) -> &mut Self {
        self.wrap_mode = Some(mode.number().into());
        self
    }

    /// Adds a call at a time in seconds.
    pub fn event<P: Into<Value>>(
        &mut self,
        time: f64,
        function: impl Into<String>,
        parameters: impl IntoIterator<Item = P>,
    ) -> &mut Self {
        let params = parameters.into_iter().map(Into::into).collect();
        self.events.push(EventData { frame: time, func: function.into(), params });
        self
    }

    /// Adds a list of key times, in seconds and in order.
    pub fn keys(&mut self, times: impl IntoIterator<Item = f64>) -> Keys {
        self.keys.push(times.into_iter().collect());
        Keys(self.keys.len() as i64 - 1)
    }

    /// Adds a curve of a node's property, in place of one that is there, and gives it back to be eased.
    pub fn curve<V: Into<Value>>(
        &mut self,
        path: impl Into<String>,
        property: impl Into<String>,
        keys: Keys,
        values: impl IntoIterator<Item = V>,
    ) -> &mut CurveData {
        let node = self.curve_datas.entry(path.into()).or_default();
        CurveData::put(&mut node.props, property.into(), keys, values)
    }

    /// Adds a curve of a component's property, in place of one that is there, and gives it back to be eased.
    pub fn component_curve<V: Into<Value>>(
        &mut self,
        path: impl Into<String>,
        component: impl Into<String>,
        property: impl Into<String>,
        keys: Keys,
        values: impl IntoIterator<Item = V>,
    ) -> &mut CurveData {
        let node = self.curve_datas.entry(path.into()).or_default();
        CurveData::put(node.comps.entry(component.into()).or_default(), property.into(), keys, values)
    }

    /// The clip, to be bound to a skeleton. Of the library only the interpolators count.
    ///
    /// # Errors
    /// [`Error::Import`] with a JSON path in the document, whose file is `document`, where it cannot be used.
    pub fn unbound(&self, library: &Library) -> Result<ClipFile, Error> {
        let json = serde_json::to_value(self).map_err(|error| Fault::new("JSON", error.to_string()));
        // It holds no references, and so has no size to outgrow.
        json.and_then(|json| read(library, &json, usize::MAX)).map_err(|fault| fault.of(Path::new("document")))
    }
}

impl CurveData {
    fn put<V: Into<Value>>(
        curves: &mut BTreeMap<String, Self>,
        property: String,
        keys: Keys,
        values: impl IntoIterator<Item = V>,
    ) -> &mut Self {
        let values = values.into_iter().map(Into::into).collect();
        let place = curves.entry(property).or_default();
        *place = Self { keys: keys.0, values, ..Self::default() };
        place
    }

    /// Eases all intervals alike.
    pub fn ease(&mut self, easing: Easing) -> &mut Self {
        self.easing_method = Some(easing_data(Some(easing)));
        self
    }

    /// Eases the intervals one by one, in order; those that none is left for are linear.
    pub fn ease_each(&mut self, easings: impl IntoIterator<Item = Option<Easing>>) -> &mut Self {
        self.easing_methods = Some(easings.into_iter().map(easing_data).collect());
        self
    }

    /// Holds each value until the next.
    pub fn step(&mut self) -> &mut Self {
        self.interpolate = Some(false);
        self
    }
}

fn easing_data(easing: Option<Easing>) -> Value {
    match easing {
        Some(Easing::Bezier(points)) => json!(points),
        easing => json!(easing.and_then(Easing::name)),
    }
}

/// The value x and y.
pub fn vec2(x: f64, y: f64) -> Value {
    json!({ "__type__": "cc.Vec2", "x": x, "y": y })
}

/// The value x, y and z.
pub fn vec3(x: f64, y: f64, z: f64) -> Value {
    json!({ "__type__": "cc.Vec3", "x": x, "y": y, "z": z })
}

/// The value x, y, z and w.
pub fn vec4(x: f64, y: f64, z: f64, w: f64) -> Value {
    json!({ "__type__": "cc.Vec4", "x": x, "y": y, "z": z, "w": w })
}

/// A quaternion.
pub fn quat(x: f64, y: f64, z: f64, w: f64) -> Value {
    json!({ "__type__": "cc.Quat", "x": x, "y": y, "z": z, "w": w })
}

/// A colour of channels from 0 to 255.
pub fn color(r: u8, g: u8, b: u8, a: u8) -> Value {
    json!({ "__type__": "cc.Color", "r": r, "g": g, "b": b, "a": a })
}

/// An opaque grey from 0, which is black, to 255.
pub fn grey(level: u8) -> Value {
    color(level, level, level, 255)
}

/// A width and a height.
pub fn size(width: f64, height: f64) -> Value {
    json!({ "__type__": "cc.Size", "width": width, "height": height })
}

/// A place and a size.
pub fn rect(x: f64, y: f64, width: f64, height: f64) -> Value {
    json!({ "__type__": "cc.Rect", "x": x, "y": y, "width": width, "height": height })
}

/// A key of a cubic spline: a value with the slopes, a second, before and after it, all three numbers or all three of one
/// of the types [`vec2`], [`vec3`], [`vec4`] and [`quat`].
pub fn spline(in_tangent: impl Into<Value>, value: impl Into<Value>, out_tangent: impl Into<Value>) -> Value {
    let value = value.into();
    let of = value.get("__type__").and_then(Value::as_str).and_then(|name| name.strip_prefix("cc."));
    let name = format!("cc.CubicSpline{}Value", of.unwrap_or("Number"));
    json!({ "__type__": name, "dataPoint": value, "inTangent": in_tangent.into(), "outTangent": out_tangent.into() })
}
