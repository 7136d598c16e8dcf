//! Crowds whose results are larger than the caches, which the CPU engine writes past.

use posse::cpu::engine::CpuEngine;
use posse::cpu::simd::InstructionSet;
use posse::{Crowd, Evaluator, Outputs, Reference, SkinFormat, Ticks, contract, demo};

#[test]
fn a_crowd_larger_than_the_caches_is_posed_as_a_small_one() {
    const INSTANCES: usize = 6000;
    let library = demo::library().unwrap();
    let large = demo::crowd(&library, INSTANCES).unwrap();
    let now = Ticks::from_seconds(12.3);
    // 24 bytes a matrix at least: more than the 8 MiB from which on they go past the caches.
    let joints: usize = (0..INSTANCES).map(|instance| library.skeleton(large.skeleton(instance)).joints().len()).sum();
    assert!(24 * joints > 8 << 20);
    let mut small = Crowd::new();
    let asked: Vec<usize> = (0..INSTANCES).step_by(97).collect();
    for &instance in &asked {
        small.push(large.skeleton(instance), large.layers(instance)).unwrap();
    }
    let expected = Reference::new(&library).evaluate(&small, now, Outputs::SKIN).unwrap();
    for instructions in InstructionSet::ALL.into_iter().filter(|set| set.is_here()) {
        let engine = CpuEngine::new(&library).unwrap().with_instructions(instructions);
        for format in SkinFormat::ALL {
            let outputs = Outputs::SKIN.with_skin_format(format);
            let mut posed = engine.crowd(&large, outputs).unwrap();
            engine.pose(&mut posed, now);
            let read = |&instance: &usize| engine.read(&posed, instance, outputs);
            let actual = posse::Poses { instances: asked.iter().map(read).collect() };
            let report = contract::compare_as(format, &library, &small, now, &expected, &actual);
            let what = format!("{format:?}, {}: {:?}", instructions.name(), report.quantities());
            assert!(report.is_within() && report.skin.is_some(), "{what}");
        }
    }
}
