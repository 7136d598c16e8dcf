//! ASCII FBX files of version 7.4, from the parts that a test needs.

use std::fmt::Write;

/// Ticks of FBX per second.
const TICKS: f64 = 46_186_158_000.0;

/// The axes and the unit of a file.
#[derive(Clone, Copy)]
pub struct Space {
    /// The axis that points up: 0 to 2 for X to Z.
    pub up: u8,
    /// The axis that points to the front, and its sign.
    pub front: (u8, i8),
    /// The axis that points to the right, and its sign.
    pub right: (u8, i8),
    /// Centimetres per unit.
    pub unit: f64,
}

/// Y up, centimetres: the space of Maya and MotionBuilder.
pub const Y_UP: Space = Space { up: 1, front: (2, 1), right: (0, 1), unit: 1.0 };
/// Z up, facing -Y, centimetres: the space of 3ds Max.
pub const Z_UP: Space = Space { up: 2, front: (1, -1), right: (0, 1), unit: 1.0 };

/// How a curve goes on from a key.
#[derive(Clone, Copy)]
pub enum Key {
    Step,
    Linear,
    /// Cubic, level at both ends.
    Cubic,
}

/// A file at work. Ids are numbers of the caller's.
#[derive(Default)]
pub struct FbxText {
    objects: String,
    connections: String,
    next: u32,
}

impl FbxText {
    /// A file without objects.
    pub fn new() -> Self {
        Self { next: 1000, ..Self::default() }
    }

    /// Adds a node below another one; `parent` is 0 for a root. `properties` are lines of Properties70.
    pub fn node(&mut self, id: u32, name: &str, parent: u32, properties: &[String]) -> &mut Self {
        self.object(
            &format!("Model: {id}, \"Model::{name}\", \"LimbNode\""),
            &format!("Version: 232\n{}", list(properties)),
        );
        self.connect(id, parent)
    }

    /// Adds an object with its content.
    pub fn object(&mut self, head: &str, content: &str) -> &mut Self {
        writeln!(self.objects, "{head} {{\n{content}\n}}").unwrap();
        self
    }

    /// Connects an object to another one.
    pub fn connect(&mut self, from: u32, to: u32) -> &mut Self {
        writeln!(self.connections, "C: \"OO\",{from},{to}").unwrap();
        self
    }

    /// Connects an object to a property of another one.
    pub fn connect_property(&mut self, from: u32, to: u32, property: &str) -> &mut Self {
        writeln!(self.connections, "C: \"OP\",{from},{to}, \"{property}\"").unwrap();
        self
    }

    /// Adds an animation stack that plays these seconds, and its one layer. Returns the layer.
    pub fn stack(&mut self, name: &str, [start, stop]: [f64; 2]) -> u32 {
        let (stack, layer) = (self.id(), self.id());
        let time = |name, seconds| format!("P: \"{name}\", \"KTime\", \"Time\", \"\",{}", ticks(seconds));
        let times = [time("LocalStart", start), time("LocalStop", stop)];
        self.object(&format!("AnimationStack: {stack}, \"AnimStack::{name}\", \"\""), &list(&times));
        self.object(&format!("AnimationLayer: {layer}, \"AnimLayer::base\", \"\""), "");
        self.connect(layer, stack);
        layer
    }

    /// Adds a curve per axis of a property of an object. A channel is an axis, such as `d|X`, with keys of seconds and
    /// values.
    pub fn curves(
        &mut self,
        layer: u32,
        object: u32,
        property: &str,
        key: Key,
        channels: &[(&str, &[(f64, f64)])],
    ) -> &mut Self {
        let node = self.id();
        self.object(&format!("AnimationCurveNode: {node}, \"AnimCurveNode::c\", \"\""), "");
        self.connect(node, layer).connect_property(node, object, property);
        for (channel, keys) in channels {
            let curve = self.id();
            let flags = match key {
                Key::Step => 2,
                Key::Linear => 4,
                // Cubic, with tangents of the file's.
                Key::Cubic => 0x408,
            };
            let times: Vec<_> = keys.iter().map(|(seconds, _)| ticks(*seconds)).collect();
            let values: Vec<_> = keys.iter().map(|(_, value)| value).collect();
            let content = format!(
                "Default: 0\nKeyVer: 4008\nKeyTime: {}\nKeyValueFloat: {}\nKeyAttrFlags: {}\nKeyAttrDataFloat: {}\n\
                 KeyAttrRefCount: {}",
                array(&times),
                array(&values),
                array(&[flags]),
                array(&[0; 4]),
                array(&[keys.len()])
            );
            self.object(&format!("AnimationCurve: {curve}, \"AnimCurve::\", \"\""), &content);
            self.connect_property(curve, node, channel);
        }
        self
    }

    /// An id that is not taken.
    pub fn id(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// The text of the file, at 30 frames per second.
    pub fn text(&self, space: Space) -> String {
        let axis = |name: &str, (axis, sign): (u8, i8)| {
            [int(&format!("{name}Axis"), i64::from(axis)), int(&format!("{name}AxisSign"), i64::from(sign))]
        };
        let axes = [axis("Up", (space.up, 1)), axis("Front", space.front), axis("Coord", space.right)].concat();
        let units = [number("UnitScaleFactor", space.unit), int("TimeMode", 6)];
        format!(
            "; FBX 7.4.0 project file\nFBXHeaderExtension:  {{\nFBXHeaderVersion: 1003\nFBXVersion: 7400\n}}\nGlobalSettings:  \
             {{\nVersion: 1000\n{}}}\nObjects:  {{\n{}}}\nConnections:  {{\n{}}}\n",
            list(&[axes, units.to_vec()].concat()),
            self.objects,
            self.connections
        )
    }
}

/// A property of three numbers, such as `Lcl Translation`.
pub fn vector(name: &str, [x, y, z]: [f64; 3]) -> String {
    format!("P: \"{name}\", \"{name}\", \"\", \"A\",{x},{y},{z}")
}

/// A property of a whole number, such as `RotationOrder`.
pub fn int(name: &str, value: i64) -> String {
    format!("P: \"{name}\", \"int\", \"Integer\", \"\",{value}")
}

fn number(name: &str, value: f64) -> String {
    format!("P: \"{name}\", \"double\", \"Number\", \"\",{value}")
}

/// An array of numbers.
pub fn array(numbers: &[impl ToString]) -> String {
    let texts: Vec<_> = numbers.iter().map(ToString::to_string).collect();
    format!("*{} {{\na: {}\n}}", numbers.len(), texts.join(","))
}

fn list(properties: &[String]) -> String {
    format!("Properties70:  {{\n{}\n}}\n", properties.join("\n"))
}

fn ticks(seconds: f64) -> i64 {
    (seconds * TICKS).round() as i64
}
