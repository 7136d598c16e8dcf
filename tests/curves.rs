//! Curves of Cocos Creator, compared with figures that Cocos Creator printed, on every engine.

use std::path::Path;
use std::sync::Arc;

use posse::binding::UnboundCurves;
use posse::binding::color_bytes;
use posse::curves::{
    Curve, CurveEasing, Easing, Extrapolation, Interpolation, Interpolator, InterpolatorId, Target, Timeline, Track,
};
use posse::rig::Property;
use posse::{Clip, ClipId, Crowd, Layer, LayerTime, Library, Outputs, Skeleton, SkeletonId, Ticks};
use serde_json::{Value, json};

use crate::support::each_engine::each_engine;
use crate::support::skip::collected_or_skip;

/// A custom interpolator. Between keys the result is `[a + (b - a) t, t, seconds, 1]`. On a key it is `[a, 0, 0, 1]`,
/// or `[a, 0, 0, 0]` if it is bare, which stands for the value itself.
#[derive(Debug)]
struct Echo {
    bare: bool,
}

impl Interpolator for Echo {
    fn name(&self) -> &str {
        if self.bare { "bare" } else { "told" }
    }

    fn width(&self) -> usize {
        1
    }

    fn result_width(&self) -> usize {
        4
    }

    fn lerp(&self, from: &[f64], to: &[f64], t: f64, seconds: f64, result: &mut [f64]) {
        result.copy_from_slice(&[from[0] + (to[0] - from[0]) * t, t, seconds, 1.0]);
    }

    fn no_lerp(&self, value: &[f64], result: &mut [f64]) {
        result.copy_from_slice(&[value[0], 0.0, 0.0, if self.bare { 0.0 } else { 1.0 }]);
    }

    fn wgsl(&self) -> &str {
        if self.bare {
            "fn bare_lerp(a: array<f32, 1>, b: array<f32, 1>, t: f32, seconds: f32) -> array<f32, 4> {
                return array<f32, 4>(a[0] + (b[0] - a[0]) * t, t, seconds, 1.0);
            }
            fn bare_no_lerp(value: array<f32, 1>) -> array<f32, 4> {
                return array<f32, 4>(value[0], 0.0, 0.0, 0.0);
            }"
        } else {
            "fn told_lerp(a: array<f32, 1>, b: array<f32, 1>, t: f32, seconds: f32) -> array<f32, 4> {
                return array<f32, 4>(a[0] + (b[0] - a[0]) * t, t, seconds, 1.0);
            }
            fn told_no_lerp(value: array<f32, 1>) -> array<f32, 4> {
                return array<f32, 4>(value[0], 0.0, 0.0, 1.0);
            }"
        }
    }
}

/// The expected value of a curve at a time.
struct Figure {
    /// The index of the curve, which is the index of its property too.
    curve: usize,
    time: f64,
    expected: Vec<f64>,
    /// The error that an `f32` engine may have.
    allowed: f64,
    /// The error that the reference may have.
    exact: f64,
}

/// A curve with its name and the width of its results.
struct NamedCurve {
    id: String,
    curve: Curve,
    width: usize,
}

/// A library of one skeleton without joints. It has a property and a clip for each curve.
struct Figures {
    library: Library,
    curves: Vec<NamedCurve>,
    wanted: Vec<Figure>,
    custom: [InterpolatorId; 2],
}

impl Figures {
    fn new() -> Self {
        let mut library = Library::new();
        let custom = [false, true].map(|bare| library.add_interpolator(Arc::new(Echo { bare })).unwrap());
        Self { library, curves: Vec::new(), wanted: Vec::new(), custom }
    }

    /// Adds a curve whose results have this width, and returns its index.
    fn curve(&mut self, id: &str, curve: Curve, width: usize) -> usize {
        self.curves.push(NamedCurve { id: id.into(), curve, width });
        self.curves.len() - 1
    }

