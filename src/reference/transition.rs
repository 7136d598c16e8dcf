//! Transitions: the displacement of a pose at the start of a transition, and its decay.

use glam::{DQuat, DVec3, DVec4};

use crate::error::Error;
use crate::model::rotation::unit;
use crate::model::{
    Crowd, Displacement, Library, Offset, PropertyOffset, RunningTransition, Skeleton, Transition, TransitionKind,
    check_transition,
};
use crate::reference::instance::Instance;
use crate::reference::values::Values;

impl Crowd {
    /// Begins a transition of an instance that leads to its layers, or ends its transition. The poses at the start are taken now,
    /// from the layers and parameters that the instance has: set those before.
    ///
    /// # Errors
    /// * [`Error::Instance`] if there is no such instance, the layers that go out or come in do not fit the library, a half-life or
    ///   length is not above 0, or a transition does not start after the one that it interrupts.
    /// * [`Error::Limit`] if a transition interrupts more than three others, or layers exceed the limit of [`push`](Self::push).
    pub fn set_transition(
        &mut self,
        library: &Library,
        instance: usize,
        transition: Option<Transition>,
    ) -> Result<(), Error> {
        let Some(transition) = transition else { return self.store_transition(instance, None) };
        check_transition(instance, &transition)?;
        if instance >= self.len() {
            return self.store_transition(instance, None);
        }
        self.check_instance(library, instance, Some(&transition))?;
        let own = Instance::new(library, self, instance);
        let mut shown = Instance { transition: Some(&transition), displacements: &[], ..own };
        let mut displacements = Vec::new();
        while let Some(next) = shown.transition {
            displacements.push(displacement(&shown, next));
            shown = shown.before(next);
        }
        self.store_transition(instance, Some(RunningTransition { transition, displacements }))
    }
}

/// The displacement of a transition to the layers of an instance.
pub fn displacement(instance: &Instance, transition: &Transition) -> Displacement {
    let (start, step) = (transition.start, Transition::STEP);
    let before = instance.before(transition);
    let moments = Moments {
        out: [before.values(start), before.values(start - step)],
        into: [instance.own_values(start), instance.own_values(start + step)],
        seconds: step.to_seconds(),
        is_dead: matches!(transition.kind, TransitionKind::Dead { .. }),
    };
    moments.displacement(instance.skeleton())
}

/// The values around the start of a transition.
pub(super) struct Moments {
    /// Those of the pose that goes out, at the start and before it.
    pub out: [Values; 2],
    /// Those of the pose that comes in, at the start and after it.
    pub into: [Values; 2],
    /// The time between two values.
    pub seconds: f64,
    /// True for a dead transition.
    pub is_dead: bool,
}

impl Moments {
    /// The displacement at the start.
    pub fn displacement(&self, skeleton: &Skeleton) -> Displacement {
        let joint = |joint: usize| {
            let vector = |part: fn(&Values, usize) -> DVec3| self.vector(|values| part(values, joint));
            [
                vector(|values, joint| values.local[joint].translation),
                self.rotation(|values| values.local[joint].rotation),
                vector(|values, joint| values.local[joint].scale),
            ]
        };
        let number = |value: &dyn Fn(&Values) -> f64| {
            let offset = self.vector(|values| DVec3::new(value(values), 0.0, 0.0));
            [offset.at_start[0], offset.speed[0]]
        };
        let mut weights = Vec::new();
        for (joint, rest) in self.out[0].weights.iter().enumerate() {
            for index in 0..rest.len() {
                weights.push(number(&|values| values.weights[joint][index]));
            }
        }
        let mut properties = Vec::new();
        for (index, property) in skeleton.properties().iter().enumerate() {
            let value = |at: usize| number(&|values: &Values| values.properties[index][at]);
            properties.push(match property.rotation {
                true => PropertyOffset::Rotation(self.rotation(|values| DQuat::from_slice(&values.properties[index]))),
                false => PropertyOffset::Numbers((0..property.rest.len()).map(value).collect()),
            });
        }
        Displacement { joints: (0..self.out[0].local.len()).map(joint).collect(), weights, properties }
    }

    /// The displacement of a vector.
    fn vector(&self, value: impl Fn(&Values) -> DVec3) -> Offset {
        let [start, earlier] = [0, 1].map(|index| value(&self.out[index]));
        let [into, later] = [0, 1].map(|index| value(&self.into[index]));
        let (at_start, change) = match self.is_dead {
            true => (start, start - earlier),
            false => (start - into, (start - earlier) - (later - into)),
        };
        Offset { at_start: at_start.extend(0.0).to_array(), speed: (change / self.seconds).to_array() }
    }

