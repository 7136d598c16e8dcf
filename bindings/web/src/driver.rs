//! Parameters, by which times and weights of layers follow from numbers of an instance, with the knots, blend spaces
//! and sync markers that a page adds to a library for them.

use posse::{BlendSpace, Knots, WeightDriver};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::js::{Result, check_index, numbers, options};
use crate::library::Library;
use crate::names::{ClipChoice, Scope, find_parameter};

/// The weight of a layer: a number, or what it follows from.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, { parameter, knots }, or { blendSpace, parameters, point }")]
pub enum Weight {
    Number(f64),
    Knots(KnotsWeight),
    Point(PointWeight),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnotsWeight {
    parameter: String,
    knots: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PointWeight {
    blend_space: usize,
    parameters: [String; 2],
    point: usize,
}

impl Default for Weight {
    fn default() -> Self {
        Self::Number(1.0)
    }
}

impl Weight {
    /// The fixed part of the weight, and its driver.
    pub fn find(&self, scope: Scope) -> Result<(f64, Option<WeightDriver>)> {
        let Scope { library, parameters } = scope;
        let driver = match self {
            Self::Number(weight) => return Ok((*weight, None)),
            Self::Knots(KnotsWeight { parameter, knots }) => {
                check_index("list of knots", *knots, library.knots().len())?;
                let Some(knots) = library.knots_ids().nth(*knots) else { return Ok((1.0, None)) };
                WeightDriver::Knots { parameter: find_parameter(parameters, parameter)?, knots }
            }
            Self::Point(PointWeight { blend_space, parameters: [x, y], point }) => {
                check_index("blend space", *blend_space, library.blend_spaces().len())?;
                let Some(space) = library.blend_space_ids().nth(*blend_space) else { return Ok((1.0, None)) };
                check_index("point", *point, library.blend_spaces()[*blend_space].points().len())?;
                let parameters = [find_parameter(parameters, x)?, find_parameter(parameters, y)?];
                WeightDriver::Point { space, parameters, point: *point }
            }
        };
        Ok((1.0, Some(driver)))
    }
}

#[wasm_bindgen]
impl Library {
    /// Adds knots, pairs of a parameter's value and a weight. Returns their number.
    pub fn knots(&self, knots: &JsValue) -> Result<usize> {
        let knots = Knots::new(options("knots", knots)?)?;
        self.shared.change(|source| {
            source.library.add_knots(knots);
            Ok(source.library.knots().len() - 1)
        })
    }

    /// Adds a blend space of points, with their Delaunay triangles if there are none. Returns its number.
    #[wasm_bindgen(js_name = blendSpace)]
    pub fn blend_space(&self, points: &JsValue, triangles: &JsValue) -> Result<usize> {
        let points: Vec<[f64; 2]> = options("points", points)?;
        let space = if triangles.is_undefined() {
            BlendSpace::new(points)?
        } else {
            BlendSpace::with_triangles(points, options("triangles", triangles)?)?
        };
        self.shared.change(|source| {
            source.library.add_blend_space(space);
            Ok(source.library.blend_spaces().len() - 1)
        })
    }

    /// Replaces the sync markers of a clip.
    #[wasm_bindgen(js_name = setMarkers)]
    pub fn set_markers(&self, clip: &JsValue, times: &JsValue) -> Result<()> {
        let clip: ClipChoice = options("clip", clip)?;
        let times = numbers("times", times)?;
        self.shared.change(|source| {
            let clip = clip.find(&source.library)?;
            source.library.set_markers(clip, times)?;
            Ok(())
        })
    }
}
