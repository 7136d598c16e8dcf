//! Where in a file something is.

use std::fmt;
use std::rc::Rc;

/// A place in a file. It is spelled out, as a JSON path, only where there is something to say about it.
#[derive(Debug, Clone)]
pub(super) struct Place<'a>(Option<Rc<Step<'a>>>);

/// The way to a place from the one that it is within.
#[derive(Debug)]
struct Step<'a> {
    within: Place<'a>,
    name: Name<'a>,
}

#[derive(Debug)]
enum Name<'a> {
    Field(&'a str),
    Item(usize),
}

impl<'a> Place<'a> {
    /// The whole file.
    pub const ROOT: Self = Self(None);

    /// A field of what is here.
    pub fn field(&self, name: &'a str) -> Self {
        self.step(Name::Field(name))
    }

    /// An item of the list that is here.
    pub fn item(&self, index: usize) -> Self {
        self.step(Name::Item(index))
    }

    fn step(&self, name: Name<'a>) -> Self {
        Self(Some(Rc::new(Step { within: self.clone(), name })))
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(step) = &self.0 else { return write!(out, "JSON") };
        let outermost = step.within.0.is_none();
        if !outermost {
            write!(out, "{}", step.within)?;
        }
        match step.name {
            Name::Item(index) => write!(out, "[{index}]"),
            Name::Field(name) if !is_identifier(name) => write!(out, "[\"{}\"]", short(name)),
            Name::Field(name) => write!(out, "{}{}", if outermost { "" } else { "." }, short(name)),
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$');
    !name.is_empty() && name.chars().all(letter) && !name.starts_with(|first: char| first.is_ascii_digit())
}

/// A text of the file as it stands in a message: no longer than a message should be.
pub(super) fn short(text: &str) -> String {
    const MOST: usize = 64;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_json_paths() {
        let head = Place::ROOT.field("curveDatas").field("/Head");
        assert_eq!(
            head.field("position").field("values").item(2).to_string(),
            "curveDatas[\"/Head\"].position.values[2]"
        );
        assert_eq!(Place::ROOT.item(4).field("_curve").to_string(), "[4]._curve");
        assert_eq!(Place::ROOT.field("a b").field("0").to_string(), "[\"a b\"][\"0\"]");
        assert_eq!(Place::ROOT.to_string(), "JSON");
    }

    #[test]
    fn long_texts_are_cut_between_letters() {
        assert_eq!(short(&"\u{e9}".repeat(64)), "\u{e9}".repeat(64));
        assert_eq!(short(&"\u{e9}".repeat(65)), "\u{e9}".repeat(64) + "...");
    }
}
