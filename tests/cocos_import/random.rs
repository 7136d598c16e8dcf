use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use posse::import::cocos;
use posse::{
    CpuEngine, Crowd, Curve, Error, Evaluator, Extrapolation, Joint, Layer, LayerTime, Library, Outputs, Packing,
    Playback, Reference, Skeleton, Slots, Ticks, Transform, UnboundClip, UnboundCurves, UnboundTrack, WrapMode,
    contract,
};
use serde_json::{Map, Value, json};

use super::{examples, library};

/// A generator of choices that are the same every time.
pub struct Dice {
    state: u64,
    /// Whether numbers are beyond all bounds now and then.
    extreme: bool,
    /// One number in so many is none; 0 is never.
    faulty: usize,
}

impl Dice {
    pub fn new(seed: u64) -> Self {
        let state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut dice = Self { state, extreme: false, faulty: 0 };
        dice.extreme = dice.one_in(3);
        dice.faulty = if dice.one_in(3) { 100 } else { 0 };
        dice
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.state >> 33) as usize) % sides.max(1)
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.roll(all.len())].clone()
    }

    fn wrong(&mut self) -> Value {
        let all = [json!(null), json!("1"), json!([]), json!({}), json!(true), json!(1e300), json!({ "__id__": 0 })];
        self.pick(&all)
    }

    /// A number of everyday size, or of any.
    fn float(&mut self) -> f64 {
        const EXTREMES: [f64; 14] = [
            -0.0,
            1e-7,
            -1e-6,
            1e-30,
            5e-324,
            -1e-300,
            1e-45,
            1e10,
            -1e12,
            1e20,
            -1e30,
            3e38,
            16777217.0,
            0.3333333333333333,
        ];
        match self.roll(8) {
            0 => 0.0,
            1 => 1.0,
            2 => self.roll(20) as f64 - 10.0,
            3 if self.extreme => self.pick(&EXTREMES),
            _ => (self.roll(4001) as f64 - 2000.0) / 64.0 / (1 + self.roll(5)) as f64,
        }
    }

    fn number(&mut self) -> Value {
        if self.faulty > 0 && self.one_in(self.faulty) { self.wrong() } else { json!(self.float()) }
    }

    /// A whole number below a limit, or, rarely, something else.
    fn index(&mut self, limit: usize) -> Value {
        if self.faulty > 0 && self.one_in(self.faulty) {
            return self.pick(&[json!(-1), json!(limit), json!(0.5), json!(1e15), json!(null), json!("0")]);
        }
        json!(self.roll(limit))
    }

    fn times(&mut self) -> Vec<f64> {
        let count = match self.roll(12) {
            0 => 0,
            1 => 1,
            2 => 20 + self.roll(80),
            _ => 2 + self.roll(6),
        };
        let mut time = self.pick(&[0.0, 0.0, 0.0, 0.5, 3.0, -1.0]);
        let even = self.one_in(2);
        let step = self.pick(&[1.0, 0.5, 1.0 / 30.0, 0.25, 1e-3]);
        let mut times = Vec::new();
        for _ in 0..count {
            times.push(time);
            time += match self.roll(24) {
                _ if even => step,
                0 | 1 => 0.0,
                2 if self.extreme => self.pick(&[1e-9, 1e-6, 5e-7, 1e-5, 1e4, 1e30, 1e-300]),
                3 if self.faulty > 0 => -1.0,
                _ => step * (1 + self.roll(64)) as f64 / 16.0,
            };
        }
        times
    }

    fn easing(&mut self) -> Value {
        const NAMES: [&str; 44] = [
            "linear",
            "constant",
            "quadIn",
            "quadOut",
            "quadInOut",
            "quadOutIn",
            "cubicIn",
            "cubicOut",
            "cubicInOut",
            "cubicOutIn",
            "quartIn",
            "quartOut",
            "quartInOut",
            "quartOutIn",
            "quintIn",
            "quintOut",
            "quintInOut",
            "quintOutIn",
            "sineIn",
            "sineOut",
            "sineInOut",
            "sineOutIn",
            "expoIn",
            "expoOut",
            "expoInOut",
            "expoOutIn",
            "circIn",
            "circOut",
            "circInOut",
            "circOutIn",
            "elasticIn",
            "elasticOut",
            "elasticInOut",
            "elasticOutIn",
            "backIn",
            "backOut",
            "backInOut",
            "backOutIn",
            "bounceIn",
            "bounceOut",
            "bounceInOut",
            "bounceOutIn",
            "smooth",
            "fade",
        ];
        match self.roll(10) {
            0..=3 => json!(self.pick(&NAMES)),
            4 | 5 => json!(self.roll(45)),
            6 | 7 => {
                let mut unit = || self.roll(101) as f64 / 100.0;
                let (x1, x2) = (unit(), unit());
                json!([x1, self.float(), x2, self.float()])
            }
            8 if self.extreme => json!([self.float(), self.float(), self.float(), self.float()]),
            _ => json!(null),
        }
    }

    fn path(&mut self) -> String {
        let names = ["arm", "hand", "Head", "root", "board", "a b", "\u{e9}", ""];
        let count = self.roll(4);
        let path: Vec<&str> = (0..count).map(|_| self.pick(&names)).collect();
        format!("{}{}", self.pick(&["", "/"]), path.join("/"))
    }

    fn property(&mut self) -> &'static str {
        self.pick(&["position", "rotation", "scale", "eulerAngles", "color", "x", "opacity", "contentSize"])
    }

    fn component(&mut self) -> &'static str {
        self.pick(&["cc.Sprite", "cc.Light", "Mine"])
    }

    /// Values, so many, of one type but for slips.
    fn values(&mut self, count: usize) -> Vec<Value> {
        let shape = self.roll(16);
        let slips = self.faulty > 0 && self.one_in(8);
        (0..count)
            .map(|_| {
                let shape = if slips && self.one_in(6) { self.roll(16) } else { shape };
                self.value(shape)
            })
            .collect()
    }

    fn value(&mut self, shape: usize) -> Value {
        const SPLINES: [(&str, &str); 5] =
            [("Number", ""), ("Vec2", "cc.Vec2"), ("Vec3", "cc.Vec3"), ("Vec4", "cc.Vec4"), ("Quat", "cc.Quat")];
        match shape {
            0 | 1 => self.number(),
            2 => self.object("cc.Vec2"),
            3 | 4 => self.object("cc.Vec3"),
            5 => self.object("cc.Vec4"),
            6 | 7 => self.object("cc.Quat"),
            8 => self.object("cc.Color"),
            9 => self.object(if self.state & (1 << 40) == 0 { "cc.Size" } else { "cc.Rect" }),
            10 => json!({ "__type__": "cc.Color", "_val": self.roll(1 << 31) as i64 * 2 - (1 << 31) }),
            11 => (0..4).map(|_| self.number()).collect(),
            12 => (0..3).map(|_| self.number()).collect(),
            13 => {
                let (name, of) = self.pick(&SPLINES);
                let mut part = || if of.is_empty() { self.number() } else { self.object(of) };
                let (value, before, after) = (part(), part(), part());
                let name = format!("cc.CubicSpline{name}Value");
                json!({ "__type__": name, "dataPoint": value, "inTangent": before, "outTangent": after })
            }
            14 => json!({ "__type__": "custom", "a": self.number() }),
            _ => self.pick(&[
                json!(null),
                json!(true),
                json!("text"),
                json!({ "__uuid__": "a" }),
                json!([[]]),
                json!([1]),
            ]),
        }
    }

    fn object(&mut self, name: &str) -> Value {
        let fields: &[&str] = match name {
            "cc.Color" => &["r", "g", "b", "a"],
            "cc.Size" => &["width", "height"],
            "cc.Rect" => &["x", "y", "width", "height"],
            _ => &["x", "y", "z", "w"],
        };
        let mut object = json!({ "__type__": name });
        for field in fields {
            if !self.one_in(20) {
                object[*field] = self.number();
            }
        }
        object
    }

    /// Keys, by the index of a list of them, and values.
    fn keys_and_values(&mut self, lists: &[Vec<f64>]) -> Value {
        let keys = self.index(lists.len());
        let count = keys.as_u64().and_then(|index| lists.get(index as usize)).map_or(1, Vec::len);
        let count = if self.faulty > 0 && self.one_in(30) { count + 1 } else { count };
        let mut data = json!({ "keys": keys, "values": self.values(count) });
        match self.roll(8) {
            0 => data["easingMethod"] = self.easing(),
            1 | 2 => data["easingMethods"] = (0..count).map(|_| self.easing()).collect(),
            3 => {
                let entries: Map<String, Value> =
                    (0..3).map(|_| (self.roll(count + 2).to_string(), self.easing())).collect();
                data["easingMethods"] = Value::Object(entries);
            }
            4 => data["interpolate"] = json!(self.one_in(2)),
            _ => {}
        }
        data
    }

    fn frames(&mut self) -> Value {
        let times = self.times();
        let values = self.values(times.len());
        let frames = times.iter().zip(values).map(|(time, value)| {
            let mut frame = json!({ "frame": time, "value": value });
            match self.roll(5) {
                0 | 1 => frame["curve"] = self.easing(),
                2 => frame["motionPath"] = self.pick(&[json!([]), json!(null), json!([[0, 1, 2]])]),
                _ => {}
            }
            frame
        });
        frames.collect()
    }

    fn events(&mut self) -> Value {
        let count = self.roll(4);
        let event =
            |dice: &mut Self| json!({ "frame": dice.number(), "func": "call", "params": ["a", dice.number(), [null]] });
        (0..count).map(|_| event(self)).collect()
    }

    /// The fields of a clip of any form.
    fn clip(&mut self, private: bool, lists: &[Vec<f64>]) -> Value {
        let mut clip = json!({ "__type__": "cc.AnimationClip" });
        let name = |name: &str| if private { format!("_{name}") } else { name.to_owned() };
        clip[name("name")] = json!("made");
        clip[name("keys")] = json!(lists);
        if !self.one_in(12) {
            let lasts = [0.0, 0.25, 1.0, 2.0, 2.0, 5.0, 60.0];
            let last = self.pick(&lasts);
            clip[name("duration")] = json!(if self.extreme && self.one_in(4) { self.float() } else { last });
        }
        clip["events"] = self.events();
        if !self.one_in(4) {
            clip["wrapMode"] =
                self.pick(&[json!(0), json!(1), json!(2), json!(22), json!(36), json!(54), json!("loop")]);
        }
        if self.one_in(2) {
            clip["speed"] = self.number();
        }
        clip
    }

    fn node(&mut self, mut curve: impl FnMut(&mut Self) -> Value) -> Value {
        let mut node = json!({});
        for _ in 0..1 + self.roll(3) {
            let property = self.property();
            let curve = curve(self);
            match self.roll(3) {
                0 => node[property] = curve,
                1 => node["props"][property] = curve,
                _ => node["comps"][self.component()][property] = curve,
            }
        }
        node
    }

    /// The document form, and that before release 1.0.
    fn document(&mut self) -> Value {
        let lists: Vec<Vec<f64>> = (0..1 + self.roll(3)).map(|_| self.times()).collect();
        let private = self.one_in(2);
        let mut clip = self.clip(private, &lists);
        if self.one_in(2) && !private {
            clip.as_object_mut().unwrap().remove("__type__");
        }
        clip["curveDatas"] = json!({});
        for _ in 0..1 + self.roll(3) {
            let path = self.path();
            clip["curveDatas"][path] = self.node(|dice| dice.keys_and_values(&lists));
        }
        clip
    }

    /// The 2.x line.
    fn two(&mut self) -> Value {
        let mut clip = self.clip(true, &[]);
        let mut root = self.node(Self::frames);
        root.as_object_mut().unwrap().retain(|name, _| name == "props" || name == "comps");
        for _ in 0..self.roll(3) {
            let path = self.path();
            root["paths"][path] = self.node(Self::frames);
        }
        clip["curveData"] = root;
        clip
    }

    /// Releases 1.0 to 3.2.
    fn modifiers(&mut self) -> Value {
        let lists: Vec<Vec<f64>> = (0..1 + self.roll(3)).map(|_| self.times()).collect();
        let mut clip = self.clip(true, &lists);
        clip["_commonTargets"] = (0..2).map(|_| json!({ "modifiers": self.steps() })).collect();
        let count = 1 + self.roll(5);
        let curve = |dice: &mut Self| {
            let data = dice.keys_and_values(&lists);
            if dice.one_in(3) {
                let element = dice.pick(&["x", "y", "z", "w", "r", "width", "q"]);
                return json!({ "modifiers": [element], "commonTarget": dice.index(2), "data": data });
            }
            json!({ "modifiers": dice.steps(), "valueAdapter": dice.adapter(), "data": data })
        };
        clip["_curves"] = (0..count).map(|_| curve(self)).collect();
        clip
    }

    /// The way to a property.
    fn steps(&mut self) -> Value {
        let mut steps = Vec::new();
        for _ in 0..self.roll(3) {
            steps.push(json!({ "__type__": "cc.animation.HierarchyPath", "path": self.path() }));
        }
        if self.one_in(3) {
            steps.push(json!({ "__type__": "cc.animation.ComponentPath", "component": self.component() }));
        }
        steps.push(json!(self.property()));
        if self.one_in(8) {
            steps.push(self.index(4));
        }
        json!(steps)
    }

    fn adapter(&mut self) -> Value {
        match self.roll(8) {
            0 => {
                json!({ "__type__": "cc.animation.UniformProxyFactory", "uniformName": "glow", "channelIndex": self.index(4) })
            }
            1 => json!({ "__type__": "Mine" }),
            _ => json!(null),
        }
    }

    /// Release 3.3 and later.
    fn tracks(&mut self) -> Value {
        let mut clip = self.clip(true, &[]);
        let count = 1 + self.roll(5);
        clip["_tracks"] = (0..count).map(|_| self.track()).collect();
        clip
    }

    fn track(&mut self) -> Value {
        const KINDS: [&str; 9] = [
            "RealTrack",
            "VectorTrack",
            "ColorTrack",
            "SizeTrack",
            "QuatTrack",
            "ObjectTrack",
            "RealArrayTrack",
            "UntypedTrack",
            "MagicTrack",
        ];
        let kind = self.pick(&KINDS);
        let mut track = json!({ "__type__": format!("cc.animation.{kind}") });
        track["_binding"] = json!({ "path": { "_paths": self.steps() }, "proxy": self.adapter() });
        match kind {
            "RealTrack" => track["_channel"] = self.channel(),
            "QuatTrack" | "ObjectTrack" => {
                let times = self.times();
                let quats = kind == "QuatTrack";
                let values: Vec<Value> = (times.iter())
                    .map(|_| match quats {
                        true => json!({ "value": self.object("cc.Quat"), "interpolationMode": self.index(2), "easingMethod": self.easing() }),
                        false => self.value(15),
                    })
                    .collect();
                let (before, after) = (self.index(4), self.index(4));
                let curve = json!({ "_times": times, "_values": values, "preExtrapolation": before, "postExtrapolation": after });
                track["_channel"] = json!({ "_curve": curve });
            }
            _ => {
                let count = self.roll(6);
                track["_channels"] = (0..count).map(|_| self.channel()).collect();
                track["_nComponents"] = json!(2 + self.roll(3));
            }
        }
        track
    }

    fn channel(&mut self) -> Value {
        let property = self.pick(&["x", "y", "z", "w", "r", "a", "width"]);
        json!({ "property": property, "_curve": self.real_curve() })
    }

    fn real_curve(&mut self) -> Value {
        let times = self.times();
        let mixed = self.one_in(2);
        let (mode, weights) = (self.index(3), self.index(4));
        let keyframe = |dice: &mut Self| {
            let mode = if mixed { dice.index(3) } else { mode.clone() };
            let weights = if mixed { dice.index(4) } else { weights.clone() };
            let mut keyframe =
                json!({ "value": dice.number(), "interpolationMode": mode, "tangentWeightMode": weights });
            for side in ["leftTangent", "rightTangent", "leftTangentWeight", "rightTangentWeight"] {
                keyframe[side] = dice.number();
            }
            keyframe["easingMethod"] = dice.easing();
            keyframe
        };
        let values: Vec<Value> = times.iter().map(|_| keyframe(self)).collect();
        json!({ "_times": times, "_values": values, "preExtrapolation": self.index(4), "postExtrapolation": self.index(4) })
    }

    /// A file of any form, as bytes.
    pub fn file(&mut self) -> Vec<u8> {
        let mut file = match self.roll(12) {
            0 | 1 => self.document(),
            2 | 3 => self.two(),
            4 | 5 => self.modifiers(),
            6..=9 => self.tracks(),
            _ => self.pick(&examples::all()),
        };
        if self.one_in(4) {
            file = self.with_references(file);
        }
        if self.one_in(4) {
            for _ in 0..=self.roll(3) {
                self.mutate(&mut file);
            }
        }
        self.flip(file.to_string().into_bytes(), 16)
    }

    /// Flips a bit, once in so many times.
    fn flip(&mut self, mut bytes: Vec<u8>, times: usize) -> Vec<u8> {
        if self.one_in(times) {
            let index = self.roll(bytes.len());
            bytes[index] ^= 1 << self.roll(8);
        }
        bytes
    }

    /// A file as a list, some of whose parts are objects of that list.
    fn with_references(&mut self, mut clip: Value) -> Value {
        if clip.is_array() {
            return clip;
        }
        let mut objects = Vec::new();
        for _ in 0..1 + self.roll(6) {
            let mut places = Vec::new();
            pointers(&clip, String::new(), &mut places);
            places.retain(|place| !place.is_empty());
            let place = clip.pointer_mut(&places[self.roll(places.len())]).unwrap();
            objects.push(std::mem::replace(place, json!({ "__id__": objects.len() + 1 })));
        }
        [vec![clip], objects].concat().into()
    }

    /// Breaks something.
    pub fn mutate(&mut self, file: &mut Value) {
        let mut places = Vec::new();
        pointers(file, String::new(), &mut places);
        let donor = file.pointer(&places[self.roll(places.len())]).unwrap().clone();
        let place = file.pointer_mut(&places[self.roll(places.len())]).unwrap();
        match (self.roll(9), &mut *place) {
            (0, Value::Array(items)) if !items.is_empty() => drop(items.remove(self.roll(items.len()))),
            (1, Value::Array(items)) if !items.is_empty() => items.push(items[self.roll(items.len())].clone()),
            (0 | 1, Value::Object(fields)) => {
                drop(fields.keys().nth(self.roll(9)).cloned().map(|name| fields.remove(&name)));
            }
            (2, place) => *place = json!(self.pick(&[-1.0, 0.0, 1e300, -1e-300, 4294967296.0, 0.5])),
            (3, place) => *place = json!({ "__id__": self.roll(9) }),
            (4, place) => *place = self.wrong(),
            (5, place) => {
                let depth = self.pick(&[1, 9, 30, 130]);
                let inner = std::mem::take(place);
                *place = (0..depth).fold(inner, |value, _| json!([value]));
            }
            (_, place) => *place = donor,
        }
    }
}

