//! What a channel samples.

use std::collections::HashMap;

use crate::model::{Curve, Interpolation, Interpolator, Target};
use crate::pack::QuantizedKeys;
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
