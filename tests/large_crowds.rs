//! Crowds whose results are larger than the caches, so that the CPU engine uses streaming stores.

use posse::{
    CpuEngine, Crowd, Evaluator, InstructionSet, Layer, LayerTime, Library, Outputs, Playback, Reference, SkinFormat,
    Ticks, contract, demo,
};

/// The number of instances, with about 64 joints each. Even 24 bytes per joint are more than the 8 MiB above which the engine
/// uses streaming stores.
const INSTANCES: usize = 6000;

/// Asserts that each instruction set poses some instances of a large crowd as the reference does.
#[track_caller]
fn assert_posed(library: &Library, large: &Crowd, format: SkinFormat) {
    let now = Ticks::from_seconds(12.3);
    let outputs = Outputs::SKIN.with_skin_format(format);
    let joints: usize = (0..INSTANCES).map(|instance| library.skeleton(large.skeleton(instance)).joints().len()).sum();
    assert!(format.bytes() * joints > 8 << 20);
    let mut small = Crowd::new();
    let asked: Vec<usize> = (0..INSTANCES).step_by(97).collect();
    for &instance in &asked {
        small.push(large.skeleton(instance), large.layers(instance)).unwrap();
    }
    let expected = Reference::new(library).evaluate(&small, now, outputs).unwrap();
    for instructions in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
        let engine = CpuEngine::new(library).unwrap().with_instructions(instructions);
        let mut posed = engine.crowd(large, outputs).unwrap();
        engine.pose(&mut posed, now);
        let read = |&instance: &usize| engine.read(&posed, instance, outputs);
        let actual = posse::Poses { instances: asked.iter().map(read).collect() };
        let report = contract::compare_as(format, library, &small, now, &expected, &actual);
        assert!(report.is_within() && report.skin.is_some(), "{}: {:?}", instructions.name(), report.quantities());
    }
}

#[test]
fn a_crowd_larger_than_the_caches_is_posed_as_a_small_one() {
    let library = demo::library().unwrap();
    let large = demo::crowd(&library, INSTANCES).unwrap();
    assert_posed(&library, &large, SkinFormat::Matrix);
    assert_posed(&library, &large, SkinFormat::HalfMatrix);
}

#[test]
fn dual_quaternions_larger_than_the_caches_are_posed_as_a_small_crowd() {
    let mut library = Library::new();
    // One joint more than whole blocks of any instruction set.
    let skeleton = demo::add_uniform_rig(&mut library, 65, 4, 8).unwrap();
    let clip = library.clip_ids().next().unwrap();
    let mut large = Crowd::new();
    for instance in 0..INSTANCES as i64 {
        let time = LayerTime::Playing(Playback::looping(Ticks(-9973 * instance), 1.0));
        large.push(skeleton, &[Layer::new(clip, time)]).unwrap();
    }
    assert_posed(&library, &large, SkinFormat::DualQuaternion);
}