/// All places of a value, as pointers.
fn pointers(value: &Value, at: String, out: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| pointers(item, format!("{at}/{index}"), out));
        }
        Value::Object(fields) => {
            let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
            fields.iter().for_each(|(name, field)| pointers(field, format!("{at}/{}", escaped(name)), out));
        }
        _ => {}
    }
    out.push(at);
}

/// So many files, the same ones every time; `FUZZ_SECONDS=N` asks for others, as many as are done in N seconds. A failure
/// prints its file.
#[test]
fn random_files_are_refused_or_posed_alike() {
    let library = library();
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs);
    let others = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64);
    let (start, first) = (Instant::now(), if seconds.is_some() { others } else { 0 });
    let mut counts = [0; 3];
    for round in 0.. {
        if seconds.map_or(round == 4000, |seconds| start.elapsed() > seconds) {
            break;
        }
        let bytes = Dice::new(first.wrapping_add(round)).file();
        let began = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| check(&library, &bytes)));
        let outcome = outcome.unwrap_or_else(|_| panic!("this file does harm: {}", String::from_utf8_lossy(&bytes)));
        let took = began.elapsed();
        assert!(took < Duration::from_secs(5), "this file took {took:?}: {}", String::from_utf8_lossy(&bytes));
        counts[outcome as usize] += 1;
    }
    if seconds.is_some() {
        println!("{} refused, {} not bound, {} posed", counts[0], counts[1], counts[2]);
    } else {
        assert!(counts[Outcome::Refused as usize] > 1000 && counts[Outcome::Posed as usize] > 1000, "{counts:?}");
    }
}

