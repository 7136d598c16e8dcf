//! Where in a document something is.

use std::fmt;

/// A place in a document. It is spelled out, as a JSON path, only where there is something to say about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'a> {
    within: Option<&'a At<'a>>,
    name: &'static str,
    index: Option<usize>,
}

impl At<'_> {
    /// An item of one of the document's arrays.
    pub fn top(name: &'static str, index: usize) -> At<'static> {
        At { within: None, name, index: Some(index) }
    }

    /// A field of what is here.
    pub fn field(&self, name: &'static str) -> At<'_> {
        At { within: Some(self), name, index: None }
    }

    /// An item of an array of what is here.
    pub fn item(&self, name: &'static str, index: usize) -> At<'_> {
        At { within: Some(self), name, index: Some(index) }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(within) = self.within {
            write!(out, "{within}.")?;
        }
        match self.index {
            Some(index) => write!(out, "{}[{index}]", self.name),
            None => write!(out, "{}", self.name),
        }
    }
}
