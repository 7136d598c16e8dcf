//! An instance: from its layers, parameters and transitions to its values.

use std::sync::Arc;

use crate::model::{
    Crowd, Goal, Layer, Library, Parameter, ParameterValues, Skeleton, SkeletonId, StartPoses, Ticks, Transition,
};
use crate::reference::drive::{Driven, Moment};
use crate::reference::transition::Displacements;
use crate::reference::values::Values;
use crate::reference::{inverse_kinematics, layers};

/// An instance of a crowd that has been checked, or what it was before a transition.
#[derive(Debug, Clone, Copy)]
pub struct Instance<'a> {
    /// The library.
    pub library: &'a Library,
    /// The skeleton.
    pub skeleton: SkeletonId,
    /// The layers, from the start of the transition on.
    pub layers: &'a [Layer],
    /// The parameters.
    pub parameters: &'a [Parameter],
    /// The goals.
    pub goals: &'a [Goal],
    /// The transition to the layers.
    pub transition: Option<&'a Transition>,
    /// The poses around the starts of the transition and of transitions that it interrupts.
    pub starts: &'a [Arc<StartPoses>],
}

impl<'a> Instance<'a> {
    /// An instance of a crowd.
    pub fn new(library: &'a Library, crowd: &'a Crowd, instance: usize) -> Self {
        Self {
            library,
            skeleton: crowd.skeleton(instance),
            layers: crowd.layers(instance),
            parameters: crowd.parameters(instance),
            goals: crowd.goals(instance),
            transition: crowd.transition(instance),
            starts: crowd.running(instance).map_or(&[], |running| &running.starts),
        }
    }

    /// The instance as it was before a transition of it.
    pub fn before(&self, transition: &'a Transition) -> Self {
        let starts = self.starts.get(1..).unwrap_or_default();
        Self { layers: &transition.from, transition: transition.before.as_deref(), starts, ..*self }
    }

    /// The instance with its layers, without a transition.
    pub fn alone(&self) -> Self {
        Self { transition: None, starts: &[], ..*self }
    }

    /// The instance as it is at a tick: what it was before a transition that begins later.
    pub fn at(&self, now: Ticks) -> Self {
        match self.transition {
            Some(transition) if now < transition.start => self.before(transition).at(now),
            _ => *self,
        }
    }

    /// The layers with the values of the parameters at a tick.
    pub fn moment(&self, now: Ticks) -> Moment<'a> {
        Moment { library: self.library, layers: self.layers, values: ParameterValues::new(self.parameters, now), now }
    }

    /// The layers without drivers at a tick.
    pub fn driven(&self, now: Ticks) -> Vec<Driven> {
        self.moment(now).driven()
    }

    /// The skeleton.
    pub fn skeleton(&self) -> &'a Skeleton {
        self.library.skeleton(self.skeleton)
    }

    /// The values at a tick, with the transition, before the goals.
    pub fn values(&self, now: Ticks) -> Values {
        let shown = self.at(now);
        let mut values = shown.own_values(now);
        if let Some(transition) = shown.transition
            && let Some(elapsed) = transition.elapsed(now)
            && let Some(displacements) = shown.displacements()
        {
            displacements.apply(elapsed, &mut values);
        }
        values
    }

    /// The values at a tick, with the transition and the goals.
    pub fn posed_values(&self, now: Ticks) -> Values {
        let values = self.values(now);
        let parameters = ParameterValues::new(self.parameters, now);
        let local = inverse_kinematics::apply(self.library, self.skeleton(), self.goals, parameters, values.local);
        Values { local, ..values }
    }

    /// The displacements at the start of the transition; `None` without one.
    pub fn displacements(&self) -> Option<Displacements<'a>> {
        Some(Displacements::new(self.transition?, self.starts.first()?))
    }

    /// The values of the layers at a tick, without the transition.
    pub fn own_values(&self, now: Ticks) -> Values {
        let layers: Vec<Layer> = self.driven(now).iter().map(|driven| driven.layer).collect();
        layers::values(self.library, self.skeleton(), &layers, now)
    }
}