    /// Adds the expected value of a curve at a time. The value may be off by `sens` where the time is rounded.
    fn want(&mut self, curve: usize, time: f64, expected: Vec<f64>, sens: f64) {
        let all = self.curves[curve].curve.values().iter().chain(&expected);
        let magnitude = all.fold(1e-3_f64, |size, number| size.max(number.abs()));
        // Cocos Creator's Bezier solver is off by up to 5e-11 where a curve is steep.
        let unweighted = matches!(self.curves[curve].curve.easing(), CurveEasing::None);
        let exact = if unweighted { 1e-12 } else { 1e-10 } * magnitude.max(1.0);
        self.wanted.push(Figure { curve, time, expected, allowed: 2e-6 * magnitude + 4.0 * sens, exact });
    }

    /// Compares the figures with the values of every engine. There must be at least `least` figures.
    fn check(self, length: Option<f64>, least: usize) {
        let Self { mut library, curves, wanted, .. } = self;
        let property =
            |named: &NamedCurve| Property { name: named.id.clone(), rest: vec![0.0; named.width], rotation: false };
        let properties = curves.iter().map(property).collect();
        let skeleton = library.add_skeleton(Skeleton::new(None, Vec::new(), properties).unwrap());
        let mut clips: Vec<ClipId> = Vec::new();
        for (index, named) in curves.iter().enumerate() {
            let tracks = vec![Track::new(Target::Property(index), named.curve.clone())];
            let clip = Clip { length, ..Clip::new(Some(named.id.clone()), skeleton, tracks) };
            clips.push(library.add_clip(clip).unwrap());
        }
        assert!(wanted.len() >= least, "only {} figures", wanted.len());
        compare(&library, skeleton, &clips, &wanted);
    }
}

/// Asserts that every engine gives the figures. The clip of curve `i` is `clips[i]`.
fn compare(library: &Library, skeleton: SkeletonId, clips: &[ClipId], figures: &[Figure]) {
    let mut crowd = Crowd::new();
    for figure in figures {
        let layer = Layer::new(clips[figure.curve], LayerTime::At(figure.time));
        crowd.push(skeleton, &[layer]).unwrap();
    }
    let mut first = vec![0];
    for property in library.skeleton(skeleton).properties() {
        first.push(first[first.len() - 1] + property.rest.len());
    }
    each_engine(library, |engine| {
        let poses = engine.evaluate(&crowd, Ticks(0), Outputs { properties: true, ..Outputs::NONE }).unwrap();
        let mut errors = Vec::new();
        for (figure, pose) in figures.iter().zip(&poses.instances) {
            let found = &pose.properties[first[figure.curve]..first[figure.curve + 1]];
            let allowed = if engine.engine() == "reference" { figure.exact } else { figure.allowed };
            let off = found.iter().zip(&figure.expected).map(|(found, wanted)| (found - wanted).abs());
            if found.len() != figure.expected.len() || !off.fold(0.0, f64::max).le(&allowed) {
                let Figure { curve, time, expected, .. } = figure;
                let id = &library.skeleton(skeleton).properties()[*curve].name;
                errors.push(format!("{id} at {time}: {found:?}, not {expected:?} to {allowed:e}"));
            }
        }
        assert!(errors.is_empty(), "{}: {} of {}: {errors:#?}", engine.engine(), errors.len(), figures.len());
    });
}

fn collection() -> Option<Value> {
    let file = collected_or_skip("cocos/curves.json", "the collected figures of curves")?;
    Some(serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().map(|value| value.as_f64().unwrap()).collect(),
        value => vec![value.as_f64().unwrap()],
    }
}

fn easing(value: &Value) -> Easing {
    match value {
        Value::String(name) => Easing::from_name(name).unwrap_or(Easing::Linear),
        Value::Array(_) => Easing::Bezier(numbers(value).try_into().unwrap()),
        Value::Number(id) => Easing::from_id(id.as_u64().unwrap() as u32).unwrap(),
        _ => Easing::Linear,
    }
}

