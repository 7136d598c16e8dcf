//! Crowds of the CPU engine that change in place: after each change they are posed as the reference poses the changed
//! crowd, and what does not fit changes nothing.

use posse::cpu::{CpuCrowd, CpuEngine, InstructionSet};
use posse::events::Event;
use posse::ik::{Chain, ChainId, ChainKind, Goal, GoalTarget, GoalWeight};
use posse::parameters::{Knots, KnotsId, Parameter, WeightDriver};
use posse::transitions::{Fade, FadeShape, NewTransition, TransitionKind};
use posse::{
    ClipId, Crowd, CrowdOptions, Evaluator, Layer, LayerMode, LayerTime, Library, Mixing, Outputs, Poses, Reference,
    Refusal, SkeletonId, Step, Ticks, WrapMode, contract, demo,
};

use crate::support::refusal::refusal;
use crate::support::scenes::Numbers;

/// The human of the demo, its clips, a chain for a hand, and knots of a driver.
struct Stage {
    library: Library,
    skeleton: SkeletonId,
    clips: Vec<ClipId>,
    hand: ChainId,
    knots: KnotsId,
}

impl Stage {
    fn new() -> Self {
        let mut library = demo::library().unwrap();
        let clips = ["idle", "walk", "run", "wave", "jump"].map(|name| library.find_clip(name).unwrap());
        let skeleton = library.clip(clips[0]).skeleton;
        let joints = library.skeleton(skeleton).select_joints(&["upper_arm.L", "lower_arm.L", "hand.L"]).unwrap();
        let kind = ChainKind::TwoBone { joints: joints.try_into().unwrap(), pole: None, hold: false };
        let hand = library.add_chain(Chain { name: None, skeleton, kind }).unwrap();
        let knots = library.add_knots(Knots::new(vec![[0.0, 0.2], [1.0, 1.0]]).unwrap());
        Self { library, skeleton, clips: clips.to_vec(), hand, knots }
    }

    /// Between no and three layers of all modes, some of which follow parameters or each other.
    fn layers(&self, numbers: &mut Numbers) -> Vec<Layer> {
        let mut layers: Vec<Layer> = Vec::new();
        for index in 0..numbers.below(4) {
            let clip = self.clips[numbers.below(self.clips.len())];
            let mut layer = match numbers.below(4) {
                0 => Layer::new(clip, LayerTime::Phase { parameter: 1, wrap: WrapMode::Loop }),
                1 if index > 0 => Layer::new(clip, LayerTime::Synced { leader: 0 }),
                _ => clip.looping().phase(numbers.within(-2.0, 2.0)).rate(numbers.within(-2.0, 2.0)),
            };
            layer.weight = numbers.within(0.2, 1.0);
            if numbers.below(4) == 0 {
                layer.driver = Some(WeightDriver::Knots { parameter: 0, knots: self.knots });
            }
            if numbers.below(4) == 0 {
                layer.fade_in = Some(Fade::from_seconds(0.0..numbers.within(1.0, 3.0), FadeShape::Smooth));
            }
            if index > 0 {
                layer.mode =
                    [LayerMode::Blend, LayerMode::Override, LayerMode::Additive(Default::default())][numbers.below(3)];
            }
            layers.push(layer);
        }
        layers
    }

    /// No goal or one, by numbers or parameters.
    fn goals(&self, numbers: &mut Numbers) -> Vec<Goal> {
        let target = match numbers.below(3) {
            0 => return Vec::new(),
            1 => GoalTarget::Point([numbers.within(0.2, 0.5), numbers.within(0.8, 1.4), numbers.within(0.1, 0.4)]),
            _ => GoalTarget::Parameters([0, 1, 2]),
        };
        vec![Goal { chain: self.hand, target, weight: GoalWeight::Fixed(numbers.within(0.2, 1.0)) }]
    }

