//! JSON files: paths of places in them, and parsing with the path of an error.

use std::fmt::{self, Write};
use std::rc::Rc;

use serde::Deserialize;

use super::file_error::{FileError, shorten};
use crate::model::similar_name;

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
fn write_name(out: &mut impl Write, name: &str, first: bool) -> fmt::Result {
    let dot = if first { "" } else { "." };
    if is_identifier(name) { write!(out, "{dot}{}", shorten(name)) } else { write!(out, "[\"{}\"]", shorten(name)) }
}

fn is_identifier(name: &str) -> bool {
    let letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$');
    !name.is_empty() && name.chars().all(letter) && !name.starts_with(|first: char| first.is_ascii_digit())
}

/// Parses a document. An error has the JSON path at which the parser stopped, or `JSON`.
pub fn parse<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, FileError> {
    let text = std::str::from_utf8(json).map_err(|error| FileError::new("JSON", error.to_string()))?;
    parse_text(text)
}

/// As [`parse`], for text.
pub(crate) fn parse_text<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, FileError> {
    serde_json::from_str(json).map_err(|error| {
        let path = error_path(json, &error);
        FileError::new(if path.is_empty() { "JSON" } else { &path }, with_similar_name(error.to_string()))
    })
}

/// The error of a parser. About an unknown field or variant, which lists the known ones, with the known name that it is
/// similar to.
fn with_similar_name(reason: String) -> String {
    let names = || {
        let (unknown, known) = reason.strip_prefix("unknown ")?.split_once(", expected ")?;
        let unknown = unknown.split('`').nth(1)?;
        similar_name(unknown, known.split('`').skip(1).step_by(2))
    };
    match names() {
        Some(name) => format!("{reason}; the nearest name is `{name}`"),
        None => reason,
    }
}

/// The deepest level of a document that the path of an error names. Parsers go no deeper, except into what they skip.
const MAX_LEVELS: usize = 128;

/// An object or a list around the place of an error.
#[derive(Default)]
struct Level<'a> {
    is_list: bool,
    /// The last key of an object.
    key: &'a str,
    /// The index of the last item of a list.
    index: usize,
    item: Item,
}

/// The value of the last key, or the last item of a list.
#[derive(Default, Clone, Copy, PartialEq)]
enum Item {
    /// There is none yet.
    #[default]
    None,
    /// It is to come, or goes on.
    Open,
    Complete,
}

impl Level<'_> {
    /// Takes the end of a key or of a value, or its beginning if the end is not in the text.
    fn set_item(&mut self, is_complete: bool) {
        if self.item == Item::Open || self.is_list && self.item == Item::None {
            self.item = if is_complete { Item::Complete } else { Item::Open };
        }
    }
}

/// The path of the value at which a parser stopped, as a [`JsonPath`] is displayed; empty for the whole document. The
/// path of a missing field is the path of its object, and the path of an unknown field ends with its key.
///
/// It follows from the position in the error. A parser that keeps the path of each value is slower, and is compiled
/// once more for all types of documents, which is a lot to download for pages. The position of an error counts if the
/// visitor of the value makes it. An error that a `Deserialize` makes later, from a value that it has read, has the
/// path of what is around the value.
fn error_path(json: &str, error: &serde_json::Error) -> String {
    let lines = json.split_inclusive('\n').take(error.line().saturating_sub(1));
    let end = lines.map(str::len).sum::<usize>() + error.column();
    let (mut read, rest) = json.as_bytes().split_at_checked(end).unwrap_or((json.as_bytes(), &[]));
    // The parser has seen these letters, but not taken them.
    if error.is_syntax()
        && let Some((b'{' | b'}' | b'[' | b']' | b',', before)) = read.split_last()
    {
        read = before;
    }
    let (mut levels, mut depth) = (Vec::<Level>::new(), 0_usize);
    let mut place = 0;
    while let Some(&byte) = read.get(place) {
        let start = place;
        place += 1;
        let level = levels.last_mut().filter(|_| depth <= MAX_LEVELS);
        match byte {
            b'{' | b'[' => {
                if let Some(level) = level {
                    level.set_item(false);
                }
                depth += 1;
                if depth <= MAX_LEVELS {
                    levels.push(Level { is_list: byte == b'[', ..Level::default() });
                }
            }
            b'}' | b']' => {
                if depth <= MAX_LEVELS {
                    levels.pop();
                }
                depth = depth.saturating_sub(1);
                if let Some(level) = levels.last_mut().filter(|_| depth <= MAX_LEVELS) {
                    level.set_item(true);
                }
            }
            b',' => {
                if let Some(level) = level {
                    level.index += 1;
                    level.item = if level.is_list { Item::Open } else { Item::None };
                }
            }
            b':' | b' ' | b'\t' | b'\r' | b'\n' => {}
            b'"' => {
                let end = end_of_string(read, place);
                place = end.unwrap_or(read.len());
                match (level, end) {
                    (Some(level), Some(end)) if !level.is_list && level.item == Item::None => {
                        level.key = json.get(start + 1..end - 1).unwrap_or_default();
                        level.item = Item::Open;
                    }
                    (Some(level), end) => level.set_item(end.is_some()),
                    (None, _) => {}
                }
            }
            // A number or a word.
            _ => {
                let is_over = |byte: &u8| b" \t\r\n,:}]{[\"".contains(byte);
                let rest = read.get(place..).unwrap_or_default();
                place += rest.iter().position(is_over).unwrap_or(rest.len());
                if let Some(level) = level {
                    level.set_item(place < read.len());
                }
            }
        }
    }
    let is_named = |last: &Level| match last.item {
        // An object or a list in place of another value is not read.
        Item::None => last.is_list && error.is_data() && matches!(rest.first(), Some(b'{' | b'[')),
        Item::Open => true,
        // A missing comma is an error of what is around the value.
        Item::Complete => error.is_data(),
    };
    if levels.last().is_some_and(|last| depth <= MAX_LEVELS && !is_named(last)) {
        levels.pop();
    }
    levels.iter().fold(String::new(), |mut path, level| {
        let is_first = path.is_empty();
        // Writing to a string does not fail.
        let _ = match level.is_list {
            true => write!(path, "[{}]", level.index),
            false => write_name(&mut path, level.key, is_first),
        };
        path
    })
}