#[test]
fn no_mutation_does_harm() {
    let library = library();
    let mut dice = Dice::new(11);
    let mut read_well = 0;
    for round in 0..6000 {
        let mut file = examples::all()[round % 5].clone();
        for _ in 0..=dice.roll(3) {
            dice.mutate(&mut file);
        }
        let bytes = dice.flip(file.to_string().into_bytes(), 4);
        match cocos::from_slice(&library, Path::new("broken.anim"), &bytes) {
            Ok(_) => read_well += 1,
            Err(Error::Import { path, reason, .. }) => assert!(!path.is_empty() && !reason.is_empty()),
            Err(other) => panic!("{other}"),
        }
    }
    assert!(read_well > 600, "only {read_well} were read");
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    Refused,
    /// Its loops are too many to be bound.
    Unbound,
    Posed,
}

/// Reads a file, binds the clip in both ways, and poses it by two engines, which have to agree.
pub fn check(library: &Library, bytes: &[u8]) -> Outcome {
    let file = match cocos::from_slice(library, Path::new("random.anim"), bytes) {
        Ok(file) => file,
        Err(Error::Import { path, reason, .. }) => {
            assert!(!path.is_empty() && !reason.is_empty());
            return Outcome::Refused;
        }
        Err(other) => panic!("{other}"),
    };
    let joint =
        |name: &str, parent| Joint { name: Some(name.into()), parent, rest: Transform::IDENTITY, ..Joint::default() };
    let mut joints = vec![joint("root", None), joint("arm", Some(0)), joint("hand", Some(1)), joint("hand", Some(1))];
    joints.push(Joint { matrix: Some(glam::DAffine3::IDENTITY), ..joint("board", Some(0)) });
    let outcomes = [(Slots::All, Vec::new()), (Slots::Bound, joints)]
        .map(|(slots, joints)| pose(library.clone(), &file.clip, slots, joints));
    outcomes.into_iter().find(|outcome| *outcome != Outcome::Posed).unwrap_or(Outcome::Posed)
}