    /// A crowd of the same layers for all instances, each at its own time.
    fn crowd(&self, instances: usize, layers: &dyn Fn(usize) -> Vec<Layer>) -> Crowd {
        let mut crowd = Crowd::new();
        for instance in 0..instances {
            crowd.push(self.skeleton, &layers(instance)).unwrap();
        }
        crowd
    }
}

/// Asserts that a crowd of the engine has the poses that the reference gives for a crowd, and returns them.
#[track_caller]
fn assert_poses(stage: &Stage, engine: &CpuEngine, posed: &mut CpuCrowd, crowd: &Crowd, now: Ticks) -> Poses {
    engine.pose(posed, now);
    let actual = Poses { instances: (0..crowd.len()).map(|i| engine.read(posed, i, Outputs::ALL)).collect() };
    let expected = Reference::new(&stage.library).evaluate(crowd, now, Outputs::ALL).unwrap();
    let report = contract::compare(&stage.library, crowd, now, &expected, &actual);
    assert!(report.is_within(), "{}: {:?}", engine.adapter(), report.quantities());
    actual
}

/// An engine with each instruction set, some with several threads.
fn engines(library: &Library) -> Vec<CpuEngine> {
    let sets = InstructionSet::ALL.into_iter().filter(|set| set.is_available()).enumerate();
    sets.map(|(index, set)| CpuEngine::with_threads(library, 1 + index).unwrap().with_instructions(set)).collect()
}

#[test]
fn changed_crowds_are_posed_as_the_reference_poses_them() {
    let stage = Stage::new();
    let options =
        CrowdOptions { layers: 3, mixing: Mixing::Any, drivers: true, goals: 1, parameters: 3, ..CrowdOptions::NONE };
    for engine in engines(&stage.library) {
        let mut numbers = Numbers::new(21);
        let mut crowd = stage.crowd(70, &|instance| vec![stage.clips[instance % 3].looping()]);
        let mut posed = engine.crowd_with_options(&crowd, Outputs::ALL, options).unwrap();
        assert_eq!(posed.batches().len(), 1, "one batch has the capacity");
        for round in 0..6 {
            for _ in 0..20 {
                let instance = numbers.below(crowd.len());
                let layers = stage.layers(&mut numbers);
                crowd.set(instance, stage.skeleton, &layers).unwrap();
                posed.set_instance(&engine, instance, &layers).unwrap();
                let goals = stage.goals(&mut numbers);
                posed.set_goals(&engine, instance, &goals).unwrap();
                crowd.set_goals(instance, goals).unwrap();
                let values = [numbers.within(0.1, 0.9), numbers.within(0.0, 3.0), numbers.within(0.1, 0.5)];
                posed.set_parameters(instance, &values.map(|value| value as f32));
                let parameters = values.map(|value| Parameter::constant(f64::from(value as f32)).unwrap());
                crowd.set_parameters(instance, parameters.to_vec()).unwrap();
            }
            assert_poses(&stage, &engine, &mut posed, &crowd, Ticks::from_seconds(0.7 * f64::from(round)));
        }
        // All at once, with other goals, and the parameters as they are.
        for instance in 0..crowd.len() {
            crowd.set(instance, stage.skeleton, &stage.layers(&mut numbers)).unwrap();
            crowd.set_goals(instance, stage.goals(&mut numbers)).unwrap();
        }
        posed.set_layers(&engine, &crowd).unwrap();
        assert_poses(&stage, &engine, &mut posed, &crowd, Ticks::from_seconds(5.0));
    }
}

