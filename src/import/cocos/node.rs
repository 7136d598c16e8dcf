//! Values of a file, each with its place, references followed.

use serde_json::{Map, Value};

use super::place::Place;
use crate::import::fault::Fault;
use crate::model::is_usable;

/// A value of a file and its place. Where the file is a list of objects, `{"__id__": n}` is its n-th.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    objects: &'a [Value],
    value: &'a Value,
    place: Place<'a>,
}

impl<'a> Node<'a> {
    /// The file itself.
    pub fn root(file: &'a Value) -> Self {
        let objects = file.as_array().map_or(&[][..], Vec::as_slice);
        Self { objects, value: file, place: Place::ROOT }
    }

    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// Whether it is more than a default: not null, off, zero or empty.
    pub fn is_something(&self) -> bool {
        match self.value {
            Value::Null => false,
            Value::Bool(on) => *on,
            Value::Number(number) => number.as_f64() != Some(0.0),
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            // Settings that can be switched off have a switch.
            Value::Object(fields) => fields.get("enabled") != Some(&Value::Bool(false)),
        }
    }

    pub fn place(&self) -> &Place<'a> {
        &self.place
    }

    pub fn fault(&self, reason: impl Into<String>) -> Fault {
        Fault::new(&self.place, reason)
    }

    /// What stands within this node, or what it refers to.
    fn child(&self, value: &'a Value, place: Place<'a>) -> Result<Self, Fault> {
        let Some(id) = reference(value) else { return Ok(Self { value, place, ..*self }) };
        let index = id.as_u64().and_then(|id| usize::try_from(id).ok());
        let Some(object) = index.and_then(|index| self.objects.get(index)) else {
            let reason = format!("there is no object {id} to refer to, the file is a list of {}", self.objects.len());
            return Err(Fault::new(place, reason));
        };
        // Objects of the list refer to each other from within only, so that no reference leads round in circles.
        if reference(object).is_some() {
            return Err(Fault::new(place, format!("it refers to object {id}, which is but another reference")));
        }
        Ok(Self { objects: self.objects, value: object, place: Place::ROOT.item(index.unwrap_or_default()) })
    }

    /// A field of an object; `None` where it is missing or null.
    pub fn get(&self, name: &'a str) -> Result<Option<Self>, Fault> {
        match self.value.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => self.child(value, self.place.field(name)).map(Some),
        }
    }

    /// The first of several fields that is there; files of different ages have different names for one thing.
    pub fn get_any(&self, names: &[&'a str]) -> Result<Option<Self>, Fault> {
        for name in names {
            if let Some(found) = self.get(name)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// A field that an object has to have.
    pub fn need(&self, name: &'a str) -> Result<Self, Fault> {
        let missing = || match self.value {
            Value::Object(_) => self.fault(format!("it has no `{name}`")),
            _ => self.fault(format!("it is {}, not an object with `{name}`", self.what())),
        };
        self.get(name)?.ok_or_else(missing)
    }

    /// The items of a list.
    pub fn list(&self) -> Result<List<'a>, Fault> {
        match self.value {
            Value::Array(items) => Ok(List { node: self.clone(), items, field: None }),
            _ if self.type_name() == Some("cc.CompactValueTypeArray") => {
                Err(self.fault("packed arrays are not supported; save the clip as plain JSON"))
            }
            _ => Err(self.fault(format!("it is {}, not a list", self.what()))),
        }
    }

    /// The fields of an object and their names; what is null is left out.
    pub fn entries(&self) -> Result<impl Iterator<Item = Result<(&'a str, Self), Fault>> + use<'a>, Fault> {
        let object: &'a Map<String, Value> =
            self.value.as_object().ok_or_else(|| self.fault(format!("it is {}, not an object", self.what())))?;
        let node = self.clone();
        let there = object.iter().filter(|(_, value)| !value.is_null());
        Ok(there.map(move |(name, value)| Ok((name.as_str(), node.child(value, node.place.field(name))?))))
    }

    /// The name of an object's type.
    pub fn type_name(&self) -> Option<&'a str> {
        self.value.get("__type__")?.as_str()
    }

    /// A number that can be posed with.
    pub fn number(&self) -> Result<f64, Fault> {
        let number = self.finite()?;
        if is_usable(number) { Ok(number) } else { Err(self.fault(format!("{number} is beyond what an f32 holds"))) }
    }

    /// A number of whatever size.
    pub fn finite(&self) -> Result<f64, Fault> {
        let number = self.value.as_f64().filter(|number| number.is_finite());
        number.ok_or_else(|| self.fault(format!("it is {}, not a number", self.what())))
    }

    /// A whole number.
    pub fn integer(&self) -> Result<i64, Fault> {
        let whole = |number: f64| (number.trunc() == number && number.abs() <= 9e15).then_some(number as i64);
        let number = self.value.as_i64().or_else(|| self.value.as_f64().and_then(whole));
        number.ok_or_else(|| self.fault(format!("it is {}, not a whole number", self.what())))
    }

    /// A text.
    pub fn text(&self) -> Result<&'a str, Fault> {
        self.value.as_str().ok_or_else(|| self.fault(format!("it is {}, not a text", self.what())))
    }

    /// What kind of thing it is, for messages.
    pub fn what(&self) -> String {
        match self.value {
            Value::Null => "null".into(),
            Value::Bool(_) => "a truth value".into(),
            Value::Number(number) => format!("the number {number}"),
            Value::String(text) => format!("the text {:?}", super::place::short(text)),
            Value::Array(items) => format!("a list of {}", items.len()),
            Value::Object(_) => match self.type_name() {
                Some(name) => format!("a {}", super::place::short(name)),
                None => "an object".into(),
            },
        }
    }
}

/// What an object refers to, where it is a reference.
fn reference(value: &Value) -> Option<&Value> {
    value.get("__id__").filter(|_| value.as_object().is_some_and(|object| object.len() == 1))
}

/// A list of values: the items of a list, or a field of each.
#[derive(Debug, Clone)]
pub(super) struct List<'a> {
    node: Node<'a>,
    items: &'a [Value],
    field: Option<&'a str>,
}

impl<'a> List<'a> {
    /// A field of each item.
    pub fn field(&self, name: &'a str) -> Self {
        Self { field: Some(name), ..self.clone() }
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Where the list is.
    pub fn place(&self) -> &Place<'a> {
        &self.node.place
    }

    /// Where an item is.
    pub fn place_of(&self, index: usize) -> Place<'a> {
        let item = self.node.place.item(index);
        self.field.map_or(item.clone(), |field| item.field(field))
    }

    /// An item; `None` where it is missing or null.
    pub fn get(&self, index: usize) -> Result<Option<Node<'a>>, Fault> {
        let Some(value) = self.items.get(index).filter(|value| !value.is_null()) else { return Ok(None) };
        let item = self.node.child(value, self.node.place.item(index))?;
        self.field.map_or(Ok(Some(item.clone())), |field| item.get(field))
    }

    /// An item that has to be there.
    pub fn need(&self, index: usize) -> Result<Node<'a>, Fault> {
        self.get(index)?.ok_or_else(|| Fault::new(self.place_of(index), "it is missing or null"))
    }

    /// All items, none of which may be null.
    pub fn nodes(&self) -> impl Iterator<Item = Result<Node<'a>, Fault>> {
        (0..self.len()).map(|index| self.need(index))
    }
}