fn pose(mut library: Library, clip: &UnboundClip, slots: Slots, joints: Vec<Joint>) -> Outcome {
    let skeleton = library.add_skeleton(Skeleton::new(None, joints, Vec::new()).unwrap());
    let binding = match library.bind(skeleton, clip, slots) {
        Ok(binding) => binding,
        Err(Error::Track { reason, .. }) if reason.contains("looped over the clip") => return Outcome::Unbound,
        Err(other) => panic!("{other}"),
    };
    assert_eq!(binding.tracks.len(), clip.tracks.len());
    Packing::new(&library).unwrap();
    // There is nothing to pose.
    if library.skeleton(skeleton).joints().is_empty() && library.skeleton(skeleton).properties().is_empty() {
        return Outcome::Posed;
    }
    let curves = || clip.tracks.iter().flat_map(curves_of);
    // Of so many seconds no engine closes the seams.
    if curves().any(|curve| loops(curve) && curve.timeline().times().iter().any(|time| time.abs() > 1e6)) {
        return Outcome::Posed;
    }
    let length = clip.duration;
    // Nowhere near the seams of passes, where a rounding leads elsewhere.
    let times = [0.0, 0.09173, 0.26537, 0.51931, 0.76811, 0.98713].map(|part| LayerTime::At(part * length));
    let plays = WrapMode::ALL.map(|wrap| LayerTime::Playing(Playback::new(wrap, Ticks::default(), clip.speed)));
    let keys = curves().flat_map(|curve| curve.timeline().times()).take(5).map(|&time| LayerTime::At(time));
    let mut crowd = Crowd::new();
    for time in times.into_iter().chain(plays).chain(keys) {
        crowd.push(skeleton, &[Layer::new(binding.clip, time)]).unwrap();
    }
    let now = Ticks::from_seconds(1.7320508);
    let expected = Reference::new(&library).evaluate(&crowd, now, Outputs::ALL).unwrap();
    let actual = CpuEngine::with_threads(&library, 1).unwrap().evaluate(&crowd, now, Outputs::ALL).unwrap();
    let report = contract::compare(&library, &crowd, now, &expected, &actual);
    if is_everyday(clip) && curves().all(|curve| curve_is_everyday(curve, length) && !has_seam(curve, &crowd, length)) {
        let worst = report.quantities().into_iter().flat_map(|(_, worst)| worst);
        let layers: Vec<_> = worst.map(|worst| crowd.layers(worst.instance)).collect();
        assert!(report.is_within(), "{slots:?}: {:?}\n{layers:?}", report.quantities());
    }
    Outcome::Posed
}