#[test]
fn a_cross_fade_needs_room_for_two_layers() {
    let stage = Stage::new();
    let engine = CpuEngine::with_threads(&stage.library, 1).unwrap();
    let [walk, run] = [stage.clips[1], stage.clips[2]];
    let mut crowd = stage.crowd(5, &|instance| vec![walk.looping().phase(0.1 * instance as f64)]);
    let options = CrowdOptions { layers: 2, ..CrowdOptions::NONE };
    let mut posed = engine.crowd_with_options(&crowd, Outputs::ALL, options).unwrap();
    for (change, clip) in [run, walk, run].into_iter().enumerate() {
        let start = 2.0 * change as f64;
        crowd.cross_fade(3, clip.looping(), start..start + 0.5).unwrap();
        posed.set_instance(&engine, 3, crowd.layers(3)).unwrap();
        for seconds in [0.0, 0.2, 0.5, 1.0] {
            assert_poses(&stage, &engine, &mut posed, &crowd, Ticks::from_seconds(start + seconds));
        }
    }
}

#[test]
fn layers_that_do_not_fit_change_nothing() {
    let stage = Stage::new();
    let engine = CpuEngine::with_threads(&stage.library, 2).unwrap();
    let [walk, run] = [stage.clips[1], stage.clips[2]];
    let crowd = stage.crowd(9, &|instance| vec![walk.looping().phase(0.1 * instance as f64)]);
    let mut posed = engine.crowd(&crowd, Outputs::ALL).unwrap();
    let now = Ticks::from_seconds(1.0);
    let before = assert_poses(&stage, &engine, &mut posed, &crowd, now);
    let over = Layer { mode: LayerMode::Override, ..run.looping() };
    let driven = Layer::new(run, LayerTime::Phase { parameter: 0, wrap: WrapMode::Loop });
    let two = stage.crowd(9, &|_| vec![walk.looping(), run.looping()]);
    let mixing = |instance, needed| Refusal::MoreMixing { instance, needed, capacity: Mixing::None };
    for (layers, expected) in [
        (two.layers(0), Refusal::MoreLayers { instance: 7, needed: 2, capacity: 1 }),
        (&[run.looping().weight(0.05)], mixing(7, Mixing::Blend)),
        (&[over], mixing(7, Mixing::Any)),
        (&[driven], Refusal::NoDrivers { instance: 7 }),
    ] {
        assert_eq!(refusal(posed.set_instance(&engine, 7, layers)), Some(expected));
    }
    let goal = Goal { chain: stage.hand, target: GoalTarget::Point([0.3; 3]), weight: GoalWeight::Fixed(1.0) };
    let more_goals = Refusal::MoreGoals { instance: 7, needed: 1, capacity: 0 };
    assert_eq!(refusal(posed.set_goals(&engine, 7, &[goal])), Some(more_goals));
    let more = Refusal::MoreLayers { instance: 0, needed: 2, capacity: 1 };
    assert_eq!(refusal(posed.set_layers(&engine, &two)), Some(more));
    let eight = stage.crowd(8, &|_| vec![walk.looping()]);
    assert_eq!(refusal(posed.set_layers(&engine, &eight)), Some(Refusal::OtherInstances));
    for (instance, layers, message) in [
        (9, vec![], "there is no instance 9"),
        (7, vec![run.looping().weight(f64::NAN)], "the weight NaN"),
        (7, vec![run.looping(); 9], "layers of instance 7"),
    ] {
        let error = posed.set_instance(&engine, instance, &layers).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    assert_eq!(assert_poses(&stage, &engine, &mut posed, &crowd, now), before);
}

#[test]
fn transitions_begin_and_end_in_place() {
    let stage = Stage::new();
    for engine in engines(&stage.library) {
        let mut crowd = stage.crowd(40, &|instance| vec![stage.clips[1].looping().phase(0.03 * instance as f64)]);
        let mut posed = engine.crowd(&crowd, Outputs::ALL).unwrap();
        for round in 0..8 {
            let now = Ticks::from_seconds(0.5 + 0.15 * f64::from(round));
            for instance in [3, 8, 30 + round as usize] {
                let layers = [stage.clips[(round as usize + instance) % 5].looping()];
                let kind = [TransitionKind::Inertial, TransitionKind::Dead { seconds: 0.3 }][round as usize % 2];
                let new = NewTransition { kind, ..NewTransition::new(instance, &layers, now) };
                posed.transition(&engine, &stage.library, &mut crowd, &new).unwrap();
            }
            let later = now + Ticks::from_seconds(0.05);
            assert_poses(&stage, &engine, &mut posed, &crowd, later);
            // New layers end a transition.
            let layers = [stage.clips[0].looping()];
            crowd.set(8, stage.skeleton, &layers).unwrap();
            posed.set_instance(&engine, 8, &layers).unwrap();
            assert_poses(&stage, &engine, &mut posed, &crowd, later);
        }
        let mut fresh = engine.crowd(&stage.crowd(40, &|_| Vec::new()), Outputs::ALL).unwrap();
        fresh.set_layers(&engine, &crowd).unwrap();
        assert_poses(&stage, &engine, &mut fresh, &crowd, Ticks::from_seconds(1.8));
    }
}

#[test]
fn events_are_those_of_the_new_layers() {
    let mut stage = Stage::new();
    let [walk, run] = [stage.clips[1], stage.clips[2]];
    let step = Event { time: 0.25, function: "step".into(), parameters: Vec::new() };
    let mut timed = stage.library.clip(run).clone();
    timed.events.push(step);
    let timed = stage.library.add_clip(timed).unwrap();
    let engine = CpuEngine::with_threads(&stage.library, 1).unwrap();
    let mut crowd = stage.crowd(4, &|_| vec![walk.looping()]);
    let mut posed = engine.crowd(&crowd, Outputs::NONE).unwrap();
    let span = Step { from: Ticks(0), to: Ticks::from_seconds(0.3) };
    assert!(engine.events(&posed, span, 8).events.is_empty());
    posed.set_instance(&engine, 2, &[timed.looping()]).unwrap();
    crowd.set(2, stage.skeleton, &[timed.looping()]).unwrap();
    let expected = Reference::new(&stage.library).evaluate_events(&crowd, span, 8).unwrap();
    assert_eq!(engine.events(&posed, span, 8).events, expected.events);
    assert_eq!(expected.events.iter().map(|event| event.instance).collect::<Vec<_>>(), [2]);
}

#[test]
fn goals_follow_parameters_of_other_batches() {
    let stage = Stage::new();
    let engine = CpuEngine::with_threads(&stage.library, 1).unwrap();
    let walk = stage.clips[1];
    let driven = Layer::new(walk, LayerTime::Phase { parameter: 0, wrap: WrapMode::Loop });
    let mut crowd = stage.crowd(2, &|instance| vec![[driven, walk.looping()][instance]]);
    let goal = |weight| Goal { chain: stage.hand, target: GoalTarget::Point([0.3, 1.2, 0.3]), weight };
    crowd.set_goals(1, vec![goal(GoalWeight::Fixed(1.0))]).unwrap();
    let mut posed = engine.crowd(&crowd, Outputs::ALL).unwrap();
    assert_eq!(posed.batches().len(), 2);
    let by_parameter = vec![goal(GoalWeight::Parameter(0))];
    posed.set_goals(&engine, 1, &by_parameter).unwrap();
    crowd.set_goals(1, by_parameter).unwrap();
    for (instance, value) in [0.75, 0.5].into_iter().enumerate() {
        posed.set_parameters(instance, &[value as f32]);
        crowd.set_parameters(instance, vec![Parameter::constant(value).unwrap()]).unwrap();
    }
    assert_poses(&stage, &engine, &mut posed, &crowd, Ticks::from_seconds(0.4));
    let another = [goal(GoalWeight::Parameter(1))];
    let more = Refusal::MoreParameters { instance: 1, needed: 2, capacity: 1 };
    assert_eq!(refusal(posed.set_goals(&engine, 1, &another)), Some(more));
    // The first instance has no capacity for goals.
    let error = posed.set_goals(&engine, 0, &another).unwrap_err().to_string();
    assert_eq!(error, "instance 0 has 1 goal, but the crowd has capacity for 0: set CrowdOptions::goals");
}
