//! Random scenes: every engine is within the numeric contract, compared with the reference.

use std::collections::HashSet;

use posse::compress::{CompressedLibrary, ErrorBound};
use posse::cpu::CpuEngine;
use posse::curves::{Target, Track};
use posse::ik::{ChainKind, Goal, GoalTarget, GoalWeight};
use posse::packed::PackedLibrary;
use posse::parameters::WeightDriver;
use posse::transitions::{Fade, TransitionKind};
use posse::{Clip, Crowd, Evaluator, Layer, LayerMode, LayerTime, Library, Outputs, Poses, Reference, Ticks, contract};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::support::cases::cases;
use crate::support::displacement::assert_within;
use crate::support::each_engine::{compressed_engines, fast_engines};
use crate::support::scenes::{Scene, SceneSpec, scenes};

fn check(spec: &SceneSpec) {
    let scene = spec.scene();
    let packing = || PackedLibrary::new(&scene.library).unwrap();
    fast_engines(&packing, &mut |engine| check_engine(spec, &scene, &scene.library, engine));
    // Compressed keys are compared with the reference on the same compressed library. Only a quarter of the scenes run
    // them, since a software GPU takes longer to compile kernels than to run them, and the collected files run them
    // too.
    if spec.is_one_in(4) {
        let compressed = CompressedLibrary::new(&scene.library, ErrorBound::default()).unwrap();
        compressed_engines(&compressed, |engine| check_engine(spec, &scene, compressed.library(), engine));
    }
}

fn check_engine(spec: &SceneSpec, scene: &Scene, library: &Library, engine: &mut dyn Evaluator) {
    let crowd = &scene.crowd_of(library);
    // For skins alone, the GPU engine has kernels of its own. An eighth of the scenes run them.
    for outputs in [Outputs::ALL].into_iter().chain(spec.is_one_in(8).then_some(Outputs::SKIN)) {
        let expected = Reference::new(library).evaluate_step(crowd, scene.step, outputs).unwrap();
        let actual = engine.evaluate_step(crowd, scene.step, outputs).unwrap();
        let report = contract::compare(library, crowd, scene.step, &expected, &actual);
        let rooted =
            |poses: &Poses| -> Vec<bool> { poses.instances.iter().map(|pose| pose.root_motion.is_some()).collect() };
        assert_eq!(rooted(&actual), rooted(&expected));
        let instances: Vec<usize> =
            report.quantities().iter().flat_map(|(_, worst)| *worst).map(|w| w.instance).collect();
        let layers: Vec<_> = instances.iter().map(|&instance| crowd.layers_at(instance, scene.step.to)).collect();
        assert!(report.is_within(), "{}: {:?}\n{layers:?}\n{spec:#?}", engine.engine(), report.quantities());
    }
}

/// Features that the random scenes of a suite have had.
#[derive(Debug, Default)]
struct Coverage {
    skeletons: usize,
    skins: usize,
    /// `true` if a crowd had a small skeleton together with one of more than 64 joints, and with one of more than 256
    /// joints.
    beside: [bool; 2],
    layers: [bool; Crowd::MAX_LAYERS + 1],
    modes: HashSet<LayerMode>,
    masked: usize,
    /// `true` if a layer was fading in, fading out, and both.
    fading: [bool; 3],
    shared: usize,
}

