//! What a page names: clips, joints and parameters.

use posse::{ClipId, Library, Skeleton};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

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

/// A joint by its number, or by a text that selects it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the number or the name of a joint")]
pub enum JointChoice {
    Number(usize),
    Name(String),
}

impl JointChoice {
    /// The index of the joint.
    pub fn find(&self, skeleton: &Skeleton) -> Result<usize> {
        match self {
            Self::Number(joint) => check_index("joint", *joint, skeleton.joints().len()).map(|()| *joint),
            Self::Name(text) => Ok(skeleton.select_joint(text)?),
        }
    }
}

/// The name of the parameter that a time, or the weight of a goal, is.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterName {
    pub parameter: String,
}

/// What layers and goals of a crowd may name: the content of its library, and its parameters.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    pub library: &'a Library,
    pub parameters: &'a [String],
}

/// The index of the parameter of a name.
pub fn find_parameter(parameters: &[String], name: &str) -> Result<usize> {
    parameters.iter().position(|other| other == name).ok_or_else(|| {
        let hint = match parameters {
            [] => format!("create it with {{ parameters: [{name:?}] }}"),
            names => format!("it has {}", names.join(", ")),
        };
        JsError::new(&format!("the crowd has no parameter {name:?}; {hint}"))
    })
}
