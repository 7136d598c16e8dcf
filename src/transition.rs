//! The start of a transition: the poses around it are taken once, in `f64`, by the reference.
//!
//! Only poses are taken here. The reference derives the displacement from them in `reference::transition`, and the
//! engines by code of their own in `pack::displacement`, so that the suites hold the engines to the reference there,
//! too.

use std::sync::Arc;

use crate::error::Error;
use crate::model::{
    Crowd, Layer, Library, Pose, RunningTransition, StartPoses, Ticks, Transition, TransitionKind, check_instance,
    check_layers, check_transition, no_such,
};
use crate::reference::instance::Instance;
use crate::reference::values::Values;

/// A transition to begin.
///
/// # Examples
/// ```
/// use posse::transitions::{NewTransition, TransitionKind};
/// use posse::{Crowd, Layer, LayerTime, Playback, Ticks, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let [walk, wave] = ["walk", "wave"].map(|name| library.find_clip(name).expect("a clip of the demo"));
/// let playing = |clip| Layer::new(clip, LayerTime::Playing(Playback::looping(0.0, 1.0)));
/// let mut crowd = Crowd::new();
/// crowd.push(library.clip(walk).skeleton, &[playing(walk)])?;
///
/// let layers = [playing(wave)];
/// let new = NewTransition::new(0, &layers, Ticks::from_seconds(2.0));
/// crowd.begin_transition(&library, &NewTransition { half_life: 0.2, ..new })?;
/// assert_eq!(crowd.layers(0), [playing(wave)]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewTransition<'a> {
    /// The index of the instance.
    pub instance: usize,
    /// The layers that come in.
    pub layers: &'a [Layer],
    /// The tick at which it begins.
    pub now: Ticks,
    /// The kind of the decay; inertialization by default.
    pub kind: TransitionKind,
    /// The pace of the decay in seconds, as [`Transition::half_life`]; 0.1 by default.
    pub half_life: f64,
}

impl<'a> NewTransition<'a> {
    /// A transition by inertialization with a half-life of 0.1 s.
    pub fn new(instance: usize, layers: &'a [Layer], now: Ticks) -> Self {
        Self { instance, layers, now, kind: TransitionKind::Inertial, half_life: 0.1 }
    }
}

