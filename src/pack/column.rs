//! Columns: tracks cut into pieces that one channel samples.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{Clip, Curve, Interpolation, Interpolator, Library, NumberRange, Skeleton, Target};
use crate::pack::record::{Channel, SHAPE_ROTATION};
use crate::pack::unroll::Beyond;
use crate::pack::{QuantizedCurve, QuantizedKeys};

/// Up to four numbers of a track, or all results of a caller's interpolator. One channel samples it.
#[derive(Clone, Copy)]
pub struct Column<'a> {
    /// The target of the track.
    pub target: Target,
    /// The target's numbers that the column drives.
    pub target_numbers: NumberRange,
    /// The curve's numbers that the column reads.
    pub curve_numbers: NumberRange,
    /// The curve.
    pub curve: &'a Curve,
    /// True for quaternions that interpolate as rotations.
    pub rotation: bool,
    /// True if the curve has one value for all times. Stored, because the question reads all keys.
    pub constant: bool,
    /// The caller's interpolator, if the curve has one.
    pub interpolator: Option<&'a dyn Interpolator>,
    /// The continuation of the timeline beyond its keys.
    pub beyond: Beyond,
    /// The quantized keys, if the keys are quantized: one element, or three for a cubic spline.
    pub quantized: Option<&'a [QuantizedKeys]>,
}

impl Column<'_> {
    /// The `shape` of a channel: the count and kind of its numbers, or the index of its interpolator.
    pub fn shape(&self) -> u32 {
        match self.curve.interpolation() {
            Interpolation::Custom(id) if !self.constant => id.index() as u32,
            _ => self.target_numbers.count as u32 | if self.rotation { SHAPE_ROTATION } else { 0 },
        }
    }
}

/// Channels by target and [`Column::target_numbers`].
pub type Channels = HashMap<(Target, NumberRange), Channel>;

/// For each track of a clip its quantized keys; `None` if its keys are not quantized. The list may end early.
pub type QuantizedCurves<'a> = &'a [Option<Arc<QuantizedCurve>>];

/// Cuts all tracks of a clip into columns, sorted so that the keys of neighbouring joints are neighbours.
pub fn columns<'a>(
    library: &'a Library,
    skeleton: &Skeleton,
    clip: &'a Clip,
    quantized: QuantizedCurves<'a>,
) -> Vec<Column<'a>> {
    let mut columns = Vec::new();
    for (index, track) in clip.tracks.iter().enumerate() {
        let quantized = quantized.get(index).and_then(Option::as_ref);
        let (target, curve) = (track.target, &track.curve);
        let rotation = target.is_rotation(skeleton);
        let constant = curve.is_constant();
        let beyond = Beyond::new(curve, rotation, clip.length);
        let width = curve.width();
        let first_number = track.component.unwrap_or(0);
        let interpolator = match curve.interpolation() {
            Interpolation::Custom(id) => Some(library.interpolator(id)),
            _ => None,
        };
        // The result of an interpolator for a constant curve is an ordinary value.
        let column_width = if constant { 4 } else { interpolator.map_or(4, |_| width) };
        let result_width = interpolator.map_or(width, |interpolator| interpolator.result_width());
        let total = if constant { result_width } else { width };
        for first in (0..total).step_by(column_width) {
            let curve_numbers = NumberRange::new(first, (total - first).min(column_width));
            let keeps_width = constant || interpolator.is_none();
            let results = if keeps_width { curve_numbers } else { NumberRange::new(0, result_width) };
            let target_numbers = NumberRange::new(first_number + results.first, results.count);
            let quantized = quantized.map(|quantized| quantized.parts[first / 4].as_slice());
            columns.push(Column {
                target,
                target_numbers,
                curve_numbers,
                curve,
                rotation,
                constant,
                interpolator,
                beyond,
                quantized,
            });
        }
    }
    columns.sort_by_key(|column| (column.target, column.target_numbers));
    columns
}
