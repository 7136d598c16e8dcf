//! Contents of curves: times, values, easings, and the names of targets.

use serde_json::{Value, json};

use super::dice::Dice;

impl Dice {
    pub(super) fn times(&mut self) -> Vec<f64> {
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

    pub(super) fn easing(&mut self) -> Value {
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

    pub(super) fn path(&mut self) -> String {
        let names = ["arm", "hand", "Head", "root", "board", "a b", "\u{e9}", ""];
        let count = self.roll(4);
        let path: Vec<&str> = (0..count).map(|_| self.pick(&names)).collect();
        format!("{}{}", self.pick(&["", "/"]), path.join("/"))
    }

    pub(super) fn property(&mut self) -> &'static str {
        self.pick(&["position", "rotation", "scale", "eulerAngles", "color", "x", "opacity", "contentSize"])
    }

    pub(super) fn component(&mut self) -> &'static str {
        self.pick(&["cc.Sprite", "cc.Light", "Mine"])
    }

    /// This many values, all of one type except for errors.
    pub(super) fn values(&mut self, count: usize) -> Vec<Value> {
        let shape = self.roll(16);
        let slips = self.faulty > 0 && self.one_in(8);
        (0..count)
            .map(|_| {
                let shape = if slips && self.one_in(6) { self.roll(16) } else { shape };
                self.value(shape)
            })
            .collect()
    }

    pub(super) fn value(&mut self, shape: usize) -> Value {
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

    pub(super) fn object(&mut self, name: &str) -> Value {
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
}