fn curves_of(track: &UnboundTrack) -> Vec<&Curve> {
    match &track.curves {
        UnboundCurves::Empty => Vec::new(),
        UnboundCurves::Whole(curve) => vec![curve],
        UnboundCurves::Channels(curves) => curves.iter().flatten().collect(),
    }
}

/// Whether a clip plays so that an `f32` can follow; engines may part over others.
fn is_everyday(clip: &UnboundClip) -> bool {
    let speed = clip.speed.abs();
    (clip.duration == 0.0 || (1e-2..=1e3).contains(&clip.duration)) && (speed == 0.0 || (1e-3..=1e2).contains(&speed))
}

/// Whether an `f32` tells a curve's keys apart, and holds its values wherever an easing throws them.
fn curve_is_everyday(curve: &Curve, length: f64) -> bool {
    let times = curve.timeline().times();
    let apart = |pair: &[f64]| pair[0] == pair[1] || pair[1] - pair[0] >= 1e-5 + 1e-4 * length;
    let shared = |pair: Option<&[f64]>| pair.is_some_and(|pair| pair[0] == pair[1]);
    // Where keys share the first or the last time, what is past it is another matter.
    !shared(times.get(..2))
        && !shared(times.len().checked_sub(2).and_then(|start| times.get(start..)))
        && times.windows(2).all(apart)
        && times.iter().all(|time| time.abs() <= 1e3)
        && curve.values().iter().all(|value| value.abs() <= 1e6)
}

fn loops(curve: &Curve) -> bool {
    curve.extrapolation().iter().any(|how| matches!(how, Extrapolation::Loop | Extrapolation::PingPong))
}

/// Whether one of the times that are asked for, or an end of the clip, is where a curve's loop begins anew, so that a
/// rounding leads elsewhere.
fn has_seam(curve: &Curve, crowd: &Crowd, length: f64) -> bool {
    let timeline = curve.timeline();
    let (first, span) = (timeline.first(), timeline.last() - timeline.first());
    let asked = (0..crowd.len()).flat_map(|instance| crowd.layers(instance)).filter_map(|layer| match layer.time {
        LayerTime::At(time) => Some(time),
        LayerTime::Playing(_) => None,
    });
    let at_seam = |time: f64| {
        let passes = (time - first) / span;
        let inside = time >= first && time <= timeline.last();
        !inside && (passes - passes.round()).abs() * span <= 1e-6 + 1e-7 * length
    };
    loops(curve) && span > 0.0 && asked.chain([0.0, length]).any(at_seam)
}