impl Coverage {
    fn note(&mut self, scene: &Scene) {
        let Scene { library, crowd, step } = scene;
        let ids: HashSet<_> = (0..crowd.len()).map(|instance| crowd.skeleton(instance)).collect();
        let joints: Vec<usize> = ids.iter().map(|&id| library.skeleton(id).joints().len()).collect();
        self.skeletons = self.skeletons.max(ids.len());
        self.skins = self.skins.max(ids.iter().filter(|&&id| library.skins_of(id).count() > 0).count());
        for (beside, most) in self.beside.iter_mut().zip([64, 256]) {
            *beside |= joints.iter().any(|&joints| joints <= 64) && joints.iter().any(|&joints| joints > most);
        }
        for instance in 0..crowd.len() {
            let layers = crowd.layers(instance);
            self.layers[layers.len()] = true;
            self.modes.extend(layers.iter().map(|layer| layer.mode));
            self.masked += layers.iter().filter(|layer| layer.mask.is_some()).count();
            for layer in layers {
                let under_way = |fade: Option<Fade>| fade.is_some_and(|fade| (1e-3..0.999).contains(&fade.at(step.to)));
                let [fades_in, fades_out] = [layer.fade_in, layer.fade_out].map(under_way);
                for (found, new) in self.fading.iter_mut().zip([fades_in, fades_out, fades_in && fades_out]) {
                    *found |= new;
                }
                let curves = library.clip(layer.clip).tracks.iter().map(|track| track.curve.values().as_ptr());
                let curves: HashSet<_> = curves.collect();
                let twin = |clip: &Clip| {
                    let shares = |track: &Track| curves.contains(&track.curve.values().as_ptr());
                    clip.skeleton != library.clip(layer.clip).skeleton && clip.tracks.iter().any(shares)
                };
                self.shared += usize::from(library.clips().iter().any(twin));
            }
        }
    }
}

#[test]
fn random_crowds_have_every_mix_of_features() {
    let mut runner = TestRunner::new(cases(60, 2026));
    let mut coverage = Coverage::default();
    for _ in 0..60 {
        coverage.note(&scenes(700, 40).new_tree(&mut runner).unwrap().current().scene());
    }
    assert!(coverage.skeletons >= 4 && coverage.skins >= 3 && coverage.beside == [true; 2], "{coverage:?}");
    assert!(coverage.layers == [true; Crowd::MAX_LAYERS + 1] && coverage.modes.len() == 4, "{coverage:?}");
    assert!(coverage.masked > 100 && coverage.fading == [true; 3] && coverage.shared > 10, "{coverage:?}");
}

/// What has driven the layers of moving scenes, and the transitions that were on their way.
#[derive(Debug, Default)]
struct MotionCoverage {
    phases: usize,
    followers: usize,
    /// Followers of which both clips have markers.
    marked: usize,
    knots: usize,
    points: usize,
    /// Transitions on their way at the end of the step: inertial and dead ones.
    running: [usize; 2],
    /// Instances whose transitions begin after the end of the step.
    waiting: usize,
    deepest: usize,
}

impl MotionCoverage {
    fn note(&mut self, scene: &Scene) {
        let Scene { library, crowd, step } = scene;
        for instance in 0..crowd.len() {
            let layers = crowd.layers_at(instance, step.to);
            for layer in layers {
                self.phases += usize::from(matches!(layer.time, LayerTime::Phase { .. }));
                self.knots += usize::from(matches!(layer.driver, Some(WeightDriver::Knots { .. })));
                self.points += usize::from(matches!(layer.driver, Some(WeightDriver::Point { .. })));
                if let LayerTime::Synced { leader } = layer.time {
                    self.followers += 1;
                    let has_markers = |layer: &Layer| !library.clip(layer.clip).markers.is_empty();
                    self.marked += usize::from(has_markers(layer) && has_markers(&layers[leader]));
                }
            }
            let Some(transition) = crowd.transition(instance) else { continue };
            self.deepest = self.deepest.max(transition.depth());
            self.waiting += usize::from(step.to < transition.start);
            if transition.elapsed(step.to).is_some() {
                self.running[usize::from(transition.kind != TransitionKind::Inertial)] += 1;
            }
        }
    }
}

#[test]
fn moving_scenes_are_posed_alike_in_any_order() {
    let mut runner = TestRunner::new(cases(60, 2031));
    let mut coverage = MotionCoverage::default();
    for _ in 0..24 {
        let spec = scenes(12, 40).new_tree(&mut runner).unwrap().current();
        let scene = spec.moving_scene();
        coverage.note(&scene);
        let Scene { library, crowd, step } = &scene;
        let mut reference = Reference::new(library);
        let expected = reference.evaluate_step(crowd, *step, Outputs::ALL).unwrap();
        // The bounds of the contract are numbers, and the last instance is posed alone as in the crowd.
        let report = contract::compare(library, crowd, *step, &expected, &expected);
        for worst in report.quantities().iter().filter_map(|(_, worst)| *worst) {
            assert!(worst.error == 0.0 && worst.allowed.is_finite() && worst.allowed >= 0.0, "{worst:?}\n{spec:#?}");
        }
        reference.evaluate(crowd, step.to - Ticks(1 << 20), Outputs::ALL).unwrap();
        let mut last = Crowd::new();
        last.push_copy(crowd, crowd.len() - 1);
        let alone = reference.evaluate_step(&last, *step, Outputs::ALL).unwrap();
        assert_eq!(Some(&alone.instances[0]), expected.instances.last());
    }
    assert!(coverage.phases > 50 && coverage.followers > 20 && coverage.marked > 5, "{coverage:?}");
    assert!(coverage.knots > 20 && coverage.points > 20 && coverage.waiting > 20, "{coverage:?}");
    assert!(coverage.running[0] > 20 && coverage.running[1] > 10 && coverage.deepest == 4, "{coverage:?}");
}