/// The place after the closing quotation mark of a string whose text begins at `place`.
fn end_of_string(json: &[u8], mut place: usize) -> Option<usize> {
    loop {
        match json.get(place)? {
            b'"' => return Some(place + 1),
            b'\\' => place += 2,
            _ => place += 1,
        }
    }
}

/// The bytes of a text file without the byte order mark that some editors write before it.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::de::IgnoredAny;

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

    /// A document with all kinds of values.
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only errors count")]
    struct Sample {
        name: String,
        #[serde(default)]
        place: [f64; 3],
        #[serde(default)]
        parts: Vec<Part>,
        #[serde(default)]
        by_name: BTreeMap<String, Vec<Vec<u8>>>,
        #[serde(default)]
        skipped: IgnoredAny,
    }

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only errors count")]
    struct Part {
        size: Option<u32>,
        kind: Kind,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Box,
    }

    #[test]
    fn errors_have_the_path_of_the_value_at_which_the_parser_stopped() {
        for (json, path, reason) in [
            // Values of another type, at the beginning, in the middle and at the end of objects and lists.
            (r#"{"name": 1, "place": [0, 0, 0]}"#, "name", "invalid type: integer `1`"),
            (r#"{"place": [0, 0, 0], "name": true}"#, "name", "invalid type: boolean"),
            (r#"{"name": {"a": 1}}"#, "name", "invalid type: map"),
            (r#"{"name": ["a"]}"#, "name", "invalid type: sequence"),
            (r#"{"name": null , "parts": []}"#, "name", "invalid type: null"),
            (r#"{"place": ["0", 0, 0]}"#, "place[0]", "invalid type: string"),
            (r#"{"place": [0, {}, 0]}"#, "place[1]", "invalid type: map"),
            (r#"{"place": [ [0], 0, 0]}"#, "place[0]", "invalid type: sequence"),
            (r#"{"place": [0, 0, "]}"]}"#, "place[2]", "invalid type: string"),
            (r#"{"place": [0, 0]}"#, "place", "invalid length 2"),
            (r#"{"place": []}"#, "place", "invalid length 0"),
            (r#"{"place": [0, 0, 0, 0]}"#, "place[3]", "trailing characters"),
            (r#"{"place": {"x": 0}}"#, "place", "invalid type: map"),
            (
                r#"{"parts": [{"kind": "box"}, {"size": -1, "kind": "box"}]}"#,
                "parts[1].size",
                "invalid value: integer `-1`",
            ),
            (r#"{"parts": [{"kind": "box"}, {"kind": "ball"}]}"#, "parts[1].kind", "unknown variant `ball`"),
            (r#"{"parts": [{"kind": "box"}, {"kind": 5}]}"#, "parts[1].kind", "expected value"),
            (r#"{"parts": [{"kind": "box"}, 5]}"#, "parts[1]", "invalid type: integer `5`"),
            // Fields that are missing, unknown or there twice.
            (r#"{"name": "", "parts": [{"size": 1}]}"#, "parts[0]", "missing field `kind`"),
            (r#"{"parts": [{"size": 1} , {}]}"#, "parts[0]", "missing field `kind`"),
            (r#"{"parts": []}"#, "JSON", "missing field `name`"),
            (r#"{"name": "", "part": []}"#, "part", "unknown field `part`"),
            (
                r#"{"name": "", "Part": []}"#,
                "Part",
                "unknown field `Part`, expected one of `name`, `place`, `parts`, `by_name`, `skipped` at line 1 column 19; \
                 the nearest name is `parts`",
            ),
            (r#"{"parts": [{"size": 1, "size": 2}]}"#, "parts[0].size", "duplicate field `size`"),
            // Names that are no identifiers, that hold brackets, and empty lines.
            (r#"{"by_name": {"a b": [[1], [1, 256]]}}"#, r#"by_name["a b"][1][1]"#, "invalid value: integer `256`"),
            (r#"{"by_name": {"\"]}": [], "c": [[]\n\n, [ "x"]]}}"#, "by_name.c[1][0]", "invalid type: string"),
            (r#"{"by_name": {"\\": 3}}"#, r#"by_name["\\"]"#, "invalid type: integer `3`"),
            // Text that is no JSON.
            ("", "JSON", "EOF"),
            ("{", "JSON", "EOF"),
            (r#"{"name": "a"} {}"#, "JSON", "trailing characters"),
            (r#"{"name": "a", }"#, "JSON", "trailing comma"),
            (r#"{"name": }"#, "name", "expected value"),
            (r#"{"name": "a"#, "name", "EOF while parsing a string"),
            (r#"{"name": "a" "parts": []}"#, "JSON", "expected `,` or `}`"),
            (r#"{"parts": [{"kind": "box"} {}]}"#, "parts", "expected `,` or `]`"),
            (r#"{"parts": [{"kind": "box",}]}"#, "parts[0]", "trailing comma"),
            (r#"{"parts": [{"kind": "box"}, ]}"#, "parts[1]", "trailing comma"),
            (r#"{"parts": [{"kind": "box"}, {"si"#, "parts[1]", "EOF while parsing a string"),
            (r#"{"place": [0, NaN, 0]}"#, "place[1]", "expected value"),
            (r#"{"place": [0, 1e999, 0]}"#, "place[1]", "number out of range"),
            (r#"{"place": [0, 01, 0]}"#, "place[1]", "invalid number"),
            (r#"{"name": "\x"}"#, "name", "invalid escape"),
            (r#"{"skipped": {"a": [1, {"b": tru}]}}"#, "skipped.a[1].b", "expected ident"),
        ] {
            let json = json.replace("\\n", "\n");
            let error = parse::<Sample>(json.as_bytes()).map(|_| ()).unwrap_err();
            assert_eq!(error.path, path, "{json}: {}", error.reason);
            assert!(error.reason.starts_with(reason), "{json}: {}", error.reason);
        }
    }

    #[test]
    fn the_path_of_an_error_far_down_is_cut() {
        let json = format!("{{\"skipped\": {}", "[0, ".repeat(1_000_000));
        let path = parse::<Sample>(json.as_bytes()).map(|_| ()).unwrap_err().path;
        assert_eq!(path, format!("skipped{}", "[1]".repeat(MAX_LEVELS - 1)));
        // Back from there.
        let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
        let json = format!("{{\"skipped\": {deep}, \"name\": {deep}}}");
        let path = parse::<Sample>(json.as_bytes()).map(|_| ()).unwrap_err().path;
        assert_eq!(path, "name");
    }

    #[test]
    fn text_that_is_not_utf8_is_refused() {
        let error = parse::<Sample>(b"{\"name\": \"\xE9\"}").map(|_| ()).unwrap_err();
        assert_eq!(
            (error.path.as_str(), error.reason.as_str()),
            ("JSON", "invalid utf-8 sequence of 1 bytes from index 10")
        );
    }

    #[test]
    fn borrowed_paths_are_displayed_as_json_paths() {
        let animation = JsonPath::top("animations", 0);
        let channel = animation.element("channels", 3);
        assert_eq!(channel.field("target").field("KHR_a").to_string(), "animations[0].channels[3].target.KHR_a");
        assert_eq!(JsonPath::ROOT.field("asset").to_string(), "asset");
    }
}
