//! Values of a file with their paths, and the state that all stages share. References are followed.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::error::Error;
use crate::import::file_error::{MemoryBudget, shorten};
use crate::import::{FileError, JsonPath, Warning};
use crate::model::{Library, Timeline, is_usable};

/// A value of a file and its path. If the file is a list of objects, `{"__id__": n}` refers to object `n`.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    objects: &'a [Value],
    value: &'a Value,
    path: Rc<JsonPath<'a>>,
}

impl<'a> Node<'a> {
    /// The whole file.
    pub fn root(file: &'a Value) -> Self {
        let objects = file.as_array().map_or(&[][..], Vec::as_slice);
        Self { objects, value: file, path: Rc::new(JsonPath::ROOT) }
    }

    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// Returns `true` if the value is more than a default: not null, off, zero or empty.
    pub fn is_something(&self) -> bool {
        match self.value {
            Value::Null => false,
            Value::Bool(on) => *on,
            Value::Number(number) => number.as_f64() != Some(0.0),
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            // Settings that can be switched off have this switch.
            Value::Object(fields) => fields.get("enabled") != Some(&Value::Bool(false)),
        }
    }

    pub fn path(&self) -> &JsonPath<'a> {
        &self.path
    }

    pub fn error(&self, reason: impl Into<String>) -> FileError {
        FileError::new(&self.path, reason)
    }

    /// A value within this node. If it is a reference, the object that it refers to.
    fn child(&self, value: &'a Value, path: Rc<JsonPath<'a>>) -> Result<Self, FileError> {
        let Some(id) = reference(value) else { return Ok(Self { value, path, ..*self }) };
        let index = id.as_u64().and_then(|id| usize::try_from(id).ok());
        let Some(object) = index.and_then(|index| self.objects.get(index)) else {
            let count = self.objects.len();
            return Err(FileError::new(
                path,
                format!("it refers to object {id}, but the file is a list of {count} objects"),
            ));
        };
        // A chain of references could lead around in a circle.
        if reference(object).is_some() {
            let reason = format!("it refers to object {id}, which is a reference itself; refer to the object directly");
            return Err(FileError::new(path, reason));
        }
        let path = Rc::new(JsonPath::top_item(index.unwrap_or_default()));
        Ok(Self { objects: self.objects, value: object, path })
    }

    /// A field of an object; `None` if it is missing or null.
    pub fn get(&self, name: &'a str) -> Result<Option<Self>, FileError> {
        match self.value.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => self.child(value, self.path.shared_field(name)).map(Some),
        }
    }

    /// The first field that exists. Releases have given several names to the same field.
    pub fn get_any(&self, names: &[&'a str]) -> Result<Option<Self>, FileError> {
        for name in names {
            if let Some(found) = self.get(name)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// A field of an object; an error if it is missing or null.
    pub fn need(&self, name: &'a str) -> Result<Self, FileError> {
        let missing = || match self.value {
            Value::Object(_) => self.error(format!("it has no `{name}`")),
            _ => self.error(format!("it is {}, not an object with `{name}`", self.describe())),
        };
        self.get(name)?.ok_or_else(missing)
    }

    /// The items of a list.
    pub fn list(&self) -> Result<List<'a>, FileError> {
        match self.value {
            Value::Array(items) => Ok(List { node: self.clone(), items, field: None }),
            _ if self.type_name() == Some("cc.CompactValueTypeArray") => {
                Err(self.error("packed arrays are not supported; save the clip as plain JSON"))
            }
            _ => Err(self.error(format!("it is {}, not a list", self.describe()))),
        }
    }

    /// The fields of an object with their names, without null fields.
    pub fn entries(&self) -> Result<impl Iterator<Item = Result<(&'a str, Self), FileError>> + use<'a>, FileError> {
        let object: &'a Map<String, Value> =
            self.value.as_object().ok_or_else(|| self.error(format!("it is {}, not an object", self.describe())))?;
        let node = self.clone();
        let present = object.iter().filter(|(_, value)| !value.is_null());
        Ok(present.map(move |(name, value)| Ok((name.as_str(), node.child(value, node.path.shared_field(name))?))))
    }

    /// The `__type__` of an object.
    pub fn type_name(&self) -> Option<&'a str> {
        self.value.get("__type__")?.as_str()
    }

    /// A number that `f32` can hold.
    pub fn number(&self) -> Result<f64, FileError> {
        let number = self.finite()?;
        if is_usable(number) { Ok(number) } else { Err(self.error(format!("{number} exceeds the range of f32"))) }
    }

    /// A finite number of any size.
    pub fn finite(&self) -> Result<f64, FileError> {
        let number = self.value.as_f64().filter(|number| number.is_finite());
        number.ok_or_else(|| self.error(format!("it is {}, not a number", self.describe())))
    }

    /// A whole number.
    pub fn integer(&self) -> Result<i64, FileError> {
        let whole = |number: f64| (number.trunc() == number && number.abs() <= 9e15).then_some(number as i64);
        let number = self.value.as_i64().or_else(|| self.value.as_f64().and_then(whole));
        number.ok_or_else(|| self.error(format!("it is {}, not a whole number", self.describe())))
    }

    /// A text.
    pub fn text(&self) -> Result<&'a str, FileError> {
        self.value.as_str().ok_or_else(|| self.error(format!("it is {}, not a text", self.describe())))
    }

    /// A short description of the value for messages.
    pub fn describe(&self) -> String {
        match self.value {
            Value::Null => "null".into(),
            Value::Bool(_) => "a truth value".into(),
            Value::Number(number) => format!("the number {number}"),
            Value::String(text) => format!("the text {:?}", shorten(text)),
            Value::Array(items) => format!("a list of {}", items.len()),
            Value::Object(_) => match self.type_name() {
                Some(name) => format!("a {}", shorten(name)),
                None => "an object".into(),
            },
        }
    }
}