impl Crowd {
    /// Begins a transition of an instance that leads to its layers, or ends its transition. The poses at the start are
    /// taken now, from the layers and parameters that the instance has: set those before.
    ///
    /// # Errors
    /// * [`Error::Instance`] if there is no such instance, the layers that go out or come in do not fit the library, a
    ///   half-life or length is not above 0, or a transition does not start after the one that it interrupts.
    /// * [`Error::Limit`] if a transition interrupts more than three others, or layers exceed the limit of
    ///   [`push`](Self::push).
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
        // The pose that goes out may be displaced by the transition before, so the earliest transition comes first.
        let own = Instance::new(library, self, instance);
        let chain: Vec<&Transition> = transition.chain().collect();
        let mut starts: Vec<Arc<StartPoses>> = Vec::new();
        for (depth, next) in chain.iter().enumerate().rev() {
            let out = Instance { layers: &next.from, transition: next.before.as_deref(), starts: &starts, ..own };
            let layers = if depth == 0 { own.layers } else { &chain[depth - 1].from };
            let start = start_poses(&out, layers, next.start);
            starts.insert(0, Arc::new(start));
        }
        self.store_transition(instance, Some(RunningTransition { transition, starts }))
    }

    /// Begins a transition of an instance to other layers, from the pose that it shows. A transition on its way is
    /// interrupted, with the displacement that it was given when it began. Parameters count as the instance has them
    /// now, set to the values with which it is shown.
    ///
    /// An instance remembers its last four transitions, for moments before their starts.
    ///
    /// # Errors
    /// * [`Error::Instance`] if there is no such instance, the layers do not fit the library, or the half-life or
    ///   length is not above 0. The crowd is then unchanged.
    /// * [`Error::Limit`] if there are more layers than [`push`](Self::push) allows.
    pub fn begin_transition(&mut self, library: &Library, new: &NewTransition) -> Result<(), Error> {
        self.begin_transitions(library, std::slice::from_ref(new))
    }

    /// As [`begin_transition`](Self::begin_transition), for several instances. If one of them cannot begin, none does.
    /// Of several transitions of an instance, the last counts.
    ///
    /// # Errors
    /// The errors of [`begin_transition`](Self::begin_transition).
    pub fn begin_transitions(&mut self, library: &Library, all: &[NewTransition]) -> Result<(), Error> {
        let running = all.iter().map(|new| self.new_transition(library, new)).collect::<Result<Vec<_>, _>>()?;
        for (&NewTransition { instance, layers, .. }, running) in all.iter().zip(running) {
            self.set(instance, self.skeleton(instance), layers)?;
            self.store_transition(instance, Some(running))?;
        }
        Ok(())
    }

    /// A transition of an instance from what it shows, with the poses around its start.
    fn new_transition(&self, library: &Library, new: &NewTransition) -> Result<RunningTransition, Error> {
        let &NewTransition { instance, layers, now, kind, half_life } = new;
        if instance >= self.len() {
            return Err(Error::Instance { instance, reason: no_such("instance", instance, "crowd", self.len()) });
        }
        check_layers(instance, layers)?;
        check_instance(library, instance, self.skeleton(instance), layers)?;
        self.check_instance(library, instance, self.transition(instance))?;
        let shown = shown_before(Instance::new(library, self, instance), now);
        let mut starts = vec![Arc::new(start_poses(&shown, layers, now))];
        starts.extend_from_slice(shown.starts);
        starts.truncate(Transition::MAX_DEPTH);
        let before = shown.transition.map(|transition| shortened(transition, Transition::MAX_DEPTH - 1)).map(Box::new);
        let transition = Transition { start: now, from: shown.layers.to_vec(), kind, half_life, before };
        check_transition(instance, &transition)?;
        Ok(RunningTransition { transition, starts })
    }
}

/// The poses around a tick at which other layers take over from what an instance shows.
fn start_poses(shown: &Instance, layers: &[Layer], start: Ticks) -> StartPoses {
    let step = Transition::STEP;
    let into = Instance { layers, ..shown.alone() };
    let mut rotations = Vec::new();
    let mut first = 0;
    for property in shown.skeleton().properties() {
        if property.rotation {
            rotations.push(first);
        }
        first += property.rest.len();
    }
    StartPoses {
        out: [start, start - step].map(|tick| pose(shown.values(tick))),
        into: [start, start + step].map(|tick| pose(into.own_values(tick))),
        rotations,
    }
}

/// Values as a pose without matrices.
fn pose(values: Values) -> Pose {
    let Values { local, weights, properties } = values;
    Pose { local, weights: weights.concat(), properties: properties.concat(), ..Pose::default() }
}

