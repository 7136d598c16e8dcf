//! Packing of transitions on their way.

use crate::model::{Displacement, Offset, PropertyOffset, Transition, TransitionKind};
use crate::pack::record::{DISPLACED_DEAD, DISPLACED_INERTIAL, DISPLACED_JOINT, DisplacementRecord};

/// The least length in seconds: less than a tick, and more than 0 as an `f32`.
const SHORTEST: f64 = 1e-30;

/// The displacement of an instance, ready for an engine.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PackedDisplacement {
    pub record: DisplacementRecord,
    /// The numbers of the joints, then those of the morph weights and properties.
    pub numbers: Vec<f32>,
}

impl PackedDisplacement {
    /// Packs the displacement of a transition.
    pub fn new(transition: &Transition, displacement: &Displacement) -> Self {
        let (kind, seconds) = match transition.kind {
            TransitionKind::Inertial => (DISPLACED_INERTIAL, Transition::MOST_HALF_LIVES * transition.half_life),
            TransitionKind::Dead { seconds } => (DISPLACED_DEAD, seconds),
        };
        let start = transition.start.0;
        let record = DisplacementRecord {
            kind,
            start_low: start as u32,
            start_high: (start >> 32) as u32,
            rate: transition.rate() as f32,
            seconds: seconds.max(SHORTEST) as f32,
        };
        let mut numbers = Vec::new();
        for [translation, rotation, scale] in &displacement.joints {
            for Offset { at_start, speed } in [translation, scale] {
                numbers.extend(at_start[..3].iter().chain(speed).map(|&number| number as f32));
            }
            numbers.extend(rotation.at_start.iter().chain(&rotation.speed).map(|&number| number as f32));
            numbers.push(0.0);
        }
        debug_assert_eq!(numbers.len(), DISPLACED_JOINT as usize * displacement.joints.len());
        numbers.extend(displacement.weights.iter().flatten().map(|&number| number as f32));
        let properties = displacement.properties.iter().flat_map(property);
        numbers.extend(properties.map(|number| number as f32));
        Self { record, numbers }
    }
}

/// The numbers of a property: offset and speed of each.
fn property(offset: &PropertyOffset) -> Vec<f64> {
    match offset {
        PropertyOffset::Numbers(numbers) => numbers.concat(),
        PropertyOffset::Rotation(Offset { at_start: [x, y, z, w], speed: [a, b, c] }) => {
            vec![*x, *a, *y, *b, *z, *c, *w, 0.0]
        }
    }
}
