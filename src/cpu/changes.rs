//! Changes of a crowd in place: other layers, goals and transitions within the capacity of its batches.

use crate::cpu::engine::CpuEngine;
use crate::cpu::schedule::crowd::CpuCrowd;
use crate::error::Error;
use crate::model::{Crowd, Goal, Layer, Library};
use crate::pack::{BatchCapacity, PackedDisplacement, check_changed_crowd, check_index};
use crate::refusal::Refusal;
use crate::transition::NewTransition;

impl CpuCrowd {
    /// Replaces the layers of all instances. Other clips, weights or times need no new crowd.
    ///
    /// Each instance has capacity for the mixing that it needed when this crowd was made, or for the mixing of
    /// [`CrowdOptions::mixing`](crate::CrowdOptions::mixing); and for as many layers as any instance of its skeleton
    /// with that mixing had, or as [`CrowdOptions::layers`](crate::CrowdOptions::layers). If the layers of any instance
    /// do not fit, nothing is replaced, and [`Error::Refused`] names the reason. Transitions and goals are replaced by
    /// the ones of the given crowd; parameters stay as they are. `engine` is the one that made this crowd.
    ///
    /// # Errors
    /// [`Error::Instance`] if the crowd does not fit the library, and the errors of dual quaternions as in
    /// [`CpuEngine::crowd`].
    pub fn set_layers(&mut self, engine: &CpuEngine, crowd: &Crowd) -> Result<(), Error> {
        let library = engine.library();
        let capacity_of = |instance| self.capacity(instance);
        check_changed_crowd(library, crowd, self.outputs, self.slots.len(), capacity_of)?;
        for (instance, &place) in self.slots.iter().enumerate() {
            self.packed.set_layers(library, place, crowd.layers(instance));
            self.packed.set_goals(library, place, crowd.goals(instance));
            self.packed.set_displacement(place, displacement(crowd, instance));
        }
        self.prefetches = engine.pays_prefetch(&self.packed.layers);
        Ok(())
    }