/// The goals of scenes, by what they do.
#[derive(Debug, Default)]
struct GoalCoverage {
    two_bone: usize,
    aims: usize,
    poled: usize,
    held: usize,
    /// Goals with a target, and with a weight, that follows parameters.
    driven: [usize; 2],
    /// Instances with several goals, and with a transition on its way.
    several: usize,
    in_transition: usize,
}

impl GoalCoverage {
    fn note(&mut self, scene: &Scene) {
        let Scene { library, crowd, step } = scene;
        for instance in 0..crowd.len() {
            let goals = crowd.goals(instance);
            self.several += usize::from(goals.len() > 1);
            let running = crowd.transition(instance).and_then(|transition| transition.elapsed(step.to));
            self.in_transition += usize::from(!goals.is_empty() && running.is_some());
            for goal in goals {
                match library.chains()[goal.chain.index()].kind {
                    ChainKind::TwoBone { pole, hold, .. } => {
                        self.two_bone += 1;
                        self.poled += usize::from(pole.is_some());
                        self.held += usize::from(hold);
                    }
                    ChainKind::Aim { .. } => self.aims += 1,
                }
                self.driven[0] += usize::from(matches!(goal.target, GoalTarget::Parameters(_)));
                self.driven[1] += usize::from(matches!(goal.weight, GoalWeight::Parameter(_)));
            }
        }
    }
}

#[test]
fn scenes_with_goals_are_posed_alike_with_bounds_that_are_numbers() {
    let mut runner = TestRunner::new(cases(60, 2032));
    let mut coverage = GoalCoverage::default();
    for round in 0..60 {
        let spec = scenes(12, 40).new_tree(&mut runner).unwrap().current();
        let scene = spec.with_goals(if round % 2 == 0 { spec.plain_scene() } else { spec.moving_scene() });
        coverage.note(&scene);
        let Scene { library, crowd, step } = &scene;
        let expected = Reference::new(library).evaluate_step(crowd, *step, Outputs::ALL).unwrap();
        let report = contract::compare(library, crowd, *step, &expected, &expected);
        for worst in report.quantities().iter().filter_map(|(_, worst)| *worst) {
            assert!(worst.error == 0.0 && worst.allowed.is_finite() && worst.allowed >= 0.0, "{worst:?}\n{spec:#?}");
        }
        // A goal of weight 0 is none, and lengths and scales stay.
        let mut without = crowd.clone();
        for instance in 0..crowd.len() {
            let none = crowd.goals(instance).iter().map(|goal| Goal { weight: GoalWeight::Fixed(0.0), ..*goal });
            without.set_goals(instance, none.collect::<Vec<_>>()).unwrap();
        }
        let plain = Reference::new(library).evaluate_step(&without, *step, Outputs::ALL).unwrap();
        for instance in 0..crowd.len() {
            without.set_goals(instance, []).unwrap();
            for (with, plain) in expected.instances[instance].local.iter().zip(&plain.instances[instance].local) {
                assert_eq!((with.translation, with.scale), (plain.translation, plain.scale));
                assert!((with.rotation.length() - 1.0).abs() < 1e-12);
            }
        }
        assert_eq!(Reference::new(library).evaluate_step(&without, *step, Outputs::ALL).unwrap(), plain);
    }
    assert!(coverage.two_bone > 200 && coverage.aims > 150 && coverage.poled > 80, "{coverage:?}");
    assert!(coverage.held > 80 && coverage.driven[0] > 80 && coverage.driven[1] > 40, "{coverage:?}");
    assert!(coverage.several > 100 && coverage.in_transition > 15, "{coverage:?}");
}