/// The easings of a curve with this number of keys.
fn easings(case: &Value, keys: usize) -> CurveEasing {
    if let Some(one) = case.get("easingMethod") {
        return CurveEasing::One(easing(one));
    }
    match &case["easingMethods"] {
        Value::Array(all) => CurveEasing::PerKey(all.iter().map(easing).collect()),
        Value::Object(some) => {
            let find = |key: usize| some.get(&key.to_string()).map_or(Easing::Linear, easing);
            CurveEasing::PerKey((0..keys).map(find).collect())
        }
        _ => CurveEasing::None,
    }
}

/// The window about the keys of a curve of a clip, in seconds.
fn window(times: &[f64], duration: f64) -> f64 {
    let steps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) / duration).collect();
    let even = steps.iter().all(|step| (step - steps[0]).abs() < 1e-6);
    match steps.len() {
        gaps if even && gaps > 0 => 1e-6 * (times[gaps] - times[0]) / gaps as f64,
        _ => 1e-6 * duration,
    }
}

/// A case of the collection: a curve of one kind of value, with its keys.
struct Case<'a> {
    json: &'a Value,
    kind: &'a str,
    id: String,
    values: &'a [Value],
    times: Vec<f64>,
    /// `true` if each key holds until the next one.
    steps: bool,
}

impl<'a> Case<'a> {
    /// Reads a case; `None` if it has no values.
    fn read(json: &'a Value) -> Option<Self> {
        let values = list(&json["values"]);
        if values.is_empty() {
            return None;
        }
        let id = format!("{} ({})", json["id"].as_str().unwrap(), json["note"].as_str().unwrap_or(""));
        // Keys of `null` stand for a negative index of keys: one value for all times.
        let times = if json["keys"].is_null() { vec![0.0] } else { numbers(&json["keys"]) };
        let steps = json["interpolate"] == Value::Bool(false);
        Some(Self { json, kind: json["type"].as_str().unwrap(), id, values, times, steps })
    }

    fn is_spline(&self) -> bool {
        self.kind.starts_with("cs_")
    }

    fn interpolator(&self, figures: &Figures) -> Option<InterpolatorId> {
        match self.kind {
            "custom" => Some(figures.custom[0]),
            "custom_bare" => Some(figures.custom[1]),
            _ => None,
        }
    }

    /// The numbers of all keys, and the width of a value.
    fn stored(&self, figures: &Figures) -> (Vec<f64>, usize) {
        if let Some(id) = self.interpolator(figures).filter(|_| self.steps) {
            // A key that holds has the result of the interpolator at that key alone.
            let hold = |value: &Value| {
                let mut result = vec![0.0; 4];
                figures.library.interpolator(id).no_lerp(&numbers(value), &mut result);
                result
            };
            return (self.values.iter().flat_map(hold).collect(), 4);
        }
        let elements = |value: &Value| ["in", "v", "out"].map(|part| numbers(&value[part]));
        let stored: Vec<f64> = match self.kind {
            "object" | "bool" => (0..self.values.len()).map(|key| key as f64).collect(),
            _ if self.is_spline() => self.values.iter().flat_map(elements).flatten().collect(),
            _ => self.values.iter().flat_map(numbers).collect(),
        };
        let width = stored.len() / self.values.len() / if self.is_spline() { 3 } else { 1 };
        (stored, width)
    }

    fn interpolation(&self, figures: &Figures) -> Interpolation {
        match self.kind {
            "object" | "bool" => Interpolation::Step,
            _ if self.steps => Interpolation::Step,
            _ if self.is_spline() => Interpolation::CubicSpline,
            "quat" => Interpolation::Slerp,
            _ => self.interpolator(figures).map_or(Interpolation::Linear, Interpolation::Custom),
        }
    }

    /// Adds the curve of the case, and returns its index.
    fn add_curve(&self, figures: &mut Figures) -> usize {
        let duration = self.json["duration"].as_f64().unwrap();
        let (stored, width) = self.stored(figures);
        let timeline = Timeline::snapping(self.times.clone(), window(&self.times, duration)).unwrap();
        let curve = Curve::new(Arc::new(timeline), self.interpolation(figures), width, stored).unwrap();
        let curve = curve.with_easing(easings(self.json, self.times.len())).unwrap();
        let width = if self.interpolator(figures).is_some() { 4 } else { width };
        figures.curve(&self.id, curve, width)
    }

