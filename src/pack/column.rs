//! What a channel samples.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{Clip, Curve, Interpolation, Interpolator, Library, Skeleton, Target};
use crate::pack::{QuantizedCurve, QuantizedKeys};
use crate::pack::record::{Channel, SHAPE_ROTATION};
use crate::pack::unroll::Beyond;

/// Up to four numbers of a track, or all that an interpolator makes: what a channel samples.
#[derive(Clone, Copy)]
pub struct Column<'a> {
    /// What is driven.
    pub target: Target,
    /// The first of the target's numbers, and how many.
    pub place: (usize, usize),
    /// The first of the curve's numbers, and how many.
    pub part: (usize, usize),
    /// The curve.
    pub curve: &'a Curve,
    /// Whether they are a quaternion that interpolates as a rotation.
    pub rotation: bool,
    /// Whether the curve is one value for all times: asked once, since it looks at all keys.
    pub constant: bool,
    /// Who makes the numbers, where it is no interpolation of ours.
    pub interpolator: Option<&'a dyn Interpolator>,
    /// How the curve's timeline goes on beyond its keys.
    pub beyond: Beyond,
    /// What is stored of a key, where its numbers are integers.
    pub quantized: Option<&'a [QuantizedKeys]>,
}

impl Column<'_> {
    /// How a channel says how many numbers it has and what they mean, or whose interpolator makes them.
    pub fn shape(&self) -> u32 {
        match self.curve.interpolation() {
            Interpolation::Custom(id) if !self.constant => id.index() as u32,
            _ => self.place.1 as u32 | if self.rotation { SHAPE_ROTATION } else { 0 },
        }
    }
}

/// Channels, by target, the first of its numbers, and how many.
pub type Channels = HashMap<(Target, (usize, usize)), Channel>;

/// For each track of a clip its keys as integers, where they are packed so; shorter where none are from there on.
pub type QuantizedCurves<'a> = &'a [Option<Arc<QuantizedCurve>>];

/// All tracks in pieces of up to four numbers, ordered so that neighbouring joints' keys are neighbours.
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
        let first_place = track.component.unwrap_or(0);
        let interpolator = match curve.interpolation() {
            Interpolation::Custom(id) => Some(library.interpolator(id)),
            _ => None,
        };
        // What an interpolator makes of a single key is a value like any other.
        let split = if constant { 4 } else { interpolator.map_or(4, |_| width) };
        let made = interpolator.map_or(width, |interpolator| interpolator.result_width());
        let wide = if constant { made } else { width };
        for first in (0..wide).step_by(split) {
            let part = (first, (wide - first).min(split));
            let place = if constant || interpolator.is_none() { part } else { (0, made) };
            let place = (first_place + place.0, place.1);
            let quantized = quantized.map(|quantized| quantized.parts[first / 4].as_slice());
            columns.push(Column { target, place, part, curve, rotation, constant, interpolator, beyond, quantized });
        }
    }
    columns.sort_by_key(|column| (column.target, column.place));
    columns
}
