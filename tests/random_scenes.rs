//! Random scenes: every engine against the reference, within the numeric contract.

use posse::contract;
use posse::{Evaluator, Outputs, Reference};
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::support::each_engine::each_engine;
use crate::support::scenes::{SceneSpec, scenes};

fn check(spec: &SceneSpec) {
    let scene = spec.scene();
    let expected = Reference::new(&scene.library).evaluate(&scene.crowd, scene.now, Outputs::ALL).unwrap();
    each_engine(&scene.library, |engine| {
        let actual = engine.evaluate(&scene.crowd, scene.now, Outputs::ALL).unwrap();
        let report = contract::compare(&scene.library, &scene.crowd, scene.now, &expected, &actual);
        let instances: Vec<usize> =
            report.quantities().iter().flat_map(|(_, worst)| *worst).map(|w| w.instance).collect();
        let layers: Vec<_> = instances.iter().map(|&instance| scene.crowd.layers(instance)).collect();
        assert!(report.is_within(), "{}: {:?}\n{layers:?}\n{spec:#?}", engine.engine(), report.quantities());
    });
}

/// So many scenes, unless `PROPTEST_CASES` says otherwise. A failure prints its scene, which is all it takes to repeat it.
fn config(cases: u32) -> Config {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases);
    Config { cases, failure_persistence: None, ..Config::default() }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn small_scenes(spec in scenes(12, 40)) {
        check(&spec);
    }
}

proptest! {
    #![proptest_config(config(25))]

    #[test]
    fn large_scenes(spec in scenes(700, 5000)) {
        check(&spec);
    }
}