/// What an instance shows just before a tick.
fn shown_before(instance: Instance<'_>, now: Ticks) -> Instance<'_> {
    let mut shown = instance;
    while let Some(transition) = shown.transition.filter(|transition| now <= transition.start) {
        shown = shown.before(transition);
    }
    // A transition that is over is forgotten, if its end does not count for the speed.
    let earlier = now - Transition::STEP;
    let is_over = |transition: &Transition| earlier > transition.start && transition.elapsed(earlier).is_none();
    if shown.transition.is_some_and(is_over) { shown.alone() } else { shown }
}

/// A transition without transitions that it interrupts beyond a number of transitions.
fn shortened(transition: &Transition, most: usize) -> Transition {
    let before = transition.before.as_deref().filter(|_| most > 1).map(|before| shortened(before, most - 1));
    Transition { before: before.map(Box::new), ..transition.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo;
    use crate::evaluator::Evaluator;
    use crate::model::{LayerTime, Outputs, Playback, Pose, WrapMode};
    use crate::reference::Reference;

    /// The greatest distance of the joints of two poses.
    fn apart(a: &Pose, b: &Pose) -> f64 {
        let distances = a.model.iter().zip(&b.model).map(|(a, b)| a.translation.distance(b.translation));
        distances.fold(0.0, f64::max)
    }

    #[test]
    fn the_poses_around_a_start_are_those_of_the_reference() {
        let library = demo::library().unwrap();
        let [walk, wave, jump] = ["walk", "wave", "jump"].map(|name| library.find_clip(name).unwrap());
        let playing = |clip| [Layer::new(clip, LayerTime::Playing(Playback::new(WrapMode::Loop, Ticks(77_777), 1.0)))];
        let crowd_of = |layers: &[Layer]| {
            let mut crowd = Crowd::new();
            crowd.push(library.clip(walk).skeleton, layers).unwrap();
            crowd
        };
        let pose = |crowd: &Crowd, seconds: f64| {
            let outputs = Outputs { local: true, weights: true, properties: true, ..Outputs::NONE };
            Reference::new(&library).evaluate(crowd, Ticks::from_seconds(seconds), outputs).unwrap().instances.remove(0)
        };
        let mut crowd = crowd_of(&playing(walk));
        for (layers, start) in [(playing(wave), 1.0), (playing(jump), 1.25)] {
            let earlier = crowd.clone();
            crowd.begin_transition(&library, &NewTransition::new(0, &layers, Ticks::from_seconds(start))).unwrap();
            let (_, found) = crowd.start_poses(0).unwrap();
            let e = 1.0 / 64.0;
            assert_eq!(
                found.out,
                [start, start - e].map(|seconds| pose(&earlier, seconds)),
                "{start} s, what goes out"
            );
            let alone = crowd_of(&layers);
            assert_eq!(found.into, [start, start + e].map(|seconds| pose(&alone, seconds)), "{start} s, what comes in");
        }
    }

    #[test]
    fn interruptions_continue_the_pose_that_is_shown() {
        let library = demo::library().unwrap();
        let clips: Vec<_> = library.clip_ids().filter(|&id| library.clip(id).skeleton.index() == 0).collect();
        let playing = |index: usize| {
            let playback = Playback::new(WrapMode::Loop, Ticks(index as i64 * 77_777), 1.0);
            [Layer::new(clips[index % clips.len()], LayerTime::Playing(playback))]
        };
        let mut crowd = Crowd::new();
        crowd.push(library.clip(clips[0]).skeleton, &playing(0)).unwrap();
        let pose = |crowd: &Crowd, now: Ticks| {
            Reference::new(&library).evaluate(crowd, now, Outputs::ALL).unwrap().instances.remove(0)
        };
        // More interruptions than an instance remembers.
        for index in 1..8 {
            let now = Ticks::from_seconds(1.0 + 0.07 * index as f64);
            let before = pose(&crowd, now);
            let layers = playing(index);
            let kind = if index % 3 == 0 { TransitionKind::Dead { seconds: 0.3 } } else { TransitionKind::Inertial };
            let new = NewTransition { kind, ..NewTransition::new(0, &layers, now) };
            crowd.begin_transition(&library, &new).unwrap();
            let depth = crowd.transition(0).unwrap().depth();
            assert_eq!(depth, index.min(Transition::MAX_DEPTH));
            let instance = Instance::new(&library, &crowd, 0);
            let mut values = instance.own_values(now);
            instance.displacements().unwrap().apply(0.0, &mut values);
            let shown = Pose {
                model: crate::reference::values::model_matrices(library.skeleton(crowd.skeleton(0)), &values.local),
                ..Pose::default()
            };
            if index < Transition::MAX_DEPTH {
                assert!(apart(&before, &shown) < 1e-9, "{index}: {}", apart(&before, &shown));
                assert!(apart(&before, &pose(&crowd, now)) < 1e-9);
            }
        }
    }
}
