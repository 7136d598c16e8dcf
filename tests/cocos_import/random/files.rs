//! Whole files, intact or broken.

use serde_json::{Value, json};

use super::dice::Dice;
use crate::cocos_import::examples;

impl Dice {
    /// A file of any form, as bytes.
    pub(super) fn file(&mut self) -> Vec<u8> {
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

    /// Flips a bit in one of this many files.
    pub(super) fn flip(&mut self, mut bytes: Vec<u8>, times: usize) -> Vec<u8> {
        if self.one_in(times) {
            let index = self.roll(bytes.len());
            bytes[index] ^= 1 << self.roll(8);
        }
        bytes
    }

    /// Turns a file into a list. Some of its parts become objects of that list.
    pub(super) fn with_references(&mut self, mut clip: Value) -> Value {
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

    /// Breaks one value of a file.
    pub(super) fn mutate(&mut self, file: &mut Value) {
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

/// The JSON pointers of a value and of everything in it.
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
