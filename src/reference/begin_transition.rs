//! The beginning of a transition from the pose that an instance shows.

use crate::error::Error;
use crate::model::{
    Crowd, Layer, Library, RunningTransition, Ticks, Transition, TransitionKind, check_instance, check_layers,
    check_transition, no_such,
};
use crate::reference::instance::Instance;
use crate::reference::transition::Moments;

/// A transition to begin.
///
/// # Examples
/// ```
/// use posse::{Crowd, Layer, LayerTime, NewTransition, Playback, Ticks, TransitionKind, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let [walk, wave] = ["walk", "wave"].map(|name| library.find_clip(name).expect("a clip of the demo"));
/// let playing = |clip| Layer::new(clip, LayerTime::Playing(Playback::looping(Ticks(0), 1.0)));
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
    /// The kind of the decay; inertial by default.
    pub kind: TransitionKind,
    /// The pace of the decay in seconds, as [`Transition::half_life`]; 0.1 by default.
    pub half_life: f64,
}

impl<'a> NewTransition<'a> {
    /// An inertial transition with a half-life of 0.1 s.
    pub fn new(instance: usize, layers: &'a [Layer], now: Ticks) -> Self {
        Self { instance, layers, now, kind: TransitionKind::Inertial, half_life: 0.1 }
    }
}

impl Crowd {
    /// Begins a transition of an instance to other layers, from the pose that it shows. A transition on its way is interrupted,
    /// with the displacement that it was given when it began. Parameters count as the instance has them now, set to the values
    /// with which it is shown.
    ///
    /// An instance remembers its last four transitions, for moments before their starts.
    ///
    /// # Errors
    /// * [`Error::Instance`] if there is no such instance, the layers do not fit the library, or the half-life or length is not above
    ///   0. The crowd is then unchanged.
    /// * [`Error::Limit`] if there are more layers than [`push`](Self::push) allows.
    pub fn begin_transition(&mut self, library: &Library, new: &NewTransition) -> Result<(), Error> {
        let &NewTransition { instance, layers, now, kind, half_life } = new;
        if instance >= self.len() {
            return Err(Error::Instance { instance, reason: no_such("instance", instance, "crowd", self.len()) });
        }
        let skeleton = self.skeleton(instance);
        check_layers(instance, layers)?;
        check_instance(library, instance, skeleton, layers)?;
        self.check_instance(library, instance, self.transition(instance))?;
        let shown = shown_before(Instance::new(library, self, instance), now);
        let into = Instance { layers, ..shown.alone() };
        let step = Transition::STEP;
        let moments = Moments {
            out: [now, now - step].map(|tick| shown.values(tick)),
            into: [now, now + step].map(|tick| into.own_values(tick)),
            seconds: step.to_seconds(),
            is_dead: matches!(kind, TransitionKind::Dead { .. }),
        };
        let mut displacements = vec![moments.displacement(shown.skeleton())];
        displacements.extend_from_slice(shown.displacements);
        displacements.truncate(Transition::MOST);
        let before = shown.transition.map(|transition| shortened(transition, Transition::MOST - 1)).map(Box::new);
        let transition = Transition { start: now, from: shown.layers.to_vec(), kind, half_life, before };
        check_transition(instance, &transition)?;
        self.set(instance, skeleton, layers)?;
        self.store_transition(instance, Some(RunningTransition { transition, displacements }))
    }
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

/// A transition without those that it interrupts beyond a number of transitions.
fn shortened(transition: &Transition, most: usize) -> Transition {
    let before = transition.before.as_deref().filter(|_| most > 1).map(|before| shortened(before, most - 1));
    Transition { before: before.map(Box::new), ..transition.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo;
    use crate::evaluator::Evaluator;
    use crate::model::{LayerTime, Outputs, Playback, Pose};
    use crate::reference::Reference;

    /// The greatest distance of the joints of two poses.
    fn apart(a: &Pose, b: &Pose) -> f64 {
        let distances = a.model.iter().zip(&b.model).map(|(a, b)| a.translation.distance(b.translation));
        distances.fold(0.0, f64::max)
    }

    #[test]
    fn interruptions_continue_the_pose_that_is_shown() {
        let library = demo::library().unwrap();
        let clips: Vec<_> = library.clip_ids().filter(|&id| library.clip(id).skeleton.index() == 0).collect();
        let playing = |index: usize| {
            let playback = Playback::looping(Ticks(index as i64 * 77_777), 1.0);
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
            assert_eq!(depth, index.min(Transition::MOST));
            let (transition, displacement) = crowd.displacement(0).unwrap();
            let mut values = Instance::new(&library, &crowd, 0).own_values(now);
            displacement.apply(transition, 0.0, &mut values);
            let shown = Pose {
                model: crate::reference::hierarchy::model(library.skeleton(crowd.skeleton(0)), &values.local),
                ..Pose::default()
            };
            if index < Transition::MOST {
                assert!(apart(&before, &shown) < 1e-9, "{index}: {}", apart(&before, &shown));
                assert!(apart(&before, &pose(&crowd, now)) < 1e-9);
            }
        }
    }
}