/// The `__id__` of an object that is a reference.
fn reference(value: &Value) -> Option<&Value> {
    value.get("__id__").filter(|_| value.as_object().is_some_and(|object| object.len() == 1))
}

/// A list of values: the items of a list, or a field of each item.
#[derive(Debug, Clone)]
pub(super) struct List<'a> {
    node: Node<'a>,
    items: &'a [Value],
    field: Option<&'a str>,
}

impl<'a> List<'a> {
    /// The list of a field of each item.
    pub fn field(&self, name: &'a str) -> Self {
        Self { field: Some(name), ..self.clone() }
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn path(&self) -> &JsonPath<'a> {
        &self.node.path
    }

    /// The path of an item.
    pub fn item_path(&self, index: usize) -> Rc<JsonPath<'a>> {
        let item = self.node.path.shared_item(index);
        self.field.map_or(item.clone(), |field| item.shared_field(field))
    }

    /// An item; `None` if it is missing or null.
    pub fn get(&self, index: usize) -> Result<Option<Node<'a>>, FileError> {
        let Some(value) = self.items.get(index).filter(|value| !value.is_null()) else { return Ok(None) };
        let item = self.node.child(value, self.node.path.shared_item(index))?;
        self.field.map_or(Ok(Some(item.clone())), |field| item.get(field))
    }

    /// An item; an error if it is missing or null.
    pub fn need(&self, index: usize) -> Result<Node<'a>, FileError> {
        self.get(index)?.ok_or_else(|| FileError::new(self.item_path(index), "it is missing or null"))
    }

    /// All items; an error for each that is null.
    pub fn nodes(&self) -> impl Iterator<Item = Result<Node<'a>, FileError>> {
        (0..self.len()).map(|index| self.need(index))
    }
}

/// Bytes that any file may allocate.
const ALLOWANCE: u64 = 1 << 20;

/// The state that all stages share: the library, warnings, timelines and a memory budget.
pub(super) struct ImportState<'l> {
    /// The library of the interpolators.
    pub library: &'l Library,
    pub warnings: Vec<Warning>,
    /// A reference takes a few bytes and can stand for the whole file.
    budget: MemoryBudget,
    timelines: HashMap<(Vec<u64>, u64), Arc<Timeline>>,
}

/// The memory of a curve without its numbers.
pub(super) const CURVE_BYTES: usize = 256;

impl<'l> ImportState<'l> {
    /// A reader of a file of `file_bytes` bytes.
    pub fn new(library: &'l Library, file_bytes: usize) -> Self {
        let budget = MemoryBudget::new(file_bytes, ALLOWANCE);
        Self { library, warnings: Vec::new(), budget, timelines: HashMap::new() }
    }

    /// Charges the memory that the place `path` of the file asks for.
    pub fn charge(&mut self, path: impl fmt::Display, bytes: usize) -> Result<(), FileError> {
        self.budget.charge(path, bytes as u64)
    }

    /// Notes an error that was repaired or passed over.
    pub fn warn(&mut self, path: impl fmt::Display, message: impl Into<String>) -> Result<(), FileError> {
        let warning = Warning { path: path.to_string(), message: message.into() };
        self.charge(&warning.path, warning.path.len() + warning.message.len())?;
        self.warnings.push(warning);
        Ok(())
    }

    /// The numbers of a list.
    pub fn numbers(&mut self, list: &List<'_>) -> Result<Vec<f64>, FileError> {
        self.charge(list.path(), 8 * list.len())?;
        list.nodes().map(|node| node?.number()).collect()
    }

    /// A timeline of key times in seconds. Equal times and windows share one timeline. `None` without times.
    pub fn timeline(
        &mut self,
        list: &List<'_>,
        times: Vec<f64>,
        window: f64,
    ) -> Result<Option<Arc<Timeline>>, FileError> {
        if times.is_empty() {
            return Ok(None);
        }
        let bits = (times.iter().map(|time| time.to_bits()).collect(), window.to_bits());
        if let Some(known) = self.timelines.get(&bits) {
            return Ok(Some(known.clone()));
        }
        let timeline = Timeline::snapping(times, window).map_err(|error| match error {
            Error::Timeline { key, reason } => FileError::new(list.item_path(key), reason),
            other => FileError::new(list.path(), other.to_string()),
        })?;
        Ok(Some(self.timelines.entry(bits).or_insert(Arc::new(timeline)).clone()))
    }
}
