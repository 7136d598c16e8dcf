//! Transitions: the way from one set of layers to another, without both being played.

use std::f64::consts::LN_2;
use std::sync::Arc;

use crate::model::layer::Layer;
use crate::model::{Pose, Ticks, is_usable};

/// The way from the pose of one set of layers to the pose of another: inertialization, or dead blending.
///
/// At its start, the difference of the two poses and of their speeds is taken. From then on the instance has the layers
/// that come in, and the difference decays. The layers that go out are not played any more.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// The tick at which it begins. Before it, the instance has the layers that go out.
    pub start: Ticks,
    /// The layers that go out.
    pub from: Vec<Layer>,
    /// The kind of the decay.
    pub kind: TransitionKind,
    /// The time in seconds that sets the pace of the decay, more than 0: in dead blending, the speed halves in it,
    /// and in inertialization, which begins slowly, 60 % of the difference are left then.
    pub half_life: f64,
    /// A transition that this one interrupts. It starts earlier.
    pub before: Option<Box<Transition>>,
}

/// A transition with the poses around its start, and around the starts of the transitions that it interrupts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunningTransition {
    /// The transition.
    pub transition: Transition,
    /// The poses of the transition itself first, then of the one that it interrupts, and so on.
    pub starts: Vec<Arc<StartPoses>>,
}

impl RunningTransition {
    /// The transition that it interrupts; `None` if there is none.
    pub fn before(&self) -> Option<Self> {
        let transition = (**self.transition.before.as_ref()?).clone();
        Some(Self { transition, starts: self.starts.get(1..).unwrap_or_default().to_vec() })
    }
}

/// The poses around the start of a transition, before the goals: local transforms, morph weights and properties. They
/// are taken once, when the transition begins. The engines derive the displacement from them when they pack it, and so
/// does the reference, by code of its own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StartPoses {
    /// The pose that goes out, at the start and [`Transition::STEP`] before it.
    pub out: [Pose; 2],
    /// The pose that comes in, at the start and [`Transition::STEP`] after it.
    pub into: [Pose; 2],
    /// The index of the first number of each property that is a rotation, among the numbers of all properties.
    pub rotations: Vec<usize>,
}

/// The kind of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum TransitionKind {
    /// Inertialization: the difference of both poses decays like a critically damped spring that begins with the
    /// difference of the speeds. After 16 half-lives it is over.
    #[default]
    Inertial,
    /// Dead blending: the pose that goes out moves on with a speed that decays, and the pose that comes in takes over
    /// smoothly.
    Dead {
        /// The length of the transition, more than 0.
        seconds: f64,
    },
}

impl Transition {
    /// The most transitions of an instance: one, and three that it interrupts, directly or indirectly.
    pub const MAX_DEPTH: usize = 4;
    /// The half-lives after which inertialization is over.
    pub const MAX_HALF_LIVES: f64 = 16.0;
    /// The time before and after the start from which speeds are taken: 1/64 s.
    pub const STEP: Ticks = Ticks(Ticks::PER_SECOND / 64);

    /// The length of the transition in seconds.
    pub fn seconds(&self) -> f64 {
        match self.kind {
            TransitionKind::Inertial => Self::MAX_HALF_LIVES * self.half_life,
            TransitionKind::Dead { seconds } => seconds,
        }
    }

    /// The largest rate of a decay per second: within a tick, nothing is left.
    const FASTEST: f64 = 1e30;

    /// The rate of the decay per second.
    pub(crate) fn rate(&self) -> f64 {
        let halvings = match self.kind {
            TransitionKind::Inertial => 2.0,
            TransitionKind::Dead { .. } => 1.0,
        };
        (halvings * LN_2 / self.half_life).min(Self::FASTEST)
    }

    /// The seconds from the start to a tick, if the transition is on its way then. `None` before and after it.
    pub fn elapsed(&self, now: Ticks) -> Option<f64> {
        let elapsed = (i128::from(now.0) - i128::from(self.start.0)) as f64 / Ticks::PER_SECOND as f64;
        let is_on_its_way = match self.kind {
            TransitionKind::Inertial => elapsed <= self.seconds(),
            TransitionKind::Dead { .. } => elapsed < self.seconds(),
        };
        (elapsed >= 0.0 && is_on_its_way).then_some(elapsed)
    }

    /// The first unusable number of the transition itself and of those before it, as a message.
    pub(crate) fn error(&self) -> Option<String> {
        let is_length = |seconds: f64| is_usable(seconds) && seconds > 0.0;
        if !is_length(self.half_life) {
            return Some(format!("the half-life {} is not a finite number of seconds above 0", self.half_life));
        }
        if let TransitionKind::Dead { seconds } = self.kind
            && !is_length(seconds)
        {
            return Some(format!("the length {seconds} is not a finite number of seconds above 0"));
        }
        let before = self.before.as_deref()?;
        if before.start >= self.start {
            let (own, earlier) = (self.start.0, before.start.0);
            return Some(format!(
                "a transition starts at tick {own}, no later than the one that it interrupts, at tick {earlier}; start it later"
            ));
        }
        before.error()
    }

    /// This transition, followed by the one that it interrupts, and so on.
    pub fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |transition| transition.before.as_deref())
    }

    /// The number of transitions: this one, and those before it.
    pub fn depth(&self) -> usize {
        self.chain().count()
    }
}
