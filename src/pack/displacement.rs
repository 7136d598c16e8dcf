//! Packing of transitions on their way: the difference of the two poses at the start, which the engines let decay.
//!
//! The offset of a number in inertialization is what goes out less what comes in, and its speed is the speed of
//! this difference. In dead blending the offset is the number that goes out, and the speed is its own. A rotation has a
//! rotation vector as its offset in inertialization, with a 0 behind it, and a quaternion in dead blending; its
//! speed is a rotation vector.

use glam::{DQuat, DVec3, DVec4};

use crate::model::{StartPoses, Ticks, Transition, TransitionKind};
use crate::pack::record::{DISPLACED_DEAD, DISPLACED_INERTIAL, DISPLACED_JOINT, DISPLACED_NUMBER, DisplacementRecord};

/// The least length in seconds: less than a tick, and more than 0 as an `f32`.
const SHORTEST: f64 = 1e-30;

/// The displacement of an instance, ready for an engine.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PackedDisplacement {
    pub record: DisplacementRecord,
    /// The numbers of the joints, then of the morph weights and properties.
    pub numbers: Vec<f32>,
}

impl PackedDisplacement {
    /// Packs the displacement of a transition, from the poses around its start.
    pub fn new(transition: &Transition, start: &StartPoses) -> Self {
        let (kind, seconds) = match transition.kind {
            TransitionKind::Inertial => (DISPLACED_INERTIAL, Transition::MAX_HALF_LIVES * transition.half_life),
            TransitionKind::Dead { seconds } => (DISPLACED_DEAD, seconds),
        };
        let Ticks(tick) = transition.start;
        let record = DisplacementRecord {
            kind,
            start_low: tick as u32,
            start_high: (tick >> 32) as u32,
            rate: transition.rate() as f32,
            seconds: seconds.max(SHORTEST) as f32,
        };
        Self { record, numbers: numbers(start, kind == DISPLACED_DEAD) }
    }
}

/// The numbers of the joints, morph weights and properties.
fn numbers(start: &StartPoses, is_dead: bool) -> Vec<f32> {
    let StartPoses { out: [out, earlier], into: [into, later], rotations } = start;
    let joint_count = out.local.len();
    let number_count = out.weights.len() + out.properties.len();
    let words = DISPLACED_JOINT as usize * joint_count + DISPLACED_NUMBER as usize * number_count;
    let mut numbers = Vec::with_capacity(words);
    let mut push = |values: &[f64]| numbers.extend(values.iter().map(|&value| value as f32));
    for joint in 0..joint_count {
        let locals = [out, earlier, into, later].map(|pose| &pose.local[joint]);
        for (offset, speed) in
            [vector(locals.map(|local| local.translation), is_dead), vector(locals.map(|local| local.scale), is_dead)]
        {
            push(&offset.to_array());
            push(&speed.to_array());
        }
        let (offset, speed) = rotation(locals.map(|local| local.rotation), is_dead);
        push(&offset.to_array());
        push(&speed.extend(0.0).to_array());
    }
    let number = |values: [f64; 4]| {
        let (offset, speed) = vector(values.map(DVec3::splat), is_dead);
        [offset.x, speed.x]
    };
    for weight in 0..out.weights.len() {
        push(&number([out, earlier, into, later].map(|pose| pose.weights[weight])));
    }
    let mut next = 0;
    while next < out.properties.len() {
        if rotations.contains(&next) {
            let quaternions = [out, earlier, into, later].map(|pose| DQuat::from_slice(&pose.properties[next..]));
            let (offset, speed) = rotation(quaternions, is_dead);
            let speed = speed.extend(0.0);
            push(&[offset.x, speed.x, offset.y, speed.y, offset.z, speed.z, offset.w, speed.w]);
            next += 4;
        } else {
            push(&number([out, earlier, into, later].map(|pose| pose.properties[next])));
            next += 1;
        }
    }
    debug_assert_eq!(numbers.len(), words);
    numbers
}

/// The offset and the speed of a vector, from what goes out at the start and before it, and what comes in at the start
/// and after it.
fn vector([out, earlier, into, later]: [DVec3; 4], is_dead: bool) -> (DVec3, DVec3) {
    let (offset, change) = match is_dead {
        true => (out, out - earlier),
        false => (out - into, (out - earlier) - (later - into)),
    };
    (offset, change / Transition::STEP.to_seconds())
}

/// The offset and the speed of a rotation, as [`vector`].
fn rotation([out, earlier, into, later]: [DQuat; 4], is_dead: bool) -> (DVec4, DVec3) {
    let turned = rotation_vector(out * earlier.conjugate());
    let (offset, change) = match is_dead {
        true => (DVec4::from(out), turned),
        false => {
            (rotation_vector(out * into.conjugate()).extend(0.0), turned - rotation_vector(later * into.conjugate()))
        }
    };
    (offset, change / Transition::STEP.to_seconds())
}

/// The rotation vector of a unit quaternion, along the shorter arc.
fn rotation_vector(rotation: DQuat) -> DVec3 {
    let rotation = if rotation.w < 0.0 { -rotation } else { rotation };
    let axis = rotation.xyz();
    let length = axis.length();
    if length == 0.0 { DVec3::ZERO } else { axis * (2.0 * length.atan2(rotation.w) / length) }
}