/// Checks random scenes from a seed. Several tests call it, so that all cores work.
fn check_scenes(scenes: impl Strategy<Value = SceneSpec>, count: u32, seed: u64) {
    check_each(scenes, count, seed, check);
}

/// Runs a check with each of some random scenes from a seed.
fn check_each(scenes: impl Strategy<Value = SceneSpec>, count: u32, seed: u64, check: impl Fn(&SceneSpec)) {
    let mut runner = TestRunner::new(cases(count, seed));
    let found = runner.run(&scenes, |spec| {
        check(&spec);
        Ok(())
    });
    found.unwrap_or_else(|error| panic!("{error}\n{runner}"));
}

#[test]
fn small_scenes() {
    check_scenes(scenes(12, 40), 18, 2026);
}

#[test]
fn other_small_scenes() {
    check_scenes(scenes(12, 40), 18, 2027);
}

#[test]
fn more_small_scenes() {
    check_scenes(scenes(12, 40), 18, 2028);
}

#[test]
fn still_more_small_scenes() {
    check_scenes(scenes(12, 40), 18, 2029);
}

#[test]
fn large_scenes() {
    check_scenes(scenes(700, 5000), 5, 2026);
}

#[test]
fn other_large_scenes() {
    check_scenes(scenes(700, 5000), 5, 2027);
}

/// Checks random scenes with what glTF has, whose kernels load keys in another order than the kernels of other scenes.
fn check_gltf_scenes(most_joints: usize, count: u32, seed: u64) {
    check_each(scenes(most_joints, 40).prop_map(SceneSpec::into_gltf), count, seed, |spec| {
        let scene = spec.scene();
        let packing = || PackedLibrary::new(&scene.library).unwrap();
        let is_whole = |track: &Track| track.component.is_none() && !matches!(track.target, Target::EulerAngles(_));
        assert!(scene.library.clips().iter().all(|clip| clip.tracks.iter().all(is_whole)), "{spec:#?}");
        fast_engines(&packing, &mut |engine| check_engine(spec, &scene, &scene.library, engine));
    });
}

#[test]
fn small_gltf_scenes() {
    check_gltf_scenes(12, 24, 2032);
}

#[test]
fn gltf_scenes_of_a_workgroup_per_instance() {
    check_gltf_scenes(100, 24, 2033);
}

#[test]
fn weights_and_properties_of_mixed_layers_are_alone_as_with_all_outputs() {
    let mut runner = TestRunner::new(cases(60, 2034));
    let mut mixed = [0; 2];
    for round in 0..24 {
        let spec = scenes(12, 40).new_tree(&mut runner).unwrap().current();
        let Scene { library, crowd, step } = if round % 2 == 0 { spec.plain_scene() } else { spec.moving_scene() };
        let mut engine = CpuEngine::new(&library).unwrap();
        let all = engine.evaluate_step(&crowd, step, Outputs::ALL).unwrap();
        let weights = engine.evaluate_step(&crowd, step, Outputs { weights: true, ..Outputs::NONE }).unwrap();
        let properties = engine.evaluate_step(&crowd, step, Outputs { properties: true, ..Outputs::NONE }).unwrap();
        for (instance, all) in all.instances.iter().enumerate() {
            assert_eq!(weights.instances[instance].weights, all.weights, "{instance} of {spec:#?}");
            assert_eq!(properties.instances[instance].properties, all.properties, "{instance} of {spec:#?}");
            if crowd.layers(instance).len() > 1 {
                mixed[0] += usize::from(!all.weights.is_empty());
                mixed[1] += usize::from(!all.properties.is_empty());
            }
        }
    }
    assert!(mixed.iter().all(|&count| count > 100), "{mixed:?}");
}

proptest! {
    #![proptest_config(cases(50, 2026))]

    #[test]
    fn compressed_keys_are_within_their_bound(spec in scenes(12, 40)) {
        let library = spec.scene().library;
        let compressed = CompressedLibrary::new(&library, ErrorBound::default()).unwrap();
        assert_within(&library, &compressed, ErrorBound::default(), &format!("{spec:#?}"));
    }
}