    /// Replaces the layers of one instance; the others play on. It takes no longer in a large crowd than in a small
    /// one. The capacity is the capacity of [`set_layers`](Self::set_layers). A transition of the instance ends; its
    /// goals and parameters stay. `engine` is the one that made this crowd.
    ///
    /// # Errors
    /// * [`Error::Instance`] if the crowd has no such instance, its layers do not fit the library, or a number in them
    ///   is not usable.
    /// * [`Error::Limit`] if it has more layers than [`Crowd::push`] allows.
    /// * The errors of dual quaternions as in [`CpuEngine::crowd`].
    ///
    /// # Examples
    /// ```
    /// use posse::cpu::CpuEngine;
    /// use posse::{Crowd, CrowdOptions, Mixing, Outputs, Ticks, demo};
    ///
    /// # fn main() -> Result<(), posse::Error> {
    /// let library = demo::library()?;
    /// let [walk, run] = ["walk", "run"].map(|name| library.find_clip(name).expect("a clip of the demo"));
    /// let mut crowd = Crowd::new();
    /// for _ in 0..100 {
    ///     crowd.push(library.clip(walk).skeleton, &[walk.looping()])?;
    /// }
    /// let engine = CpuEngine::new(&library)?;
    /// let options = CrowdOptions { layers: 2, mixing: Mixing::Blend, ..CrowdOptions::NONE };
    /// let mut posed = engine.crowd_with_options(&crowd, Outputs::SKIN, options)?;
    ///
    /// // At second 3, instance 7 begins to run, within a quarter of a second.
    /// crowd.cross_fade(7, run.looping(), 3.0..3.25)?;
    /// posed.set_instance(&engine, 7, crowd.layers(7))?;
    /// engine.pose(&mut posed, Ticks::from_seconds(3.1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_instance(&mut self, engine: &CpuEngine, instance: usize, layers: &[Layer]) -> Result<(), Error> {
        self.check_layers(engine, instance, layers)?;
        self.write_instance(engine, instance, layers, None);
        Ok(())
    }

    /// Replaces the goals of one instance, in the capacity for as many goals as any instance of its batch began with,
    /// or for [`CrowdOptions::goals`](crate::CrowdOptions::goals). If the goals do not fit, nothing is replaced, and
    /// [`Error::Refused`] names the reason. `engine` is the one that made this crowd.
    ///
    /// # Errors
    /// * [`Error::Instance`] if the crowd has no such instance, a chain does not exist or is for another skeleton, or a
    ///   number in the goals is not usable.
    /// * [`Error::Limit`] if there are more goals than [`Crowd::set_goals`] allows.
    pub fn set_goals(&mut self, engine: &CpuEngine, instance: usize, goals: &[Goal]) -> Result<(), Error> {
        check_index(instance, self.slots.len())?;
        self.capacity(instance).check_goals(engine.library(), instance, goals)?;
        self.packed.set_goals(engine.library(), self.slots[instance], goals);
        Ok(())
    }

    /// Begins a transition of an instance to other layers, from the pose that it shows. A transition on its way is
    /// interrupted.
    ///
    /// `crowd` describes the instances as they are here; the instance gets the layers and the transition there, too
    /// ([`Crowd::begin_transition`]). Give `crowd` the parameters with which the instance is shown first: with others,
    /// the pose that goes out is another one. If the layers do not fit, nothing is changed, and [`Error::Refused`]
    /// names the reason. `engine` is the one that made this crowd.
    ///
    /// # Errors
    /// The errors of [`set_instance`](Self::set_instance) and of [`Crowd::begin_transition`].
    pub fn transition(
        &mut self,
        engine: &CpuEngine,
        library: &Library,
        crowd: &mut Crowd,
        new: &NewTransition,
    ) -> Result<(), Error> {
        self.transitions(engine, library, crowd, std::slice::from_ref(new))
    }

    /// As [`transition`](Self::transition), for several instances. If the layers or the transition of any do not fit,
    /// nothing is changed. Of several transitions of an instance, the last counts.
    ///
    /// # Errors
    /// The errors of [`transition`](Self::transition).
    pub fn transitions(
        &mut self,
        engine: &CpuEngine,
        library: &Library,
        crowd: &mut Crowd,
        all: &[NewTransition],
    ) -> Result<(), Error> {
        for &NewTransition { instance, layers, .. } in all {
            self.check_layers(engine, instance, layers)?;
            if crowd.len() != self.slots.len() || crowd.skeleton(instance) != self.capacity(instance).skeleton {
                return Err(Error::Refused(Refusal::OtherInstances));
            }
        }
        crowd.begin_transitions(library, all)?;
        for &NewTransition { instance, layers, .. } in all {
            self.write_instance(engine, instance, layers, displacement(crowd, instance));
        }
        Ok(())
    }

    /// Checks that new layers for an instance fit.
    fn check_layers(&self, engine: &CpuEngine, instance: usize, layers: &[Layer]) -> Result<(), Error> {
        check_index(instance, self.slots.len())?;
        self.capacity(instance).check_layers(engine.library(), self.outputs, instance, layers)
    }

    /// Writes the layers and the transition of an instance. They fit.
    fn write_instance(
        &mut self,
        engine: &CpuEngine,
        instance: usize,
        layers: &[Layer],
        displacement: Option<PackedDisplacement>,
    ) {
        let place = self.slots[instance];
        self.packed.set_layers(engine.library(), place, layers);
        self.packed.set_displacement(place, displacement);
        // All other layers were asked when the crowd was made.
        self.prefetches |= engine.pays_prefetch(self.packed.layers_of(&self.packed.batches[place.0], place.1));
    }

    /// The capacity of an instance that exists.
    fn capacity(&self, instance: usize) -> BatchCapacity {
        self.packed.capacity(self.slots[instance].0, self.parameters.count)
    }
}