    /// The displacement of a rotation.
    fn rotation(&self, value: impl Fn(&Values) -> DQuat) -> Offset {
        let [start, earlier] = [0, 1].map(|index| value(&self.out[index]));
        let [into, later] = [0, 1].map(|index| value(&self.into[index]));
        let turned = log(start * earlier.conjugate());
        let (at_start, change) = match self.is_dead {
            true => (DVec4::from(start), turned),
            false => (log(start * into.conjugate()).extend(0.0), turned - log(later * into.conjugate())),
        };
        Offset { at_start: at_start.to_array(), speed: (change / self.seconds).to_array() }
    }
}

/// The state of a transition at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Decay {
    /// The factors of the offsets and of the speeds.
    Inertial {
        /// The factor of an offset.
        offset: f64,
        /// The factor of a speed, in seconds.
        speed: f64,
    },
    /// The pose that goes out moves on, and the pose that comes in takes over.
    Dead {
        /// The factor of a speed, in seconds.
        speed: f64,
        /// The share of the pose that comes in.
        share: f64,
    },
}

impl Decay {
    /// The state of a transition some seconds after its start.
    pub fn new(transition: &Transition, elapsed: f64) -> Self {
        match transition.kind {
            // A critically damped spring: x'' = -2 y x' - y y x.
            TransitionKind::Inertial => {
                let y = transition.rate();
                let decay = (-y * elapsed).exp();
                Self::Inertial { offset: (1.0 + y * elapsed) * decay, speed: elapsed * decay }
            }
            TransitionKind::Dead { seconds } => {
                let rate = transition.rate();
                let along = (elapsed / seconds.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
                let speed = -(-rate * elapsed).exp_m1() / rate;
                Self::Dead { speed, share: along * along * (3.0 - 2.0 * along) }
            }
        }
    }

    /// A vector of the pose that comes in, displaced.
    pub fn vector(self, value: DVec3, offset: &Offset) -> DVec3 {
        let at_start = DVec4::from(offset.at_start).truncate();
        let moved = DVec3::from(offset.speed);
        match self {
            Self::Inertial { offset, speed } => value + at_start * offset + moved * speed,
            Self::Dead { speed, share } => {
                let out = at_start + moved * speed;
                out + (value - out) * share
            }
        }
    }

    /// A number of the pose that comes in, displaced by an offset and a speed.
    pub fn number(self, value: f64, offset: [f64; 2]) -> f64 {
        let [at_start, speed] = offset.map(|number| [number, 0.0, 0.0]);
        let [x, y, z] = at_start;
        self.vector(DVec3::new(value, 0.0, 0.0), &Offset { at_start: [x, y, z, 0.0], speed }).x
    }

    /// A rotation of the pose that comes in, displaced.
    pub fn rotation(self, value: DQuat, offset: &Offset) -> DQuat {
        let start = DVec4::from(offset.at_start);
        let turned = DVec3::from(offset.speed);
        let result = match self {
            Self::Inertial { offset, speed } => exp(start.truncate() * offset + turned * speed) * value,
            Self::Dead { speed, share } => {
                let out = exp(turned * speed) * DQuat::from_vec4(start);
                let into = if out.dot(value) < 0.0 { -value } else { value };
                out * (1.0 - share) + into * share
            }
        };
        unit(result).unwrap_or(value)
    }
}

impl Displacement {
    /// Displaces the values of the pose that comes in, some seconds after the start of a transition.
    pub(crate) fn apply(&self, transition: &Transition, elapsed: f64, values: &mut Values) {
        let decay = Decay::new(transition, elapsed);
        for (local, [translation, rotation, scale]) in values.local.iter_mut().zip(&self.joints) {
            local.translation = decay.vector(local.translation, translation);
            local.rotation = decay.rotation(local.rotation, rotation);
            local.scale = decay.vector(local.scale, scale);
        }
        for (weight, &offset) in values.weights.iter_mut().flatten().zip(&self.weights) {
            *weight = decay.number(*weight, offset);
        }
        for (value, offset) in values.properties.iter_mut().zip(&self.properties) {
            match offset {
                PropertyOffset::Rotation(offset) => {
                    *value = decay.rotation(DQuat::from_slice(value), offset).to_array().to_vec();
                }
                PropertyOffset::Numbers(offsets) => {
                    value.iter_mut().zip(offsets).for_each(|(number, &offset)| *number = decay.number(*number, offset));
                }
            }
        }
    }
}

/// The rotation vector of a unit quaternion, by the shorter way.
fn log(rotation: DQuat) -> DVec3 {
    let rotation = if rotation.w < 0.0 { -rotation } else { rotation };
    let axis = rotation.xyz();
    let length = axis.length();
    if length == 0.0 { DVec3::ZERO } else { axis * (2.0 * length.atan2(rotation.w) / length) }
}

/// The unit quaternion of a rotation vector.
fn exp(vector: DVec3) -> DQuat {
    let half = vector.length() / 2.0;
    let (sine, cosine) = half.sin_cos();
    // The sine of a small angle is the angle.
    let factor = if half == 0.0 { 0.5 } else { sine / (2.0 * half) };
    let axis = vector * factor;
    DQuat::from_xyzw(axis.x, axis.y, axis.z, cosine)
}
