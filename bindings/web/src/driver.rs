//! Parameters, by which times and weights of layers follow from numbers of an instance, with the knots, blend spaces
//! and sync markers that a page adds to a library for them.

use posse::parameters::{BlendSpace, Knots, WeightDriver};
use wasm_bindgen::prelude::*;

use crate::fields::{Fields, each, numbers, whole};
use crate::js::{self, Result, check_index};
use crate::library::Library;
use crate::names::{self, Scope};

/// The fixed part of a weight, and what drives it: an object that it follows from.
pub fn weight(scope: Scope, place: &str, value: &JsValue) -> Result<(f64, Option<WeightDriver>)> {
    let library = scope.library;
    let known = ["parameter", "knots", "blendSpace", "parameters", "point"];
    let fields = Fields::new(place.to_owned(), value, &known)?;
    if let Some(space) = fields.read("blendSpace", whole)? {
        check_index("blend space", space, library.blend_spaces().len())?;
        let point = fields.required("point", whole)?;
        check_index("point", point, library.blend_spaces()[space].points().len())?;
        let parameters = fields
            .required("parameters", |place, value| each(place, value, |place, value| scope.parameter(place, value)))?;
        let (Ok(parameters), Some(space)) = (parameters.try_into(), library.blend_space_ids().nth(space)) else {
            return Err(JsError::new(&format!("{place}.parameters: expected the names of two parameters")));
        };
        return Ok((1.0, Some(WeightDriver::Point { space, parameters, point })));
    }
    let parameter = fields.required("parameter", |place, value| scope.parameter(place, value))?;
    let knots = fields.required("knots", whole)?;
    check_index("list of knots", knots, library.knots().len())?;
    Ok((1.0, library.knots_ids().nth(knots).map(|knots| WeightDriver::Knots { parameter, knots })))
}

#[wasm_bindgen]
impl Library {
    /// Adds knots, pairs of a parameter's value and a weight. Returns their number.
    pub fn knots(&self, knots: &JsValue) -> Result<usize> {
        let knots = Knots::new(each("knots", knots, numbers)?)?;
        self.shared.change(|source| {
            source.library.add_knots(knots);
            Ok(source.library.knots().len() - 1)
        })
    }

    /// Adds a blend space of points, with their Delaunay triangles if there are none. Returns its number.
    #[wasm_bindgen(js_name = blendSpace)]
    pub fn blend_space(&self, points: &JsValue, triangles: &JsValue) -> Result<usize> {
        let points: Vec<[f64; 2]> = each("points", points, numbers)?;
        let space = if triangles.is_undefined() || triangles.is_null() {
            BlendSpace::new(points)?
        } else {
            let triangle = |place: &str, value: &JsValue| -> Result<[usize; 3]> {
                let [a, b, c] = numbers(place, value)?;
                Ok([js::whole(place, a)?, js::whole(place, b)?, js::whole(place, c)?])
            };
            BlendSpace::with_triangles(points, each("triangles", triangles, triangle)?)?
        };
        self.shared.change(|source| {
            source.library.add_blend_space(space);
            Ok(source.library.blend_spaces().len() - 1)
        })
    }

    /// Replaces the sync markers of a clip.
    #[wasm_bindgen(js_name = setMarkers)]
    pub fn set_markers(&self, clip: &JsValue, times: &JsValue) -> Result<()> {
        let times = js::numbers("times", times)?;
        self.shared.change(|source| {
            let clip = names::clip(&source.library, "clip", clip)?;
            source.library.set_markers(clip, times)?;
            Ok(())
        })
    }
}