/// The displacement of an instance of a crowd that is in a transition.
fn displacement(crowd: &Crowd, instance: usize) -> Option<PackedDisplacement> {
    crowd.start_poses(instance).map(|(transition, start)| PackedDisplacement::new(transition, start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo;
    use crate::model::{
        Chain, ChainKind, GoalTarget, GoalWeight, LayerMode, LayerTime, Mixing, Outputs, Ticks, WrapMode,
    };
    use crate::pack::CrowdOptions;
    use crate::pack::record::{DriveRecord, GoalRecord, LayerRecord, NONE};

    /// What an instance of a crowd is packed into.
    #[derive(Debug, PartialEq)]
    struct Packed {
        layers: Vec<LayerRecord>,
        drives: Vec<DriveRecord>,
        goals: Vec<GoalRecord>,
        displacement: Option<PackedDisplacement>,
    }

    fn packed(posed: &CpuCrowd, instance: usize) -> Packed {
        let (all, (batch, slot)) = (&posed.packed, posed.slots[instance]);
        let batch = &all.batches[batch];
        let place = batch.displaced.get(slot).filter(|place| **place != NONE);
        Packed {
            layers: all.layers_of(batch, slot).to_vec(),
            drives: all.drives_of(batch, slot).to_vec(),
            goals: all.goals[batch.first_goal + slot * batch.goal_count..][..batch.goal_count].to_vec(),
            displacement: place.map(|&place| all.displacements[place as usize].clone()),
        }
    }

    #[test]
    fn changes_leave_what_a_new_crowd_is_packed_into() {
        let mut library = demo::library().unwrap();
        let [walk, run, wave] = ["walk", "run", "wave"].map(|name| library.find_clip(name).unwrap());
        let skeleton = library.clip(walk).skeleton;
        let joints = library.skeleton(skeleton).select_joints(&["upper_arm.L", "lower_arm.L", "hand.L"]).unwrap();
        let kind = ChainKind::TwoBone { joints: joints.try_into().unwrap(), pole: None, hold: false };
        let chain = library.add_chain(Chain { name: None, skeleton, kind }).unwrap();
        let goal = Goal { chain, target: GoalTarget::Point([0.3, 1.2, 0.3]), weight: GoalWeight::Parameter(0) };
        let mut crowd = Crowd::new();
        for _ in 0..6 {
            crowd.push(skeleton, &[walk.looping()]).unwrap();
        }
        let engine = CpuEngine::with_threads(&library, 1).unwrap();
        let capacity = CrowdOptions { layers: 2, mixing: Mixing::Any, goals: 1, parameters: 1, ..CrowdOptions::NONE };
        let new = |crowd: &Crowd| engine.crowd_with_options(crowd, Outputs::SKIN, capacity).unwrap();
        let (mut one_by_one, mut at_once) = (new(&crowd), new(&crowd));
        let shown = wave.looping();
        let begun = |instance| NewTransition::new(instance, std::slice::from_ref(&shown), Ticks::from_seconds(0.5));
        let unchanged = crowd.clone();
        let half_life = -1.0;
        let wrong = [begun(0), NewTransition { half_life, ..begun(5) }];
        assert!(one_by_one.transitions(&engine, &library, &mut crowd, &wrong).is_err());
        assert_eq!(crowd, unchanged, "one of several cannot begin");
        one_by_one.transitions(&engine, &library, &mut crowd, &[begun(0), begun(5)]).unwrap();
        let over = Layer { mode: LayerMode::Override, ..wave.looping() };
        let led = Layer::new(run, LayerTime::Synced { leader: 0 });
        let led_by = Layer::new(walk, LayerTime::Phase { parameter: 0, wrap: WrapMode::Loop });
        // The transition of the first instance ends. The last one keeps its own.
        for (instance, layers) in
            [(0, vec![run.at(0.5)]), (1, vec![run.looping().phase(0.3), over]), (2, vec![]), (3, vec![led_by, led])]
        {
            one_by_one.set_instance(&engine, instance, &layers).unwrap();
            crowd.set(instance, skeleton, &layers).unwrap();
        }
        one_by_one.set_goals(&engine, 4, &[goal]).unwrap();
        crowd.set_goals(4, vec![goal]).unwrap();
        at_once.set_layers(&engine, &crowd).unwrap();
        let fresh = new(&crowd);
        for instance in 0..crowd.len() {
            let expected = packed(&fresh, instance);
            assert_eq!(expected.displacement.is_some(), instance == 5);
            assert_eq!(packed(&one_by_one, instance), expected, "instance {instance}, alone");
            assert_eq!(packed(&at_once, instance), expected, "instance {instance}, with all others");
        }
    }

    #[test]
    fn displacements_take_the_places_of_those_that_have_ended() {
        let library = demo::library().unwrap();
        let [walk, wave] = ["walk", "wave"].map(|name| library.find_clip(name).unwrap());
        let mut crowd = Crowd::new();
        for _ in 0..3 {
            crowd.push(library.clip(walk).skeleton, &[walk.looping()]).unwrap();
        }
        let engine = CpuEngine::with_threads(&library, 1).unwrap();
        let mut posed = engine.crowd(&crowd, Outputs::SKIN).unwrap();
        for round in 0..10 {
            for instance in [1, 2] {
                let layers = [wave.looping()];
                let new = NewTransition::new(instance, &layers, Ticks(1000 * round));
                posed.transition(&engine, &library, &mut crowd, &new).unwrap();
            }
            assert_eq!(posed.packed.displacements.len(), 2, "round {round}");
            posed.set_instance(&engine, 1 + round as usize % 2, &[walk.looping()]).unwrap();
        }
    }
}
