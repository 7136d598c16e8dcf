//! Clips as documents: made in code, and written and read as JSON.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ClipFile, read};
use crate::error::Error;
use crate::import::FileError;
use crate::model::{Easing, Library, WrapMode};

/// A clip as a document. Its curves have a path and a property, or a path, a component and a property. They share lists
/// of key times.
///
/// # Examples
/// ```
/// use posse::import::cocos::{Document, vec3};
/// use posse::curves::Easing;
/// use posse::{Library, WrapMode};
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
    /// The name of the clip, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The duration in seconds, 0 or more.
    pub duration: f64,
    /// Seconds of the clip per second of play, from -1e4 to 1e4. Default: 1.
    #[serde(default = "one")]
    pub speed: f64,
    /// The number or the name of the wrap mode. `None` is the default mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrap_mode: Option<Value>,
    /// Lists of key times in seconds. Curves refer to a list by its index.
    #[serde(default)]
    pub keys: Vec<Vec<f64>>,
    /// The curves by path: the names of nodes from the root down, separated by `/`.
    #[serde(default)]
    pub curve_datas: BTreeMap<String, NodeCurves>,
    /// The events, in any order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventData>,
}

/// The curves of a node.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NodeCurves {
    /// The curves of the properties of the node, by property.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub props: BTreeMap<String, CurveData>,
    /// The curves of the components of the node, by component and property.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub comps: BTreeMap<String, BTreeMap<String, CurveData>>,
    /// More curves of the properties of the node, by property. In the JSON, they are fields beside `props` and `comps`.
    #[serde(flatten)]
    pub direct: BTreeMap<String, CurveData>,
}

/// A curve.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CurveData {
    /// The index of the list of key times. If it is negative, the first value always holds.
    pub keys: i64,
    /// One value per key. The first value decides the kind of all.
    pub values: Vec<Value>,
    /// One easing for all intervals: a name, a number, or the four numbers of a Bezier curve. It has precedence over
    /// `easing_methods`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub easing_method: Option<Value>,
    /// The easings of the intervals that start at a key: a list with one easing per key, null for linear; or an object
    /// by the number of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub easing_methods: Option<Value>,
    /// True to interpolate between keys, false to hold each value until the next key. `None` is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpolate: Option<bool>,
}

/// An event: a function that is called at a time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct EventData {
    /// The time in seconds.
    pub frame: f64,
    /// The name of the function.
    pub func: String,
    /// The parameters of the function.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<Value>,
}

/// A list of key times of a [`Document`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keys(i64);

impl Keys {
    /// No key times: the first value of a curve always holds.
    pub const CONSTANT: Self = Self(-1);
}

fn one() -> f64 {
    1.0
}

impl Document {
    /// A clip without curves. The duration is in seconds, 0 or more.
    pub fn new(duration: f64) -> Self {
        Self { duration, speed: 1.0, ..Self::default() }
    }

    /// Sets the name.
    pub fn name(&mut self, name: impl Into<String>) -> &mut Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the speed: seconds of the clip per second of play, from -1e4 to 1e4.
    pub fn speed(&mut self, speed: f64) -> &mut Self {
        self.speed = speed;
        self
    }

    /// Sets the wrap mode.
    pub fn wrap_mode(&mut self, mode: WrapMode) -> &mut Self {
        self.wrap_mode = Some(mode.number().into());
        self
    }

    /// Adds an event at a time in seconds.
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

    /// Adds a curve of a property of a node, and returns it, so that easings can be set. Replaces an earlier curve of
    /// the property.
    pub fn curve<V: Into<Value>>(
        &mut self,
        path: impl Into<String>,
        property: impl Into<String>,
        keys: Keys,
        values: impl IntoIterator<Item = V>,
    ) -> &mut CurveData {
        let node = self.curve_datas.entry(path.into()).or_default();
        CurveData::insert(&mut node.props, property.into(), keys, values)
    }

