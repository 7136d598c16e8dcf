//! What a page names: clips, joints and parameters.

use posse::{ClipId, Library, Skeleton};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::fields::{Fields, text, unexpected, whole};
use crate::js::{Result, check_index};

/// A clip by its number, or by a text that selects it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the number or the name of a clip")]
pub enum ClipChoice {
    Number(usize),
    Name(String),
}

impl ClipChoice {
    /// The clip.
    pub fn find(&self, library: &Library) -> Result<ClipId> {
        match self {
            Self::Number(index) => clip_of(library, *index),
            Self::Name(text) => {
                let clips: Vec<ClipId> = library.clip_ids().collect();
                Ok(library.select_clip(&clips, text)?)
            }
        }
    }
}

/// The clip of a number.
pub fn clip_of(library: &Library, index: usize) -> Result<ClipId> {
    check_index("clip", index, library.clips().len())?;
    library.clip_ids().nth(index).ok_or_else(|| JsError::new("there is no such clip"))
}

/// The clip that a value names by its number or by a text.
pub fn clip(library: &Library, place: &str, value: &JsValue) -> Result<ClipId> {
    if value.as_f64().is_some() {
        return clip_of(library, whole(place, value)?);
    }
    let text = value.as_string().ok_or_else(|| unexpected(place, value, "the number or the name of a clip"))?;
    ClipChoice::Name(text).find(library)
}

/// The joint that a value names by its number or by a text.
pub fn joint(skeleton: &Skeleton, place: &str, value: &JsValue) -> Result<usize> {
    if value.as_f64().is_some() {
        let joint = whole(place, value)?;
        return check_index("joint", joint, skeleton.joints().len()).map(|()| joint);
    }
    let text = value.as_string().ok_or_else(|| unexpected(place, value, "the number or the name of a joint"))?;
    Ok(skeleton.select_joint(&text)?)
}

/// What layers and goals of a crowd may name: the content of its library, and its parameters.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    pub library: &'a Library,
    pub parameters: &'a [String],
}

impl Scope<'_> {
    /// The index of the parameter that a text names.
    pub fn parameter(&self, place: &str, value: &JsValue) -> Result<usize> {
        let name = text(place, value)?;
        self.parameters.iter().position(|other| *other == name).ok_or_else(|| {
            let hint = match self.parameters {
                [] => format!("create it with {{ parameters: [{name:?}] }}"),
                names => format!("it has {}", names.join(", ")),
            };
            JsError::new(&format!("{place}: the crowd has no parameter {name:?}; {hint}"))
        })
    }

    /// The index of the parameter that an object names, `{ parameter }`.
    pub fn parameter_of(&self, place: &str, value: &JsValue) -> Result<usize> {
        let fields = Fields::new(place.to_owned(), value, &["parameter"])?;
        fields.required("parameter", |place, value| self.parameter(place, value))
    }
}
