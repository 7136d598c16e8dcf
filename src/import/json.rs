//! JSON files: paths of places in them, and parsing with the path of an error.

use std::fmt;
use std::rc::Rc;

use serde::Deserialize;

use super::file_error::{FileError, shorten};

/// The path of a place in a JSON document, for example `animations[0].channels[3].target`.
///
/// It becomes text only when it is displayed, since most paths appear in no message. A path either borrows its parent
/// ([`field`](Self::field), [`element`](Self::element)), which costs no allocation, or shares it
/// ([`shared_field`](Self::shared_field), [`shared_item`](Self::shared_item)), so that it may outlive the parent.
#[derive(Debug, Clone)]
pub struct JsonPath<'a> {
    parent: Parent<'a>,
    step: PathStep<'a>,
}

#[derive(Debug, Clone)]
enum Parent<'a> {
    None,
    Borrowed(&'a JsonPath<'a>),
    Shared(Rc<JsonPath<'a>>),
}

/// The last step of a path.
#[derive(Debug, Clone, Copy)]
enum PathStep<'a> {
    /// The whole document.
    Root,
    /// A field of an object.
    Field(&'a str),
    /// An item of an array.
    Item(usize),
    /// An item of an array that is a field of an object.
    Element(&'a str, usize),
}

impl<'a> JsonPath<'a> {
    /// The path of the whole document, displayed as `JSON`.
    pub const ROOT: Self = Self { parent: Parent::None, step: PathStep::Root };

    /// The path of an item of an array that is a field of the document.
    pub fn top(array: &'a str, index: usize) -> Self {
        Self { parent: Parent::None, step: PathStep::Element(array, index) }
    }

    /// The path of an item of the document, which is an array.
    pub fn top_item(index: usize) -> Self {
        Self { parent: Parent::None, step: PathStep::Item(index) }
    }

    /// The path of a field of this object.
    pub fn field<'b>(&'b self, name: &'b str) -> JsonPath<'b> {
        JsonPath { parent: Parent::Borrowed(self), step: PathStep::Field(name) }
    }

    /// The path of an item of an array that is a field of this object.
    pub fn element<'b>(&'b self, array: &'b str, index: usize) -> JsonPath<'b> {
        JsonPath { parent: Parent::Borrowed(self), step: PathStep::Element(array, index) }
    }

    /// The path of a field of this object, which keeps its parent alive.
    pub fn shared_field(self: &Rc<Self>, name: &'a str) -> Rc<Self> {
        Rc::new(Self { parent: Parent::Shared(self.clone()), step: PathStep::Field(name) })
    }

    /// The path of an item of this array, which keeps its parent alive.
    pub fn shared_item(self: &Rc<Self>, index: usize) -> Rc<Self> {
        Rc::new(Self { parent: Parent::Shared(self.clone()), step: PathStep::Item(index) })
    }

    fn parent(&self) -> Option<&JsonPath<'a>> {
        let parent = match &self.parent {
            Parent::None => None,
            Parent::Borrowed(parent) => Some(*parent),
            Parent::Shared(parent) => Some(&**parent),
        };
        parent.filter(|parent| !matches!(parent.step, PathStep::Root))
    }
}

impl fmt::Display for JsonPath<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parent = self.parent();
        if let Some(parent) = parent {
            write!(out, "{parent}")?;
        }
        match self.step {
            PathStep::Root => write!(out, "JSON"),
            PathStep::Item(index) => write!(out, "[{index}]"),
            PathStep::Field(name) => write_name(out, name, parent.is_none()),
            PathStep::Element(name, index) => {
                write_name(out, name, parent.is_none())?;
                write!(out, "[{index}]")
            }
        }
    }
}

/// Writes `.name` or `["name"]`; the dot is left out at the start of a path.
fn write_name(out: &mut fmt::Formatter<'_>, name: &str, first: bool) -> fmt::Result {
    let dot = if first { "" } else { "." };
    if is_identifier(name) { write!(out, "{dot}{}", shorten(name)) } else { write!(out, "[\"{}\"]", shorten(name)) }
}

fn is_identifier(name: &str) -> bool {
    let letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$');
    !name.is_empty() && name.chars().all(letter) && !name.starts_with(|first: char| first.is_ascii_digit())
}

/// Parses a document. An error has the JSON path at which the parser stopped, or `JSON`.
pub(crate) fn parse<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, FileError> {
    let mut parser = serde_json::Deserializer::from_slice(json);
    let document = serde_path_to_error::deserialize(&mut parser).map_err(|error| {
        // If a key is cut off, the parser writes a question mark for it.
        let path = error.path().to_string();
        let path = path.trim_end_matches(['.', '?']);
        FileError::new(if path.is_empty() { "JSON" } else { path }, error.inner().to_string())
    })?;
    parser.end().map_err(|error| FileError::new("JSON", error.to_string()))?;
    Ok(document)
}

/// The bytes of a text file without the byte order mark that some editors write before it.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_paths_are_displayed_as_json_paths() {
        let root = Rc::new(JsonPath::ROOT);
        let head = root.shared_field("curveDatas").shared_field("/Head");
        assert_eq!(
            head.shared_field("position").shared_field("values").shared_item(2).to_string(),
            "curveDatas[\"/Head\"].position.values[2]"
        );
        assert_eq!(root.shared_item(4).shared_field("_curve").to_string(), "[4]._curve");
        assert_eq!(JsonPath::top_item(4).to_string(), "[4]");
        assert_eq!(root.shared_field("a b").shared_field("0").to_string(), "[\"a b\"][\"0\"]");
        assert_eq!(root.to_string(), "JSON");
    }

    #[test]
    fn borrowed_paths_are_displayed_as_json_paths() {
        let animation = JsonPath::top("animations", 0);
        let channel = animation.element("channels", 3);
        assert_eq!(channel.field("target").field("KHR_a").to_string(), "animations[0].channels[3].target.KHR_a");
        assert_eq!(JsonPath::ROOT.field("asset").to_string(), "asset");
    }
}