    /// The figures at the times of the case: the figures of `seed`, or of a later release if `seed` refused the case or
    /// made a mistake.
    fn expected(&self) -> &'a Value {
        let seed = &self.json["expected"]["seed"];
        // The latest release rounds colours in another way.
        let later = &self.json["expected"][if self.kind == "color" { "v383" } else { "v385" }];
        // The constructor turned a w of 0 into a w of 1, so these figures belong to another curve.
        let mistaken = self.kind == "quat" && self.values.iter().any(|value| value[3] == 0);
        if mistaken || seed.get("error").is_some() { later } else { seed }
    }

    /// The numbers that a figure stands for; `None` if several keys have its value, since then the figure does not tell
    /// its key.
    fn wanted(&self, value: &Value, raw: Option<&Value>) -> Option<Vec<f64>> {
        Some(match (self.kind, raw) {
            ("object" | "bool", _) if self.values.iter().filter(|other| *other == value).count() > 1 => return None,
            ("object" | "bool", _) => vec![self.values.iter().position(|other| other == value).unwrap() as f64],
            ("color", Some(raw)) => numbers(raw),
            ("custom_bare", _) if value.get("self").is_some() => {
                vec![value["self"].as_f64().unwrap(), 0.0, 0.0, 0.0]
            }
            ("custom" | "custom_bare", _) => numbers(value).into_iter().chain([1.0]).collect(),
            _ => numbers(value),
        })
    }

    /// Checks the bytes of a colour, and returns whether it did.
    fn check_color(&self, value: &Value, raw: Option<&Value>) -> bool {
        let Some(raw) = raw.filter(|_| self.kind == "color") else { return false };
        let [r, g, b, a] = numbers(raw)[..] else { panic!("{raw}") };
        // If a channel does not fit a byte, the later release carries into the next channel.
        let fits = [r, g, b, a].iter().all(|channel| (0.0..=255.0).contains(channel));
        if &self.json["expected"]["seed"] != self.expected() && !fits {
            return false;
        }
        assert_eq!(color_bytes([r, g, b, a]).map(f64::from).to_vec(), numbers(value), "{}", self.id);
        true
    }
}

#[test]
fn curves_of_every_kind_are_as_collected() {
    let Some(collection) = collection() else { return };
    let mut figures = Figures::new();
    let mut colours = 0;
    for json in list(&collection["cases"]) {
        let Some(case) = Case::read(json) else { continue };
        let index_of_curve = case.add_curve(&mut figures);
        let edges = list(&json["edge"]["times"]).iter().zip(list(&json["edge"]["seed"]));
        let times = list(&json["times"]).iter().zip(list(case.expected()));
        for (index, (time, value)) in times.chain(edges).enumerate() {
            let raw = json["raw"].get(index);
            colours += usize::from(case.check_color(value, raw));
            let Some(wanted) = case.wanted(value, raw) else { continue };
            let sens = json["sens"].get(index).and_then(Value::as_f64).unwrap_or(0.0);
            figures.want(index_of_curve, time.as_f64().unwrap(), wanted, sens);
        }
    }
    assert!(colours > 100, "only {colours} colours");
    figures.check(None, 1400);
}

fn extrapolation(value: &Value) -> Extrapolation {
    match value.as_u64() {
        Some(0) => Extrapolation::Linear,
        Some(2) => Extrapolation::Loop,
        Some(3) => Extrapolation::PingPong,
        _ => Extrapolation::Clamp,
    }
}

/// The offset of all times, in seconds, so that the clip begins before the first key.
const BEGIN: f64 = 16.0;