    /// Adds a curve of a property of a component, and returns it, so that easings can be set. Replaces an earlier curve
    /// of the property.
    pub fn component_curve<V: Into<Value>>(
        &mut self,
        path: impl Into<String>,
        component: impl Into<String>,
        property: impl Into<String>,
        keys: Keys,
        values: impl IntoIterator<Item = V>,
    ) -> &mut CurveData {
        let node = self.curve_datas.entry(path.into()).or_default();
        CurveData::insert(node.comps.entry(component.into()).or_default(), property.into(), keys, values)
    }

    /// Reads the document. The result is ready to be bound to a skeleton. Only the interpolators of the library are
    /// used.
    ///
    /// # Errors
    /// [`Error::Import`] with a JSON path in the document if it cannot be used. The file of the error is `document`.
    pub fn unbound(&self, library: &Library) -> Result<ClipFile, Error> {
        let json = serde_json::to_value(self).map_err(|error| FileError::new("JSON", error.to_string()));
        // The document holds no references, so that no memory budget is necessary.
        json.and_then(|json| read(library, &json, usize::MAX)).map_err(|error| error.in_file(Path::new("document")))
    }
}

impl CurveData {
    fn insert<V: Into<Value>>(
        curves: &mut BTreeMap<String, Self>,
        property: String,
        keys: Keys,
        values: impl IntoIterator<Item = V>,
    ) -> &mut Self {
        let values = values.into_iter().map(Into::into).collect();
        let curve = curves.entry(property).or_default();
        *curve = Self { keys: keys.0, values, ..Self::default() };
        curve
    }

    /// Sets one easing for all intervals.
    pub fn ease(&mut self, easing: Easing) -> &mut Self {
        self.easing_method = Some(easing_data(Some(easing)));
        self
    }

    /// Sets the easings of the intervals, in order. Intervals without an easing are linear.
    pub fn ease_each(&mut self, easings: impl IntoIterator<Item = Option<Easing>>) -> &mut Self {
        self.easing_methods = Some(easings.into_iter().map(easing_data).collect());
        self
    }

    /// Holds each value until the next key.
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

/// A vector of two numbers.
pub fn vec2(x: f64, y: f64) -> Value {
    json!({ "__type__": "cc.Vec2", "x": x, "y": y })
}

/// A vector of three numbers.
pub fn vec3(x: f64, y: f64, z: f64) -> Value {
    json!({ "__type__": "cc.Vec3", "x": x, "y": y, "z": z })
}

/// A vector of four numbers.
pub fn vec4(x: f64, y: f64, z: f64, w: f64) -> Value {
    json!({ "__type__": "cc.Vec4", "x": x, "y": y, "z": z, "w": w })
}

/// A quaternion.
pub fn quat(x: f64, y: f64, z: f64, w: f64) -> Value {
    json!({ "__type__": "cc.Quat", "x": x, "y": y, "z": z, "w": w })
}

/// A colour: red, green, blue and alpha from 0 to 255.
pub fn color(r: u8, g: u8, b: u8, a: u8) -> Value {
    json!({ "__type__": "cc.Color", "r": r, "g": g, "b": b, "a": a })
}

/// An opaque grey from 0 (black) to 255 (white).
pub fn grey(level: u8) -> Value {
    color(level, level, level, 255)
}

/// A size: width and height.
pub fn size(width: f64, height: f64) -> Value {
    json!({ "__type__": "cc.Size", "width": width, "height": height })
}

/// A rectangle: a corner, width and height.
pub fn rect(x: f64, y: f64, width: f64, height: f64) -> Value {
    json!({ "__type__": "cc.Rect", "x": x, "y": y, "width": width, "height": height })
}

/// A key of a cubic spline: a value, and the slopes before and after it in values per second. All three are numbers, or
/// all three are of one of the types [`vec2`], [`vec3`], [`vec4`] and [`quat`].
pub fn spline(in_tangent: impl Into<Value>, value: impl Into<Value>, out_tangent: impl Into<Value>) -> Value {
    let value = value.into();
    let kind = value.get("__type__").and_then(Value::as_str).and_then(|name| name.strip_prefix("cc."));
    let name = format!("cc.CubicSpline{}Value", kind.unwrap_or("Number"));
    json!({ "__type__": name, "dataPoint": value, "inTangent": in_tangent.into(), "outTangent": out_tangent.into() })
}
