//! Clips of the forms before release 3.3.

use serde_json::{Map, Value, json};

use super::dice::Dice;

impl Dice {
    /// Keys, as the index of a list of keys, and values.
    pub(super) fn keys_and_values(&mut self, lists: &[Vec<f64>]) -> Value {
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

    pub(super) fn frames(&mut self) -> Value {
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

    pub(super) fn events(&mut self) -> Value {
        let count = self.roll(4);
        let event =
            |dice: &mut Self| json!({ "frame": dice.number(), "func": "call", "params": ["a", dice.number(), [null]] });
        (0..count).map(|_| event(self)).collect()
    }

    /// The fields of a clip of any form.
    pub(super) fn clip(&mut self, private: bool, lists: &[Vec<f64>]) -> Value {
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

    pub(super) fn node(&mut self, mut curve: impl FnMut(&mut Self) -> Value) -> Value {
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

    /// The document form, and the form before release 1.0.
    pub(super) fn document(&mut self) -> Value {
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
    pub(super) fn two(&mut self) -> Value {
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
    pub(super) fn modifiers(&mut self) -> Value {
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

    /// The steps that lead to a property.
    pub(super) fn steps(&mut self) -> Value {
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
}