#[test]
fn rotations_extrapolate_as_collected() {
    let Some(collection) = collection() else { return };
    let mut figures = Figures::new();
    for case in list(&collection["quat_curves"]) {
        let keys = list(&case["keyframes"]);
        let times: Vec<f64> = keys.iter().map(|key| key["time"].as_f64().unwrap() + BEGIN).collect();
        let easings = keys.iter().map(|key| if key["interp"] == 1 { Easing::Constant } else { easing(&key["easing"]) });
        let values = keys.iter().flat_map(|key| numbers(&key["value"])).collect();
        let timeline = Arc::new(Timeline::snapping(times, 1e-6).unwrap());
        let curve = Curve::new(timeline, Interpolation::Slerp, 4, values).unwrap();
        let curve = curve.with_easing(CurveEasing::PerKey(easings.collect())).unwrap();
        let curve = curve.with_extrapolation(extrapolation(&case["pre"]), extrapolation(&case["post"]));
        let index_of_curve = figures.curve(case["id"].as_str().unwrap(), curve, 4);
        for (index, (time, value)) in list(&case["times"]).iter().zip(list(&case["expected"])).enumerate() {
            let sens = case["sens"].get(index).and_then(Value::as_f64).unwrap_or(0.0);
            figures.want(index_of_curve, time.as_f64().unwrap() + BEGIN, numbers(value), sens);
        }
    }
    figures.check(Some(2.0 * BEGIN), 30);
}

/// A file of release 3.3 or later with a track of one real curve.
fn real_track(case: &Value) -> Value {
    let keys = list(&case["keyframes"]);
    let value = |key: &Value| {
        json!({
            "__type__": "cc.RealKeyframeValue",
            "value": key["value"],
            "interpolationMode": key["interp"],
            "tangentWeightMode": key["twm"],
            "leftTangent": key["lt"],
            "leftTangentWeight": key["ltw"],
            "rightTangent": key["rt"],
            "rightTangentWeight": key["rtw"],
            "easingMethod": key["easing"],
        })
    };
    let times: Vec<f64> = keys.iter().map(|key| key["time"].as_f64().unwrap() + BEGIN).collect();
    let values: Vec<Value> = keys.iter().map(value).collect();
    json!([
        { "__type__": "cc.AnimationClip", "_name": case["id"], "_duration": 2.0 * BEGIN, "_tracks": [{ "__id__": 1 }] },
        {
            "__type__": "cc.animation.RealTrack",
            "_binding": { "__type__": "cc.animation.TrackBinding", "path": { "__id__": 2 } },
            "_channel": { "__id__": 3 },
        },
        { "__type__": "cc.animation.TrackPath", "_paths": ["width"] },
        { "__type__": "cc.animation.Channel", "_curve": { "__id__": 4 } },
        {
            "__type__": "cc.RealCurve",
            "_times": times,
            "_values": values,
            "preExtrapolation": case["pre"],
            "postExtrapolation": case["post"],
        },
    ])
}

#[test]
fn real_curves_are_as_collected() {
    let Some(collection) = collection() else { return };
    let mut figures = Figures::new();
    for case in list(&collection["real_curves"]) {
        let id = case["id"].as_str().unwrap();
        let bytes = serde_json::to_vec(&real_track(case)).unwrap();
        let file = posse::import::cocos::from_slice(&Library::new(), Path::new(id), &bytes).unwrap();
        let curve = match file.clip.tracks.first().map(|track| &track.curves) {
            Some(UnboundCurves::Whole(curve)) => curve.clone(),
            Some(UnboundCurves::Channels(channels)) => channels[0].clone().unwrap(),
            // A curve without keys drives nothing.
            _ => {
                assert!(list(&case["keyframes"]).is_empty(), "{id}");
                continue;
            }
        };
        let index_of_curve = figures.curve(id, curve, 1);
        for (index, (time, value)) in list(&case["times"]).iter().zip(list(&case["expected"])).enumerate() {
            let sens = case["sens"].get(index).and_then(Value::as_f64).unwrap_or(0.0);
            figures.want(index_of_curve, time.as_f64().unwrap() + BEGIN, numbers(value), sens);
        }
    }
    figures.check(Some(2.0 * BEGIN), 150);
}
